#include "geometry/walk/opening.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "geometry/base/is_free.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr int worth_narrowing = 24;  // rows; fewer are as quickly looked at with those that no longer cut
constexpr int worth_a_box = 1024;    // values of rows at generators; fewer are as quickly found as a box is looked at
constexpr int together = 8;          // signs that are looked at as one number
constexpr std::uint64_t lowest_bits = 0x0101010101010101;  // of these signs

// Of the first of them only.
constexpr std::uint64_t first_signs(int count) {
    return count >= together ? lowest_bits : lowest_bits & ((std::uint64_t{1} << (8 * count)) - 1);
}

enum Side : std::uint8_t { above = 1, below = 2, on_it = 4 };

}  // namespace

template <int Words>
std::shared_ptr<Frame> Opening<Words>::fresh_frame(int stage) {
    std::shared_ptr<Frame>& last = frames_[stage];
    if (last && is_free(last)) {
        last->clear();
    } else {
        last = std::make_shared<Frame>();
        last->generators.dimensions = dimensions_;
    }
    return last;
}

// Have the cell's generators, by new numbers, in another frame without any.
template <int Words>
void take_generators(Cell<Words>& cell, const Frame& from, Frame& to) {
    to.generators.take(from.generators, cell.generators);
    std::iota(cell.generators.begin(), cell.generators.end(), 0);
}

// Look at all rows of the stage at once. Those that do not cut the cell cut none of its parts either, and are decided
// here.
template <int Words>
void Opening<Words>::open(Cell<Words>& cell, Frame* before, const Outlook* ahead) {
    auto frame = fresh_frame(cell.stage);
    origins_ = cell.generators;
    take_generators(cell, *before, *frame);
    cell.frame = frame;
    cell.row = 0;
    if (cell.stage > 0 && cell.lines.empty()) {
        open_gates(cell, *before, ahead);
    } else {
        open_all_rows(cell, *before);
    }
    cell.made = frame->generators.size();
    if (cell.lines.empty()) frame->entry = cell.made;
}

// Gates on a cell without lines: first all of them on a box around its generators, if nothing better is known, and then
// those that are left at every generator.
template <int Words>
void Opening<Words>::open_gates(Cell<Words>& cell, Frame& before, const Outlook* ahead) {
    if (ahead) {
        settle_as_foreseen(cell, *ahead);
    } else if (cell.size() * cell.map->width() < worth_a_box) {
        list_all_rows(cell.map->width());
    } else {
        settle_on_box(cell);
    }
    open_rows_.list_rows(*cell.map, dimensions_);
    const bool any_zero = look_at_open_rows(cell, before);
    settle_rows(cell, any_zero);
    Frame& frame = *cell.frame;
    frame.keep(open_rows_, columns_, dimensions_);
    const std::ptrdiff_t n = open_rows_.count();
    frame.take_columns(
        cell.size(), columns_, [&](int v) { return values_.data() + v * n; },
        [&](int v) { return signs_.empty() ? nullptr : signs_.data() + v * n; });
}

template <int Words>
void Opening<Words>::list_all_rows(int width) {
    open_rows_.rows.resize(width);
    std::iota(open_rows_.rows.begin(), open_rows_.rows.end(), 0);
}

// Decides the gates that have one sign on the box; the others are the open rows.
template <int Words>
void Opening<Words>::settle_on_box(Cell<Words>& cell) {
    stop_.check();
    const GeneratorStore& generators = cell.frame->generators;
    box_.start(generators.point(0), dimensions_, generators.error[0]);
    for (int v = 1; v < cell.size(); ++v) box_.add(generators.point(v), generators.error[v]);
    box_.finish();
    const StageMap& map = *cell.map;
    const int width = map.width(), first_gate = problem_.stages[cell.stage].first_wall;
    row_sides_.clear(width);
    signs_on_box({map.entries(), width, dimensions_}, box_, map.norms(), map.errors(), row_sides_);
    open_rows_.rows.clear();
    for (int first = 0; first < width; first += 64) {
        const std::uint64_t on = row_sides_.positive.words()[first / 64], off = row_sides_.negative.words()[first / 64];
        cell.set_gates_on(first_gate + first, on);
        std::uint64_t rest = ~(on | off);
        if (width - first < 64) rest &= (std::uint64_t{1} << (width - first)) - 1;
        for (; rest; rest &= rest - 1) open_rows_.rows.push_back(first + std::countr_zero(rest));
    }
}

// The same with what holds on a larger cell.
template <int Words>
void Opening<Words>::settle_as_foreseen(Cell<Words>& cell, const Outlook& ahead) {
    stop_.check();
    const int first_gate = problem_.stages[cell.stage].first_wall;
    for (std::size_t word = 0; word < ahead.on.words().size(); ++word)
        cell.set_gates_on(first_gate + static_cast<int>(64 * word), ahead.on.words()[word]);
    open_rows_.rows = ahead.open;
}

