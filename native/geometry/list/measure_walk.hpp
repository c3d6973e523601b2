// The walk to cells that are named, which measures them: one by one up to the last stage, and there all parts of a cell
// together where possible.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/base/stop_signal.hpp"
#include "geometry/cells/equations.hpp"
#include "geometry/cells/measure.hpp"
#include "geometry/cells/vertex_places.hpp"
#include "geometry/list/part_list.hpp"
#include "geometry/list/part_measure.hpp"
#include "geometry/walk/cell_walk.hpp"

namespace polyfold {

// What cells measure, one after the other: dim numbers for each centroid, dim * dim for each covariance. An unbounded
// cell has an infinite volume, and no numbers for the others.
struct MeasureBlock {
    std::vector<double> volumes, centroids, covariances;
    std::vector<std::int32_t> facets;  // how many each has, by its vertices and rays

    void resize(std::size_t cells, std::size_t dim, bool covariance);
    void append(MeasureBlock&& other);
};

template <int Words>
class MeasureWalk {
  public:
    MeasureWalk(const Problem& problem, const Selection& selection, bool covariance, const StopSignal& stop);

    // Throws Contradiction where a pattern is no cell.
    MeasureBlock operator()();

  private:
    using CellPointer = std::unique_ptr<Cell<Words>>;

    const Problem& problem_;
    const Selection& selection_;
    const bool covariance_;
    const StopSignal& stop_;
    const int stages_;
    CellWalk<Words> walk_, rest_;
    PartList<Words> list_;
    PartMeasure<Words> parts_;
    Equations<Words> equations_;
    VertexPlacer<Words> placer_;
    MeasureBlock found_;
    std::vector<CellPointer> stack_;
    bool sharply_ = false;
    std::vector<std::int64_t> left_;
    std::vector<std::uint64_t> codes_;
    std::vector<PartVertex> vertices_;
    std::vector<std::uint8_t> pattern_;
    Measure measure_;

    bool finished(const Cell<Words>& cell) const { return cell.stage == stages_; }
    CellPointer advance(Cell<Words>& cell);
    void visit(Cell<Words>& cell);
    bool worth_parts(const Cell<Words>& cell) const;
    void visit_parts(Cell<Words>& cell);
    const std::vector<PartVertex>& vertices_of_those_left(const Cell<Words>& cell);
    std::uint64_t code_of(const Cell<Words>& cell, std::int64_t number) const;
    bool add_part(const Cell<Words>& cell, std::int64_t number);
    void visit_one_by_one(const Cell<Words>& cell, std::int64_t first, std::int64_t last);
    void add(Cell<Words>& cell);
    void write(std::int64_t number, const Measure& measure);
};

extern template class MeasureWalk<1>;
extern template class MeasureWalk<4>;
extern template class MeasureWalk<16>;
extern template class MeasureWalk<64>;

}  // namespace polyfold
