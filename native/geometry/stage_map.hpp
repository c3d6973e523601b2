// The affine forms of one stage's gates on one cell, in floats with error bounds and, on demand, exactly.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "geometry/exact_vector.hpp"
#include "geometry/problem.hpp"

namespace polyfold {

// Forms are rows (a, b) over homogeneous parameters (u, t): value a . u + b t. They hold where all earlier
// stages have the pattern that this map was made for; a chain of maps down to stage 0 is that pattern.
class StageMap {
  public:
    // `on_below` are the gates of the stage below, one byte each.
    StageMap(const Problem& problem, int stage, std::shared_ptr<const StageMap> below,
             std::vector<std::uint8_t> on_below);

    int stage() const { return stage_; }
    double entry(int row, int k) const { return forms_[k * width_ + row]; }
    double norm(int row) const {  // bounds sum_k |entry(row, k)|
        return norm_[row];
    }
    double error(int row) const {  // bounds the error of every entry
        return error_[row];
    }
    // Bounds the error of the last entry: with no bias anywhere it is an exact zero.
    double constant_error(int row) const { return problem_.without_constants ? 0.0 : error_[row]; }
    const ExactVector& exact_row(int row) const;
    const std::shared_ptr<const StageMap>& below() const { return below_; }
    const StageMap& at(int stage) const;

  private:
    const Problem& problem_;
    const int stage_;
    const int width_;
    const std::shared_ptr<const StageMap> below_;
    const std::vector<std::uint8_t> on_below_;
    std::vector<double> forms_;  // [k * width + row]
    std::vector<double> norm_, error_;

    mutable std::mutex exact_mutex_;
    mutable std::vector<std::unique_ptr<ExactVector>> exact_rows_;

    // A single block on unsliced inputs: its weights are the forms, without any rounding.
    bool reads_input_as_it_is(const Stage& here) const;
    double slope(int source, int gate) const;
    void add_block(const Block& block);
    ExactVector compute_exact_row(int row) const;
};

}  // namespace polyfold
