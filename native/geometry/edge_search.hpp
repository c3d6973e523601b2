// Which generators share an edge with one that lies on no more facets than it has to.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "geometry/lanes.hpp"

namespace polyfold {

// The only work of a cut that grows with pairs of generators. For every facet there is a set of the generators on it,
// as bits, so that as many as a register has bits are looked at together.
class EdgeSearch {
  public:
    // Start with so many generators, none of them on any facet yet.
    void clear(std::size_t generators, std::size_t facets) {
        generators_ = generators;
        words_ = (generators + in_register - 1) / in_register * lanes;
        on_facet_.assign(facets * words_, 0);
        sets_.resize(facets);
        hits_.resize(words_ + 1);
    }

    void put(std::size_t generator, std::size_t facet) {
        on_facet_[facet * words_ + generator / 64] |= std::uint64_t{1} << (generator % 64);
    }

    // Calls visit(i) for each generator from `first` on that lies on all of some facets, or on all but one. The facets
    // are what for_each_facet(visit) visits.
    template <class ForEachFacet, class Visit>
    void for_each_beside(ForEachFacet for_each_facet, std::size_t first, Visit visit) {
        std::size_t sets = 0, hits = 0;
        for_each_facet([&](std::size_t facet) { sets_[sets++] = on_facet_.data() + facet * words_; });
        for (std::size_t word = first / in_register * lanes; word < words_; word += lanes) {
            BitLanes on_all = ~BitLanes{}, off_one{};
            for (std::size_t k = 0; k < sets; ++k) {
                BitLanes on;
                std::memcpy(&on, sets_[k] + word, sizeof on);
                off_one = (off_one & on) | (on_all & ~on);
                on_all &= on;
            }
            // Nobody can foretell which are empty: keep them all, and overwrite those that are.
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                hits_[hits] = {word + lane, on_all[lane] | off_one[lane]};
                hits += hits_[hits].bits != 0;
            }
        }
        for (std::size_t hit = 0; hit < hits; ++hit)
            for (std::uint64_t bits = hits_[hit].bits; bits; bits &= bits - 1) {
                const std::size_t i = hits_[hit].word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                if (i >= first && i < generators_) visit(i);
            }
    }

  private:
    static constexpr std::size_t in_register = 64 * lanes;

    std::size_t generators_ = 0;
    std::size_t words_ = 0;                // a set; whole registers
    std::vector<std::uint64_t> on_facet_;  // by facet
    struct Hit {
        std::size_t word;
        std::uint64_t bits;
    };
    std::vector<const std::uint64_t*> sets_;
    std::vector<Hit> hits_;
};

}  // namespace polyfold
