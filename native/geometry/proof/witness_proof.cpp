#include "geometry/proof/witness_proof.hpp"

#include <algorithm>

#include "geometry/base/in_parallel.hpp"
#include "geometry/proof/forward_pass.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 4096;  // cells

}  // namespace

std::vector<std::uint8_t> prove_witnesses(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                          const double* witnesses, int threads) {
    std::vector<std::uint8_t> proved(cells, 0);
    const int stride = (problem.gates + 7) / 8;
    in_parallel(threads, cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        forward::ForwardPass pass(problem);
        for (; first < last; first += forward::group) {
            const int count = static_cast<int>(std::min<std::int64_t>(forward::group, last - first));
            pass.prove(count, patterns + first * stride, witnesses + first * problem.dim, proved.data() + first);
        }
    });
    return proved;
}

}  // namespace polyfold
