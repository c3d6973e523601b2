#include "geometry/verify.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "geometry/in_parallel.hpp"
#include "geometry/lanes.hpp"
#include "geometry/rounding.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t worth_a_thread = 4096;  // cells

// Whether two patterns differ in this gate and in no other.
bool differ_only_in(const std::uint8_t* one, const std::uint8_t* other, int stride, int gate) {
    unsigned rest = 0;
    for (int b = 0; b < stride; ++b)
        rest |= static_cast<unsigned>(one[b] ^ other[b]) ^ (b == gate / 8 ? 1U << (gate % 8) : 0U);
    return rest == 0;
}

// What there is to count where nothing is unusual.
struct PlainCount {
    std::int64_t up = 0, down = 0, open = 0;  // facets that lead to a later cell, to an earlier one, to nobody knows
    bool plain = true;
};

// No wall is listed twice, every facet that leads up is met by one that leads back over the same wall, and the cells'
// patterns differ there and nowhere else. If there are as many facets that lead down, these are the ones that were met.
void count_plain(const FacetArrays& atlas, std::int64_t first, std::int64_t last, PlainCount& count) {
    for (std::int64_t cell = first; cell < last && count.plain; ++cell) {
        std::int32_t before = -1;
        for (std::int64_t facet = atlas.facet_start[cell]; facet < atlas.facet_start[cell + 1]; ++facet) {
            const std::int64_t other = atlas.neighbour[facet];
            const std::int32_t wall = atlas.facet_wall[facet];
            const bool known = other >= -2 && other < atlas.cells && other != cell && wall < atlas.gates + atlas.rows;
            count.plain =
                count.plain && known && wall > before && (other == -2 || (other == -1) == (wall >= atlas.gates));
            before = wall;
            count.open += other == -2;
            count.down += other >= 0 && other < cell;
            if (!count.plain || other <= cell) continue;
            ++count.up;
            std::int64_t f = atlas.facet_start[other];
            const std::int64_t end = atlas.facet_start[other + 1];
            while (f < end && atlas.neighbour[f] != cell) ++f;
            count.plain = f < end && atlas.facet_wall[f] == wall &&
                          differ_only_in(atlas.patterns + cell * atlas.stride, atlas.patterns + other * atlas.stride,
                                         atlas.stride, wall);
        }
    }
}

void count_pairing(const FacetArrays& atlas, std::int64_t first, std::int64_t last, PairingCount& count) {
    std::vector<std::uint8_t> difference(atlas.stride);
    const std::int64_t* const shared_end = atlas.shared_facet + atlas.shared;
    std::int64_t shared =
        std::lower_bound(atlas.shared_facet, shared_end, atlas.facet_start[first]) - atlas.shared_facet;
    for (std::int64_t cell = first; cell < last; ++cell)
        for (std::int64_t facet = atlas.facet_start[cell]; facet < atlas.facet_start[cell + 1]; ++facet) {
            const std::int64_t other = atlas.neighbour[facet];
            const int wall = atlas.facet_wall[facet];
            if (other < -2 || other >= atlas.cells || wall < 0 || wall >= atlas.gates + atlas.rows) {
                ++count.wrong;
                continue;
            }
            if (other == -2) {
                ++count.open;
                continue;
            }
            if ((other == -1) != (wall >= atlas.gates)) ++count.wrong;
            if (other == -1) continue;
            ++count.inner;
            bool back = false;
            for (std::int64_t f = atlas.facet_start[other]; f < atlas.facet_start[other + 1] && !back; ++f)
                back = atlas.neighbour[f] == cell && atlas.facet_wall[f] == wall;
            count.one_way += !back;
            if (wall >= atlas.gates) continue;

            bool differ = false, elsewhere = false;
            for (int b = 0; b < atlas.stride; ++b) {
                difference[b] = atlas.patterns[cell * atlas.stride + b] ^ atlas.patterns[other * atlas.stride + b];
                differ = differ || difference[b];
            }
            const auto allow = [&](int gate) {
                if (gate >= 0 && gate < atlas.gates)
                    difference[gate / 8] &= static_cast<std::uint8_t>(~(1 << (gate % 8)));
            };
            allow(wall);
            while (shared < atlas.shared && atlas.shared_facet[shared] < facet) ++shared;
            for (std::int64_t s = shared; s < atlas.shared && atlas.shared_facet[s] == facet; ++s)
                allow(atlas.shared_wall[s]);
            for (const std::uint8_t rest : difference) elsewhere = elsewhere || rest;
            count.wrong += !differ || elsewhere;
        }
}

}  // namespace

