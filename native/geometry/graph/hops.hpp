// How many edges lie between the nodes of a graph.
#pragma once

#include <cstdint>
#include <vector>

namespace polyfold {

// The neighbours of node i are neighbour[start[i]] .. neighbour[start[i + 1] - 1]; edges lead both ways.
struct Graph {
    std::int32_t nodes = 0;
    const std::int64_t* start = nullptr;
    const std::int32_t* neighbour = nullptr;
};

// Fills in the distances from one node to all, -1 where there is no way. Returns the largest one.
std::int32_t hop_distances(const Graph& graph, std::int32_t source, std::int32_t* distance);

// The largest distance from each of some nodes. Sources that follow each other are walked together: it helps if they
// are near each other.
std::vector<std::int32_t> eccentricities(const Graph& graph, const std::vector<std::int32_t>& sources, int threads);

}  // namespace polyfold
