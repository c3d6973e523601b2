#include "geometry/cells/outlook.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "geometry/cells/frame.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_rows = 16;        // of a frame; more of them bend too much to tell anything
constexpr std::size_t together = 4;  // gates that are added before a sum is kept, at least
constexpr std::size_t most_sums = 16;
constexpr double more = 1 + 0x1p-20;  // for the rounding of a bound itself

// The smallest power of two that is at least so large; zero where scaling by it might round.
double power_above(double size) {
    if (size == 0) return 1;
    if (!rounding::is_ordinary(size)) return 0;
    int exponent = 0;
    std::frexp(size, &exponent);
    return std::ldexp(1.0, exponent);
}

// How many of so many gates are added before a sum is kept.
std::size_t step_of(std::size_t gates) {
    return std::max(together, (gates + most_sums - 1) / most_sums);
}

// The only block that reads a stage, or nothing.
const Block* only_block(const Stage& above, int stage) {
    const auto reads = [&](const Block& block) { return block.source == stage; };
    const auto block = std::find_if(above.blocks.begin(), above.blocks.end(), reads);
    return std::count_if(block, above.blocks.end(), reads) == 1 ? &*block : nullptr;
}

}  // namespace

void Lookout::look(Frame& frame, const StageMap& map, const std::vector<std::uint8_t>& pattern) {
    Outlook& ahead = frame.ahead;
    ahead.known = true;
    ahead.judged = ahead.only_open = false;
    Forms& of_inputs = of_inputs_[map.stage() + 1];
    if (of_inputs.error.empty()) of_inputs = StageMap::forms_of_inputs(problem_, map.stage() + 1);
    ahead.forms = of_inputs;
    map.add_all_but(ahead.forms, frame.rows, pattern);
    ahead.sides.clear();
    if (map.stage() == 0 || frame.entry == 0 || frame.count() > most_rows) return;
    const Stage& above = problem_.stages[map.stage() + 1];
    const Block* block = only_block(above, map.stage());
    if (!block) return;
    if (!place_points(frame, map.stage())) return;
    list_rows(ahead, frame, above, *block);
    ahead.judged = true;
    judge_on_box(ahead, frame, above.width);
    if (frame.count() > 0) judge_at_points(ahead, frame, above.width);
    if (map.stage() + 2 == static_cast<int>(problem_.stages.size())) keep_open(ahead, frame, *block, above.width);
}

void Lookout::put_forms(Frame& frame, const StageMap& map, const std::vector<std::uint8_t>& pattern, Forms& forms) {
    Outlook& ahead = frame.ahead;
    forms = ahead.forms;
    if (map.stage() == 0) return;
    const Stage& above = problem_.stages[map.stage() + 1];
    const Block* block = only_block(above, map.stage());
    if (!block) return map.add_gates_to(forms, frame.rows, pattern);

    const std::size_t n = frame.rows.size(), count = forms.error.size();
    part_.assign((n + 63) / 64, 0);
    const int first_gate = problem_.stages[map.stage()].first_wall;
    for (std::size_t j = 0; j < n; ++j) {
        const int gate = first_gate + frame.rows[j];
        part_[j / 64] |= (std::uint64_t{pattern[gate / 8]} >> (gate % 8) & 1) << (j % 64);
    }
    const std::size_t step = step_of(n), next = sums_in_common(ahead.sides, n);
    if (next > 0) forms = ahead.sums[next - 1];
    Sources gates(static_cast<int>(count), problem_.dim + 1, above.terms);
    for (std::size_t j = next * step; j < n; ++j) {
        const int gate = frame.rows[j];
        const double* row = map.entries() + gate;
        const double slope = map.slope_in(pattern, gate);
        if (ahead.only_open) {
            gates.add(forms, ahead.weights.data() + j * count, slope, row, map.width(), map.error(gate));
        } else {
            gates.add(forms, *block, gate, slope, row, map.width(), map.error(gate));
        }
        if ((j + 1) % step != 0 || j + 1 == n) continue;
        gates.finish(forms);
        if (ahead.sums.size() <= j / step) ahead.sums.emplace_back();
        ahead.sums[j / step] = forms;
    }
    gates.finish(forms);
    std::swap(ahead.sides, part_);
}

