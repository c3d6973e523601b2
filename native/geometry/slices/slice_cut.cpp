#include "geometry/slices/slice_cut.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr std::uint8_t both_signs = sign_negative | sign_positive;
constexpr double room = 1 + 0x1p-20;
// Not looked at yet.
constexpr std::uint8_t unseen = 255;

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

// Bounds the error of a form's value at a point that is itself known up to `off`. Parameters are at most one (and a
// few roundings) in size.
double doubt(double coefficient_error, double scale, double slopes, double off) {
    return (4 * (coefficient_error + rounding::bound(4) * scale) + (slopes + 2 * coefficient_error) * off) * room;
}

struct Place {
    std::array<double, 2> point{};
    double off = rounding::unknown;
};

// So that products of coefficients neither overflow nor underflow. A form without slopes stays as it is.
SliceForm normalised(SliceForm form, int dim) {
    double size = 0;
    for (int k = 1; k <= dim; ++k) size = std::max(size, std::abs(form.coefficient[k]));
    if (!(size > 0) || !std::isfinite(size)) return form;
    const int exponent = -std::ilogb(size);
    for (double& x : form.coefficient) x = std::ldexp(x, exponent);
    form.error = std::ldexp(form.error, exponent) + rounding::tiny;
    return form;
}

double residual(const SliceForm& form, const std::array<double, 2>& point) {
    const auto& [c, a, b] = form.coefficient;
    const double value = c + (a * point[0] + b * point[1]);
    const double size = std::abs(c) + std::abs(a * point[0]) + std::abs(b * point[1]);
    return (std::abs(value) + rounding::bound(8) * size + 4 * form.error) * room;
}

// Where a form of one parameter is zero.
Place zero_of(const SliceForm& given) {
    const SliceForm form = normalised(given, 1);
    Place place;
    place.point[0] = -form.coefficient[0] / form.coefficient[1];
    const double slope = std::abs(form.coefficient[1]) - form.error;
    if (slope > 0) place.off = residual(form, place.point) / slope * room;
    return place;
}

// Where two forms are zero. If the true forms are zero at p, then J (q - p) is their value at q: that bounds how far p
// lies from the q that was computed.
Place meeting(const SliceForm& one, const SliceForm& other) {
    const SliceForm f = normalised(one, 2), g = normalised(other, 2);
    const auto& [p, a, b] = f.coefficient;
    const auto& [q, c, d] = g.coefficient;
    const double determinant = a * d - b * c;
    Place place;
    place.point = {(b * q - d * p) / determinant, (c * p - a * q) / determinant};
    const double slopes_f = std::abs(a) + std::abs(b), slopes_g = std::abs(c) + std::abs(d);
    const double unsure =
        (f.error * slopes_g + g.error * slopes_f + 2 * f.error * g.error + rounding::bound(6) * slopes_f * slopes_g) *
        room;
    const double least = std::abs(determinant) - unsure;
    if (least > 0)
        place.off = (residual(f, place.point) * (slopes_g + 2 * g.error) +
                     residual(g, place.point) * (slopes_f + 2 * f.error)) /
                    least * room;
    return place;
}

// A cell on its way through the stage; `corner` are numbers in the table of the cell that it is part of.
struct Part {
    std::vector<int> corner;
    std::vector<std::int64_t> facet;
    std::vector<std::int32_t> wall;
    std::vector<int> gates;  // those that may cut it, ascending: numbers in the table of candidates
    std::vector<int> pools;  // and pools: numbers in theirs

    void add(int c, std::int64_t f, std::int32_t w) {
        corner.push_back(c);
        facet.push_back(f);
        wall.push_back(w);
    }
};

// A part on which one member of a pool is the largest of those that were compared.
struct Piece {
    Part part;
    int winner = 0;
};

// A side of a piece: where it leads, and what lies behind it. A winner, or nothing of this pool's.
struct Side {
    int end = 0;
    std::int64_t facet = -1;
    std::int32_t wall = -1;
    int behind = -1;

