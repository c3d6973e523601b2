// The affine forms of one stage's gates on one cell, in floats with error bounds and, on demand, exactly.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "geometry/exact/exact_vector.hpp"
#include "geometry/exact/twofold.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/problem/sources.hpp"

namespace polyfold {

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
    // The same with forms of some rows only (ascending): of the others floats know nothing. They share the first of the
    // forms that are given, whatever it is.
    void refill(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern,
                const std::vector<int>& rows, Forms& forms);
    void forget_below() { below_.reset(); }

    // A stage's forms as far as they do not depend on any gate.
    static Forms forms_of_inputs(const Problem& problem, int stage);

    // The next stage's forms on top of these, in two parts. First everything but the gates of this stage that are
    // listed (ascending); the pattern must be right for all others.
    void add_all_but(Forms& above, const std::vector<int>& gates, const std::vector<std::uint8_t>& pattern) const;
    Forms forms_above_without(const std::vector<int>& gates, const std::vector<std::uint8_t>& pattern) const;
    // Then those, as the pattern has them.
    void add_gates_to(Forms& above, const std::vector<int>& gates, const std::vector<std::uint8_t>& pattern) const;

    int stage() const { return stage_; }
    int width() const { return width_; }
    double entry(int row, int k) const { return forms_.entries[k * stride_ + place_[row]]; }
    // Of all rows; where only some are known, of these, behind one for all others: [k * stride() + place].
    bool knows_all() const { return knows_all_; }
    int stride() const { return stride_; }
    const double* entries() const { return forms_.entries.data(); }
    const double* norms() const { return norm_.data(); }
    const double* errors() const { return forms_.error.data(); }
    // Bounds sum_k |entry(row, k)|, for the entries as they are here and for the true ones.
    double norm(int row) const { return norm_[place_[row]]; }
    double error(int row) const { return forms_.error[place_[row]]; }  // bounds the error of every entry; 0 is none
    // What a gate of this stage multiplies its row by.
    double slope_in(const std::vector<std::uint8_t>& pattern, int gate) const {
        const Stage& here = problem_.stages[stage_];
        const int wall = here.first_wall + gate;
        return (pattern[wall / 8] >> (wall % 8)) & 1 ? here.slope_on[gate] : here.slope_off[gate];
    }
    // Bounds the error of the last entry: with no bias anywhere it is an exact zero.
    double constant_error(int row) const { return problem_.without_constants ? 0.0 : error(row); }
    const ExactVector& exact_row(int row) const;
    // Whether the form is zero everywhere.
    bool vanishes(int row) const;
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
    int stride_ = 0;          // how many forms there are
    std::vector<int> place_;  // of each row among them
    bool knows_all_ = false;
    std::vector<int> known_rows_;  // otherwise

    mutable std::mutex exact_mutex_;
    mutable std::vector<std::unique_ptr<ExactVector>> exact_rows_;  // as far as they were needed
    mutable std::vector<std::unique_ptr<TwofoldForm>> twofold_rows_;

    void start(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern);
    void find_norms();
    void forget(int place);
    void forget_if_out_of_reach();
    const double* grids() const;
    const StageMap& at(int stage) const;
    bool on(int gate) const { return (pattern_[gate / 8] >> (gate % 8)) & 1; }
    double slope(int source, int gate) const;
    ExactVector compute_exact_row(int row) const;
    TwofoldForm compute_twofold_row(int row) const;
};

}  // namespace polyfold
