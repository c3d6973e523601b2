#include "geometry/cell_walk.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "geometry/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_generators = 1 << 16;

Walls with_wall(const Walls& walls, std::int32_t wall) {
    auto more =
        walls ? std::make_shared<std::vector<std::int32_t>>(*walls) : std::make_shared<std::vector<std::int32_t>>();
    more->insert(std::lower_bound(more->begin(), more->end(), wall), wall);
    return more;
}

Walls common_walls(const Walls& a, const Walls& b) {
    if (!a || !b) return nullptr;
    auto both = std::make_shared<std::vector<std::int32_t>>();
    std::set_intersection(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*both));
    return both;
}

// Scale by a power of two, which rounds nothing, so that the largest coordinate lies between a half and one.
void normalise(double* point, int size) {
    double largest = 0;
    for (int k = 0; k < size; ++k) largest = std::max(largest, std::abs(point[k]));
    if (!(largest > 0) || !std::isfinite(largest)) return;
    int exponent = 0;
    std::frexp(largest, &exponent);
    if (exponent == 0) return;
    for (int k = 0; k < size; ++k) point[k] = std::ldexp(point[k], -exponent);
}

// Round an exact point to floats, the largest coordinate between a half and one.
void round_to(const ExactVector& exact, double* point) {
    std::int64_t top = INT64_MIN;
    for (const auto& n : exact.numerators)
        if (!n.is_zero()) top = std::max(top, n.to_float().second);
    for (std::size_t k = 0; k < exact.numerators.size(); ++k) {
        const auto [mantissa, exponent] = exact.numerators[k].to_float();
        point[k] = exact.numerators[k].is_zero() || exponent - top < -1070
                       ? 0.0
                       : std::ldexp(mantissa, static_cast<int>(exponent - top));
    }
}

}  // namespace

template <int Words>
CellWalk<Words>::CellWalk(const Problem& problem, const Selection* selection, bool keep_touched)
    : problem_(problem),
      selection_(selection),
      keep_touched_(keep_touched),
      dimensions_(problem.dim + 1),
      bound_(problem.dim + 1) {}

template <int Words>
auto CellWalk<Words>::fresh() -> CellPointer {
    if (spare_.empty()) return std::make_unique<Cell<Words>>();
    CellPointer cell = std::move(spare_.back());
    spare_.pop_back();
    return cell;
}

// Before any wall: the point (0, 1), a line along every axis, and infinity (t >= 0) as the only facet.
template <int Words>
auto CellWalk<Words>::root() -> CellPointer {
    auto cell = std::make_unique<Cell<Words>>();
    const int d = problem_.dim;
    std::vector<double> unit(dimensions_, 0.0);
    unit[d] = 1.0;
    cell->add_generator(unit.data(), dimensions_, 0.0, false, {}, nullptr);
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

    for (; cell->next < problem_.rows(); ++cell->next) insert(*cell);
    cell->enter_next_stage(problem_);
    return cell;
}

template <int Words>
auto CellWalk<Words>::advance(Cell<Words>& cell) -> CellPointer {
    while (!cell.finished(problem_)) {
        if (cell.next == problem_.stages[cell.stage].width) {
            cell.enter_next_stage(problem_);
            continue;
        }
        CellPointer on = insert(cell);
        if (on) return on;
    }
    return nullptr;
}

// Insert the next wall. Returns the on side if the cell was cut and both sides are wanted; `cell` is then the
// off side.
template <int Words>
auto CellWalk<Words>::insert(Cell<Words>& cell) -> CellPointer {
    const bool is_gate = cell.stage > 0;
    for (std::size_t l = 0; l < cell.lines.size(); ++l)
        if (const int sign = line_sign(cell, l)) return cut_line(cell, new_slot(cell), l, sign);

    evaluate(cell);
    int positives = 0, negatives = 0;
    for (const auto sign : sign_) {
        positives += sign > 0;
        negatives += sign < 0;
    }
    const int zeros = cell.size() - positives - negatives;
    if (positives && negatives) return cut(cell, new_slot(cell));
    if (!is_gate) {
        if (negatives) throw FlatDomain(!touches_finitely(cell));
        if (positives && zeros) record_touching(cell, zeros);
        return nullptr;
    }
    if (zeros == cell.size()) {
        cell.vanishing_key ^= key_of_gate_vanishing(cell.wall(problem_));
    } else if (zeros) {
        record_touching(cell, zeros);
    }
    cell.set_gate(problem_, positives > 0);
    ++cell.next;
    return nullptr;
}

