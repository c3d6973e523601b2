#include "geometry/cells/measure.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include "geometry/cells/simple_measure.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

// A cell seen from its first vertex, every coordinate in a unit of its own, a power of two, that makes the cell about
// one long: products of lengths neither overflow nor vanish, however large or small the cell is.
struct InOwnUnits {
    std::vector<double> vertices;
    std::vector<int> units;

    // From places relative to the first vertex.
    InOwnUnits(const VertexPlaces& steps, int dim) : vertices(steps.mantissas), units(dim, INT_MIN) {
        const std::size_t size = vertices.size();
        for (std::size_t i = 0; i < size; ++i)
            if (vertices[i] != 0.0) units[i % dim] = std::max(units[i % dim], steps.exponents[i]);
        for (int& unit : units) unit = unit == INT_MIN ? 0 : unit;
        for (std::size_t i = 0; i < size; ++i)
            vertices[i] = vertices[i] == 0.0 ? 0.0 : std::ldexp(vertices[i], steps.exponents[i] - units[i % dim]);
    }

    int unit_of_volume() const { return std::accumulate(units.begin(), units.end(), 0); }
};

// Steps from the first vertex to each, as rounded places tell; and whether they tell: where all vertices are nearly the
// same in some coordinate, their difference is what rounding made of it.
struct Steps {
    VertexPlaces places;
    bool known = true;

    Steps(const VertexPlaces& vertices, int dim) : places(vertices) {
        std::vector<int> largest(dim, INT_MIN);
        for (std::size_t i = 0; i < vertices.mantissas.size(); ++i)
            if (vertices.mantissas[i] != 0.0) largest[i % dim] = std::max(largest[i % dim], vertices.exponents[i]);
        std::vector<double> longest(dim, 0.0);
        for (std::size_t i = 0; i < vertices.mantissas.size(); ++i) {
            const std::size_t k = i % dim;
            const auto in_unit = [&](std::size_t at) {
                const double mantissa = vertices.mantissas[at];
                return mantissa == 0.0 ? 0.0 : std::ldexp(mantissa, vertices.exponents[at] - largest[k]);
            };
            const double step = in_unit(i) - in_unit(k);
            longest[k] = std::max(longest[k], std::abs(step));
            places.mantissas[i] = std::frexp(step, &places.exponents[i]);
            if (step != 0.0) places.exponents[i] += largest[k];
        }
        for (const double length : longest) known = known && length >= rounding::thin;
    }
};

// The same exactly, rounded only at the end.
VertexPlaces exact_steps(int vertices, const ExactVertices& exactly) {
    VertexPlaces steps;
    const ExactVector& first = exactly(0);
    const std::size_t dim = first.numerators.size() - 1;
    for (int v = 0; v < vertices; ++v) {
        const ExactVector& point = exactly(v);
        ExactVector step{std::vector<BigInteger>(dim + 1)};
        for (std::size_t k = 0; k < dim; ++k)
            step.numerators[k] =
                point.numerators[k] * first.numerators[dim] - first.numerators[k] * point.numerators[dim];
        step.numerators[dim] = point.numerators[dim] * first.numerators[dim];
        const VertexPlaces place = place_of(step);
        steps.mantissas.insert(steps.mantissas.end(), place.mantissas.begin(), place.mantissas.end());
        steps.exponents.insert(steps.exponents.end(), place.exponents.begin(), place.exponents.end());
    }
    return steps;
}

// Sum of a 2^i and b 2^k where both, or either, lie beyond floats.
double sum_of_scaled(double a, int i, double b, int k) {
    const int unit = a == 0.0 ? k : b == 0.0 ? i : std::max(i, k);
    return std::ldexp(std::ldexp(a, i - unit) + std::ldexp(b, k - unit), unit);
}

