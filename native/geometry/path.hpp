// How far a cell has come on its way down the tree: the gates that are decided, and the forms of those that come next.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/cell_block.hpp"
#include "geometry/stage_map.hpp"

namespace polyfold {

struct Path {
    std::vector<std::uint8_t> pattern;    // a byte a gate, right up to the next one
    FaceKey on_key, vanishing_key;        // of the gates that are on, and of those that vanish on the whole cell
    std::shared_ptr<const StageMap> map;  // of the stage whose rows are being inserted; stage 0 is the domain
    int stage = 0;
    int next = 0;  // row of that stage to be inserted next

    void start(const Problem& problem) {
        pattern.assign(problem.gates, 0);
        map = std::make_shared<const StageMap>(problem, 0, nullptr, std::vector<std::uint8_t>());
    }

    bool finished(const Problem& problem) const { return stage == static_cast<int>(problem.stages.size()); }

    // The wall that comes next: a gate, or a domain row while the stage is 0.
    int wall(const Problem& problem) const { return problem.stages[stage].first_wall + next; }

    void set_gate(const Problem& problem, bool on) {
        const int gate = wall(problem);
        pattern[gate] = on;
        if (on) on_key ^= key_of_gate_on(gate);
    }

    void enter_next_stage(const Problem& problem) {
        const Stage& done = problem.stages[stage];
        std::vector<std::uint8_t> on;
        if (stage > 0) {
            const auto first = pattern.begin() + done.first_wall;
            on.assign(first, first + done.width);
        }
        next = 0;
        if (++stage < static_cast<int>(problem.stages.size()))
            map = std::make_shared<const StageMap>(problem, stage, std::move(map), std::move(on));
    }

    // Write the pattern of a finished cell, packed.
    void emit_pattern(CellBlock& block) const {
        const std::size_t start = block.patterns.size(), gates = pattern.size();
        block.patterns.resize(start + (gates + 7) / 8, 0);
        for (std::size_t g = 0; g < gates; ++g)
            block.patterns[start + g / 8] |= static_cast<std::uint8_t>(pattern[g] << (g % 8));
    }

    // Write a facet on these walls (gates, or domain rows behind them), the first one in front.
    void emit_facet(const Problem& problem, const std::vector<std::int32_t>& walls, CellBlock& block) const {
        FaceKey key = on_key;
        key ^= vanishing_key;
        for (const std::int32_t wall : walls) {
            if (wall >= problem.gates) continue;
            key ^= key_of_gate_vanishing(wall);
            if (pattern[wall]) key ^= key_of_gate_on(wall);
        }
        for (std::size_t i = 1; i < walls.size(); ++i)
            block.shared.push_back({static_cast<std::int64_t>(block.facet_wall.size()), walls[i]});
        block.facet_wall.push_back(walls[0]);
        block.facet_key.push_back(key);
    }
};

}  // namespace polyfold
