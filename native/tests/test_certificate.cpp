#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "geometry/problem/stage_map.hpp"
#include "geometry/proof/cell_proof.hpp"
#include "geometry/proof/certify.hpp"
#include "geometry/proof/facet_pairs.hpp"
#include "geometry/proof/witness_proof.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// A problem on the box |x_k| <= half_width, without gates.
Problem problem_on_box(int dim, double half_width) {
    Problem problem;
    problem.dim = problem.input_dim = dim;
    problem.frame_is_identity = true;
    for (int i = 0; i < dim; ++i)
        for (int k = 0; k <= dim; ++k) problem.frame.push_back(i == k ? 1.0 : 0.0);
    Stage domain;
    domain.width = 2 * dim + 1;
    domain.terms = 2 * dim + 6;
    domain.bias.assign(static_cast<std::size_t>(domain.width), half_width);
    domain.bias.back() = 0.0;
    domain.parameter_rows.assign(static_cast<std::size_t>(domain.width * (dim + 1)), 0.0);
    domain.parameter_rows.back() = 1.0;
    Block block;
    block.columns = dim;
    block.by_column.assign(static_cast<std::size_t>(domain.width * dim), 0.0);
    for (int k = 0; k < dim; ++k) {
        block.by_column[static_cast<std::size_t>(k * domain.width + 2 * k)] = 1.0;
        block.by_column[static_cast<std::size_t>(k * domain.width + 2 * k + 1)] = -1.0;
    }
    domain.blocks.push_back(block);
    problem.stages.push_back(domain);
    return problem;
}

// ReLU gates on what the stage before puts out.
void add_relus(Problem& problem, const std::vector<Integers>& weights, const Integers& bias, double scale) {
    Stage stage;
    stage.width = static_cast<int>(weights.size());
    stage.first_wall = problem.gates;
    for (const std::int64_t value : bias) stage.bias.push_back(static_cast<double>(value) * scale);
    stage.slope_on.assign(weights.size(), 1.0);
    stage.slope_off.assign(weights.size(), 0.0);
    Block block;
    block.source = static_cast<int>(problem.stages.size()) - 1;
    block.columns = static_cast<int>(weights[0].size());
    for (std::size_t j = 0; j < weights[0].size(); ++j)
        for (const Integers& row : weights) block.by_column.push_back(static_cast<double>(row[j]) * scale);
    stage.terms = problem.dim + 6 + block.columns;
    stage.blocks.push_back(block);
    problem.gates += stage.width;
    problem.stages.push_back(stage);
    problem.stages[0].first_wall = problem.gates;
}

struct Atlas {
    int gates = 0, rows = 0, stride = 1;
    std::vector<std::uint8_t> patterns;
    std::vector<std::int64_t> facet_start{0};
    std::vector<std::int32_t> facet_wall, neighbour;
    std::vector<std::int64_t> shared_facet;
    std::vector<std::int32_t> shared_wall;

    FacetArrays arrays() const {
        FacetArrays out;
        out.cells = static_cast<std::int64_t>(facet_start.size()) - 1;
        out.gates = gates;
        out.rows = rows;
        out.stride = stride;
        out.patterns = patterns.data();
        out.facet_start = facet_start.data();
        out.facet_wall = facet_wall.data();
        out.neighbour = neighbour.data();
        out.shared = static_cast<std::int64_t>(shared_facet.size());
        out.shared_facet = shared_facet.data();
        out.shared_wall = shared_wall.data();
        return out;
    }
};

// All orthants around the origin in a box: gate k is on where x_k > 0. Cell c has the pattern c, in the order of gates.
Atlas orthants(int dim) {
    Atlas atlas;
    atlas.gates = dim;
    atlas.rows = 2 * dim;
    atlas.stride = (dim + 7) / 8;
    const auto reversed = [&](int c) {  // the order of gates: the first gate counts most
        int pattern = 0;
        for (int k = 0; k < dim; ++k) pattern |= ((c >> (dim - 1 - k)) & 1) << k;
        return pattern;
    };
    for (int c = 0; c < 1 << dim; ++c) {
        const int pattern = reversed(c);
        for (int b = 0; b < atlas.stride; ++b)
            atlas.patterns.push_back(static_cast<std::uint8_t>((pattern >> (8 * b)) & 255));
        for (int k = 0; k < dim; ++k) {
            atlas.facet_wall.push_back(k);
            atlas.neighbour.push_back(reversed(pattern ^ (1 << k)));
        }
        for (int k = 0; k < dim; ++k) {  // row 2 k says x_k >= -w, row 2 k + 1 that x_k <= w
            atlas.facet_wall.push_back(dim + 2 * k + ((pattern >> k) & 1));
            atlas.neighbour.push_back(-1);
        }
        atlas.facet_start.push_back(static_cast<std::int64_t>(atlas.facet_wall.size()));
    }
    return atlas;
}

