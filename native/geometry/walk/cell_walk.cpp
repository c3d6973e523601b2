#include "geometry/walk/cell_walk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/base/errors.hpp"
#include "geometry/base/is_free.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_generators = 1 << 16;
constexpr std::size_t worth_searching = 16;  // generators; fewer are looked at as quickly one by one

}  // namespace

template <int Words>
CellWalk<Words>::CellWalk(const Problem& problem, const StopSignal& stop, const WalkOptions& options)
    : problem_(problem),
      stop_(stop),
      selection_(options.selection),
      keep_touched_(options.keep_touched),
      end_(options.stages < 0 ? static_cast<int>(problem.stages.size()) : options.stages),
      dimensions_(problem.dim + 1),
      crossing_(problem, options.hand_out),
      writer_(problem),
      lookout_(problem),
      opening_(problem, stop, options.keep_touched, crossing_),
      maps_(problem.stages.size()) {}

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
    opening_.open(*cell, &start, nullptr);
    while (cell->row < cell->frame->count()) insert(*cell);
    enter_next_stage(*cell);
    return cell;
}

template <int Words>
auto CellWalk<Words>::advance(Cell<Words>& cell) -> CellPointer {
    if (cell.stage < end_) cell.frame->truncate(cell.made);
    while (cell.stage < end_) {
        take_rows(cell);
        const bool looked_at = cell.lines.empty() && problem_.dim > 1;
        // The first row of a frame cuts the cell that it was made for.
        if (cell.row == cell.frame->count() || (looked_at && cell.row > 0 && !opening_.find_next_cut(cell))) {
            enter_next_stage(cell);
            continue;
        }
        if (CellPointer on = insert(cell)) return on;
    }
    return nullptr;
}

template <int Words>
auto CellWalk<Words>::advance_by_one_row(Cell<Words>& cell) -> CellPointer {
    cell.frame->truncate(cell.made);
    if (take_rows(cell)) return nullptr;
    if (cell.row == cell.frame->count()) {
        enter_next_stage(cell);
        return nullptr;
    }
    CellPointer on = insert(cell);
    if (on) {
        opening_.narrow(cell);
        opening_.narrow(*on);
    }
    return on;
}

// ---- stages

template <int Words>
void CellWalk<Words>::enter_next_stage(Cell<Words>& cell) {
    const std::shared_ptr<Frame> before = cell.frame;
    cell.next = 0;
    if (++cell.stage == static_cast<int>(problem_.stages.size())) return;
    const std::shared_ptr<const LineOrder> order = std::exchange(cell.order, nullptr);
    cell.rows = Cell<Words>::Rows::all;
    const Outlook* ahead = order ? nullptr : &before->ahead;
    if (order) {
        forms_ = order->above();
        cell.map->add_gates_to(forms_, order->rows().rows, cell.pattern);
    } else {
        if (!ahead->known) lookout_.look(*before, *cell.map, cell.pattern);
        lookout_.put_forms(*before, *cell.map, cell.pattern, forms_);
    }
    const std::shared_ptr<StageMap> map = fresh_map(cell.stage);
    if (ahead && ahead->only_open) {
        map->refill(std::move(cell.map), cell.pattern, ahead->open, forms_);
    } else {
        map->refill(std::move(cell.map), cell.pattern, forms_);
    }
    cell.map = map;
    opening_.open(cell, before.get(), ahead && ahead->judged ? ahead : nullptr);
}

template <int Words>
std::shared_ptr<StageMap> CellWalk<Words>::fresh_map(int stage) {
    // Free maps of later stages may still hold this stage's last one.
    for (std::size_t later = maps_.size() - 1; later > static_cast<std::size_t>(stage); --later)
        if (maps_[later] && is_free(maps_[later])) maps_[later]->forget_below();
    std::shared_ptr<StageMap>& last = maps_[stage];
    if (!last || !is_free(last)) last = std::make_shared<StageMap>(problem_, stage);
    return last;
}

// ---- the order along a line

