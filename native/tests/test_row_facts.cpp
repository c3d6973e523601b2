#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "geometry/exact/float_products.hpp"
#include "geometry/problem/row_facts.hpp"
#include "geometry/problem/stage_map.hpp"
#include "geometry/proof/exact_witnesses.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

constexpr int dim = 2, size = dim + 1;

// Gates that read what the stage before puts out (the first one: the input), with integers for weights.
struct IntegerLayer {
    std::vector<Integers> weights;
    Integers bias;
};

// On the square |x_k| <= 2^20, without a hint of what the numbers are multiples of.
Problem problem_of(const std::vector<IntegerLayer>& layers) {
    Problem problem;
    problem.dim = problem.input_dim = dim;
    problem.frame_is_identity = true;
    for (int i = 0; i < dim; ++i)
        for (int k = 0; k < size; ++k) problem.frame.push_back(i == k ? 1.0 : 0.0);
    Stage& domain = problem.stages.emplace_back();
    domain.width = 2 * dim + 1;
    domain.terms = dim + 6;
    domain.bias.assign(static_cast<std::size_t>(domain.width), 0.0);
    domain.parameter_rows = {1, 0, 0x1p20, -1, 0, 0x1p20, 0, 1, 0x1p20, 0, -1, 0x1p20, 0, 0, 1};
    find_row_facts(problem);
    for (const IntegerLayer& layer : layers) {
        Stage stage;
        stage.width = static_cast<int>(layer.bias.size());
        stage.first_wall = problem.gates;
        stage.bias.assign(layer.bias.begin(), layer.bias.end());
        stage.slope_on.assign(layer.bias.size(), 1.0);
        stage.slope_off.assign(layer.bias.size(), 0.0);
        Block block;
        block.source = static_cast<int>(problem.stages.size()) - 1;
        block.columns = static_cast<int>(layer.weights[0].size());
        for (std::size_t j = 0; j < layer.weights[0].size(); ++j)
            for (const Integers& row : layer.weights) block.by_column.push_back(static_cast<double>(row[j]));
        stage.terms = dim + 6 + block.columns;
        stage.blocks.push_back(block);
        problem.gates += stage.width;
        problem.stages.push_back(stage);
        problem.stages[0].first_wall = problem.gates;
        find_row_facts(problem);
    }
    return problem;
}

IntegerLayer random_layer(Numbers& numbers, int width, int columns, std::int64_t most) {
    IntegerLayer layer;
    for (int i = 0; i < width; ++i) layer.weights.push_back(numbers.integers(columns, most));
    layer.bias = numbers.integers(width, most);
    return layer;
}

using Forms128 = std::vector<std::vector<Wide>>;

// The forms of a layer from those of what it reads.
Forms128 forms_of(const IntegerLayer& layer, const Forms128& sources) {
    Forms128 forms;
    for (std::size_t i = 0; i < layer.bias.size(); ++i) {
        std::vector<Wide>& form = forms.emplace_back(size, Wide{0});
        form[dim] = layer.bias[i];
        for (std::size_t j = 0; j < sources.size(); ++j)
            for (std::size_t k = 0; k < size; ++k) form[k] += layer.weights[i][j] * sources[j][k];
    }
    return forms;
}

Forms128 inputs() {
    return {{1, 0, 0}, {0, 1, 0}};
}

// What gates put out where those with a set bit are on.
Forms128 outputs_of(Forms128 forms, unsigned on) {
    for (std::size_t i = 0; i < forms.size(); ++i)
        if (!(on >> i & 1)) forms[i].assign(size, Wide{0});
    return forms;
}

Wide value_at(const std::vector<Wide>& form, const Integers& point) {
    return form[0] * point[0] + form[1] * point[1] + form[2];
}

}  // namespace

TEST_CASE("rows without an error are what integers say") {
    Numbers numbers(1);
    int exact = 0, rounded = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        // From forms of a few bits to such that lose some of theirs.
        const std::int64_t most = std::int64_t{1} << (4 + numbers.below(26));
        const std::vector<IntegerLayer> layers{random_layer(numbers, 4, dim, most), random_layer(numbers, 4, 4, most)};
        const Problem problem = problem_of(layers);
        const auto on = static_cast<unsigned>(numbers.below(16));
        const std::vector<std::uint8_t> pattern{static_cast<std::uint8_t>(on)};
        auto first = std::make_shared<const StageMap>(
            problem, 1, std::make_shared<const StageMap>(problem, 0, nullptr, pattern), pattern);
        const StageMap second(problem, 2, first, pattern);
        const Forms128 truth = forms_of(layers[1], outputs_of(forms_of(layers[0], inputs()), on));
        for (int i = 0; i < 4; ++i) {
            bool same = true;
            for (int k = 0; k < size; ++k)
                same = same && static_cast<Wide>(second.entry(i, k)) == truth[static_cast<std::size_t>(i)][k];
            if (second.error(i) == 0.0) {
                CHECK(same);
                ++exact;
            }
            rounded += !same;
            const ExactVector& row = second.exact_row(i);
            bool vanishes = true;
            for (int k = 0; k < size; ++k) {
                const Wide entry = truth[static_cast<std::size_t>(i)][k];
                CHECK_EQ(row.numerators[k].sign(), sign_of(entry));
                vanishes = vanishes && entry == 0;
            }
            CHECK_EQ(second.vanishes(i), vanishes);
        }
    }
    CHECK_GT(exact, 3000);
    CHECK_GT(rounded, 500);
}

