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
    // Start with so many generators, none of them on any facet yet, nor on the positive side of any row.
    void clear(std::size_t generators, std::size_t facets, std::size_t rows = 0) {
        generators_ = generators;
        words_ = generators <= in_word ? 1 : (generators + in_register - 1) / in_register * lanes;
        on_facet_.assign(facets * words_, 0);
        positive_.assign(rows * words_, 0);
        hits_.resize(words_ + 1);
    }
    bool many() const { return words_ > 1; }  // generators: more than one word has bits

    void put(std::size_t generator, std::size_t facet) { add(on_facet_, generator, facet); }
    void put_positive(std::size_t generator, std::size_t row) { add(positive_, generator, row); }

    // Calls visit(i) for each generator from `first` on that lies on all of some facets, or on all but one. The facets
    // are what for_each_facet(visit) visits.
    template <class ForEachFacet, class Visit>
    void for_each_beside(ForEachFacet for_each_facet, std::size_t first, Visit visit) {
        const auto anywhere = []<class Word>(std::size_t) { return ~Word{}; };
        search(for_each_facet, anywhere, first, visit);
    }

    // Only those that a row divides from this one: for_each_row(visit) visits all rows in question, with whether this
    // one is positive there.
    template <class ForEachFacet, class ForEachRow, class Visit>
    void for_each_across(ForEachFacet for_each_facet, ForEachRow for_each_row, std::size_t first, Visit visit) {
        const auto divided = [&]<class Word>(std::size_t word) {
            Word found{};
            for_each_row([&](std::size_t row, bool positive) {
                found |= read<Word>(positive_, row, word) ^ (Word{} - static_cast<std::uint64_t>(positive));
            });
            return found;
        };
        search(for_each_facet, divided, first, visit);
    }

  private:
    static constexpr std::size_t in_word = 64, in_register = in_word * lanes;
    using Sets = std::vector<std::uint64_t>;  // words_ a set

    std::size_t generators_ = 0;
    std::size_t words_ = 0;  // one, or whole registers
    Sets on_facet_, positive_;
    struct Hit {
        std::size_t word;
        std::uint64_t bits;
    };
    std::vector<Hit> hits_;

    void add(Sets& sets, std::size_t generator, std::size_t set) const {
        sets[set * words_ + generator / in_word] |= std::uint64_t{1} << (generator % in_word);
    }

    template <class Word>
    Word read(const Sets& sets, std::size_t set, std::size_t word) const {
        Word bits;
        std::memcpy(&bits, sets.data() + set * words_ + word, sizeof bits);
        return bits;
    }

    template <class ForEachFacet, class Among, class Visit>
    void search(ForEachFacet for_each_facet, Among among, std::size_t first, Visit visit) {
        if (!many()) {
            const auto bits = beside<std::uint64_t>(for_each_facet, 0) & among.template operator()<std::uint64_t>(0);
            return visit_from(first, 0, bits, visit);
        }
        std::size_t hits = 0;
        for (std::size_t word = first / in_register * lanes; word < words_; word += lanes) {
            const BitLanes bits = beside<BitLanes>(for_each_facet, word) & among.template operator()<BitLanes>(word);
            // Nobody can foretell which are empty: keep them all, and overwrite those that are.
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                hits_[hits] = {word + lane, bits[lane]};
                hits += bits[lane] != 0;
            }
        }
        for (std::size_t hit = 0; hit < hits; ++hit) visit_from(first, hits_[hit].word, hits_[hit].bits, visit);
    }

    template <class Word, class ForEachFacet>
    Word beside(ForEachFacet for_each_facet, std::size_t word) const {
        Word on_all = ~Word{}, off_one{};
        for_each_facet([&](std::size_t facet) {
            const Word on = read<Word>(on_facet_, facet, word);
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
