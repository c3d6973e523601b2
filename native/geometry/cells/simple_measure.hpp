// Volume and centroid of cells at each of whose vertices as many facets meet as there are dimensions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "geometry/base/mask.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

// Of a simple cell all faces are meets of facets: of a face, each facet that meets it and does not contain it makes one
// facet. So nothing has to be searched. A face falls into pyramids over those of its facets that miss its first vertex,
// its apex, and so on down to edges; the determinants of the simplices are found by elimination on the way, one step
// for each apex, at all other vertices of its face at once. N is the dimension, and sets of vertices are so many words.
template <int N, int Words>
class SimpleMeasure {
  public:
    static constexpr int most_vertices = 64 * Words;

    // Whether the cell is simple, and thick enough to be measured by rounded vertices; what follows is known then.
    // `vertices` holds N coordinates each, ordinary numbers or zero, of at most so many vertices.
    template <int Facets>
    bool find(const std::vector<double>& vertices, const std::vector<Mask<Facets>>& on) {
        for (const auto& mask : on)
            if (mask.size() != N) return false;
        count_ = static_cast<int>(on.size());
        if (!in_own_units(vertices)) return false;
        list_facets(on);
        weight_.fill(0.0);
        Set all;
        for (int v = 0; v < count_; ++v) all.set(v);
        volume_ = split<N>(all, 1.0);
        return volume_ / factorial >= rounding::thin;
    }

    double volume() const { return std::ldexp(volume_ / factorial, std::accumulate(units_.begin(), units_.end(), 0)); }

    // Each simplex has its own at the mean of its corners.
    double centroid(int k) const {
        double moment = 0;
        for (int v = 0; v < count_; ++v) moment += weight_[v] * steps_[0][v][k];
        return first_[k] + std::ldexp(moment / (volume_ * (N + 1)), units_[k]);
    }

  private:
    using Set = Mask<Words>;
    using Row = std::array<double, N>;
    static constexpr double factorial = [] {
        double product = 1;
        for (int k = 2; k <= N; ++k) product *= k;
        return product;
    }();

    // Seen from the first vertex, every coordinate in a unit that makes the cell about one long.
    int count_ = 0;
    Row first_;
    std::array<int, N> units_;
    std::vector<Set> facets_;  // the vertices on each of them

    // By the number of apexes that were eliminated: what is left of the steps to vertices, as many coordinates as there
    // are.
    std::array<std::array<Row, most_vertices>, N> steps_;

    double volume_;                             // all determinants, and
    std::array<double, most_vertices> weight_;  // those of simplices with this corner

    bool in_own_units(const std::vector<double>& vertices) {
        Row longest{}, largest{};
        for (int k = 0; k < N; ++k) first_[k] = vertices[k];
        for (int v = 0; v < count_; ++v)
            for (int k = 0; k < N; ++k) {
                const double place = vertices[v * N + k];
                const double step = steps_[0][v][k] = place - first_[k];
                largest[k] = std::max(largest[k], std::abs(place));
                longest[k] = std::max(longest[k], std::abs(step));
            }
        Row scale;
        for (int k = 0; k < N; ++k) {
            // Where all vertices are nearly the same, their difference is what rounding made of it.
            if (!(longest[k] > 0 && longest[k] >= 2 * rounding::thin * largest[k])) return false;
            units_[k] = std::ilogb(longest[k]) + 1;
            scale[k] = std::ldexp(1.0, -units_[k]);
        }
        for (int v = 0; v < count_; ++v)
            for (int k = 0; k < N; ++k) steps_[0][v][k] *= scale[k];
        return true;
    }

    template <int Facets>
    void list_facets(const std::vector<Mask<Facets>>& on) {
        Mask<Facets> used;
        for (const auto& mask : on) used = used | mask;
        facets_.clear();
        used.for_each([&](int facet) {
            Set vertices;
            for (int v = 0; v < count_; ++v)
                if (on[v].has(facet)) vertices.set(v);
            facets_.push_back(vertices);
        });
    }

    // The determinants of all simplices that a face of this dimension falls into, together with the apexes before, of
    // whose pivots `product` is the product.
    template <int Dimension>
    double split(const Set& face, double product) {
        const int apex = first_of(face);
        constexpr int eliminated = N - Dimension;
        if constexpr (eliminated > 0) {
            const double pivot = eliminate<eliminated>(face, apex);
            if (pivot == 0.0) return 0.0;
            product *= std::abs(pivot);
        }
        double volume = 0;
        for (const Set& facet : facets_) {
            if (facet.has(apex)) continue;  // so does what contains the face
            const Set meet = face & facet;
            if constexpr (Dimension == 2) {
                const int one = first_of(meet);
                if (one < 0) continue;
                const int other = first_of(without(meet, one));
                const Row &a = steps_[eliminated][one], &b = steps_[eliminated][other];
                const double simplex = product * std::abs(a[0] * b[1] - a[1] * b[0]);
                weight_[one] += simplex;
                weight_[other] += simplex;
                volume += simplex;
            } else if (first_of(meet) >= 0) {
                volume += split<Dimension - 1>(meet, product);
            }
        }
        weight_[apex] += volume;
        return volume;
    }

    // Take the apex's step off all others of a face, in multiples that leave nothing of its largest coordinate; the
    // last coordinate takes the place of that one. The very first apex is where steps begin.
    template <int Level>
    double eliminate(const Set& face, int apex) {
        constexpr int last = N - Level;  // as many coordinates are left
        const auto& before = steps_[Level - 1];
        const Row& row = before[apex];
        int column = 0;
        for (int k = 1; k <= last; ++k) column = std::abs(row[k]) > std::abs(row[column]) ? k : column;
        const double pivot = row[column];
        if (pivot == 0.0) return 0.0;
        const double inverse = 1 / pivot;
        face.for_each([&](int v) {
            const Row& step = before[v];
            Row& left = steps_[Level][v];
            const double factor = step[column] * inverse;
            for (int k = 0; k < last; ++k) left[k] = step[k] - factor * row[k];
            if (column < last) left[column] = step[last] - factor * row[last];
        });
        return pivot;
    }

    static int first_of(const Set& set) {
        for (int w = 0; w < Words; ++w)
            if (set.words[w]) return 64 * w + std::countr_zero(set.words[w]);
        return -1;
    }
    static Set without(Set set, int vertex) {
        set.words[vertex / 64] &= ~(std::uint64_t{1} << (vertex % 64));
        return set;
    }
};

}  // namespace polyfold
