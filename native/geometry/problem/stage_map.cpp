#include "geometry/problem/stage_map.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/base/lanes.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// A single block on unsliced inputs: its weights are the forms, without any rounding.
bool reads_input_as_it_is(const Problem& problem, const Stage& stage) {
    return stage.blocks.size() == 1 && stage.blocks[0].source == 0 && problem.frame_is_identity;
}

// A few outputs of other stages, or inputs, that are added to the forms of a stage together: in registers, so that the
// forms are read and written once for all of them. Every entry is summed up in the order in which they were given.
class Sources {
  public:
    // So many forms, of so many entries with so many roundings behind them.
    Sources(int width, int size, int terms)
        : width_(width),
          size_(size),
          relative_(rounding::bound(terms)),
          values_(static_cast<std::size_t>(size) * together) {}

    // Add factor * row to the forms, each times its weight, and what that may be off.
    void add(Forms& forms, const double* weights, double factor, const double* row, int stride, double row_error) {
        if (factor == 0.0) return;
        double largest = 0;
        for (int k = 0; k < size_; ++k) {
            const double value = factor * row[k * stride];
            largest = std::max(largest, std::abs(value));
            values_[k * together + count_] = value;
        }
        // What underflows here is multiplied by the weights, which may be large.
        doubt_[count_] = std::abs(factor) * row_error * (1 + relative_) + relative_ * largest + rounding::least;
        weights_[count_] = weights;
        if (++count_ == together) finish(forms);
    }

    // To be called when all are given.
    void finish(Forms& forms) {
        switch (std::exchange(count_, 0)) {
            case 0:
                return;
            case 1:
                return add_all<1>(forms);
            case 2:
                return add_all<2>(forms);
            case 3:
                return add_all<3>(forms);
            default:
                return add_all<together>(forms);
        }
    }

  private:
    static constexpr int together = 4, registers = 2;

    const int width_, size_;
    const double relative_;
    int count_ = 0;
    const double* weights_[together];
    double doubt_[together];
    std::vector<double> values_;  // [k * together + source]

    template <int Count>
    void add_all(Forms& forms) {
        // Apart from the others, because zero times infinity is no number.
        bool unknown[Count];
        for (int s = 0; s < Count; ++s) {
            unknown[s] = !(doubt_[s] < rounding::unknown);
            if (unknown[s]) doubt_[s] = 0;
        }
        int row = add_while<Count, registers>(forms, 0, Whole());
        row = add_while<Count, 1>(forms, row, Whole());
        if (row < width_) add_while<Count, 1>(forms, row, First{width_ - row});
        for (int s = 0; s < Count; ++s)
            if (unknown[s])
                for (int i = 0; i < width_; ++i)
                    if (weights_[s][i] != 0.0) forms.error[i] = rounding::unknown;
    }

    // Registers that are full, or of which only the first lanes are looked at.
    struct Whole {
        static constexpr int lanes_of(int step) { return step; }
        Lanes get(const double* from) const { return load(from); }
        void put(double* to, Lanes x) const { store(to, x); }
    };
    struct First {
        int count;
        int lanes_of(int) const { return count; }
        Lanes get(const double* from) const { return load(from, count); }
        void put(double* to, Lanes x) const { store(to, x, count); }
    };

    // To the forms from `row` on, as long as they fill so many registers. Returns the next row.
    template <int Count, int Registers, class Part>
    int add_while(Forms& forms, int row, Part part) {
        constexpr int step = Registers * lanes;
        Lanes doubt[Count];
        for (int s = 0; s < Count; ++s) doubt[s] = Lanes{} + doubt_[s];
        for (; row + part.lanes_of(step) <= width_; row += step) {
            Lanes weight[Count][Registers];
            for (int s = 0; s < Count; ++s)
                for (int r = 0; r < Registers; ++r) weight[s][r] = part.get(weights_[s] + row + r * lanes);
            double* error = forms.error.data() + row;
            for (int r = 0; r < Registers; ++r) {
                Lanes sum = part.get(error + r * lanes), largest{};
                for (int s = 0; s < Count; ++s) {
                    const Lanes size = size_of(weight[s][r]);
                    sum += size * doubt[s];
                    largest = s == 0 ? size : larger(largest, size);
                }
                // Products may underflow, and so may their bounds: an entry with any term at all is never taken for
                // exact.
                sum += largest > 0 ? Lanes{} + rounding::underflow : Lanes{};
                part.put(error + r * lanes, sum);
            }
            double* out = forms.entries.data() + row;
            const double* value = values_.data();
            for (int k = 0; k < size_; ++k, out += width_, value += together) {
                Lanes sum[Registers];
                for (int r = 0; r < Registers; ++r) sum[r] = part.get(out + r * lanes);
                for (int s = 0; s < Count; ++s)
                    for (int r = 0; r < Registers; ++r) sum[r] += weight[s][r] * value[s];
                for (int r = 0; r < Registers; ++r) part.put(out + r * lanes, sum[r]);
            }
        }
        return row;
    }
};

