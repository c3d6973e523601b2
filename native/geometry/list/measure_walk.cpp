#include "geometry/list/measure_walk.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "geometry/base/errors.hpp"
#include "geometry/cells/cell_writer.hpp"

namespace polyfold {

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// Parts are found together if so many of them, at least, are wanted for each that is not.
constexpr std::int64_t wanted_share = 4;
constexpr std::size_t few = 64;

}  // namespace

void MeasureBlock::resize(std::size_t cells, std::size_t dim, bool covariance) {
    volumes.resize(cells, endless);
    centroids.resize(cells * dim, nothing);
    covariances.resize(covariance ? cells * dim * dim : 0, nothing);
    facets.resize(cells);
}

void MeasureBlock::append(MeasureBlock&& other) {
    const auto join = [](auto& to, auto& from) {
        to.insert(to.end(), from.begin(), from.end());
        from = {};
    };
    join(volumes, other.volumes);
    join(centroids, other.centroids);
    join(covariances, other.covariances);
    join(facets, other.facets);
}

// Covariances are found cell by cell.
template <int Words>
MeasureWalk<Words>::MeasureWalk(const Problem& problem, const Selection& selection, bool covariance,
                                const StopSignal& stop)
    : problem_(problem),
      selection_(selection),
      covariance_(covariance),
      stop_(stop),
      stages_(static_cast<int>(problem.stages.size())),
      walk_(problem, stop,
            {.selection = &selection,
             .hand_out = true,
             .stages = covariance || problem.dim == 1 || problem.dim > PartMeasure<Words>::most_dimensions
                           ? stages_
                           : std::max(1, stages_ - 1)}),
      rest_(problem, stop, {.selection = &selection, .hand_out = true}),
      list_(problem, stop, true),
      parts_(problem),
      equations_(problem),
      placer_(problem.dim) {}

template <int Words>
MeasureBlock MeasureWalk<Words>::operator()() {
    found_ = {};
    found_.resize(static_cast<std::size_t>(selection_.count), static_cast<std::size_t>(problem_.dim), covariance_);
    if (selection_.count == 0) return std::move(found_);
    std::vector<CellPointer> stack;
    stack.push_back(walk_.root());
    while (!stack.empty()) {
        CellPointer cell = std::move(stack.back());
        stack.pop_back();
        while (CellPointer on = advance(*cell)) stack.push_back(std::move(on));
        stop_.check();
        visit(*cell);
        walk_.recycle(std::move(cell));
    }
    return std::move(found_);
}

// Until the cell is cut, or is finished, or its parts can be found.
template <int Words>
auto MeasureWalk<Words>::advance(Cell<Words>& cell) -> CellPointer {
    if (CellPointer on = walk_.advance(cell)) return on;
    while (!finished(cell) && !list_.look_at(cell))
        if (CellPointer on = walk_.advance_by_one_row(cell)) return on;
    return nullptr;
}

template <int Words>
void MeasureWalk<Words>::visit(Cell<Words>& cell) {
    if (finished(cell))
        add(cell);
    else if (worth_parts(cell) && list_.find(cell) && list_.keeps_all() &&
             parts_.find(cell, list_, list_.kept(), sharply_))
        visit_parts(cell);
    else
        visit_one_by_one(cell, cell.wanted_first, cell.wanted_last);
}

// Rows cut a cell into one part more than there are of them, at least.
template <int Words>
bool MeasureWalk<Words>::worth_parts(const Cell<Words>& cell) const {
    return wanted_share * (cell.wanted_last - cell.wanted_first) > std::popcount(list_.cutting());
}

// Most cells are known well by floats, those of deep networks by forms to twice the digits: where these were needed for
// most, they are looked at first from then on.
template <int Words>
void MeasureWalk<Words>::visit_parts(Cell<Words>& cell) {
    left_.clear();
    for (std::int64_t number = cell.wanted_first; number < cell.wanted_last; ++number)
        if (!add_part(cell, number)) left_.push_back(number);
    if (left_.empty()) return;
    const bool found = parts_.find(cell, list_, vertices_of_those_left(cell), !sharply_);
    sharply_ = sharply_ != (2 * static_cast<std::int64_t>(left_.size()) > cell.wanted_last - cell.wanted_first);
    for (const std::int64_t number : left_)
        if (!found || !add_part(cell, number)) visit_one_by_one(cell, number, number + 1);
}

