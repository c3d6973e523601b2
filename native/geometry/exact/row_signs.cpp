#include "geometry/exact/row_signs.hpp"

#include <algorithm>

#include "geometry/base/lanes.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

struct Proved {
    unsigned positive, negative;
};

Proved prove(Lanes value, Lanes doubt) {
    return {bits_of(value > doubt), bits_of(value < -doubt)};
}

// A byte for each of four rows.
void put_signs(std::int8_t* sign, Proved proved, int count) {
    static constexpr std::uint32_t spread[16] = {0x00000000, 0x00000001, 0x00000100, 0x00000101, 0x00010000, 0x00010001,
                                                 0x00010100, 0x00010101, 0x01000000, 0x01000001, 0x01000100, 0x01000101,
                                                 0x01010000, 0x01010001, 0x01010100, 0x01010101};
    const std::uint32_t bytes = spread[proved.positive] | spread[proved.negative] * 0xFF;
    if (count >= lanes) {
        std::memcpy(sign, &bytes, sizeof bytes);
    } else {
        for (int i = 0; i < count; ++i) sign[i] = static_cast<std::int8_t>(bytes >> (8 * i));
    }
}

// A number of coordinates that is known only when the program runs.
constexpr int any_number = 0;

struct At {
    const double* point;
    double error;
    const double *norm, *doubt;
    double* value;
    std::int8_t* sign;
    RowSides* sides;
};

// What signs_at does for the rows from `row` on that fill so many registers.
template <int Registers, int Coordinates, class Part>
bool signs_of_some(const Rows& rows, int row, const At& at, Part part) {
    const int coordinates = Coordinates == any_number ? rows.coordinates : Coordinates;
    Lanes sum[Registers] = {};
    const double* form = rows.forms + row;
    for (int k = 0; k < coordinates; ++k, form += rows.count)
        for (int r = 0; r < Registers; ++r) sum[r] += part.get(form + r * lanes) * at.point[k];
    const int count = part.lanes_of(Registers * lanes);
    Proved all{};
    for (int r = 0; r < Registers; ++r) {
        const int first = row + r * lanes;
        part.put(at.value + first, sum[r]);
        const Proved proved = prove(sum[r], part.get(at.norm + first) * at.error + part.get(at.doubt + first));
        put_signs(at.sign + first, proved, count - r * lanes);
        all.positive |= proved.positive << (r * lanes);
        all.negative |= proved.negative << (r * lanes);
    }
    const unsigned wanted = (1u << count) - 1;
    if (at.sides) {
        at.sides->positive.set_some(row, all.positive & wanted);
        at.sides->negative.set_some(row, all.negative & wanted);
    }
    return ((all.positive | all.negative) & wanted) != wanted;
}

// As many rows at a time as fill so many registers. The last ones are looked at together with some before them, again:
// that costs less than half empty registers.
template <int Registers, int Coordinates>
bool signs_of_many(const Rows& rows, int first, const At& at) {
    constexpr int step = Registers * lanes;
    bool doubtful = false;
    int row = first;
    for (; row + step <= rows.count; row += step)
        doubtful |= signs_of_some<Registers, Coordinates>(rows, row, at, WholeLanes());
    if (row < rows.count) doubtful |= signs_of_some<Registers, Coordinates>(rows, rows.count - step, at, WholeLanes());
    return doubtful;
}

template <int Coordinates>
bool signs_of_all(const Rows& rows, int first, const At& at) {
    const int count = rows.count - first;
    if (count >= 2 * lanes) return signs_of_many<2, Coordinates>(rows, first, at);
    if (count >= lanes) return signs_of_many<1, Coordinates>(rows, first, at);
    return count > 0 && signs_of_some<1, Coordinates>(rows, first, at, FirstLanes{count});
}

// What sides_at does for the rows from `row` on that fill so many registers.
template <int Registers, int Coordinates, class Part>
bool sides_of_some(const Rows& rows, int row, const Points& points, const At& at, RowBits& in_doubt, Part part) {
    const int coordinates = Coordinates == any_number ? rows.coordinates : Coordinates;
    Lanes norm[Registers], doubt[Registers];
    Choice positive[Registers]{}, negative[Registers]{}, doubtful[Registers]{};
    for (int r = 0; r < Registers; ++r) {
        norm[r] = part.get(at.norm + row + r * lanes);
        doubt[r] = part.get(at.doubt + row + r * lanes);
    }
    const double* point = points.coordinates;
    double* out = at.value + row;
    for (int p = 0; p < points.count; ++p, point += coordinates, out += rows.count) {
        Lanes sum[Registers] = {};
        const double* form = rows.forms + row;
        for (int k = 0; k < coordinates; ++k, form += rows.count)
            for (int r = 0; r < Registers; ++r) sum[r] += part.get(form + r * lanes) * point[k];
        for (int r = 0; r < Registers; ++r) {
            part.put(out + r * lanes, sum[r]);
            const Lanes off = norm[r] * points.error[p] + doubt[r];
            const Choice above = sum[r] > off, below = sum[r] < -off;
            positive[r] |= above;
            negative[r] |= below;
            doubtful[r] |= ~(above | below);
        }
    }
    Proved all{};
    unsigned any_doubtful = 0;
    for (int r = 0; r < Registers; ++r) {
        all.positive |= bits_of(positive[r]) << (r * lanes);
        all.negative |= bits_of(negative[r]) << (r * lanes);
        any_doubtful |= bits_of(doubtful[r]) << (r * lanes);
    }
    const unsigned wanted = (1u << part.lanes_of(Registers * lanes)) - 1;
    at.sides->positive.set_some(row, all.positive & wanted);
    at.sides->negative.set_some(row, all.negative & wanted);
    in_doubt.set_some(row, any_doubtful & wanted);
    return (any_doubtful & wanted) != 0;
}

