#include "geometry/proof/shared_forms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int gates_in_word = 64, registers_in_word = gates_in_word / lanes;

// More than what rounding adds to a bound while it is computed.
constexpr double margin = 1 + 0x1p-19;

// Beyond this, sums of numbers might have overflowed on the way. Doubts are more than a 2^-53rd of the terms: where
// they are small, so were all sums.
constexpr double most_doubt = rounding::largest * rounding::unit;

template <class Visit>
void for_each_bit(std::uint64_t bits, Visit visit) {
    for (; bits; bits &= bits - 1) visit(std::countr_zero(bits));
}

bool all_of(Choice choice) {
    return bits_of(choice) == (1 << lanes) - 1;
}

double largest_of(Lanes sizes) {
    return std::max(std::max(sizes[0], sizes[1]), std::max(sizes[2], sizes[3]));
}

// Adds factor * column to some registers of the forms, for some of the coordinates.
template <int Registers, int Coordinates>
void add_products(int columns, const Lanes* const* column, int first, const double* factors, int dimensions,
                  const Lanes* before, Lanes* after) {
    Lanes sum[Registers][Coordinates];
    for (int r = 0; r < Registers; ++r)
        for (int k = 0; k < Coordinates; ++k) sum[r][k] = before[r * dimensions + k];
    for (int j = 0; j < columns; ++j, factors += dimensions) {
        const Lanes* weights = column[j] + first;
        for (int r = 0; r < Registers; ++r)
            for (int k = 0; k < Coordinates; ++k) sum[r][k] += weights[r] * factors[k];
    }
    for (int r = 0; r < Registers; ++r)
        for (int k = 0; k < Coordinates; ++k) after[r * dimensions + k] = sum[r][k];
}

// Of the gates in so many registers, by lane: in the first bit whether the gate of the last one is off, and behind it
// whether those of the others are, from the last one on.
BitLanes off_from_last(std::uint64_t on, int registers) {
    return (BitLanes{} + ~on) << (BitLanes{63, 62, 61, 60} - static_cast<std::uint64_t>((registers - 1) * lanes));
}

// The least value, by lane, that forms have at a point, counted as positive where it has the sign that is wanted.
template <int Dim>
Lanes least_at(const double* point, const Lanes* entries, int registers, Lanes no_rows, const std::uint64_t* on) {
    std::array<Lanes, Dim> at;
    for (std::size_t k = 0; k < Dim; ++k) at[k] = Lanes{} + point[k];
    const Lanes* form = entries + registers * (Dim + 1);
    BitLanes off;
    const auto next = [&] {
        form -= Dim + 1;
        Lanes value = form[Dim];
        for (std::size_t k = 0; k < Dim; ++k) value += form[k] * at[k];
        return flipped(value, off);
    };
    int word = (registers - 1) / registers_in_word, left = registers - word * registers_in_word - 1;
    off = off_from_last(on[word], left + 1);
    Lanes least = larger(next(), no_rows);
    const auto look_at_next = [&] {
        off <<= lanes;
        least = smaller(next(), least);
    };
    while (true) {
        for (; left >= 3; left -= 3) {
            look_at_next();
            look_at_next();
            look_at_next();
        }
        for (; left > 0; --left) look_at_next();
        if (word-- == 0) return least;
        left = registers_in_word - 1;
        off = off_from_last(on[word], left + 1);
        least = smaller(next(), least);
    }
}

}  // namespace

bool SharedForms::pays(const Problem& problem) {
    const auto has_gates = [](const Stage& stage) { return stage.width > 0; };
    return problem.dim <= most_dimensions && std::all_of(problem.stages.begin(), problem.stages.end(), has_gates);
}

