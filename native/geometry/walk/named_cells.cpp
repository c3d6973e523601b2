#include "geometry/walk/named_cells.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/base/errors.hpp"
#include "geometry/base/in_parts.hpp"
#include "geometry/cells/enough_facets.hpp"
#include "geometry/walk/cell_walk.hpp"

namespace polyfold {

namespace {

// Beyond a facet, by this part of the way there from the witness.
constexpr double share_beyond = 0x1p-3;

// A point inside a facet: the mean of its vertices, moved along its rays.
template <int Words>
void append_point_on(const Cell<Words>& cell, int slot, int dim, std::vector<double>& points) {
    std::vector<double> mean(dim, 0.0), drift(dim, 0.0);
    int vertices = 0;
    for (int v = 0; v < cell.size(); ++v) {
        if (!cell.facets_of[v].has(slot)) continue;
        const double* point = cell.point(v);
        const bool is_ray = cell.at_infinity(v);
        vertices += !is_ray;
        for (int k = 0; k < dim; ++k) (is_ray ? drift : mean)[k] += is_ray ? point[k] : point[k] / point[dim];
    }
    double length = 1;
    for (double& x : mean) {
        x /= vertices;
        length = std::max(length, std::abs(x));
    }
    for (int k = 0; k < dim; ++k) points.push_back(mean[k] + length * drift[k]);
}

// The slots of facets that gates hold, in the order in which they are written.
template <int Words>
std::vector<int> gate_slots(const Cell<Words>& cell, int gates) {
    std::vector<int> slots;
    cell.facets.for_each([&](int slot) {
        if (cell.slots[slot].wall < gates) slots.push_back(slot);
    });
    std::sort(slots.begin(), slots.end(), [&](int a, int b) { return cell.slots[a].wall < cell.slots[b].wall; });
    return slots;
}

// As far beyond points of facets, seen from the witness.
std::vector<double> points_beyond(const std::vector<double>& on, const double* witness, int dim) {
    std::vector<double> beyond = on;
    for (std::size_t i = 0; i < on.size(); ++i) beyond[i] += share_beyond * (on[i] - witness[i % dim]);
    return beyond;
}

// Where the ways from the witness to points beyond rows pass these.
std::vector<double> points_on(const LpCell& cell, const NamedCell& found, int gates, int dim) {
    std::vector<double> on(found.beyond.size()), here(padded(dim + 1), 0.0), there = here;
    here[dim] = there[dim] = 1.0;
    std::copy_n(found.cell.witnesses.data(), dim, here.begin());
    std::size_t from = 0;
    for (const std::int32_t wall : found.cell.facet_wall) {
        if (wall >= gates) continue;
        const auto row =
            std::find_if(cell.rows.begin(), cell.rows.end(), [&](const auto& r) { return r.wall == wall; });
        const double* form = cell.forms[static_cast<int>(row - cell.rows.begin())];
        std::copy_n(found.beyond.data() + from, dim, there.begin());
        const double inside = dot(form, here.data(), padded(dim + 1)),
                     outside = dot(form, there.data(), padded(dim + 1));
        const double share = inside / (inside - outside);
        for (int k = 0; k < dim; ++k) on[from + k] = here[k] + share * (there[k] - here[k]);
        from += dim;
    }
    return on;
}

// Whether what is behind a facet differs by its own gate alone.
bool is_plain(const CellBlock& cell, const FaceKey& vanishing) {
    return cell.shared.size() == 0 && vanishing == FaceKey{};
}

}  // namespace

NamedCells::NamedCells(const Problem& problem, bool by_programs, const std::function<bool()>& still_wanted)
    : problem_(problem), from_(padded(problem.dim + 1), 0.0), to_(from_) {
    from_[problem.dim] = to_[problem.dim] = 1.0;
    if (!by_programs) return;
    watch(still_wanted, [&] {
        programs_.emplace(problem_, stop_);
        root_ = programs_->root();
    });
}

// In another thread, while this one asks.
void NamedCells::watch(const std::function<bool()>& still_wanted, const std::function<void()>& work) {
    const auto asked = [&] {
        if (!still_wanted()) stop_.raise();
        return !stop_.raised();
    };
    in_parts(1, 1, asked, [&](std::int64_t, const StopSignal&) { work(); });
    stop_.check();
}

std::optional<NamedCell> NamedCells::look_at(const std::uint8_t* pattern, const double* from, const double* to,
                                             const std::function<bool()>& still_wanted) {
    std::copy_n(from, problem_.dim, from_.begin());
    std::copy_n(to, problem_.dim, to_.begin());
    std::optional<NamedCell> found;
    watch(still_wanted, [&] { found = programs_ ? by_programs(pattern) : by_generators(pattern); });
    return found;
}

std::optional<NamedCell> NamedCells::by_programs(const std::uint8_t* pattern) {
    auto cell = programs_->named(*root_, pattern, from_.data(), to_.data());
    if (!cell) return {};
    std::optional<NamedCell> found(std::in_place);
    if (programs_->emit_named(*cell, found->cell, found->beyond) && is_plain(found->cell, {}))
        found->on = points_on(*cell, *found, problem_.gates, problem_.dim);
    else
        found.reset();
    programs_->recycle(std::move(cell));
    return found;
}

std::optional<NamedCell> NamedCells::by_generators(const std::uint8_t* pattern) const {
    const Selection selection{pattern, 1, (problem_.gates + 7) / 8};
    return with_enough_facets([&]<int Words>() -> std::optional<NamedCell> {
        CellWalk<Words> walk(problem_, stop_, {.selection = &selection});
        const auto cell = walk.root();
        while (walk.advance(*cell)) {
        }
        for (int gate = 0; gate < problem_.gates; ++gate)
            if (selection.on(0, gate) != cell->Path::on(gate))
                throw Contradiction("a pattern that a neighbour led to is no cell of this network");
        std::optional<NamedCell> found(std::in_place);
        walk.emit(*cell, found->cell);
        if (!is_plain(found->cell, cell->vanishing_key)) return {};
        for (const int slot : gate_slots(*cell, problem_.gates)) append_point_on(*cell, slot, problem_.dim, found->on);
        found->beyond = points_beyond(found->on, found->cell.witnesses.data(), problem_.dim);
        return found;
    });
}

}  // namespace polyfold
