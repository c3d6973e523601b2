#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "geometry/count/edge_values.hpp"
#include "geometry/count/value_count.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// ---- one corner

// What two rows are worth at the ends of an edge, in whole numbers of a unit. The second is almost zero where the first
// one vanishes: all that is left of it has the sign of `rest`.
struct Crossing {
    std::int64_t first[2], second[2];
    std::int64_t rest;

    Crossing(Numbers& numbers, std::int64_t most) {
        const std::int64_t size = most / 2, factor = size + numbers.integer(size / 2);
        first[0] = size + numbers.integer(size / 2);
        first[1] = -(size + numbers.integer(size / 2));
        rest = numbers.below(2) ? 1 : -1;
        second[0] = factor * first[0] + rest;
        second[1] = factor * first[1];
        REQUIRE_EQ(sign_of(static_cast<Wide>(second[0]) * -first[1] + static_cast<Wide>(second[1]) * first[0]),
                   sign_of(rest));
    }
};

// How many signs are claimed and wrong where what is looked at differs from the truth by `off` at the ends; of this,
// and of what the share may be off, only a part is admitted.
int wrong_corners(std::int64_t most, double off, double admitted, int& claimed) {
    Numbers numbers(3);
    int wrong = 0;
    const double unit = 0x1p-52;
    for (int trial = 0; trial < 4000; ++trial) {
        const Crossing truth(numbers, most);
        double ends[2][2 * lanes];
        for (int end = 0; end < 2; ++end) {
            const auto about = [&](std::int64_t value) {
                return static_cast<double>(value) * unit + (numbers.below(2) ? off : -off);
            };
            std::fill_n(ends[end], 2 * lanes, rounding::tiny);
            ends[end][0] = about(truth.first[end]);
            ends[end][1] = about(truth.second[end]);
            for (int row : {0, 1}) ends[end][lanes + row] = admitted * off + rounding::tiny;
        }
        double corner[2 * lanes];
        const PointValues from{ends[0], lanes}, to{ends[1], lanes};
        Share share = share_where_zero(0, from, to);
        share.error *= admitted;
        const RowSigns signs = put_values_between(from, to, share, RowSet{2}, corner);
        const int sign = (signs.positive >> 1 & 1) - (signs.negative >> 1 & 1);
        claimed += sign != 0;
        wrong += sign * sign_of(truth.rest) < 0;
    }
    return wrong;
}

// How often a value is further from the truth than is said, where the share is exact, so that nothing but rounding is
// off: where the value is small between large ones of different signs, or as large as these.
int wrong_roundings(bool cancels) {
    Numbers numbers(4);
    int wrong = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const std::int64_t eighths = 1 + numbers.below(7), factor = (std::int64_t{1} << 49) + numbers.integer(1 << 30);
        const std::int64_t start = eighths * factor + numbers.integer(7);
        const std::int64_t end = cancels ? (eighths - 8) * factor : start + numbers.integer(7);
        double ends[2][2 * lanes];
        for (auto& numbers_at : ends) std::fill_n(numbers_at, 2 * lanes, rounding::tiny);
        ends[0][0] = static_cast<double>(start);
        ends[1][0] = static_cast<double>(end);
        double corner[2 * lanes];
        put_values_between({ends[0], lanes}, {ends[1], lanes}, {static_cast<double>(eighths) / 8, 0}, 1, corner);
        const Wide truth = static_cast<Wide>(8 - eighths) * start + static_cast<Wide>(eighths) * end;
        const Wide off = static_cast<Wide>(8 * corner[0]) - truth;
        wrong += std::abs(static_cast<double>(off)) > 8 * corner[lanes];
    }
    return wrong;
}

// ---- whole sections

// A cube around the origin and rows with whole coefficients that cut it.
struct CutCube {
    int dim;
    std::vector<Integers> rows;

    // Rows of small numbers, many of which meet where they need not; some are sums of others, and meet these wherever
    // they meet each other.
    CutCube(Numbers& numbers, int dim, int count) : dim(dim) {
        while (static_cast<int>(rows.size()) < count) {
            Integers row = numbers.integers(dim + 1, 2);
            if (rows.size() >= 2 && numbers.below(2)) {
                const Integers &a = rows[rows.size() - 1], &b = rows[rows.size() - 2];
                const std::int64_t factor = numbers.below(2) ? 1 : -1;
                for (std::size_t k = 0; k < row.size(); ++k) row[k] = a[k] + factor * b[k];
            }
            std::int64_t reach = 0;
            for (int k = 0; k < dim; ++k) reach += std::abs(row[static_cast<std::size_t>(k)]);
            if (std::abs(row.back()) < reach) rows.push_back(row);
        }
    }

    Integers corner(int number) const {
        Integers x;
        for (int k = 0; k < dim; ++k) x.push_back(number >> k & 1 ? 1 : -1);
        x.push_back(1);
        return x;
    }

    // The parts that the rows from the i-th one on make: all choices of sides that leave an interior.
    std::int64_t parts(std::size_t i) const {
        std::vector<Integers> sides;
        for (int k = 0; k < dim; ++k)
            for (const int side : {1, -1}) {
                Integers row(static_cast<std::size_t>(dim + 1), 0);
                row[static_cast<std::size_t>(k)] = side;
                row.back() = 1;
                sides.push_back(row);
            }
        return parts(sides, i);
    }