    bool continues(const Side& other) const {
        return behind == other.behind && (behind >= 0 || (facet == other.facet && wall == other.wall));
    }
};

// What is known at a corner of some part of the current cell.
struct Corner {
    std::int64_t vertex;
    int low = -1, high = -1;         // the corners between which it was made, ...
    int side = -1, gate = -1;        // ... on which wall, and by which gate: numbers in the whole program
    std::vector<std::uint8_t> sign;  // of the candidates
};

class Cutter {
  public:
    Cutter(const SliceCells& cells, const SliceGates& gates, const std::uint8_t* sign, int first_gate,
           const Oracle& oracle)
        : cells_(cells),
          gates_(gates),
          sign_(sign),
          first_gate_(first_gate),
          given_(gates.gates - first_gate),
          oracle_(oracle) {}

    SliceCut run(std::int64_t most_new) {
        for (const SlicePool& pool : gates_.pools)
            if (pool.first >= first_gate_) pools_.push_back(pool);
        find_candidates();
        result_.next_gate = last_gate(most_new);
        while (!pools_.empty() && pools_.back().first >= result_.next_gate) pools_.pop_back();
        for (std::int64_t cell = 0; cell < cells_.count; ++cell) cut(cell);
        return std::move(result_);
    }

  private:
    const SliceCells& cells_;
    const SliceGates& gates_;
    const std::uint8_t* sign_;
    const int first_gate_, given_;
    const Oracle& oracle_;
    std::vector<SlicePool> pools_;  // those to be looked at
    SliceCut result_;
    std::vector<std::vector<int>> candidates_, pool_candidates_;
    std::unordered_map<Crossing, std::int64_t, HashCrossing> crossings_;
    // Of the current cell:
    std::int64_t cell_ = 0;
    std::vector<int> gate_of_;        // of each candidate
    std::vector<SlicePool> pool_of_;  // of each pool that may cut: its pairs as numbers of candidates
    std::vector<int> pool_number_;    // and which pool it is
    std::vector<Corner> corners_;
    std::map<std::array<int, 3>, int> made_;
    std::vector<Part> stack_;
    std::vector<std::uint8_t> seen_;

    std::uint64_t name(std::int64_t v) const {
        return v < cells_.vertices ? cells_.name[v] : result_.name[v - cells_.vertices];
    }
    const double* point(std::int64_t v) const {
        return v < cells_.vertices ? cells_.point + v * cells_.dim
                                   : result_.point.data() + (v - cells_.vertices) * cells_.dim;
    }
    double off(std::int64_t v) const { return v < cells_.vertices ? cells_.off[v] : result_.off[v - cells_.vertices]; }

    void find_candidates() {
        candidates_.resize(cells_.count);
        pool_candidates_.resize(cells_.count);
        for (std::int64_t cell = 0; cell < cells_.count; ++cell) {
            see(cell);
            for (int g = 0; g < gates_.plain - first_gate_; ++g)
                if ((seen_[g] & both_signs) == both_signs) candidates_[cell].push_back(first_gate_ + g);
            for (int p = 0; p < static_cast<int>(pools_.size()); ++p)
                if (winner_on_cell(pools_[p]) < 0) pool_candidates_[cell].push_back(p);
        }
    }

    // The member that is the largest on the whole of something, the first of those that are the same there; -1 if there
    // is none. `seen` tells what a pair does there.
    template <typename Seen>
    static int winner_of(const SlicePool& pool, const Seen& seen) {
        const auto beats = [&](int i, int j) {
            const std::uint8_t signs = i < j ? seen(pool.pair(i, j)) : seen(pool.pair(j, i));
            return i < j ? !(signs & sign_positive) : (signs & both_signs) == sign_positive;
        };
        for (int i = 0; i < pool.members; ++i) {
            int j = 0;
            while (j < pool.members && (j == i || beats(i, j))) ++j;
            if (j == pool.members) return i;
        }
        return -1;
    }

    int winner_on_cell(const SlicePool& pool) const {
        return winner_of(pool, [&](int gate) { return seen_[gate - first_gate_]; });
    }