// The same cells with so many gates in place of each, the first of which is the one that was there; all others are off.
Atlas with_more_gates(const Atlas& atlas, int factor) {
    Atlas out = atlas;
    out.gates = atlas.gates * factor;
    out.stride = (out.gates + 7) / 8;
    const std::size_t cells = atlas.facet_start.size() - 1;
    out.patterns.assign(cells * static_cast<std::size_t>(out.stride), 0);
    for (std::size_t c = 0; c < cells; ++c)
        for (int gate = 0; gate < atlas.gates; ++gate) {
            const auto from = c * static_cast<std::size_t>(atlas.stride) + static_cast<std::size_t>(gate / 8);
            const auto to = c * static_cast<std::size_t>(out.stride) + static_cast<std::size_t>(gate * factor / 8);
            const bool on = (atlas.patterns[from] >> (gate % 8)) & 1;
            out.patterns[to] |= static_cast<std::uint8_t>(on << (gate * factor % 8));
        }
    for (auto& wall : out.facet_wall) wall = wall < atlas.gates ? wall * factor : wall - atlas.gates + out.gates;
    return out;
}

// The same cells in another order.
Atlas shuffled(const Atlas& atlas, Numbers& numbers) {
    const auto cells = static_cast<int>(atlas.facet_start.size()) - 1;
    std::vector<std::int32_t> order(static_cast<std::size_t>(cells)), place(order.size());
    std::iota(order.begin(), order.end(), 0);
    for (int i = cells; i > 1; --i)
        std::swap(order[static_cast<std::size_t>(i - 1)], order[static_cast<std::size_t>(numbers.below(i))]);
    for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    Atlas out;
    out.gates = atlas.gates;
    out.rows = atlas.rows;
    out.stride = atlas.stride;
    for (const std::int32_t cell : order) {
        const auto pattern = atlas.patterns.begin() + static_cast<std::ptrdiff_t>(cell) * atlas.stride;
        out.patterns.insert(out.patterns.end(), pattern, pattern + atlas.stride);
        const auto at = static_cast<std::size_t>(cell);
        for (auto f = static_cast<std::size_t>(atlas.facet_start[at]);
             f < static_cast<std::size_t>(atlas.facet_start[at + 1]); ++f) {
            const std::int32_t other = atlas.neighbour[f];
            out.facet_wall.push_back(atlas.facet_wall[f]);
            out.neighbour.push_back(other < 0 ? other : place[static_cast<std::size_t>(other)]);
        }
        out.facet_start.push_back(static_cast<std::int64_t>(out.facet_wall.size()));
    }
    return out;
}

// The definition of the four numbers, facet by facet and gate by gate.
PairingCount plain_pairing(const FacetArrays& atlas) {
    PairingCount count;
    for (std::int64_t cell = 0; cell < atlas.cells; ++cell)
        for (std::int64_t facet = atlas.facet_start[cell]; facet < atlas.facet_start[cell + 1]; ++facet) {
            const std::int64_t other = atlas.neighbour[facet];
            const int wall = atlas.facet_wall[facet];
            const bool known = other >= -2 && other < atlas.cells && wall >= 0 && wall < atlas.gates + atlas.rows;
            if (!known) {
                ++count.wrong;
                continue;
            }
            if (other == -2) {
                ++count.open;
                continue;
            }
            const bool is_gate = wall < atlas.gates;
            if (other == -1) {
                count.wrong += is_gate;
                continue;
            }
            count.wrong += !is_gate;
            ++count.inner;
            bool back = false;
            for (std::int64_t f = atlas.facet_start[other]; f < atlas.facet_start[other + 1]; ++f)
                back = back || (atlas.neighbour[f] == cell && atlas.facet_wall[f] == wall);
            count.one_way += !back;
            if (!is_gate) continue;
            bool differ = false, elsewhere = false;
            for (int gate = 0; gate < atlas.gates; ++gate) {
                const auto on = [&](std::int64_t c) {
                    return (atlas.patterns[c * atlas.stride + gate / 8] >> (gate % 8)) & 1;
                };
                if (on(cell) == on(other)) continue;
                differ = true;
                bool allowed = gate == wall;
                for (std::int64_t s = 0; s < atlas.shared; ++s)
                    allowed = allowed || (atlas.shared_facet[s] == facet && atlas.shared_wall[s] == gate);
                elsewhere = elsewhere || !allowed;
            }
            count.wrong += !differ || elsewhere;
        }
    return count;
}