// How many of the sums that are kept are the part's as well, if these of the frame's gates were on in the part before.
std::size_t Lookout::sums_in_common(const std::vector<std::uint64_t>& before, std::size_t gates) const {
    if (before.empty() || gates == 0) return 0;
    const std::size_t step = step_of(gates), kept = (gates - 1) / step;  // the last sum is not
    for (std::size_t word = 0; word < before.size(); ++word)
        if (const std::uint64_t other = before[word] ^ part_[word])
            return std::min(kept, (64 * word + static_cast<std::size_t>(std::countr_zero(other))) / step);
    return kept;
}

// False where floats do not reach.
bool Lookout::place_points(const Frame& frame, int stage) {
    const Stage& here = problem_.stages[stage];
    const GeneratorStore& generators = frame.generators;
    const int dimensions = generators.dimensions, n = frame.count();
    coordinates_ = dimensions + n;
    points_.resize(static_cast<std::size_t>(frame.entry) * coordinates_);
    point_error_.assign(generators.error.begin(), generators.error.begin() + frame.entry);
    for (int g = 0; g < frame.entry; ++g)
        std::copy_n(generators.point(g), dimensions, points_.data() + static_cast<std::ptrdiff_t>(g) * coordinates_);
    scale_.resize(n);
    bend_.resize(n);
    for (int c = 0; c < n; ++c) {
        const double on = here.slope_on[frame.rows[c]], off = here.slope_off[frame.rows[c]];
        const auto doubt = [&](int g) { return (frame.doubt[c] + frame.norm[c] * generators.error[g]) * more; };
        // The gate's function and its chord differ by what they differ by at zero, or less.
        double most = 0, least = 0;
        for (int g = 0; g < frame.entry; ++g) {
            most = std::max(most, frame.value_at(g, c) + doubt(g));
            least = std::min(least, frame.value_at(g, c) - doubt(g));
        }
        const double height = most - least;
        if (!(height < rounding::largest)) return false;
        const double reach = height > 0 ? most / height * -least * more : 0;
        const double half = 0.5 * (on - off) * reach;
        // Half way between them.
        double largest = 0;
        for (int g = 0; g < frame.entry; ++g) {
            const double value = frame.value_at(g, c);
            double& place = points_[static_cast<std::size_t>(g) * coordinates_ + dimensions + c];
            place = (value > 0 ? on : off) * value - half;
            largest = std::max({largest, std::abs(place), std::abs(half)});
        }
        scale_[c] = power_above(largest);
        if (scale_[c] == 0) return false;
        bend_[c] = std::abs(half) / scale_[c] * more;
        const double steepest = std::max(std::abs(on), std::abs(off));
        for (int g = 0; g < frame.entry; ++g) {
            points_[static_cast<std::size_t>(g) * coordinates_ + dimensions + c] /= scale_[c];
            const double error = (steepest * doubt(g) / scale_[c] + rounding::bound(6)) * more + rounding::tiny;
            point_error_[g] = std::max(point_error_[g], error);
        }
    }
    return true;
}

// The next stage's rows over such points.
void Lookout::list_rows(const Outlook& ahead, const Frame& frame, const Stage& above, const Block& block) {
    const int width = above.width, dimensions = frame.generators.dimensions;
    const auto size = static_cast<std::size_t>(width);
    table_.resize(size * coordinates_);
    std::copy(ahead.forms.entries.begin(), ahead.forms.entries.end(), table_.begin());
    for (int c = 0; c < frame.count(); ++c) {
        const double* column = block.by_column.data() + static_cast<std::ptrdiff_t>(frame.rows[c]) * width;
        double* entries = table_.data() + static_cast<std::ptrdiff_t>(dimensions + c) * width;
        for (int i = 0; i < width; ++i) entries[i] = column[i] * scale_[c];
    }
    form_error_.resize(size);
    norm_.assign(size, 0.0);
    for (int k = 0; k < coordinates_; ++k)
        for (int i = 0; i < width; ++i) norm_[i] += std::abs(table_[static_cast<std::size_t>(k) * size + i]);
    for (int i = 0; i < width; ++i) {
        // Weights that are scaled down may underflow.
        form_error_[i] = ahead.forms.error[i] * more + rounding::underflow;
        norm_[i] = (norm_[i] + coordinates_ * form_error_[i]) * more;
    }
}

