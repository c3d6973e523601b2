// Which rows of a cell hold its facets. Every corner where just d rows meet shows d facets at once, and more at the
// ends of its edges; a row whose slack grows along all edges of a corner is none. Linear programs walk to the corners
// where something is still open.
#include <algorithm>
#include <cmath>

#include "geometry/exact/rounding.hpp"
#include "geometry/walk/lp_walk.hpp"

namespace polyfold {

void LpCell::keep_rows(const std::vector<int>& kept) {
    std::vector<std::int32_t> place(rows.size(), -1);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        place[kept[i]] = static_cast<std::int32_t>(i);
        rows[i] = rows[kept[i]];
        error[i] = error[kept[i]];
    }
    rows.resize(kept.size());
    error.resize(kept.size());
    shape.keep(kept);
    std::erase_if(shared, [&](const auto& pair) { return place[pair.first] < 0; });
    for (auto& [row, wall] : shared) row = place[row];
    for (int& row : corner.rows) row = place[row];
}

void LpWalk::emit(LpCell& cell, CellBlock& block) {
    settle_rows(cell);
    std::vector<int> facets;
    for (int row = 0; row < static_cast<int>(cell.rows.size()); ++row)
        if (known_[row] == Row::facet) facets.push_back(row);
    std::sort(facets.begin(), facets.end(), [&](int a, int b) { return cell.rows[a].wall < cell.rows[b].wall; });

    // From here on nothing can be stopped: a cell is written whole or not at all.
    cell.emit_pattern(keys_, block);
    std::vector<std::int32_t> walls;
    for (const int row : facets) {
        walls.assign(1, cell.rows[row].wall);
        for (const auto& [other, wall] : cell.shared)
            if (other == row) walls.push_back(wall);
        Path::emit_facet(walls, block);
    }
    block.facet_start.push_back(static_cast<std::int64_t>(block.facet_wall.size()));
    block.bounded.push_back(1);
    block.witnesses.append(middle_.data(), middle_.size());
    if (!middle_proved_) {
        ExactWitness witness{block.cells, {}};
        for (const auto& n : exact_point(cell.points[0]).numerators) witness.coordinates.push_back(n.to_hex());
        block.exact_witnesses.push_back(std::move(witness));
    }
    ++block.cells;
}

// Forget the rows that hold no facet: no part of the cell will have one there either.
void LpWalk::prune(LpCell& cell) {
    settle_rows(cell);
    std::vector<int> kept;
    const auto& corner = cell.corner.rows;
    for (int row = 0; row < static_cast<int>(cell.rows.size()); ++row)
        if (known_[row] == Row::facet || std::find(corner.begin(), corner.end(), row) != corner.end())
            kept.push_back(row);
    if (kept.size() < cell.rows.size()) cell.keep_rows(kept);
    cell.cuts = 0;
}

// Find out for all rows whether they hold a facet, and a point in the middle.
void LpWalk::settle_rows(LpCell& cell) {
    middle_ = centre(cell);
    middle_proved_ = rows_in_doubt(cell, middle_.data()) == 0;
    if (!middle_proved_) {
        middle_ = cell.points[0].coordinates;
        middle_proved_ = rows_in_doubt(cell, middle_.data()) == 0;
    }
    from_middle_ = values_;
    point_.resize(dim_);
    const int rows = static_cast<int>(cell.rows.size());
    known_.assign(rows, Row::open);
    open_ = rows;
    if (stand_in(cell)) {
        look_around(cell, true);
        for (int row = 0; row < rows && open_ > 0; ++row) {
            if (known_[row] != Row::open) continue;
            if (simplex_.approach(row) == Simplex::Result::failed) break;
            look_around(cell, false);
        }
    }
    simplex_.leave();
    for (int row = 0; row < rows && open_ > 0; ++row)
        if (known_[row] == Row::open) set_known(row, is_facet(cell, row) ? Row::facet : Row::redundant);
}

void LpWalk::set_known(int row, Row what) {
    known_[row] = what;
    --open_;
}