// Which vertices of a cell lie on each of its facets, and so the simplices that the cell falls into: pyramids over
// those facets that miss the first vertex, and so on within these. Sets of vertices are words of bits.
class Splitting {
  public:
    template <int Words>
    Splitting(const std::vector<Mask<Words>>& on, int dim)
        : corners_(dim + 1), words_((static_cast<int>(on.size()) + 63) / 64), apexes_(corners_) {
        Mask<Words> used;
        for (const auto& mask : on) used = used | mask;
        used.for_each([&](int facet) {
            const std::size_t first = facets_.size();
            facets_.resize(first + words_, 0);
            for (std::size_t v = 0; v < on.size(); ++v)
                if (on[v].has(facet)) facets_[first + v / 64] |= std::uint64_t{1} << (v % 64);
        });
        parts_.resize(words_, 0);
        for (std::size_t v = 0; v < on.size(); ++v) parts_[v / 64] |= std::uint64_t{1} << (v % 64);
        if (words_ == 1)
            split<1>(0, 0);
        else
            split<0>(0, 0);
    }

    // dim + 1 vertices each.
    const std::vector<int>& simplices() const { return simplices_; }

  private:
    const int corners_, words_;
    std::vector<std::uint64_t> facets_, parts_;
    std::vector<int> apexes_, simplices_;

    // A face is the set of its vertices, which begins at `at` in `parts_`. Its own facets are the largest of its meets
    // with the cell's facets; those that miss the first vertex are the bases of pyramids over it. One is the number of
    // words where it is one.
    template <int One>
    void split(std::size_t at, int depth) {
        const int words = One ? 1 : words_;
        int size = 0;
        for (int w = 0; w < words; ++w) size += std::popcount(parts_[at + w]);
        if (depth + size == corners_) {
            simplices_.insert(simplices_.end(), apexes_.begin(), apexes_.begin() + depth);
            for (int w = 0; w < words; ++w)
                for (std::uint64_t rest = parts_[at + w]; rest; rest &= rest - 1)
                    simplices_.push_back(64 * w + std::countr_zero(rest));
            return;
        }
        int first = 0;
        while (parts_[at + first] == 0) ++first;
        const std::uint64_t lowest = parts_[at + first] & -parts_[at + first];
        apexes_[depth] = 64 * first + std::countr_zero(lowest);

        const std::size_t begin = parts_.size();
        for (std::size_t facet = 0; facet < facets_.size(); facet += words) {
            bool some = false, all = true;
            for (int w = 0; w < words; ++w) {
                const std::uint64_t meet = parts_[at + w] & facets_[facet + w];
                some = some || meet;
                all = all && meet == parts_[at + w];
            }
            if (!some || all) continue;
            for (int w = 0; w < words; ++w) parts_.push_back(parts_[at + w] & facets_[facet + w]);
        }
        keep_largest<One>(begin);
        for (std::size_t part = begin; part < parts_.size(); part += words) {
            if (parts_[part + first] & lowest) continue;
            // What is split puts its own parts behind these, and takes them away again.
            split<One>(part, depth + 1);
        }
        parts_.resize(begin);
    }

    // Of the sets from here on those that no other one contains, each once.
    template <int One>
    void keep_largest(std::size_t begin) {
        const int words = One ? 1 : words_;
        const int count = static_cast<int>((parts_.size() - begin) / words);
        std::uint64_t* const parts = parts_.data() + begin;
        const auto within = [&](int part, int other) {
            bool is = true;
            for (int w = 0; w < words; ++w) is = is && !(parts[part * words + w] & ~parts[other * words + w]);
            return is;
        };
        int kept = 0;
        for (int part = 0; part < count; ++part) {
            bool largest = true;
            for (int other = 0; other < kept && largest; ++other) largest = !within(part, other);
            for (int other = part + 1; other < count && largest; ++other)
                largest = !within(part, other) || within(other, part);
            if (!largest) continue;
            for (int w = 0; w < words; ++w) parts[kept * words + w] = parts[part * words + w];
            ++kept;
        }
        parts_.resize(begin + static_cast<std::size_t>(kept) * words);
    }
};

class Simplices {
  public:
    Simplices(const std::vector<double>& vertices, const Splitting& splitting, int dim, bool covariance)
        : vertices_(vertices),
          simplices_(splitting.simplices()),
          count_(simplices_.size() / (dim + 1)),
          dim_(dim),
          edges_(dim * dim),
          from_first_(dim),
          sum_(dim),
          offset_(dim) {
        total_.centroid.assign(dim, 0.0);
        if (covariance) total_.covariance.assign(static_cast<std::size_t>(dim) * dim, 0.0);
        double factorial = 1;
        for (int k = 2; k <= dim; ++k) factorial *= k;
        scale_ = 1 / factorial;
    }

