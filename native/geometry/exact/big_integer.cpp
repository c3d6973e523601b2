#include "geometry/exact/big_integer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace polyfold {

namespace {
__extension__ using Wide = unsigned __int128;
constexpr int limb_bits = 64;
}  // namespace

BigInteger::BigInteger(std::int64_t value) : negative_(value < 0) {
    if (value != 0) {
        const auto bits = static_cast<std::uint64_t>(value);
        limbs_.push_back(value < 0 ? ~bits + 1 : bits);
    }
}

void BigInteger::trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
    if (limbs_.empty()) negative_ = false;
}

int BigInteger::compare_magnitudes(const BigInteger& a, const BigInteger& b) {
    if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
    for (std::size_t i = a.limbs_.size(); i-- > 0;)
        if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
    return 0;
}

void BigInteger::add_magnitude(const BigInteger& other) {
    if (limbs_.size() < other.limbs_.size()) limbs_.resize(other.limbs_.size());
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
        if (i >= other.limbs_.size() && carry == 0) return;
        const Wide sum = Wide(limbs_[i]) + (i < other.limbs_.size() ? other.limbs_[i] : 0) + carry;
        limbs_[i] = static_cast<std::uint64_t>(sum);
        carry = static_cast<std::uint64_t>(sum >> limb_bits);
    }
    if (carry) limbs_.push_back(carry);
}

void BigInteger::subtract_magnitude(const BigInteger& smaller) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
        if (i >= smaller.limbs_.size() && borrow == 0) break;
        const Wide taken = Wide(i < smaller.limbs_.size() ? smaller.limbs_[i] : 0) + borrow;
        borrow = taken > limbs_[i] ? 1 : 0;
        limbs_[i] -= static_cast<std::uint64_t>(taken);
    }
    trim();
}

BigInteger BigInteger::operator-() const {
    BigInteger result = *this;
    result.negate();
    return result;
}

BigInteger& BigInteger::operator+=(const BigInteger& other) {
    if (other.is_zero()) return *this;
    if (is_zero()) return *this = other;
    if (negative_ == other.negative_) {
        add_magnitude(other);
    } else if (compare_magnitudes(*this, other) >= 0) {
        subtract_magnitude(other);
    } else {
        BigInteger larger = other;
        larger.subtract_magnitude(*this);
        *this = std::move(larger);
    }
    return *this;
}

BigInteger& BigInteger::operator-=(const BigInteger& other) {
    if (this == &other) return *this = BigInteger();
    negative_ = !negative_;
    *this += other;
    negate();
    return *this;
}

BigInteger operator*(const BigInteger& a, const BigInteger& b) {
    BigInteger product;
    if (a.is_zero() || b.is_zero()) return product;
    const std::size_t rows = a.limbs_.size(), columns = b.limbs_.size();
    product.limbs_.resize(rows + columns);
    const std::uint64_t *one = a.limbs_.data(), *two = b.limbs_.data();
    std::uint64_t* out = product.limbs_.data();
    for (std::size_t i = 0; i < rows; ++i, ++out) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            const Wide term = Wide(one[i]) * two[j] + out[j] + carry;
            out[j] = static_cast<std::uint64_t>(term);
            carry = static_cast<std::uint64_t>(term >> limb_bits);
        }
        out[columns] = carry;
    }
    product.negative_ = a.negative_ != b.negative_;
    product.trim();
    return product;
}

void BigInteger::shift_left(std::uint64_t bits) {
    if (is_zero() || bits == 0) return;
    const std::size_t whole = bits / limb_bits;
    const int part = static_cast<int>(bits % limb_bits);
    if (part) {
        std::uint64_t carry = 0;
        for (auto& limb : limbs_) {
            const std::uint64_t next = limb >> (limb_bits - part);
            limb = (limb << part) | carry;
            carry = next;
        }
        if (carry) limbs_.push_back(carry);
    }
    if (whole) limbs_.push_zeros_to_front(whole);
}

