// The bounded dual simplex: all coordinates go to where the box is best for the form, which may be outside of the cell,
// and come back row by row. What the form is worth falls with every pivot, so that most walls that miss a cell are
// known to after the first; and one pivot takes any number of coordinates across the box.
#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"
#include "geometry/lp/simplex.hpp"

namespace polyfold {

namespace {

constexpr int most_pivots = 400;  // hardly any program takes more; those that do are left to the simplex on the cell

}  // namespace

auto Simplex::descend(const double* form, double sign, double enough) -> Result {
    aim_at(form, sign);
    return fall(enough);
}

auto Simplex::descend_to(int bound) -> Result {
    form_ = nullptr;
    goal_ = bound;
    return fall(-std::numeric_limits<double>::infinity());
}

auto Simplex::fall(double enough) -> Result {
    Tableau& table = *table_;
    set_objective();
    // A row's slack has no upper bound to go to.
    const auto result = climb(std::numeric_limits<double>::infinity(), Edges::rows);
    if (result == Result::stopped) return Result::optimal;  // the bound that was to be approached is met
    if (result != Result::optimal) return result;
    cross_box();
    for (int pivots = 0; pivots < most_pivots; ++pivots) {
        if (value_ < enough) return Result::stopped;
        const int line = line_outside();
        if (line < 0) return Result::optimal;
        const bool high = table.values()[line] > table.upper()[line];
        const int edge = last_turn(line);
        if (edge < 0) break;
        const double end = high ? table.upper()[line] : table.lower()[line];
        exchange(line, edge, (end - table.values()[line]) / table.rates(edge)[line], high);
        if (table.pivots >= table.dim + renew_every) {
            if (!renew()) break;
            set_objective();
            cross_box();
        }
        stop_.check();
    }
    return Result::failed;
}

// Every coordinate that is tight goes to the side where the objective is larger.
void Simplex::cross_box() {
    Tableau& table = *table_;
    for (int edge = 0; edge < table.dim; ++edge) {
        if (table.tight[edge] >= table.dim) continue;
        const double rate = table.high[edge] ? -objective_[edge] : objective_[edge];
        if (rate > rounding::lp_tolerance) cross(edge);
    }
}

void Simplex::cross(int edge) {
    Tableau& table = *table_;
    const double length = box_->length(table.tight[edge]);
    move(edge, table.high[edge] ? -length : length);
    table.high[edge] = !table.high[edge];
}

// The line that is farthest outside of its bounds, or -1.
int Simplex::line_outside() const {
    const Tableau& table = *table_;
    const double *values = table.values(), *lower = table.lower(), *upper = table.upper();
    int farthest = -1;
    double most = rounding::lp_tolerance;
    for (int line = 0; line < table.lines; ++line) {
        const double outside = std::max(lower[line] - values[line], values[line] - upper[line]);
        if (outside > most) {
            most = outside;
            farthest = line;
        }
    }
    return farthest;
}

// The edge that brings a line back to its bound, after all coordinates that cost less have crossed the box. None if
// nothing does.
int Simplex::last_turn(int line) {
    const Tableau& table = *table_;
    const double value = table.values()[line];
    const bool up = value < table.lower()[line];
    double missing = up ? table.lower()[line] - value : value - table.upper()[line];
    turns_.clear();
    for (int edge = 0; edge < table.dim; ++edge) {
        const double rate = table.rates(edge)[line], inwards = up == !table.high[edge] ? rate : -rate;
        if (inwards > rounding::lp_tolerance) turns_.emplace_back(std::abs(objective_[edge]) / inwards, edge);
    }
    const auto later = [](const auto& one, const auto& other) { return one > other; };
    std::make_heap(turns_.begin(), turns_.end(), later);
    while (!turns_.empty()) {
        const int edge = turns_.front().second, variable = table.tight[edge];
        if (variable >= table.dim) return edge;
        missing -= std::abs(table.rates(edge)[line]) * box_->length(variable);
        if (missing <= 0) return edge;
        cross(edge);
        std::pop_heap(turns_.begin(), turns_.end(), later);
        turns_.pop_back();
    }
    return -1;
}

}  // namespace polyfold
