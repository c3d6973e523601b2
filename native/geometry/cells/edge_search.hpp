// Which generators share an edge with one that lies on no more facets than it has to.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "geometry/base/lanes.hpp"

namespace polyfold {

// The only work of a cut that grows with pairs of generators. For every facet there is a set of the generators on it,
// as bits, so that as many as a register has bits are looked at together.
class EdgeSearch {
  public:
    // Start with so many generators, none of them on any facet yet.
    void clear(std::size_t generators, std::size_t facets) {
        generators_ = generators;
        words_ = generators <= in_word ? 1 : (generators + in_register - 1) / in_register * lanes;
        on_facet_.assign(facets * words_, 0);
        hits_.resize(words_ + 1);
    }

    void put(std::size_t generator, std::size_t facet) {
        on_facet_[facet * words_ + generator / in_word] |= std::uint64_t{1} << (generator % in_word);
    }

    // Calls visit(i) for each generator from `first` on that lies on all of some facets, or on all but one. The facets
    // are what for_each_facet(visit) visits.
    template <class ForEachFacet, class Visit>
    void for_each_beside(ForEachFacet for_each_facet, std::size_t first, Visit visit) {
        if (words_ == 1) return visit_from(first, 0, beside<std::uint64_t>(for_each_facet, 0), visit);
        std::size_t hits = 0;
        for (std::size_t word = first / in_register * lanes; word < words_; word += lanes) {
            const BitLanes bits = beside<BitLanes>(for_each_facet, word);
            // Nobody can foretell which are empty: keep them all, and overwrite those that are.
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                hits_[hits] = {word + lane, bits[lane]};
                hits += bits[lane] != 0;
            }
        }
        for (std::size_t hit = 0; hit < hits; ++hit) visit_from(first, hits_[hit].word, hits_[hit].bits, visit);
    }

  private:
    static constexpr std::size_t in_word = 64, in_register = in_word * lanes;

    std::size_t generators_ = 0;
    std::size_t words_ = 0;                // one, or whole registers
    std::vector<std::uint64_t> on_facet_;  // words_ a facet
    struct Hit {
        std::size_t word;
        std::uint64_t bits;
    };
    std::vector<Hit> hits_;

    template <class Word, class ForEachFacet>
    Word beside(ForEachFacet for_each_facet, std::size_t word) const {
        Word on_all = ~Word{}, off_one{};
        for_each_facet([&](std::size_t facet) {
            Word on;
            std::memcpy(&on, on_facet_.data() + facet * words_ + word, sizeof on);
            off_one = (off_one & on) | (on_all & ~on);
            on_all &= on;
        });
        return on_all | off_one;
    }

    template <class Visit>
    void visit_from(std::size_t first, std::size_t word, std::uint64_t bits, Visit visit) const {
        for (; bits; bits &= bits - 1) {
            const std::size_t i = word * in_word + static_cast<std::size_t>(std::countr_zero(bits));
            if (i >= first && i < generators_) visit(i);
        }
    }
};

}  // namespace polyfold
