#include "geometry/proof/facet_pairs.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "geometry/base/growing_array.hpp"
#include "geometry/base/in_parallel.hpp"
#include "geometry/base/waiting_lines.hpp"
#include "geometry/base/word_of.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 4096;  // cells

// Patterns in whole words, so that a few operations compare two of them.
class PatternWords {
  public:
    PatternWords(const FacetArrays& atlas, int threads)
        : words_((atlas.stride + word_bytes - 1) / word_bytes), all_(atlas.patterns) {
        if (atlas.stride % word_bytes == 0) return;
        filled_up_.resize(static_cast<std::size_t>(atlas.cells * words_));
        in_parallel(threads, atlas.cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
            std::uint64_t* to = filled_up_.data() + first * words_;
            for (const std::uint8_t* from = atlas.patterns + first * atlas.stride; first < last; ++first)
                for (int left = atlas.stride; left > 0; left -= word_bytes) {
                    const int bytes = std::min(left, word_bytes);
                    *to++ = word_of(from, bytes);
                    from += bytes;
                }
        });
        all_ = reinterpret_cast<const std::uint8_t*>(filled_up_.data());
    }

    std::int64_t words() const { return words_; }

    // Whether the patterns of two cells differ in this gate and in no other. Where a number of words is given there are
    // so many.
    template <int Words>
    bool differ_only_in(std::int64_t gate, std::int64_t cell, std::int64_t other) const {
        const std::int64_t words = Words ? Words : words_;
        const std::uint8_t *one = all_ + cell * words * word_bytes, *two = all_ + other * words * word_bytes;
        if (Words == 1) return difference(one, two) == std::uint64_t{1} << gate;
        int different = 0;
        for (std::int64_t w = 0; w < words; ++w)
            different += std::popcount(difference(one + w * word_bytes, two + w * word_bytes));
        const std::int64_t at = gate / 64 * word_bytes;
        return different == 1 && difference(one + at, two + at) >> (gate % 64) & 1;
    }

  private:
    static constexpr int word_bytes = 8;
    std::int64_t words_;
    const std::uint8_t* all_;
    GrowingArray<std::uint64_t> filled_up_;  // where patterns are no whole words

    static std::uint64_t difference(const std::uint8_t* one, const std::uint8_t* other) {
        return word_of(one, word_bytes) ^ word_of(other, word_bytes);
    }
};

// Two cells with a facet between them, in one number: the one that comes first, and the one behind it.
constexpr std::uint64_t link(std::int64_t before, std::int64_t behind) {
    return static_cast<std::uint64_t>(before) << 32 | static_cast<std::uint64_t>(behind);
}

// What there is to count where nothing is unusual, at some of the cells: no wall is listed twice, and every facet that
// leads up is met by one that leads back over the same wall, between patterns that differ there and nowhere else.
//
// Cells mostly come in the order of their gates, off before on. Then the facets over one wall that lead up come in the
// same order as those that lead back, since both have the order of the other gates: so the links of those that lead up
// wait, wall by wall, and each that leads back has to be the first one that waits. Where it is not there may be nothing
// wrong, but others have to tell.
class PlainCount {
  public:
    explicit PlainCount(const FacetArrays& atlas) : atlas_(atlas), up_(atlas.gates), down_(atlas.gates) {}

    // The facets of these cells; false if something is unusual.
    bool look_at(const PatternWords& patterns, std::int64_t first, std::int64_t last) {
        switch (patterns.words()) {
            case 1:
                return look_at_words<1>(patterns, first, last);
            case 2:
                return look_at_words<2>(patterns, first, last);
            default:
                return look_at_words<0>(patterns, first, last);
        }
    }

    std::int64_t pairs() const { return pairs_; }
    std::int64_t open() const { return open_; }

    // Those that wait for cells behind all that were looked at, and those that lead to cells before these.
    void take_over(std::int64_t gate, std::vector<std::uint64_t>& up, std::vector<std::uint64_t>& down) const {
        up.insert(up.end(), up_.begin(gate), up_.end(gate));
        down.insert(down.end(), down_.begin(gate), down_.end(gate));
    }

  private:
    const FacetArrays& atlas_;
    // By wall: links to later cells, and to cells before all that were looked at.
    WaitingLines<std::uint64_t> up_, down_;
    std::int64_t pairs_ = 0, open_ = 0;

    template <int Words>
    bool look_at_words(const PatternWords& patterns, std::int64_t first, std::int64_t last) {
        // Copies, since what is written might be any other number for all that the compiler knows.
        const FacetArrays atlas = atlas_;
        const std::int64_t gates = atlas.gates, walls = gates + atlas.rows;
        std::int64_t pairs = 0;
        for (std::int64_t cell = first; cell < last; ++cell) {
            std::int64_t next_wall = 0;
            const std::int64_t end = atlas.facet_start[cell + 1];
            for (std::int64_t facet = atlas.facet_start[cell]; facet < end; ++facet) {
                const std::int64_t other = atlas.neighbour[facet], wall = atlas.facet_wall[facet];
                if (wall < next_wall) return false;
                next_wall = wall + 1;
                if (wall >= gates) {
                    if (other != -1 && other != -2) return false;
                    open_ += other == -2;
                } else if (other > cell) {
                    if (other >= atlas.cells || !patterns.differ_only_in<Words>(wall, cell, other)) return false;
                    up_.join(wall, link(cell, other));
                    ++pairs;
                } else if (other >= first) {
                    if (up_.empty(wall) || up_.first(wall) != link(other, cell)) return false;
                    up_.leave(wall);
                } else if (other >= 0) {
                    down_.join(wall, link(other, cell));
                } else if (other == -2) {
                    ++open_;
                } else {
                    return false;
                }
            }
            if (next_wall > walls) return false;
        }
        pairs_ += pairs;
        return true;
    }
};

