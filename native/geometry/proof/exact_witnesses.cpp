#include "geometry/proof/exact_witnesses.hpp"

#include <cmath>

#include "geometry/base/in_parallel.hpp"
#include "geometry/exact/rounding.hpp"
#include "geometry/proof/cell_maps.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 64;  // cells

class ExactWitnesses {
  public:
    explicit ExactWitnesses(const Problem& problem) : problem_(problem), size_(problem.dim + 1), maps_(problem) {}

    bool prove(const std::uint8_t* pattern, const double* witness) {
        maps_.enter(pattern);
        point_.assign(witness, witness + problem_.dim);
        point_.push_back(1.0);
        exact_point_ = ExactVector::from_floats(point_.data(), size_);
        for (int s = 0; s < static_cast<int>(problem_.stages.size()); ++s)
            if (!has_signs(s)) return false;
        return true;
    }

  private:
    const Problem& problem_;
    const int size_;  // dim + 1
    CellMaps maps_;
    std::vector<double> point_, value_, magnitude_;
    ExactVector exact_point_;

    bool has_signs(int stage) {
        const StageMap& map = maps_[stage];
        const int width = map.width(), rows = stage == 0 ? problem_.rows() : width;
        value_.assign(static_cast<std::size_t>(width), 0.0);
        magnitude_ = value_;
        double reach = 0;
        for (int k = 0; k < size_; ++k) {
            const double x = point_[k], size = std::abs(x);
            const double* entries = map.entries() + static_cast<std::ptrdiff_t>(k) * width;
            reach += size;
            for (int i = 0; i < width; ++i) {
                value_[i] += entries[i] * x;
                magnitude_[i] += std::abs(entries[i]) * size;
            }
        }
        for (int i = 0; i < rows; ++i) {
            const bool on = stage == 0 || maps_.is_on(problem_.stages[stage].first_wall + i);
            const double doubt =
                (rounding::bound(size_ + 3) * magnitude_[i] + map.error(i) * reach) * (1 + 0x1p-20) + rounding::tiny;
            if ((on ? value_[i] : -value_[i]) > doubt) continue;
            if (value_[i] > doubt || value_[i] < -doubt || !has_sign(map, i, on)) return false;
        }
        return true;
    }

    // The same of one row, by integers.
    bool has_sign(const StageMap& map, int row, bool on) const {
        if (map.stage() > 0 && !on && map.vanishes(row)) return true;
        return sign_of_product(map.exact_row(row), exact_point_) == (on ? 1 : -1);
    }
};

}  // namespace

std::vector<std::uint8_t> prove_witnesses_exactly(const Problem& problem, std::int64_t cells,
                                                  const std::uint8_t* patterns, const double* witnesses, int threads) {
    std::vector<std::uint8_t> proved(cells, 0);
    const int stride = (problem.gates + 7) / 8;
    in_parallel(threads, cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        ExactWitnesses exactly(problem);
        for (; first < last; ++first)
            proved[first] = exactly.prove(patterns + first * stride, witnesses + first * problem.dim) ? 1 : 0;
    });
    return proved;
}

}  // namespace polyfold