template <int Words>
bool CellWalk<Words>::touches_finitely(const Cell<Words>& cell) const {
    for (int v = 0; v < cell.size(); ++v)
        if (sign_[v] == 0 && !cell.at_infinity[v]) return true;
    return false;
}

template <int Words>
int CellWalk<Words>::new_slot(Cell<Words>& cell) {
    const int slot = cell.facets.first_free();
    if (slot < 0) throw TooManyFacets();
    if (slot >= static_cast<int>(cell.slots.size())) cell.slots.resize(slot + 1);
    return slot;
}

// The wall does not cut the cell but meets it in a face: if that is a facet, the facet lies on this wall too.
template <int Words>
void CellWalk<Words>::record_touching(Cell<Words>& cell, int zeros) {
    if (keep_touched_)
        for (int v = 0; v < cell.size(); ++v)
            if (sign_[v] == 0) cell.touched[v] = with_wall(cell.touched[v], cell.wall(problem_));
    if (zeros + static_cast<int>(cell.lines.size()) < problem_.dim) return;
    Mask<Words> common = cell.facets;
    for (int v = 0; v < cell.size(); ++v)
        if (sign_[v] == 0) common = common & cell.on[v];
    const int wall = cell.wall(problem_);
    common.for_each([&](int slot) {
        int members = 0;
        for (const auto& mask : cell.on) members += mask.has(slot);
        if (members == zeros) cell.shared.emplace_back(slot, wall);
    });
}

// What a generator touches once only `facets` are left: the facets that it loses are still walls through it.
template <int Words>
Walls CellWalk<Words>::walls_lost(const Cell<Words>& cell, int v, const Mask<Words>& facets) const {
    Walls walls = cell.touched[v];
    cell.on[v].for_each([&](int s) {
        if (facets.has(s) || cell.slots[s].wall == problem_.infinity_wall()) return;
        walls = with_wall(walls, cell.slots[s].wall);
        for (const auto& [slot, wall] : cell.shared)
            if (slot == s) walls = with_wall(walls, wall);
    });
    return walls;
}

// ---- signs

template <int Words>
void CellWalk<Words>::evaluate(Cell<Words>& cell) {
    const int count = cell.size(), row = cell.next;
    const StageMap& map = *cell.map;
    value_.resize(count);
    sign_.resize(count);
    value_is_rough_.assign(count, 0);
    double form[64];
    std::vector<double> long_form;
    double* a = form;
    if (dimensions_ > 64) {
        long_form.resize(dimensions_);
        a = long_form.data();
    }
    for (int k = 0; k < dimensions_; ++k) a[k] = map.entry(row, k);
    const double norm = map.norm(row);
    const double fixed = norm * rounding::bound(dimensions_ + 2) + map.error(row) * dimensions_ + rounding::tiny;
    for (int v = 0; v < count; ++v) {
        const double* point = cell.coordinates.data() + v * dimensions_;
        double value = 0;
        for (int k = 0; k < dimensions_; ++k) value += a[k] * point[k];
        value_[v] = value;
        if (std::abs(value) > (fixed + norm * cell.error[v]) * (1 + 0x1p-20)) {
            sign_[v] = value > 0 ? 1 : -1;
            continue;
        }
        const int sign = refined_sign(point, cell.error[v], map, row, value);
        if (sign != 2) {
            sign_[v] = static_cast<signed char>(sign);
        } else {
            sign_[v] = static_cast<signed char>(sign_of_product(map.exact_row(row), exact_generator(cell, v)));
            value_is_rough_[v] = 1;
        }
    }
}

// A second look with the actual magnitudes: 2 if that does not decide either.
template <int Words>
int CellWalk<Words>::refined_sign(const double* point, double error, const StageMap& map, int row, double value) const {
    double magnitude = 0, linear = 0;
    for (int k = 0; k < dimensions_; ++k) magnitude += std::abs(map.entry(row, k) * point[k]);
    for (int k = 0; k < problem_.dim; ++k) linear += std::abs(point[k]);
    const double doubt = (magnitude * rounding::bound(dimensions_ + 2) + map.norm(row) * error +
                          map.error(row) * linear + map.constant_error(row) * std::abs(point[problem_.dim])) *
                         (1 + 0x1p-20);
    if (std::abs(value) > doubt + rounding::tiny) return value > 0 ? 1 : -1;
    return doubt == 0.0 && magnitude == 0.0 ? 0 : 2;
}