SharedForms::SharedForms(const Problem& problem)
    : problem_(problem),
      dimensions_(problem.dim + 1),
      layers_(problem.stages.size()),
      forms_(problem.stages.size()),
      patterns_of_(problem.stages.size()) {
    for (std::size_t s = 1; s < layers_.size(); ++s) {
        const Stage& stage = problem.stages[s];
        Layer& layer = layers_[s];
        layer.width = stage.width;
        layer.registers = registers_for(stage.width);
        layer.first_word = words_;
        layer.words = (stage.width + gates_in_word - 1) / gates_in_word;
        words_ += layer.words;
        layer.relative = rounding::bound(stage.terms);
        layer.start.assign(static_cast<std::size_t>(dimensions_ * layer.registers), Lanes{});
        layer.start_doubt.assign(static_cast<std::size_t>(dimensions_), 0.0);
        std::vector<double> row_sum(static_cast<std::size_t>(stage.width), 0.0);
        const auto add_to_start = [&](int k, int i, double term) {
            layer.start[static_cast<std::size_t>(i / lanes * dimensions_ + k)][i % lanes] += term;
        };
        for (const Block& block : stage.blocks) {
            const auto columns = static_cast<std::size_t>(block.columns), width = static_cast<std::size_t>(stage.width);
            for (std::size_t j = 0; j < columns; ++j)
                for (std::size_t i = 0; i < width; ++i) row_sum[i] += std::abs(block.by_column[j * width + i]) * margin;
            if (block.source == 0) {
                for (int j = 0; j < block.columns; ++j)
                    for (int k = 0; k < dimensions_; ++k) {
                        const double factor = problem.frame[static_cast<std::size_t>(j * dimensions_ + k)];
                        for (int i = 0; i < stage.width; ++i)
                            add_to_start(k, i, block.by_column[static_cast<std::size_t>(j * stage.width + i)] * factor);
                        double& doubt = layer.start_doubt[static_cast<std::size_t>(k)];
                        doubt = std::max(doubt, (rounding::least + layer.relative * std::abs(factor)) * margin);
                    }
                continue;
            }
            layer.reads_earlier = layer.reads_earlier || block.source + 1 < static_cast<int>(s);
            Weights& weights = layer.weights.emplace_back();
            weights.source = block.source;
            weights.columns.assign(columns * static_cast<std::size_t>(layer.registers), Lanes{});
            for (std::size_t j = 0; j < columns; ++j)
                for (std::size_t i = 0; i < width; ++i)
                    weights.columns[j * static_cast<std::size_t>(layer.registers) + i / lanes][i % lanes] =
                        block.by_column[j * width + i];
        }
        for (int i = 0; i < stage.width; ++i) add_to_start(problem.dim, i, stage.bias[static_cast<std::size_t>(i)]);
        for (const double sum : row_sum) layer.largest_row_sum = std::max(layer.largest_row_sum, sum);
        for (const double bias : stage.bias)
            layer.largest_bias_error =
                std::max(layer.largest_bias_error, layer.relative * std::abs(bias) * margin + rounding::tiny);
        for (int lane = 0; lane < lanes; ++lane)
            layer.no_rows[lane] =
                (layer.registers - 1) * lanes + lane < stage.width ? -rounding::unknown : rounding::unknown;
        for (const auto* slopes : {&stage.slope_on, &stage.slope_off})
            for (const double slope : *slopes) layer.slope = std::max(layer.slope, std::abs(slope));
        Forms& forms = forms_[s];
        for (auto* numbers : {&forms.doubt, &forms.size, &forms.out_error, &forms.out_size})
            numbers->assign(static_cast<std::size_t>(dimensions_), 0.0);
    }
}

void SharedForms::prove(int count, const std::uint8_t* patterns, const double* points, std::uint8_t* proved) {
    points_ = points;
    proved_ = proved;
    find_largest(count);
    std::fill_n(proved, count, std::uint8_t{1});
    if (count == 0 || layers_.size() == 1) return;
    read_patterns(count, patterns);
    forms_[1].entries = layers_[1].start;
    look(1, 0, count);
}

// How large the coordinates of the points are. Numbers that are none count as larger than all others.
void SharedForms::find_largest(int count) {
    const int dim = problem_.dim;
    std::array<Choice, registers_for(most_dimensions)> bits{};
    for (int cell = 0; cell < count; ++cell)
        for (int first = 0; first < dim; first += lanes) {
            const Lanes point = load(points_ + static_cast<std::ptrdiff_t>(cell) * dim + first, dim - first);
            const auto own = reinterpret_cast<Choice>(size_of(point));
            Choice& most = bits[static_cast<std::size_t>(first / lanes)];
            most = own > most ? own : most;
        }
    for (int k = 0; k < dim; ++k)
        largest_[static_cast<std::size_t>(k)] =
            std::bit_cast<double>(static_cast<std::int64_t>(bits[static_cast<std::size_t>(k / lanes)][k % lanes]));
}