    std::int64_t parts(std::vector<Integers>& sides, std::size_t i) const {
        Integers inside(static_cast<std::size_t>(dim + 1), 0);
        for (const Integers& ray : extreme_rays(sides, dim + 1))
            for (std::size_t k = 0; k < ray.size(); ++k) inside[k] += ray[k];
        for (const Integers& side : sides)
            if (dot(side, inside) <= 0) return 0;
        if (i == rows.size()) return 1;
        std::int64_t total = 0;
        for (const int side : {1, -1}) {
            Integers row = rows[i];
            for (std::int64_t& entry : row) entry *= side;
            sides.push_back(row);
            total += parts(sides, i + 1);
            sides.pop_back();
        }
        return total;
    }

    // What is known of the rows at the corners, off by `off`, of which a part is admitted.
    Frame frame(Numbers& numbers, double off, double admitted) const {
        Frame frame;
        frame.generators.dimensions = dim + 1;
        for (std::size_t c = 0; c < rows.size(); ++c) {
            frame.rows.push_back(static_cast<int>(c));
            frame.norm.push_back(1);
            frame.doubt.push_back(rounding::tiny);
        }
        for (int v = 0; v < 1 << dim; ++v) {
            const Integers x = corner(v);
            const std::vector<double> point(x.begin(), x.end());
            frame.generators.add(point.data(), admitted * off, false, nullptr, nullptr);
            for (const Integers& row : rows) {
                const auto value = static_cast<std::int64_t>(dot(row, x));
                frame.value.push_back(static_cast<double>(value) + (numbers.below(2) ? off : -off));
                frame.sign.push_back(static_cast<std::int8_t>(sign_of(value)));
            }
        }
        return frame;
    }
};

struct Tally {
    int proved = 0, unproved = 0, wrong = 0;
};

Tally count_cubes(double off, double admitted) {
    Numbers numbers(5);
    Tally tally;
    const StopSignal stop;
    ValueCount<1> values(stop);
    for (int trial = 0; trial < 160; ++trial) {
        const int dim = 2 + trial % 3;
        const CutCube cube(numbers, dim, dim < 4 ? 5 : 4);
        const Frame frame = cube.frame(numbers, off, admitted);
        std::vector<std::int32_t> corners;
        std::vector<Mask<1>> facets_of;
        for (int v = 0; v < 1 << dim; ++v) {
            corners.push_back(v);
            Mask<1> facets;
            for (int k = 0; k < dim; ++k) facets.set(2 * k + (v >> k & 1));
            facets_of.push_back(facets);
        }
        values.start(frame, corners, facets_of, frame.rows, dim);
        for (std::size_t i = 0; i + 1 < cube.rows.size(); ++i) {
            const std::int64_t found = values.parts_on(static_cast<int>(i));
            // A row adds as many parts as the rows behind it make of its section.
            const bool right = found == cube.parts(i) - cube.parts(i + 1);
            tally.proved += right;
            tally.unproved += found == ValueCount<1>::unproved;
            tally.wrong += !right && found != ValueCount<1>::unproved;
        }
    }
    return tally;
}

}  // namespace

TEST_CASE("signs where a row vanishes are right, and would not be with bounds 2^20 times closer") {
    // Numbers of up to 52 bits: the smallest sum is as large as what rounding may be off.
    for (const double off : {0.0, 0x1p-52, 0x1p-46, 0x1p-40}) {
        CAPTURE(off);
        int claimed = 0, claimed_by_mutant = 0;
        CHECK_EQ(wrong_corners(1 << 25, off, 1, claimed), 0);
        if (off > 0) CHECK_GT(wrong_corners(1 << 25, off, 0x1p-20, claimed_by_mutant), 0);
    }
}

TEST_CASE("a value between two others is as near as is said where only rounding is off") {
    CHECK_EQ(wrong_roundings(true), 0);
    CHECK_EQ(wrong_roundings(false), 0);
}

TEST_CASE("signs that are clear are claimed between two points") {
    const double from[] = {3, 1, -1, 2, 0x1p-50, 0x1p-50, 0x1p-50, 0x1p-50};
    const double to[] = {-1, 1, 3, -1, 0x1p-50, 0x1p-50, 0x1p-50, 0x1p-50};
    double corner[2 * lanes];
    const Share share = share_where_zero(0, {from, lanes}, {to, lanes});
    CHECK_EQ(share.share, 0.75);
    CHECK_LT(share.error, 0x1p-49);
    const RowSigns signs = put_values_between({from, lanes}, {to, lanes}, share, 14, corner);
    CHECK_EQ(signs.positive & 14, 6);
    CHECK_EQ(signs.negative & 14, 8);
    CHECK_EQ(corner[2], 2);
    CHECK_LT(corner[lanes + 2], 0x1p-47);
    const double huge[] = {0x1p1023, 1, 1, 1, 1, 1, 1, 1}, huge_below[] = {-0x1p1023, -1, 1, 1, 1, 1, 1, 1};
    CHECK_EQ(share_where_zero(0, {huge, lanes}, {huge_below, lanes}).error, rounding::unknown);
}

TEST_CASE("parts of cubes whose rows meet in points are proved and right, or not proved") {
    const Tally exact = count_cubes(0, 1);
    CHECK_EQ(exact.wrong, 0);
    CHECK_GT(exact.proved, 200);
    CHECK_GT(exact.unproved, 20);  // rows meet where no corner of the cube is
    for (const double off : {0x1p-45, 0x1p-30}) {
        CAPTURE(off);
        const Tally right = count_cubes(off, 1), mutant = count_cubes(off, 0x1p-20);
        CHECK_EQ(right.wrong, 0);
        CHECK_GT(right.proved, 200);
        CHECK_GT(mutant.wrong, 0);
    }
}

}  // namespace polyfold::tests