TEST_CASE("small integers are exact through many layers") {
    Numbers numbers(2);
    std::vector<IntegerLayer> layers{random_layer(numbers, 4, dim, 2)};
    for (int k = 0; k < 8; ++k) layers.push_back(random_layer(numbers, 4, 4, 2));
    const Problem problem = problem_of(layers);
    const std::vector<std::uint8_t> pattern(5, 0xFF);
    std::shared_ptr<const StageMap> map;
    for (int s = 0; s < static_cast<int>(problem.stages.size()); ++s) {
        map = std::make_shared<const StageMap>(problem, s, map, pattern);
        for (int i = 0; i < map->width(); ++i) CHECK_EQ(map->error(i), 0.0);
    }
}

TEST_CASE("twins are gates whose coefficients are multiples of each other") {
    Numbers numbers(3);
    for (int trial = 0; trial < 1000; ++trial) {
        IntegerLayer layer = random_layer(numbers, 6, dim, trial % 2 ? 2 : 1000);
        const std::int64_t factor = numbers.below(2) ? 3 : -7;
        for (int k = 0; k < dim; ++k) layer.weights[4][k] = factor * layer.weights[1][k];
        layer.bias[4] = factor * layer.bias[1] + (trial % 3 == 0);
        const Problem problem = problem_of({layer});
        const std::vector<int>& twin = problem.stages[1].twin;
        const auto row = [&](int i) { return Integers{layer.weights[i][0], layer.weights[i][1], layer.bias[i]}; };
        const auto parallel = [&](const Integers& a, const Integers& b) {
            return a[0] * b[1] == a[1] * b[0] && a[0] * b[2] == a[2] * b[0] && a[1] * b[2] == a[2] * b[1];
        };
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < i; ++j)
                if (twin[i] == twin[j]) CHECK(parallel(row(i), row(j)));
        if (trial % 3 && (layer.weights[1][0] || layer.weights[1][1]) && trial % 2 == 0) CHECK_EQ(twin[4], twin[1]);
    }
}

TEST_CASE("products are equal where integers are") {
    Numbers numbers(4);
    int equal = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const std::int64_t p = 1 + numbers.below(1 << 26), q = 1 + numbers.below(1 << 26);
        const std::int64_t r = 1 + numbers.below(1 << 26), s = 1 + numbers.below(1 << 26);
        // (p q) (r s) = (p r) (q s); now and then one of the last digits of a product is another.
        const std::int64_t a = p * q, b = r * s, c = p * r, d = q * s + numbers.below(2);
        const bool same = static_cast<Wide>(a) * b == static_cast<Wide>(c) * d;
        const auto number = [](std::int64_t value) { return static_cast<double>(value); };
        CHECK_EQ(equal_products(number(a), number(b), number(c), number(d)), same);
        equal += same;
    }
    CHECK_GT(equal, 5000);
    CHECK_FALSE(equal_products(0x1p-600, 0x1p-600, 0x1p-500, 0x1p-700));  // too small to tell
    CHECK_FALSE(equal_products(0x1p-600, 0x1p-600, 0.0, 1.0));
    CHECK(equal_products(0.0, 3.0, -0.0, 5.0));
}

TEST_CASE("witnesses are proved exactly where integers say so, and nowhere else") {
    Numbers numbers(5);
    int right = 0, vanishing = 0, on_walls = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const bool large = trial % 2;
        const std::vector<IntegerLayer> layers{random_layer(numbers, 4, dim, large ? 1 << 20 : 2),
                                               random_layer(numbers, 4, 4, large ? 1 << 20 : 1)};
        const Problem problem = problem_of(layers);
        const Integers point = numbers.integers(dim, large ? 1 << 19 : 3);
        // The pattern of the point, with one gate turned now and then.
        unsigned pattern = 0;
        const Forms128 first = forms_of(layers[0], inputs());
        for (int i = 0; i < 4; ++i) pattern |= static_cast<unsigned>(value_at(first[i], point) > 0) << i;
        const Forms128 second = forms_of(layers[1], outputs_of(first, pattern));
        for (int i = 0; i < 4; ++i) pattern |= static_cast<unsigned>(value_at(second[i], point) > 0) << (4 + i);
        const unsigned turned = numbers.below(4) == 0 ? 16u << numbers.below(4) : 0;
        bool fine = turned == 0;
        for (int gate = 0; gate < 8; ++gate) {
            const std::vector<Wide>& form = gate < 4 ? first[gate] : second[gate - 4];
            const bool vanishes = form[0] == 0 && form[1] == 0 && form[2] == 0;
            vanishing += vanishes;
            if (vanishes || value_at(form, point) != 0) continue;
            fine = false;
            ++on_walls;
        }
        const auto byte = static_cast<std::uint8_t>(pattern ^ turned);
        const double witness[] = {static_cast<double>(point[0]), static_cast<double>(point[1])};
        CHECK_EQ(prove_witnesses_exactly(problem, 1, &byte, witness, 1)[0] != 0, fine);
        right += fine;
    }
    CHECK_GT(right, 1000);
    CHECK_GT(vanishing, 100);
    CHECK_GT(on_walls, 100);
}

TEST_CASE("witnesses outside the domain or on its boundary are never proved") {
    const Problem problem = problem_of({{{{1, 0}}, {0}}});
    const std::uint8_t on = 1;
    for (const double x : {0x1p20, 0x1.0000000000001p20, 3e6}) {
        const double witness[] = {x, 0.0};
        CHECK_EQ(prove_witnesses_exactly(problem, 1, &on, witness, 1)[0], 0);
    }
    const double inside[] = {0x1.fffffffffffffp19, 0.0};
    CHECK_EQ(prove_witnesses_exactly(problem, 1, &on, inside, 1)[0], 1);
}

}  // namespace polyfold::tests
