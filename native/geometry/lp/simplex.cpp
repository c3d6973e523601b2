#include "geometry/lp/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int most_pivots = 2000;
// After so many, and one for each variable, smallest indices first: that cannot go round in circles.
constexpr int patient_pivots = 60;
constexpr double endless = std::numeric_limits<double>::infinity();

double smallest(Lanes numbers) {
    return std::min(std::min(numbers[0], numbers[1]), std::min(numbers[2], numbers[3]));
}

// Of numbers that fill registers.
double smallest(const std::vector<double>& numbers, int size) {
    Lanes least = Lanes{} + endless;
    for (int i = 0; i < size; i += lanes) least = smaller(least, load(&numbers[i]));
    return smallest(least);
}

}  // namespace

bool Simplex::is_tight(int bound) const {
    const int place = table_->place[variable_of(bound)];
    return place < 0 && static_cast<bool>(table_->high[-1 - place]) == is_high(bound);
}

int Simplex::bound_of(int edge) const {
    return bound_of(table_->tight[edge], table_->high[edge]);
}

void Simplex::point(double* into) const {
    const Tableau& table = *table_;
    const int dim = table.dim;
    for (int k = 0; k < dim; ++k) {
        const int place = table.place[k];
        into[k] = place >= 0 ? table.values()[place] : box_->outer(2 * k + table.high[-1 - place]);
    }
    into[dim] = 1.0;
}

void Simplex::point_along(int edge, double step, double* into) const {
    const Tableau& table = *table_;
    point(into);
    if (table.high[edge]) step = -step;
    const double* rates = table.rates(edge);
    for (int line = 0; line < table.lines; ++line)
        if (table.loose[line] < table.dim) into[table.loose[line]] += step * rates[line];
    if (table.tight[edge] < table.dim) into[table.tight[edge]] += step;
}

double Simplex::rate(int bound, int edge) const {
    const Tableau& table = *table_;
    const int place = table.place[variable_of(bound)];
    const double rate = place >= 0 ? table.rates(edge)[place] : -1 - place == edge ? 1.0 : 0.0;
    return is_high(bound) == static_cast<bool>(table.high[edge]) ? rate : -rate;
}

double Simplex::distance(int bound) const {
    const Tableau& table = *table_;
    const int variable = variable_of(bound), place = table.place[variable];
    if (place < 0) return is_tight(bound) ? 0.0 : box_->length(variable);
    if (bound >= box_->sides()) return table.values()[place];
    return is_high(bound) ? table.upper()[place] - table.values()[place] : table.values()[place] - table.lower()[place];
}

// How far along an edge (by 1 or -1) each line's variable meets a bound; the least of all.
double Simplex::measure_steps(int edge, double direction) {
    const Tableau& table = *table_;
    steps_.resize(table.stride);
    const double *rates = table.rates(edge), *values = table.values(), *lower = table.lower(), *upper = table.upper();
    constexpr double least = std::numeric_limits<double>::min();  // not zero: by no rate at all it makes infinity
    const Lanes smallest_room = Lanes{} + least, signs = Lanes{} + direction,
                tolerance = Lanes{} + rounding::lp_tolerance;
    double* steps = steps_.data();
    Lanes shortest = Lanes{} + endless;
    for (int i = 0, stride = table.stride; i < stride; i += lanes) {
        const Lanes rate = signs * load(rates + i), value = load(values + i), size = size_of(rate);
        const Lanes room = rate > Lanes{} ? load(upper + i) - value : value - load(lower + i);
        const Lanes step = larger(room, smallest_room) / (size > tolerance ? size : Lanes{});
        store(steps + i, step);
        shortest = smaller(shortest, step);
    }
    return smallest(shortest);
}

auto Simplex::look_along(int edge, bool backwards) -> Way {
    const Tableau& table = *table_;
    const int variable = table.tight[edge];
    const double direction = static_cast<bool>(table.high[edge]) == backwards ? 1.0 : -1.0;
    Way way{-1, measure_steps(edge, direction), endless};
    if (backwards) return {bound_of(edge), 0.0, way.step};
    const double across = variable < table.dim ? box_->length(variable) : endless;
    if (across <= way.step) return {across < endless ? bound_of(variable, !table.high[edge]) : -1, across, way.step};
    const auto line = static_cast<int>(std::find(steps_.begin(), steps_.end(), way.step) - steps_.begin());
    way.first = bound_of(table.loose[line], direction * table.rates(edge)[line] > 0);
    steps_[line] = endless;
    way.next = std::min(across, smallest(steps_, table.stride));
    return way;
}

// Walk along an edge, as far as everything stays where it is in the table.
void Simplex::move(int edge, double step) {
    Tableau& table = *table_;
    take_away(table.values(), table.rates(edge), -step, table.stride);
    value_ += step * objective_[edge];
}

