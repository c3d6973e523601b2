// What rows are worth where one of them vanishes on an edge: from what they are worth at its ends, with an error for
// each row. Decision 47 derives the bounds.
#pragma once

#include <cmath>
#include <cstdint>

#include "geometry/base/lanes.hpp"
#include "geometry/cells/crossing.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

// Some of at most 64 rows.
using RowSet = std::uint64_t;

// The signs of rows at a point. A row in neither set is zero there, or nothing is known of it.
struct RowSigns {
    RowSet positive = 0, negative = 0;

    RowSet known() const { return positive | negative; }
};

// The numbers of a point: what all rows are worth there, and behind these by how much each may be off. There is room
// for `columns` rows, which fill whole registers. Errors are at least `tiny`, also where a row is exactly zero.
struct PointValues {
    const double* value;
    int columns;

    double size(int row) const { return std::abs(value[row]); }
    double error(int row) const { return value[columns + row]; }
};

// How far along an edge a row vanishes that has proved signs at both ends, and not the same.
inline Share share_where_zero(int row, PointValues from, PointValues to) {
    const double near = from.size(row), far = to.size(row);
    if (!(near + far < rounding::largest)) return {0, rounding::unknown};
    return Share::between(near, far, from.error(row), to.error(row));
}

// The numbers of the point there, as far as they concern `rows`, and the signs that they prove.
inline RowSigns put_values_between(PointValues from, PointValues to, const Share& share, RowSet rows, double* point) {
    const double off = share.error + rounding::bound(4);
    const int columns = from.columns;
    RowSigns signs;
    for (int c = 0; c < columns; c += lanes) {
        constexpr RowSet in_register = (1 << lanes) - 1;
        if ((rows >> c & in_register) == 0) continue;
        const Lanes start = load(from.value + c), start_error = load(from.value + columns + c);
        const Lanes step = load(to.value + c) - start, end_error = load(to.value + columns + c);
        const Lanes value = start + share.share * step;
        const Lanes inherited = start_error + share.share * (end_error - start_error);
        const Lanes error =
            (inherited + off * (size_of(step) + (start_error + end_error)) + rounding::bound(2) * size_of(value)) *
            (1 + 0x1p-19);
        store(point + c, value);
        store(point + columns + c, error);
        signs.positive |= RowSet{bits_of(value > error)} << c;
        signs.negative |= RowSet{bits_of(value < -error)} << c;
    }
    return signs;
}

}  // namespace polyfold
