#include "geometry/faces/face_complex.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "geometry/base/errors.hpp"
#include "geometry/cells/enough_facets.hpp"

namespace polyfold {

namespace {

// What a block has met goes behind what others have; faces that both have met are listed once.
void join(FaceBlock& all, FaceBlock&& other) {
    if (other.cells == 0) return;
    if (all.cells == 0) {
        all = std::move(other);
        return;
    }
    all.cells += other.cells;
    const FaceTable& from = other.table;
    std::vector<std::int32_t> number(from.size());
    std::vector<std::uint8_t> fresh(from.size());
    for (std::int64_t face = 0; face < from.size(); ++face) {
        const auto [id, is_new] = all.table.meet(from.name(face));
        number[face] = id;
        fresh[face] = is_new;
        if (!is_new) continue;
        all.table.dim[id] = from.dim[face];
        all.table.bounded[id] = from.bounded[face];
    }
    for (const auto& [face, facet] : from.boundary)
        if (fresh[face]) all.table.boundary.emplace_back(number[face], number[facet]);
    for (const auto& item : from.placed)
        if (fresh[item.face]) all.table.placed.push_back({number[item.face], item.coordinates, item.error});
}

FaceComplex in_order(const FaceBlock& block, int dim) {
    const FaceTable& table = block.table;
    const std::int64_t count = table.size();
    std::vector<std::int32_t> order(count), place(count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        if (table.dim[a] != table.dim[b]) return table.dim[a] < table.dim[b];
        return std::lexicographical_compare(table.name(a), table.name(a) + table.words(), table.name(b),
                                            table.name(b) + table.words());
    });
    FaceComplex faces;
    faces.dim = dim;
    faces.words = table.words();
    faces.start.assign(dim + 2, 0);
    faces.facet_start.assign(count + 1, 0);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int32_t face = order[i];
        place[face] = static_cast<std::int32_t>(i);
        ++faces.start[table.dim[face] + 1];
        faces.names.insert(faces.names.end(), table.name(face), table.name(face) + table.words());
        faces.bounded.push_back(table.bounded[face]);
    }
    std::partial_sum(faces.start.begin(), faces.start.end(), faces.start.begin());
    for (const auto& item : table.boundary) ++faces.facet_start[place[item.first] + 1];
    std::partial_sum(faces.facet_start.begin(), faces.facet_start.end(), faces.facet_start.begin());
    faces.facet.resize(table.boundary.size());
    std::vector<std::int64_t> next(faces.facet_start.begin(), faces.facet_start.end() - 1);
    for (const auto& [face, facet] : table.boundary) faces.facet[next[place[face]]++] = place[facet];
    for (std::int64_t i = 0; i < count; ++i)
        std::sort(faces.facet.begin() + faces.facet_start[i], faces.facet.begin() + faces.facet_start[i + 1]);

    std::vector<std::size_t> items(table.placed.size());
    std::iota(items.begin(), items.end(), 0);
    std::sort(items.begin(), items.end(),
              [&](std::size_t a, std::size_t b) { return place[table.placed[a].face] < place[table.placed[b].face]; });
    for (const std::size_t item : items) {
        const auto& known = table.placed[item];
        faces.placed.push_back(place[known.face]);
        faces.coordinates.insert(faces.coordinates.end(), known.coordinates.begin(), known.coordinates.end());
        faces.error.push_back(known.error);
    }
    for (const auto& line : block.lines) faces.lines.insert(faces.lines.end(), line.begin(), line.end());
    return faces;
}

}  // namespace

void orient(FaceComplex& faces) {
    faces.incidence.assign(faces.facet.size(), 0);
    const std::int64_t count = faces.facet_start.size() - 1;
    // The ridges of one face, each with the facets that meet there and how these pass it.
    struct Passing {
        std::int64_t ridge, facet;  // the facet's place among those of the face
        int incidence;
    };
    std::vector<Passing> passings;
    std::vector<std::vector<std::pair<std::int64_t, int>>> beside;
    std::vector<std::int64_t> queue;
    for (std::int64_t face = 0; face < count; ++face) {
        const std::int64_t first = faces.facet_start[face], facets = faces.facet_start[face + 1] - first;
        if (facets == 0) continue;
        passings.clear();
        for (std::int64_t i = 0; i < facets; ++i) {
            const std::int64_t facet = faces.facet[first + i];
            for (std::int64_t r = faces.facet_start[facet]; r < faces.facet_start[facet + 1]; ++r)
                passings.push_back({faces.facet[r], i, faces.incidence[r]});
            if (faces.facet_start[facet] == faces.facet_start[facet + 1]) passings.push_back({-1, i, 1});
        }
        std::sort(passings.begin(), passings.end(), [](const Passing& a, const Passing& b) {
            return a.ridge != b.ridge ? a.ridge < b.ridge : a.facet < b.facet;
        });
        beside.assign(facets, {});
        for (std::size_t p = 0; p < passings.size();) {
            std::size_t behind = p;
            while (behind < passings.size() && passings[behind].ridge == passings[p].ridge) ++behind;
            // A ray has one end only; everything else is passed from two sides.
            if (behind - p != 2 && !(passings[p].ridge < 0 && facets == 1))
                throw Contradiction("a ridge of a face lies on other than two of its facets");
            if (behind - p == 2) {
                const int opposite = -passings[p].incidence * passings[p + 1].incidence;
                beside[passings[p].facet].emplace_back(passings[p + 1].facet, opposite);
                beside[passings[p + 1].facet].emplace_back(passings[p].facet, opposite);
            }
            p = behind;
        }
        faces.incidence[first] = 1;
        queue.assign(1, 0);
        for (std::size_t q = 0; q < queue.size(); ++q)
            for (const auto& [other, opposite] : beside[queue[q]]) {
                const auto sign = static_cast<std::int8_t>(faces.incidence[first + queue[q]] * opposite);
                if (faces.incidence[first + other] == 0) {
                    faces.incidence[first + other] = sign;
                    queue.push_back(other);
                } else if (faces.incidence[first + other] != sign) {
                    throw Contradiction("the facets of a face cannot be oriented");
                }
            }
        if (static_cast<std::int64_t>(queue.size()) != facets)
            throw Contradiction("the facets of a face do not hang together");
    }
}

FaceComplex list_faces(const Problem& problem, const RunOptions& options) {
    return with_enough_facets([&]<int Words>() {
        Run<FaceListWalk<Words>> run(problem, options);
        run();
        if (!run.complete()) return FaceComplex{};
        FaceBlock all;
        run.take_blocks([&](FaceBlock&& block) { join(all, std::move(block)); });
        FaceComplex faces = in_order(all, problem.dim);
        orient(faces);
        faces.complete = true;
        return faces;
    });
}

}  // namespace polyfold