// Patterns with a word of its own for the first gate of each stage, so that stages can be compared.
void SharedForms::read_patterns(int count, const std::uint8_t* patterns) {
    // A word may begin anywhere in a pattern: of the last ones there are copies, behind which more can be read.
    const std::ptrdiff_t stride = (problem_.gates + 7) / 8;
    const int last = std::min(count, static_cast<int>(sizeof(std::uint64_t)));
    last_patterns_.assign(static_cast<std::size_t>((last + 1) * stride) + sizeof(std::uint64_t), 0);
    std::copy_n(patterns + (count - last) * stride, last * stride, last_patterns_.begin());
    patterns_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(words_));
    for (std::size_t s = 1; s < layers_.size(); ++s)
        for (int word = 0; word < layers_[s].words; ++word) {
            const int gate = problem_.stages[s].first_wall + word * gates_in_word;
            const int gates = std::min(layers_[s].width - word * gates_in_word, gates_in_word);
            std::uint64_t* out = patterns_.data() + layers_[s].first_word + word;
            out = read_word(gate, gates, patterns, count - last, out);
            read_word(gate, gates, last_patterns_.data(), last, out);
        }
}

// Of so many patterns these gates, at most a word of them; where the next pattern's go.
std::uint64_t* SharedForms::read_word(int gate, int gates, const std::uint8_t* patterns, int count,
                                      std::uint64_t* out) const {
    const int stride = (problem_.gates + 7) / 8, shift = gate % 8;
    const std::uint64_t all = ~std::uint64_t{0} >> (gates_in_word - gates);
    const bool goes_on = shift + gates > gates_in_word;
    patterns += gate / 8;
    for (int cell = 0; cell < count; ++cell, patterns += stride, out += words_) {
        std::uint64_t bits;
        std::memcpy(&bits, patterns, sizeof bits);
        bits >>= shift;
        if (goes_on) bits |= static_cast<std::uint64_t>(patterns[sizeof bits]) << (gates_in_word - shift);
        *out = bits & all;
    }
    return out;
}

bool SharedForms::same(int cell, int other, const Layer& layer) const {
    return std::equal(pattern(cell, layer), pattern(cell, layer) + layer.words, pattern(other, layer));
}

// At cells that agree in all gates of earlier stages, whose forms of this stage are known.
void SharedForms::look(std::size_t stage, int first, int last) {
    if (!find_bounds(stage)) {
        std::fill(proved_ + first, proved_ + last, std::uint8_t{0});
        return;
    }
    switch (problem_.dim) {
        case 1:
            look_at<1>(stage, first, last);
            break;
        case 2:
            look_at<2>(stage, first, last);
            break;
        case 3:
            look_at<3>(stage, first, last);
            break;
        case 4:
            look_at<4>(stage, first, last);
            break;
        case 5:
            look_at<5>(stage, first, last);
            break;
        case 6:
            look_at<6>(stage, first, last);
            break;
        case 7:
            look_at<7>(stage, first, last);
            break;
        default:
            look_at<most_dimensions>(stage, first, last);
    }
    if (stage + 1 < layers_.size()) look_above(stage, first, last);
}

// The same at the next stage, of which the forms are found.
void SharedForms::look_above(std::size_t stage, int first, int last) {
    const Layer &here = layers_[stage], &above = layers_[stage + 1];
    Patterns& all = patterns_of_[stage];
    if (all.common.empty()) all.common.resize(1);
    Common& common = all.common[0];
    common.gates.assign(static_cast<std::size_t>(here.words), 0);
    common.entries = above.start;
    if (above.reads_earlier)
        for (std::size_t source = 1; source < stage; ++source) {
            among_.assign(static_cast<std::size_t>(layers_[source].words), ~std::uint64_t{0});
            add_columns_of(stage + 1, source, pattern(first, layers_[source]), common.entries, common.entries);
        }
    all.starts.assign(1, first);
    for (int cell = first + 1; cell < last; ++cell)
        if (!same(cell - 1, cell, here)) all.starts.push_back(cell);
    all.starts.push_back(last);
    look_at_patterns(stage, 0, 0, all.starts.size() - 1);
}

