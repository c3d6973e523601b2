#include "geometry/problem/stage_map.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// A single block on unsliced inputs: its weights are the forms, without any rounding.
bool reads_input_as_it_is(const Problem& problem, const Stage& stage) {
    return stage.blocks.size() == 1 && stage.blocks[0].source == 0 && problem.frame_is_identity;
}

// Add factor * row to all forms that have it as their j-th source, and what that may be off.
void add_source(Forms& forms, const Stage& stage, const Block& block, int j, double factor, const double* row,
                int stride, double row_error, int size) {
    const auto width = static_cast<std::size_t>(stage.width);
    const double* column = block.by_column.data() + static_cast<std::size_t>(j) * width;
    double largest = 0;
    for (int k = 0; k < size; ++k) {
        const double value = factor * row[k * stride];
        largest = std::max(largest, std::abs(value));
        if (value == 0.0) continue;
        double* out = forms.entries.data() + static_cast<std::size_t>(k) * width;
        for (std::size_t i = 0; i < width; ++i) out[i] += column[i] * value;
    }
    const double relative = rounding::bound(stage.terms);
    // What underflows here is multiplied by the weights, which may be large.
    const double doubt = std::abs(factor) * row_error * (1 + relative) + relative * largest + rounding::least;
    // Products may underflow, and so may their bounds: an entry with any term at all is never taken for exact.
    if (doubt < rounding::unknown) {
        for (std::size_t i = 0; i < width; ++i)
            forms.error[i] += std::abs(column[i]) * doubt + (column[i] != 0.0 ? rounding::underflow : 0.0);
        return;
    }
    // By itself, because zero times infinity is no number, and because a loop that asks before it multiplies is not
    // made into vectors.
    for (std::size_t i = 0; i < width; ++i)
        if (column[i] != 0.0) forms.error[i] = rounding::unknown;
}

// The forms of a stage as far as they do not depend on any gate.
Forms forms_of_inputs(const Problem& problem, const Stage& stage) {
    const int size = problem.dim + 1, width = stage.width;
    Forms forms{std::vector<double>(static_cast<std::size_t>(width * size), 0.0),
                std::vector<double>(static_cast<std::size_t>(width), 0.0)};
    const bool copied = stage.blocks.empty() || reads_input_as_it_is(problem, stage);
    for (const Block& block : stage.blocks) {
        if (block.source != 0) continue;
        if (copied) {
            std::copy(block.by_column.begin(), block.by_column.end(), forms.entries.begin());
            continue;
        }
        for (int j = 0; j < block.columns; ++j)
            add_source(forms, stage, block, j, 1.0, problem.frame.data() + j * size, 1, 0.0, size);
    }
    for (int i = 0; i < width; ++i) {
        const double bias = stage.bias[i];
        forms.entries[(size - 1) * width + i] += bias;
        if (!copied) forms.error[i] += rounding::bound(stage.terms) * std::abs(bias);
    }
    if (!stage.parameter_rows.empty())  // added to zeros: no rounding
        for (int i = 0; i < width; ++i)
            for (int k = 0; k < size; ++k) forms.entries[k * width + i] += stage.parameter_rows[i * size + k];
    return forms;
}

}  // namespace

StageMap::StageMap(const Problem& problem, int stage)
    : problem_(problem), stage_(stage), width_(problem.stages[stage].width) {}

StageMap::StageMap(const Problem& problem, int stage, std::shared_ptr<const StageMap> below,
                   std::vector<std::uint8_t> pattern)
    : StageMap(problem, stage) {
    Forms forms = below ? below->forms_above_without({}, pattern) : forms_of_inputs(problem, problem.stages[stage]);
    refill(std::move(below), pattern, forms);
}

void StageMap::refill(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern, Forms& forms) {
    below_ = std::move(below);
    pattern_ = pattern;
    std::swap(forms_, forms);
    exact_rows_.clear();
    twofold_rows_.clear();
    norm_.assign(static_cast<std::size_t>(width_), 0.0);
    const int size = problem_.dim + 1;
    for (int k = 0; k < size; ++k)
        for (int i = 0; i < width_; ++i) norm_[i] += std::abs(forms_.entries[k * width_ + i]);
    // The bounds were themselves summed up in floats.
    for (double& error : forms_.error) error *= 1.0 + 0x1p-20;
    for (int i = 0; i < width_; ++i) norm_[i] = (norm_[i] + size * forms_.error[i]) * (1.0 + rounding::bound(size + 3));
    std::int64_t within_reach = 0;  // as wide as a double, so that compilers make vectors of the sum
    for (int i = 0; i < width_; ++i)
        within_reach += (norm_[i] < rounding::largest) & (forms_.error[i] < rounding::largest);
    if (within_reach < width_) forget_rows_out_of_reach();
}

// Where an entry overflowed, or sums of values might, floats know nothing: zeros whose error is unknown say so to all
// who ask, and no infinity and no NaN gets any farther.
void StageMap::forget_rows_out_of_reach() {
    for (int i = 0; i < width_; ++i) {
        if (norm_[i] < rounding::largest && forms_.error[i] < rounding::largest) continue;
        for (int k = 0; k <= problem_.dim; ++k) forms_.entries[k * width_ + i] = 0.0;
        norm_[i] = 0.0;
        forms_.error[i] = rounding::unknown;
    }
}

