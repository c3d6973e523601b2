#include "geometry/unfold.hpp"

#include <algorithm>

#include "geometry/base/errors.hpp"
#include "geometry/base/in_parts.hpp"
#include "geometry/cells/enough_facets.hpp"
#include "geometry/count/count_walk.hpp"
#include "geometry/faces/face_count.hpp"
#include "geometry/list/list_walk.hpp"
#include "geometry/list/measure_walk.hpp"
#include "geometry/list/pairing.hpp"

namespace polyfold {

namespace {

template <class Walk>
Found find_by(const Problem& problem, const RunOptions& options) {
    Run<Walk> run(problem, options);
    run();
    Found found;
    found.complete = run.complete();
    run.take_blocks([&](CellBlock&& block) { found.blocks.push_back(std::move(block)); });
    return found;
}

template <class Walk>
Counted count_by(const Problem& problem, const RunOptions& options) {
    Run<Walk> run(problem, options);
    run();
    Counted result;
    result.complete = run.complete();
    run.take_blocks([&](auto&& block) { result.cells += block.cells; });
    return result;
}

}  // namespace

Found find_cells(const Problem& problem, Method method, const RunOptions& options) {
    if (method == Method::programs) return find_by<LpWalk>(problem, options);
    return with_enough_facets([&]<int Words>() { return find_by<ListWalk<Words>>(problem, options); });
}

void put_together(Found& found, const Problem& problem, const RunOptions& options) {
    if (!found.in_one_block) {
        found.cells = joined(std::move(found.blocks), options.threads);
        if (options.known) {
            auto [cells, left_out] = options.known->with(found.cells, options.max_cells);
            found.complete = found.complete && !left_out;
            found.cells = std::move(cells);
        } else if (options.max_cells >= 0 && found.cells.cells > options.max_cells) {
            found.complete = false;
            found.cells.truncate(options.max_cells, problem.dim);
        }
        found.in_one_block = true;
    }
    pair_facets(found.cells, problem.gates, found.complete, options);
}

Counted count_cells(const Problem& problem, Method method, const RunOptions& options) {
    if (method == Method::programs) return count_by<LpCountWalk>(problem, options);
    return with_enough_facets([&]<int Words>() { return count_by<CountWalk<Words>>(problem, options); });
}

namespace {

// Visit every finished cell below the root, in tree order.
template <int Words, class Visit>
void visit_all(CellWalk<Words>& walk, Visit visit) {
    std::vector<std::unique_ptr<Cell<Words>>> stack;
    stack.push_back(walk.root());
    while (!stack.empty()) {
        auto cell = std::move(stack.back());
        stack.pop_back();
        while (auto on = walk.advance(*cell)) stack.push_back(std::move(on));
        visit(*cell);
        walk.recycle(std::move(cell));
    }
}

// Cells that are walked to together. What is found is the same whatever the time, but its last digits may depend on
// which cells are looked at together: so their number is fixed.
constexpr std::int64_t cells_together = 1 << 12;

// Walk to the selected cells only and visit them in the selection's order.
template <int Words, class Visit>
void visit_selected(const Problem& problem, const Selection& selection, const StopSignal& stop, Visit visit) {
    if (selection.count == 0) return;
    CellWalk<Words> walk(problem, stop, {.selection = &selection, .hand_out = true});
    visit_all(walk, [&](Cell<Words>& cell) {
        stop.check();
        for (int gate = 0; gate < problem.gates; ++gate)
            if (selection.on(cell.wanted_first, gate) != cell.Path::on(gate))
                throw Contradiction("a pattern that was asked for is no cell of this network");
        visit(cell);
    });
}

// Part after part of a selection, on threads: `look(part, stop)` makes a block of each, and they come in one.
template <class Block, class Look>
Block look_at_parts(const Selection& selection, const LookOptions& options, Look look) {
    const std::int64_t parts = (selection.count + cells_together - 1) / cells_together;
    std::vector<Block> blocks(parts);
    in_parts(options.threads, parts, options.still_wanted, [&](std::int64_t part, const StopSignal& stop) {
        Selection some = selection;
        some.patterns += part * cells_together * selection.stride;
        some.count = std::min(cells_together, selection.count - part * cells_together);
        blocks[part] = look(some, stop);
    });
    Block all;
    for (Block& block : blocks) all.append(std::move(block));
    return all;
}

}  // namespace

GeneratorBlock trace(const Problem& problem, const Selection& selection, const LookOptions& options) {
    return look_at_parts<GeneratorBlock>(selection, options, [&](const Selection& some, const StopSignal& stop) {
        return with_enough_facets([&]<int Words>() {
            GeneratorBlock block;
            CellWriter<Words> writer(problem);
            visit_selected<Words>(problem, some, stop, [&](Cell<Words>& cell) { writer.emit_generators(cell, block); });
            return block;
        });
    });
}

MeasureBlock measure_selected(const Problem& problem, const Selection& selection, bool covariance,
                              const LookOptions& options) {
    return look_at_parts<MeasureBlock>(selection, options, [&](const Selection& some, const StopSignal& stop) {
        return with_enough_facets([&]<int Words>() {
            MeasureBlock found = MeasureWalk<Words>(problem, some, false, stop)();
            // The other numbers are the same, whatever else is asked for.
            if (covariance) found.covariances = MeasureWalk<Words>(problem, some, true, stop)().covariances;
            return found;
        });
    });
}

std::vector<std::int64_t> count_faces(const Problem& problem, const RunOptions& options) {
    return with_enough_facets([&]<int Words>() {
        Run<FaceWalk<Words>> run(problem, options);
        run();
        FaceTally total;
        if (run.complete()) run.take_blocks([&](FaceTally&& tally) { total.add(std::move(tally)); });
        return total.f_vector();
    });
}

}  // namespace polyfold
