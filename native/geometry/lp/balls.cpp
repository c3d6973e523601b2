#include "geometry/lp/balls.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "geometry/base/in_parallel.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 1024;  // cells
// What is taken for zero: about what rounding makes of it. Answers are looked over, so this decides speed only.
constexpr double nothing = 64 * rounding::unit;

// One program: the largest r with A v + r <= b, from v = 0. The slacks of the rows, v and r are written by as many of
// them that are zero: row i of the table is constant + sum_k rate_k x_k.
class BallProgram {
  public:
    explicit BallProgram(int dim) : dim_(dim), size_(dim + 1), at_(dim + 1), where_(dim + 1) {}

    BallStatus operator()(const double* A, const double* b, int rows, double* ball) {
        start(A, b, rows);
        // r first: it may grow as far as the nearest wall.
        int nearest = 0;
        if (rows == 0) return BallStatus::endless;
        for (int i = 1; i < rows; ++i)
            if (b[i] < b[nearest]) nearest = i;
        exchange(nearest, dim_);
        const int patience = 20 * (rows + size_);
        for (int step = 0; step < 10 * patience; ++step) {
            const int column = choose_column(step > patience);
            if (column < 0) return read_off(A, b, rows, ball);
            const int row = choose_row(column, objective()[column] > 0 ? 1.0 : -1.0, step > patience);
            if (row < 0) return never_ends(A, rows, column) ? BallStatus::endless : BallStatus::failed;
            exchange(row, column);
        }
        return BallStatus::failed;
    }

  private:
    const int dim_, size_;
    int rows_ = 0;
    std::vector<double> table_;  // rows, and the objective behind them; size_ rates each, and a constant
    // What stands for column k, and for row i: a row's slack (its number), or v and r (minus one minus their number).
    std::vector<int> at_, basic_;
    std::vector<double> where_;

    double* row(int i) { return table_.data() + static_cast<std::size_t>(i) * (size_ + 1); }
    double* objective() { return row(rows_); }

    void start(const double* A, const double* b, int rows) {
        rows_ = rows;
        table_.resize(static_cast<std::size_t>(rows + 1) * (size_ + 1));
        basic_.resize(rows);
        for (int i = 0; i < rows; ++i) {
            for (int k = 0; k < dim_; ++k) row(i)[k] = -A[i * dim_ + k];
            row(i)[dim_] = -1.0;
            row(i)[size_] = b[i];
            basic_[i] = i;
        }
        std::fill_n(objective(), size_ + 1, 0.0);
        objective()[dim_] = 1.0;
        for (int k = 0; k < size_; ++k) at_[k] = -1 - k;
    }

    // The variable that is zero and makes r grow, by most or (so that it ends) by the first; -1 if none does. Slacks
    // only grow.
    int choose_column(bool first) {
        int best = -1;
        double most = nothing;
        for (int k = 0; k < size_; ++k) {
            const double rate = at_[k] < 0 ? std::abs(objective()[k]) : objective()[k];
            if (!(rate > most)) continue;
            best = k;
            if (first) break;
            most = rate;
        }
        return best;
    }

    // The slack that first becomes zero; -1 if none does. What stands for v and r has no end.
    int choose_row(int column, double direction, bool first) {
        int best = -1;
        double least = std::numeric_limits<double>::infinity(), steepest = 0;
        for (int i = 0; i < rows_; ++i) {
            const double rate = -direction * row(i)[column];
            if (basic_[i] < 0 || !(rate > nothing)) continue;
            const double step = std::max(row(i)[size_], 0.0) / rate;
            if (step < least || (step == least && !first && rate > steepest)) {
                best = i;
                least = step;
                steepest = rate;
            }
        }
        return best;
    }

    void exchange(int i, int column) {
        double* pivot_row = row(i);
        const double by = 1 / pivot_row[column];
        for (int k = 0; k <= size_; ++k) pivot_row[k] *= -by;
        pivot_row[column] = by;
        for (int other = 0; other <= rows_; ++other) {
            if (other == i) continue;
            double* to = row(other);
            const double factor = to[column];
            if (factor == 0.0) continue;
            to[column] = 0.0;
            for (int k = 0; k <= size_; ++k) to[k] += factor * pivot_row[k];
        }
        std::swap(basic_[i], at_[column]);
    }

    // Where that is, how large a ball fits there, and whether the multipliers say that none is larger.
    BallStatus read_off(const double* A, const double* b, int rows, double* ball) {
        std::fill(where_.begin(), where_.end(), 0.0);
        for (int i = 0; i < rows; ++i)
            if (basic_[i] < 0) where_[-1 - basic_[i]] = row(i)[size_];
        double radius = std::numeric_limits<double>::infinity();
        for (int i = 0; i < rows; ++i) {
            double left = b[i];
            for (int k = 0; k < dim_; ++k) left -= A[i * dim_ + k] * where_[k];
            radius = std::min(radius, left);
        }
        // With multipliers y: r sum y + (sum of y a) v <= y b for all balls.
        double bound = 0, sum = 0, off = 0;
        for (int k = 0; k < size_; ++k)
            if (at_[k] >= 0) {
                const double multiplier = std::max(-objective()[k], 0.0);
                bound += multiplier * b[at_[k]];
                sum += multiplier;
            }
        for (int c = 0; c < dim_; ++c) {
            double slope = 0;
            for (int k = 0; k < size_; ++k)
                if (at_[k] >= 0) slope += std::max(-objective()[k], 0.0) * A[at_[k] * dim_ + c];
            off += std::abs(slope * where_[c]);
        }
        off += std::abs(bound - radius) + std::abs(1 - sum) * std::abs(radius);
        if (!(off <= rounding::fair * radius)) return BallStatus::failed;
        std::copy_n(where_.begin(), dim_, ball);
        ball[dim_] = radius;
        return BallStatus::found;
    }

    // Whether balls grow for ever along this column, as no row says that they do not.
    bool never_ends(const double* A, int rows, int column) {
        const double direction = objective()[column] > 0 ? 1.0 : -1.0, growth = std::abs(objective()[column]);
        std::fill(where_.begin(), where_.end(), 0.0);
        if (at_[column] < 0) where_[-1 - at_[column]] = direction;
        for (int i = 0; i < rows; ++i)
            if (basic_[i] < 0) where_[-1 - basic_[i]] = direction * row(i)[column];
        double length = 0;
        for (int k = 0; k < dim_; ++k) length = std::max(length, std::abs(where_[k]));
        if (!(growth > rounding::fair * length)) return false;
        for (int i = 0; i < rows; ++i) {
            double nearer = growth;
            for (int k = 0; k < dim_; ++k) nearer += A[i * dim_ + k] * where_[k];
            if (!(nearer <= rounding::fair * growth)) return false;
        }
        return true;
    }
};

}  // namespace

Balls largest_balls(const BallProblems& problems, int threads) {
    const auto size = static_cast<std::size_t>(problems.dim) + 1;
    Balls found{std::vector<double>(size * problems.cells), std::vector<std::uint8_t>(problems.cells)};
    in_parallel(threads, problems.cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        BallProgram program(problems.dim);
        for (std::int64_t cell = first; cell < last; ++cell) {
            const std::int64_t row = problems.start[cell];
            const int rows = static_cast<int>(problems.start[cell + 1] - row);
            found.status[cell] = static_cast<std::uint8_t>(
                program(problems.A + row * problems.dim, problems.b + row, rows, found.numbers.data() + cell * size));
        }
    });
    return found;
}

}  // namespace polyfold
