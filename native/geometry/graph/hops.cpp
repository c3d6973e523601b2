#include "geometry/graph/hops.hpp"

#include <algorithm>
#include <bit>

#include "geometry/base/in_parallel.hpp"

namespace polyfold {

namespace {

// So many sources share one walk: one bit each.
constexpr std::int64_t kTogether = 64;

// What walks need; made once for many of them.
struct Walk {
    explicit Walk(std::int32_t nodes) : seen(nodes), fresh(nodes), next(nodes) {}

    std::vector<std::uint64_t> seen;   // which sources have got to a node
    std::vector<std::uint64_t> fresh;  // and which in the last step
    std::vector<std::uint64_t> next;   // and which ask to in this one
    std::vector<std::int32_t> active, touched;
};

// The eccentricities of `count` sources, by one walk from all of them: in each step a node hands the sources that have
// just got to it on to its neighbours.
void walk_together(const Graph& graph, const std::int32_t* sources, std::int64_t count, Walk& walk,
                   std::int32_t* farthest) {
    std::fill(walk.seen.begin(), walk.seen.end(), 0);
    walk.active.clear();
    for (std::int64_t i = 0; i < count; ++i) {
        if (walk.seen[sources[i]] == 0) walk.active.push_back(sources[i]);
        walk.seen[sources[i]] |= std::uint64_t{1} << i;
        walk.fresh[sources[i]] = walk.seen[sources[i]];
        farthest[i] = 0;
    }
    for (std::int32_t step = 1; !walk.active.empty(); ++step) {
        walk.touched.clear();
        for (const std::int32_t node : walk.active) {
            const std::uint64_t bits = walk.fresh[node];
            for (std::int64_t k = graph.start[node]; k < graph.start[node + 1]; ++k) {
                const std::int32_t there = graph.neighbour[k];
                if ((bits & ~walk.seen[there]) == 0) continue;
                if (walk.next[there] == 0) walk.touched.push_back(there);
                walk.next[there] |= bits;
            }
        }
        std::uint64_t moved = 0;
        for (const std::int32_t node : walk.touched) {
            walk.fresh[node] = walk.next[node] & ~walk.seen[node];
            walk.seen[node] |= walk.fresh[node];
            walk.next[node] = 0;
            moved |= walk.fresh[node];
        }
        for (; moved != 0; moved &= moved - 1) farthest[std::countr_zero(moved)] = step;
        std::swap(walk.active, walk.touched);
    }
}

}  // namespace

std::int32_t hop_distances(const Graph& graph, std::int32_t source, std::int32_t* distance) {
    std::fill(distance, distance + graph.nodes, -1);
    std::vector<std::int32_t> queue;
    queue.reserve(graph.nodes);
    queue.push_back(source);
    distance[source] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const std::int32_t node = queue[head];
        for (std::int64_t k = graph.start[node]; k < graph.start[node + 1]; ++k) {
            const std::int32_t there = graph.neighbour[k];
            if (distance[there] >= 0) continue;
            distance[there] = distance[node] + 1;
            queue.push_back(there);
        }
    }
    return distance[queue.back()];
}

std::vector<std::int32_t> eccentricities(const Graph& graph, const std::vector<std::int32_t>& sources, int threads) {
    const auto count = static_cast<std::int64_t>(sources.size());
    std::vector<std::int32_t> farthest(sources.size());
    const std::int64_t walks = (count + kTogether - 1) / kTogether;
    in_parallel(threads, walks, 1, [&](std::int64_t first, std::int64_t last) {
        Walk walk(graph.nodes);
        for (std::int64_t k = first; k < last; ++k)
            walk_together(graph, sources.data() + k * kTogether, std::min(kTogether, count - k * kTogether), walk,
                          farthest.data() + k * kTogether);
    });
    return farthest;
}

}  // namespace polyfold
