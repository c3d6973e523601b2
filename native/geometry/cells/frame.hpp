// What all cells below one have in common that entered a stage, or that few gates of it are left to cut: these gates,
// and generators with the gates' values there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/cells/outlook.hpp"
#include "geometry/exact/exact_vector.hpp"
#include "geometry/problem/stage_map.hpp"

namespace polyfold {

// A short sorted list, shared by all generators that have it; nothing is the empty list.
using Walls = std::shared_ptr<const std::vector<std::int32_t>>;
Walls with_wall(const Walls& walls, std::int32_t wall);
Walls common_walls(const Walls& a, const Walls& b);

// The sign of a gate at a generator. Where floats could not decide, the float value says nothing.
enum Sign : std::int8_t { exactly_negative = -2, negative = -1, zero = 0, positive = 1, exactly_positive = 2 };

// Generators in parallel arrays, numbered in the order in which they were made.
struct GeneratorStore {
    int dimensions = 0;               // dim + 1
    std::vector<double> coordinates;  // dimensions each, the largest between a half and one
    std::vector<double> error;        // bounds the error of every coordinate
    std::vector<std::uint8_t> at_infinity;
    std::vector<std::shared_ptr<const ExactVector>> exact;  // where they were needed
    std::vector<double> sharp;   // places as of SharpVertex, as many as were asked for; NaN where there is none
    std::vector<Walls> touched;  // walls through it that hold none of its facets; only kept where faces are counted

    int size() const { return static_cast<int>(error.size()); }
    const double* point(int g) const { return coordinates.data() + static_cast<std::ptrdiff_t>(g) * dimensions; }
    int add(const double* at, double point_error, bool infinite, std::shared_ptr<const ExactVector> exact_point,
            Walls walls);
    // Have some of another store's, in this order, and no others.
    void take(const GeneratorStore& from, const std::vector<std::int32_t>& some);
    void resize(int count);
};

// Some rows of a stage side by side, and what their values can be off.
struct RowTable {
    std::vector<int> rows;      // ascending
    std::vector<double> forms;  // [k * rows + c]: their forms
    std::vector<double> norm;   // sum of the entries' sizes
    std::vector<double> doubt;  // what a value can be off at a generator that is known exactly

    int count() const { return static_cast<int>(rows.size()); }
    // Fill in the forms of the rows; where the map knows only some, these are the rows.
    void list_rows(const StageMap& map, int dimensions);
    // Have some rows of another table.
    void keep(const RowTable& from, const std::vector<int>& columns, int dimensions);
};

// Its rows are those of the stage that cut the cell which it was made for. All others are decided.
struct Frame : RowTable {
    // Without rows, to be made for another cell; it still has its generators until it takes others.
    void clear();

    GeneratorStore generators;

    // [g * rows + c]: values at generators; of generators that were made by cutting with row c only later rows are
    // known.
    std::vector<double> value;
    std::vector<std::int8_t> sign;

    int entry = 0;  // the generators of the cell that it was made for: the first ones; none while it contains a line
    Outlook ahead;  // on that cell; found when first needed

    const double* values(int g) const { return value.data() + g * rows.size(); }
    const std::int8_t* signs(int g) const { return sign.data() + g * rows.size(); }
    Sign sign_at(int g, int c) const { return static_cast<Sign>(signs(g)[c]); }
    double value_at(int g, int c) const { return values(g)[c]; }
    // Its rows are these columns of what is known elsewhere of so many generators: of the g-th by values(g) and
    // signs(g). Signs that are not given are those of the values.
    template <class Values, class Signs>
    void take_columns(int generator_count, const std::vector<int>& columns, Values values_of, Signs signs_of) {
        const std::size_t count = columns.size();
        value.resize(count * static_cast<std::size_t>(generator_count));
        sign.resize(value.size());
        double* to = value.data();
        std::int8_t* to_sign = sign.data();
        for (int g = 0; g < generator_count; ++g, to += count, to_sign += count) {
            const double* from = values_of(g);
            for (std::size_t i = 0; i < count; ++i) to[i] = from[columns[i]];
            if (const std::int8_t* from_sign = signs_of(g)) {
                for (std::size_t i = 0; i < count; ++i) to_sign[i] = from_sign[columns[i]];
            } else {
                for (std::size_t i = 0; i < count; ++i) to_sign[i] = to[i] > 0 ? positive : negative;
            }
        }
    }
    void truncate(int count);
};

}  // namespace polyfold
