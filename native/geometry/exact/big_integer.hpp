// Integers of any size: what decides a sign when floating point cannot.
//
// Only what exact sign decisions need: ring operations, shifts, and division that is known to leave no
// remainder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "geometry/exact/limbs.hpp"

namespace polyfold {

class BigInteger {
  public:
    BigInteger() = default;
    BigInteger(std::int64_t value);

    int sign() const { return limbs_.empty() ? 0 : (negative_ ? -1 : 1); }
    bool is_zero() const { return limbs_.empty(); }
    void negate() { negative_ = !negative_ && !limbs_.empty(); }

    BigInteger operator-() const;
    BigInteger& operator+=(const BigInteger& other);
    BigInteger& operator-=(const BigInteger& other);
    friend BigInteger operator+(BigInteger a, const BigInteger& b) { return a += b; }
    friend BigInteger operator-(BigInteger a, const BigInteger& b) { return a -= b; }
    friend BigInteger operator*(const BigInteger& a, const BigInteger& b);
    friend bool operator==(const BigInteger& a, const BigInteger& b) = default;

    void shift_left(std::uint64_t bits);
    void shift_right(std::uint64_t bits);  // bits shifted out must be zero
    std::uint64_t trailing_zeros() const;  // of a non-zero number
    std::uint64_t bit_length() const;

    // The quotient of a division that is known to be exact.
    BigInteger divided_exactly_by(const BigInteger& divisor) const;

    // value = mantissa * 2^exponent up to half a unit in the last place, 0.5 <= |mantissa| <= 1.
    std::pair<double, std::int64_t> to_float() const;

    std::string to_hex() const;

  private:
    Limbs limbs_;  // least significant first, no leading zeros
    bool negative_ = false;

    void trim();
    static int compare_magnitudes(const BigInteger& a, const BigInteger& b);
    void add_magnitude(const BigInteger& other);
    void subtract_magnitude(const BigInteger& smaller);
};

}  // namespace polyfold