void Lookout::judge_on_box(Outlook& ahead, const Frame& frame, int width) {
    const auto point = [&](int g) { return points_.data() + static_cast<std::ptrdiff_t>(g) * coordinates_; };
    box_.start(point(0), coordinates_, point_error_[0]);
    for (int g = 1; g < frame.entry; ++g) box_.add(point(g), point_error_[g]);
    box_.finish();
    for (int c = 0; c < frame.count(); ++c) {
        double& reach = box_.reach[frame.generators.dimensions + c];
        reach = (reach + bend_[c]) * more;
    }
    sides_.clear(width);
    signs_on_box({table_.data(), width, coordinates_}, box_, norm_.data(), form_error_.data(), sides_);
    ahead.on = sides_.positive;
    ahead.open.clear();
    for (int first = 0; first < width; first += 64) {
        std::uint64_t rest = ~(sides_.positive.words()[first / 64] | sides_.negative.words()[first / 64]);
        if (width - first < 64) rest &= (std::uint64_t{1} << (width - first)) - 1;
        for (; rest; rest &= rest - 1) ahead.open.push_back(first + std::countr_zero(rest));
    }
}

void Lookout::judge_at_points(Outlook& ahead, const Frame& frame, int width) {
    const int n = static_cast<int>(ahead.open.size());
    if (n == 0) return;
    open_table_.resize(static_cast<std::size_t>(n) * coordinates_);
    open_norm_.resize(n);
    doubt_.resize(n);
    value_.resize(static_cast<std::size_t>(n) * frame.entry);
    for (int k = 0; k < coordinates_; ++k)
        for (int c = 0; c < n; ++c)
            open_table_[static_cast<std::size_t>(k) * n + c] =
                table_[static_cast<std::size_t>(k) * width + ahead.open[c]];
    for (int c = 0; c < n; ++c) {
        const int row = ahead.open[c];
        open_norm_[c] = norm_[row] * more;
        doubt_[c] = norm_[row] * rounding::of_norm(coordinates_, 0) +
                    form_error_[row] * rounding::of_form(coordinates_) + rounding::tiny;
    }
    for (int j = 0; j < frame.count(); ++j) {
        const double* weight = open_table_.data() + static_cast<std::ptrdiff_t>(frame.generators.dimensions + j) * n;
        for (int c = 0; c < n; ++c) doubt_[c] += std::abs(weight[c]) * bend_[j] * more;
    }
    sides_.clear(n);
    in_doubt_.clear(n);
    sides_at({open_table_.data(), n, coordinates_}, {points_.data(), point_error_.data(), frame.entry},
             open_norm_.data(), doubt_.data(), value_.data(), sides_, in_doubt_);
    int left = 0;
    for (int c = 0; c < n; ++c) {
        const int row = ahead.open[c];
        const bool positive = sides_.positive.has(c), negative = sides_.negative.has(c);
        if (in_doubt_.has(c) || positive == negative) {
            ahead.open[left++] = row;
        } else if (positive) {
            ahead.on.set(row);
        }
    }
    ahead.open.resize(left);
}

void Lookout::keep_open(Outlook& ahead, const Frame& frame, const Block& block, int width) {
    const std::size_t n = ahead.open.size(), count = 1 + n;
    const auto dimensions = static_cast<std::size_t>(frame.generators.dimensions);
    ahead.only_open = true;
    some_forms_.entries.assign(dimensions * count, 0.0);
    some_forms_.error.assign(count, 0.0);
    for (std::size_t k = 0; k < dimensions; ++k)
        for (std::size_t c = 0; c < n; ++c)
            some_forms_.entries[k * count + 1 + c] =
                ahead.forms.entries[k * static_cast<std::size_t>(width) + static_cast<std::size_t>(ahead.open[c])];
    for (std::size_t c = 0; c < n; ++c) some_forms_.error[1 + c] = ahead.forms.error[ahead.open[c]];
    std::swap(ahead.forms, some_forms_);
    ahead.weights.assign(count * frame.rows.size(), 0.0);
    for (std::size_t j = 0; j < frame.rows.size(); ++j) {
        const double* column = block.by_column.data() + static_cast<std::ptrdiff_t>(frame.rows[j]) * width;
        for (std::size_t c = 0; c < n; ++c) ahead.weights[j * count + 1 + c] = column[ahead.open[c]];
    }
}

}  // namespace polyfold
