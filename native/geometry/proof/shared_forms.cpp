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
constexpr std::size_t patterns_together = 8;

// More than what rounding adds to a bound while it is computed.
constexpr double margin = 1 + 0x1p-19;

// Beyond this, sums of numbers might have overflowed on the way. Doubts are more than a 2^-53rd of the terms: where
// they are small, so were all sums.
constexpr double most_doubt = rounding::largest * rounding::unit;

// By how much a pattern has to be shifted for the bits of a register's rows to become the first ones of its lanes.
constexpr auto bits_to_front = [] {
    std::array<BitLanes, registers_in_word> shifts{};
    for (std::uint64_t r = 0; r < registers_in_word; ++r)
        shifts[r] = BitLanes{63 - lanes * r, 62 - lanes * r, 61 - lanes * r, 60 - lanes * r};
    return shifts;
}();

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
      earlier_(problem.stages.size()),
      common_(problem.stages.size()),
      point_(static_cast<std::size_t>(dimensions_)) {
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
    for (int cell = first; cell < last; ++cell) look_at(stage, cell);
    if (stage + 1 < layers_.size()) look_above(stage, first, last);
}

// The same at the next stage, of which the forms are found.
void SharedForms::look_above(std::size_t stage, int first, int last) {
    const Layer &here = layers_[stage], &above = layers_[stage + 1];
    const std::vector<Lanes>* start = &above.start;
    std::vector<std::uint64_t> chosen(static_cast<std::size_t>(here.words));
    if (above.reads_earlier) {
        earlier_[stage] = above.start;
        for (std::size_t source = 1; source < stage; ++source) {
            const std::vector<std::uint64_t> every(static_cast<std::size_t>(layers_[source].words), ~std::uint64_t{0});
            add_columns_of(stage + 1, source, every, pattern(first, layers_[source]), earlier_[stage]);
        }
        start = &earlier_[stage];
    }
    while (first < last) {
        // Some patterns together: the gates in which they agree first.
        std::array<int, patterns_together> ends;
        std::size_t patterns = 0;
        all_.assign(pattern(first, here), pattern(first, here) + here.words);
        any_ = all_;
        int next = first;
        while (next < last && patterns < patterns_together) {
            for (int w = 0; w < here.words; ++w) {
                all_[static_cast<std::size_t>(w)] &= pattern(next, here)[w];
                any_[static_cast<std::size_t>(w)] |= pattern(next, here)[w];
            }
            const int begin = next;
            while (next < last && same(begin, next, here)) ++next;
            ends[patterns++] = next;
        }
        for (std::size_t w = 0; w < chosen.size(); ++w) chosen[w] = ~(all_[w] ^ any_[w]);
        common_[stage] = *start;
        add_columns_of(stage + 1, stage, chosen, all_.data(), common_[stage]);
        for (auto& word : chosen) word = ~word;
        for (std::size_t p = 0; p < patterns; ++p) {
            Forms& forms = forms_[stage + 1];
            forms.entries = common_[stage];
            add_columns_of(stage + 1, stage, chosen, pattern(first, here), forms.entries);
            look(stage + 1, first, ends[p]);
            first = ends[p];
        }
    }
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

// Whether a cell's witness has the signs of its pattern in this stage.
void SharedForms::look_at(std::size_t stage, int cell) {
    const Layer& layer = layers_[stage];
    const Forms& forms = forms_[stage];
    const double* point = points_ + static_cast<std::ptrdiff_t>(cell) * problem_.dim;
    const auto constant = static_cast<std::size_t>(problem_.dim);
    double doubt = forms.doubt[constant], size = forms.size[constant], linear = 1;
    for (std::size_t k = 0; k < constant; ++k) {
        const double coordinate = std::abs(point[k]);
        point_[k] = Lanes{} + point[k];
        doubt += forms.doubt[k] * coordinate;
        size += forms.size[k] * coordinate;
        linear += coordinate;
    }
    doubt *= margin;
    const double slack = (rounding::bound(dimensions_ + 3) * size + rounding::tiny * linear) * margin;
    const double error = (layer.largest_row_sum * doubt + layer.largest_bias_error + slack) * margin;
    const std::uint64_t* wanted = pattern(cell, layer);
    const Lanes* entries = forms.entries.data();
    const int last = layer.registers - 1;
    Lanes least = larger(least_of<1>(layer, entries, last, wanted[last / registers_in_word]), layer.no_rows);
    int r = 0;
    for (; r + 4 <= last; r += 4) least = smaller(least, least_of<4>(layer, entries, r, wanted[r / registers_in_word]));
    for (; r < last; ++r) least = smaller(least, least_of<1>(layer, entries, r, wanted[r / registers_in_word]));
    const bool fine = error < most_doubt && bits_of(least > Lanes{} + error) == (1 << lanes) - 1;
    proved_[cell] &= static_cast<std::uint8_t>(fine);
}

// The least values of some rows, by lane, counted as positive where they have the sign that is wanted.
template <int Registers>
Lanes SharedForms::least_of(const Layer& layer, const Lanes* entries, int first, std::uint64_t wanted) const {
    Lanes value[Registers];
    const Lanes* entry = entries + problem_.dim * layer.registers + first;
    for (int r = 0; r < Registers; ++r) value[r] = entry[r];
    entry = entries + first;
    for (int k = 0; k < problem_.dim; ++k, entry += layer.registers)
        for (int r = 0; r < Registers; ++r) value[r] += entry[r] * point_[static_cast<std::size_t>(k)];
    const BitLanes off = BitLanes{} + ~wanted;
    Lanes least{};
    for (int r = 0; r < Registers; ++r) {
        const Lanes own = flipped(value[r], off << bits_to_front[(first + r) % registers_in_word]);
        least = r == 0 ? own : smaller(least, own);
    }
    return least;
}

// Add what some gates of a source put out, with this pattern, to the forms of a stage.
void SharedForms::add_columns_of(std::size_t stage, std::size_t source, const std::vector<std::uint64_t>& among,
                                 const std::uint64_t* pattern, std::vector<Lanes>& entries) {
    const Layer &layer = layers_[stage], &from = layers_[source];
    const Stage& gates = problem_.stages[source];
    const std::vector<Lanes>& forms = forms_[source].entries;
    for (const Weights& weights : layer.weights) {
        if (weights.source != static_cast<int>(source)) continue;
        columns_.clear();
        factors_.clear();
        for (int word = 0; word < from.words; ++word)
            for_each_bit(among[static_cast<std::size_t>(word)], [&](int bit) {
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
