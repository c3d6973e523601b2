// Volumes and centroids of simple cells, found by shared elimination.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "geometry/cells/simple_measure.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// A cube under a matrix of integers, moved; its volume is the determinant's size.
template <int N>
void check_images_of_cubes() {
    Numbers numbers(N);
    SimpleMeasure<N, 1> simple;
    for (int trial = 0; trial < 40; ++trial) {
        std::vector<Integers> rows;
        for (int i = 0; i < N; ++i) rows.push_back(numbers.integers(N, 60));
        const Integers move = numbers.integers(N, 1000);
        const double truth = std::abs(static_cast<double>(determinant(rows)));
        std::vector<double> vertices, middle(N);
        std::vector<Mask<1>> on;
        for (int corner = 0; corner < 1 << N; ++corner) {
            Mask<1> facets;
            for (int i = 0; i < N; ++i) facets.set(2 * i + ((corner >> i) & 1));
            on.push_back(facets);
            for (int k = 0; k < N; ++k) {
                double place = static_cast<double>(move[k]);
                for (int i = 0; i < N; ++i)
                    if ((corner >> i) & 1) place += static_cast<double>(rows[i][k]);
                vertices.push_back(place);
                middle[k] += place / (1 << N);
            }
        }
        if (truth == 0) continue;
        REQUIRE(simple.find(vertices, on));
        CHECK(simple.volume() == doctest::Approx(truth).epsilon(1e-12));
        for (int k = 0; k < N; ++k) CHECK(simple.centroid(k) == doctest::Approx(middle[k]).epsilon(1e-11));
    }
}

}  // namespace

TEST_CASE("the image of a cube has the determinant for its volume, and its middle for its centroid") {
    check_images_of_cubes<2>();
    check_images_of_cubes<3>();
    check_images_of_cubes<4>();
    check_images_of_cubes<5>();
    check_images_of_cubes<6>();
}

TEST_CASE("a simplex that is small and far out") {
    SimpleMeasure<3, 2> simple;
    const double far = 1024, small = 0x1p-20;
    const std::vector<double> vertices{far, far,         far, far + small, far, far,
                                       far, far + small, far, far,         far, far + small};
    std::vector<Mask<4>> on(4);
    for (int v = 0; v < 4; ++v)
        for (int facet = 0; facet < 4; ++facet)
            if (facet != v) on[static_cast<std::size_t>(v)].set(60 + facet);
    REQUIRE(simple.find(vertices, on));
    CHECK_EQ(simple.volume(), doctest::Approx(small * small * small / 6).epsilon(1e-14));
    CHECK_EQ(simple.centroid(1), far + small / 4);
}

TEST_CASE("cells that are not simple, or too thin for rounded vertices, are left to others") {
    SimpleMeasure<2, 1> simple;
    std::vector<Mask<1>> on(3);
    for (int v = 0; v < 3; ++v) {
        on[static_cast<std::size_t>(v)].set(v);
        on[static_cast<std::size_t>(v)].set((v + 1) % 3);
    }
    CHECK(simple.find({0, 0, 1, 0, 0, 1}, on));
    CHECK_FALSE(simple.find({0, 0, 1, 1, 2, 2 + 0x1p-45}, on));
    CHECK_FALSE(simple.find({1, 0, 1, 1, 1 + 0x1p-40, 2}, on));
    on[0].set(5);
    CHECK_FALSE(simple.find({0, 0, 1, 0, 0, 1}, on));
}

}  // namespace polyfold::tests