    int winner_on(const Part& part, const SlicePool& pool) {
        return winner_of(pool, [&](int j) { return seen_on(part, j); });
    }

    // What the gates do on a cell, from its corners.
    void see(std::int64_t cell) {
        seen_.assign(given_, 0);
        for (std::int64_t k = cells_.start[cell]; k < cells_.start[cell + 1]; ++k) {
            const std::uint8_t* sign = sign_ + k * given_;
            for (int g = 0; g < given_; ++g) seen_[g] |= sign[g];
        }
    }

    // k lines cut a cell in up to k (k + 1) / 2 + 1 parts, with about as many vertices.
    int last_gate(std::int64_t most_new) const {
        std::vector<std::int64_t> growth(gates_.gates, 0);
        for (const auto& gates : candidates_)
            for (std::size_t k = 0; k < gates.size(); ++k) growth[gates[k]] += static_cast<std::int64_t>(k) + 1;
        for (std::int64_t cell = 0; cell < cells_.count; ++cell) {
            std::int64_t lines = static_cast<std::int64_t>(candidates_[cell].size());
            for (const int p : pool_candidates_[cell]) {
                lines += pools_[p].members - 1;
                growth[pools_[p].first] += lines;
            }
        }
        std::int64_t total = 0;
        for (int g = first_gate_; g < gates_.gates; ++g) {
            if (total > 0 && total + growth[g] > most_new) return g;
            total += growth[g];
        }
        return gates_.gates;
    }

    void cut(std::int64_t cell) {
        cell_ = cell;
        gate_of_.clear();
        for (const int g : candidates_[cell])
            if (g < result_.next_gate) gate_of_.push_back(g);
        const int plain = static_cast<int>(gate_of_.size());
        pool_of_.clear();
        pool_number_.clear();
        for (const int p : pool_candidates_[cell]) {
            if (p >= static_cast<int>(pools_.size())) break;
            pool_number_.push_back(p);
            pool_of_.push_back({static_cast<int>(gate_of_.size()), pools_[p].members});
            for (int g = pools_[p].first; g < pools_[p].end(); ++g) gate_of_.push_back(g);
        }
        corners_.clear();
        made_.clear();
        Part whole;
        for (std::int64_t k = cells_.start[cell]; k < cells_.start[cell + 1]; ++k) {
            whole.add(static_cast<int>(corners_.size()), k, cells_.wall[k]);
            Corner corner{.vertex = cells_.vertex[k], .sign = std::vector<std::uint8_t>(gate_of_.size())};
            for (std::size_t j = 0; j < gate_of_.size(); ++j) {
                const std::uint8_t given = sign_[k * given_ + gate_of_[j] - first_gate_];
                corner.sign[j] = given == sign_open ? sign_zero : given;
            }
            corners_.push_back(std::move(corner));
        }
        for (int j = 0; j < plain; ++j) whole.gates.push_back(j);
        for (int q = 0; q < static_cast<int>(pool_of_.size()); ++q) whole.pools.push_back(q);
        see(cell);
        stack_.push_back(std::move(whole));
        while (!stack_.empty()) {
            Part part = std::move(stack_.back());
            stack_.pop_back();
            const auto next =
                std::find_if(part.gates.begin(), part.gates.end(), [&](int j) { return is_cut(part, j); });
            if (next != part.gates.end()) {
                const int j = *next;
                part.gates.erase(part.gates.begin(), next + 1);
                Part above, under;
                if (split(part, j, j, above, under)) {
                    above.gates = under.gates = part.gates;
                    above.pools = under.pools = part.pools;
                    stack_.push_back(std::move(above));
                    stack_.push_back(std::move(under));
                } else {
                    ++result_.inconsistent;
                    stack_.push_back(std::move(part));
                }
                continue;
            }
            part.gates.clear();
            const auto pool = std::find_if(part.pools.begin(), part.pools.end(),
                                           [&](int q) { return winner_on(part, pool_of_[q]) < 0; });
            if (pool == part.pools.end()) {
                emit(part);
                continue;
            }
            const int q = *pool;
            part.pools.erase(part.pools.begin(), pool + 1);
            cut_pool(part, pool_of_[q]);
        }
    }