Forms StageMap::forms_above_without(const std::vector<int>& gates, const std::vector<std::uint8_t>& pattern) const {
    const Stage& above = problem_.stages[stage_ + 1];
    Forms forms = forms_of_inputs(problem_, above);
    for (const Block& block : above.blocks) {
        if (block.source == 0) continue;
        const StageMap& source = at(block.source);
        const Stage& from = problem_.stages[block.source];
        auto left_out = gates.begin();
        for (int j = 0; j < block.columns; ++j) {
            if (block.source == stage_ && left_out != gates.end() && *left_out == j) {
                ++left_out;
                continue;
            }
            const int gate = from.first_wall + j;
            const double factor = (pattern[gate / 8] >> (gate % 8)) & 1 ? from.slope_on[j] : from.slope_off[j];
            if (factor != 0.0)
                add_source(forms, above, block, j, factor, source.entries() + j, source.width_, source.error(j),
                           problem_.dim + 1);
        }
    }
    return forms;
}

void StageMap::add_gate_to(Forms& forms, int gate, bool on) const {
    const Stage& above = problem_.stages[stage_ + 1];
    const Stage& here = problem_.stages[stage_];
    const double factor = on ? here.slope_on[gate] : here.slope_off[gate];
    if (factor == 0.0) return;
    for (const Block& block : above.blocks)
        if (block.source == stage_)
            add_source(forms, above, block, gate, factor, entries() + gate, width_, error(gate), problem_.dim + 1);
}

const StageMap& StageMap::at(int stage) const {
    const StageMap* map = this;
    while (map->stage_ > stage) map = map->below_.get();
    return *map;
}

double StageMap::slope(int source, int gate) const {
    const Stage& from = problem_.stages[source];
    return on(from.first_wall + gate) ? from.slope_on[gate] : from.slope_off[gate];
}

const ExactVector& StageMap::exact_row(int row) const {
    const std::lock_guard lock(exact_mutex_);
    exact_rows_.resize(static_cast<std::size_t>(width_));
    auto& slot = exact_rows_[row];
    if (!slot) slot = std::make_unique<ExactVector>(compute_exact_row(row));
    return *slot;
}

const TwofoldForm& StageMap::twofold_row(int row) const {
    const std::lock_guard lock(exact_mutex_);
    twofold_rows_.resize(static_cast<std::size_t>(width_));
    auto& slot = twofold_rows_[row];
    if (!slot) slot = std::make_unique<TwofoldForm>(compute_twofold_row(row));
    return *slot;
}

TwofoldForm StageMap::compute_twofold_row(int row) const {
    const Stage& here = problem_.stages[stage_];
    const int size = problem_.dim + 1;
    TwofoldSum sum(size);
    for (const Block& block : here.blocks) {
        for (int j = 0; j < block.columns; ++j) {
            const double weight = block.by_column[static_cast<std::size_t>(j) * width_ + row];
            if (weight == 0.0) continue;
            if (block.source == 0) {
                sum.add(weight, problem_.frame.data() + static_cast<std::size_t>(j) * size, nullptr, 0.0);
                continue;
            }
            const double factor = slope(block.source, j);
            if (factor == 0.0) continue;
            const TwofoldForm& form = at(block.source).twofold_row(j);
            sum.add(weight, form.high.data(), form.low.data(), factor == 1.0 ? form.error : rounding::unknown);
        }
    }
    sum.add_entry(size - 1, here.bias[row]);
    if (!here.parameter_rows.empty())
        for (int k = 0; k < size; ++k) sum.add_entry(k, here.parameter_rows[static_cast<std::size_t>(row) * size + k]);
    return sum.total();
}

ExactVector StageMap::compute_exact_row(int row) const {
    const Stage& here = problem_.stages[stage_];
    const int size = problem_.dim + 1;
    ExactSum sum(size);
    for (const Block& block : here.blocks) {
        for (int j = 0; j < block.columns; ++j) {
            const double weight = block.by_column[j * width_ + row];
            if (weight == 0.0) continue;
            if (block.source == 0) {
                sum.add(weight,
                        ExactVector::from_floats(problem_.frame.data() + static_cast<std::size_t>(j * size), size));
                continue;
            }
            const double factor = slope(block.source, j);
            if (factor == 0.0) continue;
            const ExactVector& form = at(block.source).exact_row(j);
            if (factor == 1.0) {
                sum.add(weight, form);
            } else {
                ExactSum scaled(size);
                scaled.add(factor, form);
                sum.add(weight, scaled.total());
            }
        }
    }
    sum.add_entry(size - 1, here.bias[row]);
    if (!here.parameter_rows.empty())
        for (int k = 0; k < size; ++k) sum.add_entry(k, here.parameter_rows[row * size + k]);
    return sum.total();
}

}  // namespace polyfold
