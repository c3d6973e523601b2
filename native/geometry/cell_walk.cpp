#include "geometry/cell_walk.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_generators = 1 << 16;

}  // namespace

template <int Words>
CellWalk<Words>::CellWalk(const Problem& problem, const StopSignal& stop, const WalkOptions& options)
    : problem_(problem),
      stop_(stop),
      selection_(options.selection),
      keep_touched_(options.keep_touched),
      end_(options.stages < 0 ? static_cast<int>(problem.stages.size()) : options.stages),
      dimensions_(problem.dim + 1),
      crossing_(problem),
      writer_(problem) {}

// Before any wall: the point (0, 1), a line along every axis, and infinity (t >= 0) as the only facet.
template <int Words>
auto CellWalk<Words>::root() -> CellPointer {
    auto cell = std::make_unique<Cell<Words>>();
    const int d = problem_.dim;
    for (int k = 0; k < d; ++k) {
        auto& line = cell->lines.emplace_back();
        line.coordinates.assign(dimensions_, 0.0);
        line.coordinates[k] = 1.0;
        line.pivot = k;
    }
    cell->start(problem_);
    cell->slots.resize(1);
    cell->slots[0] = {cell->map.get(), problem_.rows(), problem_.infinity_wall()};
    cell->facets.set(0);
    if (selection_) cell->wanted_last = selection_->count;

    Frame start;
    start.generators.dimensions = dimensions_;
    std::vector<double> origin(dimensions_, 0.0);
    origin[d] = 1.0;
    start.generators.add(origin.data(), 0.0, false, nullptr, nullptr);
    cell->add(0, {});
    open_frame(*cell, &start);
    while (cell->row < cell->frame->count()) insert(*cell);
    enter_next_stage(*cell);
    return cell;
}

template <int Words>
auto CellWalk<Words>::advance(Cell<Words>& cell) -> CellPointer {
    if (cell.stage < end_) cell.frame->truncate(cell.made);
    while (cell.stage < end_) {
        if (cell.row == cell.frame->count()) {
            enter_next_stage(cell);
            continue;
        }
        if (CellPointer on = insert(cell)) return on;
    }
    return nullptr;
}

// ---- stages

template <int Words>
void CellWalk<Words>::enter_next_stage(Cell<Words>& cell) {
    const std::shared_ptr<Frame> before = cell.frame;
    cell.next = 0;
    if (++cell.stage == static_cast<int>(problem_.stages.size())) return;
    if (!before->above_known) {
        before->above = cell.map->forms_above_without(before->rows, cell.pattern);
        before->above_known = true;
    }
    Forms forms = before->above;
    const int first = problem_.stages[cell.stage - 1].first_wall;
    if (cell.stage > 1)
        for (const int row : before->rows) cell.map->add_gate_to(forms, row, cell.on(first + row));
    cell.map =
        std::make_shared<const StageMap>(problem_, cell.stage, std::move(cell.map), cell.pattern, std::move(forms));
    open_frame(cell, before.get());
}

// Look at all rows of the stage at once. Those that do not cut the cell cut none of its parts either, and are decided
// here.
template <int Words>
void CellWalk<Words>::open_frame(Cell<Words>& cell, const Frame* before) {
    auto frame = std::make_shared<Frame>();
    frame->generators.dimensions = dimensions_;
    for (int& g : cell.generators) g = frame->generators.copy(before->generators, g);
    cell.frame = frame;
    cell.row = 0;

    const StageMap& map = *cell.map;
    const bool is_domain = cell.stage == 0;
    const int count = cell.size(), width = is_domain ? problem_.rows() : map.width(), stride = map.width();
    values_.assign(static_cast<std::size_t>(count) * width, 0.0);
    signs_.resize(static_cast<std::size_t>(count) * width);
    for (int v = 0; v < count; ++v) {
        stop_.check();
        double* value = values_.data() + v * width;
        const double* point = cell.point(v);
        for (int k = 0; k < dimensions_; ++k) {
            const double* entries = map.entries() + k * stride;
            const double x = point[k];
            if (x != 0.0)
                for (int i = 0; i < width; ++i) value[i] += entries[i] * x;
        }
        const double error = frame->generators.error[cell.generators[v]];
        for (int i = 0; i < width; ++i) {
            const double doubt =
                (map.norms()[i] * (rounding::bound(dimensions_ + 2) + error) + map.errors()[i] * dimensions_) *
                    (1 + 0x1p-20) +
                rounding::tiny;
            signs_[v * width + i] = std::abs(value[i]) > doubt ? (value[i] > 0 ? positive : negative) : zero;
        }
        for (int i = 0; i < width; ++i) {
            if (signs_[v * width + i] != zero) continue;
            signs_[v * width + i] = static_cast<signed char>(
                crossing_.doubtful_sign(*frame, cell, cell.generators[v], cell.facets_of[v], i, value[i]));
        }
    }
    std::vector<int> zeros;
    for (int i = 0; i < width; ++i) {
        stop_.check();
        bool cuts = is_domain;  // few, and all to be looked at one by one
        for (auto& line : cell.lines) cuts = cuts || line_sign(cell, line, i) != 0;
        int positives = 0, negatives = 0;
        zeros.clear();
        for (int v = 0; v < count; ++v) {
            const int sign = signs_[v * width + i];
            positives += sign > 0;
            negatives += sign < 0;
            if (sign == 0) zeros.push_back(v);
        }
        if (cuts || (positives && negatives)) {
            frame->rows.push_back(i);
        } else {
            settle_gate(cell, i, positives, negatives, zeros);
        }
    }
    frame->list_rows(map, dimensions_);
    const int n = frame->count();
    frame->value.resize(count * n);
    frame->sign.resize(count * n);
    for (int v = 0; v < count; ++v)
        for (int c = 0; c < n; ++c) {
            const int g = cell.generators[v];
            frame->value[g * n + c] = values_[v * width + frame->rows[c]];
            frame->sign[g * n + c] = signs_[v * width + frame->rows[c]];
        }
    cell.made = frame->generators.size();
}