    std::vector<double> volumes() {
        std::vector<double> found(count_);
        for (std::size_t i = 0; i < count_; ++i) found[i] = volume_of(corners(i));
        return found;
    }

    Measure operator()(const std::vector<double>& volumes) {
        for (std::size_t i = 0; i < volumes.size(); ++i) add_simplex(corners(i), volumes[i]);
        for (double& x : total_.centroid) x /= total_.volume;
        if (!total_.covariance.empty()) centre_moments();
        return std::move(total_);
    }

    // All volumes in one unit, in which the largest is about one. Each is a determinant of exact homogeneous points,
    // over their last coordinates.
    std::vector<double> exact_volumes(int& unit, const ExactVertices& exactly) const {
        std::vector<double> volumes;
        std::vector<std::int64_t> units;
        for (std::size_t i = 0; i < count_; ++i) {
            std::vector<ExactVector> points;
            for (int k = 0; k <= dim_; ++k) points.push_back(exactly(corners(i)[k]));
            auto [volume, exponent] = size_of_determinant(points);
            for (const ExactVector& point : points) {
                const auto [weight, weight_exponent] = point.numerators[dim_].to_float();
                volume /= weight;
                exponent -= weight_exponent;
            }
            volumes.push_back(volume * scale_);
            units.push_back(exponent);
        }
        const std::int64_t largest = *std::max_element(units.begin(), units.end());
        for (std::size_t i = 0; i < volumes.size(); ++i)
            volumes[i] = std::ldexp(volumes[i], static_cast<int>(units[i] - largest));
        unit = static_cast<int>(largest);
        return volumes;
    }

  private:
    const std::vector<double>& vertices_;
    const std::vector<int>& simplices_;
    const std::size_t count_;
    const int dim_;
    double scale_;
    std::vector<double> edges_;
    std::vector<double> from_first_, sum_, offset_;
    Measure total_;

    const int* corners(std::size_t simplex) const { return simplices_.data() + simplex * (dim_ + 1); }

    // The cell is seen from its first vertex, which is a corner of every simplex.
    double volume_of(const int* corners) {
        for (int i = 0; i < dim_; ++i)
            for (int k = 0; k < dim_; ++k) edges_[i * dim_ + k] = vertices_[corners[i + 1] * dim_ + k];
        return std::abs(determinant()) * scale_;
    }

    void add_simplex(const int* corners, double volume) {
        total_.volume += volume;
        for (int k = 0; k < dim_; ++k) {
            double sum = 0;
            for (int i = 0; i <= dim_; ++i) sum += vertices_[corners[i] * dim_ + k];
            total_.centroid[k] += volume * sum / (dim_ + 1);
        }
        if (!total_.covariance.empty()) add_moments(corners, volume);
    }

    // Of a simplex, the integral of x x^T is volume / ((d + 1)(d + 2)) times the sum of v v^T over its corners, plus
    // s s^T for their sum s. Seen from the cell's first vertex, so that small cells keep their digits.
    void add_moments(const int* corners, double volume) {
        const double scale = volume / ((dim_ + 1.0) * (dim_ + 2.0));
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (int i = 0; i <= dim_; ++i) {
            const int v = corners[i];
            for (int k = 0; k < dim_; ++k) {
                from_first_[k] = vertices_[v * dim_ + k] - vertices_[k];
                sum_[k] += from_first_[k];
            }
            add_square(scale, from_first_);
        }
        add_square(scale, sum_);
        for (int k = 0; k < dim_; ++k) offset_[k] += volume * sum_[k] / (dim_ + 1);
    }

    void add_square(double factor, const std::vector<double>& x) {
        for (int i = 0; i < dim_; ++i)
            for (int k = 0; k < dim_; ++k) total_.covariance[i * dim_ + k] += factor * x[i] * x[k];
    }

    void centre_moments() {
        for (double& x : total_.covariance) x /= total_.volume;
        for (double& x : offset_) x /= total_.volume;
        add_square(-1.0, offset_);
    }