// The same at some of the patterns of a stage. Of gates in which these and others agree the forms are known.
void SharedForms::look_at_patterns(std::size_t stage, std::size_t depth, std::size_t first, std::size_t last) {
    const Layer& here = layers_[stage];
    Patterns& all = patterns_of_[stage];
    if (all.common.size() < depth + 2) all.common.resize(depth + 2);
    const Common& outer = all.common[depth];
    Common& common = all.common[depth + 1];
    const bool one = last - first == 1;
    const std::uint64_t* wanted = pattern(all.starts[first], here);
    among_.resize(static_cast<std::size_t>(here.words));
    common.gates = outer.gates;
    for (std::size_t w = 0; w < among_.size(); ++w) {
        std::uint64_t differ = 0;
        for (std::size_t p = first + 1; p < last; ++p) differ |= pattern(all.starts[p], here)[w] ^ wanted[w];
        among_[w] = ~differ & ~outer.gates[w];
        common.gates[w] |= among_[w];
    }
    std::vector<Lanes>& entries = one ? forms_[stage + 1].entries : common.entries;
    add_columns_of(stage + 1, stage, wanted, outer.entries, entries);
    if (one) return look(stage + 1, all.starts[first], all.starts[last]);
    const std::size_t middle = first_with_next_gate(stage, first, last);
    look_at_patterns(stage, depth + 1, first, middle);
    look_at_patterns(stage, depth + 1, middle, last);
}

// Of patterns that mostly come in the order of their gates, off before on: the first one that has the first gate on in
// which they differ.
std::size_t SharedForms::first_with_next_gate(std::size_t stage, std::size_t first, std::size_t last) const {
    const Layer& here = layers_[stage];
    const std::vector<int>& starts = patterns_of_[stage].starts;
    const std::uint64_t *one = pattern(starts[first], here), *other = pattern(starts[last - 1], here);
    int word = 0;
    while (word + 1 < here.words && one[word] == other[word]) ++word;
    const std::uint64_t differ = one[word] ^ other[word], gate = differ & -differ;
    const auto found = std::partition_point(
        starts.begin() + static_cast<std::ptrdiff_t>(first) + 1, starts.begin() + static_cast<std::ptrdiff_t>(last) - 1,
        [&](int cell) { return !((pattern(cell, here)[word] ^ one[word]) & gate); });
    return static_cast<std::size_t>(found - starts.begin());
}

// What the stage's forms may be off, and what it puts out; false if sums may have overflowed.
bool SharedForms::find_bounds(std::size_t stage) {
    const Layer& layer = layers_[stage];
    Forms& forms = forms_[stage];
    forms.doubt = layer.start_doubt;
    for (const Weights& weights : layer.weights) {
        const Forms& source = forms_[static_cast<std::size_t>(weights.source)];
        for (std::size_t k = 0; k < forms.doubt.size(); ++k)
            forms.doubt[k] =
                std::max(forms.doubt[k],
                         (source.out_error[k] * (1 + layer.relative) + layer.relative * source.out_size[k]) * margin);
    }
    bool in_range = true;
    for (int k = 0; k < dimensions_; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double error = layer.largest_bias_error + layer.largest_row_sum * forms.doubt[at] * margin;
        in_range = in_range && error < most_doubt;
        Lanes sizes{};
        for (int r = 0; r < layer.registers; ++r)
            sizes = larger(size_of(forms.entries[static_cast<std::size_t>(r * dimensions_ + k)]), sizes);
        forms.size[at] = largest_of(sizes);
        forms.out_size[at] = layer.slope * forms.size[at] * margin;
        forms.out_error[at] =
            (layer.slope * error + rounding::bound(2) * forms.out_size[at]) * margin * margin + rounding::least;
    }
    return in_range;
}

