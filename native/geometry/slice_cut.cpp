#include "geometry/slice_cut.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "geometry/rounding.hpp"

namespace polyfold {

namespace {

constexpr std::uint8_t both_signs = sign_negative | sign_positive;
constexpr double room = 1 + 0x1p-20;

std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct Crossing {
    std::int64_t low, high;
    int gate;
    bool operator==(const Crossing&) const = default;
};

struct HashCrossing {
    std::size_t operator()(const Crossing& c) const {
        const auto ends = static_cast<std::uint64_t>(c.low) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(c.high);
        return mixed(ends * 31 + static_cast<std::uint64_t>(c.gate));
    }
};

// A blend of two rows is known as well as these are, and loses a few roundings.
double blended_error(double error, double other) {
    return (std::max(error, other) + rounding::bound(4)) * room;
}

// A cell on its way through the stage.
struct Part {
    std::vector<std::int64_t> vertex, facet;
    std::vector<std::int32_t> wall;
    std::vector<int> gates;  // those that may cut it, ascending

    void add(std::int64_t v, std::int64_t f, std::int32_t w) {
        vertex.push_back(v);
        facet.push_back(f);
        wall.push_back(w);
    }
};

class Cutter {
  public:
    Cutter(const SliceCells& cells, const SliceGates& gates) : cells_(cells), gates_(gates) {}

    SliceCut run(int first_gate, std::int64_t most_new) {
        find_candidates(first_gate);
        result_.next_gate = last_gate(first_gate, most_new);
        for (std::int64_t cell = 0; cell < cells_.count; ++cell) cut(cell);
        return std::move(result_);
    }

  private:
    const SliceCells& cells_;
    const SliceGates& gates_;
    SliceCut result_;
    std::vector<std::vector<int>> candidates_;
    std::unordered_map<Crossing, std::int64_t, HashCrossing> crossings_;
    std::vector<Part> stack_;

    const double* values(std::int64_t v) const {
        return v < gates_.vertices ? gates_.value + v * gates_.gates
                                   : result_.made.value.data() + (v - gates_.vertices) * gates_.gates;
    }
    const std::uint8_t* signs(std::int64_t v) const {
        return v < gates_.vertices ? gates_.sign + v * gates_.gates
                                   : result_.made.sign.data() + (v - gates_.vertices) * gates_.gates;
    }
    double doubt(std::int64_t v) const {
        return v < gates_.vertices ? gates_.doubt[v] : result_.made.doubt[v - gates_.vertices];
    }
    std::uint64_t name(std::int64_t v) const {
        return v < gates_.vertices ? gates_.name[v] : result_.made.name[v - gates_.vertices];
    }

    void find_candidates(int first_gate) {
        candidates_.resize(cells_.count);
        std::vector<std::uint8_t> seen(gates_.gates);
        for (std::int64_t cell = 0; cell < cells_.count; ++cell) {
            std::fill(seen.begin(), seen.end(), 0);
            for (std::int64_t k = cells_.start[cell]; k < cells_.start[cell + 1]; ++k) {
                const std::uint8_t* sign = signs(cells_.vertex[k]);
                for (int g = first_gate; g < gates_.gates; ++g) seen[g] |= sign[g];
            }
            for (int g = first_gate; g < gates_.gates; ++g)
                if ((seen[g] & both_signs) == both_signs) candidates_[cell].push_back(g);
        }
    }

    // k lines cut a cell in up to k (k + 1) / 2 + 1 parts, with about as many vertices.
    int last_gate(int first_gate, std::int64_t most_new) const {
        std::vector<std::int64_t> growth(gates_.gates, 0);
        for (const auto& gates : candidates_)
            for (std::size_t k = 0; k < gates.size(); ++k) growth[gates[k]] += static_cast<std::int64_t>(k) + 1;
        std::int64_t total = 0;
        for (int g = first_gate; g < gates_.gates; ++g) {
            if (total > 0 && total + growth[g] > most_new) return g;
            total += growth[g];
        }
        return gates_.gates;
    }

    void cut(std::int64_t cell) {
        Part whole;
        for (std::int64_t k = cells_.start[cell]; k < cells_.start[cell + 1]; ++k) whole.add(cells_.vertex[k], k, -1);
        whole.gates = std::move(candidates_[cell]);
        stack_.push_back(std::move(whole));
        while (!stack_.empty()) {
            Part part = std::move(stack_.back());
            stack_.pop_back();
            std::size_t at = 0;
            while (at < part.gates.size() && part.gates[at] < result_.next_gate && !is_cut(part, part.gates[at])) ++at;
            part.gates.erase(part.gates.begin(), part.gates.begin() + static_cast<std::ptrdiff_t>(at));
            if (part.gates.empty() || part.gates.front() >= result_.next_gate) {
                emit(part, cell);
                continue;
            }
            const int gate = part.gates.front();
            part.gates.erase(part.gates.begin());
            if (cells_.dim == 1) {
                cut_segment(part, gate);
            } else if (!cut_polygon(part, gate)) {
                ++result_.inconsistent;
                stack_.push_back(std::move(part));
            }
        }
    }

