// Vectors of dyadic rationals, exactly: rows of affine maps and homogeneous points.
#pragma once

#include <utility>
#include <vector>

#include "geometry/exact/big_integer.hpp"

namespace polyfold {

// Entry k is numerators[k] * 2^exponent. An affine form or a homogeneous point means the same under any
// positive factor, so geometry may drop the exponent; maps may not.
struct ExactVector {
    std::vector<BigInteger> numerators;
    std::int64_t exponent = 0;

    static ExactVector from_floats(const double* values, int size);
    bool is_zero() const;
};

// Sums float * vector terms without rounding.
class ExactSum {
  public:
    explicit ExactSum(int size) : size_(size) {}
    void add(double factor, const ExactVector& vector);
    void add_entry(int k, double value);
    ExactVector total() const;

  private:
    int size_;
    ExactVector sum_;
};

// The size of the determinant of as many vectors as they have entries, without their exponents: mantissa and exponent.
std::pair<double, std::int64_t> size_of_determinant(std::vector<ExactVector> rows);

int sign_of_product(const ExactVector& a, const ExactVector& b);

// The vector v, up to sign and scale, with row . v = 0 for all rows; the rows must leave exactly one
// dimension free.
ExactVector null_vector(std::vector<ExactVector> rows, int size);

}  // namespace polyfold
