// The forms of a stage, and what holds of the next one on a whole cell.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "geometry/cells/frame.hpp"
#include "geometry/exact/rounding.hpp"
#include "geometry/exact/row_signs.hpp"
#include "geometry/problem/stage_map.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// Stages on integer inputs, with integer weights [row][column] and biases: their forms are integers.
struct Stages {
    Problem problem;
    std::vector<std::vector<Integers>> weights;
    std::vector<std::vector<double>> bias;

    explicit Stages(int dim) {
        problem.dim = problem.input_dim = dim;
        problem.frame_is_identity = true;
        for (int i = 0; i < dim; ++i)
            for (int k = 0; k <= dim; ++k) problem.frame.push_back(i == k ? 1.0 : 0.0);
        problem.stages.emplace_back();
    }

    void add(const std::vector<Integers>& rows, const std::vector<double>& biases, double slope_off = 0) {
        Stage stage;
        stage.width = static_cast<int>(rows.size());
        stage.first_wall = problem.gates;
        stage.bias = biases;
        stage.slope_on.assign(rows.size(), 1.0);
        stage.slope_off.assign(rows.size(), slope_off);
        Block block;
        block.source = static_cast<int>(problem.stages.size()) - 1;
        block.columns = static_cast<int>(rows[0].size());
        for (std::size_t j = 0; j < rows[0].size(); ++j)
            for (const Integers& row : rows) block.by_column.push_back(static_cast<double>(row[j]));
        stage.terms = problem.dim + 6 + block.columns;
        stage.blocks.push_back(block);
        problem.gates += stage.width;
        problem.stages.push_back(stage);
        weights.push_back(rows);
        bias.push_back(biases);
    }

    int width(std::size_t stage) const { return problem.stages[stage].width; }
    bool on(const std::vector<std::uint8_t>& pattern, std::size_t stage, int gate) const {
        const int wall = problem.stages[stage].first_wall + gate;
        return (pattern[static_cast<std::size_t>(wall / 8)] >> (wall % 8)) & 1;
    }

    // The true forms of a stage where the earlier ones have this pattern: [row][coordinate].
    std::vector<std::vector<Wide>> forms(std::size_t stage, const std::vector<std::uint8_t>& pattern) const {
        const auto d = static_cast<std::size_t>(problem.dim);
        std::vector<std::vector<Wide>> below(d, std::vector<Wide>(d + 1));
        for (std::size_t k = 0; k < d; ++k) below[k][k] = 1;
        for (std::size_t s = 1; s <= stage; ++s) {
            std::vector<std::vector<Wide>> here;
            for (std::size_t i = 0; i < weights[s - 1].size(); ++i) {
                std::vector<Wide> form(d + 1);
                form[d] = static_cast<Wide>(bias[s - 1][i]);
                for (std::size_t j = 0; j < below.size(); ++j)
                    if (s == 1 || on(pattern, s - 1, static_cast<int>(j)))
                        for (std::size_t k = 0; k <= d; ++k) form[k] += weights[s - 1][i][j] * below[j][k];
                here.push_back(form);
            }
            below = here;
        }
        return below;
    }
};

std::vector<Integers> random_rows(Numbers& numbers, int rows, int columns, std::int64_t most) {
    std::vector<Integers> found;
    for (int i = 0; i < rows; ++i) found.push_back(numbers.integers(columns, most));
    return found;
}

std::vector<double> random_bias(Numbers& numbers, int rows, std::int64_t most) {
    std::vector<double> found;
    for (int i = 0; i < rows; ++i) found.push_back(static_cast<double>(numbers.integer(most)));
    return found;
}

// How many entries are farther from the true ones than `scale` times their bound.
int entries_out_of_bounds(const StageMap& map, const std::vector<std::vector<Wide>>& truth, double scale) {
    int found = 0;
    for (int i = 0; i < map.width(); ++i)
        for (std::size_t k = 0; k < truth[0].size(); ++k) {
            const Wide entry = static_cast<Wide>(map.entry(i, static_cast<int>(k)));
            const Wide off = entry - truth[static_cast<std::size_t>(i)][k];
            found += static_cast<double>(off < 0 ? -off : off) > scale * map.error(i);
        }
    return found;
}

