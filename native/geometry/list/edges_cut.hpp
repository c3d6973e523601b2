// Which edges of a section rows cut.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/list/part_table.hpp"
#include "geometry/list/row_bits.hpp"

namespace polyfold {

struct SectionVertex {
    std::uint64_t code;    // rows that are positive there
    std::uint64_t facets;  // of the cell, that it lies on; and whether it is at infinity

    bool infinite() const { return (facets & at_infinity) != 0; }
    std::uint64_t finite_facets() const { return facets & ~at_infinity; }
};

// A vertex that lies on no more facets than it has to shares an edge with those that lie on all of them but one. All
// vertices are looked at together, as bits.
class EdgesCut {
  public:
    struct Edge {
        int from, to;
    };

    // Of a section with these vertices, numbered from `first` on, of which every edge lies on so many of the cell's
    // facets: those that the rows cut. Vertices where all rows vanish belong to the section as well; `still` are their
    // facets.
    void find(std::span<const SectionVertex> vertices, int first, int facets_of_edge, int facets, std::uint64_t rows,
              std::span<const std::uint64_t> still = {}) {
        size_ = 0;
        still_ = still;
        if (facets_of_edge == 0)
            add_whole_section(first, rows);
        else if (vertices.size() <= in_word)
            find<1>(vertices, first, facets_of_edge, facets, rows);
        else
            find<any_number>(vertices, first, facets_of_edge, facets, rows);
    }

    std::size_t size() const { return size_; }
    std::span<const Edge> by(int row) const { return {edges_.data() + start_[row], end_[row] - start_[row]}; }

  private:
    using Bits = std::uint64_t;
    static constexpr std::size_t in_word = 64;
    static constexpr int any_number = 0;  // of words; a single one is worth a loop of its own

    std::vector<Edge> edges_;  // and room for more
    std::size_t size_ = 0;
    std::array<std::size_t, most_rows> start_{}, end_{};

    // Sets of vertices, so many words each: on a facet, on a row's positive side, beside a vertex.
    std::vector<Bits> on_facet_, positive_, beside_;
    std::vector<std::size_t> crowded_;  // vertices on more facets than they have to be
    std::span<const Bits> still_;

    void make_room(std::size_t more) {
        if (size_ + more > edges_.size()) edges_.resize(2 * (size_ + more));
    }

    // The section is an edge.
    void add_whole_section(int first, Bits rows) {
        make_room(1);
        edges_[size_++] = {first, first + 1};
        for_each_row(rows, [&](int row) {
            start_[row] = 0;
            end_[row] = 1;
        });
    }

    template <int Words>
    void find(std::span<const SectionVertex> vertices, int first, int facets_of_edge, int facets, Bits rows) {
        const std::size_t size = vertices.size();
        const std::size_t words = Words == any_number ? (size + in_word - 1) / in_word : Words;
        if (on_facet_.size() < facets * words) on_facet_.resize(facets * words);
        if (positive_.size() < most_rows * words) positive_.resize(most_rows * words);
        if (beside_.size() < size * words) beside_.resize(size * words);
        Bits *const on_facet = on_facet_.data(), *const positive = positive_.data(), *const beside = beside_.data();
        for (std::size_t i = 0; i < facets * words; ++i) on_facet[i] = 0;
        for_each_row(rows, [&](int row) {
            for (std::size_t w = 0; w < words; ++w) positive[row * words + w] = 0;
        });
        for (std::size_t v = 0; v < size; ++v) {
            const std::size_t word = v / in_word;
            const Bits bit = Bits{1} << (v % in_word);
            for (Bits rest = vertices[v].finite_facets(); rest; rest &= rest - 1)
                on_facet[std::countr_zero(rest) * words + word] |= bit;
            for_each_row(vertices[v].code & rows, [&](int row) { positive[row * words + word] |= bit; });
        }
        crowded_.clear();
        for (std::size_t v = 0; v < size; ++v) {
            const Bits on = vertices[v].finite_facets();
            const bool simple = std::popcount(on) == facets_of_edge + 1;
            if (!simple) crowded_.push_back(v);
            for (std::size_t w = 0; w < words; ++w) {
                Bits on_all = ~Bits{0}, off_one = 0;
                for (Bits rest = simple ? on : 0; rest; rest &= rest - 1) {
                    const Bits here = on_facet[std::countr_zero(rest) * words + w];
                    off_one = (off_one & here) | (on_all & ~here);
                    on_all &= here;
                }
                beside[v * words + w] = off_one;
            }
        }
        if (!crowded_.empty()) find_beside_crowded(vertices, facets_of_edge, words);
        for_each_row(rows, [&](int row) {
            start_[row] = size_;
            add_edges_across(positive + row * words, size, words, first);
            end_[row] = size_;
        });
    }

    // From the side of a row with fewer vertices.
    [[gnu::always_inline]] void add_edges_across(const Bits* positive, std::size_t size, std::size_t words, int first) {
        std::size_t positives = 0;
        for (std::size_t w = 0; w < words; ++w) positives += static_cast<std::size_t>(std::popcount(positive[w]));
        const Bits turned = 2 * positives <= size ? 0 : ~Bits{0};
        for (std::size_t w = 0; w < words; ++w) {
            const Bits all = w + 1 < words ? ~Bits{0} : ~Bits{0} >> (words * in_word - size);
            for (Bits here = (positive[w] ^ turned) & all; here; here &= here - 1) {
                const std::size_t a = w * in_word + std::countr_zero(here);
                make_room(size);
                for (std::size_t v = 0; v < words; ++v)
                    for (Bits there = beside_[a * words + v] & ~(positive[v] ^ turned); there; there &= there - 1) {
                        const std::size_t b = v * in_word + std::countr_zero(there);
                        edges_[size_++] = {first + static_cast<int>(std::min(a, b)),
                                           first + static_cast<int>(std::max(a, b))};
                    }
            }
        }
    }

    // What is not seen from the other vertices has to be looked at one by one.
    void find_beside_crowded(std::span<const SectionVertex> vertices, int facets_of_edge, std::size_t words) {
        const auto bit = [](std::size_t v) { return Bits{1} << (v % in_word); };
        for (const std::size_t a : crowded_)
            for (std::size_t b = 0; b < vertices.size(); ++b)
                if (a != b && ((beside_[b * words + a / in_word] & bit(a)) != 0 ||
                               are_neighbours(vertices, a, b, facets_of_edge)))
                    beside_[a * words + b / in_word] |= bit(b);
    }

    // Two vertices are neighbours if no third one lies on all facets that they share.
    bool are_neighbours(std::span<const SectionVertex> vertices, std::size_t a, std::size_t b,
                        int facets_of_edge) const {
        const Bits common = vertices[a].finite_facets() & vertices[b].finite_facets();
        if (std::popcount(common) < facets_of_edge) return false;
        for (std::size_t other = 0; other < vertices.size(); ++other)
            if (other != a && other != b && (vertices[other].facets & common) == common) return false;
        return std::none_of(still_.begin(), still_.end(), [&](Bits facets) { return (facets & common) == common; });
    }
};

}  // namespace polyfold
