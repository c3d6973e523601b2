#include "geometry/verify.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "geometry/in_parallel.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 4096;  // cells

// Whether two patterns differ in this gate and in no other.
bool differ_only_in(const std::uint8_t* one, const std::uint8_t* other, int stride, int gate) {
    unsigned rest = 0;
    for (int b = 0; b < stride; ++b)
        rest |= static_cast<unsigned>(one[b] ^ other[b]) ^ (b == gate / 8 ? 1U << (gate % 8) : 0U);
    return rest == 0;
}

// What there is to count where nothing is unusual.
struct PlainCount {
    std::int64_t up = 0, down = 0, open = 0;  // facets that lead to a later cell, to an earlier one, to nobody knows
    bool plain = true;
};

// No wall is listed twice, every facet that leads up is met by one that leads back over the same wall, and the cells'
// patterns differ there and nowhere else. If there are as many facets that lead down, these are the ones that were met.
void count_plain(const FacetArrays& atlas, std::int64_t first, std::int64_t last, PlainCount& count) {
    for (std::int64_t cell = first; cell < last && count.plain; ++cell) {
        std::int32_t before = -1;
        for (std::int64_t facet = atlas.facet_start[cell]; facet < atlas.facet_start[cell + 1]; ++facet) {
            const std::int64_t other = atlas.neighbour[facet];
            const std::int32_t wall = atlas.facet_wall[facet];
            const bool known = other >= -2 && other < atlas.cells && other != cell && wall < atlas.gates + atlas.rows;
            count.plain =
                count.plain && known && wall > before && (other == -2 || (other == -1) == (wall >= atlas.gates));
            before = wall;
            count.open += other == -2;
            count.down += other >= 0 && other < cell;
            if (!count.plain || other <= cell) continue;
            ++count.up;
            std::int64_t f = atlas.facet_start[other];
            const std::int64_t end = atlas.facet_start[other + 1];
            while (f < end && atlas.neighbour[f] != cell) ++f;
            count.plain = f < end && atlas.facet_wall[f] == wall &&
                          differ_only_in(atlas.patterns + cell * atlas.stride, atlas.patterns + other * atlas.stride,
                                         atlas.stride, wall);
        }
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