// The cell around some generators that are known exactly, as far as a frame is asked for it.
Frame frame_of(const StageMap& map, const std::vector<int>& rows, const std::vector<std::vector<double>>& generators) {
    Frame frame;
    const auto dimensions = static_cast<int>(generators[0].size());
    frame.generators.dimensions = dimensions;
    frame.rows = rows;
    frame.list_rows(map, dimensions);
    const auto n = rows.size();
    frame.value.resize(generators.size() * n);
    frame.sign.resize(generators.size() * n);
    for (std::size_t g = 0; g < generators.size(); ++g) {
        frame.generators.add(generators[g].data(), 0, false, nullptr, nullptr);
        signs_at({frame.forms.data(), frame.count(), dimensions}, 0, generators[g].data(), 0, frame.norm.data(),
                 frame.doubt.data(), frame.value.data() + g * n, frame.sign.data() + g * n, nullptr);
    }
    frame.entry = static_cast<int>(generators.size());
    return frame;
}

enum class Claim { off, open, on };

Claim claim(const Outlook& ahead, int row) {
    if (std::find(ahead.open.begin(), ahead.open.end(), row) != ahead.open.end()) return Claim::open;
    return ahead.on.has(row) ? Claim::on : Claim::off;
}

}  // namespace

TEST_CASE("forms are within their bounds, and would not be with bounds 2^20 times closer") {
    Numbers numbers(1);
    int beyond_closer_ones = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const int dim = 1 + numbers.below(5);
        Stages stages(dim);
        stages.add(random_rows(numbers, 1 + numbers.below(20), dim, 1 << 30), random_bias(numbers, 20, 1 << 30));
        for (const int bits : {30, 20})
            stages.add(
                random_rows(numbers, 1 + numbers.below(20), stages.width(stages.problem.stages.size() - 1), 1 << bits),
                random_bias(numbers, 20, 1 << 30));
        std::vector<std::uint8_t> pattern(static_cast<std::size_t>(stages.problem.gates + 7) / 8);
        for (auto& byte : pattern) byte = static_cast<std::uint8_t>(numbers.bits());
        auto map = std::make_shared<const StageMap>(stages.problem, 0, nullptr, pattern);
        for (int stage = 1; stage <= 3; ++stage) {
            // Whole, and with some gates added later.
            const auto whole = std::make_shared<const StageMap>(stages.problem, stage, map, pattern);
            const auto truth = stages.forms(static_cast<std::size_t>(stage), pattern);
            CHECK_EQ(entries_out_of_bounds(*whole, truth, 1), 0);
            beyond_closer_ones += entries_out_of_bounds(*whole, truth, 0x1p-20);
            if (stage > 1) {
                std::vector<int> gates;
                for (int j = 0; j < map->width(); ++j)
                    if (numbers.below(2)) gates.push_back(j);
                Forms forms = map->forms_above_without(gates, pattern), some;
                // The same for some rows only, behind one that says nothing.
                std::vector<int> rows;
                std::vector<double> weights;
                for (int i = 0; i < whole->width(); ++i)
                    if (numbers.below(3) == 0) rows.push_back(i);
                for (int k = 0; k <= dim; ++k) {
                    some.entries.push_back(0);
                    for (const int i : rows)
                        some.entries.push_back(forms.entries[static_cast<std::size_t>(k * whole->width() + i)]);
                }
                some.error.push_back(0);
                for (const int i : rows) some.error.push_back(forms.error[static_cast<std::size_t>(i)]);
                for (const int j : gates) {
                    weights.push_back(0);
                    for (const int i : rows) {
                        const Integers& row =
                            stages.weights[static_cast<std::size_t>(stage - 1)][static_cast<std::size_t>(i)];
                        weights.push_back(static_cast<double>(row[static_cast<std::size_t>(j)]));
                    }
                }
                map->add_gates_to(forms, gates, pattern);
                const auto count = 1 + rows.size();
                Sources sums(static_cast<int>(count), dim + 1,
                             stages.problem.stages[static_cast<std::size_t>(stage)].terms);
                for (std::size_t j = 0; j < gates.size(); ++j)
                    sums.add(some, weights.data() + j * count, map->slope_in(pattern, gates[j]),
                             map->entries() + gates[j], map->width(), map->error(gates[j]));
                sums.finish(some);
                StageMap later(stages.problem, stage);
                later.refill(map, pattern, forms);
                CHECK_EQ(entries_out_of_bounds(later, truth, 1), 0);
                StageMap few(stages.problem, stage);
                Forms first{std::vector<double>(2 * static_cast<std::size_t>(dim) + 2, 1.0), {1.0, 1.0}};
                few.refill(map, pattern, {0}, first);
                few.refill(map, pattern, rows, some);
                for (int i = 0; i < few.width(); ++i) {
                    const bool known = std::find(rows.begin(), rows.end(), i) != rows.end();
                    CHECK_EQ(few.error(i), known ? later.error(i) : rounding::unknown);
                    for (int k = 0; k <= dim; ++k) CHECK_EQ(few.entry(i, k), known ? later.entry(i, k) : 0.0);
                }
            }
            map = whole;
        }
    }
    CHECK_GT(beyond_closer_ones, 0);
}