PairingCount count_pairing(const FacetArrays& atlas, int threads) {
    PlainCount all;
    std::mutex mutex;
    in_parallel(threads, atlas.cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        PlainCount count;
        count_plain(atlas, first, last, count);
        const std::lock_guard lock(mutex);
        all.up += count.up;
        all.down += count.down;
        all.open += count.open;
        all.plain = all.plain && count.plain;
    });
    if (all.plain && all.up == all.down) return {.inner = all.up + all.down, .open = all.open};

    PairingCount total;
    in_parallel(threads, atlas.cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        PairingCount count;
        count_pairing(atlas, first, last, count);
        const std::lock_guard lock(mutex);
        total.inner += count.inner;
        total.open += count.open;
        total.one_way += count.one_way;
        total.wrong += count.wrong;
    });
    return total;
}

namespace {

// What one source puts out for a group of cells, with one bound for the errors and one for the sizes of all its
// entries.
struct Source {
    std::vector<Lanes> values;
    Lanes error{}, size{};
};

class ForwardPass {
  public:
    explicit ForwardPass(const Problem& problem) : problem_(problem), sources_(problem.stages.size()) {
        for (const Stage& stage : problem.stages)
            for (const Block& block : stage.blocks) {
                std::vector<double>& sums = row_sums_.emplace_back(stage.width, 0.0);
                for (int j = 0; j < block.columns; ++j)
                    for (int i = 0; i < stage.width; ++i) sums[i] += std::abs(block.by_column[j * stage.width + i]);
                for (double& sum : sums) sum *= 1 + 0x1p-20;
            }
    }

    // Which of these cells are proved.
    void operator()(int count, const std::uint8_t* patterns, const double* witnesses, std::uint8_t* proved) {
        const int stride = (problem_.gates + 7) / 8;
        read_inputs(count, witnesses);
        Choice fine = ~Choice{}, eight_gates{};
        std::size_t block_number = 0;
        for (std::size_t s = 0; s < problem_.stages.size(); ++s) {
            const Stage& stage = problem_.stages[s];
            add_up(stage, block_number);
            if (s == 0) {  // the domain's rows put nothing out: source 0 is the input
                add_parameter_rows(stage, count, witnesses);
                for (int i = 0; i < stage.width; ++i) fine &= sum_[i] > error_[i] + rounding::tiny;
                continue;
            }
            Source& out = sources_[s];
            out.values.resize(stage.width);
            out.error = out.size = Lanes{};
            for (int i = 0; i < stage.width; ++i) {
                const int gate = stage.first_wall + i;
                if (i == 0 || gate % 8 == 0)
                    for (int lane = 0; lane < count; ++lane) eight_gates[lane] = patterns[lane * stride + gate / 8];
                const Choice on = -((eight_gates >> (gate % 8)) & 1);
                const Lanes z = sum_[i], error = error_[i] + rounding::tiny;
                fine &= (on ? z : -z) > error;
                const Lanes slope = on ? Lanes{} + stage.slope_on[i] : Lanes{} + stage.slope_off[i], y = z * slope;
                out.values[i] = y;
                out.size = larger(out.size, size_of(y));
                out.error =
                    larger(out.error, (size_of(slope) * error + rounding::bound(2) * size_of(y)) * (1 + 0x1p-20));
            }
        }
        for (int lane = 0; lane < count; ++lane) proved[lane] = fine[lane] != 0;
    }

  private:
    const Problem& problem_;
    std::vector<Source> sources_;
    std::vector<std::vector<double>> row_sums_;  // by block, over all stages
    std::vector<Lanes> sum_, error_, parameters_;
    std::vector<std::size_t> not_zero_;  // scratch: columns

    void read_inputs(int count, const double* witnesses) {
        const int d = problem_.dim;
        Source& inputs = sources_[0];
        inputs.values.assign(problem_.input_dim, Lanes{});
        inputs.error = inputs.size = Lanes{};
        for (int j = 0; j < problem_.input_dim; ++j)
            for (int lane = 0; lane < count; ++lane) {
                const double* u = witnesses + lane * d;
                const double* row = problem_.frame.data() + j * (d + 1);
                double value = row[d], size = std::abs(row[d]);
                for (int k = 0; k < d; ++k) {
                    value += row[k] * u[k];
                    size += std::abs(row[k] * u[k]);
                }
                if (problem_.frame_is_identity) {
                    value = u[j];
                    size = 0;  // nothing was rounded
                }
                inputs.values[j][lane] = value;
                inputs.size[lane] = std::max(inputs.size[lane], std::abs(value));
                inputs.error[lane] = std::max(inputs.error[lane], rounding::bound(d + 4) * size);
            }
    }

