#include "geometry/list/pairing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>

#include "geometry/base/errors.hpp"
#include "geometry/base/in_parallel.hpp"
#include "geometry/base/stop_signal.hpp"

namespace polyfold {

namespace {

// Every share goes through all facets, and only keeps fewer of them waiting: many shares gain nothing.
constexpr int most_shares = 4;
constexpr std::int64_t worth_sharing = 1 << 14;
// Cells between two looks at whether the result is still wanted: some ten milliseconds.
constexpr std::int64_t look_up_every = 1 << 13;

// Keys of facets: what the cells on both sides of one have in common. They are made when they are needed, since there
// are many times more facets than cells.
class FacetKeys {
  public:
    FacetKeys(const CellBlock& cells, int gates)
        : cells_(cells), gates_(gates), stride_((gates + 7) / 8), changes_(2 * gates) {
        for (int gate = 0; gate < gates; ++gate) {
            FaceKey off = key_of_gate_vanishing(gate), on = off;
            on ^= key_of_gate_on(gate);
            changes_[2 * gate] = off;
            changes_[2 * gate + 1] = on;
        }
    }

    FaceKey of(std::int64_t cell, std::int64_t facet) const {
        FaceKey key = cells_.keys[cell];
        key ^= change(cell, cells_.facet_wall[facet]);
        if (!cells_.shared.empty()) {
            const auto before = [](const SharedWall& item, std::int64_t wanted) { return item.facet < wanted; };
            for (auto item = std::lower_bound(cells_.shared.begin(), cells_.shared.end(), facet, before);
                 item != cells_.shared.end() && item->facet == facet; ++item)
                if (item->wall < gates_) key ^= change(cell, item->wall);
        }
        return key;
    }

  private:
    const CellBlock& cells_;
    const int gates_, stride_;
    std::vector<FaceKey> changes_;  // of a gate that is off and now vanishes, and of one that is on

    const FaceKey& change(std::int64_t cell, std::int32_t gate) const {
        return changes_[2 * gate + ((cells_.patterns[cell * stride_ + gate / 8] >> (gate % 8)) & 1)];
    }
};

// Facets that wait for their other side, as cells and numbers within them; open addressing, at most two thirds full.
class WaitingFacets {
  public:
    explicit WaitingFacets(std::size_t expected) : size_(expected + expected / 2 + 16) { slots_.assign(size_, Slot{}); }

    // Calls `met(cell, number)` for facets that may wait under this key until it returns true; else leaves this one to
    // wait. Numbers are known modulo `numbers`.
    static constexpr std::int64_t numbers = 256;
    template <class Met>
    void find_or_add(const FaceKey& key, std::int64_t cell, std::int64_t number, Met met) {
        const std::uint32_t tag = static_cast<std::uint32_t>(key.high) / numbers_;
        for (std::size_t at = place(key);; at = at + 1 == size_ ? 0 : at + 1) {
            Slot& slot = slots_[at];
            if (slot.cell < 0) {
                // Without a free place nobody would ever find out that a key is not there.
                if (++taken_ == size_) throw Contradiction("more facets wait for their other side than there can be");
                slot = {static_cast<std::int32_t>(cell), tag * numbers_ + static_cast<std::uint32_t>(number % numbers)};
                return;
            }
            if (slot.tag_and_number / numbers_ == tag && met(slot.cell, slot.tag_and_number % numbers_)) return;
        }
    }

    void prefetch(const FaceKey& key) const { __builtin_prefetch(slots_.data() + place(key), 1); }

  private:
    std::size_t place(const FaceKey& key) const {
        return static_cast<std::size_t>((static_cast<unsigned __int128>(key.low) * size_) >> 64);
    }

