#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "geometry/list/pairing.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

using Pattern = std::vector<bool>;

// Some of the orthants, in the order of gates. Gate k is on where x_k > 0, and behind these come further gates on the
// wall of the first one, which are on where it is on.
struct Orthants {
    int dim, twins;
    std::vector<Pattern> patterns;

    int gates() const { return dim + twins; }

    Pattern beyond(Pattern pattern, int gate) const {
        pattern[static_cast<std::size_t>(gate)] = !pattern[static_cast<std::size_t>(gate)];
        for (int k = dim; gate == 0 && k < gates(); ++k) pattern[static_cast<std::size_t>(k)] = pattern[0];
        return pattern;
    }
    std::int32_t cell_of(const Pattern& pattern) const {
        const auto found = std::find(patterns.begin(), patterns.end(), pattern);
        return found == patterns.end() ? not_explored : static_cast<std::int32_t>(found - patterns.begin());
    }
};

Orthants some_orthants(Numbers& numbers, int dim, int twins, bool all) {
    Orthants cells{dim, twins, {}};
    for (int c = 0; c < 1 << dim; ++c) {
        if (!all && numbers.below(5) == 0) continue;
        Pattern pattern;
        for (int k = 0; k < dim; ++k) pattern.push_back((c >> k) & 1);
        for (int k = 0; k < twins; ++k) pattern.push_back(pattern[0]);
        cells.patterns.push_back(pattern);
    }
    std::sort(cells.patterns.begin(), cells.patterns.end());
    return cells;
}

// As a search leaves them: without neighbours, or with some of them. Each has one facet on the domain's boundary.
CellBlock block_of(const Orthants& orthants, Numbers& numbers) {
    CellBlock block;
    const PatternKeys keys(orthants.gates());
    const auto stride = static_cast<std::size_t>((orthants.gates() + 7) / 8);
    for (const Pattern& pattern : orthants.patterns) {
        std::vector<std::uint8_t> bytes(stride, 0);
        for (std::size_t gate = 0; gate < pattern.size(); ++gate)
            bytes[gate / 8] |= static_cast<std::uint8_t>(pattern[gate] << (gate % 8));
        block.patterns.append(bytes.data(), stride);
        block.keys.push_back(keys.of(bytes.data()));
        for (int gate = 0; gate < orthants.dim; ++gate) {
            for (int twin = orthants.dim; gate == 0 && twin < orthants.gates(); ++twin)
                block.shared.push_back({static_cast<std::int64_t>(block.facet_wall.size()), twin});
            block.facet_wall.push_back(gate);
            const bool is_known = gate == orthants.dim - 1 && numbers.below(2);
            block.neighbour.push_back(is_known ? orthants.cell_of(orthants.beyond(pattern, gate)) : not_explored);
        }
        block.facet_wall.push_back(orthants.gates());
        block.neighbour.push_back(not_explored);
        block.facet_start.push_back(static_cast<std::int64_t>(block.facet_wall.size()));
        ++block.cells;
    }
    // Where one side of a facet knows its neighbour the other one does, too.
    for (std::int32_t cell = 0; cell < block.cells; ++cell) {
        const std::int32_t known = block.neighbour[static_cast<std::size_t>(block.facet_start[cell + 1] - 2)];
        if (known >= 0) block.neighbour[static_cast<std::size_t>(block.facet_start[known + 1] - 2)] = cell;
    }
    return block;
}

void check_neighbours(const Orthants& orthants, const CellBlock& block) {
    bool right = true;
    std::size_t facet = 0;
    for (const Pattern& pattern : orthants.patterns) {
        for (int gate = 0; gate < orthants.dim; ++gate, ++facet)
            right = right && block.neighbour[facet] == orthants.cell_of(orthants.beyond(pattern, gate));
        right = right && block.neighbour[facet++] == domain_boundary;
    }
    CHECK(right);
}

}  // namespace

TEST_CASE("facets find their other sides, and none where cells are missing") {
    Numbers numbers(62);
    for (int trial = 0; trial < 400; ++trial) {
        const bool all = numbers.below(2);
        const Orthants orthants = some_orthants(numbers, 1 + numbers.below(6), numbers.below(3), all);
        if (orthants.patterns.empty()) continue;
        CellBlock block = block_of(orthants, numbers);
        pair_facets(block, orthants.gates(), all, {});
        check_neighbours(orthants, block);
    }
}

TEST_CASE("facets find their other sides in whatever order the cells come") {
    Numbers numbers(63);
    for (int trial = 0; trial < 200; ++trial) {
        Orthants orthants = some_orthants(numbers, 1 + numbers.below(6), 0, true);
        for (std::size_t i = orthants.patterns.size(); i > 1; --i)
            std::swap(orthants.patterns[i - 1],
                      orthants.patterns[static_cast<std::size_t>(numbers.below(static_cast<int>(i)))]);
        CellBlock block = block_of(orthants, numbers);
        pair_facets(block, orthants.gates(), true, {});
        check_neighbours(orthants, block);
    }
}

TEST_CASE("facets find their other sides in the stretches of other threads") {
    constexpr int dim = 15;
    CellBlock blocks[2];
    for (int threads = 1; threads <= 2; ++threads) {
        CellBlock& block = blocks[threads - 1];
        const PatternKeys keys(dim);
        const auto reversed = [](int c) {  // the order of gates: the first gate counts most
            int pattern = 0;
            for (int k = 0; k < dim; ++k) pattern |= ((c >> (dim - 1 - k)) & 1) << k;
            return pattern;
        };
        for (int c = 0; c < 1 << dim; ++c) {
            const int pattern = reversed(c);
            const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(pattern), static_cast<std::uint8_t>(pattern >> 8)};
            block.patterns.append(bytes, 2);
            block.keys.push_back(keys.of(bytes));
            for (int gate = 0; gate < dim; ++gate) {
                block.facet_wall.push_back(gate);
                block.neighbour.push_back(not_explored);
            }
            block.facet_start.push_back(static_cast<std::int64_t>(block.facet_wall.size()));
            ++block.cells;
        }
        RunOptions options;
        options.threads = threads;
        pair_facets(block, dim, true, options);
        bool right = true;
        for (int c = 0; c < 1 << dim; ++c)
            for (int gate = 0; gate < dim; ++gate)
                right = right && block.neighbour[static_cast<std::size_t>(c * dim + gate)] ==
                                     reversed(reversed(c) ^ (1 << gate));
        CHECK(right);
    }
}

}  // namespace polyfold::tests