    bool is_cut(const Part& part, int gate) const {
        std::uint8_t seen = 0;
        for (const std::int64_t v : part.vertex) seen |= signs(v)[gate];
        return (seen & both_signs) == both_signs;
    }

    void emit(const Part& part, std::int64_t cell) {
        result_.parent.push_back(cell);
        result_.vertex.insert(result_.vertex.end(), part.vertex.begin(), part.vertex.end());
        result_.facet.insert(result_.facet.end(), part.facet.begin(), part.facet.end());
        result_.wall.insert(result_.wall.end(), part.wall.begin(), part.wall.end());
        result_.start.push_back(static_cast<std::int64_t>(result_.vertex.size()));
    }

    void cut_segment(Part& part, int gate) {
        const std::int64_t middle = crossing(part.vertex[0], part.vertex[1], gate);
        Part left, right;
        left.add(part.vertex[0], part.facet[0], part.wall[0]);
        left.add(middle, -1, gate);
        right.add(middle, -1, gate);
        right.add(part.vertex[1], part.facet[1], part.wall[1]);
        left.gates = part.gates;
        right.gates = std::move(part.gates);
        stack_.push_back(std::move(right));
        stack_.push_back(std::move(left));
    }

    // Around the polygon there is one run of corners from the first positive to the last positive one. It becomes one
    // part, between the two places where the gate is zero next to it; the rest is the other part. False if there are
    // more runs, which rounding alone can make.
    bool cut_polygon(Part& part, int gate) {
        const auto n = static_cast<int>(part.vertex.size());
        const auto at = [&](int k) { return ((k % n) + n) % n; };
        const auto sign = [&](int k) { return signs(part.vertex[at(k)])[gate]; };
        int start = 0;
        while (sign(start) != sign_negative) ++start;
        int first = -1, last = -1, runs = 0;
        bool below = true;
        for (int k = start; k < start + n; ++k) {
            if (sign(k) == sign_positive) {
                if (below) {
                    ++runs;
                    first = k;
                }
                last = k;
                below = false;
            } else if (sign(k) == sign_negative) {
                below = true;
            }
        }
        if (runs != 1) return false;
        const bool enters_at_corner = sign(first - 1) == sign_zero, leaves_at_corner = sign(last + 1) == sign_zero;
        const std::int64_t enter = enters_at_corner
                                       ? part.vertex[at(first - 1)]
                                       : crossing(part.vertex[at(first - 1)], part.vertex[at(first)], gate);
        const std::int64_t leave = leaves_at_corner ? part.vertex[at(last + 1)]
                                                    : crossing(part.vertex[at(last)], part.vertex[at(last + 1)], gate);
        const auto facet = [&](int k) { return part.facet[at(k)]; };
        const auto wall = [&](int k) { return part.wall[at(k)]; };
        Part above, under;
        above.add(enter, facet(first - 1), wall(first - 1));
        for (int k = first; k <= last; ++k) above.add(part.vertex[at(k)], facet(k), wall(k));
        above.add(leave, -1, gate);
        if (!leaves_at_corner) under.add(leave, facet(last), wall(last));
        const int end = enters_at_corner ? first - 2 : first - 1;
        for (int k = last + 1; k <= end + n; ++k) under.add(part.vertex[at(k)], facet(k), wall(k));
        under.add(enter, -1, gate);
        above.gates = part.gates;
        under.gates = std::move(part.gates);
        stack_.push_back(std::move(above));
        stack_.push_back(std::move(under));
        return true;
    }

    // The vertex where a gate is zero between two others.
    std::int64_t crossing(std::int64_t one, std::int64_t other, int gate) {
        // In the order of their names, which is the same wherever the two are met.
        const bool swapped = name(other) < name(one);
        const std::int64_t low = swapped ? other : one, high = swapped ? one : other;
        const auto [item, is_new] = crossings_.try_emplace(
            {low, high, gate}, gates_.vertices + static_cast<std::int64_t>(result_.made.low.size()));
        if (is_new) make(low, high, gate);
        return item->second;
    }