// A row that has one sign on the cell, or none.
template <int Words>
void CellWalk<Words>::settle_gate(Cell<Words>& cell, int row, int positives, int negatives,
                                  const std::vector<int>& zeros) {
    const int wall = problem_.stages[cell.stage].first_wall + row;
    if (positives + negatives > 0 && !zeros.empty()) record_touching(cell, wall, zeros);
    if (cell.stage == 0) return;
    if (positives + negatives == 0) cell.vanishing_key ^= key_of_gate_vanishing(wall);
    cell.set_gate(wall, positives > 0);
}

// The wall does not cut the cell but meets it in a face: if that is a facet, the facet lies on this wall too.
template <int Words>
void CellWalk<Words>::record_touching(Cell<Words>& cell, int wall, const std::vector<int>& zeros) {
    if (keep_touched_)
        for (const int v : zeros) {
            Walls& touched = cell.frame->generators.touched[cell.generators[v]];
            touched = with_wall(touched, wall);
        }
    if (static_cast<int>(zeros.size() + cell.lines.size()) < problem_.dim) return;
    Mask<Words> common = cell.facets;
    for (const int v : zeros) common = common & cell.facets_of[v];
    common.for_each([&](int slot) {
        std::size_t members = 0;
        for (const auto& mask : cell.facets_of) members += mask.has(slot);
        if (members == zeros.size()) cell.shared.emplace_back(slot, wall);
    });
}

// ---- inserting a wall

// Insert the next row. Returns the on side if the cell was cut and both sides are wanted; `cell` is then the off side.
template <int Words>
auto CellWalk<Words>::insert(Cell<Words>& cell) -> CellPointer {
    const Frame& frame = *cell.frame;
    cell.next = frame.rows[cell.row];
    for (std::size_t l = 0; l < cell.lines.size(); ++l)
        if (const int sign = line_sign(cell, cell.lines[l], cell.next)) return cut_line(cell, new_slot(cell), l, sign);

    positives_.clear();
    negatives_.clear();
    for (int v = 0; v < cell.size(); ++v) {
        const int sign = frame.sign_at(cell.generators[v], cell.row);
        if (sign > 0) positives_.push_back(v);
        if (sign < 0) negatives_.push_back(v);
    }
    if (!positives_.empty() && !negatives_.empty()) return cut(cell, new_slot(cell));

    std::vector<int> zeros;
    if (positives_.size() + negatives_.size() < static_cast<std::size_t>(cell.size()))
        for (int v = 0; v < cell.size(); ++v)
            if (frame.sign_at(cell.generators[v], cell.row) == zero) zeros.push_back(v);
    if (cell.stage == 0 && !negatives_.empty())
        throw FlatDomain(std::all_of(zeros.begin(), zeros.end(), [&](int v) { return cell.at_infinity(v); }));
    settle_gate(cell, cell.next, static_cast<int>(positives_.size()), static_cast<int>(negatives_.size()), zeros);
    ++cell.row;
    return nullptr;
}

template <int Words>
int CellWalk<Words>::new_slot(Cell<Words>& cell) {
    const int slot = cell.facets.first_free();
    if (slot < 0) throw TooManyFacets();
    if (slot >= static_cast<int>(cell.slots.size())) cell.slots.resize(slot + 1);
    return slot;
}

