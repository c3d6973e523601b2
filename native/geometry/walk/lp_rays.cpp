// Facets seen from inner points: where a ray leaves the cell through one bound, and meets the next one only later, a
// point between the two is behind that bound alone. Rays go along the axes, which costs a few numbers for each row,
// straight towards the rows that no such ray has met, and along the rows where these are few.
#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"
#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

// How far behind the first bound that a ray meets one is well before the second.
double between(double first, double second) {
    return first + 0.5 * std::min(first, second - first);
}

}  // namespace

// The values of all rows at a point, and what they may be off beside it.
void LpWalk::measure_rows(const LpCell& cell, const double* point) {
    values_.clear();
    doubts_.clear();
    const double size_of_point = InnerPoints::size_of_point(point, dim_);
    for (int row = 0; row < cell.forms.size(); ++row) {
        const double *form = cell.forms[row], error = cell.forms.error(row);
        values_.push_back(dot(form, point, padded(dim_ + 1)));
        doubts_.push_back(doubt_beside(values_[row], doubt_at(dim_, form[dim_], error, size_of_point), error));
    }
}

void LpWalk::shoot_from(const LpCell& cell, const double* point) {
    measure_rows(cell, point);
    shoot_along_axes(cell, point, -1);
    shoot_along_axes(cell, point, 1);
    for (int row = 0; row < cell.forms.size(); ++row)
        if (known_[cell.box().sides() + row] == Bound::open) shoot_towards(cell, point, row);
    if (dim_ >= many_dimensions) shoot_along_rows(cell, point);
}

// Along all axes at once, all of them up or all of them down.
void LpWalk::shoot_along_axes(const LpCell& cell, const double* point, int direction) {
    const Box& box = cell.box();
    const int size = padded(dim_ + 1);
    to_side_.resize(size);
    const double* ends = direction > 0 ? box.high() : box.low();
    for (int k = 0; k < dim_; ++k) {
        // A little farther: behind the side. See `Box::is_beyond`.
        const double end = ends[k], farther = std::abs(end) * 0x1p-52 + std::numeric_limits<double>::denorm_min();
        to_side_[k] = end + direction * farther - point[k];
    }
    std::fill(to_side_.begin() + dim_, to_side_.end(), 0.0);
    const Lanes direction_lanes = Lanes{} + static_cast<double>(direction), none = Lanes{} + endless;
    for (int from = 0; from < size; from += lanes) {
        const Lanes end = load(&to_side_[from]), end_size = size_of(end);
        Lanes first = none, second = none, which{}, least = none;
        for (int row = 0; row < cell.forms.size(); ++row) {
            const Lanes rates = load(cell.forms[row] + from), inwards = direction_lanes * rates;
            const Lanes value = Lanes{} + values_[row];
            const Lanes step = inwards < Lanes{} ? value / -inwards : none;
            const Choice closer = step < first;
            second = closer ? first : smaller(second, step);
            which = closer ? Lanes{} + static_cast<double>(row) : which;
            first = closer ? step : first;
            least = smaller(least, value + rates * end - (doubts_[row].doubt + doubts_[row].of_step * end_size));
        }
        for (int j = 0; j < lanes && from + j < dim_; ++j) {
            const int axis = from + j, side = 2 * axis + (direction > 0);
            if (least[j] > 0) {
                if (known_[side] == Bound::open) set_known(side, Bound::facet);
                continue;
            }
            const auto row = static_cast<int>(which[j]);
            const int bound = box.sides() + row;
            if (!(first[j] < end_size[j]) || known_[bound] != Bound::open) continue;
            const double step = direction * between(first[j], std::min(second[j], end_size[j]));
            if (!is_met_alone(cell, point, row, axis, step)) continue;
            std::copy_n(point, dim_, point_.begin());
            point_[axis] += step;
            set_facet(bound, point_.data());
        }
    }
}

// Whether a step along an axis is proved to lead behind one row, and no other bound.
bool LpWalk::is_met_alone(const LpCell& cell, const double* point, int row, int axis, double step) const {
    const double place = point[axis] + step, taken = place - point[axis];
    if (!cell.box().clears(2 * axis + (step > 0), place)) return false;
    for (int other = 0; other < cell.forms.size(); ++other) {
        const double value = values_[other] + cell.forms[other][axis] * taken;
        const double doubt = doubts_[other].doubt + doubts_[other].of_step * std::abs(taken);
        if (!((other == row ? -value : value) > doubt)) return false;
    }
    return true;
}

