#include "geometry/unfold.hpp"

#include <limits>

#include "geometry/base/errors.hpp"
#include "geometry/cells/enough_facets.hpp"
#include "geometry/count/count_walk.hpp"
#include "geometry/faces/face_count.hpp"
#include "geometry/list/list_walk.hpp"
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
        for (CellBlock& block : found.blocks) found.cells.append(std::move(block));
        found.blocks.clear();
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

// Walk to the selected cells only and visit them in the selection's order.
template <int Words, class Visit>
void visit_selected(const Problem& problem, const Selection& selection, Visit visit) {
    if (selection.count == 0) return;
    const StopSignal never;
    CellWalk<Words> walk(problem, never, {.selection = &selection, .hand_out = true});
    visit_all(walk, [&](Cell<Words>& cell) {
        for (int gate = 0; gate < problem.gates; ++gate)
            if (selection.on(cell.wanted_first, gate) != cell.Path::on(gate))
                throw Contradiction("a pattern that was asked for is no cell of this network");
        visit(cell);
    });
}

}  // namespace

GeneratorBlock trace(const Problem& problem, const Selection& selection) {
    return with_enough_facets([&]<int Words>() {
        GeneratorBlock block;
        CellWriter<Words> writer(problem);
        visit_selected<Words>(problem, selection, [&](Cell<Words>& cell) { writer.emit_generators(cell, block); });
        return block;
    });
}

std::vector<Measure> measure_selected(const Problem& problem, const Selection& selection, bool covariance) {
    return with_enough_facets([&]<int Words>() {
        std::vector<Measure> measures;
        const Equations<Words> equations(problem);
        visit_selected<Words>(problem, selection, [&](Cell<Words>& cell) {
            if (!is_bounded(cell)) {
                measures.push_back({std::numeric_limits<double>::infinity(), {}, {}});
                return;
            }
            const auto exactly = [&](int v) -> const ExactVector& {
                return equations.exact(cell, *cell.frame, cell.generators[v], cell.facets_of[v]);
            };
            measures.push_back(measure<Words>(vertex_places(cell, equations, problem.dim), cell.facets_of, problem.dim,
                                              covariance, exactly));
        });
        return measures;
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
