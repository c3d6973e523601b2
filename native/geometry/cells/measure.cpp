#include "geometry/cells/measure.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <optional>

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

template <int Words>
class Simplices {
  public:
    Simplices(const std::vector<double>& vertices, const std::vector<Mask<Words>>& on, int dim, bool covariance)
        : vertices_(vertices), on_(on), dim_(dim), edges_(dim * dim), from_first_(dim), sum_(dim), offset_(dim) {
        total_.centroid.assign(dim, 0.0);
        if (covariance) total_.covariance.assign(static_cast<std::size_t>(dim) * dim, 0.0);
        double factorial = 1;
        for (int k = 2; k <= dim; ++k) factorial *= k;
        scale_ = 1 / factorial;
        std::vector<int> all(on.size());
        std::iota(all.begin(), all.end(), 0);
        split(all);
    }

    std::vector<double> volumes() {
        std::vector<double> found;
        for (const auto& corners : simplices_) found.push_back(volume_of(corners));
        return found;
    }

    Measure operator()(const std::vector<double>& volumes) {
        for (std::size_t i = 0; i < volumes.size(); ++i) add_simplex(simplices_[i], volumes[i]);
        for (double& x : total_.centroid) x /= total_.volume;
        if (!total_.covariance.empty()) centre_moments();
        return total_;
    }

    // All volumes in one unit, in which the largest is about one. Each is a determinant of exact homogeneous points,
    // over their last coordinates.
    std::vector<double> exact_volumes(int& unit, const ExactVertices& exactly) const {
        std::vector<double> volumes;
        std::vector<std::int64_t> units;
        for (const auto& corners : simplices_) {
            std::vector<ExactVector> points;
            for (const int v : corners) points.push_back(exactly(v));
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
    const std::vector<Mask<Words>>& on_;
    const int dim_;
    double scale_;
    std::vector<int> apexes_;
    std::vector<std::vector<int>> simplices_;
    std::vector<double> edges_;
    std::vector<double> from_first_, sum_, offset_;
    Measure total_;

    // A face is the set of its vertices. Its own facets are the largest of its meets with the cell's facets;
    // those that miss the first vertex are the bases of pyramids over it.
    void split(const std::vector<int>& face) {
        if (static_cast<int>(apexes_.size() + face.size()) == dim_ + 1) {
            simplices_.push_back(apexes_);
            simplices_.back().insert(simplices_.back().end(), face.begin(), face.end());
            return;
        }
        Mask<Words> everywhere = on_[face[0]], somewhere;
        for (const int v : face) {
            everywhere = everywhere & on_[v];
            somewhere = somewhere | on_[v];
        }
        std::vector<std::vector<int>> parts;
        somewhere.for_each([&](int facet) {
            if (everywhere.has(facet)) return;
            std::vector<int> part;
            for (const int v : face)
                if (on_[v].has(facet)) part.push_back(v);
            parts.push_back(std::move(part));
        });
        std::sort(parts.begin(), parts.end(),
                  [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
        parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
        apexes_.push_back(face[0]);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const bool largest = std::none_of(
                parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(p),
                [&](const auto& q) { return std::includes(q.begin(), q.end(), parts[p].begin(), parts[p].end()); });
            if (largest && parts[p].front() != face[0]) split(parts[p]);
        }
        apexes_.pop_back();
    }

    double volume_of(const std::vector<int>& corners) {
        const double* origin = vertices_.data() + corners[0] * dim_;
        for (int i = 0; i < dim_; ++i)
            for (int k = 0; k < dim_; ++k) edges_[i * dim_ + k] = vertices_[corners[i + 1] * dim_ + k] - origin[k];
        return std::abs(determinant()) * scale_;
    }

    void add_simplex(const std::vector<int>& corners, double volume) {
        total_.volume += volume;
        for (int k = 0; k < dim_; ++k) {
            double sum = 0;
            for (const int v : corners) sum += vertices_[v * dim_ + k];
            total_.centroid[k] += volume * sum / (dim_ + 1);
        }
        if (!total_.covariance.empty()) add_moments(corners, volume);
    }

    // Of a simplex, the integral of x x^T is volume / ((d + 1)(d + 2)) times the sum of v v^T over its corners, plus
    // s s^T for their sum s. Seen from the cell's first vertex, so that small cells keep their digits.
    void add_moments(const std::vector<int>& corners, double volume) {
        const double scale = volume / ((dim_ + 1.0) * (dim_ + 2.0));
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (const int v : corners) {
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

}  // namespace

template <int Words>
Measure measure(const VertexPlaces& vertices, const std::vector<Mask<Words>>& on, int dim, bool covariance,
                const ExactVertices& exactly) {
    const Steps steps(vertices, dim);
    std::optional<InOwnUnits> cell(std::in_place, steps.places, dim);
    std::optional<Simplices<Words>> simplices(std::in_place, cell->vertices, on, dim, covariance);
    std::vector<double> volumes = simplices->volumes();
    int unit_of_volume = cell->unit_of_volume();
    if (!steps.known || !(std::accumulate(volumes.begin(), volumes.end(), 0.0) >= rounding::thin)) {
        cell.emplace(exact_steps(static_cast<int>(on.size()), exactly), dim);
        simplices.emplace(cell->vertices, on, dim, covariance);
        volumes = simplices->exact_volumes(unit_of_volume, exactly);
    }
    Measure found = (*simplices)(volumes);
    found.volume = std::ldexp(found.volume, unit_of_volume);
    for (int k = 0; k < dim; ++k)
        found.centroid[k] =
            sum_of_scaled(vertices.mantissas[k], vertices.exponents[k], found.centroid[k], cell->units[k]);
    for (std::size_t i = 0; i < found.covariance.size(); ++i)
        found.covariance[i] = std::ldexp(found.covariance[i], cell->units[i / dim] + cell->units[i % dim]);
    return found;
}

template Measure measure<1>(const VertexPlaces&, const std::vector<Mask<1>>&, int, bool, const ExactVertices&);
template Measure measure<4>(const VertexPlaces&, const std::vector<Mask<4>>&, int, bool, const ExactVertices&);
template Measure measure<16>(const VertexPlaces&, const std::vector<Mask<16>>&, int, bool, const ExactVertices&);
template Measure measure<64>(const VertexPlaces&, const std::vector<Mask<64>>&, int, bool, const ExactVertices&);

}  // namespace polyfold