// See to it that the frame has the row that comes next. Returns whether it now has the last few rows, all of them.
template <int Words>
bool CellWalk<Words>::take_rows(Cell<Words>& cell) {
    using Rows = typename Cell<Words>::Rows;
    if (cell.rows == Rows::all && problem_.dim == 1 && cell.stage > 0 && cell.lines.empty() &&
        cell.frame->count() - cell.row > few_rows)
        put_in_order(cell);
    if (cell.rows != Rows::none_yet) return false;
    stop_.check();
    if (cell.order->few_left(cell.part)) {
        cell.rows = Rows::last_few;
        columns_ = cell.order->columns_left(cell.part);
        cell.order->write_pattern(cell.part, cell.pattern);
    } else {
        cell.rows = Rows::next;
        columns_.assign(1, cell.order->cutting(cell.part));
    }
    const std::shared_ptr<Frame> before = cell.frame, frame = opening_.fresh_frame(cell.stage);
    frame->keep(cell.order->rows(), columns_, dimensions_);
    take_generators(cell, *before, *frame);
    for (int v = 0; v < cell.size(); ++v) crossing_.evaluate(*frame, cell, v, cell.facets_of[v], 0);
    cell.frame = frame;
    cell.row = 0;
    cell.made = cell.frame->entry = cell.size();
    return cell.rows == Rows::last_few;
}

template <int Words>
void CellWalk<Words>::put_in_order(Cell<Words>& cell) {
    ColumnsByPoint columns = settle_by_point(cell);
    const bool any_above = cell.stage + 1 < static_cast<int>(problem_.stages.size());
    const RowTable& rows = *cell.frame;
    cell.order = std::make_shared<const LineOrder>(
        rows, std::move(columns), cell.pattern, problem_.stages[cell.stage].first_wall,
        any_above ? cell.map->forms_above_without(rows.rows, cell.pattern) : Forms());
    cell.part = cell.order->whole();
    cell.rows = Cell<Words>::Rows::none_yet;
    cell.pattern.clear();
}

// Decide the rows that are left and do not cut the cell, but for those of the last few that touch it, which the walk
// looks at in their turn. The others are what is listed.
template <int Words>
ColumnsByPoint CellWalk<Words>::settle_by_point(Cell<Words>& cell) {
    const Frame& frame = *cell.frame;
    const auto sign = [&](int c, int v) { return frame.sign_at(cell.generators[v], c); };
    const auto cuts = [&](int c) { return sign(c, 0) * sign(c, 1) < 0; };
    std::vector<int> cutting, rows;
    for (int c = cell.row; c < frame.count(); ++c)
        if (cuts(c)) {
            cutting.push_back(c);
            rows.push_back(frame.rows[c]);
        }
    // A row that is on at one end and off at the other tells where infinity is.
    const bool turned = !cutting.empty() && cell.map->exact_row(rows[0]).numerators[0].sign() * sign(cutting[0], 0) > 0;
    const int ends[] = {turned ? 1 : 0, turned ? 0 : 1};

    ColumnsByPoint found;
    found.rising.assign(frame.count(), 0);
    for (int c = cell.row; c < frame.count(); ++c) found.rising[c] = sign(c, ends[0]) < 0 || sign(c, ends[1]) > 0;
    const auto add_touching = [&](int end) {
        for (int c = frame.count() - few_rows; c < frame.count(); ++c)
            if (sign(c, end) == zero && sign(c, 1 - end) != zero) found.columns.push_back(c);
        found.start.push_back(static_cast<int>(found.columns.size()));
    };
    add_touching(ends[0]);
    const RootOrder roots = roots_of_rows(*cell.map, rows, stop_);
    const int before = static_cast<int>(found.columns.size());
    for (const int form : roots.forms) found.columns.push_back(cutting[form]);
    for (int root = 0; root < roots.roots(); ++root) found.start.push_back(before + roots.start[root + 1]);
    add_touching(ends[1]);

    for (int c = cell.row; c < frame.count(); ++c) {
        const bool vanishes = sign(c, 0) == zero && sign(c, 1) == zero;
        zeros_.clear();
        for (int v = 0; v < cell.size(); ++v)
            if (sign(c, v) == zero) zeros_.push_back(v);
        if (cuts(c) || (!vanishes && !zeros_.empty() && c >= frame.count() - few_rows)) continue;
        opening_.settle_gate(cell, frame.rows[c], sign(c, 0) > 0 || sign(c, 1) > 0, sign(c, 0) < 0 || sign(c, 1) < 0,
                             zeros_);
    }
    return found;
}

// Both sides of a cut know their parts, and the rows that vanish at the new generator, their last one.
template <int Words>
void CellWalk<Words>::part_in_order(Cell<Words>& off, Cell<Words>& on) {
    const std::shared_ptr<const LineOrder> order = off.order;
    const LineOrder::Part part = off.part;
    const int first_wall = problem_.stages[off.stage].first_wall;
    for (Cell<Words>* side : {&off, &on}) {
        side->part = order->side(part, side == &on);
        side->rows = Cell<Words>::Rows::none_yet;
        zeros_.assign(1, side->size() - 1);
        for (const int c : order->meeting(part))
            opening_.record_touching(*side, first_wall + order->rows().rows[c], zeros_);
    }
}

