// The affine forms of one stage's gates on one cell, in floats with error bounds and, on demand, exactly.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "geometry/exact/exact_vector.hpp"
#include "geometry/exact/twofold.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

// Forms are rows (a, b) over homogeneous parameters (u, t): value a . u + b t, for all rows of a stage at once.
struct Forms {
    std::vector<double> entries;  // [k * width + row]
    std::vector<double> error;    // bounds the error of every entry of a row
};

// Forms hold where all earlier stages have the pattern that this map was made for; a chain of maps down to stage 0
// is that pattern.
class StageMap {
  public:
    // `pattern` has a bit a gate, of which those of all earlier stages matter.
    StageMap(const Problem& problem, int stage, std::shared_ptr<const StageMap> below,
             std::vector<std::uint8_t> pattern);

    // Another pattern's map in the memory of this one, with forms that are known already and are swapped in.
    StageMap(const Problem& problem, int stage);
    void refill(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern, Forms& forms);
    void forget_below() { below_.reset(); }

    // The next stage's forms, in two parts. First everything but the gates of this stage that are listed (ascending);
    // the pattern must be right for all others.
    Forms forms_above_without(const std::vector<int>& gates, const std::vector<std::uint8_t>& pattern) const;
    // Then one of those, on or off.
    void add_gate_to(Forms& above, int gate, bool on) const;

    int stage() const { return stage_; }
    int width() const { return width_; }
    double entry(int row, int k) const { return forms_.entries[k * width_ + row]; }
    const double* entries() const { return forms_.entries.data(); }
    const double* norms() const { return norm_.data(); }
    const double* errors() const { return forms_.error.data(); }
    // Bounds sum_k |entry(row, k)|, for the entries as they are here and for the true ones.
    double norm(int row) const { return norm_[row]; }
    double error(int row) const { return forms_.error[row]; }  // bounds the error of every entry
    // Bounds the error of the last entry: with no bias anywhere it is an exact zero.
    double constant_error(int row) const { return problem_.without_constants ? 0.0 : error(row); }
    const ExactVector& exact_row(int row) const;
    // To twice the digits of floats; its error is unknown where gates have other slopes than one and zero.
    const TwofoldForm& twofold_row(int row) const;

  private:
    const Problem& problem_;
    const int stage_;
    const int width_;
    std::shared_ptr<const StageMap> below_;
    std::vector<std::uint8_t> pattern_;
    Forms forms_;
    std::vector<double> norm_;

    mutable std::mutex exact_mutex_;
    mutable std::vector<std::unique_ptr<ExactVector>> exact_rows_;  // as far as they were needed
    mutable std::vector<std::unique_ptr<TwofoldForm>> twofold_rows_;

    void forget_rows_out_of_reach();
    const StageMap& at(int stage) const;
    bool on(int gate) const { return (pattern_[gate / 8] >> (gate % 8)) & 1; }
    double slope(int source, int gate) const;
    ExactVector compute_exact_row(int row) const;
    TwofoldForm compute_twofold_row(int row) const;
};

}  // namespace polyfold