    // What a candidate does at the corners of a part.
    std::uint8_t seen_on(const Part& part, int j) {
        std::uint8_t seen = 0;
        for (const int c : part.corner) seen |= sign(c, j);
        return seen;
    }

    bool is_cut(const Part& part, int j) { return (seen_on(part, j) & both_signs) == both_signs; }

    // The sign of a candidate at a corner. Between two corners of one sign it is that sign, as the gate is affine.
    std::uint8_t sign(int c, int j) {
        if (corners_[c].sign[j] != unseen) return corners_[c].sign[j];
        const std::uint8_t joint = (sign(corners_[c].low, j) | sign(corners_[c].high, j)) & both_signs;
        std::uint8_t found = joint ? joint : sign_zero;
        if (joint == both_signs) {
            found = sign_in_floats(corners_[c].vertex, gate_of_[j]);
            if (found == sign_open) {
                ++result_.asked;
                found = oracle_.sign(cell_, corners_[c].side, corners_[c].gate, gates_.first_wall + gate_of_[j]);
            }
            if (found == sign_open) {
                result_.open.push_back(gate_of_[j]);
                found = sign_zero;
            }
        }
        corners_[c].sign[j] = found;
        return found;
    }

    std::uint8_t sign_in_floats(std::int64_t v, int gate) const {
        const SliceForm form = form_of(gate);
        const double* at = point(v);
        double value = form.coefficient[0], slopes = 0;
        for (int k = 0; k < cells_.dim; ++k) {
            value += form.coefficient[k + 1] * at[k];
            slopes += std::abs(form.coefficient[k + 1]);
        }
        if (!(std::abs(value) > doubt(form.error, gates_.scale[gate], slopes, off(v)))) return sign_open;
        return value > 0 ? sign_positive : sign_negative;
    }

    SliceForm form_of(int gate) const {
        const std::int64_t row = gates_.row[cell_];
        SliceForm form;
        for (int k = 0; k <= cells_.dim; ++k)
            form.coefficient[k] = gates_.value[(row * (1 + cells_.dim) + k) * gates_.gates + gate];
        form.error = gates_.error[row] * gates_.scale[gate] * room;
        return form;
    }

    // The form of a wall that a facet of some part lies on.
    SliceForm form_on(std::int64_t facet, std::int32_t wall) const {
        if (facet < 0) return form_of(wall - gates_.first_wall);
        SliceForm form;
        for (int k = 0; k <= cells_.dim; ++k) form.coefficient[k] = cells_.form[facet * (1 + cells_.dim) + k];
        form.error = cells_.form_error[facet];
        return form;
    }

    void emit(const Part& part) {
        const auto cell = static_cast<std::int64_t>(result_.parent.size());
        const auto first = static_cast<std::int64_t>(result_.vertex.size());
        const int n = static_cast<int>(part.corner.size());
        const int count = std::max(0, std::min(result_.next_gate, gates_.plain) - first_gate_);
        const std::int64_t stride = (count + 7) / 8;
        result_.parent.push_back(cell_);
        for (int k = 0; k < n; ++k) {
            result_.vertex.push_back(corners_[part.corner[k]].vertex);
            result_.facet.push_back(part.facet[k]);
            result_.wall.push_back(part.facet[k] < 0 ? part.wall[k] - gates_.first_wall : -1);
        }
        result_.start.push_back(static_cast<std::int64_t>(result_.vertex.size()));
        result_.pattern.resize((cell + 1) * stride, 0);
        result_.vanishing.resize((cell + 1) * stride, 0);
        std::size_t j = 0;
        for (int g = 0; g < count; ++g) {
            std::uint8_t seen = seen_[g];
            if (j < gate_of_.size() && gate_of_[j] == first_gate_ + g) {
                seen = see_candidate(part, first, static_cast<int>(j));
                ++j;
            } else if ((seen & sign_zero) && (seen & both_signs)) {
                for (int k = 0; k < n; ++k)
                    if (vanishes_on(part.facet[k], g)) note(first + k, first_gate_ + g);
            }
            const auto bit = static_cast<std::uint8_t>(1 << (g % 8));
            if (seen & sign_positive) result_.pattern[cell * stride + g / 8] |= bit;
            if (!(seen & both_signs)) result_.vanishing[cell * stride + g / 8] |= bit;
        }
        emit_winners(part, first);
    }