void flip(Atlas& atlas, int cell, int gate) {
    atlas.patterns[static_cast<std::size_t>(cell * atlas.stride + gate / 8)] ^=
        static_cast<std::uint8_t>(1 << (gate % 8));
}

void check_same(const PairingCount& found, const PairingCount& expected) {
    CHECK_EQ(found.inner, expected.inner);
    CHECK_EQ(found.open, expected.open);
    CHECK_EQ(found.one_way, expected.one_way);
    CHECK_EQ(found.wrong, expected.wrong);
}

Problem orthant_problem(int dim) {
    Problem problem = problem_on_box(dim, 1.0);
    std::vector<Integers> identity;
    for (int k = 0; k < dim; ++k) {
        identity.emplace_back(static_cast<std::size_t>(dim), 0);
        identity.back()[static_cast<std::size_t>(k)] = 1;
    }
    add_relus(problem, identity, Integers(static_cast<std::size_t>(dim), 0), 1.0);
    return problem;
}

std::vector<double> orthant_witnesses(const Atlas& atlas, int dim) {
    std::vector<double> witnesses;
    for (std::size_t c = 0; c + 1 < atlas.facet_start.size(); ++c)
        for (int k = 0; k < dim; ++k) witnesses.push_back((atlas.patterns[c] >> k) & 1 ? 0.5 : -0.5);
    return witnesses;
}

std::vector<std::uint8_t> certified(const Problem& problem, const Atlas& atlas, const std::vector<double>& witnesses) {
    std::vector<std::int64_t> order(atlas.facet_start.size() - 1);
    std::iota(order.begin(), order.end(), 0);
    CertifyOptions options;
    options.threads = 2;
    options.keep_going = [](std::int64_t) { return true; };
    return certify(problem, atlas.arrays(), witnesses.data(), order.data(), options);
}

}  // namespace

TEST_CASE("facets of orthants belong together") {
    for (const int dim : {1, 2, 3, 9}) {
        const Atlas atlas = orthants(dim);
        const PairingCount count = count_pairing(atlas.arrays(), 2);
        check_same(count, {.inner = dim * (std::int64_t{1} << dim)});
        check_same(count, plain_pairing(atlas.arrays()));
        CHECK_EQ(count_disorder(std::int64_t{1} << dim, atlas.stride, atlas.patterns.data()), 0);
    }
}

TEST_CASE("every broken facet is counted as its definition says") {
    Numbers numbers(1);
    for (int trial = 0; trial < 3000; ++trial) {
        Atlas atlas = orthants(1 + numbers.below(5));
        if (numbers.below(2)) atlas = with_more_gates(atlas, 1 + numbers.below(40));
        if (numbers.below(4) == 0) atlas = shuffled(atlas, numbers);
        const int cells = static_cast<int>(atlas.facet_start.size()) - 1;
        for (int breaks = 1 + numbers.below(4); breaks > 0; --breaks) {
            const auto facet = static_cast<std::size_t>(numbers.below(static_cast<int>(atlas.facet_wall.size())));
            switch (numbers.below(4)) {
                case 0:
                    atlas.neighbour[facet] = numbers.below(cells + 5) - 3;
                    break;
                case 1:
                    atlas.facet_wall[facet] = numbers.below(atlas.gates + atlas.rows + 3) - 1;
                    break;
                case 2:
                    flip(atlas, numbers.below(cells), numbers.below(atlas.gates));
                    break;
                default:
                    atlas.shared_facet.push_back(static_cast<std::int64_t>(facet));
                    atlas.shared_wall.push_back(numbers.below(atlas.gates));
            }
        }
        std::sort(atlas.shared_facet.begin(), atlas.shared_facet.end());
        check_same(count_pairing(atlas.arrays(), 1), plain_pairing(atlas.arrays()));
    }
}