template <int Words>
int CellWalk<Words>::line_sign(Cell<Words>& cell, std::size_t l) {
    auto& line = cell.lines[l];
    const StageMap& map = *cell.map;
    double value = 0;
    for (int k = 0; k < dimensions_; ++k) value += map.entry(cell.next, k) * line.coordinates[k];
    const int sign = refined_sign(line.coordinates.data(), line.error, map, cell.next, value);
    if (sign != 2) return sign;
    if (!line.exact) line.exact = exact_point(cell, cell.facets, line.pivot, true);
    return sign_of_product(map.exact_row(cell.next), *line.exact);
}

// ---- cutting

template <int Words>
auto CellWalk<Words>::cut(Cell<Words>& cell, int slot) -> CellPointer {
    CellPointer low = fresh(), high = fresh();
    low->inherit(cell);
    high->inherit(cell);

    // A facet goes on in the side where it has a generator that is not on the cut.
    Mask<Words> low_facets, high_facets, cutting;
    cutting.set(slot);
    for (int v = 0; v < cell.size(); ++v) {
        if (sign_[v] < 0) low_facets = low_facets | cell.on[v];
        if (sign_[v] > 0) high_facets = high_facets | cell.on[v];
    }
    for (Cell<Words>* side : {low.get(), high.get()}) {
        const Mask<Words> kept = side == low.get() ? low_facets : high_facets;
        side->facets = kept | cutting;
        side->slots[slot] = {cell.map.get(), cell.next, cell.wall(problem_)};
        std::erase_if(side->shared, [&](const auto& item) { return !kept.has(item.first); });
    }
    for (int v = 0; v < cell.size(); ++v) {
        const double* point = cell.coordinates.data() + v * dimensions_;
        const auto copy_to = [&](Cell<Words>& side, const Mask<Words>& mask) {
            side.add_generator(point, dimensions_, cell.error[v], cell.at_infinity[v], mask & side.facets,
                               cell.exact[v], keep_touched_ ? walls_lost(cell, v, side.facets) : nullptr);
        };
        if (sign_[v] <= 0) copy_to(*low, sign_[v] ? cell.on[v] : cell.on[v] | cutting);
        if (sign_[v] >= 0) copy_to(*high, sign_[v] ? cell.on[v] : cell.on[v] | cutting);
    }

    // The double-description rule: a generator on either side and an edge between them give one on the cut.
    const int edge = problem_.dim - 1 - static_cast<int>(cell.lines.size());
    for (int p = 0; p < cell.size(); ++p) {
        if (sign_[p] <= 0) continue;
        const bool simple = cell.on[p].size() == edge + 1;
        for (int n = 0; n < cell.size(); ++n) {
            if (sign_[n] >= 0) continue;
            const Mask<Words> common = cell.on[p] & cell.on[n];
            if (common.size() < edge) continue;
            bool adjacent = simple || cell.on[n].size() == edge + 1;
            if (!adjacent) {
                adjacent = true;
                for (int other = 0; other < cell.size() && adjacent; ++other)
                    adjacent = other == p || other == n || !cell.on[other].contains(common);
            }
            if (adjacent) add_combination(cell, p, n, slot, *low, *high);
        }
    }
    if (std::max(low->size(), high->size()) > most_generators)
        throw std::length_error("a cell has more than 65,536 vertices and rays: choose a smaller domain or a box");
    return choose_sides(cell, std::move(low), std::move(high));
}

