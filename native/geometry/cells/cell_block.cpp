#include "geometry/cells/cell_block.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "geometry/base/in_parts.hpp"

namespace polyfold {

namespace {

// Fewer are sooner copied than threads are started.
constexpr std::int64_t worth_threads = 1 << 14;

// What stands in the whole before a block.
struct Place {
    std::size_t cells = 0, facets = 0, shared = 0;
};

// A field of all blocks goes into that of the first one, which grows to hold them: the system moves what is there by
// its page tables, and only the others are copied.
class Joining {
  public:
    Joining(std::vector<CellBlock>& blocks, int threads) : blocks_(blocks), threads_(threads) {
        Place place;
        for (const CellBlock& block : blocks_) {
            places_.push_back(place);
            place.cells += static_cast<std::size_t>(block.cells);
            place.facets += block.facet_wall.size();
            place.shared += block.shared.size();
        }
        cells_ = place.cells;
    }

    CellBlock operator()() {
        const auto as_it_is = [](auto value, const Place&) { return value; };
        for (auto field : {&CellBlock::patterns, &CellBlock::bounded}) add(field, as_it_is);
        add(&CellBlock::keys, as_it_is);
        add(&CellBlock::witnesses, as_it_is);
        add(&CellBlock::facet_wall, as_it_is);
        // Every block's last start is the first one of the next.
        for (std::size_t b = 0; b + 1 < blocks_.size(); ++b)
            blocks_[b].facet_start.resize(blocks_[b].facet_start.size() - 1);
        add(&CellBlock::facet_start,
            [](std::int64_t start, const Place& at) { return start + static_cast<std::int64_t>(at.facets); });
        add(&CellBlock::neighbour, [](std::int32_t cell, const Place& at) {
            return cell >= 0 ? cell + static_cast<std::int32_t>(at.cells) : cell;
        });
        add(&CellBlock::shared, [](SharedWall item, const Place& at) {
            item.facet += static_cast<std::int64_t>(at.facets);
            return item;
        });
        run();
        return finish();
    }

  private:
    std::vector<CellBlock>& blocks_;
    const int threads_;
    std::vector<Place> places_;
    std::size_t cells_ = 0;
    std::vector<std::function<void()>> copies_;

    // Copies of a field, to be done in any order.
    template <class T, class Change>
    void add(GrowingArray<T> CellBlock::* field, Change change) {
        GrowingArray<T>& to = blocks_[0].*field;
        std::size_t at = to.size(), size = 0;
        for (const CellBlock& block : blocks_) size += (block.*field).size();
        to.reserve(size);
        to.resize(size);
        for (std::size_t b = 1; b < blocks_.size(); at += (blocks_[b++].*field).size())
            copies_.push_back([&from = blocks_[b].*field, &to, at, change, place = places_[b]] {
                std::transform(from.begin(), from.end(), to.begin() + at,
                               [&](T value) { return change(value, place); });
                from = {};
            });
    }

    void run() {
        if (threads_ == 1 || static_cast<std::int64_t>(cells_) < worth_threads) {
            for (const auto& copy : copies_) copy();
            return;
        }
        in_parts(threads_, static_cast<std::int64_t>(copies_.size()), nullptr,
                 [&](std::int64_t part, const StopSignal&) { copies_[part](); });
    }

    CellBlock finish() {
        CellBlock& all = blocks_[0];
        all.cells = static_cast<std::int64_t>(cells_);
        for (std::size_t b = 1; b < blocks_.size(); ++b)
            for (ExactWitness& item : blocks_[b].exact_witnesses) {
                item.cell += static_cast<std::int64_t>(places_[b].cells);
                all.exact_witnesses.push_back(std::move(item));
            }
        return std::move(all);
    }
};

}  // namespace

CellBlock joined(std::vector<CellBlock>&& blocks, int threads) {
    if (blocks.empty()) return {};
    CellBlock all = blocks.size() == 1 ? std::move(blocks[0]) : Joining(blocks, threads)();
    blocks.clear();
    return all;
}

void CellBlock::truncate(std::int64_t count, int dim) {
    if (count >= cells) return;
    patterns.resize(patterns.size() / static_cast<std::size_t>(cells) * static_cast<std::size_t>(count));
    cells = count;
    keys.resize(count);
    witnesses.resize(count * dim);
    bounded.resize(count);
    facet_start.resize(count + 1);
    const std::int64_t facets = facet_start[count];
    facet_wall.resize(facets);
    neighbour.resize(facets);
    for (auto& cell : neighbour)
        if (cell >= count) cell = not_explored;
    const auto rest =
        std::find_if(shared.begin(), shared.end(), [&](const auto& item) { return item.facet >= facets; });
    shared.resize(rest - shared.begin());
    std::erase_if(exact_witnesses, [&](const ExactWitness& item) { return item.cell >= count; });
}

void GeneratorBlock::append(GeneratorBlock&& other) {
    const auto join = [](auto& to, auto& from) { to.append(from.data(), from.size()); };
    const auto join_starts = [](auto& to, const auto& from, std::size_t before) {
        for (std::size_t i = 1; i < from.size(); ++i) to.push_back(from[i] + static_cast<std::int64_t>(before));
    };
    join_starts(start, other.start, kind.size());
    join_starts(facet_start, other.facet_start, facet.size());
    join(coordinates, other.coordinates);
    join(kind, other.kind);
    join(facet, other.facet);
    other = GeneratorBlock();
}

}  // namespace polyfold
