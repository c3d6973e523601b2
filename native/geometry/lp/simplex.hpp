// Small dense linear programs in floats, from a corner that is known. What they answer is a proposal: whoever asks
// proves it.
#pragma once

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/lp/box.hpp"
#include "geometry/lp/forms.hpp"
#include "geometry/lp/tableau.hpp"

namespace polyfold {

// Walks from corner to corner of a cell. Bounds are numbered: first the box's sides, then the rows.
class Simplex {
  public:
    explicit Simplex(const StopSignal& stop) : stop_(stop) {}

    // Go on from where a cell's table stands; all of them must stay where they are.
    void stand(const Box& box, const FormList& rows, Tableau& table) {
        box_ = &box;
        rows_ = &rows;
        table_ = &table;
        ignored_ = -1;
    }

    enum class Result { optimal, stopped, unbounded, failed };

    // Walk uphill along a form (dim coefficients and a constant, times +-1). Stops early at the first corner where it
    // is more than enough. After a failure the table stands nowhere.
    Result maximise(const double* form, double sign, double enough);
    // The same from outside, which takes few pivots where there are far more sides than rows: from the box's best
    // corner back to the cell, stopped once the form is known to be less than enough. Only if that is not so does the
    // table stand at a corner of the cell.
    Result descend(const double* form, double sign, double enough);
    Result descend_to(int bound);  // to the corner that is nearest to it
    // Walk towards a bound; stops where it is met. Tells of every edge whose bound is met on the way.
    Result approach(int bound, const std::function<void(int edge)>& met = {});
    // Walk as far beyond a bound as the others allow; stops behind it. The table then stands outside of the cell.
    Result pass(int bound, double enough);

    // Look at a form from here, as if it was to be maximised.
    void measure(const double* form) {
        aim_at(form, 1);
        set_objective();
    }

    // What is maximised: its value here, and its rates along the edges.
    double value() const { return value_; }
    const double* objective() const { return objective_.data(); }

    void point(double* into) const;
    // The bound that an edge leaves, those of a line's variable (-1 for none), and the point a step along an edge, or
    // backwards, behind its bound.
    int bound_of(int edge) const;
    std::array<int, 2> bounds_of(int line) const {
        const int variable = table_->loose[line];
        return {bound_of(variable, false), variable < box_->dim() ? bound_of(variable, true) : -1};
    }
    void point_along(int edge, double step, double* into) const;
    // After an unbounded result: the edge that never ends, on which one moves inside of its bound, or outside.
    int endless_edge() const { return endless_; }
    double endless_direction() const { return endless_direction_; }

    // How fast one gets away from a bound along an edge, and how far from it this corner is.
    double rate(int bound, int edge) const;
    double distance(int bound) const;

    // The way along an edge, or backwards: which bound is crossed first, and where the next.
    struct Way {
        int first = -1;
        double step = 0, next = 0;  // infinite if there is none
    };
    Way look_along(int edge, bool backwards);

  private:
    static constexpr int renew_every = 64;  // pivots, and one more for each dimension

    const StopSignal& stop_;
    const Box* box_ = nullptr;
    const FormList* rows_ = nullptr;
    Tableau* table_ = nullptr;
    std::vector<double> objective_, steps_;
    std::vector<std::pair<int, double>> weights_;  // of lines, in `set_objective`
    std::vector<std::pair<double, int>> turns_;    // edges by what moving along them costs, in `descend`
    double value_ = 0;
    const double* form_ = nullptr;  // the objective, or none if it is the way to a bound
    double sign_ = 1;
    int goal_ = -1;     // the bound that is approached, or passed
    int ignored_ = -1;  // the bound that is passed
    int endless_ = -1;
    double endless_direction_ = 1;

    int variable_of(int bound) const { return bound < box_->sides() ? bound / 2 : bound - box_->sides() + box_->dim(); }
    bool is_high(int bound) const { return bound < box_->sides() && bound % 2; }
    int bound_of(int variable, bool high) const {
        return variable < box_->dim() ? 2 * variable + high : variable - box_->dim() + box_->sides();
    }
    bool is_tight(int bound) const;

    void aim_at(const double* form, double sign) {
        form_ = form;
        sign_ = sign;
        goal_ = -1;
    }
    void set_objective();
    enum class Edges { all, rows };
    Result climb(double enough, Edges edges = Edges::all, const std::function<void(int edge)>& met = {});
    Result fall(double enough);
    void cross_box();
    void cross(int edge);
    int steepest_edge(Edges edges) const;
    int first_edge(Edges edges) const;
    int strongest_line(int edge, double level) const;
    int first_line(double level) const;
    int line_outside() const;
    int last_turn(int line);
    double measure_steps(int edge, double direction);
    bool renew();
    void move(int edge, double step);
    void exchange(int line, int edge, double step, bool high);
};

}  // namespace polyfold
