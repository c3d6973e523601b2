#include "geometry/proof/cell_proof.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

CellProof::CellProof(const Problem& problem, const FacetArrays& atlas, const double* witnesses, const StopSignal& stop)
    : problem_(problem),
      atlas_(atlas),
      witnesses_(witnesses),
      dim_(problem.dim),
      places_(problem.gates + problem.rows()),
      maps_(problem),
      listed_by_(places_.size(), 0),
      cone_(stop),
      apex_(stop),
      narrow_(stop) {
    for (int s = 0; s < static_cast<int>(problem.stages.size()); ++s) {
        const Stage& stage = problem.stages[s];
        const int rows = s == 0 ? problem.rows() : stage.width;
        for (int i = 0; i < rows; ++i) {
            bool zero = s > 0 && stage.bias[i] == 0.0;
            for (const Block& block : stage.blocks)
                for (int j = 0; j < block.columns && zero; ++j) zero = block.by_column[j * stage.width + i] == 0.0;
            places_[stage.first_wall + i] = {s, i, zero};
        }
    }
}

Proved CellProof::operator()(std::int64_t cell) {
    maps_.enter(atlas_.patterns + cell * atlas_.stride);
    if (has_shared_walls(cell)) return Proved::nothing;
    for (std::int64_t facet = atlas_.facet_start[cell]; facet < atlas_.facet_start[cell + 1]; ++facet)
        if (!leads_on(cell, facet)) return Proved::nothing;
    if (!load_facets(cell) || !enclose() || !others_stay_away(cell)) return Proved::nothing;
    find_centre();
    for (int row = 0; row < facets_; ++row)
        if (!is_facet(row, centre_) && !is_facet(row, inside_)) return Proved::nothing;
    if (has_end_) return Proved::bounded;
    return goes_on_for_ever() ? Proved::unbounded : Proved::with_or_without_end;
}

bool CellProof::has_shared_walls(std::int64_t cell) const {
    const std::int64_t* end = atlas_.shared_facet + atlas_.shared;
    const std::int64_t* first = std::lower_bound(atlas_.shared_facet, end, atlas_.facet_start[cell]);
    return first != end && *first < atlas_.facet_start[cell + 1];
}

// Whether the cell listed behind a facet differs by the facet's gate alone; a domain row has none behind it.
bool CellProof::leads_on(std::int64_t cell, std::int64_t facet) const {
    const int wall = atlas_.facet_wall[facet];
    const std::int64_t other = atlas_.neighbour[facet];
    if (wall < 0 || wall >= static_cast<int>(places_.size())) return false;
    if (wall >= problem_.gates) return other == -1;
    if (other < 0 || other >= atlas_.cells) return false;
    const std::uint8_t* here = atlas_.patterns + cell * atlas_.stride;
    const std::uint8_t* there = atlas_.patterns + other * atlas_.stride;
    for (int b = 0; b < atlas_.stride; ++b)
        if ((here[b] ^ there[b]) != (b == wall / 8 ? 1 << (wall % 8) : 0)) return false;
    return true;
}

// The side of a wall on which the cell lies, as a factor of its form.
double CellProof::side(int stage, int row) const {
    return stage == 0 || maps_.is_on(problem_.stages[stage].first_wall + row) ? 1.0 : -1.0;
}

// The form that is >= 0 on the cell. False if it does not vary.
bool CellProof::load_form(int stage, int row) {
    return scaled_form(maps_[stage], row, side(stage, row), dim_, form_, form_error_);
}

bool CellProof::load_facets(std::int64_t cell) {
    cone_.clear(dim_ + 1);
    inside_.assign(witnesses_ + cell * dim_, witnesses_ + (cell + 1) * dim_);
    inside_.push_back(1.0);
    facets_ = 0;
    for (std::int64_t facet = atlas_.facet_start[cell]; facet < atlas_.facet_start[cell + 1]; ++facet) {
        const int wall = atlas_.facet_wall[facet];
        if (listed_by_[wall] == cell + 1 || !load_form(places_[wall].stage, places_[wall].row)) return false;
        listed_by_[wall] = cell + 1;
        std::copy(form_.begin(), form_.end(), cone_.add_row(form_error_));
        if (proved_sign(facets_++, inside_.data()) <= 0) return false;
    }
    return true;
}

// The sign of a facet's form at a point of floats, 0 where they cannot tell.
int CellProof::proved_sign(int row, const double* point) const {
    const double* a = cone_.row(row);
    double value = a[dim_], magnitude = std::abs(value), size = 1;
    for (int k = 0; k < dim_; ++k) {
        value += a[k] * point[k];
        magnitude += std::abs(a[k] * point[k]);
        size += std::abs(point[k]);
    }
    const double doubt =
        (rounding::bound(dim_ + 3) * magnitude + cone_.error(row) * size) * (1 + 0x1p-20) + rounding::tiny;
    if (!(std::abs(value) > doubt)) return 0;
    return value > 0 ? 1 : -1;
}