// Values, signs and sides of the open rows at the cell's generators; no signs where they are all those of the values.
// Returns whether any of them is zero at a generator.
template <int Words>
bool Opening<Words>::look_at_open_rows(Cell<Words>& cell, Frame& before) {
    GeneratorStore& generators = cell.frame->generators;
    const int n = open_rows_.count();
    const Rows rows{open_rows_.forms.data(), n, dimensions_};
    const double *norm = open_rows_.norm.data(), *doubt = open_rows_.doubt.data();
    values_.resize(static_cast<std::size_t>(cell.size()) * n);
    signs_.clear();
    row_sides_.clear(n);
    const Points points{generators.point(0), generators.error.data(), cell.size()};
    in_doubt_.clear(n);
    if (!sides_at(rows, points, norm, doubt, values_.data(), row_sides_, in_doubt_)) return false;

    signs_.resize(values_.size());
    std::transform(values_.begin(), values_.end(), signs_.begin(),
                   [](double value) { return static_cast<std::int8_t>(value > 0 ? positive : negative); });
    bool any_zero = false;
    for (int v = 0; v < cell.size(); ++v) {
        stop_.check();
        const double error = generators.error[v];
        bool asked = false;
        for (int c = 0; c < n; ++c) {
            const double value = values_[v * n + c];
            if (!in_doubt_.has(c) || std::abs(value) > norm[c] * error + doubt[c]) continue;
            const int sign =
                crossing_.doubtful_sign(*cell.frame, cell, v, cell.facets_of[v], open_rows_.rows[c], value);
            signs_[v * n + c] = static_cast<std::int8_t>(sign);
            if (sign > 0) row_sides_.positive.set(c);
            if (sign < 0) row_sides_.negative.set(c);
            any_zero |= sign == 0;
            asked = true;
        }
        if (!asked) continue;
        // Other cells of the frame before have the same generator.
        before.generators.error[origins_[v]] = generators.error[v];
        before.generators.exact[origins_[v]] = generators.exact[v];
    }
    return any_zero;
}

// Decides the open rows that do not cut the cell; the others become its columns.
template <int Words>
void Opening<Words>::settle_rows(Cell<Words>& cell, bool any_zero) {
    const int n = open_rows_.count(), first_wall = problem_.stages[cell.stage].first_wall;
    columns_.clear();
    for (int first = 0; first < n; first += 64) {
        const std::uint64_t positive = row_sides_.positive.words()[first / 64];
        const std::uint64_t negative = row_sides_.negative.words()[first / 64];
        for (std::uint64_t rest = positive & negative; rest; rest &= rest - 1)
            columns_.push_back(first + std::countr_zero(rest));
        if (any_zero) continue;  // below: some may meet the cell in a face
        for (std::uint64_t rest = positive & ~negative; rest; rest &= rest - 1)
            cell.set_gate(first_wall + open_rows_.rows[first + std::countr_zero(rest)], true);
    }
    if (!any_zero) return;
    for (int c = 0; c < n; ++c) {
        const bool positive = row_sides_.positive.has(c), negative = row_sides_.negative.has(c);
        if (positive && negative) continue;
        zeros_.clear();
        for (int v = 0; v < cell.size(); ++v)
            if (signs_[v * n + c] == zero) zeros_.push_back(v);
        settle_gate(cell, open_rows_.rows[c], positive, negative, zeros_);
    }
}