    // Who wins the pools on a part. A member that is as large all along a facet, but not on the part, has its wall
    // there.
    void emit_winners(const Part& part, std::int64_t first) {
        const int n = static_cast<int>(part.corner.size());
        std::size_t q = 0;
        for (int p = 0; p < static_cast<int>(pools_.size()); ++p) {
            const SlicePool& pool = pools_[p];
            const bool candidate = q < pool_of_.size() && pool_number_[q] == p;
            const SlicePool& local = candidate ? pool_of_[q++] : pool;
            const int found = candidate ? winner_on(part, local) : winner_on_cell(pool);
            // Signs that stayed open may leave no winner, or a cut that fits no straight line.
            const int winner = std::max(found, 0);
            result_.inconsistent += found < 0;
            result_.winner.push_back(winner);
            for (int i = 0; i < pool.members; ++i) {
                if (i == winner) continue;
                const int g = pool.pair(std::min(i, winner), std::max(i, winner));
                const int j = local.pair(std::min(i, winner), std::max(i, winner));
                const std::uint8_t seen = candidate ? seen_on(part, j) : seen_[g - first_gate_];
                if (!(seen & sign_zero) || !(seen & both_signs)) continue;
                for (int k = 0; k < n; ++k) {
                    const int next = cells_.dim == 1 ? k : (k + 1) % n;
                    const bool own = part.facet[k] < 0 && part.wall[k] == gates_.first_wall + g;
                    const bool zero = candidate ? (sign(part.corner[k], j) & sign(part.corner[next], j)) == sign_zero
                                                : vanishes_on(part.facet[k], g - first_gate_);
                    if (!own && zero) note(first + k, g);
                }
            }
        }
    }

    // What a candidate does on a part. It can vanish on new facets only: along an old one it would not cut the cell.
    std::uint8_t see_candidate(const Part& part, std::int64_t first, int j) {
        const int n = static_cast<int>(part.corner.size()), gate = gate_of_[j];
        const std::uint8_t seen = seen_on(part, j);
        if (!(seen & sign_zero) || !(seen & both_signs)) return seen;
        for (int k = 0; k < n; ++k) {
            const int next = cells_.dim == 1 ? k : (k + 1) % n;
            const bool is_new = part.facet[k] < 0 && part.wall[k] != gates_.first_wall + gate;
            if (is_new && sign(part.corner[k], j) == sign_zero && sign(part.corner[next], j) == sign_zero)
                note(first + k, gate);
        }
        return seen;
    }

    void note(std::int64_t facet, int gate) {
        result_.extra_facet.push_back(facet);
        result_.extra_wall.push_back(gate);
    }

    // Whether a gate that does not cut the cell vanishes on one of its facets.
    bool vanishes_on(std::int64_t facet, int g) const {
        if (facet < 0) return false;
        const std::int64_t first = cells_.start[cell_], last = cells_.start[cell_ + 1];
        const std::int64_t next = cells_.dim == 1 ? facet : facet + 1 < last ? facet + 1 : first;
        return is_zero(sign_[facet * given_ + g]) && is_zero(sign_[next * given_ + g]);
    }

    static bool is_zero(std::uint8_t sign) { return sign == sign_zero || sign == sign_open; }

    // Both parts of a part that a candidate cuts; `key` names the corners that are made. False if signs that stayed
    // open fit no straight cut.
    bool split(const Part& part, int j, int key, Part& above, Part& under) {
        if (cells_.dim == 2) return cut_polygon(part, j, key, above, under);
        cut_segment(part, j, key, above, under);
        return true;
    }