// What the corner where the simplex stands tells of open rows; also what the far ends of its edges tell, if wanted.
void LpWalk::look_around(const LpCell& cell, bool far) {
    if (open_ == 0) return;
    for (int edge = 0; edge < dim_; ++edge) {
        if (known_[simplex_.rows()[edge]] == Row::open) prove_facet(cell, edge, true);
        if (far) prove_facet(cell, edge, false);
    }
    if (open_ == 0) return;
    const int rows = cell.shape.padded_rows();
    values_.assign(rows, 0.0);
    double* lowest = values_.data();
    for (int edge = 0; edge < dim_; ++edge) {
        const double* rates = simplex_.rates(edge);
        for (int row = 0; row < rows; ++row) lowest[row] = rates[row] < lowest[row] ? rates[row] : lowest[row];
    }
    for (int row = 0; row < cell.shape.rows(); ++row) {
        if (known_[row] != Row::open || lowest[row] < -rounding::lp_tolerance || !(simplex_.slack(row) > 0)) continue;
        if (is_redundant(cell, row)) set_known(row, Row::redundant);
    }
}

// A point that is behind one row only proves that it holds a facet. Look for one at the end of an edge, or backwards
// along it, where the edge's own row comes first.
void LpWalk::prove_facet(const LpCell& cell, int edge, bool backwards) {
    const Simplex::Way way = simplex_.look_along(edge, backwards);
    if (way.first < 0 || known_[way.first] != Row::open || !(way.next > way.step)) return;
    const double inside = std::max(0.0, from_middle_[way.first]), rate = std::abs(simplex_.rate(way.first, edge));
    const double outside = std::min(inside, 0.5 * (way.next - way.step) * rate);
    const double step = way.step + outside / rate;
    simplex_.point_along(edge, backwards ? -step : step, point_.data());
    // Towards the middle, away from all the other rows.
    const double share = std::min(0.25, 0.5 * outside / (outside + inside));
    for (int k = 0; k < dim_; ++k) point_[k] += share * (middle_[k] - point_[k]);
    if (row_sign(cell, way.first, point_.data()) < 0 && rows_in_doubt(cell, point_.data()) == 1)
        set_known(way.first, Row::facet);
}

// Whether the corner where the simplex stands proves that a row is positive on all of the cell.
bool LpWalk::is_redundant(const LpCell& cell, int row) {
    const auto& corner = simplex_.rows();
    if (std::find(corner.begin(), corner.end(), row) != corner.end()) return false;  // no proof may lean on the row
    for (int k = 0; k < dim_; ++k) {
        multipliers_[k] = -simplex_.rate(row, k);
        point_[k] = -cell.shape.entry(row, k);
    }
    return upper_bound(cell, point_.data(), cell.error[row], -cell.shape.entry(row, dim_)) < 0;
}

// Whether leaving a row out makes the cell larger.
bool LpWalk::is_facet(const LpCell& cell, int row) {
    const auto result = stand_in(cell) ? simplex_.pass(row, 16 * rounding::lp_tolerance) : Simplex::Result::failed;
    if (result != Simplex::Result::failed) {
        const bool unbounded = result == Simplex::Result::unbounded;
        // Where nothing else bounds an edge, any long way along it is behind the row.
        const double length = unbounded ? (simplex_.endless_backwards() ? -1 : 1) * (*cell.reach)[0] : 0.0;
        simplex_.point_along(unbounded ? simplex_.endless_edge() : 0, length, point_.data());
        double value = -cell.shape.entry(row, dim_);
        for (int k = 0; k < dim_; ++k) value -= cell.shape.entry(row, k) * point_[k];
        const double share = value > 0 ? std::min(0.25, 0.5 * value / (value + std::max(from_middle_[row], 0.0))) : 0;
        for (int k = 0; k < dim_; ++k) point_[k] += share * (middle_[k] - point_[k]);
        const bool behind = row_sign(cell, row, point_.data()) < 0 && rows_in_doubt(cell, point_.data()) == 1;
        const bool redundant = result == Simplex::Result::optimal && is_redundant(cell, row);
        simplex_.leave();  // it may stand outside of the cell now
        if (behind) return true;
        if (redundant) return false;
    }
    const ExactVector beyond = exact_form(*cell.rows[row].map, cell.rows[row].row, -cell.rows[row].side);
    return exact_maximum_over(cell, beyond, exact_point(cell.points[0]), row).sign > 0;
}

}  // namespace polyfold