// The rows of the domain, and gates on a cell with lines, which may cut it even where they have one sign at its
// generators.
template <int Words>
void Opening<Words>::open_all_rows(Cell<Words>& cell, Frame& before) {
    Frame* frame = cell.frame.get();
    const StageMap& map = *cell.map;
    const bool is_domain = cell.stage == 0;
    const int count = cell.size(), width = is_domain ? problem_.rows() : map.width(), stride = map.width();
    values_.assign(static_cast<std::size_t>(count) * width, 0.0);
    signs_.resize(static_cast<std::size_t>(count) * width);
    sides_.assign(width, 0);
    for (int v = 0; v < count; ++v) {
        stop_.check();
        double* value = values_.data() + v * width;
        std::int8_t* sign = signs_.data() + v * width;
        const double* point = cell.point(v);
        for (int k = 0; k < dimensions_; ++k) {
            const double* entries = map.entries() + k * stride;
            const double x = point[k];
            if (x != 0.0)
                for (int i = 0; i < width; ++i) value[i] += entries[i] * x;
        }
        const double relative = rounding::of_norm(dimensions_, frame->generators.error[v]);
        const double absolute = rounding::of_form(dimensions_);
        const double *norms = map.norms(), *errors = map.errors();
        bool doubtful = false;
        for (int i = 0; i < width; ++i) {
            const double doubt = norms[i] * relative + errors[i] * absolute + rounding::tiny;
            sign[i] = static_cast<std::int8_t>((value[i] > doubt) - (value[i] < -doubt));
            doubtful |= sign[i] == 0;
        }
        if (doubtful) {
            for (int i = 0; i < width; ++i)
                if (sign[i] == 0)
                    sign[i] = static_cast<std::int8_t>(
                        crossing_.doubtful_sign(*frame, cell, cell.generators[v], cell.facets_of[v], i, value[i]));
            // Other cells of the frame before have the same generator.
            before.generators.error[origins_[v]] = frame->generators.error[v];
            before.generators.exact[origins_[v]] = frame->generators.exact[v];
        }
        for (int i = 0; i < width; ++i)
            sides_[i] |= static_cast<std::uint8_t>(sign[i] > 0 ? above : sign[i] < 0 ? below : on_it);
    }
    for (int i = 0; i < width; ++i) {
        bool cuts = is_domain || (sides_[i] & above && sides_[i] & below);
        for (auto& line : cell.lines) cuts = cuts || line_sign(cell, line, i) != 0;
        if (cuts) {  // domain rows are few, and all looked at one by one
            frame->rows.push_back(i);
            continue;
        }
        zeros_.clear();
        if (sides_[i] & on_it)
            for (int v = 0; v < count; ++v)
                if (signs_[v * width + i] == 0) zeros_.push_back(v);
        settle_gate(cell, i, (sides_[i] & above) != 0, (sides_[i] & below) != 0, zeros_);
    }
    frame->list_rows(map, dimensions_);
    const int n = frame->count();
    frame->value.resize(count * n);
    frame->sign.resize(count * n);
    for (int v = 0; v < count; ++v)
        for (int c = 0; c < n; ++c) {
            frame->value[v * n + c] = values_[v * width + frame->rows[c]];
            frame->sign[v * n + c] = signs_[v * width + frame->rows[c]];
        }
}

template <int Words>
void Opening<Words>::narrow(Cell<Words>& cell) {
    if (cell.frame->count() - cell.row < worth_narrowing || cell.stage == 0 || !cell.lines.empty() || problem_.dim == 1)
        return;
    look_at_rows_left(cell);
    narrow_to_cutting(cell);
}

template <int Words>
bool Opening<Words>::find_next_cut(Cell<Words>& cell) {
    const int left = cell.frame->count() - cell.row;
    const bool look_at_all = left >= worth_narrowing;
    if (look_at_all) {
        look_at_rows_left(cell);
        if (narrow_to_cutting(cell)) return cell.frame->count() > 0;
    }
    for (int first = 0; first < left; first += together) {
        const EightRows rows = look_at_all ? left_[first / together] : look_at_eight(cell, first);
        const int next = rows.cutting() ? std::countr_zero(rows.cutting()) / 8 : together;
        settle_some(cell, rows, first, next);
        if (next == together) continue;
        cell.row += first + next;
        return true;
    }
    cell.row += left;
    return false;
}

// Rows are counted from the first that is left.
template <int Words>
auto Opening<Words>::look_at_eight(const Cell<Words>& cell, int first) const -> EightRows {
    const Frame& frame = *cell.frame;
    const std::size_t size = frame.sign.size();
    EightRows rows;
    for (const int g : cell.generators) {
        const std::size_t at =
            frame.rows.size() * static_cast<std::size_t>(g) + static_cast<std::size_t>(cell.row + first);
        std::uint64_t signs = 0;
        if (at + together <= size) {
            std::memcpy(&signs, frame.sign.data() + at, together);
        } else {
            std::memcpy(&signs, frame.sign.data() + at, size - at);
        }
        // Between minus two and two: the first bit says which are negative, and the last two which are zero.
        const std::uint64_t negative = signs >> 7, any = signs | signs >> 1;
        rows.above |= any & ~negative;
        rows.below |= negative;
        rows.on_it |= ~any;
    }
    const std::uint64_t wanted = first_signs(frame.count() - cell.row - first);
    return {rows.above & wanted, rows.below & wanted, rows.on_it & wanted};
}

template <int Words>
void Opening<Words>::look_at_rows_left(const Cell<Words>& cell) {
    left_.clear();
    columns_.clear();
    for (int first = 0; first < cell.frame->count() - cell.row; first += together) {
        left_.push_back(look_at_eight(cell, first));
        for (std::uint64_t rest = left_.back().cutting(); rest; rest &= rest - 1)
            columns_.push_back(cell.row + first + std::countr_zero(rest) / 8);
    }
}