template <int Words>
int CellWalk<Words>::line_sign(Cell<Words>& cell, typename Cell<Words>::Line& line, int row) {
    const StageMap& map = *cell.map;
    double value = 0;
    for (int k = 0; k < dimensions_; ++k) value += map.entry(row, k) * line.coordinates[k];
    const int sign = crossing_.sign_of(map, row, line.coordinates.data(), line.error, value);
    if (sign <= 1) return sign;
    if (!line.exact) line.exact = crossing_.equations().solve(cell, cell.facets, line.pivot, true);
    return sign_of_product(map.exact_row(row), *line.exact);
}

// ---- cutting

template <int Words>
auto CellWalk<Words>::cut(Cell<Words>& cell, int slot) -> CellPointer {
    CellPointer low = fresh(), high = fresh();
    low->inherit(cell);
    high->inherit(cell);
    if (cell.stage > 0) high->set_gate(cell.wall(problem_), true);

    // A facet goes on in the side where it has a generator that is not on the cut.
    Mask<Words> low_facets, high_facets, cutting;
    cutting.set(slot);
    for (const int v : negatives_) low_facets = low_facets | cell.facets_of[v];
    for (const int v : positives_) high_facets = high_facets | cell.facets_of[v];
    for (Cell<Words>* side : {low.get(), high.get()}) {
        const Mask<Words> kept = side == low.get() ? low_facets : high_facets;
        side->facets = kept | cutting;
        side->slots[slot] = {cell.map.get(), cell.next, cell.wall(problem_)};
        std::erase_if(side->shared, [&](const auto& item) { return !kept.has(item.first); });
    }
    Frame& frame = *cell.frame;
    for (int v = 0; v < cell.size(); ++v) {
        const int g = cell.generators[v], sign = frame.sign_at(g, cell.row);
        if (sign < 0) low->add(g, cell.facets_of[v]);
        if (sign > 0) high->add(g, cell.facets_of[v]);
        if (sign != 0) continue;
        for (Cell<Words>* side : {low.get(), high.get()}) {
            if (keep_touched_) {
                Walls& touched = frame.generators.touched[g];
                touched = walls_lost(cell, v, side->facets);
            }
            side->add(g, (cell.facets_of[v] | cutting) & side->facets);
        }
    }

    // The double-description rule: a generator on either side and an edge between them give one on the cut.
    const int edge = problem_.dim - 1 - static_cast<int>(cell.lines.size());
    for (const int p : positives_) {
        stop_.check();
        const bool simple = cell.facets_of[p].size() == edge + 1;
        for (const int n : negatives_) {
            const Mask<Words> common = cell.facets_of[p] & cell.facets_of[n];
            if (common.size() < edge) continue;
            bool adjacent = simple || cell.facets_of[n].size() == edge + 1;
            if (!adjacent) {
                adjacent = true;
                for (int other = 0; other < cell.size() && adjacent; ++other)
                    adjacent = other == p || other == n || !cell.facets_of[other].contains(common);
            }
            if (adjacent) {
                // The facets of the new generator are those of the edge and the cut.
                Mask<Words> mask = common;
                mask.set(slot);
                const int g = crossing_.between(frame, *low, cell.generators[p], cell.generators[n], cell.row, mask);
                low->add(g, mask);
                high->add(g, mask);
            }
        }
    }
    if (std::max(low->size(), high->size()) > most_generators)
        throw TooLarge("a cell has more than 65,536 vertices and rays: choose a smaller domain or a box");
    return choose_sides(cell, std::move(low), std::move(high));
}

// What a generator touches once only `facets` are left: the facets that it loses are still walls through it.
template <int Words>
Walls CellWalk<Words>::walls_lost(const Cell<Words>& cell, int v, const Mask<Words>& facets) const {
    Walls walls = cell.frame->generators.touched[cell.generators[v]];
    cell.facets_of[v].for_each([&](int s) {
        if (facets.has(s) || cell.slots[s].wall == problem_.infinity_wall()) return;
        walls = with_wall(walls, cell.slots[s].wall);
        for (const auto& [slot, wall] : cell.shared)
            if (slot == s) walls = with_wall(walls, wall);
    });
    return walls;
}