    double determinant() {
        double result = 1;
        for (int step = 0; step < dim_; ++step) {
            int pivot = step;
            for (int i = step + 1; i < dim_; ++i)
                if (std::abs(edges_[i * dim_ + step]) > std::abs(edges_[pivot * dim_ + step])) pivot = i;
            const double value = edges_[pivot * dim_ + step];
            if (value == 0.0) return 0.0;
            if (pivot != step)
                for (int k = 0; k < dim_; ++k) std::swap(edges_[pivot * dim_ + k], edges_[step * dim_ + k]);
            result *= value;
            for (int i = step + 1; i < dim_; ++i) {
                const double factor = edges_[i * dim_ + step] / value;
                for (int k = step; k < dim_; ++k) edges_[i * dim_ + k] -= factor * edges_[step * dim_ + k];
            }
        }
        return result;
    }
};

template <int N, int Words, int Facets>
std::optional<Measure> measure_simple_in(const std::vector<double>& vertices, const std::vector<Mask<Facets>>& on) {
    if (on.size() > SimpleMeasure<N, Words>::most_vertices) {
        if constexpr (Words < 4) return measure_simple_in<N, 2 * Words>(vertices, on);
        return std::nullopt;
    }
    thread_local SimpleMeasure<N, Words> simple;
    if (!simple.find(vertices, on)) return std::nullopt;
    Measure found;
    found.volume = simple.volume();
    for (int k = 0; k < N; ++k) found.centroid.push_back(simple.centroid(k));
    return found;
}

// In a few dimensions; cells of more have too many vertices.
template <int Words>
std::optional<Measure> measure_simple(const std::vector<double>& vertices, const std::vector<Mask<Words>>& on,
                                      int dim) {
    switch (dim) {
        case 2:
            return measure_simple_in<2, 1>(vertices, on);
        case 3:
            return measure_simple_in<3, 1>(vertices, on);
        case 4:
            return measure_simple_in<4, 1>(vertices, on);
        case 5:
            return measure_simple_in<5, 1>(vertices, on);
        case 6:
            return measure_simple_in<6, 1>(vertices, on);
        default:
            return std::nullopt;
    }
}

}  // namespace

template <int Words>
Measure measure(const VertexPlaces& vertices, const std::vector<Mask<Words>>& on, int dim, bool covariance,
                const ExactVertices& exactly) {
    std::optional<Measure> simple;
    if (vertices.ordinary) simple = measure_simple(vertices.floats, on, dim);
    if (simple && !covariance) return *std::move(simple);
    VertexPlaces apart = vertices;
    apart.take_apart();
    const Steps steps(apart, dim);
    std::optional<InOwnUnits> cell(std::in_place, steps.places, dim);
    const Splitting splitting(on, dim);
    std::optional<Simplices> simplices(std::in_place, cell->vertices, splitting, dim, covariance);
    std::vector<double> volumes = simplices->volumes();
    int unit_of_volume = cell->unit_of_volume();
    if (!steps.known || !(std::accumulate(volumes.begin(), volumes.end(), 0.0) >= rounding::thin)) {
        cell.emplace(exact_steps(static_cast<int>(on.size()), exactly), dim);
        simplices.emplace(cell->vertices, splitting, dim, covariance);
        volumes = simplices->exact_volumes(unit_of_volume, exactly);
    }
    Measure found = (*simplices)(volumes);
    found.volume = std::ldexp(found.volume, unit_of_volume);
    for (int k = 0; k < dim; ++k)
        found.centroid[k] = sum_of_scaled(apart.mantissas[k], apart.exponents[k], found.centroid[k], cell->units[k]);
    for (std::size_t i = 0; i < found.covariance.size(); ++i)
        found.covariance[i] = std::ldexp(found.covariance[i], cell->units[i / dim] + cell->units[i % dim]);
    if (simple) {  // the same numbers, whatever else is asked for
        found.volume = simple->volume;
        found.centroid = std::move(simple->centroid);
    }
    return found;
}

template Measure measure<1>(const VertexPlaces&, const std::vector<Mask<1>>&, int, bool, const ExactVertices&);
template Measure measure<4>(const VertexPlaces&, const std::vector<Mask<4>>&, int, bool, const ExactVertices&);
template Measure measure<16>(const VertexPlaces&, const std::vector<Mask<16>>&, int, bool, const ExactVertices&);
template Measure measure<64>(const VertexPlaces&, const std::vector<Mask<64>>&, int, bool, const ExactVertices&);

}  // namespace polyfold