void BigInteger::shift_right(std::uint64_t bits) {
    if (is_zero() || bits == 0) return;
    if (bits >= limb_bits) limbs_.drop_front(bits / limb_bits);
    const int part = static_cast<int>(bits % limb_bits);
    if (part) {
        for (std::size_t i = 0; i < limbs_.size(); ++i) {
            const std::uint64_t above = i + 1 < limbs_.size() ? limbs_[i + 1] : 0;
            limbs_[i] = (limbs_[i] >> part) | (above << (limb_bits - part));
        }
    }
    trim();
}

std::uint64_t BigInteger::trailing_zeros() const {
    std::size_t i = 0;
    while (limbs_[i] == 0) ++i;
    return i * limb_bits + static_cast<std::uint64_t>(std::countr_zero(limbs_[i]));
}

std::uint64_t BigInteger::bit_length() const {
    if (is_zero()) return 0;
    return limbs_.size() * limb_bits - static_cast<std::uint64_t>(std::countl_zero(limbs_.back()));
}

BigInteger BigInteger::divided_exactly_by(const BigInteger& divisor) const {
    if (is_zero()) return {};
    if (divisor.limbs_.size() == 1 && divisor.limbs_[0] == 1) return divisor.negative_ ? -*this : *this;
    // With an odd divisor the quotient's limbs follow from the lowest one up, by the inverse modulo 2^64.
    const std::uint64_t zeros = divisor.trailing_zeros();
    BigInteger rest = *this, odd = divisor;
    rest.shift_right(zeros);
    odd.shift_right(zeros);
    std::uint64_t inverse = odd.limbs_[0];  // right modulo 8; every step doubles the number of right bits
    for (int bits = 3; bits < limb_bits; bits *= 2) inverse *= 2 - odd.limbs_[0] * inverse;

    BigInteger quotient;
    const std::size_t size = rest.limbs_.size() - odd.limbs_.size() + 1;
    quotient.limbs_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t q = rest.limbs_[i] * inverse;
        quotient.limbs_[i] = q;
        std::uint64_t borrow = 0;
        for (std::size_t j = 0; i + j < rest.limbs_.size(); ++j) {
            if (j >= odd.limbs_.size() && borrow == 0) break;
            const Wide taken = Wide(q) * (j < odd.limbs_.size() ? odd.limbs_[j] : 0) + borrow;
            const auto low = static_cast<std::uint64_t>(taken);
            borrow = static_cast<std::uint64_t>(taken >> limb_bits) + (low > rest.limbs_[i + j] ? 1 : 0);
            rest.limbs_[i + j] -= low;
        }
    }
    quotient.negative_ = negative_ != divisor.negative_;
    quotient.trim();
    return quotient;
}

std::pair<double, std::int64_t> BigInteger::to_float() const {
    if (is_zero()) return {0.0, 0};
    const std::uint64_t length = bit_length();
    std::uint64_t head;
    if (length <= limb_bits) {
        head = limbs_[0] << (limb_bits - length);
    } else {
        const std::uint64_t skip = length - limb_bits;
        const std::size_t whole = skip / limb_bits;
        const int part = static_cast<int>(skip % limb_bits);
        head = limbs_[whole] >> part;
        if (part) head |= limbs_[whole + 1] << (limb_bits - part);
        // A sticky bit keeps the rounding of the 64-bit head correct.
        if (trailing_zeros() < skip) head |= 1;
    }
    const double mantissa = std::ldexp(static_cast<double>(head), -limb_bits);
    return {negative_ ? -mantissa : mantissa, static_cast<std::int64_t>(length)};
}

std::string BigInteger::to_hex() const {
    if (is_zero()) return "0";
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t limb : limbs_)
        for (int shift = 0; shift < limb_bits; shift += 4) text.push_back(digits[(limb >> shift) & 15]);
    while (text.back() == '0') text.pop_back();
    if (negative_) text.push_back('-');
    std::reverse(text.begin(), text.end());
    return text;
}

}  // namespace polyfold