// A line's variable becomes tight, after a step along an edge whose variable becomes loose.
void Simplex::exchange(int line, int edge, double step, bool high) {
    Tableau& table = *table_;
    const int entering = table.tight[edge], leaving = table.loose[line], dim = table.dim;
    const double from = entering < dim ? box_->outer(2 * entering + table.high[edge]) : 0.0;
    move(edge, step);
    table.values()[line] = from + step;
    table.lower()[line] = bound_of(entering, false) == ignored_ ? -endless
                          : entering < dim                      ? box_->low()[entering]
                                                                : 0.0;
    table.upper()[line] = entering < dim && bound_of(entering, true) != ignored_ ? box_->high()[entering] : endless;
    const int stride = table.stride;
    double *out = table.rates(edge), *objective = objective_.data();
    const double by = 1 / out[line], rate = objective[edge] * by;
    for (int i = 0; i < stride; i += lanes) store(out + i, load(out + i) * by);
    out[line] = by;
    double* other = table.rates(0);
    for (int k = 0; k < dim; ++k, other += stride) {
        const double factor = other[line];
        if (k == edge || factor == 0.0) continue;
        other[line] = 0.0;
        objective[k] -= rate * factor;
        // The line of the variable that becomes loose: minus the factor times its own rate.
        take_away(other, out, factor, stride);
    }
    objective[edge] = rate;
    table.tight[edge] = leaving;
    table.high[edge] = high;
    table.loose[line] = entering;
    table.place[entering] = line;
    table.place[leaving] = -1 - edge;
    ++table.pivots;
}

// Make the table from the rows again, so that rounding does not add up.
bool Simplex::renew() {
    Tableau& table = *table_;
    const std::vector<int> tight = table.tight;
    const std::vector<char> high = table.high;
    const int dim = table.dim;
    table.start(*box_, rows_->size());
    for (int edge = 0; edge < dim; ++edge)
        if (tight[edge] < dim) table.high[tight[edge]] = high[edge];
    std::vector<double> corner(padded(dim + 1), 0.0);
    point(corner.data());
    objective_.assign(padded(dim), 0.0);
    for (int row = 0; row < rows_->size(); ++row)
        table.add_row((*rows_)[row], dot((*rows_)[row], corner.data(), static_cast<int>(corner.size())), 1);
    std::vector<char> gives_way(dim, 1);
    for (const int variable : tight)
        if (variable < dim) gives_way[variable] = 0;
    for (const int variable : tight) {
        if (variable < dim) continue;
        const int line = table.place[variable];
        int best = -1;
        double most = rounding::lp_tolerance;
        for (int k = 0; k < dim; ++k)
            if (gives_way[k] && std::abs(table.rates(k)[line]) > most) {
                most = std::abs(table.rates(k)[line]);
                best = k;
            }
        if (best < 0) {
            table.leave();
            return false;
        }
        gives_way[best] = 0;
        exchange(line, best, -table.values()[line] / table.rates(best)[line], false);
    }
    table.pivots = 0;
    return true;
}

void Simplex::set_objective() {
    const Tableau& table = *table_;
    const int dim = table.dim;
    objective_.assign(padded(dim), 0.0);
    if (!form_) {
        const double sign = is_high(goal_) ? 1.0 : -1.0;
        const int place = table.place[variable_of(goal_)];
        for (int k = 0; k < dim; ++k) objective_[k] = place >= 0 ? sign * table.rates(k)[place] : 0.0;
        if (place < 0) objective_[-1 - place] = sign;
        value_ = -distance(goal_);
        return;
    }
    weights_.clear();
    for (int line = 0; line < table.lines; ++line)
        if (table.loose[line] < dim) weights_.emplace_back(line, sign_ * form_[table.loose[line]]);
    const auto weighted = [&](const double* column) {
        double sum = 0;
        for (const auto& [line, weight] : weights_) sum += weight * column[line];
        return sum;
    };
    value_ = sign_ * form_[dim] + weighted(table.values());
    for (int k = 0; k < dim; ++k) {
        const int variable = table.tight[k];
        objective_[k] = weighted(table.rates(k));
        if (variable >= dim) continue;
        objective_[k] += sign_ * form_[variable];
        value_ += sign_ * form_[variable] * box_->outer(2 * variable + table.high[k]);
    }
}

auto Simplex::maximise(const double* form, double sign, double enough) -> Result {
    aim_at(form, sign);
    set_objective();
    return climb(enough);
}

auto Simplex::approach(int bound, const std::function<void(int edge)>& met) -> Result {
    form_ = nullptr;
    goal_ = bound;
    if (is_tight(bound)) return Result::stopped;
    set_objective();
    return climb(endless, Edges::all, met);
}