    void make(std::int64_t low, std::int64_t high, int gate) {
        NewVertices& made = result_.made;
        const double below = std::abs(values(low)[gate]), above = std::abs(values(high)[gate]);
        const double length = below + above;
        const double share = length > 0 ? below / length : 0.5;
        made.low.push_back(low);
        made.high.push_back(high);
        made.share.push_back(share);
        made.name.push_back(
            mixed(mixed(name(low)) + 3 * mixed(name(high) + static_cast<std::uint64_t>(gates_.first_wall + gate) + 1)));
        made.doubt.push_back(blended_error(doubt(low), doubt(high)));
        // The gate's true zero may lie off by this share of the segment.
        const double unsure = 2 * made.doubt.back() * gates_.scale[gate];
        const double off = length > unsure ? std::min(1.0, unsure / (length - unsure) + rounding::bound(4)) : 1.0;
        blend_gates(low, high, gate, off);
    }

    void blend_gates(std::int64_t low, std::int64_t high, int gate, double off) {
        NewVertices& made = result_.made;
        const int count = gates_.gates;
        const std::size_t first = made.value.size();
        made.value.resize(first + count);
        made.sign.resize(first + count);
        const double *a = values(low), *b = values(high);
        double* value = made.value.data() + first;
        const double share = made.share.back(), error = made.doubt.back();
        for (int g = 0; g < count; ++g) value[g] = (1 - share) * a[g] + share * b[g];
        const std::uint8_t *p = signs(low), *q = signs(high);
        std::uint8_t* sign = made.sign.data() + first;
        for (int g = 0; g < count; ++g) {
            const std::uint8_t joint = (p[g] | q[g]) & both_signs;
            sign[g] = joint ? joint : sign_zero;
        }
        sign[gate] = sign_zero;
        for (int g = 0; g < count; ++g) {
            if (sign[g] == both_signs) {
                // What the true zero's other place would change is part of the doubt.
                if (std::abs(value[g]) > error * gates_.scale[g] + off * std::abs(b[g] - a[g])) {
                    sign[g] = value[g] > 0 ? sign_positive : sign_negative;
                } else {
                    sign[g] = sign_zero;
                    result_.undecided.push_back(g);
                }
            }
            if (sign[g] == sign_zero) value[g] = 0;
        }
    }
};

}  // namespace

SliceCut cut_slice(const SliceCells& cells, const SliceGates& gates, int first_gate, std::int64_t most_new) {
    return Cutter(cells, gates).run(first_gate, most_new);
}

SliceSigns read_slice(const SliceCells& cells, int gates, const std::uint8_t* sign) {
    SliceSigns result;
    const std::int64_t stride = (gates + 7) / 8;
    result.patterns.assign(cells.count * stride, 0);
    std::vector<std::uint8_t> seen(gates);
    for (std::int64_t cell = 0; cell < cells.count; ++cell) {
        const std::int64_t first = cells.start[cell], last = cells.start[cell + 1];
        std::fill(seen.begin(), seen.end(), 0);
        for (std::int64_t k = first; k < last; ++k) {
            const std::uint8_t* row = sign + cells.vertex[k] * gates;
            for (int g = 0; g < gates; ++g) seen[g] |= row[g];
        }
        for (int g = 0; g < gates; ++g) {
            if (seen[g] & sign_positive)
                result.patterns[cell * stride + g / 8] |= static_cast<std::uint8_t>(1 << (g % 8));
            if (!(seen[g] & sign_zero) || !(seen[g] & both_signs)) continue;
            for (std::int64_t k = first; k < last; ++k) {
                const std::int64_t next = cells.dim == 1 ? k : k + 1 < last ? k + 1 : first;
                if (sign[cells.vertex[k] * gates + g] == sign_zero &&
                    sign[cells.vertex[next] * gates + g] == sign_zero) {
                    result.facet.push_back(k);
                    result.wall.push_back(g);
                }
            }
        }
    }
    return result;
}

std::vector<double> blend_rows(const double* values, std::int64_t rows, int columns, const NewVertices& made) {
    const auto count = static_cast<std::int64_t>(made.low.size());
    std::vector<double> result(count * columns);
    const auto row = [&](std::int64_t v) {
        return v < rows ? values + v * columns : result.data() + (v - rows) * columns;
    };
    for (std::int64_t i = 0; i < count; ++i) {
        const double *a = row(made.low[i]), *b = row(made.high[i]);
        double* value = result.data() + i * columns;
        const double share = made.share[i];
        for (int j = 0; j < columns; ++j) value[j] = (1 - share) * a[j] + share * b[j];
    }
    return result;
}

std::vector<double> blend_errors(const double* errors, std::int64_t rows, const NewVertices& made) {
    std::vector<double> result;
    const auto error = [&](std::int64_t v) { return v < rows ? errors[v] : result[v - rows]; };
    for (std::size_t i = 0; i < made.low.size(); ++i)
        result.push_back(blended_error(error(made.low[i]), error(made.high[i])));
    return result;
}

}  // namespace polyfold