// Decides the first few of eight rows, but for those that cut the cell.
template <int Words>
void Opening<Words>::settle_some(Cell<Words>& cell, const EightRows& rows, int first, int count) {
    const std::uint64_t settled = first_signs(count) & ~rows.cutting();
    const int* row = cell.frame->rows.data() + cell.row + first;
    const int first_wall = problem_.stages[cell.stage].first_wall;
    for (std::uint64_t rest = settled & rows.above & ~rows.on_it; rest; rest &= rest - 1)
        cell.set_gate(first_wall + row[std::countr_zero(rest) / 8], true);
    for (std::uint64_t rest = settled & rows.on_it; rest; rest &= rest - 1) {
        const int c = std::countr_zero(rest) / 8;
        zeros_.clear();
        for (int v = 0; v < cell.size(); ++v)
            if (cell.frame->sign_at(cell.generators[v], cell.row + first + c) == zero) zeros_.push_back(v);
        settle_gate(cell, row[c], (rows.above >> (8 * c) & 1) != 0, (rows.below >> (8 * c) & 1) != 0, zeros_);
    }
}

// Where most rows that are left no longer cut the cell, decide those, and give it a frame of the others. Without this
// every new generator has values of all the rows that once cut a cell above it. Returns whether it did that. On a line
// rows are in order instead.
template <int Words>
bool Opening<Words>::narrow_to_cutting(Cell<Words>& cell) {
    const std::shared_ptr<Frame> before = cell.frame;
    if (2 * static_cast<int>(columns_.size()) > before->count() - cell.row) return false;
    for (std::size_t i = 0; i < left_.size(); ++i)
        settle_some(cell, left_[i], static_cast<int>(i) * together, together);
    cell.frame = fresh_frame(cell.stage);
    cell.frame->keep(*before, columns_, dimensions_);
    cell.frame->take_columns(
        cell.size(), columns_, [&](int v) { return before->values(cell.generators[v]); },
        [&](int v) { return before->signs(cell.generators[v]); });
    take_generators(cell, *before, *cell.frame);
    cell.row = 0;
    cell.made = cell.frame->entry = cell.size();
    return true;
}

// A row that has one sign on the cell, or none.
template <int Words>
void Opening<Words>::settle_gate(Cell<Words>& cell, int row, bool positive, bool negative,
                                 const std::vector<int>& zeros) {
    const int wall = problem_.stages[cell.stage].first_wall + row;
    if ((positive || negative) && !zeros.empty()) record_touching(cell, wall, zeros);
    if (cell.stage == 0) return;
    if (!positive && !negative) {
        cell.vanishing_key ^= key_of_gate_vanishing(wall);
        if (keep_touched_) cell.vanishing = with_wall(cell.vanishing, wall);
    }
    cell.set_gate(wall, positive);
}

// The wall does not cut the cell but meets it in a face: if that is a facet, the facet lies on this wall too.
template <int Words>
void Opening<Words>::record_touching(Cell<Words>& cell, int wall, const std::vector<int>& zeros) {
    if (keep_touched_)
        for (const int v : zeros) {
            Walls& touched = cell.frame->generators.touched[cell.generators[v]];
            touched = with_wall(touched, wall);
        }
    if (static_cast<int>(zeros.size() + cell.lines.size()) < problem_.dim) return;
    Mask<Words> common = cell.facets;
    for (const int v : zeros) common = common & cell.facets_of[v];
    common.for_each([&](int slot) {
        std::size_t members = 0;
        for (const auto& mask : cell.facets_of) members += mask.has(slot);
        if (members == zeros.size()) cell.shared.emplace_back(slot, wall);
    });
}

template <int Words>
int Opening<Words>::line_sign(Cell<Words>& cell, typename Cell<Words>::Line& line, int row) {
    const StageMap& map = *cell.map;
    double value = 0;
    for (int k = 0; k < dimensions_; ++k) value += map.entry(row, k) * line.coordinates[k];
    const int sign = crossing_.sign_of(map, row, line.coordinates.data(), line.error, value);
    if (sign <= 1) return sign;
    if (!line.exact) line.exact = crossing_.equations().solve(cell, cell.facets, line.pivot, true);
    return sign_of_product(map.exact_row(row), *line.exact);
}

template void take_generators(Cell<1>&, const Frame&, Frame&);
template class Opening<1>;
template void take_generators(Cell<4>&, const Frame&, Frame&);
template class Opening<4>;
template void take_generators(Cell<16>&, const Frame&, Frame&);
template class Opening<16>;
template void take_generators(Cell<64>&, const Frame&, Frame&);
template class Opening<64>;

}  // namespace polyfold