template <int Coordinates>
bool sides_of_all(const Rows& rows, const Points& points, const At& at, RowBits& in_doubt) {
    constexpr int step = 2 * lanes;
    if (rows.count < lanes)
        return rows.count > 0 && sides_of_some<1, Coordinates>(rows, 0, points, at, in_doubt, FirstLanes{rows.count});
    if (rows.count < step) {
        const bool doubtful = sides_of_some<1, Coordinates>(rows, 0, points, at, in_doubt, WholeLanes());
        if (rows.count == lanes) return doubtful;
        return sides_of_some<1, Coordinates>(rows, rows.count - lanes, points, at, in_doubt, WholeLanes()) || doubtful;
    }
    bool doubtful = false;
    int row = 0;
    for (; row + step <= rows.count; row += step)
        doubtful |= sides_of_some<2, Coordinates>(rows, row, points, at, in_doubt, WholeLanes());
    if (row < rows.count)
        doubtful |= sides_of_some<2, Coordinates>(rows, rows.count - step, points, at, in_doubt, WholeLanes());
    return doubtful;
}

// Calls visit.operator()<N>() with the number of coordinates where that is a usual one: loops of known length.
template <class Visit>
bool with_coordinates(int coordinates, Visit visit) {
    switch (coordinates) {
        case 3:
            return visit.template operator()<3>();
        case 4:
            return visit.template operator()<4>();
        case 5:
            return visit.template operator()<5>();
        case 6:
            return visit.template operator()<6>();
        case 7:
            return visit.template operator()<7>();
        case 8:
            return visit.template operator()<8>();
        default:
            return visit.template operator()<any_number>();
    }
}

}  // namespace

bool sides_at(const Rows& rows, const Points& points, const double* norm, const double* doubt, double* value,
              RowSides& sides, RowBits& in_doubt) {
    const At at{nullptr, 0, norm, doubt, value, nullptr, &sides};
    return with_coordinates(rows.coordinates, [&]<int N>() { return sides_of_all<N>(rows, points, at, in_doubt); });
}

bool signs_at(const Rows& rows, int first, const double* point, double error, const double* norm, const double* doubt,
              double* value, std::int8_t* sign, RowSides* sides) {
    const At at{point, error, norm, doubt, value, sign, sides};
    return with_coordinates(rows.coordinates, [&]<int N>() { return signs_of_all<N>(rows, first, at); });
}

void RowBox::start(const double* point, int coordinates, double point_error) {
    low_.assign(point, point + coordinates);
    high_ = low_;
    error = point_error;
}

void RowBox::add(const double* point, double point_error) {
    for (std::size_t k = 0; k < low_.size(); ++k) {
        low_[k] = std::min(low_[k], point[k]);
        high_[k] = std::max(high_[k], point[k]);
    }
    error = std::max(error, point_error);
}

void RowBox::finish() {
    centre.resize(low_.size());
    reach.resize(low_.size());
    for (std::size_t k = 0; k < low_.size(); ++k) {
        centre[k] = 0.5 * (low_[k] + high_[k]);
        reach[k] = std::max(high_[k] - centre[k], centre[k] - low_[k]) * (1 + 0x1p-20);
    }
}

void signs_on_box(const Rows& rows, const RowBox& box, const double* norm, const double* form_error, RowSides& sides) {
    const double of_norm = rounding::of_norm(rows.coordinates, box.error);
    const double of_form = rounding::of_form(rows.coordinates);
    for (int row = 0; row < rows.count; row += lanes) {
        const int count = std::min(lanes, rows.count - row);
        const double* form = rows.forms + row;
        Lanes value{}, reach{};
        for (int k = 0; k < rows.coordinates; ++k, form += rows.count) {
            const Lanes entry = load(form, count);
            value += entry * box.centre[k];
            reach += size_of(entry) * box.reach[k];
        }
        const Lanes doubt = load(norm + row, count) * of_norm + load(form_error + row, count) * of_form +
                            (reach * (1 + 0x1p-20) + rounding::tiny);
        const Proved proved = prove(value, doubt);
        const unsigned wanted = (1u << count) - 1;
        sides.positive.set(row, proved.positive & wanted);
        sides.negative.set(row, proved.negative & wanted);
    }
}

}  // namespace polyfold
