#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "geometry/lp/exact_simplex.hpp"
#include "geometry/lp/simplex.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

// A box of [-8, 8]^dim and rows through it, as floats and exactly; zero lies inside.
struct Cell {
    Box box;
    FormList forms;
    std::vector<Integers> rows;

    Cell(int dim, int count, Numbers& numbers) : box(dim), forms(dim) {
        for (int side = 0; side < box.sides(); ++side) box.set(side, side % 2 ? 8 : -8, side % 2 ? 8 : -8);
        for (int i = 0; i < count; ++i) {
            rows.push_back(numbers.integers(dim + 1, 9));
            rows.back()[dim] = 1 + numbers.below(20);
            Form form{std::vector<double>(padded(dim + 1), 0.0), 0};
            for (int k = 0; k <= dim; ++k) form.entries[k] = std::ldexp(static_cast<double>(rows.back()[k]), -4);
            forms.add(form, 1);
        }
    }

    // A table at a corner of the box, walked into the cell row after row.
    bool enter(Simplex& simplex, Tableau& table, const StopSignal& stop) {
        FormList inserted(box.dim());
        table.start(box);
        for (int row = 0; row < forms.size(); ++row) {
            simplex.stand(box, inserted, table);
            if (simplex.maximise(forms[row], 1, 1e-6) != Simplex::Result::stopped) return false;
            table.add_row(simplex.objective(), simplex.value(), 1);
            inserted.add({std::vector<double>(forms[row], forms[row] + padded(box.dim() + 1)), 0}, 1);
        }
        simplex.stand(box, forms, table);
        stop.check();
        return true;
    }

    // The sign of the largest value of a form, by the exact simplex.
    int exact_sign(const Integers& form, const StopSignal& stop) const {
        const int dim = box.dim();
        std::vector<ExactVector> all;
        for (const Integers& row : rows) all.push_back(exact(row));
        for (int side = 0; side < box.sides(); ++side) {
            Integers row(dim + 1, 0);
            row[side / 2] = side % 2 ? -1 : 1;
            row[dim] = 8;
            all.push_back(exact(row));
        }
        std::vector<const ExactVector*> pointers;
        for (const ExactVector& row : all) pointers.push_back(&row);
        Integers inside(dim + 1, 0);
        inside[dim] = 1;
        return exact_maximum(pointers, std::vector<int>(pointers.size(), 1), exact(form), exact(inside), stop).sign;
    }
};

}  // namespace

TEST_CASE("the largest value of a form is that of the exact simplex, and is proved") {
    Numbers numbers(53);
    const StopSignal stop;
    Simplex simplex(stop);
    int compared = 0, proved = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const int dim = 1 + numbers.below(7);
        Cell cell(dim, numbers.below(9), numbers);
        Tableau table;
        if (!cell.enter(simplex, table, stop)) continue;
        for (int objective = 0; objective < 6; ++objective) {
            Integers form = numbers.integers(dim + 1, 9);
            std::vector<double> entries(padded(dim + 1), 0.0);
            for (int k = 0; k <= dim; ++k) entries[k] = static_cast<double>(form[k]) / 16;
            REQUIRE(simplex.maximise(entries.data(), 1, 1e9) == Simplex::Result::optimal);
            const double most = simplex.value();
            // Just above and below what floats found.
            Integers fine(dim + 1);
            for (const int off : {1, -1}) {
                for (int k = 0; k <= dim; ++k) fine[k] = form[k] << 20;
                fine[dim] -= static_cast<std::int64_t>(std::llround(std::ldexp(most * 16, 20))) + 64 * off;
                CHECK_EQ(cell.exact_sign(fine, stop), -off);
            }
            std::vector<double> point(padded(dim + 1), 0.0);
            simplex.point(point.data());
            CHECK_LT(std::abs(polyfold::dot(entries.data(), point.data(), padded(dim + 1)) - most), 1e-9);
            LargestInBox largest(cell.box);
            largest.start(entries.data(), 1, 0);
            for (int edge = 0; edge < dim; ++edge)
                if (const int row = simplex.bound_of(edge) - cell.box.sides(); row >= 0)
                    largest.add(cell.forms[row], -simplex.objective()[edge], 0);
            CHECK_GE(largest.bound(), most - 1e-9);
            proved += largest.bound() < most + 1e-6;
            ++compared;
        }
    }
    CHECK_GT(compared, 1000);
    CHECK_EQ(proved, compared);
}

