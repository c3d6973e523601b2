// Plain arithmetic to compare with: 128-bit integers, permutations, all subsets. None of it is the core's own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "geometry/exact/exact_vector.hpp"

namespace polyfold::tests {

__extension__ using Wide = __int128;
using Integers = std::vector<std::int64_t>;

// The same numbers in every run.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t bits() { return engine_(); }
    // From -most to most.
    std::int64_t integer(std::int64_t most) {
        return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(2 * most + 1)) - most;
    }
    int below(int limit) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(limit)); }
    double unit() { return static_cast<double>(integer(std::int64_t{1} << 52)) * 0x1p-52; }  // from -1 to 1
    Integers integers(int count, std::int64_t most) {
        Integers values;
        for (int k = 0; k < count; ++k) values.push_back(integer(most));
        return values;
    }

  private:
    std::mt19937_64 engine_;
};

inline int sign_of(Wide value) {
    return (value > 0) - (value < 0);
}

inline Wide dot(const Integers& a, const Integers& b) {
    Wide sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<Wide>(a[k]) * b[k];
    return sum;
}

inline ExactVector exact(const Integers& values) {
    ExactVector vector;
    for (const std::int64_t value : values) vector.numerators.emplace_back(value);
    return vector;
}

// Leibniz: the sum over all permutations.
inline Wide determinant(const std::vector<Integers>& rows) {
    const std::size_t size = rows.size();
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), 0u);
    Wide total = 0;
    do {
        Wide product = 1;
        for (std::size_t i = 0; i < size; ++i) {
            product *= rows[i][order[i]];
            for (std::size_t j = 0; j < i; ++j)
                if (order[j] > order[i]) product = -product;
        }
        total += product;
    } while (std::next_permutation(order.begin(), order.end()));
    return total;
}

// The generalised cross product of n - 1 vectors with n entries: zero if they are dependent.
inline std::vector<Wide> cross_product(const std::vector<Integers>& rows) {
    const std::size_t size = rows.size() + 1;
    std::vector<Wide> result;
    for (std::size_t left_out = 0; left_out < size; ++left_out) {
        std::vector<Integers> minor;
        for (const Integers& row : rows) {
            minor.emplace_back(row);
            minor.back().erase(minor.back().begin() + static_cast<std::ptrdiff_t>(left_out));
        }
        result.push_back(left_out % 2 ? -determinant(minor) : determinant(minor));
    }
    return result;
}

// The extreme rays of the cone {y : row . y >= 0 for all rows}, which must not contain a line: whatever n - 1 of the
// rows leave, if it lies on the right side of all. A ray may be there several times.
inline std::vector<Integers> extreme_rays(const std::vector<Integers>& rows, int coordinates) {
    std::vector<Integers> rays;
    std::vector<bool> taken(rows.size(), false);
    std::fill(taken.end() - (coordinates - 1), taken.end(), true);
    do {
        std::vector<Integers> chosen;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (taken[i]) chosen.push_back(rows[i]);
        Integers ray;
        for (const Wide entry : cross_product(chosen)) ray.push_back(static_cast<std::int64_t>(entry));
        if (std::all_of(ray.begin(), ray.end(), [](std::int64_t x) { return x == 0; })) continue;
        for (const int side : {1, -1}) {
            Integers candidate = ray;
            for (auto& entry : candidate) entry *= side;
            if (std::all_of(rows.begin(), rows.end(), [&](const Integers& row) { return dot(row, candidate) >= 0; }))
                rays.push_back(candidate);
        }
    } while (std::next_permutation(taken.begin(), taken.end()));
    return rays;
}

}  // namespace polyfold::tests
