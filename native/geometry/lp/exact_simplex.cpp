#include "geometry/lp/exact_simplex.hpp"

#include <cstddef>

namespace polyfold {

namespace {

// A dictionary with a common denominator: basic_i * denominator = table[i][0] + sum_k table[i][k] * nonbasic_k. Pivots
// keep all entries integers. Variables are the dim free ones, numbered from 0, and then a slack for every row.
class Dictionary {
  public:
    Dictionary(std::vector<std::vector<BigInteger>> table, int dim)
        : table_(std::move(table)), denominator_(1), dim_(dim) {
        const std::size_t rows = table_.size() - 1;
        for (int k = 0; k < dim; ++k) nonbasic_.push_back(k);
        for (std::size_t i = 0; i < rows; ++i) basic_.push_back(dim + static_cast<int>(i));
    }

    // Bland's rule from a feasible dictionary; the objective is the last line. Stops where it becomes positive.
    int solve(const StopSignal& stop) {
        for (;;) {
            stop.check();
            if (objective()[0].sign() > 0) return 1;
            int entering = -1;
            for (int k = 0; k < dim_; ++k) {
                const int slope = objective()[k + 1].sign();
                const bool useful = slope > 0 || (slope < 0 && free(nonbasic_[k]));
                if (useful && (entering < 0 || nonbasic_[k] < nonbasic_[entering])) entering = k;
            }
            if (entering < 0) return objective()[0].sign();
            const int direction = objective()[entering + 1].sign();
            int leaving = -1;
            for (int i = 0; i < static_cast<int>(basic_.size()); ++i) {
                if (free(basic_[i]) || table_[i][entering + 1].sign() * direction >= 0) continue;
                if (leaving < 0 || earlier(i, leaving, entering)) leaving = i;
            }
            if (leaving < 0) {
                unbounded_along_ = entering;
                unbounded_direction_ = direction;
                return 1;
            }
            pivot(leaving, entering, stop);
        }
    }

    // The free variables and the denominator at the current corner; far along the ray where there is no corner.
    ExactVector corner() const {
        ExactVector point;
        point.numerators.resize(dim_ + 1);
        for (std::size_t i = 0; i < basic_.size(); ++i)
            if (free(basic_[i])) point.numerators[basic_[i]] = table_[i][0];
        point.numerators[dim_] = denominator_;
        if (unbounded_along_ >= 0) {
            // Go so far that the objective is positive: its value is at least -|z0|, its slope at least one.
            BigInteger length = objective()[0].sign() < 0 ? -objective()[0] : objective()[0];
            length += BigInteger(1);
            if (unbounded_direction_ < 0) length.negate();
            for (std::size_t i = 0; i < basic_.size(); ++i)
                if (free(basic_[i])) point.numerators[basic_[i]] += table_[i][unbounded_along_ + 1] * length;
            if (free(nonbasic_[unbounded_along_]))
                point.numerators[nonbasic_[unbounded_along_]] = length * denominator_;
        }
        return point;
    }

  private:
    std::vector<std::vector<BigInteger>> table_;
    BigInteger denominator_;
    int dim_;
    std::vector<int> basic_, nonbasic_;
    int unbounded_along_ = -1, unbounded_direction_ = 0;

    bool free(int variable) const { return variable < dim_; }
    const std::vector<BigInteger>& objective() const { return table_.back(); }

    // Whether row i is reached before row j when the entering variable moves; ties go to the smaller variable.
    bool earlier(int i, int j, int entering) const {
        BigInteger left = table_[i][0] * table_[j][entering + 1], right = table_[j][0] * table_[i][entering + 1];
        if (left.sign() < 0) left.negate();
        if (right.sign() < 0) right.negate();
        const int order = (left - right).sign();
        return order < 0 || (order == 0 && basic_[i] < basic_[j]);
    }

    void pivot(int leaving, int entering, const StopSignal& stop) {
        // basic = (constant + a x + rest) / D  becomes  x = (D basic - constant - rest) / a; the denominator becomes
        // |a|.
        const BigInteger a = table_[leaving][entering + 1];
        const int sign = a.sign();
        const std::vector<BigInteger> row = table_[leaving];
        for (std::size_t i = 0; i < table_.size(); ++i) {
            if (static_cast<int>(i) == leaving) continue;
            stop.check();
            const BigInteger factor = table_[i][entering + 1];
            for (int k = 0; k <= dim_; ++k) {
                if (k == entering + 1) continue;
                BigInteger entry = (a * table_[i][k] - factor * row[k]).divided_exactly_by(denominator_);
                if (sign < 0) entry.negate();
                table_[i][k] = std::move(entry);
            }
            table_[i][entering + 1] = sign < 0 ? -factor : factor;
        }
        for (int k = 0; k <= dim_; ++k) {
            BigInteger entry = k == entering + 1 ? denominator_ : -row[k];
            if (sign < 0) entry.negate();
            table_[leaving][k] = std::move(entry);
        }
        denominator_ = sign < 0 ? -a : a;
        std::swap(basic_[leaving], nonbasic_[entering]);
    }
};

}  // namespace

ExactMaximum exact_maximum(const std::vector<const ExactVector*>& rows, const std::vector<int>& sides,
                           const ExactVector& objective, const ExactVector& inside, const StopSignal& stop) {
    // With the inner point as origin every slack is positive, and the dictionary of slacks is feasible. The new
    // coordinates are y = w u - p for inside = (p, w), so a form a . u + b becomes (a . y + a . p + b w) / w.
    const int dim = static_cast<int>(inside.numerators.size()) - 1;
    std::vector<std::vector<BigInteger>> table;
    const auto add = [&](const ExactVector& form, int side) {
        std::vector<BigInteger> line(dim + 1);
        for (int k = 0; k <= dim; ++k) line[0] += form.numerators[k] * inside.numerators[k];
        for (int k = 0; k < dim; ++k) line[k + 1] = form.numerators[k];
        if (side < 0)
            for (auto& entry : line) entry.negate();
        table.push_back(std::move(line));
    };
    for (std::size_t i = 0; i < rows.size(); ++i) add(*rows[i], sides[i]);
    add(objective, 1);
    Dictionary dictionary(std::move(table), dim);
    ExactMaximum result;
    result.sign = dictionary.solve(stop);
    if (result.sign <= 0) return result;
    // Back to u = (y + p) / w, homogeneously: y = Y / D gives (Y + D p, D w).
    result.point = dictionary.corner();
    const BigInteger denominator = result.point.numerators[dim];
    for (int k = 0; k < dim; ++k) result.point.numerators[k] += denominator * inside.numerators[k];
    result.point.numerators[dim] = denominator * inside.numerators[dim];
    return result;
}

}  // namespace polyfold