    void add_up(const Stage& stage, std::size_t& block_number) {
        const double relative = rounding::bound(stage.terms);
        sum_.resize(stage.width);
        error_.resize(stage.width);
        for (int i = 0; i < stage.width; ++i) {
            sum_[i] = Lanes{} + stage.bias[i];
            error_[i] = Lanes{} + relative * std::abs(stage.bias[i]);
        }
        for (const Block& block : stage.blocks) {
            const Source& source = sources_[block.source];
            const auto width = static_cast<std::size_t>(stage.width);
            // Cells that come together have most of their gates in common, and those that are off put nothing out.
            not_zero_.clear();
            for (int j = 0; j < block.columns; ++j) {
                const Choice some = source.values[j] != 0;
                if (some[0] | some[1] | some[2] | some[3]) not_zero_.push_back(j);
            }
            const auto column = [&](std::size_t at) { return block.by_column.data() + not_zero_[at] * width; };
            const auto value = [&](std::size_t at) { return source.values[not_zero_[at]]; };
            std::size_t at = 0;
            for (; at + 4 <= not_zero_.size(); at += 4) {  // four at a time: the sums are the bottleneck
                const double *one = column(at), *two = column(at + 1), *three = column(at + 2), *four = column(at + 3);
                const Lanes a = value(at), b = value(at + 1), c = value(at + 2), d = value(at + 3);
                for (std::size_t i = 0; i < width; ++i) sum_[i] += one[i] * a + two[i] * b + three[i] * c + four[i] * d;
            }
            for (; at < not_zero_.size(); ++at) {
                const double* one = column(at);
                const Lanes a = value(at);
                for (std::size_t i = 0; i < width; ++i) sum_[i] += one[i] * a;
            }
            const Lanes doubt = (source.error * (1 + relative) + relative * source.size) * (1 + 0x1p-20);
            const std::vector<double>& row_sum = row_sums_[block_number++];
            for (int i = 0; i < stage.width; ++i) error_[i] += row_sum[i] * doubt;
        }
        for (Lanes& row : error_) row *= 1 + 0x1p-20;
    }

    void add_parameter_rows(const Stage& stage, int count, const double* witnesses) {
        const int d = problem_.dim;
        parameters_.assign(d, Lanes{});
        for (int k = 0; k < d; ++k)
            for (int lane = 0; lane < count; ++lane) parameters_[k][lane] = witnesses[lane * d + k];
        for (int i = 0; i < stage.width; ++i) {
            const double* row = stage.parameter_rows.data() + static_cast<std::ptrdiff_t>(i) * (d + 1);
            Lanes value = Lanes{} + row[d], size = size_of(value);
            for (int k = 0; k < d; ++k) {
                const Lanes term = row[k] * parameters_[k];
                value += term;
                size += size_of(term);
            }
            sum_[i] += value;
            error_[i] += rounding::bound(d + 4) * size * (1 + 0x1p-20) + rounding::bound(2) * size_of(value);
        }
    }
};

}  // namespace

std::vector<std::uint8_t> prove_witnesses(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                          const double* witnesses, int threads) {
    std::vector<std::uint8_t> proved(cells, 0);
    const int stride = (problem.gates + 7) / 8;
    in_parallel(threads, cells, worth_a_thread, [&](std::int64_t first, std::int64_t last) {
        ForwardPass pass(problem);
        for (; first < last; first += lanes) {
            const int count = static_cast<int>(std::min<std::int64_t>(lanes, last - first));
            pass(count, patterns + first * stride, witnesses + first * problem.dim, proved.data() + first);
        }
    });
    return proved;
}

std::int64_t count_disorder(std::int64_t cells, int stride, const std::uint8_t* patterns) {
    std::int64_t disorder = 0;
    for (std::int64_t cell = 1; cell < cells; ++cell) {
        const std::uint8_t *before = patterns + (cell - 1) * stride, *here = before + stride;
        int b = 0;
        while (b < stride && before[b] == here[b]) ++b;
        // The first gate in which they differ is the lowest bit.
        disorder += b == stride || !(here[b] & (before[b] ^ here[b]) & -(before[b] ^ here[b]));
    }
    return disorder;
}

}  // namespace polyfold
