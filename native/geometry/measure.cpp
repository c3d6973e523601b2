#include "geometry/measure.hpp"

#include <algorithm>
#include <cmath>

namespace polyfold {

namespace {

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
    }

    Measure operator()() {
        std::vector<int> all(on_.size());
        for (std::size_t v = 0; v < all.size(); ++v) all[v] = static_cast<int>(v);
        split(all);
        if (total_.volume > 0)
            for (double& x : total_.centroid) x /= total_.volume;
        else  // too thin for floats: any of its points will do
            std::copy_n(vertices_.begin(), dim_, total_.centroid.begin());
        if (!total_.covariance.empty()) centre_moments();
        return total_;
    }

  private:
    const std::vector<double>& vertices_;
    const std::vector<Mask<Words>>& on_;
    const int dim_;
    double scale_;
    std::vector<int> apexes_;
    std::vector<double> edges_;
    std::vector<double> from_first_, sum_, offset_;
    Measure total_;

    // A face is the set of its vertices. Its own facets are the largest of its meets with the cell's facets;
    // those that miss the first vertex are the bases of pyramids over it.
    void split(const std::vector<int>& face) {
        if (static_cast<int>(apexes_.size() + face.size()) == dim_ + 1) {
            add_simplex(face);
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

    void add_simplex(const std::vector<int>& rest) {
        std::vector<int> corners = apexes_;
        corners.insert(corners.end(), rest.begin(), rest.end());
        const double* origin = vertices_.data() + corners[0] * dim_;
        for (int i = 0; i < dim_; ++i)
            for (int k = 0; k < dim_; ++k) edges_[i * dim_ + k] = vertices_[corners[i + 1] * dim_ + k] - origin[k];
        const double volume = std::abs(determinant()) * scale_;
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
        if (!(total_.volume > 0)) return;
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
Measure measure(const std::vector<double>& vertices, const std::vector<Mask<Words>>& on, int dim, bool covariance) {
    return Simplices<Words>(vertices, on, dim, covariance)();
}

template Measure measure<1>(const std::vector<double>&, const std::vector<Mask<1>>&, int, bool);
template Measure measure<4>(const std::vector<double>&, const std::vector<Mask<4>>&, int, bool);
template Measure measure<16>(const std::vector<double>&, const std::vector<Mask<16>>&, int, bool);
template Measure measure<64>(const std::vector<double>&, const std::vector<Mask<64>>&, int, bool);

}  // namespace polyfold