    void cut_segment(const Part& part, int j, int key, Part& above, Part& under) {
        const int middle = crossing(part.corner[0], part.corner[1], -1, -1, j, key);
        const bool falls = sign(part.corner[0], j) == sign_positive;
        Part &left = falls ? above : under, &right = falls ? under : above;
        left.add(part.corner[0], part.facet[0], part.wall[0]);
        left.add(middle, -1, gates_.first_wall + gate_of_[j]);
        right.add(middle, -1, gates_.first_wall + gate_of_[j]);
        right.add(part.corner[1], part.facet[1], part.wall[1]);
    }

    // Around the polygon there is one run of corners from the first positive to the last positive one. It becomes one
    // part, between the two places where the gate is zero next to it; the rest is the other part. False if there are
    // more runs, which only signs that stayed open can make.
    bool cut_polygon(const Part& part, int j, int key, Part& above, Part& under) {
        const auto n = static_cast<int>(part.corner.size());
        const auto at = [&](int k) { return ((k % n) + n) % n; };
        const auto sign_at = [&](int k) { return sign(part.corner[at(k)], j); };
        int start = 0;
        while (sign_at(start) != sign_negative) ++start;
        int first = -1, last = -1, runs = 0;
        bool below = true;
        for (int k = start; k < start + n; ++k) {
            if (sign_at(k) == sign_positive) {
                if (below) {
                    ++runs;
                    first = k;
                }
                last = k;
                below = false;
            } else if (sign_at(k) == sign_negative) {
                below = true;
            }
        }
        if (runs != 1) return false;
        const std::int32_t gate = gates_.first_wall + gate_of_[j];
        const auto facet = [&](int k) { return part.facet[at(k)]; };
        const auto wall = [&](int k) { return part.wall[at(k)]; };
        const auto between = [&](int k) {
            return crossing(part.corner[at(k)], part.corner[at(k + 1)], facet(k), wall(k), j, key);
        };
        const bool enters_at_corner = sign_at(first - 1) == sign_zero,
                   leaves_at_corner = sign_at(last + 1) == sign_zero;
        const int enter = enters_at_corner ? part.corner[at(first - 1)] : between(first - 1);
        const int leave = leaves_at_corner ? part.corner[at(last + 1)] : between(last);
        above.add(enter, facet(first - 1), wall(first - 1));
        for (int k = first; k <= last; ++k) above.add(part.corner[at(k)], facet(k), wall(k));
        above.add(leave, -1, gate);
        if (!leaves_at_corner) under.add(leave, facet(last), wall(last));
        const int end = enters_at_corner ? first - 2 : first - 1;
        for (int k = last + 1; k <= end + n; ++k) under.add(part.corner[at(k)], facet(k), wall(k));
        under.add(enter, -1, gate);
        return true;
    }

    // The parts of a part on which one member of a pool is the largest. Members come one after another, each against
    // the largest so far: that is a continuous function, so parts meet in whole sides. Then what has the same winner is
    // put together again.
    void cut_pool(const Part& part, const SlicePool& pool) {
        std::vector<Piece> pieces{{part, 0}}, next;
        for (int j = 1; j < pool.members; ++j) {
            next.clear();
            for (Piece& piece : pieces) {
                const int pair = pool.pair(piece.winner, j);
                const std::uint8_t seen = seen_on(piece.part, pair) & both_signs;
                Piece above{.winner = j}, under{.winner = piece.winner};
                if (seen == both_signs && split(piece.part, pair, pool.pair(0, j), above.part, under.part)) {
                    next.push_back(std::move(above));
                    next.push_back(std::move(under));
                    continue;
                }
                result_.inconsistent += seen == both_signs;
                if (seen == sign_positive) piece.winner = j;
                next.push_back(std::move(piece));
            }
            pieces.swap(next);
        }
        std::vector<bool> won(pool.members);
        for (const Piece& piece : pieces) won[piece.winner] = true;
        std::map<std::array<int, 2>, int> winner_at;  // by the sides of all pieces, in their direction
        if (cells_.dim == 2)
            for (const Piece& piece : pieces)
                for (std::size_t k = 0; k < piece.part.corner.size(); ++k)
                    winner_at[{piece.part.corner[k], piece.part.corner[(k + 1) % piece.part.corner.size()]}] =
                        piece.winner;
        for (int w = 0; w < pool.members; ++w) {
            if (!won[w]) continue;
            Part whole = cells_.dim == 2 ? polygon_of(pieces, winner_at, pool, w) : segment_of(pieces, pool, w);
            result_.inconsistent += whole.corner.empty();
            if (whole.corner.empty()) continue;
            whole.pools = part.pools;
            stack_.push_back(std::move(whole));
        }
    }