// A bounded cell is looked at where t = 1. An unbounded one is a cone with infinity, t >= 0, as a further row; on it
// the sum of all rows is positive.
bool CellProof::enclose() {
    height_.assign(dim_ + 1, 0.0);
    height_[dim_] = 1.0;
    has_end_ = facets_ > dim_ && cone_.enclose(height_.data(), inside_.data(), true);
    if (has_end_) return true;
    for (int row = 0; row < facets_; ++row) {
        double value = 0;
        for (int k = 0; k <= dim_; ++k) value += cone_.row(row)[k] * inside_[k];
        for (int k = 0; k <= dim_; ++k) height_[k] += cone_.row(row)[k] / value;
    }
    cone_.add_row(0.0)[dim_] = 1.0;
    return cone_.enclose(height_.data(), inside_.data(), false);
}

// Whether floats prove a direction that leads away from all facets at once: the sum of the corners at infinity, where
// the cell goes on in as many directions as it has. Where these span less than all of space, floats cannot tell.
bool CellProof::goes_on_for_ever() {
    point_.assign(dim_ + 1, 0.0);
    cone_.add_corners_on(facets_, point_.data());
    for (int row = 0; row < facets_; ++row) {
        double rate = 0, magnitude = 0, size = 0;
        for (int k = 0; k < dim_; ++k) {
            rate += cone_.row(row)[k] * point_[k];
            magnitude += std::abs(cone_.row(row)[k] * point_[k]);
            size += std::abs(point_[k]);
        }
        const double doubt =
            (rounding::bound(dim_ + 3) * magnitude + cone_.error(row) * size) * (1 + 0x1p-20) + rounding::tiny;
        if (!(rate > doubt)) return false;
    }
    return facets_ > 0;
}

// Without biases a gate's form is a linear one, and zero at the origin, which may be a corner of the cell. It keeps
// away from the rest of the cell, and so from every facet, if it is positive on all directions that the listed gates
// allow.
bool CellProof::enclose_directions(std::int64_t cell) {
    apex_.clear(dim_);
    height_at_apex_.assign(dim_, 0.0);
    for (int row = 0; row < facets_; ++row) {
        if (atlas_.facet_wall[atlas_.facet_start[cell] + row] >= problem_.gates) continue;
        const double* form = cone_.row(row);
        std::copy(form, form + dim_, apex_.add_row(cone_.error(row)));
        double value = 0;
        for (int k = 0; k < dim_; ++k) value += form[k] * inside_[k];
        for (int k = 0; k < dim_; ++k) height_at_apex_[k] += form[k] / value;
    }
    return apex_.rows() >= dim_ && apex_.enclose(height_at_apex_.data(), inside_.data(), false);
}

// Whether all walls that are not listed keep away from the cell's facets: their forms are positive there.
bool CellProof::others_stay_away(std::int64_t cell) {
    const bool through_origin = problem_.without_constants && dim_ > 1 && problem_.gates > 0;
    if (through_origin && !enclose_directions(cell)) return false;
    left_.clear();
    for (int s = 0; s < static_cast<int>(maps_.all().size()); ++s)
        rows_stay_away(cell, s, s > 0 && through_origin ? apex_ : cone_);
    return left_.empty() || others_stay_away_behind();
}

// What cannot be told goes to `left_`.
void CellProof::rows_stay_away(std::int64_t cell, int stage, ConeBound& cone) {
    // Most are told by the box around the cell.
    const int n = cone.coordinates();
    const StageMap& map = maps_[stage];
    const int width = map.width();
    value_.assign(width, 0.0);
    spread_.assign(width, 0.0);
    size_.assign(width, 0.0);
    for (int k = 0; k < n; ++k) {
        const double low = cone.lowest()[k], high = cone.highest()[k], reach = cone.reach()[k];
        const double middle = 0.5 * (low + high);
        const double half = 0.5 * (high - low) * (1 + 0x1p-20) + rounding::bound(2) * reach + rounding::tiny;
        const double* column = map.entries() + static_cast<std::size_t>(k) * width;
        for (int i = 0; i < width; ++i) {
            const double entry = column[i], absolute = std::abs(entry);
            value_[i] += entry * middle;
            spread_[i] += absolute * half;
            size_[i] += absolute * reach;
        }
    }
    const int first = problem_.stages[stage].first_wall, rows = stage == 0 ? problem_.rows() : width;
    for (int i = 0; i < rows; ++i) {
        if (listed_by_[first + i] == cell + 1) continue;
        const double doubt =
            (spread_[i] + rounding::bound(n + 4) * 2 * size_[i] + map.error(i) * cone.total_reach()) * (1 + 0x1p-20) +
            rounding::tiny * (1 + cone.total_reach());
        if (side(stage, i) * value_[i] > doubt) continue;
        if (!stays_away(stage, i, cone)) left_.push_back(first + i);
    }
}