// Or those of all parts, where so many are left that nobody wants to look for them.
template <int Words>
const std::vector<PartVertex>& MeasureWalk<Words>::vertices_of_those_left(const Cell<Words>& cell) {
    if (left_.size() > few) return list_.kept();
    codes_.clear();
    for (const std::int64_t number : left_) codes_.push_back(code_of(cell, number));
    vertices_.clear();
    for (const PartVertex& vertex : list_.kept())
        if (std::any_of(codes_.begin(), codes_.end(),
                        [&](std::uint64_t code) { return ((code ^ vertex.code) & ~vertex.rows) == 0; }))
            vertices_.push_back(vertex);
    return vertices_;
}

template <int Words>
std::uint64_t MeasureWalk<Words>::code_of(const Cell<Words>& cell, std::int64_t number) const {
    const int first_wall = problem_.stages[cell.stage].first_wall;
    std::uint64_t code = 0;
    for (int r = 0; r < list_.rows(); ++r)
        if (selection_.on(number, first_wall + cell.frame->rows[cell.row + r])) code |= bit_of_row(r);
    return code;
}

// False if it has to be looked at again.
template <int Words>
bool MeasureWalk<Words>::add_part(const Cell<Words>& cell, std::int64_t number) {
    const int first_wall = problem_.stages[cell.stage].first_wall;
    const std::uint64_t code = code_of(cell, number);
    pattern_ = cell.pattern;
    for_each_row(code, [&](int r) {
        const int gate = first_wall + cell.frame->rows[cell.row + r];
        pattern_[gate / 8] |= static_cast<std::uint8_t>(1 << (gate % 8));
    });
    const int index = list_.parts().find(code);
    if (index == PartTable::none ||
        !std::equal(pattern_.begin(), pattern_.end(), selection_.patterns + number * selection_.stride))
        throw Contradiction("a pattern that was asked for is no cell of this network");
    const Part part = list_.parts()[index];
    if (!part.open()) {
        if (!parts_.read(code, measure_)) return false;
        write(number, measure_);
    }
    int& facets = found_.facets[number];
    facets = std::popcount(part.facets & ~at_infinity) + std::popcount(part.rows);
    for (std::size_t bit = 0; bit < list_.slots().size(); ++bit)
        facets -= (part.facets >> bit & 1) && cell.slots[list_.slots()[bit]].wall == problem_.infinity_wall();
    return true;
}

template <int Words>
void MeasureWalk<Words>::visit_one_by_one(const Cell<Words>& cell, std::int64_t first, std::int64_t last) {
    stack_.push_back(std::make_unique<Cell<Words>>(cell));
    stack_.back()->wanted_first = first;
    stack_.back()->wanted_last = last;
    while (!stack_.empty()) {
        CellPointer next = std::move(stack_.back());
        stack_.pop_back();
        while (CellPointer on = rest_.advance(*next)) stack_.push_back(std::move(on));
        stop_.check();
        add(*next);
        rest_.recycle(std::move(next));
    }
}

template <int Words>
void MeasureWalk<Words>::add(Cell<Words>& cell) {
    const std::int64_t number = cell.wanted_first;
    for (int gate = 0; gate < problem_.gates; ++gate)
        if (selection_.on(number, gate) != cell.Path::on(gate))
            throw Contradiction("a pattern that was asked for is no cell of this network");
    int& facets = found_.facets[number];
    cell.facets.for_each([&](int slot) { facets += cell.slots[slot].wall != problem_.infinity_wall(); });
    if (!is_bounded(cell)) return;
    const auto exactly = [&](int v) -> const ExactVector& {
        return equations_.exact(cell, *cell.frame, cell.generators[v], cell.facets_of[v]);
    };
    write(number, measure<Words>(placer_(cell, equations_), cell.facets_of, problem_.dim, covariance_, exactly));
}

template <int Words>
void MeasureWalk<Words>::write(std::int64_t number, const Measure& measure) {
    found_.volumes[number] = measure.volume;
    const auto put = [&](const std::vector<double>& numbers, std::vector<double>& to) {
        std::copy(numbers.begin(), numbers.end(), to.begin() + number * static_cast<std::ptrdiff_t>(numbers.size()));
    };
    put(measure.centroid, found_.centroids);
    put(measure.covariance, found_.covariances);
}

template class MeasureWalk<1>;
template class MeasureWalk<4>;
template class MeasureWalk<16>;
template class MeasureWalk<64>;

}  // namespace polyfold
