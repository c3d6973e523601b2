// How far a cell has come on its way down the tree: the gates that are decided, and the forms of those that come next.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/cells/cell_block.hpp"
#include "geometry/problem/stage_map.hpp"

namespace polyfold {

struct Path {
    std::vector<std::uint8_t> pattern;    // a bit a gate, lowest first; right for the gates that are decided
    FaceKey vanishing_key;                // of the gates that vanish on the whole cell
    std::shared_ptr<const StageMap> map;  // of the stage whose rows are being inserted; stage 0 is the domain
    int stage = 0;
    int next = 0;  // row of that stage to be inserted next

    // The cells below this one that an earlier run has found, as a range of all of these (see KnownCells).
    std::int64_t known_first = 0, known_last = 0;

    void start(const Problem& problem) {
        pattern.assign((problem.gates + 7) / 8, 0);
        map = std::make_shared<const StageMap>(problem, 0, nullptr, std::vector<std::uint8_t>());
    }

    bool finished(const Problem& problem) const { return stage == static_cast<int>(problem.stages.size()); }

    bool on(int gate) const { return (pattern[gate / 8] >> (gate % 8)) & 1; }

    // The wall that comes next: a gate, or a domain row while the stage is 0.
    int wall(const Problem& problem) const { return problem.stages[stage].first_wall + next; }

    void set_gate(int gate, bool on) {
        // gates that are not decided yet are off
        pattern[gate / 8] |= static_cast<std::uint8_t>(static_cast<int>(on) << (gate % 8));
    }

    // The same for those of 64 gates whose bit is set.
    void set_gates_on(int first, std::uint64_t bits) {
        std::uint8_t* byte = pattern.data() + first / 8;
        if (const int shift = first % 8) {
            *byte++ |= static_cast<std::uint8_t>(bits << shift);
            bits >>= 8 - shift;
        }
        for (; bits; bits >>= 8) *byte++ |= static_cast<std::uint8_t>(bits);
    }

    void enter_next_stage(const Problem& problem) {
        next = 0;
        if (++stage < static_cast<int>(problem.stages.size()))
            map = std::make_shared<const StageMap>(problem, stage, std::move(map), pattern);
    }

    FaceKey key(const PatternKeys& keys) const {
        FaceKey key = keys.of(pattern.data());
        key ^= vanishing_key;
        return key;
    }

    // Write the pattern of a finished cell, packed, and the key of its inside.
    void emit_pattern(const PatternKeys& keys, CellBlock& block) const {
        block.patterns.append(pattern.data(), pattern.size());
        block.keys.push_back(key(keys));
    }

    // Write a facet on these walls (gates, or domain rows behind them), the first one in front.
    static void emit_facet(const std::vector<std::int32_t>& walls, CellBlock& block) {
        for (std::size_t i = 1; i < walls.size(); ++i)
            block.shared.push_back({static_cast<std::int64_t>(block.facet_wall.size()), walls[i]});
        block.facet_wall.push_back(walls[0]);
        block.neighbour.push_back(not_explored);
    }
};

}  // namespace polyfold