TEST_CASE("a broken facet among many is counted, whichever thread looks at it") {
    Numbers numbers(11);
    const Atlas good = orthants(14);
    const auto facets = static_cast<int>(good.facet_wall.size()), cells = 1 << 14;
    check_same(count_pairing(good.arrays(), 3), {.inner = 14 * cells});
    for (int trial = 0; trial < 60; ++trial) {
        Atlas atlas = good;
        int facet = numbers.below(facets);
        while (atlas.neighbour[static_cast<std::size_t>(facet)] < 0) facet = numbers.below(facets);
        switch (trial % 3) {
            case 0:
                atlas.neighbour[static_cast<std::size_t>(facet)] = numbers.below(cells + 2) - 2;
                break;
            case 1:
                atlas.neighbour[static_cast<std::size_t>(facet)] = -2;
                break;
            default:
                flip(atlas, numbers.below(cells), numbers.below(14));
        }
        const PairingCount expected = plain_pairing(atlas.arrays());
        for (const int threads : {1, 3}) check_same(count_pairing(atlas.arrays(), threads), expected);
    }
}

TEST_CASE("patterns in disorder are counted") {
    Numbers numbers(2);
    for (int trial = 0; trial < 2000; ++trial) {
        const int stride = 1 + numbers.below(trial % 2 ? 3 : 20), cells = 1 + numbers.below(6);
        std::vector<std::uint8_t> patterns;
        for (int i = 0; i < stride * cells; ++i)
            patterns.push_back(static_cast<std::uint8_t>(numbers.below(stride > 3 ? 8 : 24) / 7));
        std::int64_t expected = 0;
        for (int c = 1; c < cells; ++c) {
            bool behind = false;
            for (int gate = 0; gate < 8 * stride; ++gate) {
                const int one = (patterns[static_cast<std::size_t>((c - 1) * stride + gate / 8)] >> (gate % 8)) & 1;
                const int other = (patterns[static_cast<std::size_t>(c * stride + gate / 8)] >> (gate % 8)) & 1;
                if (one == other) continue;
                behind = other > one;
                break;
            }
            expected += !behind;
        }
        CHECK_EQ(count_disorder(cells, stride, patterns.data()), expected);
    }
}

TEST_CASE("orthants are certified, and nothing that is broken is") {
    for (const int dim : {1, 2, 3}) {
        const Problem problem = orthant_problem(dim);
        const Atlas good = orthants(dim);
        const std::vector<double> witnesses = orthant_witnesses(good, dim);
        for (const std::uint8_t proved : certified(problem, good, witnesses))
            CHECK_EQ(proved, static_cast<std::uint8_t>(Proved::bounded));

        Atlas atlas = good;
        atlas.neighbour[0] = 0;  // its own neighbour
        CHECK_EQ(certified(problem, atlas, witnesses)[0], 0);
        atlas = good;
        atlas.facet_wall[0] = dim + 1;  // another wall than the one that is there: x_0 <= 1
        atlas.neighbour[0] = -1;
        CHECK_EQ(certified(problem, atlas, witnesses)[0], 0);
        // A facet is missing.
        atlas = good;
        atlas.facet_wall.erase(atlas.facet_wall.begin());
        atlas.neighbour.erase(atlas.neighbour.begin());
        for (std::size_t c = 1; c < atlas.facet_start.size(); ++c) --atlas.facet_start[c];
        CHECK_EQ(certified(problem, atlas, witnesses)[0], 0);
        // The witness lies on the other side, on the wall, beyond the domain.
        for (const double x : {0.5, 0.0, -1.5}) {
            std::vector<double> moved = witnesses;
            moved[0] = x;
            CHECK_EQ(certified(problem, good, moved)[0], 0);
        }
    }
}

