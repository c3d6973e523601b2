#include "geometry/proof/point_places.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "geometry/base/in_parallel.hpp"
#include "geometry/proof/forward_pass.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 4096;  // points

// From patterns to the first cell that has them: open addressing, at most half full.
class PatternTable {
  public:
    PatternTable(std::int64_t cells, int stride, const std::uint8_t* patterns)
        : stride_(static_cast<std::size_t>(stride)),
          patterns_(patterns),
          places_(std::bit_ceil(static_cast<std::uint64_t>(2 * cells + 1)), not_listed),
          last_(places_.size() - 1) {
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            std::uint64_t at = hash(pattern(cell)) & last_;
            while (places_[at] != not_listed && !is_that_of(places_[at], pattern(cell))) at = (at + 1) & last_;
            if (places_[at] == not_listed) places_[at] = cell;
        }
    }

    std::int64_t find(const std::uint8_t* wanted) const {
        std::uint64_t at = hash(wanted) & last_;
        while (places_[at] != not_listed && !is_that_of(places_[at], wanted)) at = (at + 1) & last_;
        return places_[at];
    }

  private:
    const std::size_t stride_;
    const std::uint8_t* patterns_;
    std::vector<std::int64_t> places_;
    const std::uint64_t last_;

    const std::uint8_t* pattern(std::int64_t cell) const {
        return patterns_ + static_cast<std::size_t>(cell) * stride_;
    }
    bool is_that_of(std::int64_t cell, const std::uint8_t* wanted) const {
        return std::memcmp(pattern(cell), wanted, stride_) == 0;
    }
    // Eight bytes at a time, each mixed into all bits.
    std::uint64_t hash(const std::uint8_t* bytes) const {
        std::uint64_t sum = 0x9e3779b97f4a7c15;
        for (std::size_t first = 0; first < stride_; first += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + first, std::min<std::size_t>(8, stride_ - first));
            sum = (sum ^ word) * 0xbf58476d1ce4e5b9;
            sum ^= sum >> 31;
            sum *= 0x94d049bb133111eb;
            sum ^= sum >> 29;
        }
        return sum;
    }
};

}  // namespace

std::vector<std::int64_t> place_points(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                       std::int64_t points, const double* coordinates, int threads) {
    const int stride = (problem.gates + 7) / 8;
    const PatternTable table(cells, stride, patterns);
    std::vector<std::int64_t> places(static_cast<std::size_t>(points), unsure);
    in_parallel(threads, points, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        forward::ForwardPass pass(problem);
        std::vector<std::uint8_t> found(static_cast<std::size_t>(forward::group * stride));
        std::uint8_t proved[forward::group];
        for (; first < last; first += forward::group) {
            const int count = static_cast<int>(std::min<std::int64_t>(forward::group, last - first));
            pass.find(count, coordinates + first * problem.dim, found.data(), proved);
            for (int k = 0; k < count; ++k)
                if (proved[k]) places[first + k] = table.find(found.data() + k * stride);
        }
    });
    return places;
}

}  // namespace polyfold
