#include "geometry/list/pairing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "geometry/base/errors.hpp"
#include "geometry/base/in_parallel.hpp"
#include "geometry/base/stop_signal.hpp"
#include "geometry/base/waiting_lines.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 1 << 14;
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

// Facets that wait for their other side, as cells and numbers within them; open addressing, at most two thirds full if
// there are as many as expected.
class WaitingFacets {
  public:
    explicit WaitingFacets(std::size_t expected) : size_(expected + expected / 2 + 16) { slots_.assign(size_, Slot{}); }

    enum class Outcome { met, waits, no_room };

    // Calls `met(cell, number)` for facets that may wait under this key until it returns true; else leaves this one to
    // wait. Numbers are known modulo `numbers`.
    static constexpr std::int64_t numbers = 256;
    template <class Met>
    Outcome find_or_add(const FaceKey& key, std::int64_t cell, std::int64_t number, Met met) {
        const std::uint32_t tag = static_cast<std::uint32_t>(key.high) / numbers_;
        for (std::size_t at = place(key);; at = at + 1 == size_ ? 0 : at + 1) {
            Slot& slot = slots_[at];
            if (slot.cell < 0) {
                // Where it is nearly full, looking for what is not there would take long, and at last for ever.
                if (taken_ + size_ / 8 + 1 >= size_) return Outcome::no_room;
                ++taken_;
                slot = {static_cast<std::int32_t>(cell), tag * numbers_ + static_cast<std::uint32_t>(number % numbers)};
                return Outcome::waits;
            }
            if (slot.tag_and_number / numbers_ == tag && met(slot.cell, slot.tag_and_number % numbers_))
                return Outcome::met;
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

struct FacetOfCell {
    std::int64_t facet;
    std::int32_t cell;
};

// Meets facets that are shown to it: calls `pair(facet, cell, other facet, its cell)` for every two with the same key.
// Only facets that are `open` are met. Several may meet facets at the same time, each those of keys or cells of its
// own.
template <class Open, class Pair>
class Meeting {
  public:
    // At most about so many wait at once.
    Meeting(const CellBlock& cells, const FacetKeys& keys, Open open, Pair pair, std::size_t most_waiting)
        : cells_(cells), keys_(keys), open_(open), pair_(pair), waiting_(most_waiting + most_waiting / 32) {}

    // Places in the table are all over memory: ask for each a while before it is looked up.
    void show(const FaceKey& key, const FacetOfCell& item) {
        if (count_ >= ahead) meet(asked_[count_ % ahead]);  // the one that was asked for longest ago
        asked_[count_++ % ahead] = {key, item};
        waiting_.prefetch(key);
    }
    // Whether there was room for all that had to wait.
    bool finish() {
        for (std::size_t number = count_ - std::min(count_, ahead); number < count_; ++number)
            meet(asked_[number % ahead]);
        return !crowded_;
    }

  private:
    struct Asked {
        FaceKey key;
        FacetOfCell item;
    };
    static constexpr std::size_t ahead = 16;

    const CellBlock& cells_;
    const FacetKeys& keys_;
    Open open_;
    Pair pair_;
    WaitingFacets waiting_;
    std::array<Asked, ahead> asked_;
    std::size_t count_ = 0;
    bool crowded_ = false;

    void meet(const Asked& asked) {
        const auto [facet, cell] = asked.item;
        const auto met = [&](std::int32_t other, std::int64_t number) {
            for (std::int64_t f = cells_.facet_start[other] + number; f < cells_.facet_start[other + 1];
                 f += WaitingFacets::numbers)
                if (open_(f) && keys_.of(other, f) == asked.key) {
                    pair_(facet, cell, f, other);
                    return true;
                }
            return false;
        };
        const auto number = facet - cells_.facet_start[cell];
        crowded_ |= waiting_.find_or_add(asked.key, cell, number, met) == WaitingFacets::Outcome::no_room;
    }
};

// Of so many facets that may have another side. If cells are missing, that of any of them may be.
std::size_t most_waiting(std::size_t facets, bool complete) {
    return complete ? facets / 2 : facets;
}

[[noreturn]] void say_crowded() {
    throw Contradiction("more facets wait for their other side than there can be");
}

// A gate may vanish on one side of a facet altogether: only the other side lists it as a wall. Both get the union.
template <class LookUp>
void unite_walls(CellBlock& cells, int gates, bool complete, LookUp look_up) {
    const auto facets = static_cast<std::int64_t>(cells.facet_wall.size());
    std::vector<std::int64_t> partner(facets, -1), shared_start(facets + 1, 0);
    const FacetKeys keys(cells, gates);
    const auto inner = [&](std::int64_t facet) { return cells.facet_wall[facet] < gates; };
    const auto pair = [&](std::int64_t facet, auto, std::int64_t other, auto) {
        partner[facet] = other;
        partner[other] = facet;
    };
    Meeting meeting(cells, keys, inner, pair, most_waiting(cells.facet_wall.size(), complete));
    for (std::int64_t cell = 0; cell < cells.cells; ++cell) {
        if (cell % look_up_every == 0) look_up();
        for (std::int64_t facet = cells.facet_start[cell]; facet < cells.facet_start[cell + 1]; ++facet)
            if (inner(facet)) meeting.show(keys.of(cell, facet), {facet, static_cast<std::int32_t>(cell)});
    }
    if (!meeting.finish()) say_crowded();
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

// A stretch of cells, for one thread. Facets whose other side is elsewhere, or has other walls, are left over, by
// shares of the keys.
struct Stretch {
    std::int64_t first = 0, last = 0;
    std::vector<std::vector<FacetOfCell>> left_over = {};
};

// Pairs facets of a stretch that lie on one wall only. Cells come in the order of their gates, off before on. So the
// facets of cells with a gate off that lie on its wall come in the same order as those behind them, of cells with the
// gate on: both have the order of the other gates. Those of cells with the gate off wait in a line, and the next one
// with the gate on belongs to the first that waits. Keys tell whether it does, so that where cells are missing, or
// sides have different walls, facets are left over and never paired wrongly.
template <class LeaveOver>
class PairingInOrder {
  public:
    PairingInOrder(CellBlock& cells, int gates, LeaveOver leave_over)
        : cells_(cells), gates_(gates), stride_((gates + 7) / 8), leave_over_(leave_over), waiting_(gates) {
        for (int gate = 0; gate < gates; ++gate) key_of_gate_.push_back(key_of_gate_on(gate));
    }

    template <class LookUp>
    void operator()(const Stretch& stretch, LookUp look_up) {
        const auto before = [](const SharedWall& item, std::int64_t wanted) { return item.facet < wanted; };
        // Copies, since what is written might be any other number for all that the compiler knows.
        const std::int64_t* const start = cells_.facet_start.data();
        const std::int32_t* const walls = cells_.facet_wall.data();
        std::int32_t* const neighbours = cells_.neighbour.data();
        const std::int32_t gates = gates_;
        const SharedWall* const last_shared = cells_.shared.end();
        const SharedWall* shared =
            std::lower_bound(std::as_const(cells_.shared).begin(), last_shared, start[stretch.first], before);
        for (std::int64_t cell = stretch.first; cell < stretch.last; ++cell) {
            if (cell % look_up_every == 0) look_up();
            const std::uint8_t* const pattern = cells_.patterns.data() + cell * stride_;
            for (std::int64_t facet = start[cell], end = start[cell + 1]; facet < end; ++facet) {
                const std::int32_t wall = walls[facet];
                // Domain rows are inserted before all gates, so a boundary facet's first wall is a domain row.
                if (wall >= gates) {
                    neighbours[facet] = domain_boundary;
                    continue;
                }
                if (neighbours[facet] != not_explored) continue;
                while (shared != last_shared && shared->facet < facet) ++shared;
                if (shared != last_shared && shared->facet == facet)
                    leave_over_(facet, cell);
                else if ((pattern[wall / 8] >> (wall % 8)) & 1)
                    meet(facet, cell, wall);
                else
                    waiting_.join(wall, item_of(facet, cell));
            }
        }
        for (int gate = 0; gate < gates_; ++gate)
            for (const Item* item = waiting_.begin(gate); item != waiting_.end(gate); ++item)
                leave_over_(facet_of(*item), item->cell);
    }

  private:
    struct Item {
        std::int32_t cell, number;
    };

    CellBlock& cells_;
    const int gates_;
    const std::int64_t stride_;
    LeaveOver leave_over_;
    std::vector<FaceKey> key_of_gate_;
    WaitingLines<Item> waiting_;  // by gate

    Item item_of(std::int64_t facet, std::int64_t cell) const {
        return {static_cast<std::int32_t>(cell), static_cast<std::int32_t>(facet - cells_.facet_start[cell])};
    }
    std::int64_t facet_of(const Item& item) const { return cells_.facet_start[item.cell] + item.number; }

    // Both keys name the facet where those of its cells differ by the gate alone.
    bool face_each_other(std::int64_t off, std::int64_t on, std::int32_t gate) const {
        FaceKey key = cells_.keys[off];
        key ^= key_of_gate_[gate];
        return key == cells_.keys[on];
    }

    // The facet of a cell with the gate on.
    void meet(std::int64_t facet, std::int64_t cell, std::int32_t gate) {
        for (; !waiting_.empty(gate); waiting_.leave(gate)) {
            const Item& first = waiting_.first(gate);
            if (face_each_other(first.cell, cell, gate)) {
                cells_.neighbour[facet] = first.cell;
                cells_.neighbour[facet_of(first)] = static_cast<std::int32_t>(cell);
                waiting_.leave(gate);
                return;
            }
            // The other side of one that comes before has been passed by.
            if (!comes_before(first.cell, cell, gate)) break;
            leave_over_(facet_of(first), first.cell);
        }
        leave_over_(facet, cell);
    }

    // In the order of all other gates.
    bool comes_before(std::int64_t one, std::int64_t other, std::int32_t gate) const {
        for (std::int64_t b = 0; b < stride_; ++b) {
            const std::uint8_t on = cells_.patterns[other * stride_ + b];
            auto differ = static_cast<std::uint8_t>(cells_.patterns[one * stride_ + b] ^ on);
            if (b == gate / 8) differ &= static_cast<std::uint8_t>(~(1 << (gate % 8)));
            if (differ) return (on & differ & -differ) != 0;
        }
        return false;
    }
};

class Pairing {
  public:
    Pairing(CellBlock& cells, int gates, const RunOptions& options)
        : cells_(cells), gates_(gates), options_(options), keys_(cells, gates) {
        const std::int64_t stretches =
            std::clamp<std::int64_t>(cells.cells / worth_a_thread, 1, std::max(1, options.threads));
        for (std::int64_t stretch = 0; stretch < stretches; ++stretch)
            stretches_.push_back(
                {.first = cells.cells * stretch / stretches, .last = cells.cells * (stretch + 1) / stretches});
        differ_ = !cells.shared.empty();
    }

    // Fills in neighbours; whether two sides of a facet may have different walls.
    bool operator()() {
        const auto stretches = static_cast<std::int64_t>(stretches_.size());
        for_each_of(stretches, [&](std::int64_t stretch) { pair_stretch(stretches_[stretch]); });
        for_each_of(stretches, [&](std::int64_t share) { pair_share(share); });
        return differ_;
    }

    // Only the calling thread asks; the others hear of it.
    void look_up() {
        if (std::this_thread::get_id() == caller_ && options_.still_wanted && !options_.still_wanted())
            given_up_ = true;
        if (given_up_) throw Stopped();
    }

  private:
    CellBlock& cells_;
    const int gates_;
    const RunOptions& options_;
    const FacetKeys keys_;
    std::vector<Stretch> stretches_;
    std::atomic<bool> differ_ = false, given_up_ = false;
    const std::thread::id caller_ = std::this_thread::get_id();

    template <class Work>
    void for_each_of(std::int64_t count, Work work) {
        in_parallel(options_.threads, count, 1, [&](std::int64_t first, std::int64_t last) {
            for (; first < last; ++first) work(first);
        });
    }

    void pair_stretch(Stretch& stretch) {
        stretch.left_over.resize(stretches_.size());
        const auto leave_over = [&](std::int64_t facet, std::int64_t cell) {
            stretch.left_over[share_of(keys_.of(cell, facet))].push_back({facet, static_cast<std::int32_t>(cell)});
        };
        PairingInOrder(cells_, gates_, leave_over)(stretch, [&] { look_up(); });
    }

    std::size_t share_of(const FaceKey& key) const { return ((key.high >> 32) * stretches_.size()) >> 32; }

    // Of another share's facets some are looked at, and passed over, while their neighbours are written.
    std::atomic_ref<std::int32_t> neighbour(std::int64_t facet) { return std::atomic_ref(cells_.neighbour[facet]); }

    // Shows what was left over to one another. Cells may be missing, so that all of it may wait.
    void pair_share(std::int64_t share) {
        std::size_t facets = 0;
        for (const Stretch& stretch : stretches_) facets += stretch.left_over[share].size();
        if (facets == 0) return;
        bool differ = false;
        const auto is_open = [&](std::int64_t facet) {
            return neighbour(facet).load(std::memory_order_relaxed) == not_explored;
        };
        const auto pair = [&](std::int64_t facet, std::int32_t cell, std::int64_t other, std::int32_t behind) {
            neighbour(facet).store(behind, std::memory_order_relaxed);
            neighbour(other).store(cell, std::memory_order_relaxed);
            differ |= cells_.facet_wall[facet] != cells_.facet_wall[other];
        };
        Meeting meeting(cells_, keys_, is_open, pair, facets);
        for (const Stretch& stretch : stretches_) {
            look_up();
            for (const FacetOfCell& item : stretch.left_over[share])
                meeting.show(keys_.of(item.cell, item.facet), item);
        }
        meeting.finish();
        if (differ) differ_ = true;
    }
};

}  // namespace

void pair_facets(CellBlock& cells, int gates, bool complete, const RunOptions& options) {
    Pairing pairing(cells, gates, options);
    if (pairing()) unite_walls(cells, gates, complete, [&] { pairing.look_up(); });
}

}  // namespace polyfold