    static constexpr auto numbers_ = static_cast<std::uint32_t>(numbers);
    struct Slot {
        std::int32_t cell = -1;
        std::uint32_t tag_and_number = 0;
    };
    GrowingArray<Slot> slots_;
    std::size_t size_, taken_ = 0;
};

// Calls `pair(cell, facet, other cell, other facet)` for every two facets with the same key, of those keys that belong
// to one of so many shares, and `look_up()` now and then. Only facets that are `open` are looked at; at most about so
// many wait at once.
template <class Open, class Pair, class LookUp>
void for_each_pair(const CellBlock& cells, const FacetKeys& keys, Open open, std::size_t most_waiting, unsigned share,
                   unsigned shares, Pair pair, LookUp look_up) {
    // Shares are random, hence nearly equal; where one is larger the table is only fuller.
    const std::size_t expected = most_waiting / shares;
    WaitingFacets waiting(expected + expected / 32);
    const auto meet = [&](const FaceKey& key, std::int64_t cell, std::int64_t facet) {
        waiting.find_or_add(key, cell, facet - cells.facet_start[cell], [&](std::int64_t other, std::int64_t number) {
            for (std::int64_t f = cells.facet_start[other] + number; f < cells.facet_start[other + 1];
                 f += WaitingFacets::numbers)
                if (open(f) && keys.of(other, f) == key) {
                    pair(cell, facet, other, f);
                    return true;
                }
            return false;
        });
    };
    // Places in the table are all over memory: ask for each a while before it is looked up.
    struct Asked {
        FaceKey key;
        std::int64_t cell, facet;
    };
    constexpr std::size_t ahead = 16;
    std::array<Asked, ahead> asked;
    std::size_t count = 0;
    const auto meet_asked = [&](std::size_t number) {
        const Asked& item = asked[number % ahead];
        meet(item.key, item.cell, item.facet);
    };
    for (std::int64_t cell = 0; cell < cells.cells; ++cell) {
        if (cell % look_up_every == 0) look_up();
        for (std::int64_t facet = cells.facet_start[cell]; facet < cells.facet_start[cell + 1]; ++facet) {
            if (!open(facet)) continue;
            const FaceKey key = keys.of(cell, facet);
            if (((key.high >> 32) * shares) >> 32 != share) continue;
            if (count >= ahead) meet_asked(count);  // the one that was asked for longest ago, where this one goes
            asked[count++ % ahead] = {key, cell, facet};
            waiting.prefetch(key);
        }
    }
    for (std::size_t number = count - std::min(count, ahead); number < count; ++number) meet_asked(number);
}

// Of so many facets that may have another side. If cells are missing, that of any of them may be.
std::size_t most_waiting(std::size_t facets, bool complete) {
    return complete ? facets / 2 : facets;
}

// A gate may vanish on one side of a facet altogether: only the other side lists it as a wall. Both get the union.
template <class LookUp>
void unite_walls(CellBlock& cells, int gates, bool complete, LookUp look_up) {
    const auto facets = static_cast<std::int64_t>(cells.facet_wall.size());
    std::vector<std::int64_t> partner(facets, -1), shared_start(facets + 1, 0);
    for_each_pair(
        cells, FacetKeys(cells, gates), [&](std::int64_t facet) { return cells.facet_wall[facet] < gates; },
        most_waiting(cells.facet_wall.size(), complete), 0, 1,
        [&](auto, std::int64_t facet, auto, std::int64_t other) {
            partner[facet] = other;
            partner[other] = facet;
        },
        look_up);
    for (const SharedWall& item : cells.shared) ++shared_start[item.facet + 1];
    for (std::int64_t facet = 0; facet < facets; ++facet) shared_start[facet + 1] += shared_start[facet];
    const GrowingArray<SharedWall> before = std::move(cells.shared);
    const std::vector<std::int32_t> first_wall(cells.facet_wall.begin(), cells.facet_wall.end());
    std::vector<std::int32_t> walls;
    for (std::int64_t facet = 0; facet < facets; ++facet) {
        walls.clear();
        for (const std::int64_t f : {facet, partner[facet]}) {
            if (f < 0) continue;
            walls.push_back(first_wall[f]);
            for (std::int64_t at = shared_start[f]; at < shared_start[f + 1]; ++at) walls.push_back(before[at].wall);
        }
        std::sort(walls.begin(), walls.end());
        walls.erase(std::unique(walls.begin(), walls.end()), walls.end());
        // A boundary facet is known by its domain row, which comes behind the gates.
        const bool boundary = first_wall[facet] >= gates;
        const auto first = boundary ? std::lower_bound(walls.begin(), walls.end(), gates) : walls.begin();
        cells.facet_wall[facet] = *first;
        for (auto wall = walls.begin(); wall != walls.end(); ++wall)
            if (wall != first) cells.shared.push_back({facet, *wall});
    }
}

}  // namespace

void pair_facets(CellBlock& cells, int gates, bool complete, const RunOptions& options) {
    // Domain rows are inserted before all gates, so a boundary facet's first wall is a domain row.
    std::size_t open_facets = 0;
    for (std::size_t facet = 0; facet < cells.facet_wall.size(); ++facet) {
        if (cells.facet_wall[facet] >= gates) cells.neighbour[facet] = domain_boundary;
        open_facets += cells.neighbour[facet] == not_explored;
    }
    const FacetKeys keys(cells, gates);
    std::atomic<bool> differ = !cells.shared.empty();
    const auto shares =
        static_cast<unsigned>(cells.cells < worth_sharing ? 1 : std::clamp(options.threads, 1, most_shares));
    // Only the calling thread asks; the others hear of it.
    std::atomic<bool> given_up = false;
    const auto look_up = [&](bool asks) {
        if (asks && options.still_wanted && !options.still_wanted()) given_up = true;
        if (given_up) throw Stopped();
    };
    in_parallel(shares, shares, 1, [&](std::int64_t share, std::int64_t) {
        // Facets of other shares are looked at, and passed over, while their neighbours are written.
        const auto neighbour = [&](std::int64_t facet) { return std::atomic_ref(cells.neighbour[facet]); };
        const auto open = [&](std::int64_t facet) {
            return neighbour(facet).load(std::memory_order_relaxed) == not_explored;
        };
        for_each_pair(
            cells, keys, open, most_waiting(open_facets, complete), static_cast<unsigned>(share), shares,
            [&](std::int64_t cell, std::int64_t facet, std::int64_t other, std::int64_t f) {
                neighbour(facet).store(static_cast<std::int32_t>(other), std::memory_order_relaxed);
                neighbour(f).store(static_cast<std::int32_t>(cell), std::memory_order_relaxed);
                if (cells.facet_wall[facet] != cells.facet_wall[f]) differ = true;
            },
            [&] { look_up(share == 0); });
    });
    if (differ) unite_walls(cells, gates, complete, [&] { look_up(true); });
}

}  // namespace polyfold
