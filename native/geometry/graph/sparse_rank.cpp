#include "geometry/graph/sparse_rank.hpp"

#include <functional>
#include <queue>

namespace polyfold {

namespace {

struct Entry {
    std::int64_t row, value;
};

class Elimination {
  public:
    Elimination(const SparseColumns& matrix, bool modulo_two)
        : matrix_(matrix),
          modulo_two_(modulo_two),
          pivot_of_(matrix.rows, -1),
          uses_(matrix.rows, 0),
          value_(matrix.rows, 0),
          listed_(matrix.rows, 0) {
        for (std::int64_t j = 0; j < matrix.columns; ++j)
            if (!matrix.skipped[j])
                for (std::int64_t e = matrix.start[j]; e < matrix.start[j + 1]; ++e) ++uses_[matrix.row[e]];
    }

    SparseRank operator()() {
        std::vector<std::vector<Entry>> left;
        for (std::int64_t j = 0; j < matrix_.columns && !result_.overflow; ++j) {
            if (matrix_.skipped[j]) continue;
            for (std::int64_t e = matrix_.start[j]; e < matrix_.start[j + 1]; ++e)
                add(matrix_.row[e], matrix_.value[e]);
            auto column = reduced();
            if (!column.empty() && !make_pivot(column)) left.push_back(std::move(column));
        }
        // Pivots that were found later may still clear these, and what is left may have become one.
        for (auto& column : left) {
            if (result_.overflow) break;
            for (const Entry& entry : column) add(entry.row, entry.value);
            column = reduced();
            if (!column.empty() && make_pivot(column)) column.clear();
        }
        for (const auto& column : left) {
            if (result_.overflow || column.empty()) continue;
            for (const Entry& entry : column) add(entry.row, entry.value);
            for (const Entry& entry : reduced()) {
                result_.rest_row.push_back(entry.row);
                result_.rest_value.push_back(entry.value);
            }
            result_.rest_start.push_back(static_cast<std::int64_t>(result_.rest_row.size()));
        }
        return std::move(result_);
    }

  private:
    const SparseColumns& matrix_;
    const bool modulo_two_;
    SparseRank result_;
    std::vector<std::int64_t> pivot_of_;      // by row: the number of its pivot
    std::vector<std::int64_t> uses_;          // by row: columns that it occurs in at first
    std::vector<std::vector<Entry>> pivots_;  // columns, each without entries in the rows of pivots before it

    // The column at hand.
    std::vector<std::int64_t> value_;
    std::vector<std::uint8_t> listed_;
    std::vector<std::int64_t> rows_;
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> waiting_;

    void add(std::int64_t row, std::int64_t value) {
        if (modulo_two_) {
            value_[row] ^= value & 1;
        } else if (__builtin_add_overflow(value_[row], value, &value_[row])) {
            result_.overflow = true;
        }
        if (listed_[row]) return;
        listed_[row] = 1;
        rows_.push_back(row);
        if (pivot_of_[row] >= 0) waiting_.push(pivot_of_[row]);
    }

    // The column at hand without entries in the rows of pivots. Taking a pivot's column away brings back no row of a
    // pivot before it, so one pass in their order is enough.
    std::vector<Entry> reduced() {
        while (!waiting_.empty()) {
            const auto& pivot = pivots_[waiting_.top()];
            waiting_.pop();
            // The pivot's own entry comes first, and is 1 or -1.
            std::int64_t factor = 0;
            if (__builtin_mul_overflow(value_[pivot[0].row], -pivot[0].value, &factor)) result_.overflow = true;
            if (factor == 0 || result_.overflow) continue;
            for (const Entry& entry : pivot) {
                std::int64_t product = 0;
                if (__builtin_mul_overflow(factor, entry.value, &product)) result_.overflow = true;
                add(entry.row, product);
            }
        }
        std::vector<Entry> column;
        for (const std::int64_t row : rows_) {
            if (value_[row] != 0) column.push_back({row, value_[row]});
            value_[row] = 0;
            listed_[row] = 0;
        }
        rows_.clear();
        return column;
    }

    // The row in the fewest columns makes the least new entries.
    bool make_pivot(std::vector<Entry>& column) {
        std::int64_t best = -1;
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(column.size()); ++i) {
            const std::int64_t value = column[i].value;
            if ((value == 1 || value == -1) && (best < 0 || uses_[column[i].row] < uses_[column[best].row])) best = i;
        }
        if (best < 0) return false;
        std::swap(column[0], column[best]);
        pivot_of_[column[0].row] = static_cast<std::int64_t>(pivots_.size());
        result_.pivot_rows.push_back(column[0].row);
        pivots_.push_back(std::move(column));
        return true;
    }
};

}  // namespace

SparseRank sparse_rank(const SparseColumns& matrix, bool modulo_two) {
    return Elimination(matrix, modulo_two)();
}

}  // namespace polyfold
