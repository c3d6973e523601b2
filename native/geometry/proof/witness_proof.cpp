#include "geometry/proof/witness_proof.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "geometry/base/in_parallel.hpp"
#include "geometry/proof/box_sides.hpp"
#include "geometry/proof/forward_pass.hpp"
#include "geometry/proof/shared_forms.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 4096;  // cells
constexpr std::int64_t together = 1024;        // cells whose patterns are looked at together

// Cells of one thread, some at a time: by forms where that pays, and what these do not prove by values.
class Prover {
  public:
    explicit Prover(const Problem& problem)
        : dim_(problem.dim),
          stride_((problem.gates + 7) / 8),
          by_forms_(SharedForms::pays(problem)),
          box_(problem),
          pass_(problem) {
        if (by_forms_) forms_.emplace(problem);
    }

    void prove(int count, const std::uint8_t* patterns, const double* points, std::uint8_t* proved) {
        if (by_forms_) {
            forms_->prove(count, patterns, points, proved);
            keep_inside(count, points, proved);
        } else {
            std::fill_n(proved, count, std::uint8_t{0});
        }
        waiting_.clear();
        for (int cell = 0; cell < count; ++cell) {
            if (proved[cell]) continue;
            waiting_.push_back(cell);
            if (waiting_.size() == forward::group) prove_waiting(patterns, points, proved);
        }
        if (!waiting_.empty()) prove_waiting(patterns, points, proved);
    }

  private:
    const int dim_, stride_;
    const bool by_forms_;
    const BoxSides box_;
    forward::ForwardPass pass_;
    std::optional<SharedForms> forms_;

    // What is proved by values.
    std::vector<int> waiting_;
    std::vector<std::uint8_t> patterns_;
    std::vector<double> points_;

    // Leaves only those points proved that lie strictly inside the domain.
    void keep_inside(int count, const double* points, std::uint8_t* proved) {
        if (box_.are_all()) {
            for (int cell = 0; cell < count; ++cell)
                proved[cell] &= static_cast<std::uint8_t>(box_.around(points + cell * dim_));
            return;
        }
        for (int first = 0; first < count; first += forward::group)
            pass_.keep_inside(std::min(forward::group, count - first), points + first * dim_, proved + first);
    }

    void prove_waiting(const std::uint8_t* patterns, const double* points, std::uint8_t* proved) {
        patterns_.clear();
        points_.clear();
        for (const int cell : waiting_) {
            patterns_.insert(patterns_.end(), patterns + cell * stride_, patterns + (cell + 1) * stride_);
            points_.insert(points_.end(), points + cell * dim_, points + (cell + 1) * dim_);
        }
        std::array<std::uint8_t, forward::group> found{};
        pass_.prove(static_cast<int>(waiting_.size()), patterns_.data(), points_.data(), found.data());
        for (std::size_t i = 0; i < waiting_.size(); ++i) proved[waiting_[i]] = found[i];
        waiting_.clear();
    }
};

}  // namespace

std::vector<std::uint8_t> prove_witnesses(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                          const double* witnesses, int threads) {
    std::vector<std::uint8_t> proved(cells, 0);
    const int stride = (problem.gates + 7) / 8;
    in_parallel(threads, cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        Prover prover(problem);
        for (; first < last; first += together)
            prover.prove(static_cast<int>(std::min(together, last - first)), patterns + first * stride,
                         witnesses + first * problem.dim, proved.data() + first);
    });
    return proved;
}

}  // namespace polyfold
