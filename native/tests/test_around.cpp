// What is asked of finished cells: points placed, maps compared, balls, and parts of work on threads.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "geometry/base/in_parts.hpp"
#include "geometry/lp/balls.hpp"
#include "geometry/proof/influence.hpp"
#include "geometry/proof/point_places.hpp"

namespace polyfold::tests {

namespace {

Block block_of(int source, const std::vector<std::vector<double>>& rows) {
    Block block;
    block.source = source;
    block.columns = static_cast<int>(rows[0].size());
    for (int j = 0; j < block.columns; ++j)
        for (const auto& row : rows) block.by_column.push_back(row[static_cast<std::size_t>(j)]);
    return block;
}

void add_relus(Problem& problem, const std::vector<std::vector<double>>& rows, const std::vector<double>& bias) {
    Stage stage;
    stage.width = static_cast<int>(rows.size());
    stage.first_wall = problem.gates;
    stage.bias = bias;
    stage.slope_on.assign(rows.size(), 1.0);
    stage.slope_off.assign(rows.size(), 0.0);
    stage.blocks.push_back(block_of(static_cast<int>(problem.stages.size()) - 1, rows));
    stage.terms = problem.dim + 6 + stage.blocks[0].columns;
    problem.gates += stage.width;
    problem.stages.push_back(stage);
    problem.stages[0].first_wall = problem.gates;
}

// The segment |u| <= 1, without gates.
Problem segment() {
    Problem problem;
    problem.dim = problem.input_dim = 1;
    problem.frame_is_identity = true;
    problem.frame = {1.0, 0.0};
    Stage domain;
    domain.width = 3;
    domain.terms = 8;
    domain.bias = {1.0, 1.0, 0.0};
    domain.parameter_rows = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    domain.blocks.push_back(block_of(0, {{1.0}, {-1.0}, {0.0}}));
    problem.stages.push_back(domain);
    return problem;
}

// One gate that is on where u > 0, and three behind it that are always on: both cells, and the facet between them.
struct TwoCells {
    Problem problem = segment();
    std::vector<std::uint8_t> patterns{0b1110, 0b1111};
    std::vector<std::int64_t> facet_start{0, 2, 4};
    std::vector<std::int32_t> facet_wall{0, 4, 0, 5}, neighbour{1, -1, 0, -1};

    explicit TwoCells(double weight) {
        add_relus(problem, {{1.0}}, {0.0});
        add_relus(problem, {{weight}, {1.0}, {1.0}}, {10.0, 10.0, 10.0});
    }

