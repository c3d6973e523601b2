// The depth-first walk: insert walls one by one, cut cells in two, hand out the finished ones.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "geometry/cell.hpp"
#include "geometry/cell_block.hpp"
#include "geometry/linear_bound.hpp"
#include "geometry/problem.hpp"

namespace polyfold {

// A cell has more facets than the mask has room for: start again with a larger one.
struct TooManyFacets : std::exception {};

// The domain has no interior.
struct FlatDomain : std::exception {
    bool empty;
    explicit FlatDomain(bool is_empty) : empty(is_empty) {}
    const char* what() const noexcept override { return empty ? "empty" : "flat"; }
};

// The cells that are wanted, for a walk that visits only those: packed patterns in lexicographic order of
// their gates.
struct Selection {
    const std::uint8_t* patterns = nullptr;
    std::int64_t count = 0;
    int stride = 0;

    bool on(std::int64_t cell, int gate) const { return (patterns[cell * stride + gate / 8] >> (gate % 8)) & 1; }
};

template <int Words>
class CellWalk {
  public:
    using CellPointer = std::unique_ptr<Cell<Words>>;

    // With `keep_touched` every generator knows all walls that pass through it, as counting faces needs.
    explicit CellWalk(const Problem& problem, const Selection* selection = nullptr, bool keep_touched = false);

    // The whole domain as a cell with no gate inserted; throws FlatDomain.
    CellPointer root();

    // Insert walls until the cell is cut: `cell` becomes the off side, and the on side is returned. If it is
    // never cut the cell is finished, and nothing is returned.
    CellPointer advance(Cell<Words>& cell);

    static bool bounded(const Cell<Words>& cell);

    // Write a finished cell behind the others.
    void emit(Cell<Words>& cell, CellBlock& block);
    void emit_generators(Cell<Words>& cell, GeneratorBlock& block);

    void recycle(CellPointer cell) { spare_.push_back(std::move(cell)); }

  private:
    const Problem& problem_;
    const Selection* selection_;
    const bool keep_touched_;
    const int dimensions_;  // dim + 1
    std::vector<CellPointer> spare_;
    LinearBound bound_;

    // The wall that is being inserted: its value and sign at every generator.
    std::vector<double> value_;
    std::vector<signed char> sign_;
    std::vector<std::uint8_t> value_is_rough_;  // the float value does not even show the sign
    std::vector<double> point_;

    CellPointer fresh();
    CellPointer insert(Cell<Words>& cell);
    CellPointer cut(Cell<Words>& cell, int slot);
    CellPointer cut_line(Cell<Words>& cell, int slot, std::size_t line, int line_sign);
    CellPointer choose_sides(Cell<Words>& cell, CellPointer off, CellPointer on);
    void record_touching(Cell<Words>& cell, int zeros);
    Walls walls_lost(const Cell<Words>& cell, int generator, const Mask<Words>& facets) const;
    int new_slot(Cell<Words>& cell);
    bool touches_finitely(const Cell<Words>& cell) const;

    void evaluate(Cell<Words>& cell);
    int line_sign(Cell<Words>& cell, std::size_t line);
    int refined_sign(const double* point, double error, const StageMap& map, int row, double value) const;

    void add_combination(Cell<Words>& parent, int positive, int negative, int slot, Cell<Words>& low,
                         Cell<Words>& high);
    std::shared_ptr<const ExactVector> settle(const Cell<Words>& cell, const Mask<Words>& mask, int without_pivot,
                                              bool infinite, bool rough, double* point, double& error);
    double error_of(const Cell<Words>& cell, const Mask<Words>& mask, int without_pivot, const double* point);
    std::shared_ptr<const ExactVector> exact_point(const Cell<Words>& cell, const Mask<Words>& mask, int without_pivot,
                                                   bool infinite) const;
    const ExactVector& exact_generator(Cell<Words>& cell, int generator) const;
    int side(const Cell<Words>& cell, const FacetSlot& slot) const;

    std::vector<int> facets_in_order(const Cell<Words>& cell) const;
    void write_witness(Cell<Words>& cell, CellBlock& block);
    bool proved_inside(const Cell<Words>& cell, const double* witness) const;
};

extern template class CellWalk<1>;
extern template class CellWalk<4>;
extern template class CellWalk<16>;
extern template class CellWalk<64>;

}  // namespace polyfold