// The wall crosses a line: slide every generator along the line onto the wall; the line itself becomes a ray
// of either side.
template <int Words>
auto CellWalk<Words>::cut_line(Cell<Words>& cell, int slot, std::size_t l, int sign) -> CellPointer {
    evaluate(cell);
    CellPointer low = fresh(), high = fresh();
    low->inherit(cell);
    const auto line = cell.lines[l];
    const StageMap& map = *cell.map;
    const auto value_on = [&](const std::vector<double>& point) {
        double value = 0;
        for (int k = 0; k < dimensions_; ++k) value += map.entry(cell.next, k) * point[k];
        return value;
    };
    const double along = value_on(line.coordinates);
    const bool rough = !(std::abs(along) > 0) || (along > 0) != (sign > 0);

    // The low side gets everything first; the high side differs in one ray.
    Cell<Words>& side = *low;
    side.slots[slot] = {cell.map.get(), cell.next, cell.wall(problem_)};
    side.facets.set(slot);
    side.lines.erase(side.lines.begin() + static_cast<std::ptrdiff_t>(l));
    for (auto& other : side.lines) {
        const double factor = value_on(other.coordinates) / along;
        for (int k = 0; k < dimensions_; ++k) other.coordinates[k] -= factor * line.coordinates[k];
        other.exact = settle(side, side.facets, other.pivot, true, rough, other.coordinates.data(), other.error);
    }
    for (int v = 0; v < cell.size(); ++v) {
        Mask<Words> mask = cell.on[v];
        mask.set(slot);
        point_.assign(cell.coordinates.begin() + v * dimensions_, cell.coordinates.begin() + (v + 1) * dimensions_);
        const double factor = value_[v] / along;
        for (int k = 0; k < dimensions_; ++k) point_[k] -= factor * line.coordinates[k];
        double error = 0;
        auto exact = settle(side, mask, -1, cell.at_infinity[v], rough, point_.data(), error);
        side.add_generator(point_.data(), dimensions_, error, cell.at_infinity[v], mask, std::move(exact),
                           cell.touched[v]);
    }
    // Every wall so far contains the line.
    auto so_far = std::make_shared<std::vector<std::int32_t>>();
    const int gates = cell.stage > 0 ? cell.wall(problem_) : 0, rows = cell.stage > 0 ? problem_.rows() : cell.next;
    for (int wall = 0; wall < gates; ++wall) so_far->push_back(wall);
    for (int row = 0; row < rows; ++row) so_far->push_back(problem_.gates + row);
    const Walls everything = keep_touched_ ? so_far : nullptr;
    *high = side;
    for (Cell<Words>* target : {low.get(), high.get()}) {
        const int wanted = target == high.get() ? sign : -sign;
        std::shared_ptr<const ExactVector> exact = line.exact;
        if (wanted < 0 && exact) {
            auto flipped = std::make_shared<ExactVector>(*exact);
            for (auto& n : flipped->numerators) n.negate();
            exact = flipped;
        }
        std::vector<double> ray = line.coordinates;
        if (wanted < 0)
            for (double& x : ray) x = -x;
        target->add_generator(ray.data(), dimensions_, line.error, true, cell.facets, std::move(exact), everything);
    }
    return choose_sides(cell, std::move(low), std::move(high));
}