// The count of an atlas in which nothing is unusual and every cell comes in its place.
std::optional<PairingCount> count_plain(const FacetArrays& atlas, int threads) {
    const PatternWords patterns(atlas, threads);
    std::map<std::int64_t, PlainCount> counts;  // by the first cell
    std::atomic<bool> plain = true;
    std::mutex mutex;
    in_parallel(threads, atlas.cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        const auto make = [&]() -> PlainCount& {
            const std::lock_guard lock(mutex);
            return counts.try_emplace(first, atlas).first->second;
        };
        if (!make().look_at(patterns, first, last)) plain = false;
    });
    if (!plain) return std::nullopt;

    PairingCount total;
    for (const auto& [first, count] : counts) {
        total.inner += 2 * count.pairs();
        total.open += count.open();
    }
    std::vector<std::uint64_t> up, down;
    for (int gate = 0; gate < atlas.gates; ++gate) {
        up.clear();
        down.clear();
        for (const auto& [first, count] : counts) count.take_over(gate, up, down);
        if (up != down) return std::nullopt;
    }
    return total;
}

void count_pairing(const FacetArrays& atlas, std::int64_t first, std::int64_t last, PairingCount& count) {
    std::vector<std::uint8_t> difference(atlas.stride);
    const std::int64_t* const shared_end = atlas.shared_facet + atlas.shared;
    std::int64_t shared =
        std::lower_bound(atlas.shared_facet, shared_end, atlas.facet_start[first]) - atlas.shared_facet;
    for (std::int64_t cell = first; cell < last; ++cell)
        for (std::int64_t facet = atlas.facet_start[cell]; facet < atlas.facet_start[cell + 1]; ++facet) {
            const std::int64_t other = atlas.neighbour[facet];
            const int wall = atlas.facet_wall[facet];
            if (other < -2 || other >= atlas.cells || wall < 0 || wall >= atlas.gates + atlas.rows) {
                ++count.wrong;
                continue;
            }
            if (other == -2) {
                ++count.open;
                continue;
            }
            if ((other == -1) != (wall >= atlas.gates)) ++count.wrong;
            if (other == -1) continue;
            ++count.inner;
            bool back = false;
            for (std::int64_t f = atlas.facet_start[other]; f < atlas.facet_start[other + 1] && !back; ++f)
                back = atlas.neighbour[f] == cell && atlas.facet_wall[f] == wall;
            count.one_way += !back;
            if (wall >= atlas.gates) continue;

            bool differ = false, elsewhere = false;
            for (int b = 0; b < atlas.stride; ++b) {
                difference[b] = atlas.patterns[cell * atlas.stride + b] ^ atlas.patterns[other * atlas.stride + b];
                differ = differ || difference[b];
            }
            const auto allow = [&](int gate) {
                if (gate >= 0 && gate < atlas.gates)
                    difference[gate / 8] &= static_cast<std::uint8_t>(~(1 << (gate % 8)));
            };
            allow(wall);
            while (shared < atlas.shared && atlas.shared_facet[shared] < facet) ++shared;
            for (std::int64_t s = shared; s < atlas.shared && atlas.shared_facet[s] == facet; ++s)
                allow(atlas.shared_wall[s]);
            for (const std::uint8_t rest : difference) elsewhere = elsewhere || rest;
            count.wrong += !differ || elsewhere;
        }
}

}  // namespace

PairingCount count_pairing(const FacetArrays& atlas, int threads) {
    if (const auto plain = count_plain(atlas, threads)) return *plain;
    std::mutex mutex;
    PairingCount total;
    in_parallel(threads, atlas.cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        PairingCount count;
        count_pairing(atlas, first, last, count);
        const std::lock_guard lock(mutex);
        total.inner += count.inner;
        total.open += count.open;
        total.one_way += count.one_way;
        total.wrong += count.wrong;
    });
    return total;
}

std::int64_t count_disorder(std::int64_t cells, int stride, const std::uint8_t* patterns) {
    std::int64_t disorder = 0;
    for (std::int64_t cell = 1; cell < cells; ++cell) {
        const std::uint8_t *before = patterns + (cell - 1) * stride, *here = before + stride;
        std::uint64_t differ = 0, on = 0;
        for (int b = 0; b < stride && !differ; b += 8) {
            const int bytes = std::min(stride - b, 8);
            on = word_of(here + b, bytes);
            differ = word_of(before + b, bytes) ^ on;
        }
        // The first gate in which they differ is the lowest bit.
        disorder += (on & differ & -differ) == 0;
    }
    return disorder;
}

}  // namespace polyfold
