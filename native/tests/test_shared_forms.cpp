#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "geometry/proof/shared_forms.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

constexpr int dim = 3;

// Integers, by which the network is known exactly: a gate puts out a multiple of its value on either side.
struct IntegerStage {
    std::vector<int> sources;                    // stages, 0 the input
    std::vector<std::vector<Integers>> weights;  // by source and row
    Integers bias, slope_on, slope_off;
};

Problem problem_of(const std::vector<IntegerStage>& stages) {
    Problem problem;
    problem.dim = problem.input_dim = dim;
    problem.frame_is_identity = true;
    for (int i = 0; i < dim; ++i)
        for (int k = 0; k <= dim; ++k) problem.frame.push_back(i == k ? 1.0 : 0.0);
    problem.stages.emplace_back();
    for (const IntegerStage& from : stages) {
        Stage stage;
        stage.width = static_cast<int>(from.bias.size());
        stage.first_wall = problem.gates;
        stage.terms = dim + 6;
        stage.bias.assign(from.bias.begin(), from.bias.end());
        stage.slope_on.assign(from.slope_on.begin(), from.slope_on.end());
        stage.slope_off.assign(from.slope_off.begin(), from.slope_off.end());
        for (std::size_t b = 0; b < from.sources.size(); ++b) {
            Block block;
            block.source = from.sources[b];
            block.columns = static_cast<int>(from.weights[b][0].size());
            for (std::size_t j = 0; j < from.weights[b][0].size(); ++j)
                for (const Integers& row : from.weights[b]) block.by_column.push_back(static_cast<double>(row[j]));
            stage.terms += block.columns;
            stage.blocks.push_back(block);
        }
        problem.gates += stage.width;
        problem.stages.push_back(stage);
    }
    return problem;
}

// A cell's pattern, gate by gate, and its witness.
struct Place {
    std::vector<bool> on;
    Integers point;
    bool fine;  // the pattern is that of the point, where no gate vanishes
};

Place place_of(const std::vector<IntegerStage>& stages, const Integers& point,
               std::vector<Integers>* outputs = nullptr) {
    Place place{{}, point, true};
    std::vector<Integers> out{point};
    for (const IntegerStage& stage : stages) {
        Integers values;
        for (std::size_t i = 0; i < stage.bias.size(); ++i) {
            Wide value = stage.bias[i];
            for (std::size_t b = 0; b < stage.sources.size(); ++b)
                value += dot(stage.weights[b][i], out[static_cast<std::size_t>(stage.sources[b])]);
            place.on.push_back(value > 0);
            place.fine = place.fine && value != 0;
            values.push_back(static_cast<std::int64_t>(value * (value > 0 ? stage.slope_on[i] : stage.slope_off[i])));
        }
        out.push_back(values);
    }
    if (outputs) *outputs = out;
    return place;
}

IntegerStage random_stage(Numbers& numbers, int width, const std::vector<std::pair<int, int>>& sources_and_columns,
                          std::int64_t most) {
    IntegerStage stage;
    stage.bias = numbers.integers(width, most);
    for (int i = 0; i < width; ++i) {
        stage.slope_on.push_back(numbers.below(4) ? 1 : 2);
        stage.slope_off.push_back(numbers.below(4) ? 0 : -1);
    }
    for (const auto& [source, columns] : sources_and_columns) {
        stage.sources.push_back(source);
        stage.weights.emplace_back();
        for (int i = 0; i < width; ++i) stage.weights.back().push_back(numbers.integers(columns, most));
    }
    return stage;
}

std::vector<std::uint8_t> proved_of(const Problem& problem, std::vector<Place>& places) {
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.on < b.on; });
    std::vector<std::uint8_t> patterns, proved(places.size());
    std::vector<double> points;
    for (const Place& place : places) {
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>((problem.gates + 7) / 8), 0);
        for (std::size_t gate = 0; gate < place.on.size(); ++gate)
            bytes[gate / 8] |= static_cast<std::uint8_t>(place.on[gate] << (gate % 8));
        patterns.insert(patterns.end(), bytes.begin(), bytes.end());
        points.insert(points.end(), place.point.begin(), place.point.end());
    }
    SharedForms forms(problem);
    forms.prove(static_cast<int>(places.size()), patterns.data(), points.data(), proved.data());
    return proved;
}

}  // namespace

TEST_CASE("shared forms prove the patterns of points, of all networks and of no others") {
    Numbers numbers(21);
    int proved_in_all = 0, fine_in_all = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const int first = 1 + numbers.below(9), second = 1 + numbers.below(70), third = 1 + numbers.below(9);
        std::vector<IntegerStage> stages{random_stage(numbers, first, {{0, dim}}, 100),
                                         random_stage(numbers, second, {{1, first}}, 100)};
        if (trial % 2)  // one that reads all stages before it, and the input
            stages.push_back(random_stage(numbers, third, {{2, second}, {0, dim}, {1, first}}, 100));
        std::vector<Place> places;
        for (int c = 0; c < 100; ++c) {
            places.push_back(place_of(stages, numbers.integers(dim, 100)));
            if (numbers.below(3)) continue;
            const auto gate = static_cast<std::size_t>(numbers.below(static_cast<int>(places.back().on.size())));
            places.back().on[gate] = !places.back().on[gate];
            places.back().fine = false;
        }
        const std::vector<std::uint8_t> proved = proved_of(problem_of(stages), places);
        for (std::size_t c = 0; c < places.size(); ++c) {
            CHECK((!proved[c] || places[c].fine));
            proved_in_all += proved[c];
            fine_in_all += places[c].fine;
        }
    }
    CHECK_EQ(proved_in_all, fine_in_all);  // these integers are nowhere near to what floats cannot tell
}

