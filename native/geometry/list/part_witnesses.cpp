#include "geometry/list/part_witnesses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "geometry/exact/rounding.hpp"
#include "geometry/list/row_values.hpp"

namespace polyfold {

void PartWitnesses::start(int facets, const Frame& frame, int first, const StageMap& map) {
    rows_ = frame.count() - first;
    facet_registers_ = registers_for(facets);
    row_registers_ = std::max(registers_for(rows_), 1);
    const int registers = facet_registers_ + row_registers_;
    forms_.resize(static_cast<std::size_t>(registers * dimensions_));
    doubts_.resize(registers);
    errors_.resize(static_cast<std::size_t>(registers * lanes));
    for (int i = 0; i < facet_registers_; ++i) {
        for (int k = 0; k < dim_; ++k) forms_[i * dimensions_ + k] = Lanes{};
        forms_[i * dimensions_ + dim_] = Lanes{} + 1.0;
        doubts_[i] = Lanes{};
    }
    for (int i = registers - 1, row = 0; i >= facet_registers_; --i, row += lanes) {
        const int left = std::min(lanes, rows_ - row);
        const auto read = [&](const double* numbers) { return reversed(load(numbers + first + row, left)); };
        for (int k = 0; k < dimensions_; ++k)
            forms_[i * dimensions_ + k] = read(frame.forms.data() + k * frame.count());
        for (int lane = 0; lane < lanes - left; ++lane) forms_[i * dimensions_ + dim_][lane] = -1;
        const Lanes out_of_reach = Lanes{} + rounding::unknown;
        doubts_[i] = read(frame.norm.data()) < rounding::largest_factor ? read(frame.doubt.data()) * (1 + 0x1p-20)
                                                                        : out_of_reach;
    }
    for (int r = 0; r < rows_; ++r) {
        const int row = frame.rows[first + r];
        errors_[place_of_row(r)] = map.norm(row) < rounding::largest_factor ? map.error(row) : rounding::unknown;
    }
}

void PartWitnesses::set_facet(int facet, const StageMap& map, int row, int side) {
    const double norm = map.norm(row);
    const double error = norm < rounding::largest_factor ? map.error(row) : rounding::unknown;
    const int at = facet / lanes, lane = facet % lanes;
    for (int k = 0; k < dimensions_; ++k) forms_[at * dimensions_ + k][lane] = side * map.entry(row, k);
    doubts_[at][lane] =
        (norm * rounding::of_norm(dimensions_, 0) + error * rounding::of_form(dimensions_)) * (1 + 0x1p-20);
    errors_[facet] = error;
}

bool PartWitnesses::write(const PartTable& parts, const PartOrder& order, double* witnesses) {
    switch (dim_) {
        case 2:
            return write_all<2>(parts, order, witnesses);
        case 3:
            return write_all<3>(parts, order, witnesses);
        case 4:
            return write_all<4>(parts, order, witnesses);
        case 5:
            return write_all<5>(parts, order, witnesses);
        default:
            return write_all<any_dim>(parts, order, witnesses);
    }
}

template <int Dim>
bool PartWitnesses::write_all(const PartTable& parts, const PartOrder& order, double* witnesses) {
    const int dim = Dim == any_dim ? dim_ : Dim, registers = Dim == any_dim ? point_registers_ : registers_for(Dim + 1);
    for (const auto& [code, number] : order) {
        const Part part = parts[number];
        const Lanes *sum = part.sum, *drift = part.drift;
        const double weight = 1 / sum[dim / lanes][dim % lanes];  // every vertex has t = 1
        for (int i = 0; i < registers; ++i) store(witness_.data() + i * lanes, sum[i] * weight);
        if (part.open()) {
            const double length = std::max(1.0, largest_of(sum, weight));
            for (int i = 0; i < registers; ++i) store(witness_.data() + i * lanes, sum[i] * weight + length * drift[i]);
        }
        witness_[dim] = 1;
        if (!proved_inside<Dim>(part) && !proved_by_own_walls(part)) return false;
        for (int k = 0; k < dim; ++k) witnesses[k] = witness_[k];
        witnesses += dim;
    }
    return true;
}

// The largest size of a coordinate, with this weight.
double PartWitnesses::largest_of(const Lanes* point, double weight) const {
    Lanes sizes{};
    for (int i = 0; i < point_registers_; ++i) sizes = larger(sizes, size_of(point[i] * weight));
    return std::max(std::max(sizes[0], sizes[1]), std::max(sizes[2], sizes[3]));
}

template <int Dim>
bool PartWitnesses::proved_inside(const Part& part) const {
    const int dim = Dim == any_dim ? dim_ : Dim;
    const double* const witness = witness_.data();
    double scale = 1;
    for (int k = 0; k < dim; ++k) scale = std::max(scale, std::abs(witness[k]));
    if (!(scale < rounding::largest_factor)) return false;
    const Lanes* form = forms_.data();
    const Lanes* doubt = doubts_.data();
    const auto next_value = [&] {
        Lanes value = form[dim];
        for (int k = 0; k < dim; ++k) value += form[k] * witness[k];
        form += dim + 1;
        return value;
    };
    Choice inside = ~Choice{};
    const auto look_at = [&](Lanes value) { inside &= value > *doubt++ * scale + rounding::tiny; };
    for (int i = 0; i < facet_registers_; ++i) look_at(next_value());
    std::uint64_t code = part.code >> (most_rows - row_registers_ * lanes);
    for (int i = 0; i < row_registers_; ++i, code >>= lanes) look_at(next_value() * sides_by(code));
    return bits_of(inside) == (1 << lanes) - 1;
}

bool PartWitnesses::proved_by_own_walls(const Part& part) const {
    bool proved = true;
    for (std::uint64_t rest = part.facets & ~at_infinity; rest && proved; rest &= rest - 1)
        proved = proved_positive(std::countr_zero(rest), 1);
    for_each_row(part.rows, [&](int r) {
        proved = proved && proved_positive(place_of_row(r), part.code & bit_of_row(r) ? 1 : -1);
    });
    return proved;
}

// A look at one wall with the actual magnitudes.
bool PartWitnesses::proved_positive(int place, int side) const {
    double value = 0, magnitude = 0, linear = 0;
    for (int k = 0; k < dimensions_; ++k) {
        const double term = forms_[place / lanes * dimensions_ + k][place % lanes] * witness_[k];
        value += term;
        magnitude += std::abs(term);
        linear += std::abs(witness_[k]);
    }
    return side * value >
           (magnitude * rounding::bound(dimensions_ + 3) + errors_[place] * linear) * (1 + 0x1p-20) + rounding::tiny;
}

}  // namespace polyfold