TEST_CASE("an input that is not known makes unknown what reads it, and nothing else") {
    Stages stages(1);
    stages.add({{1}, {1}}, {0.0, 0x1p1023});
    stages.add({{1, 0}, {0, 1}, {1, 1}}, {0.0, 0.0, 0.0});
    const std::vector<std::uint8_t> pattern{3};
    const auto inputs = std::make_shared<const StageMap>(stages.problem, 0, nullptr, pattern);
    const auto first = std::make_shared<const StageMap>(stages.problem, 1, inputs, pattern);
    const StageMap second(stages.problem, 2, first, pattern);
    CHECK_LT(second.error(0), 1);
    CHECK_EQ(second.entry(0, 0), 1.0);
    CHECK_EQ(second.error(1), rounding::unknown);
    CHECK_EQ(second.error(2), rounding::unknown);
}

// On the segment from u = -1 to 1 a gate u, and behind it |u| / 2 -+ 2^-16: positive at both ends, but not between.
TEST_CASE("a gate that bends is not taken for the chord, and for no less than it is") {
    for (const double slope_off : {0.0, 0.25, -1.0}) {
        Stages stages(1);
        stages.add({{1}, {1}}, {0.0, 4.0}, slope_off);
        // on (u) - ((1 + slope_off) / 2) ((u + 4) - 4), half a fold above the chord
        const double middle = (1 + slope_off) / 2;
        stages.add({{1, 0}, {1, 0}, {-1, 0}, {-1, 0}, {1, 0}}, {});
        Stage& above = stages.problem.stages.back();
        const double share = 0x1p-16;
        for (const double at_fold : {share, -share, -share, share, -1.0}) above.bias.push_back(at_fold);
        for (int i = 0; i < 5; ++i) {
            const double side = i == 2 || i == 3 ? -1 : 1;
            above.blocks[0].by_column[static_cast<std::size_t>(5 + i)] = -side * middle;
            above.bias[static_cast<std::size_t>(i)] += side * middle * 4;
        }
        const std::vector<std::uint8_t> pattern{2};  // the second gate is on wherever
        const auto inputs = std::make_shared<const StageMap>(stages.problem, 0, nullptr, pattern);
        const StageMap map(stages.problem, 1, inputs, pattern);
        Frame frame = frame_of(map, {0}, {{-1, 1}, {1, 1}});
        Lookout(stages.problem).look(frame, map, pattern);
        REQUIRE(frame.ahead.judged);
        CHECK_EQ(claim(frame.ahead, 0), Claim::on);
        CHECK_EQ(claim(frame.ahead, 1), Claim::open);
        CHECK_EQ(claim(frame.ahead, 2), Claim::off);
        CHECK_EQ(claim(frame.ahead, 3), Claim::open);
        CHECK_EQ(claim(frame.ahead, 4), slope_off < 0 ? Claim::open : Claim::off);
    }
}

