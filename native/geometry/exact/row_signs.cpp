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

// What signs_at does for `count` rows from `row` on, which fill so many registers.
template <int Registers>
bool signs_of_some(const Rows& rows, int row, int count, const double* point, double error, const double* norm,
                   const double* doubt, double* value, std::int8_t* sign, RowSides* sides) {
    Lanes sum[Registers] = {};
    const double* form = rows.forms + row;
    for (int k = 0; k < rows.coordinates; ++k, form += rows.count)
        for (int r = 0; r < Registers; ++r) sum[r] += load(form + r * lanes, count - r * lanes) * point[k];
    Proved all{};
    for (int r = 0; r < Registers; ++r) {
        const int at = row + r * lanes, left = count - r * lanes;
        store(value + at, sum[r], left);
        const Proved proved = prove(sum[r], load(norm + at, left) * error + load(doubt + at, left));
        put_signs(sign + at, proved, left);
        all.positive |= proved.positive << (r * lanes);
        all.negative |= proved.negative << (r * lanes);
    }
    const unsigned wanted = (1u << count) - 1;
    if (sides) {
        sides->positive.set(row, all.positive & wanted);
        sides->negative.set(row, all.negative & wanted);
    }
    return ((all.positive | all.negative) & wanted) != wanted;
}

}  // namespace

bool signs_at(const Rows& rows, int first, const double* point, double error, const double* norm, const double* doubt,
              double* value, std::int8_t* sign, RowSides* sides) {
    constexpr int pair = 2 * lanes;
    bool doubtful = false;
    int row = first;
    for (; row + pair <= rows.count; row += pair)
        doubtful |= signs_of_some<2>(rows, row, pair, point, error, norm, doubt, value, sign, sides);
    for (; row < rows.count; row += lanes)
        doubtful |= signs_of_some<1>(rows, row, std::min(lanes, rows.count - row), point, error, norm, doubt, value,
                                     sign, sides);
    return doubtful;
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
