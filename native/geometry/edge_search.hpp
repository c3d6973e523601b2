// Which generators share an edge with one that lies on no more facets than it has to.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "geometry/mask.hpp"

namespace polyfold {

// The generators on one side of a cut, which each generator of the other side looks through: the only work of a cut
// that grows with pairs. Where there are many, and few facets, it is done eight to a register.
template <int Words>
class EdgeSearch {
  public:
    // The facets that each of these lies on, of which none has a number of `slots` or more. False where looking at one
    // after the other is as quick, and this cannot be used.
    bool list(const std::vector<Mask<Words>>& facets_of, const std::vector<int>& generators, std::size_t slots) {
        count_ = generators.size();
        if (count_ < block || slots > 32) return false;
        facets_.resize((count_ + block - 1) / block * block);
        beside_.resize(facets_.size());
        for (std::size_t i = 0; i < count_; ++i)
            facets_[i] = static_cast<std::uint32_t>(facets_of[generators[i]].words[0]);
        return true;
    }

    // Calls visit(i) for each of these that lies on all facets of the mask, or on all but one.
    template <class Visit>
    void for_each_beside(const Mask<Words>& mask, Visit visit) {
        mark(static_cast<std::uint32_t>(mask.words[0]));
        for (std::size_t first = 0; first < count_; first += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, beside_.data() + first, 8);
            if (eight == 0) continue;
            const std::size_t last = std::min(first + 8, count_);
            for (std::size_t i = first; i < last; ++i)
                if (beside_[i]) visit(i);
        }
    }

  private:
    static constexpr std::size_t block = 32;

    std::size_t count_ = 0;
    std::vector<std::uint32_t> facets_;  // whole blocks, like the next
    std::vector<std::uint8_t> beside_;

    // Whole blocks without branches: the compiler puts them into vector registers.
    void mark(std::uint32_t mask) {
        for (std::size_t first = 0; first < count_; first += block) {
            const std::uint32_t* others = facets_.data() + first;
            std::array<std::uint8_t, block> beside;
            for (std::size_t i = 0; i < block; ++i) {
                const std::uint32_t lacking = mask & ~others[i];
                beside[i] = (lacking & (lacking - 1)) == 0;
            }
            std::memcpy(beside_.data() + first, beside.data(), block);
        }
    }
};

}  // namespace polyfold
