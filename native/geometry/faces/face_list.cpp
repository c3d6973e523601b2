#include "geometry/faces/face_list.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "geometry/base/errors.hpp"

namespace polyfold {

namespace {

using Bits = std::vector<std::uint64_t>;

void set(Bits& bits, std::size_t i) {
    bits[i / 64] |= std::uint64_t{1} << (i % 64);
}

int size(const Bits& bits) {
    int total = 0;
    for (const auto word : bits) total += std::popcount(word);
    return total;
}

bool within(const Bits& small, const Bits& large) {
    for (std::size_t w = 0; w < small.size(); ++w)
        if (small[w] & ~large[w]) return false;
    return true;
}

template <class Visit>
void for_each(const Bits& bits, Visit visit) {
    for (std::size_t w = 0; w < bits.size(); ++w)
        for (std::uint64_t rest = bits[w]; rest; rest &= rest - 1)
            visit(static_cast<int>(w) * 64 + std::countr_zero(rest));
}

}  // namespace

// ---- names

std::size_t FaceTable::slot_of(const std::uint64_t* name) const {
    std::uint64_t hash = 0;
    for (int w = 0; w < words_; ++w) hash = face_key::scramble(hash ^ name[w]);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at] >= 0 && std::memcmp(this->name(slots_[at]), name, words_ * sizeof(std::uint64_t)) != 0)
        at = (at + 1) & mask;
    return at;
}

void FaceTable::grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), -1);
    for (std::int32_t face = 0; face < size(); ++face) slots_[slot_of(name(face))] = face;
}

std::pair<std::int32_t, bool> FaceTable::meet(const std::uint64_t* name) {
    if (2 * dim.size() >= slots_.size()) grow();
    const std::size_t at = slot_of(name);
    if (slots_[at] >= 0) return {slots_[at], false};
    if (size() == std::numeric_limits<std::int32_t>::max())
        throw TooLarge("there are more than two thousand million faces: choose a smaller domain");
    slots_[at] = static_cast<std::int32_t>(size());
    names_.insert(names_.end(), name, name + words_);
    dim.push_back(0);
    bounded.push_back(0);
    return {slots_[at], true};
}

// ---- cells

// What of the cell its faces are made of.
template <int Words>
void FaceListWalk<Words>::read(const Cell<Words>& cell) {
    const int walls = problem_.gates + problem_.rows(), count = cell.size();
    stride_ = (walls + 63) / 64;
    walls_.assign(static_cast<std::size_t>(count) * stride_, 0);
    infinite_.assign((count + 63) / 64, 0);
    members_.clear();
    std::vector<int> place(cell.slots.size(), -1);
    cell.facets.for_each([&](int s) {
        if (cell.slots[s].wall == problem_.infinity_wall()) return;
        place[s] = static_cast<int>(members_.size());
        members_.emplace_back(infinite_.size(), 0);
    });
    const auto pass_one = [&](int v, int wall) {
        if (wall != problem_.infinity_wall()) set(walls_, (static_cast<std::size_t>(v) * stride_) * 64 + wall);
    };
    const auto pass = [&](int v, const Walls& passing) {
        if (passing)
            for (const std::int32_t wall : *passing) pass_one(v, wall);
    };
    for (int v = 0; v < count; ++v) {
        if (cell.at_infinity(v)) set(infinite_, v);
        pass(v, cell.frame->generators.touched[cell.generators[v]]);
        pass(v, cell.vanishing);
        cell.facets_of[v].for_each([&](int s) {
            if (place[s] < 0) return;
            pass_one(v, cell.slots[s].wall);
            set(members_[place[s]], v);
        });
        for (const auto& [slot, wall] : cell.shared)
            if (cell.facets_of[v].has(slot)) pass_one(v, wall);
    }
    on_.assign((problem_.gates + 63) / 64, 0);
    for (std::size_t byte = 0; byte < cell.pattern.size(); ++byte)
        on_[byte / 8] |= static_cast<std::uint64_t>(cell.pattern[byte]) << (8 * (byte % 8));
}

template <int Words>
void FaceListWalk<Words>::write_name(const Bits& face) {
    name_.assign(stride_, ~std::uint64_t{0});
    for_each(face, [&](int v) {
        for (int w = 0; w < stride_; ++w) name_[w] &= walls_[static_cast<std::size_t>(v) * stride_ + w];
    });
    for (std::size_t w = 0; w < on_.size(); ++w) name_.push_back(on_[w] & ~name_[w]);
}

// The largest of a face's meets with the cell's facets that are no faces at infinity.
template <int Words>
auto FaceListWalk<Words>::facets_of(const Bits& face) const -> std::vector<Bits> {
    std::vector<std::pair<int, Bits>> parts;
    for (const Bits& facet : members_) {
        Bits part = face;
        for (std::size_t w = 0; w < part.size(); ++w) part[w] &= facet[w];
        if (part != face && !within(part, infinite_)) parts.emplace_back(-size(part), std::move(part));
    }
    std::sort(parts.begin(), parts.end());
    std::vector<Bits> largest;
    for (auto& [negative_size, part] : parts)
        if (std::none_of(largest.begin(), largest.end(), [&](const Bits& other) { return within(part, other); }))
            largest.push_back(std::move(part));
    return largest;
}

template <int Words>
void FaceListWalk<Words>::place(const Cell<Words>& cell, const Bits& face, int dim, std::int32_t id,
                                FaceTable& table) const {
    const int least = static_cast<int>(cell.lines.size()), generators = size(face);
    if (dim > least + 1 || (dim == least + 1 && table.bounded[id])) return;
    for_each(face, [&](int v) {
        if (cell.at_infinity(v) != (dim > least)) return;
        if (dim == least && generators > 1) throw Contradiction("a face of the least dimension has two vertices");
        const double* at = cell.point(v);
        table.placed.push_back({id, {at, at + problem_.dim + 1}, cell.frame->generators.error[cell.generators[v]]});
    });
}

// Down from the cell itself; below a face that has been met before all are known.
template <int Words>
void FaceListWalk<Words>::emit(const Cell<Words>& cell, FaceBlock& block) {
    read(cell);
    FaceTable& table = block.table;
    if (block.cells++ == 0) {
        table = FaceTable(static_cast<int>((problem_.gates + problem_.rows() + 63) / 64 + on_.size()));
        for (const auto& line : cell.lines)
            block.lines.emplace_back(line.coordinates.begin(), line.coordinates.begin() + problem_.dim);
    }
    Bits whole((cell.size() + 63) / 64, 0);
    for (int v = 0; v < cell.size(); ++v) set(whole, v);
    std::vector<std::pair<std::int32_t, Bits>> level, below;
    const auto meet = [&](const Bits& face, int dim) {
        write_name(face);
        const auto [id, is_new] = table.meet(name_.data());
        if (is_new) {
            table.dim[id] = static_cast<std::int8_t>(dim);
            bool ends = true;
            for (std::size_t w = 0; w < face.size(); ++w) ends = ends && !(face[w] & infinite_[w]);
            table.bounded[id] = ends;
            place(cell, face, dim, id, table);
            below.emplace_back(id, face);
        }
        return id;
    };
    meet(whole, problem_.dim);
    for (int dim = problem_.dim; !below.empty(); --dim) {
        std::swap(level, below);
        below.clear();
        stop_.check();
        for (const auto& [id, face] : level)
            for (const Bits& part : facets_of(face)) table.boundary.emplace_back(id, meet(part, dim - 1));
    }
}

template class FaceListWalk<1>;
template class FaceListWalk<4>;
template class FaceListWalk<16>;
template class FaceListWalk<64>;

}  // namespace polyfold
