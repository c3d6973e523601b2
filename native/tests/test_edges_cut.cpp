#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

#include "geometry/list/edges_cut.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

constexpr int rows = 5, first = 7;
constexpr std::uint64_t cutting = bit_of_row(0) | bit_of_row(2) | bit_of_row(4);

using Pairs = std::set<std::pair<int, int>>;

std::vector<SectionVertex> with_codes(Numbers& numbers, std::vector<std::uint64_t> facets) {
    std::vector<SectionVertex> vertices;
    for (const std::uint64_t on : facets) {
        std::uint64_t code = 0;
        for (int row = 0; row < rows; ++row)
            if (numbers.below(3) == 0) code |= bit_of_row(row);
        vertices.push_back({code, on | (numbers.below(2) ? at_infinity : 0)});
    }
    return vertices;
}

// Facet 2 k + 1 of a cube is where coordinate k is one.
std::vector<std::uint64_t> cube(int dim) {
    std::vector<std::uint64_t> facets;
    for (int v = 0; v < 1 << dim; ++v) {
        std::uint64_t on = 0;
        for (int k = 0; k < dim; ++k) on |= std::uint64_t{1} << (2 * k + (v >> k & 1));
        facets.push_back(on);
    }
    return facets;
}

// Vertices 2 k and 2 k + 1 of a cross are plus and minus the k-th unit vector, and its facets have a sign for each.
std::vector<std::uint64_t> cross(int dim) {
    std::vector<std::uint64_t> facets(static_cast<std::size_t>(2 * dim));
    for (int f = 0; f < 1 << dim; ++f)
        for (int k = 0; k < dim; ++k) facets[static_cast<std::size_t>(2 * k + (f >> k & 1))] |= std::uint64_t{1} << f;
    return facets;
}

template <class AreNeighbours>
void check(const std::vector<SectionVertex>& vertices, int dim, int facets, AreNeighbours are_neighbours) {
    EdgesCut edges;
    edges.find(vertices, first, dim - 1, facets, cutting);
    for_each_row(cutting, [&](int row) {
        Pairs found, expected;
        for (const auto& [from, to] : edges.by(row)) {
            CHECK(from < to);
            CHECK(found.insert({from - first, to - first}).second);
        }
        for (int a = 0; a < static_cast<int>(vertices.size()); ++a)
            for (int b = a + 1; b < static_cast<int>(vertices.size()); ++b)
                if (are_neighbours(a, b) &&
                    ((vertices[static_cast<std::size_t>(a)].code ^ vertices[static_cast<std::size_t>(b)].code) &
                     bit_of_row(row)))
                    expected.insert({a, b});
        CHECK(found == expected);
    });
}

}  // namespace

TEST_CASE("edges of cubes that rows cut, of few vertices and of more than a word has bits") {
    Numbers numbers(61);
    for (const int dim : {2, 3, 4, 6, 7})
        for (int trial = 0; trial < 20; ++trial)
            check(with_codes(numbers, cube(dim)), dim, 2 * dim,
                  [](int a, int b) { return std::has_single_bit(static_cast<unsigned>(a ^ b)); });
}

TEST_CASE("a section that is an edge, which all rows cut") {
    check({{cutting, 0b1}, {0, 0b10}}, 1, 2, [](int, int) { return true; });
}

TEST_CASE("edges between vertices that lie on more facets than they have to") {
    Numbers numbers(62);
    for (const int dim : {3, 4, 5})
        for (int trial = 0; trial < 20; ++trial)
            check(with_codes(numbers, cross(dim)), dim, 1 << dim, [](int a, int b) { return (a ^ b) != 1; });
}

TEST_CASE("edges of a pyramid, of whose vertices only the tip is crowded") {
    Numbers numbers(63);
    // Facet 4 is the square, vertex 4 the tip.
    const std::vector<std::uint64_t> facets{0b11001, 0b10011, 0b10110, 0b11100, 0b01111};
    for (int trial = 0; trial < 50; ++trial)
        check(with_codes(numbers, facets), 3, 5, [](int a, int b) { return b == 4 || (b - a) % 2 == 1; });
}

}  // namespace polyfold::tests
