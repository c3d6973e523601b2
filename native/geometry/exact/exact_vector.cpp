#include "geometry/exact/exact_vector.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/base/errors.hpp"

namespace polyfold {

namespace {

struct Dyadic {
    std::int64_t mantissa;
    std::int64_t exponent;
};

Dyadic split(double value) {
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return {static_cast<std::int64_t>(std::ldexp(mantissa, 53)), exponent - 53};
}

// Give both sides the smaller exponent; returns the shift that the other one needs.
std::uint64_t align(ExactVector& vector, std::int64_t exponent) {
    if (exponent >= vector.exponent) return static_cast<std::uint64_t>(exponent - vector.exponent);
    const auto shift = static_cast<std::uint64_t>(vector.exponent - exponent);
    for (auto& n : vector.numerators) n.shift_left(shift);
    vector.exponent = exponent;
    return 0;
}

void drop_common_zeros(ExactVector& vector) {
    std::uint64_t zeros = UINT64_MAX;
    for (const auto& n : vector.numerators)
        if (!n.is_zero()) zeros = std::min(zeros, n.trailing_zeros());
    if (zeros == UINT64_MAX || zeros == 0) return;
    for (auto& n : vector.numerators)
        if (!n.is_zero()) n.shift_right(zeros);
    vector.exponent += static_cast<std::int64_t>(zeros);
}

}  // namespace

ExactVector ExactVector::from_floats(const double* values, int size) {
    ExactSum sum(size);
    for (int k = 0; k < size; ++k) sum.add_entry(k, values[k]);
    return sum.total();
}

bool ExactVector::is_zero() const {
    return std::all_of(numerators.begin(), numerators.end(), [](const auto& n) { return n.is_zero(); });
}

void ExactSum::add(double factor, const ExactVector& vector) {
    if (factor == 0.0 || vector.is_zero()) return;
    const Dyadic f = split(factor);
    const BigInteger mantissa(f.mantissa);
    if (sum_.numerators.empty()) {
        sum_.numerators.resize(static_cast<std::size_t>(size_));
        sum_.exponent = f.exponent + vector.exponent;
    }
    const std::uint64_t shift = align(sum_, f.exponent + vector.exponent);
    for (std::size_t k = 0; k < sum_.numerators.size(); ++k) {
        if (vector.numerators[k].is_zero()) continue;
        BigInteger term = vector.numerators[k] * mantissa;
        term.shift_left(shift);
        sum_.numerators[k] += term;
    }
}

void ExactSum::add_entry(int k, double value) {
    if (value == 0.0) return;
    const Dyadic v = split(value);
    if (sum_.numerators.empty()) {
        sum_.numerators.resize(static_cast<std::size_t>(size_));
        sum_.exponent = v.exponent;
    }
    const std::uint64_t shift = align(sum_, v.exponent);
    BigInteger term(v.mantissa);
    term.shift_left(shift);
    sum_.numerators[k] += term;
}

ExactVector ExactSum::total() const {
    ExactVector result = sum_;
    result.numerators.resize(static_cast<std::size_t>(size_));
    drop_common_zeros(result);
    return result;
}

std::pair<double, std::int64_t> size_of_determinant(std::vector<ExactVector> rows) {
    // Fraction-free elimination: every division is exact, and the last pivot is the determinant, up to its sign.
    const std::size_t size = rows.size();
    BigInteger previous(1);
    for (std::size_t step = 0; step < size; ++step) {
        std::size_t pivot = step;
        while (pivot < size && rows[pivot].numerators[step].is_zero()) ++pivot;
        if (pivot == size) return {0.0, 0};
        std::swap(rows[pivot], rows[step]);
        const std::vector<BigInteger>& first = rows[step].numerators;
        for (std::size_t i = step + 1; i < size; ++i) {
            auto& row = rows[i].numerators;
            for (std::size_t k = step + 1; k < size; ++k)
                row[k] = (first[step] * row[k] - row[step] * first[k]).divided_exactly_by(previous);
        }
        previous = first[step];
    }
    const auto [mantissa, exponent] = previous.to_float();
    return {std::abs(mantissa), exponent};
}

int sign_of_product(const ExactVector& a, const ExactVector& b) {
    BigInteger sum;
    for (std::size_t k = 0; k < a.numerators.size(); ++k)
        if (!a.numerators[k].is_zero() && !b.numerators[k].is_zero()) sum += a.numerators[k] * b.numerators[k];
    return sum.sign();
}

ExactVector null_vector(std::vector<ExactVector> rows, int size) {
    // Fraction-free Gauss-Jordan elimination, one row after the other: all pivots are equal, every division is exact,
    // and a row that depends on those before it goes.
    const auto columns = static_cast<std::size_t>(size);
    std::vector<std::vector<BigInteger>*> reduced;
    std::vector<std::size_t> pivots;         // the column of each
    std::vector<std::size_t> free(columns);  // all others
    std::iota(free.begin(), free.end(), std::size_t{0});
    BigInteger pivot(1);
    for (ExactVector& each : rows) {
        if (free.size() == 1) break;
        std::vector<BigInteger>& row = each.numerators;
        if (!reduced.empty()) {
            for (const std::size_t k : free) {
                row[k] = pivot * row[k];
                for (std::size_t i = 0; i < reduced.size(); ++i)
                    if (!row[pivots[i]].is_zero()) row[k] -= row[pivots[i]] * (*reduced[i])[k];
            }
        }
        // The shortest entry as pivot keeps the numbers short.
        std::size_t best = free.size();
        for (std::size_t f = 0; f < free.size(); ++f)
            if (!row[free[f]].is_zero() &&
                (best == free.size() || row[free[f]].bit_length() < row[free[best]].bit_length()))
                best = f;
        if (best == free.size()) continue;
        const std::size_t column = free[best];
        free.erase(free.begin() + static_cast<std::ptrdiff_t>(best));
        const BigInteger& next = row[column];
        for (std::vector<BigInteger>* other : reduced)
            for (const std::size_t k : free)
                (*other)[k] = (next * (*other)[k] - (*other)[column] * row[k]).divided_exactly_by(pivot);
        pivot = next;
        reduced.push_back(&row);
        pivots.push_back(column);
    }
    if (free.size() > 1) throw Contradiction("a generator's walls do not determine it");
    ExactVector result;
    result.numerators.resize(columns);
    for (std::size_t i = 0; i < reduced.size(); ++i) result.numerators[pivots[i]] = -(*reduced[i])[free[0]];
    result.numerators[free[0]] = std::move(pivot);
    drop_common_zeros(result);
    return result;
}

}  // namespace polyfold