// The wall crosses a line: slide every generator along the line onto the wall; the line itself becomes a ray of either
// side.
template <int Words>
auto CellWalk<Words>::cut_line(Cell<Words>& cell, int slot, std::size_t l, int sign) -> CellPointer {
    CellPointer low = fresh(), high = fresh();
    low->inherit(cell);
    const auto line = cell.lines[l];
    const StageMap& map = *cell.map;
    const auto value_on = [&](const double* point) {
        double value = 0;
        for (int k = 0; k < dimensions_; ++k) value += map.entry(cell.next, k) * point[k];
        return value;
    };
    const double along = value_on(line.coordinates.data());
    const bool rough = !(std::abs(along) > 0) || (along > 0) != (sign > 0);

    // The low side gets everything first; the high side differs in one ray.
    Cell<Words>& side = *low;
    side.slots[slot] = {cell.map.get(), cell.next, cell.wall(problem_)};
    side.facets.set(slot);
    side.lines.erase(side.lines.begin() + static_cast<std::ptrdiff_t>(l));
    for (auto& other : side.lines) {
        stop_.check();
        const double factor = value_on(other.coordinates.data()) / along;
        for (int k = 0; k < dimensions_; ++k) other.coordinates[k] -= factor * line.coordinates[k];
        auto settled = crossing_.equations().settle(side, side.facets, other.pivot, true, {rounding::unknown, rough},
                                                    other.coordinates.data());
        other.error = settled.error;
        other.exact = std::move(settled.exact);
    }
    Frame& frame = *cell.frame;
    for (int v = 0; v < cell.size(); ++v) {
        stop_.check();
        Mask<Words> mask = cell.facets_of[v];
        mask.set(slot);
        point_.assign(cell.point(v), cell.point(v) + dimensions_);
        const double factor = value_on(point_.data()) / along;
        for (int k = 0; k < dimensions_; ++k) point_[k] -= factor * line.coordinates[k];
        auto settled = crossing_.equations().settle(side, mask, Equations<Words>::no_line, cell.at_infinity(v),
                                                    {rounding::unknown, rough}, point_.data());
        const int g = frame.generators.add(point_.data(), settled.error, cell.at_infinity(v), std::move(settled.exact),
                                           frame.generators.touched[cell.generators[v]]);
        crossing_.evaluate(frame, side, g, mask, cell.row + 1);
        side.add(g, mask);
    }
    // Every wall so far contains the line.
    auto so_far = std::make_shared<std::vector<std::int32_t>>();
    if (keep_touched_) {
        const int gates = cell.stage > 0 ? cell.wall(problem_) : 0, rows = cell.stage > 0 ? problem_.rows() : cell.next;
        for (int wall = 0; wall < gates; ++wall) so_far->push_back(wall);
        for (int row = 0; row < rows; ++row) so_far->push_back(problem_.gates + row);
    }
    *high = side;
    if (cell.stage > 0) high->set_gate(cell.wall(problem_), true);
    for (Cell<Words>* target : {low.get(), high.get()}) {
        const int wanted = target == high.get() ? sign : -sign;
        std::shared_ptr<const ExactVector> exact = line.exact;
        std::vector<double> ray = line.coordinates;
        if (wanted < 0) {
            for (double& x : ray) x = -x;
            if (exact) {
                auto flipped = std::make_shared<ExactVector>(*exact);
                for (auto& n : flipped->numerators) n.negate();
                exact = flipped;
            }
        }
        const int g = frame.generators.add(ray.data(), line.error, true, std::move(exact), so_far);
        target->add(g, cell.facets);
    }
    for (Cell<Words>* target : {low.get(), high.get()})
        crossing_.evaluate(frame, *target, target->generators.back(), cell.facets, cell.row + 1);
    return choose_sides(cell, std::move(low), std::move(high));
}

// Go on with the off side in `cell` and return the on side; where only one is wanted, with that one.
template <int Words>
auto CellWalk<Words>::choose_sides(Cell<Words>& cell, CellPointer off, CellPointer on) -> CellPointer {
    const bool is_gate = cell.stage > 0;
    const int wall = cell.wall(problem_);
    bool keep_off = is_gate, keep_on = true;
    for (Cell<Words>* side : {off.get(), on.get()}) {
        ++side->row;
        side->made = cell.frame->generators.size();
    }
    if (is_gate && selection_) {
        off->wanted_last = on->wanted_first = selection_->first_on(cell.wanted_first, cell.wanted_last, wall);
        keep_off = off->wanted_first < off->wanted_last;
        keep_on = on->wanted_first < on->wanted_last;
    }
    if (!keep_off) {
        std::swap(cell, *on);
        recycle(std::move(on));
        recycle(std::move(off));
        return nullptr;
    }
    std::swap(cell, *off);
    recycle(std::move(off));
    if (keep_on) return on;
    recycle(std::move(on));
    return nullptr;
}

template class CellWalk<1>;
template class CellWalk<4>;
template class CellWalk<16>;
template class CellWalk<64>;

}  // namespace polyfold