// At one vertex a sum of large terms is nearly zero: its sign is known to 128-bit integers, and not to floats.
TEST_CASE("what holds on a cell holds where large terms cancel") {
    Numbers numbers(3);
    int claimed = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const int dim = 2 + numbers.below(4), gates = 2 + numbers.below(6);
        Stages stages(dim);
        stages.add(random_rows(numbers, gates, dim, 1 << 20), random_bias(numbers, gates, 1 << 20));
        // In units of 2^-30: a vertex, and the values of the gates there.
        const Integers vertex = numbers.integers(dim, std::int64_t{1} << 30);
        std::vector<std::uint8_t> pattern(1);
        std::vector<Wide> put_out;
        std::vector<int> listed;
        for (int j = 0; j < gates; ++j) {
            const auto index = static_cast<std::size_t>(j);
            const Wide value = dot(stages.weights[0][index], vertex) + (static_cast<Wide>(stages.bias[0][index]) << 30);
            put_out.push_back(value > 0 ? value : 0);
            // What the frame does not list is decided.
            if (numbers.below(2)) {
                listed.push_back(j);
            } else if (value > 0) {
                pattern[0] |= static_cast<std::uint8_t>(1 << j);
            }
        }
        const auto rows = random_rows(numbers, 6, gates, 1 << 20);
        std::vector<double> bias;
        std::vector<int> truth;
        for (const Integers& row : rows) {
            Wide sum = 0;
            for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * put_out[j];
            const int clear = numbers.below(4);
            bias.push_back(-static_cast<double>(sum) * 0x1p-30 * (clear == 0 ? 1 + 0x1p-44 : 1));
            truth.push_back(sign_of(sum + static_cast<Wide>(bias.back() * 0x1p30)));
        }
        stages.add(rows, bias);
        const auto inputs = std::make_shared<const StageMap>(stages.problem, 0, nullptr, pattern);
        const StageMap map(stages.problem, 1, inputs, pattern);
        std::vector<double> point;
        for (const std::int64_t x : vertex) point.push_back(static_cast<double>(x) * 0x1p-30);
        point.push_back(1);
        Frame frame = frame_of(map, listed, {point});
        Lookout(stages.problem).look(frame, map, pattern);
        REQUIRE(frame.ahead.judged);
        for (int i = 0; i < 6; ++i) {
            const Claim found = claim(frame.ahead, i);
            claimed += found != Claim::open;
            if (found == Claim::on) CHECK_GT(truth[static_cast<std::size_t>(i)], 0);
            if (found == Claim::off) CHECK_LT(truth[static_cast<std::size_t>(i)], 0);
        }
    }
    CHECK_GT(claimed, 100);
}

TEST_CASE("the forms on a part are the same whichever part was looked at before") {
    Numbers numbers(4);
    int of_all = 0, of_some = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const int dim = 2 + numbers.below(3), gates = 1 + numbers.below(24), above = 1 + numbers.below(20);
        Stages stages(dim);
        stages.add(random_rows(numbers, gates, dim, 1 << 30), random_bias(numbers, gates, 1 << 30));
        stages.add(random_rows(numbers, above, gates, 1 << 30), random_bias(numbers, above, 1 << 30));
        std::vector<std::uint8_t> pattern(static_cast<std::size_t>(gates + 7) / 8);
        std::vector<int> listed;
        for (int j = 0; j < gates; ++j)
            if (numbers.below(4)) listed.push_back(j);
        const auto inputs = std::make_shared<const StageMap>(stages.problem, 0, nullptr, pattern);
        const StageMap map(stages.problem, 1, inputs, pattern);
        std::vector<std::vector<double>> generators;
        for (int g = 0; g <= dim; ++g) {
            generators.emplace_back();
            for (int k = 0; k < dim; ++k)
                generators.back().push_back(static_cast<double>(numbers.integer(1 << 10)) * 0x1p-10);
            generators.back().push_back(1);
        }
        Frame frame = frame_of(map, listed, generators);
        Lookout lookout(stages.problem);
        lookout.look(frame, map, pattern);
        const Outlook& ahead = frame.ahead;
        for (int part = 0; part < 30; ++part) {
            // Mostly the last few gates are other ones.
            for (std::size_t c = 0; c < listed.size(); ++c)
                if (numbers.below(static_cast<int>(listed.size() - c) + 1) == 0)
                    pattern[static_cast<std::size_t>(listed[c]) / 8] ^= static_cast<std::uint8_t>(1 << listed[c] % 8);
            Forms wanted = map.forms_above_without(listed, pattern), found;
            map.add_gates_to(wanted, listed, pattern);
            lookout.put_forms(frame, map, pattern, found);
            (ahead.only_open ? of_some : of_all) += 1;
            std::vector<int> rows(static_cast<std::size_t>(above));
            std::iota(rows.begin(), rows.end(), 0);
            if (ahead.only_open) rows = ahead.open;
            const std::size_t first = ahead.only_open ? 1 : 0, count = first + rows.size();
            REQUIRE_EQ(found.error.size(), count);
            for (std::size_t c = 0; c < rows.size(); ++c) {
                const auto row = static_cast<std::size_t>(rows[c]);
                CHECK_EQ(found.error[first + c], wanted.error[row]);
                for (std::size_t k = 0; k <= static_cast<std::size_t>(dim); ++k)
                    CHECK_EQ(found.entries[k * count + first + c],
                             wanted.entries[k * static_cast<std::size_t>(above) + row]);
            }
        }
    }
    CHECK_GT(of_all, 100);
    CHECK_GT(of_some, 100);
}

}  // namespace polyfold::tests
