#include "geometry/proof/narrow_view.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

bool is_on(const std::vector<std::uint8_t>& pattern, int gate) {
    return (pattern[gate / 8] >> (gate % 8)) & 1;
}

double slope(const Stage& stage, int row, const std::vector<std::uint8_t>& pattern) {
    return is_on(pattern, stage.first_wall + row) ? stage.slope_on[row] : stage.slope_off[row];
}

// The last stage such that all stages behind `stage` up to it read nothing from before `stage`.
int last_behind(const Problem& problem, int stage) {
    int last = stage;
    for (int s = stage + 1; s < static_cast<int>(problem.stages.size()); ++s, ++last)
        for (const Block& block : problem.stages[s].blocks)
            if (block.source < stage) return last;
    return last;
}

}  // namespace

bool scaled_form(const StageMap& map, int row, double side, int dim, std::vector<double>& form, double& error) {
    form.resize(dim + 1);
    double largest = 0;
    for (int k = 0; k <= dim; ++k) form[k] = map.entry(row, k);
    for (int k = 0; k < dim; ++k) largest = std::max(largest, std::abs(form[k]));
    if (!rounding::is_ordinary(largest)) return false;
    int exponent = 0;
    std::frexp(largest, &exponent);
    const double scale = std::ldexp(1.0, -exponent);
    for (double& entry : form) entry *= side * scale;
    // Scaling down may lose bits of tiny entries.
    error = map.error(row) * scale + (exponent > 0 ? rounding::underflow : 0.0);
    return true;
}

bool NarrowView::is_narrow(const Problem& problem, int stage, int gate_stage, int row,
                           const std::vector<std::uint8_t>& pattern) {
    const Stage& here = problem.stages[stage];
    if (stage == gate_stage && slope(here, row, pattern) == 0.0) return false;
    int outputs = 0;
    for (int j = 0; j < here.width; ++j) outputs += slope(here, j, pattern) != 0.0;
    return outputs < problem.dim && last_behind(problem, stage) >= gate_stage;
}

bool NarrowView::enter(const Problem& problem, int stage, const std::vector<std::shared_ptr<const StageMap>>& maps,
                       const std::vector<std::uint8_t>& pattern, const std::vector<char>& known, const double* inside) {
    const Stage& here = problem.stages[stage];
    stage_ = stage;
    outputs_.clear();
    for (int j = 0; j < here.width; ++j)
        if (slope(here, j, pattern) != 0.0) outputs_.push_back(j);
    dim_ = static_cast<int>(outputs_.size());
    look_behind(problem);
    maps_.clear();
    for (int s = 0; s < static_cast<int>(behind_.stages.size()); ++s)
        maps_.push_back(std::make_shared<const StageMap>(behind_, s, s > 0 ? maps_[s - 1] : nullptr, pattern));
    if (dim_ == 0) return true;  // all later forms are constants

    // Rows: the signs of the outputs, the gates behind, and t >= 0.
    cone_.clear(dim_ + 1);
    inner_.assign(dim_ + 1, 1.0);
    output_signs_.clear();
    for (int k = 0; k < dim_; ++k) {
        const int j = outputs_[k], gate = here.first_wall + j;
        double value = maps[stage]->entry(j, problem.dim);
        for (int i = 0; i < problem.dim; ++i) value += maps[stage]->entry(j, i) * inside[i];
        inner_[k] = value * slope(here, j, pattern);
        output_signs_.push_back((slope(here, j, pattern) > 0) == is_on(pattern, gate) ? 1.0 : -1.0);
        if (known[gate]) cone_.add_row(0.0)[k] = output_signs_[k];
    }
    for (int s = 1; s < static_cast<int>(behind_.stages.size()); ++s)
        for (int row = 0; row < behind_.stages[s].width; ++row) {
            const int gate = behind_.stages[s].first_wall + row;
            double error = 0;
            if (!known[gate] || !scaled_form(*maps_[s], row, is_on(pattern, gate) ? 1.0 : -1.0, dim_, form_, error))
                continue;
            std::copy(form_.begin(), form_.end(), cone_.add_row(error));
        }
    cone_.add_row(0.0)[dim_] = 1.0;
    height_.assign(dim_ + 1, 0.0);
    for (int row = 0; row < cone_.rows(); ++row) {
        double value = 0;
        for (int k = 0; k <= dim_; ++k) value += cone_.row(row)[k] * inner_[k];
        if (!(value > 0)) return false;
        for (int k = 0; k <= dim_; ++k) height_[k] += cone_.row(row)[k] / value;
    }
    return cone_.enclose(height_.data(), inner_.data(), false);
}

// The stages behind as a problem of their own, whose inputs are the outputs listed.
void NarrowView::look_behind(const Problem& problem) {
    behind_ = Problem();
    behind_.dim = behind_.input_dim = dim_;
    behind_.gates = problem.gates;
    behind_.frame.assign(dim_ * (dim_ + 1), 0.0);
    for (int k = 0; k < dim_; ++k) behind_.frame[k * (dim_ + 1) + k] = 1.0;
    behind_.frame_is_identity = true;
    const int last = last_behind(problem, stage_);
    behind_.stages.resize(last - stage_ + 1);  // the first one, the domain, has no rows
    for (int s = stage_ + 1; s <= last; ++s) {
        const Stage& from = problem.stages[s];
        Stage& stage = behind_.stages[s - stage_];
        stage.width = from.width;
        stage.first_wall = from.first_wall;
        stage.bias = from.bias;
        stage.slope_on = from.slope_on;
        stage.slope_off = from.slope_off;
        stage.terms = from.terms + dim_;
        for (const Block& block : from.blocks) {
            Block& copy = stage.blocks.emplace_back();
            copy.source = block.source - stage_;
            copy.columns = block.columns;
            if (block.source > stage_) {
                copy.by_column = block.by_column;
                continue;
            }
            copy.columns = dim_;
            for (const int j : outputs_) {
                const double* column = block.by_column.data() + static_cast<std::size_t>(j) * from.width;
                copy.by_column.insert(copy.by_column.end(), column, column + from.width);
            }
        }
    }
}

bool NarrowView::proves_positive(int stage, int row, double side) {
    if (stage == stage_) {  // an output itself; the cone holds outputs, not what they were before their slopes
        const auto at = std::find(outputs_.begin(), outputs_.end(), row) - outputs_.begin();
        form_.assign(dim_ + 1, 0.0);
        form_[at] = output_signs_[at];
        return cone_.proves_positive(form_.data(), 0.0);
    }
    const StageMap& map = *maps_[stage - stage_];
    if (dim_ == 0) return side * map.entry(row, 0) > map.error(row);
    double error = 0;
    return scaled_form(map, row, side, dim_, form_, error) && cone_.proves_positive(form_.data(), error);
}

}  // namespace polyfold