    std::int32_t wall_between(const SlicePool& pool, int one, int other) const {
        return gates_.first_wall + gate_of_[pool.pair(std::min(one, other), std::max(one, other))];
    }

    // The polygon on which a member wins, nothing if its sides do not close: what lies on one line is one side.
    Part polygon_of(const std::vector<Piece>& pieces, const std::map<std::array<int, 2>, int>& winner_at,
                    const SlicePool& pool, int winner) const {
        std::map<int, Side> side_from;
        for (const Piece& piece : pieces) {
            if (piece.winner != winner) continue;
            const std::size_t n = piece.part.corner.size();
            for (std::size_t k = 0; k < n; ++k) {
                const int a = piece.part.corner[k], b = piece.part.corner[(k + 1) % n];
                const auto behind = winner_at.find({b, a});
                if (behind == winner_at.end())
                    side_from[a] = {b, piece.part.facet[k], piece.part.wall[k], -1};
                else if (behind->second != winner)
                    side_from[a] = {b, -1, wall_between(pool, winner, behind->second), behind->second};
            }
        }
        Part whole;
        if (side_from.empty()) return whole;
        const int first = side_from.begin()->first;
        std::vector<int> corner;
        std::vector<Side> side;
        for (int at = first; corner.size() < side_from.size();) {
            const auto found = side_from.find(at);
            if (found == side_from.end()) return whole;
            corner.push_back(at);
            side.push_back(found->second);
            at = found->second.end;
            if (at == first) break;
        }
        const std::size_t n = corner.size();
        if (n < side_from.size() || side.back().end != first) return whole;
        for (std::size_t k = 0; k < n; ++k)
            if (!side[k].continues(side[(k + n - 1) % n])) whole.add(corner[k], side[k].facet, side[k].wall);
        return whole;
    }

    // The same for a segment.
    Part segment_of(const std::vector<Piece>& pieces, const SlicePool& pool, int winner) const {
        std::map<int, int> starts, ends;  // winners by the corner at which their pieces start and end
        for (const Piece& piece : pieces) {
            starts[piece.part.corner[0]] = piece.winner;
            ends[piece.part.corner[1]] = piece.winner;
        }
        Part whole;
        for (const int end : {0, 1}) {
            const auto& beyond = end == 0 ? ends : starts;
            for (const Piece& piece : pieces) {
                if (piece.winner != winner) continue;
                const int c = piece.part.corner[end];
                const auto other = beyond.find(c);
                if (other == beyond.end())
                    whole.add(c, piece.part.facet[end], piece.part.wall[end]);
                else if (other->second != winner)
                    whole.add(c, -1, wall_between(pool, winner, other->second));
            }
        }
        return whole.corner.size() == 2 ? whole : Part{};
    }

    // The corner where a candidate is zero between two others, which lie on a facet. Candidates with one key are the
    // same all along that facet.
    int crossing(int one, int other, std::int64_t facet, std::int32_t wall, int j, int key) {
        const auto [item, is_new] =
            made_.try_emplace({std::min(one, other), std::max(one, other), key}, static_cast<int>(corners_.size()));
        if (!is_new) {
            corners_[item->second].sign[j] = sign_zero;
            return item->second;
        }
        const int gate = gates_.first_wall + gate_of_[j];
        corners_.push_back({vertex(one, other, facet, wall, j, key), one, other, wall, gate,
                            std::vector<std::uint8_t>(gate_of_.size(), unseen)});
        corners_.back().sign[j] = sign_zero;
        return item->second;
    }

