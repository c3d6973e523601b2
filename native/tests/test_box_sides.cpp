#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "geometry/proof/box_sides.hpp"

namespace polyfold::tests {

namespace {

constexpr int dim = 5;  // more than a register

// A row is the coefficients of inputs and of parameters, and a constant beside each.
struct Row {
    std::vector<double> inputs, parameters;
    double bias = 0, constant = 0;
};

std::vector<double> only(int k, double factor) {
    std::vector<double> row(dim, 0.0);
    if (k >= 0) row[static_cast<std::size_t>(k)] = factor;
    return row;
}

BoxSides sides_of(const std::vector<Row>& rows, bool frame_is_identity = true) {
    Problem problem;
    problem.dim = problem.input_dim = dim;
    problem.frame_is_identity = frame_is_identity;
    Stage& domain = problem.stages.emplace_back();
    domain.width = static_cast<int>(rows.size());
    Block block;
    block.columns = dim;
    for (std::size_t k = 0; k < dim; ++k)
        for (const Row& row : rows) block.by_column.push_back(row.inputs[k]);
    domain.blocks.push_back(block);
    for (const Row& row : rows) {
        domain.bias.push_back(row.bias);
        domain.parameter_rows.insert(domain.parameter_rows.end(), row.parameters.begin(), row.parameters.end());
        domain.parameter_rows.push_back(row.constant);
    }
    return BoxSides(problem);
}

}  // namespace

TEST_CASE("points are around which no side is passed by the least of floats") {
    constexpr double low = -0.1, high = 1e-300;
    const BoxSides sides = sides_of({{only(1, 1.0), only(-1, 0), -low, 0},   // x_1 > low
                                     {only(1, 1.0), only(-1, 0), 7, 0},      // x_1 > -7
                                     {only(-1, 0), only(4, -1.0), 0, high},  // u_4 < high
                                     {only(-1, 0), only(-1, 0), 0, 1}});     // 1 > 0
    REQUIRE(sides.are_all());
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> inside{1e300, std::nextafter(low, 0), -1e300, 0, std::nextafter(high, 0)};
    CHECK(sides.around(inside.data()));
    for (const auto& [k, value] : std::vector<std::pair<std::size_t, double>>{{1, low},
                                                                              {4, high},
                                                                              {1, std::nextafter(low, -1)},
                                                                              {1, -8},
                                                                              {4, std::nextafter(high, 1)},
                                                                              {0, infinity},
                                                                              {2, -infinity},
                                                                              {3, std::nan("")},
                                                                              {1, std::nan("")},
                                                                              {4, -infinity}}) {
        std::vector<double> point = inside;
        point[k] = value;
        CHECK_FALSE(sides.around(point.data()));
    }
}

TEST_CASE("rows that are no sides of a box are seen") {
    const Row side{only(1, 1.0), only(-1, 0), 2, 0};
    CHECK(sides_of({side}).are_all());
    CHECK_FALSE(sides_of({side}, false).are_all());                                // x is not u
    CHECK_FALSE(sides_of({side, {only(2, 0.5), only(-1, 0), 2, 0}}).are_all());    // another factor
    CHECK_FALSE(sides_of({side, {only(2, 1.0), only(3, -1.0), 2, 0}}).are_all());  // two coordinates
    CHECK_FALSE(sides_of({side, {only(2, 1.0), only(2, -1.0), 2, 0}}).are_all());  // or one twice
    CHECK_FALSE(sides_of({side, {only(2, 1.0), only(-1, 0), 2, 3}}).are_all());    // a sum, which is rounded
    CHECK_FALSE(sides_of({side, {only(-1, 0), only(-1, 0), 0, 0}}).are_all());     // 0 > 0
    CHECK_FALSE(sides_of({side, {only(-1, 0), only(-1, 0), -1, 0}}).are_all());    // -1 > 0
}

}  // namespace polyfold::tests
