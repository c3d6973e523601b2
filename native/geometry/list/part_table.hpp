// The parts of a cell while their vertices are being found: by the signs of the rows that cut the cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/list/row_bits.hpp"

namespace polyfold {

// Facets of the cell that something lies on, a bit each, and one more bit if it is at infinity.
constexpr int most_facets = 63;
constexpr std::uint64_t at_infinity = std::uint64_t{1} << most_facets;

struct Part {
    std::uint64_t code;    // the rows that are on
    std::uint64_t facets;  // that it has a vertex on; and whether it has one at infinity
    std::uint64_t rows;    // that it has a vertex on
    const Lanes* sum;      // of the vertices
    const Lanes* drift;    // of the rays

    bool open() const { return (facets & at_infinity) != 0; }
};

// Codes and numbers of parts.
using PartOrder = std::vector<std::pair<std::uint64_t, int>>;

class PartTable {
  public:
    static constexpr int most_parts = 1 << 12;
    static constexpr int none = -1;

    // Forget all parts. Codes have as many bits as there are rows, a point fills so many registers, and there will be
    // no more than `most` parts.
    void clear(int rows, int registers, int most) {
        for (int part = 0; part < size_; ++part) table_[places_[part]] = none;
        size_ = 0;
        registers_ = registers;
        // Few rows need no hashing.
        factor_ = rows <= table_bits ? 1 : 0x9e3779b97f4a7c15;
        if (places_.size() < static_cast<std::size_t>(most)) places_.resize(most);
        const std::size_t wanted = static_cast<std::size_t>(most) * stride(registers);
        if (parts_.size() < wanted) parts_.resize(wanted);
    }

    int size() const { return size_; }
    Part operator[](int part) const {
        const Lanes* const at = parts_.data() + part * stride(registers_);
        const auto known = reinterpret_cast<BitLanes>(*at);
        return {known[0], known[1], known[2], at + 1, at + 1 + registers_};
    }
    std::uint64_t code(int part) const { return reinterpret_cast<BitLanes>(parts_[part * stride(registers_)])[0]; }
    int find(std::uint64_t code) const { return table_[place_of(code)]; }

    // Vertices, or rays, lie on some rows, and all of them between the same parts: those with these signs of the other
    // rows. The rows bound all of these parts, and so do the facets that some of them lie on. A number of registers
    // that is known beforehand is worth a loop of its own.
    static constexpr int any_number = 0;
    template <int Registers>
    void add_vertices(std::uint64_t code, std::uint64_t rows, std::uint64_t facets, const Lanes* sum_of_points) {
        const int registers = Registers == any_number ? registers_ : Registers;
        const std::ptrdiff_t sum_at = 1 + (facets & at_infinity ? registers : 0);
        const BitLanes known{0, facets, rows, 0};
        std::uint64_t chosen = 0;
        do {
            Lanes* const part = find_or_add<Registers>(code | chosen);
            *part = reinterpret_cast<Lanes>(reinterpret_cast<BitLanes>(*part) | known);
            for (int i = 0; i < registers; ++i) part[sum_at + i] += sum_of_points[i];
            chosen = (chosen - rows) & rows;
        } while (chosen);
    }

    // One that lies on all rows is a vertex of all parts. It says nothing of their facets: others on these do.
    void add_to_all(bool infinite, const Lanes* point) {
        const std::ptrdiff_t sum_at = 1 + (infinite ? registers_ : 0);
        const BitLanes known{0, infinite ? at_infinity : 0, 0, 0};
        for (int number = 0; number < size_; ++number) {
            Lanes* const part = parts_.data() + number * stride(registers_);
            *part = reinterpret_cast<Lanes>(reinterpret_cast<BitLanes>(*part) | known);
            for (int i = 0; i < registers_; ++i) part[sum_at + i] += point[i];
        }
    }

  private:
    static constexpr int table_bits = 13;
    static constexpr int table_size = 1 << table_bits;
    static_assert(table_size >= 2 * most_parts);

    int registers_ = 1;
    std::uint64_t factor_ = 1;
    std::vector<std::int32_t> table_ = std::vector<std::int32_t>(table_size, none);
    int size_ = 0;
    std::vector<int> places_;   // in the table, by part
    std::vector<Lanes> parts_;  // code, facets and rows in one register, then both sums; there is room for more parts

    static constexpr int stride(int registers) { return 1 + 2 * registers; }

    // Where the part is, or would be.
    [[gnu::always_inline]] int place_of(std::uint64_t code) const {
        auto place = static_cast<unsigned>((code * factor_) >> (64 - table_bits));
        while (table_[place] != none && this->code(table_[place]) != code) place = (place + 1) % table_size;
        return static_cast<int>(place);
    }

    template <int Registers>
    [[gnu::always_inline]] Lanes* find_or_add(std::uint64_t code) {
        const int registers = Registers == any_number ? registers_ : Registers;
        auto place = static_cast<unsigned>((code * factor_) >> (64 - table_bits));
        while (table_[place] != none) {
            Lanes* const part = parts_.data() + table_[place] * stride(registers);
            if (reinterpret_cast<BitLanes>(*part)[0] == code) return part;
            place = (place + 1) % table_size;
        }
        Lanes* const part = parts_.data() + size_ * stride(registers);
        *part = reinterpret_cast<Lanes>(BitLanes{code, 0, 0, 0});
        for (int i = 1; i < stride(registers); ++i) part[i] = Lanes{};
        places_[size_] = static_cast<int>(place);
        table_[place] = size_++;
        return part;
    }
};

}  // namespace polyfold
