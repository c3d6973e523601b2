#include "geometry/proof/shared_forms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_dimensions = 8;
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

double largest_of(const Lanes* registers, int count) {
    Lanes largest{};
    for (int r = 0; r < count; ++r) largest = larger(size_of(registers[r]), largest);
    return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

// Adds factor * column to some registers of the forms, for some of the coordinates.
template <int Registers, int Coordinates>
void add_products(int columns, const Lanes* const* column, int first, const double* factors, int dimensions,
                  Lanes* entries, int registers) {
    Lanes sum[Coordinates][Registers];
    for (int k = 0; k < Coordinates; ++k)
        for (int r = 0; r < Registers; ++r) sum[k][r] = entries[k * registers + r];
    for (int j = 0; j < columns; ++j, factors += dimensions) {
        const Lanes* weights = column[j] + first;
        for (int k = 0; k < Coordinates; ++k)
            for (int r = 0; r < Registers; ++r) sum[k][r] += weights[r] * factors[k];
    }
    for (int k = 0; k < Coordinates; ++k)
        for (int r = 0; r < Registers; ++r) entries[k * registers + r] = sum[k][r];
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
            layer.start[static_cast<std::size_t>(k * layer.registers + i / lanes)][i % lanes] += term;
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
    std::fill_n(proved, count, std::uint8_t{1});
    if (count == 0 || layers_.size() == 1) return;
    read_patterns(count, patterns);
    forms_[1].entries = layers_[1].start;
    look(1, 0, count);
}

// Patterns with a word of its own for the first gate of each stage, so that stages can be compared.
void SharedForms::read_patterns(int count, const std::uint8_t* patterns) {
    const int stride = (problem_.gates + 7) / 8;
    patterns_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(words_));
    std::uint64_t* out = patterns_.data();
    for (int cell = 0; cell < count; ++cell, patterns += stride)
        for (std::size_t s = 1; s < layers_.size(); ++s) {
            const Layer& layer = layers_[s];
            for (int word = 0; word < layer.words; ++word) {
                const int gate = problem_.stages[s].first_wall + word * gates_in_word, shift = gate % 8;
                const int gates = std::min(layer.width - word * gates_in_word, gates_in_word);
                std::uint64_t low = 0;
                std::memcpy(&low, patterns + gate / 8, static_cast<std::size_t>(std::min(8, stride - gate / 8)));
                std::uint64_t bits = low >> shift;
                if (shift + gates > gates_in_word)
                    bits |= static_cast<std::uint64_t>(patterns[gate / 8 + 8]) << (gates_in_word - shift);
                *out++ = gates < gates_in_word ? bits & ((std::uint64_t{1} << gates) - 1) : bits;
            }
        }
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
            add_columns_of(stage + 1, source, pattern(first, layers_[source]), common.entries);
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
    entries = outer.entries;
    add_columns_of(stage + 1, stage, wanted, entries);
    if (one) return look(stage + 1, all.starts[first], all.starts[last]);
    const std::size_t middle = first + (last - first) / 2;
    look_at_patterns(stage, depth + 1, first, middle);
    look_at_patterns(stage, depth + 1, middle, last);
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
        forms.size[at] = largest_of(forms.entries.data() + k * layer.registers, layer.registers);
        forms.out_size[at] = layer.slope * forms.size[at] * margin;
        forms.out_error[at] =
            (layer.slope * error + rounding::bound(2) * forms.out_size[at]) * margin * margin + rounding::least;
    }
    return in_range;
}

// Whether cells' witnesses have the signs of their patterns in this stage.
template <int Dim>
void SharedForms::look_at(std::size_t stage, int first, int last) {
    const Layer& layer = layers_[stage];
    const Forms& forms = forms_[stage];
    const int registers = layer.registers;
    const double* point = points_ + static_cast<std::ptrdiff_t>(first) * Dim;
    for (int cell = first; cell < last; ++cell, point += Dim) {
        double doubt = forms.doubt[Dim], size = forms.size[Dim], linear = 1;
        std::array<Lanes, Dim> at;
        for (std::size_t k = 0; k < Dim; ++k) {
            const double coordinate = std::abs(point[k]);
            at[k] = Lanes{} + point[k];
            doubt += forms.doubt[k] * coordinate;
            size += forms.size[k] * coordinate;
            linear += coordinate;
        }
        doubt *= margin;
        const double slack = (rounding::bound(dimensions_ + 3) * size + rounding::tiny * linear) * margin;
        const double error = (layer.largest_row_sum * doubt + layer.largest_bias_error + slack) * margin;

        // The least value, by lane, counted as positive where it has the sign that is wanted.
        Lanes least = Lanes{} + rounding::unknown;
        const Lanes* entry = forms.entries.data();
        const auto own = [&](std::uint64_t wanted) {
            Lanes value = entry[Dim * registers];
            for (std::size_t k = 0; k < Dim; ++k) value += entry[static_cast<int>(k) * registers] * at[k];
            ++entry;
            return value * sides_by(wanted);
        };
        const std::uint64_t* word = pattern(cell, layer);
        int left = registers;
        for (; left > registers_in_word; left -= registers_in_word) {
            std::uint64_t wanted = *word++;
            for (int r = 0; r < registers_in_word; ++r, wanted >>= lanes) least = smaller(own(wanted), least);
        }
        std::uint64_t wanted = *word;
        for (; left > 1; --left, wanted >>= lanes) least = smaller(own(wanted), least);
        least = smaller(larger(own(wanted), layer.no_rows), least);
        const bool fine = error < most_doubt && bits_of(least > Lanes{} + error) == (1 << lanes) - 1;
        proved_[cell] &= static_cast<std::uint8_t>(fine);
    }
}

// Add what the gates among_ of a source put out, with this pattern, to the forms of a stage.
void SharedForms::add_columns_of(std::size_t stage, std::size_t source, const std::uint64_t* pattern,
                                 std::vector<Lanes>& entries) {
    const Layer &layer = layers_[stage], &from = layers_[source];
    const Stage& gates = problem_.stages[source];
    const std::vector<Lanes>& forms = forms_[source].entries;
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
                    factors_.push_back(
                        slope * forms[static_cast<std::size_t>(k * from.registers + gate / lanes)][gate % lanes]);
            });
        add_up(layer, entries);
    }
}

// Two registers at a time, for up to four coordinates: what a processor has registers for.
void SharedForms::add_up(const Layer& layer, std::vector<Lanes>& entries) const {
    const int columns = static_cast<int>(columns_.size());
    if (columns == 0) return;
    const auto add = [&]<int Registers>(int first) {
        int k = 0;
        const auto some = [&]<int Coordinates>() {
            add_products<Registers, Coordinates>(columns, columns_.data(), first, factors_.data() + k, dimensions_,
                                                 entries.data() + k * layer.registers + first, layer.registers);
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