bool CellProof::stays_away(int stage, int row, ConeBound& cone) {
    const Place& place = places_[problem_.stages[stage].first_wall + row];
    if (place.is_constantly_zero) return side(stage, row) < 0;
    const StageMap& map = maps_[stage];
    bool constant = map.error(row) == 0.0;
    for (int k = 0; k < dim_ && constant; ++k) constant = map.entry(row, k) == 0.0;
    if (constant) {  // a domain row may hold with equality everywhere, a gate that is zero here may not be so elsewhere
        const double value = side(stage, row) * map.entry(row, dim_);
        return value > 0 || (stage == 0 && value == 0.0);
    }
    return load_form(stage, row) && cone.proves_positive(form_.data(), form_error_);
}

// Whether the walls that are left keep away, as narrow stages see them. All others are known to have their signs.
bool CellProof::others_stay_away_behind() {
    known_.assign(places_.size(), 1);
    for (const int wall : left_) known_[wall] = 0;
    int from = 0;
    bool is_ready = false;
    return std::all_of(left_.begin(), left_.end(), [&](int wall) {
        const auto& [stage, row, is_zero] = places_[wall];
        for (int s = 1; s <= stage; ++s) {
            if (!NarrowView::is_narrow(problem_, s, stage, row, maps_.pattern())) continue;
            if (s != from) is_ready = narrow_.enter(problem_, s, maps_.all(), maps_.pattern(), known_, inside_.data());
            from = s;
            if (is_ready && narrow_.proves_positive(stage, row, side(stage, row))) return true;
        }
        return false;
    });
}

// A point well inside: witnesses may lie very near to a wall. The mean of all corners met, if it is inside at all.
void CellProof::find_centre() {
    centre_ = inside_;
    double height = 0;
    for (int k = 0; k <= dim_; ++k) height += height_[k] * inside_[k];
    point_.resize(dim_ + 1);
    for (int k = 0; k <= dim_; ++k) point_[k] = inside_[k] / height;
    cone_.add_corners(point_.data());
    for (int k = 0; k <= dim_; ++k) point_[k] /= point_[dim_];
    for (int row = 0; row < facets_; ++row)
        if (proved_sign(row, point_.data()) <= 0) return;
    centre_ = point_;
}

// Whether floats prove a point beyond this facet and inside of all others, looking out from a point inside. From the
// witness the way to it leads out of the cell through the facet and nothing else.
bool CellProof::is_facet(int row, const std::vector<double>& from) {
    const auto is_beyond = [&] {
        for (int other = 0; other < facets_; ++other)
            if (proved_sign(other, point_.data()) != (other == row ? -1 : 1)) return false;
        return true;
    };
    // Straight out of the cell, half-way between the facet and the next one.
    double exit = -1, next = -1;
    const double* normal = cone_.row(row);
    for (int other = 0; other < facets_; ++other) {
        const double* a = cone_.row(other);
        double value = a[dim_], rate = 0;
        for (int k = 0; k < dim_; ++k) {
            value += a[k] * from[k];
            rate += a[k] * normal[k];
        }
        if (other == row)
            exit = value / rate;
        else if (rate > 0 && (next < 0 || value / rate < next))
            next = value / rate;
    }
    if (next < 0 || next > exit) {
        const double length = 0.5 * (exit + (next < 0 ? 3 * exit : std::min(next, 3 * exit)));
        for (int k = 0; k < dim_; ++k) point_[k] = from[k] - length * normal[k];
        if (is_beyond()) return true;
    }
    // From a corner of the facet along an edge out of the cell, and then a little towards the inside of all others.
    if (!cone_.beyond(row, point_.data())) return false;
    double value = 0, inner = 0, height = 0;
    for (int k = 0; k <= dim_; ++k) {
        value -= normal[k] * point_[k];
        inner += normal[k] * from[k];
        height += height_[k] * from[k];
    }
    if (!(value > 0)) return false;
    const double share = 0.5 * value / (value + inner / height);
    for (int k = 0; k <= dim_; ++k) point_[k] += share * (from[k] / height - point_[k]);
    if (!(point_[dim_] > 0)) return false;
    for (int k = 0; k < dim_; ++k) point_[k] /= point_[dim_];
    return is_beyond();
}

}  // namespace polyfold
