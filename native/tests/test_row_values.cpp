#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "geometry/list/row_values.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// A row's exact values at the vertices of a triangle, and what floats know of them.
struct Row {
    std::array<std::int64_t, 3> exact;
    std::array<double, 3> value;
    double doubt;

    Row(Numbers& numbers, const std::array<std::int64_t, 3>& values, std::int64_t off) : exact(values) {
        for (std::size_t v = 0; v < 3; ++v) value[v] = static_cast<double>(exact[v] + numbers.integer(off));
        doubt = static_cast<double>(off) * (1 + 0x1p-40) + rounding::tiny;
    }
};

Share share_between(const RowValues* from, const RowValues* to, int registers, int row) {
    return Share::between(std::abs(value_of_row(from, registers, row)), std::abs(value_of_row(to, registers, row)),
                          doubt_of_row(from, registers, row), doubt_of_row(to, registers, row));
}

constexpr int rows = 6, registers = registers_for(rows);
using Known = std::array<RowValues, registers>;

Known known_at(const std::vector<Row>& all, std::size_t vertex) {
    Known known{};
    for (int r = 0; r < rows; ++r)
        set_row(known.data(), registers, r, all[static_cast<std::size_t>(r)].value[vertex],
                all[static_cast<std::size_t>(r)].doubt);
    return known;
}

bool positive(const KnownSigns& signs, int row) {
    return (signs.positive & bit_of_row(row)) != 0;
}
bool sure(const KnownSigns& signs, int row) {
    return (signs.sure & bit_of_row(row)) != 0;
}

// Rows of which the first cuts an edge where the others nearly vanish, or are far from that. What is proved of them,
// and how much of that is wrong?
struct Tally {
    int proved = 0, wrong = 0;

    void look_at_edge(Numbers& numbers, std::int64_t off) {
        const std::int64_t up = 1 + numbers.below(1 << 25), down = 1 + numbers.below(1 << 25), factor = 1 << 24;
        std::vector<Row> all{{numbers, {up * factor, -down * factor, 0}, off}};
        for (int r = 1; r < rows; ++r) {
            // At the crossing the row is worth what is added to one of its ends, up to a positive factor.
            const std::int64_t times = factor + numbers.integer(factor / 2), side = numbers.below(2) ? 1 : -1;
            const std::int64_t rest = numbers.integer(r < 4 ? 8 * (off + 1) : std::int64_t{1} << 45);
            all.push_back({numbers, {side * up * times + rest, -side * down * times, 0}, off});
        }
        const Known from = known_at(all, 0), to = known_at(all, 1);
        const Share share = share_between(from.data(), to.data(), registers, 0);
        Known at;
        const KnownSigns signs =
            inherit_values(share, registers, all_registers(registers), from.data(), to.data(), at.data());
        for (int r = 1; r < rows; ++r) {
            const auto& [start, end, third] = all[static_cast<std::size_t>(r)].exact;
            const Wide exact = static_cast<Wide>(start) * all[0].exact[1] - static_cast<Wide>(end) * all[0].exact[0];
            tell(signs, r, -sign_of(exact));
        }
    }

    // Two rows meet in a triangle: the first cuts two of its edges, the second the segment between.
    void look_in_triangle(Numbers& numbers, std::int64_t off) {
        const auto some = [&] { return 1 + numbers.below(1 << 17); };
        const Integers first{some(), -some(), -some()}, second{numbers.integer(1 << 17), some(), -some()};
        std::vector<Row> all;
        for (const Integers& row : {first, second}) all.push_back({numbers, {row[0], row[1], row[2]}, off});
        for (int r = 2; r < rows; ++r) {
            // Nearly a sum of the two, which would run through the point where they meet.
            const std::int64_t most = std::int64_t{1} << 33, a = numbers.integer(most), b = numbers.integer(most);
            const std::int64_t rest = off == 0 ? 64 : std::int64_t{1} << 44;
            std::array<std::int64_t, 3> row;
            for (std::size_t v = 0; v < 3; ++v) row[v] = a * first[v] + b * second[v] + numbers.integer(rest);
            all.push_back({numbers, row, off});
        }
        const std::array<Known, 3> at{known_at(all, 0), known_at(all, 1), known_at(all, 2)};
        std::array<Known, 2> ends;
        for (std::size_t v = 0; v < 2; ++v) {
            const Share share = share_between(at[0].data(), at[v + 1].data(), registers, 0);
            inherit_values(share, registers, all_registers(registers), at[0].data(), at[v + 1].data(), ends[v].data());
        }
        // Up to positive factors, values at the ends of the segment, and of these at the point where both vanish.
        const auto second_at = [&](std::size_t v) { return second[0] * -first[v + 1] + second[v + 1] * first[0]; };
        if (second_at(0) <= 0 || second_at(1) >= 0) return;
        const Share share = share_between(ends[0].data(), ends[1].data(), registers, 1);
        Known meet;
        const KnownSigns signs =
            inherit_values(share, registers, all_registers(registers), ends[0].data(), ends[1].data(), meet.data());
        for (int r = 2; r < rows; ++r) {
            const auto& row = all[static_cast<std::size_t>(r)].exact;
            const auto row_at = [&](std::size_t v) {
                return static_cast<Wide>(row[0]) * -first[v + 1] + static_cast<Wide>(row[v + 1]) * first[0];
            };
            tell(signs, r, sign_of(row_at(0) * -second_at(1) + row_at(1) * second_at(0)));
        }
    }

    void tell(const KnownSigns& signs, int row, int sign) {
        if (!sure(signs, row)) return;
        ++proved;
        wrong += sign == 0 || positive(signs, row) != (sign > 0);
    }
};

}  // namespace

TEST_CASE("rows are in their places") {
    RowValues values[2]{};
    for (int row = 0; row < 7; ++row) set_row(values, 2, row, row, -row);
    for (int row = 0; row < 7; ++row) {
        CHECK_EQ(value_of_row(values, 2, row), row);
        CHECK_EQ(doubt_of_row(values, 2, row), -row);
    }
}

TEST_CASE("values on an edge prove no wrong sign where they cancel") {
    Numbers numbers(56);
    Tally tally;
    for (int trial = 0; trial < 20000; ++trial) tally.look_at_edge(numbers, 0);
    CHECK_EQ(tally.wrong, 0);
    CHECK(tally.proved > 20000);
}

TEST_CASE("values on an edge prove no wrong sign where those at its ends are not quite known") {
    Numbers numbers(57);
    Tally tally;
    for (int trial = 0; trial < 20000; ++trial) tally.look_at_edge(numbers, 1 << 12);
    CHECK_EQ(tally.wrong, 0);
    CHECK(tally.proved > 20000);
}

TEST_CASE("values that are inherited twice prove no wrong sign") {
    Numbers numbers(58);
    for (const std::int64_t off : {0, 16}) {
        Tally tally;
        for (int trial = 0; trial < 20000; ++trial) tally.look_in_triangle(numbers, off);
        CHECK_EQ(tally.wrong, 0);
        CHECK(tally.proved > 10000);
    }
}

}  // namespace polyfold::tests
