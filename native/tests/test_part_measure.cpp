// Volumes and centroids of the parts into which gates cut a cell.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "geometry/unfold.hpp"

namespace polyfold::tests {

namespace {

Block block_of(const std::vector<std::vector<double>>& rows) {
    Block block;
    block.columns = static_cast<int>(rows[0].size());
    for (int j = 0; j < block.columns; ++j)
        for (const auto& row : rows) block.by_column.push_back(row[static_cast<std::size_t>(j)]);
    return block;
}

// The box -half <= x <= half around zero, cut by gates.
Problem cut_box(int dim, double half, const std::vector<std::vector<double>>& gates, const std::vector<double>& bias) {
    Problem problem;
    problem.dim = problem.input_dim = dim;
    problem.frame_is_identity = true;
    std::vector<std::vector<double>> sides;
    for (int k = 0; k < dim; ++k) {
        for (int i = 0; i <= dim; ++i) problem.frame.push_back(i == k ? 1.0 : 0.0);
        for (const double side : {1.0, -1.0}) {
            std::vector<double> row(static_cast<std::size_t>(dim), 0.0);
            row[static_cast<std::size_t>(k)] = side;
            sides.push_back(row);
        }
    }
    sides.emplace_back(static_cast<std::size_t>(dim), 0.0);
    Stage domain;
    domain.width = 2 * dim + 1;
    domain.terms = dim + 6;
    domain.first_wall = problem.gates = static_cast<int>(gates.size());
    domain.bias.assign(sides.size(), half);
    domain.bias.back() = 0.0;
    domain.parameter_rows.assign(sides.size() * static_cast<std::size_t>(dim + 1), 0.0);
    domain.parameter_rows.back() = 1.0;
    domain.blocks.push_back(block_of(sides));
    problem.stages.push_back(domain);
    Stage stage;
    stage.width = problem.gates;
    stage.terms = 2 * dim + 6;
    stage.bias = bias;
    stage.slope_on.assign(gates.size(), 1.0);
    stage.slope_off.assign(gates.size(), 0.0);
    stage.blocks.push_back(block_of(gates));
    problem.stages.push_back(stage);
    return problem;
}

MeasureBlock measured(const Problem& problem) {
    Found found = find_cells(problem, Method::generators, {});
    put_together(found, problem, {});
    const Selection all{found.cells.patterns.data(), found.cells.cells, (problem.gates + 7) / 8};
    return measure_selected(problem, all, false, {});
}

}  // namespace

TEST_CASE("boxes in a box have the products of their sides for volumes, and their middles for centroids") {
    for (int dim = 2; dim <= 6; ++dim) {
        std::vector<std::vector<double>> gates;
        std::vector<double> bias;
        for (int k = 0; k < dim; ++k) {
            gates.emplace_back(static_cast<std::size_t>(dim), 0.0);
            gates.back()[static_cast<std::size_t>(k)] = 3.0;
            bias.push_back(-1.5);  // on where x > 1/2
        }
        const MeasureBlock found = measured(cut_box(dim, 1.0, gates, bias));
        REQUIRE(found.volumes.size() == std::size_t{1} << dim);
        for (std::size_t cell = 0; cell < found.volumes.size(); ++cell) {
            double volume = 1;
            for (int k = 0; k < dim; ++k) {
                const bool on = (cell >> (dim - 1 - k)) & 1;
                volume *= on ? 0.5 : 1.5;
                CHECK(found.centroids[cell * static_cast<std::size_t>(dim) + static_cast<std::size_t>(k)] ==
                      doctest::Approx(on ? 0.75 : -0.25).epsilon(1e-14));
            }
            CHECK(found.volumes[cell] == doctest::Approx(volume).epsilon(1e-14));
            CHECK(found.facets[cell] == 2 * dim);
        }
    }
}

TEST_CASE("a sliver between nearly parallel walls is known to all digits") {
    // Between x + y = 0 and x + (1 + 2^-40) y = 0, in a box: two triangles of area 2^-41 each, up to 2^-40 of that.
    const double thin = 0x1p-40;
    const MeasureBlock found = measured(cut_box(2, 1.0, {{1.0, 1.0}, {1.0, 1.0 + thin}}, {0.0, 0.0}));
    REQUIRE(found.volumes.size() == 4);
    const double area = thin / 2 / (1 + thin), other = thin / 2;
    CHECK(std::min(std::abs(found.volumes[1] / area - 1), std::abs(found.volumes[1] / other - 1)) < 1e-11);
    CHECK(std::accumulate(found.volumes.begin(), found.volumes.end(), 0.0) == doctest::Approx(4.0).epsilon(1e-14));
}

}  // namespace polyfold::tests
