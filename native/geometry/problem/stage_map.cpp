#include "geometry/problem/stage_map.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// A single block on unsliced inputs: its weights are the forms, without any rounding.
bool reads_input_as_it_is(const Problem& problem, const Stage& stage) {
    return stage.blocks.size() == 1 && stage.blocks[0].source == 0 && problem.frame_is_identity;
}

}  // namespace

StageMap::StageMap(const Problem& problem, int stage)
    : problem_(problem), stage_(stage), width_(problem.stages[stage].width) {}

StageMap::StageMap(const Problem& problem, int stage, std::shared_ptr<const StageMap> below,
                   std::vector<std::uint8_t> pattern)
    : StageMap(problem, stage) {
    Forms forms = below ? below->forms_above_without({}, pattern) : forms_of_inputs(problem, stage);
    refill(std::move(below), pattern, forms);
}

void StageMap::start(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern) {
    below_ = std::move(below);
    pattern_ = pattern;
    exact_rows_.clear();
    twofold_rows_.clear();
}

// What divides all entries of each row, or nothing where that is not known.
const double* StageMap::grids() const {
    const std::vector<double>& grid = problem_.stages[stage_].grid;
    return grid.empty() ? nullptr : grid.data();
}
// The bounds were themselves summed up in floats. One below the grid on which all terms lie says that none of them was
// rounded, nor any sum: see decision 54.
static constexpr double bound_of_entries(double summed, double grid) {
    const double error = summed * (1.0 + 0x1p-20);
    return error < grid ? 0.0 : error;
}
static constexpr double bound_of_norm(double sizes, double error, int size) {
    return (sizes + size * error) * (1.0 + rounding::bound(size + 3));
}

void StageMap::refill(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern, Forms& forms) {
    start(std::move(below), pattern);
    std::swap(forms_, forms);
    if (!knows_all_) {
        place_.resize(static_cast<std::size_t>(width_));
        std::iota(place_.begin(), place_.end(), 0);
        knows_all_ = true;
        stride_ = width_;
    }
    const double* grid = grids();
    double* error = forms_.error.data();
    for (int i = 0; i < width_; ++i) error[i] = bound_of_entries(error[i], grid ? grid[i] : 0.0);
    find_norms();
}

void StageMap::refill(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern,
                      const std::vector<int>& rows, Forms& forms) {
    start(std::move(below), pattern);
    std::swap(forms_, forms);
    const int count = static_cast<int>(rows.size());
    if (knows_all_ || place_.empty()) {
        place_.assign(static_cast<std::size_t>(width_), 0);
        knows_all_ = false;
    } else {
        for (const int row : known_rows_) place_[row] = 0;
    }
    known_rows_ = rows;
    stride_ = 1 + count;
    const double* grid = grids();
    double* error = forms_.error.data() + 1;
    for (int c = 0; c < count; ++c) {
        place_[rows[c]] = 1 + c;
        error[c] = bound_of_entries(error[c], grid ? grid[rows[c]] : 0.0);
    }
    find_norms();
    forget(0);
}

void StageMap::find_norms() {
    const int size = problem_.dim + 1, count = stride_;
    norm_.assign(static_cast<std::size_t>(count), 0.0);
    double* norm = norm_.data();
    const double *entries = forms_.entries.data(), *error = forms_.error.data();
    for (int k = 0; k < size; ++k, entries += count)
        for (int i = 0; i < count; ++i) norm[i] += std::abs(entries[i]);
    std::int64_t within_reach = 0;  // as wide as a double, so that compilers make vectors of the sum
    for (int i = 0; i < count; ++i) {
        norm[i] = bound_of_norm(norm[i], error[i], size);
        within_reach += (norm[i] < rounding::largest) & (error[i] < rounding::largest);
    }
    if (within_reach < count) forget_if_out_of_reach();
}

// Floats know nothing of the row: zeros whose error is unknown say so to all who ask.
void StageMap::forget(int place) {
    for (int k = 0; k <= problem_.dim; ++k) forms_.entries[k * stride_ + place] = 0.0;
    norm_[place] = 0.0;
    forms_.error[place] = rounding::unknown;
}

// Where an entry overflowed, or sums of values might: no infinity and no NaN gets any farther.
void StageMap::forget_if_out_of_reach() {
    for (int place = 0; place < stride_; ++place)
        if (!(norm_[place] < rounding::largest && forms_.error[place] < rounding::largest)) forget(place);
}

Forms StageMap::forms_of_inputs(const Problem& problem, int number) {
    const Stage& stage = problem.stages[number];
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
        Sources inputs(width, size, stage.terms);
        for (int j = 0; j < block.columns; ++j)
            inputs.add(forms, block, j, 1.0, problem.frame.data() + static_cast<std::ptrdiff_t>(j) * size, 1, 0.0);
        inputs.finish(forms);
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

Forms StageMap::forms_above_without(const std::vector<int>& gates, const std::vector<std::uint8_t>& pattern) const {
    Forms forms = forms_of_inputs(problem_, stage_ + 1);
    add_all_but(forms, gates, pattern);
    return forms;
}

void StageMap::add_all_but(Forms& forms, const std::vector<int>& gates,
                           const std::vector<std::uint8_t>& pattern) const {
    const Stage& above = problem_.stages[stage_ + 1];
    for (const Block& block : above.blocks) {
        if (block.source == 0) continue;
        const StageMap& source = at(block.source);
        const Stage& from = problem_.stages[block.source];
        Sources outputs(above.width, problem_.dim + 1, above.terms);
        auto left_out = gates.begin();
        for (int j = 0; j < block.columns; ++j) {
            if (block.source == stage_ && left_out != gates.end() && *left_out == j) {
                ++left_out;
                continue;
            }
            const int gate = from.first_wall + j;
            const double factor = (pattern[gate / 8] >> (gate % 8)) & 1 ? from.slope_on[j] : from.slope_off[j];
            outputs.add(forms, block, j, factor, source.entries() + j, source.width_, source.error(j));
        }
        outputs.finish(forms);
    }
}

void StageMap::add_gates_to(Forms& forms, const std::vector<int>& gates,
                            const std::vector<std::uint8_t>& pattern) const {
    const Stage& above = problem_.stages[stage_ + 1];
    for (const Block& block : above.blocks) {
        if (block.source != stage_) continue;
        Sources outputs(above.width, problem_.dim + 1, above.terms);
        for (const int j : gates) outputs.add(forms, block, j, slope_in(pattern, j), entries() + j, width_, error(j));
        outputs.finish(forms);
    }
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

bool StageMap::vanishes(int row) const {
    // What the largest entry is off by tells mostly, and everything where no entry is off.
    double largest = 0;
    for (int k = 0; k <= problem_.dim; ++k) largest = std::max(largest, std::abs(entry(row, k)));
    if (largest > error(row) || error(row) == 0.0) return largest == 0.0;
    return exact_row(row).is_zero();
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
    if (error(row) == 0.0) {
        for (int k = 0; k < size; ++k) sum.add_entry(k, entry(row, k));
        return sum.total();
    }
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