// How many patterns are proved of a point that has them but for a gate on top of the stage given: its value there is
// one or minus one, whatever its row makes of the stage.
int wrong_on_top_of(const IntegerStage& stage, const Integers& row, const Integers& point, int one) {
    std::vector<IntegerStage> stages{stage, {{1}, {{row}}, {one}, {1}, {1}}};
    Place right = place_of(stages, point), other = right;
    other.on.back() = !other.on.back();
    other.fine = false;
    // Others, whose coordinates are small, must not make the bound closer than these need it.
    std::vector<Place> places{right, other};
    for (std::int64_t x = -1; x <= 1; ++x) places.push_back(place_of(stages, {x, x, x}));
    const std::vector<std::uint8_t> proved = proved_of(problem_of(stages), places);
    int wrong = 0;
    for (std::size_t c = 0; c < places.size(); ++c) wrong += proved[c] && !places[c].fine;
    return wrong;
}

TEST_CASE("shared forms prove no wrong sign where large values cancel") {
    Numbers numbers(22);
    constexpr int width = 6;
    int wrong = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const Integers point = numbers.integers(dim, 1 << 16);
        const IntegerStage stage = random_stage(numbers, width, {{0, dim}}, 1 << 16);
        std::vector<Integers> outputs;
        place_of({stage}, point, &outputs);
        Integers row(width, 0);
        for (std::size_t pair = 0; pair < width; pair += 2) {
            row[pair] = 3 * outputs[1][pair + 1];
            row[pair + 1] = -3 * outputs[1][pair];
        }
        wrong += wrong_on_top_of(stage, row, point, numbers.below(2) ? 1 : -1);
    }
    CHECK_EQ(wrong, 0);
}

TEST_CASE("shared forms prove no wrong sign where the forms themselves cancel") {
    Numbers numbers(23);
    int wrong = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const Integers point = numbers.integers(dim, 1 << 16);
        Integers form = numbers.integers(dim, 1 << 16);
        const Wide value = dot(form, point);
        if (value == 0) continue;
        if (value < 0)
            for (auto& entry : form) entry = -entry;
        // Gates on multiples of one form, all of them on, the last as large as the others together.
        const std::int64_t one = 1 + numbers.below(1 << 20), other = 1 + numbers.below(1 << 20);
        IntegerStage stage{{0}, {{}}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}};
        for (const std::int64_t factor : {one, other, one + other}) {
            stage.weights[0].push_back(form);
            for (auto& entry : stage.weights[0].back()) entry *= factor;
        }
        const std::int64_t weight = (std::int64_t{1} << 40) + numbers.below(1 << 30);
        wrong += wrong_on_top_of(stage, {weight, weight, -weight}, point, numbers.below(2) ? 1 : -1);
    }
    CHECK_EQ(wrong, 0);
}

TEST_CASE("shared forms prove points beside others that are far away or nowhere") {
    Numbers numbers(24);
    constexpr int width = 20;
    const std::vector<IntegerStage> stages{random_stage(numbers, width, {{0, dim}}, 100),
                                           random_stage(numbers, width, {{1, width}}, 100)};
    const Problem problem = problem_of(stages);
    std::vector<Place> places;
    for (int c = 0; c < 40; ++c) places.push_back(place_of(stages, numbers.integers(dim, 100)));
    std::vector<Place> fine;
    std::copy_if(places.begin(), places.end(), std::back_inserter(fine), [](const Place& place) { return place.fine; });
    const auto in_all = [](const std::vector<std::uint8_t>& proved) {
        return std::count(proved.begin(), proved.end(), std::uint8_t{1});
    };
    REQUIRE_EQ(in_all(proved_of(problem, fine)), static_cast<std::ptrdiff_t>(fine.size()));

    std::vector<std::uint8_t> patterns;
    std::vector<double> points;
    const std::size_t stride = (2 * width + 7) / 8;
    for (const Place& place : fine) {
        const std::size_t at = patterns.size();
        patterns.resize(at + stride, 0);
        for (std::size_t gate = 0; gate < place.on.size(); ++gate)
            patterns[at + gate / 8] |= static_cast<std::uint8_t>(place.on[gate] << (gate % 8));
        points.insert(points.end(), place.point.begin(), place.point.end());
    }
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {1e18, 1e280, 1e308, infinity, -infinity, std::nan("")})
        for (std::size_t k = 0; k < dim; ++k) {
            std::vector<double> moved = points;
            moved[dim + k] = bad;
            std::vector<std::uint8_t> proved(fine.size());
            SharedForms forms(problem);
            forms.prove(static_cast<int>(fine.size()), patterns.data(), moved.data(), proved.data());
            if (!(std::abs(bad) < 1e200)) CHECK_EQ(proved[1], 0);
            proved[1] = 1;
            CHECK_EQ(in_all(proved), static_cast<std::ptrdiff_t>(fine.size()));
        }
}

}  // namespace polyfold::tests