// ---- inserting a wall

// Insert the next row. Returns the on side if the cell was cut and both sides are wanted; `cell` is then the off side.
template <int Words>
auto CellWalk<Words>::insert(Cell<Words>& cell) -> CellPointer {
    const Frame& frame = *cell.frame;
    cell.next = frame.rows[cell.row];
    for (std::size_t l = 0; l < cell.lines.size(); ++l)
        if (const int sign = opening_.line_sign(cell, cell.lines[l], cell.next))
            return cut_line(cell, new_slot(cell), l, sign);

    const int size = cell.size();
    positives_.resize(size);
    negatives_.resize(size);
    int positives = 0, negatives = 0;
    const std::int8_t* sign = frame.signs(0) + cell.row;
    const std::int32_t* generator = cell.generators.data();
    int *above = positives_.data(), *below = negatives_.data();
    const std::ptrdiff_t rows = frame.count();
    for (int v = 0; v < size; ++v) {  // without branches: signs are hard to foresee
        const int side = sign[generator[v] * rows];
        above[positives] = below[negatives] = v;
        positives += side > 0;
        negatives += side < 0;
    }
    positives_.resize(positives);
    negatives_.resize(negatives);
    if (!positives_.empty() && !negatives_.empty()) return cut(cell, new_slot(cell));

    std::vector<int> zeros;
    if (positives_.size() + negatives_.size() < static_cast<std::size_t>(cell.size()))
        for (int v = 0; v < cell.size(); ++v)
            if (frame.sign_at(cell.generators[v], cell.row) == zero) zeros.push_back(v);
    if (cell.stage == 0 && !negatives_.empty())
        throw FlatDomain(std::all_of(zeros.begin(), zeros.end(), [&](int v) { return cell.at_infinity(v); }));
    opening_.settle_gate(cell, cell.next, !positives_.empty(), !negatives_.empty(), zeros);
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

// ---- cutting

// Afterwards `cell` is the off side, which takes the cell's own memory; the on side is returned.
template <int Words>
auto CellWalk<Words>::cut(Cell<Words>& cell, int slot) -> CellPointer {
    cell.slots[slot] = {cell.map.get(), cell.next, cell.wall(problem_)};
    CellPointer high = fresh();
    high->inherit(cell);
    if (cell.stage > 0 && !cell.is_in_order()) high->set_gate(cell.wall(problem_), true);

    // A facet goes on in the side where it has a generator that is not on the cut.
    Mask<Words> low_facets, high_facets, cutting;
    cutting.set(slot);
    for (const int v : negatives_) low_facets = low_facets | cell.facets_of[v];
    for (const int v : positives_) high_facets = high_facets | cell.facets_of[v];
    high->facets = high_facets | cutting;
    const auto take = [&](const std::vector<int>& side, std::vector<std::int32_t>& generators,
                          std::vector<Mask<Words>>& masks) {
        const std::size_t count = side.size();
        generators.resize(count);
        masks.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            generators[i] = cell.generators[side[i]];
            masks[i] = cell.facets_of[side[i]];
        }
    };
    take(negatives_, low_generators_, low_masks_);
    take(positives_, high->generators, high->facets_of);
    const auto add_low = [&](int g, const Mask<Words>& mask) {
        low_generators_.push_back(g);
        low_masks_.push_back(mask);
    };
    Frame& frame = *cell.frame;
    if (positives_.size() + negatives_.size() < static_cast<std::size_t>(cell.size()))
        for (int v = 0; v < cell.size(); ++v) {
            const int g = cell.generators[v];
            if (frame.sign_at(g, cell.row) != zero) continue;
            if (keep_touched_)
                for (const Mask<Words>& facets : {low_facets | cutting, high_facets | cutting})
                    frame.generators.touched[g] = walls_lost(cell, v, facets);
            add_low(g, (cell.facets_of[v] & low_facets) | cutting);
            high->add(g, (cell.facets_of[v] & high_facets) | cutting);
        }

    // The double-description rule: a generator on either side and an edge between them give one on the cut, which lies
    // on the facets of the edge and on the cut.
    const int edge = problem_.dim - 1 - static_cast<int>(cell.lines.size());
    const auto cross = [&](int p, int n) {
        const Mask<Words> walls = (cell.facets_of[p] & cell.facets_of[n]) | cutting;
        const int g = crossing_.between(frame, cell, cell.generators[p], cell.generators[n], cell.row, walls);
        add_low(g, walls);
        high->add(g, walls);
    };
    const bool searched = negatives_.size() >= worth_searching;
    if (searched) {
        negative_edges_.clear(negatives_.size(), cell.slots.size());
        for (std::size_t i = 0; i < negatives_.size(); ++i)
            cell.facets_of[negatives_[i]].for_each([&](int slot) { negative_edges_.put(i, slot); });
    }
    negative_masks_.assign(low_masks_.begin(), low_masks_.begin() + static_cast<std::ptrdiff_t>(negatives_.size()));
    const Mask<Words>* other_masks = negative_masks_.data();
    const std::size_t others = negative_masks_.size();
    for (const int p : positives_) {
        stop_.check();
        const Mask<Words> mask = cell.facets_of[p];
        const bool simple = mask.size() == edge + 1;
        if (simple && searched) {
            negative_edges_.for_each_beside([&](auto visit) { mask.for_each(visit); }, 0,
                                            [&](std::size_t i) { cross(p, negatives_[i]); });
            continue;
        }
        for (std::size_t i = 0; i < others; ++i) {
            const Mask<Words> common = mask & other_masks[i];
            if (common.size() < edge) continue;
            const int n = negatives_[i];
            bool adjacent = simple || other_masks[i].size() == edge + 1;
            if (!adjacent) {
                adjacent = true;
                for (int other = 0; other < cell.size() && adjacent; ++other)
                    adjacent = other == p || other == n || !cell.facets_of[other].contains(common);
            }
            if (adjacent) cross(p, n);
        }
    }
    if (std::max(low_generators_.size(), high->generators.size()) > most_generators)
        throw TooLarge("a cell has more than 65,536 vertices and rays: choose a smaller domain or a box");
    cell.facets = low_facets | cutting;
    std::swap(cell.generators, low_generators_);
    std::swap(cell.facets_of, low_masks_);
    if (!cell.shared.empty()) {
        std::erase_if(cell.shared, [&](const auto& item) { return !low_facets.has(item.first); });
        std::erase_if(high->shared, [&](const auto& item) { return !high_facets.has(item.first); });
    }
    if (cell.is_in_order()) part_in_order(cell, *high);
    return choose_sides(cell, std::move(high));
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
    const bool wrong_side = !(std::abs(along) > 0) || (along > 0) != (sign > 0);
    // Slide a point along the line onto the wall; false if floats cannot say where that is.
    const auto slide = [&](double* point) {
        const double factor = value_on(point) / along;
        bool finite = true;
        for (int k = 0; k < dimensions_; ++k) {
            point[k] -= factor * line.coordinates[k];
            finite = finite && std::isfinite(point[k]);
        }
        return finite && !wrong_side;
    };

    // The low side gets everything first; the high side differs in one ray.
    Cell<Words>& side = *low;
    side.slots[slot] = {cell.map.get(), cell.next, cell.wall(problem_)};
    side.facets.set(slot);
    side.lines.erase(side.lines.begin() + static_cast<std::ptrdiff_t>(l));
    for (auto& other : side.lines) {
        stop_.check();
        const bool rough = !slide(other.coordinates.data());
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
        const bool rough = !slide(point_.data());
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
    std::swap(cell, *low);
    recycle(std::move(low));
    return choose_sides(cell, std::move(high));
}

// Go on with the off side, `cell`, and return the on side; where only one is wanted, with that one.
template <int Words>
auto CellWalk<Words>::choose_sides(Cell<Words>& cell, CellPointer on) -> CellPointer {
    const bool is_gate = cell.stage > 0;
    bool keep_off = is_gate, keep_on = true;
    for (Cell<Words>* side : {&cell, on.get()}) {
        ++side->row;
        side->made = side->frame->generators.size();
    }
    if (is_gate && selection_) {
        cell.wanted_last = on->wanted_first =
            selection_->first_on(cell.wanted_first, cell.wanted_last, cell.wall(problem_));
        keep_off = cell.wanted_first < cell.wanted_last;
        keep_on = on->wanted_first < on->wanted_last;
    }
    if (keep_off && keep_on) return on;
    if (!keep_off) std::swap(cell, *on);
    recycle(std::move(on));
    return nullptr;
}

template class CellWalk<1>;
template class CellWalk<4>;
template class CellWalk<16>;
template class CellWalk<64>;

}  // namespace polyfold
