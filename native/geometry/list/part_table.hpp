// The parts of a cell while their vertices are being found: by the signs of the rows that cut the cell.
#pragma once

#include <algorithm>
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
    int place;             // in the table

    bool open() const { return (facets & at_infinity) != 0; }
};

class PartTable {
  public:
    static constexpr int most_parts = 1 << 12;
    static constexpr int none = -1;

    // Forget all parts. Codes have as many bits as there are rows, a point fills so many registers, and there will be
    // no more than `most` parts.
    void clear(int rows, int registers, int most) {
        for (int i = 0; i < size_; ++i) table_[parts_[i].place] = none;
        size_ = 0;
        registers_ = registers;
        // Few rows need no hashing.
        factor_ = rows <= table_bits ? 1 : 0x9e3779b97f4a7c15;
        if (parts_.size() < static_cast<std::size_t>(most)) parts_.resize(most);
        const std::size_t numbers = static_cast<std::size_t>(most) * registers;
        if (sums_.size() < numbers) {
            sums_.resize(numbers);
            drifts_.resize(numbers);
        }
    }

    int size() const { return size_; }
    const Part& operator[](int part) const { return parts_[part]; }
    const Lanes* sum(int part) const { return sums_.data() + part * registers_; }      // of the vertices
    const Lanes* drift(int part) const { return drifts_.data() + part * registers_; }  // of the rays

    int find(std::uint64_t code) const { return table_[place_of(code)]; }

    // A vertex lies on some rows and facets, which bound all parts around it: those with these signs of the other rows.
    void add_vertex(std::uint64_t code, std::uint64_t rows, std::uint64_t facets, const Lanes* point) {
        if (registers_ == 1)
            add<1>(code, rows, facets, point);
        else if (registers_ == 2)
            add<2>(code, rows, facets, point);
        else
            add<any_number>(code, rows, facets, point);
    }

  private:
    static constexpr int table_bits = 13;
    static constexpr int table_size = 1 << table_bits;
    static_assert(table_size >= 2 * most_parts);

    int registers_ = 1;
    std::uint64_t factor_ = 1;
    std::vector<std::int32_t> table_ = std::vector<std::int32_t>(table_size, none);
    int size_ = 0;
    std::vector<Part> parts_;           // and room for more
    std::vector<Lanes> sums_, drifts_;  // what is behind those of the last part is of earlier ones

    // Where the part is, or would be.
    int place_of(std::uint64_t code) const {
        auto place = static_cast<unsigned>((code * factor_) >> (64 - table_bits));
        while (table_[place] != none && parts_[table_[place]].code != code) place = (place + 1) % table_size;
        return static_cast<int>(place);
    }

    // A number of registers that is known beforehand is worth a loop of its own.
    static constexpr int any_number = 0;
    template <int Registers>
    void add(std::uint64_t code, std::uint64_t rows, std::uint64_t facets, const Lanes* point) {
        const int registers = Registers == any_number ? registers_ : Registers;
        Lanes* const sums = (facets & at_infinity ? drifts_ : sums_).data();
        std::uint64_t chosen = 0;
        do {
            const int index = find_or_add(code | chosen);
            parts_[index].facets |= facets;
            Lanes* const sum = sums + index * registers;
            for (int i = 0; i < registers; ++i) sum[i] += point[i];
            chosen = (chosen - rows) & rows;
        } while (chosen);
    }

    [[gnu::always_inline]] int find_or_add(std::uint64_t code) {
        const int place = place_of(code);
        int& index = table_[place];
        if (index == none) {
            index = size_++;
            parts_[index] = {code, 0, place};
            Lanes *const sum = sums_.data() + index * registers_, *const drift = drifts_.data() + index * registers_;
            for (int i = 0; i < registers_; ++i) sum[i] = drift[i] = Lanes{};
        }
        return index;
    }
};

}  // namespace polyfold
