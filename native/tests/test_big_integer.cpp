#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "geometry/exact/big_integer.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

namespace {

std::string hex(Wide value) {
    if (value == 0) return "0";
    std::string text;
    __extension__ auto size = static_cast<unsigned __int128>(value < 0 ? -value : value);
    for (; size; size >>= 4) text.insert(text.begin(), "0123456789abcdef"[static_cast<unsigned>(size) & 15]);
    return value < 0 ? "-" + text : text;
}

BigInteger big(Wide value) {
    BigInteger result(static_cast<std::int64_t>(value >> 62));
    result.shift_left(62);
    return result + BigInteger(static_cast<std::int64_t>(value & ((Wide{1} << 62) - 1)));
}

// A number of so many random bits, and its remainder after division by a prime, kept up alongside.
constexpr std::uint64_t primes[] = {(std::uint64_t{1} << 61) - 1, 1'000'000'007, 998'244'353};

std::uint64_t times(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % prime);
}

std::uint64_t remainder(const BigInteger& value, std::uint64_t prime) {
    std::uint64_t rest = 0;
    const std::string text = value.to_hex();
    for (const char digit : text) {
        if (digit == '-') continue;
        const int number = digit <= '9' ? digit - '0' : digit - 'a' + 10;
        rest = (times(rest, 16, prime) + static_cast<std::uint64_t>(number)) % prime;
    }
    return text[0] == '-' && rest ? prime - rest : rest;
}

BigInteger long_number(Numbers& numbers, int words) {
    BigInteger value(numbers.integer(std::int64_t{1} << 40));
    for (int w = 0; w < words; ++w) {
        value.shift_left(60);
        value += BigInteger(static_cast<std::int64_t>(numbers.bits() >> 4));
        if (numbers.below(8) == 0) value.shift_left(static_cast<std::uint64_t>(numbers.below(130)));
    }
    return value;
}

Wide number(Numbers& numbers, int bits) {
    const Wide value = (static_cast<Wide>(numbers.bits() >> 2) << 62) | static_cast<Wide>(numbers.bits() >> 2);
    const Wide size = value >> (124 - bits);
    return numbers.below(2) ? size : -size;
}

}  // namespace

TEST_CASE("sums, differences and products are those of 128-bit integers") {
    Numbers numbers(1);
    for (int trial = 0; trial < 20000; ++trial) {
        const Wide a = number(numbers, 1 + numbers.below(124)), b = number(numbers, 1 + numbers.below(124));
        CHECK_EQ(big(a).to_hex(), hex(a));
        CHECK_EQ((big(a) + big(b)).to_hex(), hex(a + b));
        CHECK_EQ((big(a) - big(b)).to_hex(), hex(a - b));
        CHECK_EQ((-big(a)).to_hex(), hex(-a));
        CHECK_EQ(big(a).sign(), sign_of(a));
        CHECK_EQ(big(a) == big(b), a == b);
        const Wide c = a >> 62, d = b >> 62;
        CHECK_EQ((big(c) * big(d)).to_hex(), hex(c * d));
    }
}

TEST_CASE("the ends of the 64-bit range") {
    constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
    CHECK_EQ(BigInteger(least).to_hex(), "-8000000000000000");
    CHECK_EQ(BigInteger(most).to_hex(), "7fffffffffffffff");
    CHECK_EQ((BigInteger(least) * BigInteger(least)).to_hex(), "40000000000000000000000000000000");
    CHECK_EQ((BigInteger(least) + BigInteger(most)).to_hex(), "-1");
    BigInteger zero;
    zero.negate();
    CHECK_EQ(zero, BigInteger(0));
    CHECK_EQ(zero.sign(), 0);
    BigInteger itself(5);
    itself -= itself;
    CHECK(itself.is_zero());
}

TEST_CASE("carries run through any number of limbs") {
    BigInteger power(1);
    power.shift_left(1000);
    CHECK_EQ((power - BigInteger(1)).to_hex(), std::string(250, 'f'));
    CHECK_EQ(((power - BigInteger(1)) + BigInteger(1)), power);
    CHECK_EQ((power - BigInteger(1)) - power, BigInteger(-1));
}

TEST_CASE("long numbers have the right remainders") {
    Numbers numbers(2);
    for (int trial = 0; trial < 1500; ++trial) {
        const BigInteger a = long_number(numbers, numbers.below(14)), b = long_number(numbers, numbers.below(14));
        for (const std::uint64_t prime : primes) {
            const std::uint64_t x = remainder(a, prime), y = remainder(b, prime);
            CHECK_EQ(remainder(a + b, prime), (x + y) % prime);
            CHECK_EQ(remainder(a - b, prime), (x + prime - y) % prime);
            CHECK_EQ(remainder(a * b, prime), times(x, y, prime));
        }
    }
}

TEST_CASE("exact division undoes multiplication") {
    Numbers numbers(3);
    for (int trial = 0; trial < 3000; ++trial) {
        const BigInteger a = long_number(numbers, numbers.below(10));
        BigInteger b = long_number(numbers, numbers.below(10));
        if (b.is_zero()) b = BigInteger(-3);
        CHECK_EQ((a * b).divided_exactly_by(b), a);
        CHECK_EQ((a * b * b).divided_exactly_by(b), a * b);
    }
}

TEST_CASE("shifts multiply by powers of two") {
    Numbers numbers(4);
    for (int trial = 0; trial < 3000; ++trial) {
        const auto bits = static_cast<std::uint64_t>(numbers.below(300));
        const BigInteger a = long_number(numbers, numbers.below(6));
        BigInteger power(1), shifted = a;
        for (std::uint64_t b = 0; b < bits; ++b) power += power;
        shifted.shift_left(bits);
        CHECK_EQ(shifted, a * power);
        if (!a.is_zero()) {
            CHECK_EQ(shifted.trailing_zeros(), a.trailing_zeros() + bits);
            CHECK_EQ(shifted.bit_length(), a.bit_length() + bits);
        }
        shifted.shift_right(bits);
        CHECK_EQ(shifted, a);
    }
}

TEST_CASE("the nearest float, as the compiler rounds 128-bit integers") {
    Numbers numbers(5);
    for (int trial = 0; trial < 20000; ++trial) {
        Wide a = number(numbers, 1 + numbers.below(124));
        // Numbers half-way between two floats and just beside that.
        if (trial % 3 == 0) a = ((a >> 30) << 30) + (Wide{1} << numbers.below(30)) + numbers.integer(1);
        const auto [mantissa, exponent] = big(a).to_float();
        CHECK_EQ(std::ldexp(mantissa, static_cast<int>(exponent)), static_cast<double>(a));
        if (a != 0) CHECK((std::abs(mantissa) >= 0.5 && std::abs(mantissa) <= 1));
    }
}

}  // namespace polyfold::tests