TEST_CASE("a table that has lost rows goes on as before") {
    Numbers numbers(54);
    const StopSignal stop;
    Simplex simplex(stop);
    for (int trial = 0; trial < 100; ++trial) {
        const int dim = 2 + numbers.below(5);
        Cell cell(dim, 6, numbers);
        Tableau table;
        if (!cell.enter(simplex, table, stop)) continue;
        std::vector<int> kept;
        for (int row = 0; row < 6; ++row)
            if (table.place[dim + row] < 0 || numbers.below(2)) kept.push_back(row);
        table.keep_rows(kept);
        cell.forms.keep(kept);
        std::vector<Integers> rows;
        for (const int row : kept) rows.push_back(cell.rows[row]);
        cell.rows = rows;
        simplex.stand(cell.box, cell.forms, table);
        for (int bound = 0; bound < cell.box.sides() + static_cast<int>(kept.size()); ++bound) {
            const auto result = simplex.approach(bound);
            CHECK((result == Simplex::Result::stopped || result == Simplex::Result::optimal));
            std::vector<double> point(padded(dim + 1), 0.0);
            simplex.point(point.data());
            for (std::size_t row = 0; row < kept.size(); ++row)
                CHECK_GT(polyfold::dot(cell.forms[static_cast<int>(row)], point.data(), padded(dim + 1)), -1e-9);
            if (result == Simplex::Result::stopped) CHECK_LT(simplex.distance(bound), 1e-9);
        }
    }
}

TEST_CASE("from outside, programs end where those from corner to corner do, or stop where the cell has no more") {
    Numbers numbers(57);
    const StopSignal stop;
    Simplex simplex(stop), from_outside(stop);
    int compared = 0, stopped = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const int dim = 1 + numbers.below(9);
        Cell cell(dim, numbers.below(8), numbers);
        Tableau table;
        if (!cell.enter(simplex, table, stop)) continue;
        for (int objective = 0; objective < 6; ++objective) {
            const Integers form = numbers.integers(dim + 1, 9);
            std::vector<double> entries(padded(dim + 1), 0.0);
            for (int k = 0; k <= dim; ++k) entries[k] = static_cast<double>(form[k]) / 16;
            Tableau corner = table, outside = table;
            simplex.stand(cell.box, cell.forms, corner);
            REQUIRE(simplex.maximise(entries.data(), 1, 1e9) == Simplex::Result::optimal);
            const double most = simplex.value();
            from_outside.stand(cell.box, cell.forms, outside);
            REQUIRE(from_outside.descend(entries.data(), 1, -1e9) == Simplex::Result::optimal);
            CHECK_EQ(from_outside.value(), doctest::Approx(most).epsilon(1e-6));
            // Where it ends is a corner of the cell, from which one can go on.
            CHECK(from_outside.maximise(entries.data(), 1, 1e9) == Simplex::Result::optimal);
            CHECK_EQ(from_outside.value(), doctest::Approx(most).epsilon(1e-6));
            ++compared;

            Tableau again = table;
            from_outside.stand(cell.box, cell.forms, again);
            if (from_outside.descend(entries.data(), 1, most + 1e-3) == Simplex::Result::stopped) {
                ++stopped;
                CHECK_GE(from_outside.value(), most - 1e-6);
                CHECK_LT(from_outside.value(), most + 1e-3);
            }
            // To a row: its least distance is that of the largest value of minus its form.
            for (int row = 0; row < cell.forms.size(); ++row) {
                Tableau near = table, far = table;
                simplex.stand(cell.box, cell.forms, near);
                REQUIRE(simplex.maximise(cell.forms[row], -1, 1e9) == Simplex::Result::optimal);
                from_outside.stand(cell.box, cell.forms, far);
                REQUIRE(from_outside.descend_to(cell.box.sides() + row) == Simplex::Result::optimal);
                CHECK_EQ(from_outside.distance(cell.box.sides() + row),
                         doctest::Approx(-simplex.value()).epsilon(1e-6));
            }
        }
    }
    CHECK_GT(compared, 1000);
    CHECK_GT(stopped, 1000);
}

}  // namespace polyfold::tests
