// The parts of a cell while their vertices are being found: by the signs of the rows that cut the cell.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/list/row_bits.hpp"

namespace polyfold {

struct Part {
    std::uint64_t code = 0;    // the rows that are on
    std::uint64_t facets = 0;  // facets of the cell that the part has a vertex on
    std::uint64_t rows = 0;    // rows that it has a vertex on
    bool open = false;         // it has a vertex at infinity
};

class PartTable {
  public:
    static constexpr int most_parts = 1 << 12;

    // Forget all parts; `rows` is how many bits codes have, `registers` how many a point fills.
    void clear(int rows, int registers) {
        for (const int place : places_) table_[place] = none;
        places_.clear();
        parts_.clear();
        registers_ = registers;
        // Few rows need no hashing.
        factor_ = rows <= table_bits ? 1 : 0x9e3779b97f4a7c15;
    }

    int size() const { return static_cast<int>(parts_.size()); }
    const Part& operator[](int part) const { return parts_[part]; }
    const Lanes* sum(int part) const { return sums_.data() + part * registers_; }      // of the vertices
    const Lanes* drift(int part) const { return drifts_.data() + part * registers_; }  // of the rays

    int find(std::uint64_t code) const {
        int place = first_place(code);
        while (table_[place] != none && parts_[table_[place]].code != code) place = (place + 1) % table_size;
        return table_[place];
    }
    static constexpr int none = -1;

    // A vertex lies on some rows and facets, which bound all parts around it: those with these signs of the other rows.
    void add_vertex(std::uint64_t code, std::uint64_t rows, std::uint64_t facets, bool infinite, const Lanes* point) {
        if (registers_ == 1)
            add<1>(code, rows, facets, infinite, point);
        else if (registers_ == 2)
            add<2>(code, rows, facets, infinite, point);
        else
            add<any_number>(code, rows, facets, infinite, point);
    }

    // The same for many vertices that lie on these rows, gathered by the signs of the others.
    void add_vertices(const PartTable& gathered, std::uint64_t rows) {
        for (int i = 0; i < gathered.size(); ++i) {
            const Part& vertices = gathered[i];
            for_each_around(vertices.code, rows, [&](int index) {
                parts_[index].facets |= vertices.facets;
                parts_[index].open |= vertices.open;
                add_up<any_number>(gathered.sum(i), sums_.data() + index * registers_);
                if (vertices.open) add_up<any_number>(gathered.drift(i), drifts_.data() + index * registers_);
            });
        }
    }

    // One that lies on all rows is a vertex of all parts. It says nothing of their facets: others on these do.
    void add_to_all(bool infinite, const Lanes* point) {
        for (int index = 0; index < size(); ++index) {
            parts_[index].open |= infinite;
            add_up<any_number>(point, (infinite ? drifts_ : sums_).data() + index * registers_);
        }
    }

  private:
    static constexpr int table_bits = 13;
    static constexpr int table_size = 1 << table_bits;
    static_assert(table_size >= 2 * most_parts);

    int registers_ = 1;
    std::uint64_t factor_ = 1;
    std::vector<std::int32_t> table_ = std::vector<std::int32_t>(table_size, none);
    std::vector<int> places_;  // in the table, by part
    std::vector<Part> parts_;
    std::vector<Lanes> sums_, drifts_;  // what is behind those of the last part is of earlier ones

    int first_place(std::uint64_t code) const { return static_cast<int>((code * factor_) >> (64 - table_bits)); }

    // The parts around a point on these rows, at which others have these signs.
    template <class Visit>
    [[gnu::always_inline]] void for_each_around(std::uint64_t code, std::uint64_t rows, Visit visit) {
        std::uint64_t chosen = 0;
        do {
            const int index = find_or_add(code | chosen);
            parts_[index].rows |= rows;
            visit(index);
            chosen = (chosen - rows) & rows;
        } while (chosen);
    }

    // A number of registers that is known beforehand is worth a loop of its own.
    static constexpr int any_number = 0;
    template <int Registers>
    void add(std::uint64_t code, std::uint64_t rows, std::uint64_t facets, bool infinite, const Lanes* point) {
        for_each_around(code, rows, [&](int index) {
            parts_[index].facets |= facets;
            parts_[index].open |= infinite;
            const int registers = Registers == any_number ? registers_ : Registers;
            add_up<Registers>(point, (infinite ? drifts_ : sums_).data() + index * registers);
        });
    }

    template <int Registers>
    void add_up(const Lanes* point, Lanes* sum) const {
        const int registers = Registers == any_number ? registers_ : Registers;
        for (int i = 0; i < registers; ++i) sum[i] += point[i];
    }

    [[gnu::always_inline]] int find_or_add(std::uint64_t code) {
        int place = first_place(code);
        while (table_[place] != none) {
            if (parts_[table_[place]].code == code) return table_[place];
            place = (place + 1) % table_size;
        }
        table_[place] = size();
        places_.push_back(place);
        parts_.push_back({.code = code});
        const std::size_t first = (parts_.size() - 1) * static_cast<std::size_t>(registers_);
        if (sums_.size() < first + static_cast<std::size_t>(registers_)) {
            sums_.resize(2 * first + static_cast<std::size_t>(registers_));
            drifts_.resize(sums_.size());
        }
        for (int i = 0; i < registers_; ++i) sums_[first + i] = drifts_[first + i] = Lanes{};
        return size() - 1;
    }
};

}  // namespace polyfold