// Against the row's own direction, which is the shortest way to it.
void LpWalk::shoot_towards(const LpCell& cell, const double* point, int row) {
    const Box& box = cell.box();
    const int size = padded(dim_ + 1);
    const double* way = cell.forms[row];
    ray_.assign(way, way + dim_);
    ray_.resize(size, 0.0);
    double first = endless, second = endless;
    const auto meet = [&](double step) {
        second = std::min(second, std::max(first, step));
        first = std::min(first, step);
    };
    int met = -1;
    for (int other = 0; other < cell.forms.size(); ++other) {
        const double rate = dot(cell.forms[other], ray_.data(), size);
        if (!(rate > 0)) continue;
        const double step = values_[other] / rate;
        if (step < first) met = other;
        meet(step);
    }
    for (int k = 0; k < dim_; ++k) {
        const double room = ray_[k] > 0 ? point[k] - box.low()[k] : box.high()[k] - point[k];
        const double step = room / std::abs(ray_[k]);
        if (step < first) return;  // a side, and these are seen along the axes
        meet(step);
    }
    if (met < 0 || known_[box.sides() + met] != Bound::open) return;
    const double step = between(first, second);
    for (int k = 0; k < dim_; ++k) point_[k] = point[k] - step * ray_[k];
    if (is_behind_only(cell, box.sides() + met, point_.data())) set_facet(box.sides() + met, point_.data());
}

// Towards open sides, but along all rows: what is met first is then a side, whichever rows are near. Coordinates that
// have little room move less than others.
void LpWalk::shoot_along_rows(const LpCell& cell, const double* point) {
    const Box& box = cell.box();
    const int size = padded(dim_ + 1);
    rooms_.assign(2 * static_cast<std::size_t>(size), 0.0);
    scales_.assign(size, 0.0);
    for (int k = 0; k < dim_; ++k) {
        rooms_[k] = point[k] - box.low()[k];
        rooms_[size + k] = box.high()[k] - point[k];
        scales_[k] = std::min(rooms_[k], rooms_[size + k]);
    }
    span_rows(cell);
    ray_.resize(size);
    for (int axis = 0; axis < dim_; ++axis) {
        if (known_[2 * axis] != Bound::open && known_[2 * axis + 1] != Bound::open) continue;
        std::fill(ray_.begin(), ray_.end(), 0.0);
        ray_[axis] = 1.0;
        for (std::size_t from = 0; from < directions_.size(); from += size)
            take_away(ray_.data(), &directions_[from], directions_[from + axis], size);
        for (int k = 0; k < size; ++k) ray_[k] *= scales_[k];
        for (const int direction : {-1, 1})
            if (known_[2 * axis + (direction > 0)] == Bound::open) shoot_along_ray(cell, point, direction);
    }
}

// Orthonormal directions that all rows are made of, in units of the room that coordinates have.
void LpWalk::span_rows(const LpCell& cell) {
    const int size = padded(dim_ + 1);
    directions_.clear();
    for (int row = 0; row < cell.forms.size(); ++row) {
        directions_.insert(directions_.end(), cell.forms[row], cell.forms[row] + size);
        double* own = directions_.data() + directions_.size() - size;
        for (int k = 0; k < size; ++k) own[k] *= scales_[k];
        const double whole = dot(own, own, size);
        for (const double* other = directions_.data(); other < own; other += size)
            take_away(own, other, dot(own, other, size), size);
        const double rest = dot(own, own, size);
        if (!(rest > 0x1p-20 * whole)) {
            directions_.resize(directions_.size() - size);
            continue;
        }
        const double factor = 1 / std::sqrt(rest);
        for (int k = 0; k < size; ++k) own[k] *= factor;
    }
}

// Look for a facet on the side that the ray meets first, or the ray backwards. No row is on its way.
void LpWalk::shoot_along_ray(const LpCell& cell, const double* point, int direction) {
    const int size = padded(dim_ + 1);
    const double *rooms_down = rooms_.data(), *rooms_up = rooms_down + size;
    if (direction < 0) std::swap(rooms_down, rooms_up);
    const Lanes none = Lanes{} + endless;
    Lanes first = none, second = none, which{};
    for (int k = 0; k < size; k += lanes) {
        const Lanes rate = load(&ray_[k]), room = rate > Lanes{} ? load(rooms_up + k) : load(rooms_down + k);
        const Lanes step = room > Lanes{} ? room / size_of(rate) : none;
        const Choice closer = step < first;
        second = closer ? first : smaller(second, step);
        which = closer ? Lanes{} + static_cast<double>(k) : which;
        first = closer ? step : first;
    }
    int lane = 0;
    for (int j = 1; j < lanes; ++j)
        if (first[j] < first[lane]) lane = j;
    double next = second[lane];
    for (int j = 0; j < lanes; ++j)
        if (j != lane) next = std::min(next, first[j]);
    if (!(first[lane] < endless)) return;
    const int axis = static_cast<int>(which[lane]) + lane, side = 2 * axis + (direction * ray_[axis] > 0);
    if (known_[side] != Bound::open) return;
    const double step = direction * between(first[lane], next);
    for (int k = 0; k < dim_; ++k) point_[k] = point[k] + step * ray_[k];
    if (is_behind_only(cell, side, point_.data())) set_known(side, Bound::facet);
}

}  // namespace polyfold