TEST_CASE("witnesses that are proved have their pattern in 128-bit integers") {
    Numbers numbers(3);
    constexpr int dim = 3, cells = 64;
    constexpr double scale = 0x1p-16;
    int proved_in_all = 0, true_in_all = 0;
    for (int trial = 0; trial < 60; ++trial) {
        Problem problem = problem_on_box(dim, 1.0);
        std::vector<Integers> first, second;
        for (int i = 0; i < 5; ++i) first.push_back(numbers.integers(dim, 1 << 16));
        for (int i = 0; i < 4; ++i) second.push_back(numbers.integers(5, 1 << 16));
        const Integers first_bias = numbers.integers(5, 1 << 15), second_bias = numbers.integers(4, 1 << 15);
        add_relus(problem, first, first_bias, scale);
        add_relus(problem, second, second_bias, scale);

        std::vector<std::uint8_t> patterns, truly;
        std::vector<double> witnesses;
        for (int c = 0; c < cells; ++c) {
            // In units of 2^-16, a little beyond the box now and then.
            Integers point = numbers.integers(dim, 68000);
            std::uint64_t pattern = 0;
            bool strictly = std::all_of(point.begin(), point.end(), [](auto x) { return std::abs(x) < 65536; });
            Integers hidden;  // in units of 2^-32
            for (std::size_t i = 0; i < first.size(); ++i) {
                const Wide value = dot(first[i], point) + (static_cast<Wide>(first_bias[i]) << 16);
                strictly = strictly && value != 0;
                if (value > 0) pattern |= std::uint64_t{1} << i;
                hidden.push_back(value > 0 ? static_cast<std::int64_t>(value) : 0);
            }
            for (std::size_t i = 0; i < second.size(); ++i) {
                const Wide value = dot(second[i], hidden) + (static_cast<Wide>(second_bias[i]) << 32);
                strictly = strictly && value != 0;
                if (value > 0) pattern |= std::uint64_t{1} << (5 + i);
            }
            if (numbers.below(3) == 0) {  // another one's pattern
                pattern ^= std::uint64_t{1} << numbers.below(9);
                strictly = false;
            }
            patterns.push_back(static_cast<std::uint8_t>(pattern));
            patterns.push_back(static_cast<std::uint8_t>(pattern >> 8));
            truly.push_back(strictly);
            for (const std::int64_t x : point) witnesses.push_back(static_cast<double>(x) * scale);
        }
        const std::vector<std::uint8_t> proved = prove_witnesses(problem, cells, patterns.data(), witnesses.data(), 1);
        for (std::size_t c = 0; c < cells; ++c) {
            CHECK((!proved[c] || truly[c]));
            proved_in_all += proved[c];
            true_in_all += truly[c];
        }
    }
    CHECK_GT(proved_in_all, 1000);
    CHECK_GE(proved_in_all, true_in_all * 99 / 100);
}

TEST_CASE("forms of a cell are the composition of its layers") {
    Numbers numbers(4);
    constexpr int dim = 2;
    for (int trial = 0; trial < 300; ++trial) {
        Problem problem = problem_on_box(dim, 1.0);
        std::vector<Integers> first, second;
        for (int i = 0; i < 4; ++i) first.push_back(numbers.integers(dim, 1 << 20));
        for (int i = 0; i < 3; ++i) second.push_back(numbers.integers(4, 1 << 20));
        const Integers first_bias = numbers.integers(4, 1 << 20), second_bias = numbers.integers(3, 1 << 20);
        add_relus(problem, first, first_bias, 1.0);
        add_relus(problem, second, second_bias, 1.0);
        const std::vector<std::uint8_t> pattern = {static_cast<std::uint8_t>(numbers.below(16))};
        auto map = std::make_shared<const StageMap>(problem, 0, nullptr, pattern);
        map = std::make_shared<const StageMap>(problem, 1, map, pattern);
        const StageMap last(problem, 2, map, pattern);
        for (int row = 0; row < 3; ++row) {
            Wide form[dim + 1] = {};
            for (std::size_t i = 0; i < 4; ++i) {
                if (!((pattern[0] >> i) & 1)) continue;
                const Wide weight = second[static_cast<std::size_t>(row)][i];
                for (std::size_t k = 0; k < dim; ++k) form[k] += weight * first[i][k];
                form[dim] += weight * first_bias[i];
            }
            form[dim] += second_bias[static_cast<std::size_t>(row)];
            const ExactVector& found = last.exact_row(row);
            for (int k = 0; k <= dim; ++k) {
                const auto [mantissa, exponent] = found.numerators[static_cast<std::size_t>(k)].to_float();
                const auto expected = static_cast<double>(form[k]);
                CHECK_EQ(std::ldexp(mantissa, static_cast<int>(exponent + found.exponent)), expected);
                CHECK_LE(std::abs(last.entry(row, k) - expected), last.error(row));
            }
        }
    }
}

}  // namespace polyfold::tests