auto Simplex::pass(int bound, double enough) -> Result {
    form_ = nullptr;
    goal_ = ignored_ = bound;
    Tableau& table = *table_;
    set_objective();
    const int place = table.place[variable_of(bound)];
    if (place >= 0) {
        (is_high(bound) ? table.upper() : table.lower())[place] = is_high(bound) ? endless : -endless;
    } else if (is_tight(bound)) {
        const int edge = -1 - place;
        const double direction = is_high(bound) ? 1.0 : -1.0, step = measure_steps(edge, direction);
        if (step == endless) {
            endless_ = edge;
            endless_direction_ = -1;
            return Result::unbounded;
        }
        const auto line = static_cast<int>(std::find(steps_.begin(), steps_.end(), step) - steps_.begin());
        exchange(line, edge, direction * step, direction * table.rates(edge)[line] > 0);
    }
    return climb(enough);
}

// Make the objective as large as possible, along all edges or only along those that leave rows.
auto Simplex::climb(double enough, Edges edges, const std::function<void(int edge)>& met) -> Result {
    Tableau& table = *table_;
    const int dim = table.dim;
    const long most_moves = 64L * (dim + most_pivots);
    int pivots = 0;
    for (long moves = 0; moves < most_moves && pivots < most_pivots; ++moves) {
        if (moves % 16 == 0) stop_.check();
        if (ignored_ < 0 && table.pivots >= renew_every + dim) {
            if (!renew()) return Result::failed;
            set_objective();
        }
        if (value_ > enough) return Result::stopped;

        const bool patient = pivots < patient_pivots + table.lines + dim;
        const int edge = patient ? steepest_edge(edges) : first_edge(edges);
        if (edge < 0) return Result::optimal;

        const int variable = table.tight[edge];
        const double direction = table.high[edge] ? -1.0 : 1.0;
        const double shortest = measure_steps(edge, direction);
        const bool ends = variable < dim && bound_of(variable, !table.high[edge]) != ignored_;
        const double across = ends ? box_->length(variable) : endless;
        if (across <= shortest && across < endless) {
            move(edge, direction * across);
            table.high[edge] = !table.high[edge];
        } else {
            if (!(shortest < endless)) {
                endless_ = edge;
                endless_direction_ = 1;
                return Result::unbounded;
            }
            const double level = std::min(shortest + rounding::lp_tolerance, across);
            const int line = patient ? strongest_line(edge, level) : first_line(level);
            exchange(line, edge, direction * steps_[line], direction * table.rates(edge)[line] > 0);
            ++pivots;
        }
        if (met) met(edge);
        if (goal_ >= 0 && goal_ != ignored_ && is_tight(goal_)) return Result::stopped;
    }
    table.leave();
    return Result::failed;
}

// The edge along which the objective rises most, or -1 if there is none.
int Simplex::steepest_edge(Edges edges) const {
    const Tableau& table = *table_;
    const int *tight = table.tight.data(), dim = table.dim;
    const char* high = table.high.data();
    const double* objective = objective_.data();
    int edge = -1;
    double steepest = rounding::lp_tolerance;
    for (int k = 0; k < dim; ++k) {
        const double rate = high[k] ? -objective[k] : objective[k];
        if (!(rate > steepest) || (edges == Edges::rows && tight[k] < dim)) continue;
        steepest = rate;
        edge = k;
    }
    return edge;
}

// The edge of the first variable along which the objective rises.
int Simplex::first_edge(Edges edges) const {
    const Tableau& table = *table_;
    int edge = -1;
    for (int k = 0; k < table.dim; ++k) {
        if (edges == Edges::rows && table.tight[k] < table.dim) continue;
        const double rate = table.high[k] ? -objective_[k] : objective_[k];
        if (rate > rounding::lp_tolerance && (edge < 0 || table.tight[k] < table.tight[edge])) edge = k;
    }
    return edge;
}

// Of the lines that end an edge before this level, the one that an exchange disturbs least.
int Simplex::strongest_line(int edge, double level) const {
    const Tableau& table = *table_;
    const double *rates = table.rates(edge), *steps = steps_.data();
    const Lanes levels = Lanes{} + level;
    Lanes strongest{}, which{};
    for (int i = 0, stride = table.stride; i < stride; i += lanes) {
        const Lanes strength = load(steps + i) <= levels ? size_of(load(rates + i)) : Lanes{};
        const Choice stronger = strength > strongest;
        strongest = stronger ? strength : strongest;
        which = stronger ? Lanes{} + static_cast<double>(i) : which;
    }
    int lane = 0;
    for (int j = 1; j < lanes; ++j)
        if (strongest[j] > strongest[lane]) lane = j;
    return static_cast<int>(which[lane]) + lane;
}

// The line of the first variable among these.
int Simplex::first_line(double level) const {
    const Tableau& table = *table_;
    int line = -1;
    for (int i = 0; i < table.lines; ++i)
        if (steps_[i] <= level && (line < 0 || table.loose[i] < table.loose[line])) line = i;
    return line;
}

}  // namespace polyfold
