// The signs of many affine forms at once, at a point or on a box, as far as floats prove them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace polyfold {

// A set of rows by their numbers.
class RowBits {
  public:
    void clear(int rows) { words_.assign(static_cast<std::size_t>(rows + 63) / 64, 0); }
    bool has(int row) const { return words_[row / 64] >> (row % 64) & 1; }
    void set(int row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
    // Some neighbouring rows, none of them in another word than the first one.
    void set(int first, std::uint64_t bits) { words_[first / 64] |= bits << (first % 64); }
    // Some neighbouring rows, at most 32 of them.
    void set_some(int first, unsigned bits) {
        const std::uint64_t wide = bits;
        words_[first / 64] |= wide << (first % 64);
        if (first % 64 > 32 && wide >> (64 - first % 64)) words_[first / 64 + 1] |= wide >> (64 - first % 64);
    }
    const std::vector<std::uint64_t>& words() const { return words_; }

  private:
    std::vector<std::uint64_t> words_;
};

// The rows that are positive, and those that are negative, somewhere or everywhere.
struct RowSides {
    RowBits positive, negative;

    void clear(int rows) {
        positive.clear(rows);
        negative.clear(rows);
    }
};

// Affine forms side by side.
struct Rows {
    const double* forms;  // [k * count + row]
    int count, coordinates;
};

// Values and signs (1, -1, or 0 in doubt) of the rows from `first` on, at a point whose coordinates are at most one and
// known up to `error`. A row's value may be off by doubt[row] + norm[row] * error. Adds to `sides` what is proved, if
// that is wanted. Returns whether any sign is in doubt.
bool signs_at(const Rows& rows, int first, const double* point, double error, const double* norm, const double* doubt,
              double* value, std::int8_t* sign, RowSides* sides);

// Points one behind the other, with what the coordinates of each may be off.
struct Points {
    const double* coordinates;
    const double* error;
    int count;
};

// The same for all rows at many points: values [point * rows + row], in `sides` the rows that are proved to be positive
// or negative somewhere, and in `in_doubt` those with a sign that is in doubt somewhere: the signs of the others are
// those of their values. All of these sets are empty at first. Returns whether any sign is in doubt.
bool sides_at(const Rows& rows, const Points& points, const double* norm, const double* doubt, double* value,
              RowSides& sides, RowBits& in_doubt);

// A box around points that are themselves known up to `error`.
struct RowBox {
    std::vector<double> centre, reach;
    double error = 0;

    // Around the first point alone.
    void start(const double* point, int coordinates, double point_error);
    void add(const double* point, double point_error);
    // To be called when all points are there.
    void finish();

  private:
    std::vector<double> low_, high_;
};

// The rows that have one sign at all of these points, because they have it on the whole box. `norm` bounds the sum of
// the sizes of a row's coefficients, and `form_error` what each of them may be off.
void signs_on_box(const Rows& rows, const RowBox& box, const double* norm, const double* form_error, RowSides& sides);

}  // namespace polyfold