const double* column_of(const Block& block, int j, int width) {
    return block.by_column.data() + static_cast<std::ptrdiff_t>(j) * width;
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
}

// The bounds were themselves summed up in floats.
static constexpr double bound_of_entries(double error) {
    return error * (1.0 + 0x1p-20);
}
static constexpr double bound_of_norm(double sizes, double error, int size) {
    return (sizes + size * error) * (1.0 + rounding::bound(size + 3));
}

void StageMap::refill(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern, Forms& forms) {
    start(std::move(below), pattern);
    std::swap(forms_, forms);
    knows_all_ = true;
    norm_.assign(static_cast<std::size_t>(width_), 0.0);
    const int size = problem_.dim + 1;
    for (int k = 0; k < size; ++k)
        for (int i = 0; i < width_; ++i) norm_[i] += std::abs(forms_.entries[k * width_ + i]);
    for (double& error : forms_.error) error = bound_of_entries(error);
    for (int i = 0; i < width_; ++i) norm_[i] = bound_of_norm(norm_[i], forms_.error[i], size);
    std::int64_t within_reach = 0;  // as wide as a double, so that compilers make vectors of the sum
    for (int i = 0; i < width_; ++i)
        within_reach += (norm_[i] < rounding::largest) & (forms_.error[i] < rounding::largest);
    if (within_reach < width_)
        for (int i = 0; i < width_; ++i) forget_if_out_of_reach(i);
}

void StageMap::refill(std::shared_ptr<const StageMap> below, const std::vector<std::uint8_t>& pattern,
                      const std::vector<int>& rows, const Forms& forms) {
    start(std::move(below), pattern);
    const int size = problem_.dim + 1, count = static_cast<int>(rows.size());
    if (knows_all_ || norm_.empty()) {
        forms_.entries.assign(static_cast<std::size_t>(width_) * size, 0.0);
        forms_.error.assign(static_cast<std::size_t>(width_), rounding::unknown);
        norm_.assign(static_cast<std::size_t>(width_), 0.0);
        knows_all_ = false;
    } else {
        for (const int row : known_rows_) forget(row);
    }
    known_rows_ = rows;
    for (int c = 0; c < count; ++c) {
        const int row = rows[c];
        double sizes = 0;
        for (int k = 0; k < size; ++k) {
            const double entry = forms.entries[k * count + c];
            forms_.entries[k * width_ + row] = entry;
            sizes += std::abs(entry);
        }
        forms_.error[row] = bound_of_entries(forms.error[c]);
        norm_[row] = bound_of_norm(sizes, forms_.error[row], size);
        forget_if_out_of_reach(row);
    }
}

// Floats know nothing of the row: zeros whose error is unknown say so to all who ask.
void StageMap::forget(int row) {
    for (int k = 0; k <= problem_.dim; ++k) forms_.entries[k * width_ + row] = 0.0;
    norm_[row] = 0.0;
    forms_.error[row] = rounding::unknown;
}

// Where an entry overflowed, or sums of values might: no infinity and no NaN gets any farther.
void StageMap::forget_if_out_of_reach(int row) {
    if (!(norm_[row] < rounding::largest && forms_.error[row] < rounding::largest)) forget(row);
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
            inputs.add(forms, column_of(block, j, width), 1.0,
                       problem.frame.data() + static_cast<std::ptrdiff_t>(j) * size, 1, 0.0);
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
            outputs.add(forms, column_of(block, j, above.width), factor, source.entries() + j, source.width_,
                        source.error(j));
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
        for (const int j : gates)
            outputs.add(forms, column_of(block, j, above.width), slope_in(pattern, j), entries() + j, width_, error(j));
        outputs.finish(forms);
    }
}

void StageMap::add_gates_to(Forms& forms, const std::vector<int>& gates, const std::vector<std::uint8_t>& pattern,
                            const std::vector<double>& weights) const {
    const int rows = static_cast<int>(forms.error.size());
    Sources outputs(rows, problem_.dim + 1, problem_.stages[stage_ + 1].terms);
    const double* weight = weights.data();
    for (const int j : gates) {
        outputs.add(forms, weight, slope_in(pattern, j), entries() + j, width_, error(j));
        weight += rows;
    }
    outputs.finish(forms);
}

double StageMap::slope_in(const std::vector<std::uint8_t>& pattern, int gate) const {
    const Stage& here = problem_.stages[stage_];
    const int wall = here.first_wall + gate;
    return (pattern[wall / 8] >> (wall % 8)) & 1 ? here.slope_on[gate] : here.slope_off[gate];
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