    std::vector<std::uint8_t> compared(const std::vector<std::vector<double>>& outputs, int threads = 1) const {
        FacetArrays atlas;
        atlas.cells = 2;
        atlas.gates = 4;
        atlas.rows = 2;
        atlas.stride = 1;
        atlas.patterns = patterns.data();
        atlas.facet_start = facet_start.data();
        atlas.facet_wall = facet_wall.data();
        atlas.neighbour = neighbour.data();
        const OutputRows rows{static_cast<int>(outputs.size()), {block_of(2, outputs)}};
        return compare_maps(problem, rows, atlas, threads, nullptr);
    }
};

}  // namespace

TEST_CASE("maps of neighbours are told apart by what the outputs hear of the gate that flips") {
    const TwoCells cells(3.0);
    for (const int threads : {1, 2}) {
        CHECK(cells.compared({{1.0, 0.0, 0.0}}, threads) == std::vector<std::uint8_t>{maps_differ, 0, 0, 0});
        CHECK(cells.compared({{0.0, 0.0, 0.0}}, threads) == std::vector<std::uint8_t>{maps_agree, 0, 0, 0});
        CHECK(cells.compared({{0.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}, threads)[0] == maps_differ);
        // Two ways that cancel: floats do not prove that nothing is left.
        CHECK(cells.compared({{0.0, 1.0, -1.0}}, threads)[0] == open_question);
    }
}

TEST_CASE("what rounding leaves of ways that cancel proves nothing") {
    // x y - high - low is zero, and in floats it is -low: the bound has to cover that, and does so by little.
    for (int k = 1; k < 200; ++k) {
        const double x = 1.0 / k, y = std::sqrt(2.0 + k), high = x * y, low = std::fma(x, y, -high);
        const TwoCells cells(y);
        CHECK(cells.compared({{x, -high, -low}})[0] == open_question);
        CHECK(cells.compared({{x, -high * (1 + 0x1p-45), -low}})[0] == maps_differ);
    }
}

TEST_CASE("factors beyond floats prove nothing") {
    CHECK(TwoCells(1e300).compared({{1e300, 0.0, 0.0}})[0] == open_question);
    CHECK(TwoCells(1e-300).compared({{1e-300, 0.0, 0.0}})[0] == open_question);
    CHECK(TwoCells(std::nan("")).compared({{1.0, 0.0, 0.0}})[0] == open_question);
}

TEST_CASE("points are placed where floats prove that they lie strictly inside") {
    const TwoCells cells(3.0);
    const std::vector<double> points{-0.5, 0.5, 0.0, 1.0, 2.0, 1e-300, std::nan(""), -1 + 0x1p-30};
    const std::vector<std::int64_t> expected{0, 1, unsure, unsure, unsure, unsure, unsure, 0};
    const auto count = static_cast<std::int64_t>(points.size());
    for (const int threads : {1, 2})
        CHECK(place_points(cells.problem, 2, cells.patterns.data(), count, points.data(), threads) == expected);
    // With only the second cell listed, the pattern of the first one is proved and not there.
    CHECK(place_points(cells.problem, 1, cells.patterns.data() + 1, 2, points.data(), 1) ==
          std::vector<std::int64_t>{not_listed, 0});
    CHECK(place_points(cells.problem, 0, nullptr, 1, points.data(), 1) == std::vector<std::int64_t>{not_listed});
}

TEST_CASE("the largest balls") {
    // A square seen from off its middle, a half-plane, a strip, a wedge, and nothing at all.
    const double s = std::sqrt(0.5);
    const std::vector<double> A{1, 0, -1, 0, 0, 1, 0, -1, 1, 0, 1, 0, -1, 0, s, s, s, -s};
    const std::vector<double> b{1.5, 0.5, 1, 1, 3, 1, 2, 1, 1};
    const std::vector<std::int64_t> start{0, 4, 5, 7, 9, 9};
    for (const int threads : {1, 2}) {
        const Balls found = largest_balls({2, 5, start.data(), A.data(), b.data()}, threads);
        const auto endless = static_cast<std::uint8_t>(BallStatus::endless);
        CHECK(found.status == std::vector<std::uint8_t>{0, endless, 0, endless, endless});
        CHECK(found.numbers[0] == doctest::Approx(0.5));
        CHECK(found.numbers[1] == doctest::Approx(0.0));
        CHECK(found.numbers[2] == doctest::Approx(1.0));
        CHECK(found.numbers[6] == doctest::Approx(-0.5));
        CHECK(found.numbers[8] == doctest::Approx(1.5));
    }
}

TEST_CASE("parts of work are all done, told to end, or throw what one of them threw") {
    for (const int threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> done(100);
        in_parts(threads, 100, nullptr, [&](std::int64_t part, const StopSignal&) { ++done[part]; });
        for (const auto& times : done) CHECK(times == 1);
        in_parts(threads, 0, nullptr, [&](std::int64_t, const StopSignal&) { FAIL("there is no part"); });
        CHECK_THROWS_AS(in_parts(threads, 5, nullptr,
                                 [](std::int64_t part, const StopSignal&) {
                                     if (part == 3) throw std::runtime_error("three");
                                 }),
                        std::runtime_error);
        CHECK_THROWS_AS(in_parts(
                            threads, 5, [] { return false; },
                            [](std::int64_t, const StopSignal& stop) {
                                while (true) stop.check();
                            }),
                        Stopped);
        CHECK_THROWS_AS(in_parts(
                            threads, 2, []() -> bool { throw std::runtime_error("asked"); },
                            [](std::int64_t, const StopSignal& stop) {
                                while (true) stop.check();
                            }),
                        std::runtime_error);
    }
}

}  // namespace polyfold::tests