// Go on with the off side in `cell` and return the on side; where only one is wanted, with that one.
template <int Words>
auto CellWalk<Words>::choose_sides(Cell<Words>& cell, CellPointer off, CellPointer on) -> CellPointer {
    const bool is_gate = cell.stage > 0;
    bool keep_off = is_gate, keep_on = true;
    if (is_gate) {
        on->set_gate(problem_, true);
        off->set_gate(problem_, false);
        ++on->next;
        ++off->next;
    }
    if (is_gate && selection_) {
        const int gate = cell.wall(problem_);
        std::int64_t first = cell.wanted_first, last = cell.wanted_last;
        while (first < last) {
            const std::int64_t middle = first + (last - first) / 2;
            if (selection_->on(middle, gate)) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        off->wanted_last = on->wanted_first = first;
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

// ---- new generators

template <int Words>
void CellWalk<Words>::add_combination(Cell<Words>& parent, int positive, int negative, int slot, Cell<Words>& low,
                                      Cell<Words>& high) {
    const double* above = parent.coordinates.data() + positive * dimensions_;
    const double* below = parent.coordinates.data() + negative * dimensions_;
    const bool rough = value_is_rough_[positive] || value_is_rough_[negative];
    const double share = value_[positive] / (value_[positive] - value_[negative]);
    point_.resize(dimensions_);
    for (int k = 0; k < dimensions_; ++k) point_[k] = above[k] + share * (below[k] - above[k]);
    const bool infinite = parent.at_infinity[positive] && parent.at_infinity[negative];
    if (infinite) point_[problem_.dim] = 0.0;

    // The facets of the new generator are those of the edge and the cut; `low` knows the cut's slot already.
    const Mask<Words> edge = parent.on[positive] & parent.on[negative];
    Mask<Words> mask = edge;
    mask.set(slot);
    double error = 0;
    auto exact = settle(low, mask, -1, infinite, rough, point_.data(), error);
    for (Cell<Words>* side : {&low, &high})
        side->add_generator(point_.data(), dimensions_, error, infinite, mask & side->facets, exact,
                            common_walls(parent.touched[positive], parent.touched[negative]));
}

// Normalise a fresh point and bound its error; where that is poor, find its exact coordinates and round
// those.
template <int Words>
std::shared_ptr<const ExactVector> CellWalk<Words>::settle(const Cell<Words>& cell, const Mask<Words>& mask,
                                                           int without_pivot, bool infinite, bool rough, double* point,
                                                           double& error) {
    if (!rough) {
        normalise(point, dimensions_);
        error = error_of(cell, mask, without_pivot, point);
        // A vertex far out needs its last coordinate to some relative accuracy as well.
        const bool far = !infinite && without_pivot < 0 && !(point[problem_.dim] * rounding::poor > error);
        if (error < rounding::poor && !far) return nullptr;
    }
    auto exact = exact_point(cell, mask, without_pivot, infinite);
    round_to(*exact, point);
    error = rounding::unit;
    return exact;
}

// A generator is the solution of its walls' equations, with zeros at the pivots of the lines.
template <int Words>
double CellWalk<Words>::error_of(const Cell<Words>& cell, const Mask<Words>& mask, int without_pivot,
                                 const double* point) {
    bound_.clear();
    mask.for_each([&](int s) {
        const FacetSlot& slot = cell.slots[s];
        double* row = bound_.add_row(slot.map->error(slot.row));
        for (int k = 0; k < dimensions_; ++k) row[k] = slot.map->entry(slot.row, k);
    });
    for (const auto& line : cell.lines)
        if (line.pivot != without_pivot) bound_.add_row(0)[line.pivot] = 1.0;
    return bound_.error(point);
}

template <int Words>
std::shared_ptr<const ExactVector> CellWalk<Words>::exact_point(const Cell<Words>& cell, const Mask<Words>& mask,
                                                                int without_pivot, bool infinite) const {
    std::vector<ExactVector> rows;
    mask.for_each([&](int s) { rows.push_back(cell.slots[s].map->exact_row(cell.slots[s].row)); });
    for (const auto& line : cell.lines) {
        if (line.pivot == without_pivot) continue;
        std::vector<double> unit(dimensions_, 0.0);
        unit[line.pivot] = 1.0;
        rows.push_back(ExactVector::from_floats(unit.data(), dimensions_));
    }
    auto point = std::make_shared<ExactVector>(null_vector(std::move(rows), dimensions_));

    // The equations leave the sign open.
    int sign = 0;
    if (without_pivot >= 0) {
        sign = point->numerators[without_pivot].sign();
    } else if (!infinite) {
        sign = point->numerators[problem_.dim].sign();
    } else {
        cell.facets.for_each([&](int s) {
            if (sign == 0 && !mask.has(s))
                sign = side(cell, cell.slots[s]) *
                       sign_of_product(cell.slots[s].map->exact_row(cell.slots[s].row), *point);
        });
    }
    if (sign == 0) throw std::logic_error("polyfold: a generator has no direction");
    if (sign < 0)
        for (auto& n : point->numerators) n.negate();
    return point;
}

template <int Words>
const ExactVector& CellWalk<Words>::exact_generator(Cell<Words>& cell, int v) const {
    if (!cell.exact[v]) cell.exact[v] = exact_point(cell, cell.on[v], -1, cell.at_infinity[v]);
    return *cell.exact[v];
}

// On which side of a facet's wall the cell lies.
template <int Words>
int CellWalk<Words>::side(const Cell<Words>& cell, const FacetSlot& slot) const {
    return slot.wall >= problem_.gates || cell.pattern[slot.wall] ? 1 : -1;
}

// ---- finished cells

template <int Words>
bool CellWalk<Words>::bounded(const Cell<Words>& cell) {
    return cell.lines.empty() &&
           std::none_of(cell.at_infinity.begin(), cell.at_infinity.end(), [](auto x) { return x; });
}

// The slots of a cell's facets by their walls, without infinity.
template <int Words>
std::vector<int> CellWalk<Words>::facets_in_order(const Cell<Words>& cell) const {
    std::vector<int> order;
    cell.facets.for_each([&](int s) {
        if (cell.slots[s].wall != problem_.infinity_wall()) order.push_back(s);
    });
    std::sort(order.begin(), order.end(), [&](int a, int b) { return cell.slots[a].wall < cell.slots[b].wall; });
    return order;
}

template <int Words>
void CellWalk<Words>::emit(Cell<Words>& cell, CellBlock& block) {
    cell.emit_pattern(block);
    std::vector<std::int32_t> walls;
    for (const int s : facets_in_order(cell)) {
        walls.assign(1, cell.slots[s].wall);
        for (const auto& [slot, other] : cell.shared)
            if (slot == s) walls.push_back(other);
        cell.emit_facet(problem_, walls, block);
    }
    block.facet_stop.push_back(static_cast<std::int64_t>(block.facet_wall.size()));

    block.bounded.push_back(bounded(cell));
    write_witness(cell, block);
    ++block.cells;
}

// The mean of the vertices, moved along the sum of the rays.
template <int Words>
void CellWalk<Words>::write_witness(Cell<Words>& cell, CellBlock& block) {
    const int d = problem_.dim;
    std::vector<double> mean(d, 0.0), drift(d, 0.0);
    int vertices = 0;
    for (int v = 0; v < cell.size(); ++v) {
        const double* point = cell.coordinates.data() + v * dimensions_;
        if (cell.at_infinity[v]) {
            for (int k = 0; k < d; ++k) drift[k] += point[k];
        } else {
            ++vertices;
            for (int k = 0; k < d; ++k) mean[k] += point[k] / point[d];
        }
    }
    double length = 1;
    for (int k = 0; k < d; ++k) {
        mean[k] /= vertices;
        length = std::max(length, std::abs(mean[k]));
    }
    for (int k = 0; k < d; ++k) mean[k] += length * drift[k];
    block.witnesses.insert(block.witnesses.end(), mean.begin(), mean.end());
    if (proved_inside(cell, mean.data())) return;

    // A sliver, or a cell too far out for floats: the sum of its exact generators lies inside.
    ExactWitness witness{block.cells, {}};
    std::vector<BigInteger> sum(dimensions_);
    for (int v = 0; v < cell.size(); ++v)
        for (int k = 0; k < dimensions_; ++k) sum[k] += exact_generator(cell, v).numerators[k];
    for (const auto& n : sum) witness.coordinates.push_back(n.to_hex());
    block.exact_witnesses.push_back(std::move(witness));
}

template <int Words>
bool CellWalk<Words>::proved_inside(const Cell<Words>& cell, const double* witness) const {
    bool inside = true;
    cell.facets.for_each([&](int s) {
        const FacetSlot& slot = cell.slots[s];
        const int d = problem_.dim;
        double value = slot.map->entry(slot.row, d), magnitude = std::abs(value), linear = 0;
        for (int k = 0; k < d; ++k) {
            const double term = slot.map->entry(slot.row, k) * witness[k];
            value += term;
            magnitude += std::abs(term);
            linear += std::abs(witness[k]);
        }
        const double doubt =
            (magnitude * rounding::bound(dimensions_ + 2) + slot.map->error(slot.row) * (linear + 1)) * (1 + 0x1p-20) +
            rounding::tiny;
        inside = inside && side(cell, slot) * value > doubt;
    });
    return inside;
}

template <int Words>
void CellWalk<Words>::emit_generators(Cell<Words>& cell, GeneratorBlock& block) {
    std::vector<std::int32_t> local(cell.slots.size(), -1);
    std::int32_t facets = 0;
    for (const int s : facets_in_order(cell)) local[s] = facets++;
    const auto write = [&](const double* point, int kind, const Mask<Words>& mask) {
        const double scale = kind == 0 ? 1 / point[problem_.dim] : 1.0;
        for (int k = 0; k < problem_.dim; ++k) block.coordinates.push_back(point[k] * scale);
        block.coordinates.push_back(kind == 0 ? 1.0 : 0.0);
        block.kind.push_back(static_cast<std::uint8_t>(kind));
        mask.for_each([&](int s) {
            if (local[s] >= 0) block.facet.push_back(local[s]);
        });
        block.facet_stop.push_back(static_cast<std::int64_t>(block.facet.size()));
    };
    for (int v = 0; v < cell.size(); ++v)
        write(cell.coordinates.data() + v * dimensions_, cell.at_infinity[v] ? 1 : 0, cell.on[v]);
    for (const auto& line : cell.lines) write(line.coordinates.data(), 2, cell.facets);
    block.stop.push_back(static_cast<std::int64_t>(block.kind.size()));
}

template class CellWalk<1>;
template class CellWalk<4>;
template class CellWalk<16>;
template class CellWalk<64>;

}  // namespace polyfold