    // Its vertex, which the cell on the other side of the facet has as well.
    std::int64_t vertex(int one, int other, std::int64_t facet, std::int32_t wall, int j, int key) {
        const std::int64_t v = corners_[one].vertex, w = corners_[other].vertex;
        // In the order of their names, which is the same wherever the two are met.
        const bool swapped = name(w) < name(v);
        const std::int64_t low = swapped ? w : v, high = swapped ? v : w;
        const auto [item, is_new] = crossings_.try_emplace(
            {low, high, gate_of_[key]}, cells_.vertices + static_cast<std::int64_t>(result_.off.size()));
        if (!is_new) return item->second;
        const int gate = gates_.first_wall + gate_of_[j];
        const SliceForm zero = form_of(gate_of_[j]);
        Place place = cells_.dim == 1 ? zero_of(zero) : meeting(form_on(facet, wall), zero);
        if (!(place.off < rounding::poor_vertex) && oracle_.place(cell_, wall, gate, place.point.data()))
            place.off = rounding::bound(2);
        for (int k = 0; k < cells_.dim; ++k) {
            // A place that is not known at all lies somewhere in the domain.
            if (!std::isfinite(place.point[k]) || std::abs(place.point[k]) > 1) {
                place.off += std::isfinite(place.point[k]) ? 0 : rounding::unknown;
                place.point[k] = std::isfinite(place.point[k]) ? std::clamp(place.point[k], -1.0, 1.0) : 0.0;
            }
            result_.point.push_back(place.point[k]);
        }
        result_.off.push_back(place.off);
        // Names of the first vertices and numbers of gates are small: each is mixed in by itself, not in a sum.
        const std::uint64_t ends = mixed(mixed(name(low)) + name(high));
        result_.name.push_back(mixed(ends + static_cast<std::uint64_t>(gates_.first_wall + gate_of_[key]) + 1));
        return item->second;
    }
};

}  // namespace

CornerSigns corner_signs(const SliceCells& cells, const SliceGates& gates, int first_gate) {
    CornerSigns result;
    const int count = gates.gates - first_gate, rows = 1 + cells.dim;
    result.sign.resize(cells.start[cells.count] * count);
    for (std::int64_t cell = 0; cell < cells.count; ++cell) {
        const double* value = gates.value + gates.row[cell] * rows * gates.gates + first_gate;
        const double* scale = gates.scale + first_gate;
        const double error = gates.error[gates.row[cell]] * room;
        for (std::int64_t k = cells.start[cell]; k < cells.start[cell + 1]; ++k) {
            const std::int64_t v = cells.vertex[k];
            const double x = cells.point[v * cells.dim], y = cells.dim == 2 ? cells.point[v * cells.dim + 1] : 0;
            const double off = cells.off[v];
            const double *a = value + gates.gates, *b = cells.dim == 2 ? a + gates.gates : a;
            std::uint8_t* sign = result.sign.data() + k * count;
            bool any_open = false;
            for (int g = 0; g < count; ++g) {
                const double at = value[g] + (a[g] * x + b[g] * y);
                const double slopes = std::abs(a[g]) + std::abs(b[g]);
                const bool decided = std::abs(at) > doubt(error * scale[g], scale[g], slopes, off);
                sign[g] = static_cast<std::uint8_t>(decided ? (at > 0 ? sign_positive : sign_negative) : sign_open);
                any_open |= !decided;
            }
            if (!any_open) continue;
            for (int g = 0; g < count; ++g) {
                if (sign[g] != sign_open) continue;
                if (scale[g] == 0) {
                    sign[g] = sign_zero;
                    continue;
                }
                result.corner.push_back(k);
                result.gate.push_back(first_gate + g);
            }
        }
    }
    return result;
}

SliceCut cut_slice(const SliceCells& cells, const SliceGates& gates, const std::uint8_t* sign, int first_gate,
                   std::int64_t most_new, const Oracle& oracle) {
    return Cutter(cells, gates, sign, first_gate, oracle).run(most_new);
}

}  // namespace polyfold
