#include "geometry/proof/facet_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "geometry/base/in_parallel.hpp"
#include "geometry/base/lanes.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 4096;  // cells

// In how many gates the next bytes of two patterns differ.
template <class Word>
int differing_bits(const std::uint8_t* one, const std::uint8_t* other) {
    Word a, b;
    std::memcpy(&a, one, sizeof(Word));
    std::memcpy(&b, other, sizeof(Word));
    return std::popcount(static_cast<Word>(a ^ b));
}

// Whether two patterns differ in this gate and in no other.
bool differ_only_in(const std::uint8_t* one, const std::uint8_t* other, int stride, int gate) {
    int different = 0, b = 0;
    for (; b + 8 <= stride; b += 8) different += differing_bits<std::uint64_t>(one + b, other + b);
    if (b + 4 <= stride) {
        different += differing_bits<std::uint32_t>(one + b, other + b);
        b += 4;
    }
    for (; b < stride; ++b) different += differing_bits<std::uint8_t>(one + b, other + b);
    return different == 1 && ((one[gate / 8] ^ other[gate / 8]) >> (gate % 8) & 1);
}

// Facets side by side in a register.
constexpr int some_facets = 8;
using Facets = std::int32_t __attribute__((vector_size(some_facets * sizeof(std::int32_t))));

// Whether one of a cell's facets leads to `target` over this wall. They are looked at several at once from the last one
// on: a loop that ends at the right one ends where no processor can foresee it.
bool leads_to(const FacetArrays& atlas, std::int64_t cell, std::int32_t target, std::int32_t wall) {
    const std::int64_t first = atlas.facet_start[cell];
    std::int64_t last = atlas.facet_start[cell + 1];
    Facets found{};
    for (; last >= some_facets && last > first; last -= some_facets) {
        const std::int64_t begin = last - some_facets;
        Facets neighbours, walls, number;
        std::memcpy(&neighbours, atlas.neighbour + begin, sizeof(Facets));
        std::memcpy(&walls, atlas.facet_wall + begin, sizeof(Facets));
        for (int i = 0; i < some_facets; ++i) number[i] = i;
        const auto before = static_cast<std::int32_t>(std::max<std::int64_t>(first - begin, 0));  // of other cells
        found |= (neighbours == target) & (walls == wall) & (number >= before);
    }
    bool back = false;
    for (; last > first; --last) back |= atlas.neighbour[last - 1] == target && atlas.facet_wall[last - 1] == wall;
    // Two facets to a lane, of which only the second one has the bit that is looked at.
    const auto pairs = reinterpret_cast<BitLanes>(found);
    return back || bits_of(reinterpret_cast<Choice>(pairs | pairs << 32)) != 0;
}

// What there is to count where nothing is unusual.
struct PlainCount {
    std::int64_t up = 0, down = 0, open = 0;  // facets that lead to a later cell, to an earlier one, to nobody knows
    bool plain = true;
};

// No wall is listed twice, every facet that leads up is met by one that leads back over the same wall, and the cells'
// patterns differ there and nowhere else. If there are as many facets that lead down, these are the ones that were met.
void count_plain(const FacetArrays& atlas, std::int64_t first, std::int64_t last, PlainCount& count) {
    std::vector<std::int64_t> up;
    for (std::int64_t cell = first; cell < last && count.plain; ++cell) {
        const std::int64_t begin = atlas.facet_start[cell], end = atlas.facet_start[cell + 1];
        if (static_cast<std::int64_t>(up.size()) < end - begin) up.resize(end - begin);
        std::int32_t before = -1;
        std::int64_t leading_up = 0;
        bool plain = true;
        for (std::int64_t facet = begin; facet < end; ++facet) {
            const std::int64_t other = atlas.neighbour[facet];
            const std::int32_t wall = atlas.facet_wall[facet];
            plain &= (other >= -2) & (other < atlas.cells) & (other != cell);
            plain &= (wall > before) & (wall < atlas.gates + atlas.rows);
            plain &= (other == -2) | ((other == -1) == (wall >= atlas.gates));
            before = wall;
            count.open += other == -2;
            count.down += (other >= 0) & (other < cell);
            up[leading_up] = facet;  // it stays there if it leads up
            leading_up += other > cell;
        }
        count.up += leading_up;
        for (std::int64_t i = 0; i < leading_up && plain; ++i) {
            const std::int64_t other = atlas.neighbour[up[i]];
            const std::int32_t wall = atlas.facet_wall[up[i]];
            plain = leads_to(atlas, other, static_cast<std::int32_t>(cell), wall) &&
                    differ_only_in(atlas.patterns + cell * atlas.stride, atlas.patterns + other * atlas.stride,
                                   atlas.stride, wall);
        }
        count.plain = plain;
    }
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
    PlainCount all;
    std::mutex mutex;
    in_parallel(threads, atlas.cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        PlainCount count;
        count_plain(atlas, first, last, count);
        const std::lock_guard lock(mutex);
        all.up += count.up;
        all.down += count.down;
        all.open += count.open;
        all.plain = all.plain && count.plain;
    });
    if (all.plain && all.up == all.down) return {.inner = all.up + all.down, .open = all.open};

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
        int b = 0;
        while (b < stride && before[b] == here[b]) ++b;
        // The first gate in which they differ is the lowest bit.
        disorder += b == stride || !(here[b] & (before[b] ^ here[b]) & -(before[b] ^ here[b]));
    }
    return disorder;
}

}  // namespace polyfold