// What the values of a stage may be off at points with coordinates of at most these sizes.
double SharedForms::error_at(std::size_t stage, const double* point) const {
    const Layer& layer = layers_[stage];
    const Forms& forms = forms_[stage];
    const auto constant = static_cast<std::size_t>(problem_.dim);
    double doubt = forms.doubt[constant], size = forms.size[constant], linear = 1;
    for (std::size_t k = 0; k < constant; ++k) {
        const double coordinate = std::abs(point[k]);
        doubt += forms.doubt[k] * coordinate;
        size += forms.size[k] * coordinate;
        linear += coordinate;
    }
    doubt *= margin;
    const double slack = (rounding::bound(dimensions_ + 3) * size + rounding::tiny * linear) * margin;
    const double error = (layer.largest_row_sum * doubt + layer.largest_bias_error + slack) * margin;
    return error < most_doubt ? error : rounding::unknown;
}

// Whether cells' witnesses have the signs of their patterns in this stage: by the error that none of them exceeds, or
// else by their own.
template <int Dim>
void SharedForms::look_at(std::size_t stage, int first, int last) {
    const Layer& layer = layers_[stage];
    // Copies, since what is written might be any other number for all that the compiler knows.
    const Lanes* const entries = forms_[stage].entries.data();
    const int registers = layer.registers, words = words_;
    const Lanes no_rows = layer.no_rows, error = Lanes{} + error_at(stage, largest_.data());
    const double* point = points_ + static_cast<std::ptrdiff_t>(first) * Dim;
    const std::uint64_t* on = pattern(first, layer);
    std::uint8_t* const proved = proved_;
    for (int cell = first; cell < last; ++cell, point += Dim, on += words) {
        const Lanes least = least_at<Dim>(point, entries, registers, no_rows, on);
        const bool fine = all_of(least > error) || all_of(least > Lanes{} + error_at(stage, point));
        proved[cell] &= static_cast<std::uint8_t>(fine);
    }
}

// Add what the gates among_ of a source put out, with this pattern, to the forms of a stage.
void SharedForms::add_columns_of(std::size_t stage, std::size_t source, const std::uint64_t* pattern,
                                 const std::vector<Lanes>& before, std::vector<Lanes>& after) {
    const Layer &layer = layers_[stage], &from = layers_[source];
    const Stage& gates = problem_.stages[source];
    const std::vector<Lanes>& forms = forms_[source].entries;
    after.resize(before.size());
    const Lanes* entries = before.data();
    for (const Weights& weights : layer.weights) {
        if (weights.source != static_cast<int>(source)) continue;
        columns_.clear();
        factors_.clear();
        for (int word = 0; word < from.words; ++word)
            for_each_bit(among_[static_cast<std::size_t>(word)], [&](int bit) {
                const int gate = word * gates_in_word + bit;
                if (gate >= from.width) return;
                const bool on = (pattern[word] >> bit) & 1;
                const double slope = (on ? gates.slope_on : gates.slope_off)[static_cast<std::size_t>(gate)];
                if (slope == 0.0) return;
                columns_.push_back(weights.columns.data() + static_cast<std::ptrdiff_t>(gate) * layer.registers);
                for (int k = 0; k < dimensions_; ++k)
                    factors_.push_back(slope *
                                       forms[static_cast<std::size_t>(gate / lanes * dimensions_ + k)][gate % lanes]);
            });
        if (columns_.empty()) continue;
        add_up(layer, entries, after.data());
        entries = after.data();
    }
    if (entries != after.data()) std::copy_n(entries, before.size(), after.data());
}

// Two registers at a time, for up to four coordinates: what a processor has registers for.
void SharedForms::add_up(const Layer& layer, const Lanes* before, Lanes* after) const {
    const int columns = static_cast<int>(columns_.size());
    const auto add = [&]<int Registers>(int first) {
        int k = 0;
        const auto some = [&]<int Coordinates>() {
            add_products<Registers, Coordinates>(columns, columns_.data(), first, factors_.data() + k, dimensions_,
                                                 before + first * dimensions_ + k, after + first * dimensions_ + k);
            k += Coordinates;
        };
        while (dimensions_ - k >= 5 || dimensions_ - k == 3) some.template operator()<3>();
        if (dimensions_ - k == 4) some.template operator()<4>();
        if (dimensions_ - k == 2) some.template operator()<2>();
        if (dimensions_ - k == 1) some.template operator()<1>();
    };
    int r = 0;
    for (; r + 2 <= layer.registers; r += 2) add.template operator()<2>(r);
    if (r < layer.registers) add.template operator()<1>(r);
}

}  // namespace polyfold
