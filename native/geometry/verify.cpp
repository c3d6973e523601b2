#include "geometry/verify.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/rounding.hpp"

namespace polyfold {

PairingCount count_pairing(const FacetArrays& atlas) {
    PairingCount count;
    std::int64_t shared = 0;
    std::vector<std::uint8_t> difference(atlas.stride);
    for (std::int64_t cell = 0; cell < atlas.cells; ++cell)
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
    return count;
}

namespace {

constexpr int lanes = 16;  // cells that go through the network side by side
// A vector type, because compilers would rather vectorise another loop.
using Lanes = double __attribute__((vector_size(lanes * sizeof(double))));

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
        std::fill_n(proved, count, 1);
        std::size_t block_number = 0;
        for (std::size_t s = 0; s < problem_.stages.size(); ++s) {
            const Stage& stage = problem_.stages[s];
            add_up(stage, block_number);
            if (s == 0) add_parameter_rows(stage, count, witnesses);
            Source& out = sources_[s];
            if (s > 0) {  // the domain's rows put nothing out: source 0 is the input
                out.values.resize(stage.width);
                out.error = out.size = Lanes{};
            }
            for (int i = 0; i < stage.width; ++i)
                for (int lane = 0; lane < count; ++lane) {
                    const int gate = stage.first_wall + i;
                    const bool on = s == 0 || (patterns[lane * stride + gate / 8] >> (gate % 8)) & 1;
                    const double z = sum_[i][lane], error = error_[i][lane] + rounding::tiny;
                    if (!(on ? z > error : z < -error)) proved[lane] = 0;
                    if (s == 0) continue;
                    const double slope = on ? stage.slope_on[i] : stage.slope_off[i], y = z * slope;
                    out.values[i][lane] = y;
                    out.size[lane] = std::max(out.size[lane], std::abs(y));
                    out.error[lane] = std::max(
                        out.error[lane], (std::abs(slope) * error + rounding::bound(2) * std::abs(y)) * (1 + 0x1p-20));
                }
        }
    }

  private:
    const Problem& problem_;
    std::vector<Source> sources_;
    std::vector<std::vector<double>> row_sums_;  // by block, over all stages
    std::vector<Lanes> sum_, error_;

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
            for (int j = 0; j < block.columns; ++j) {
                const Lanes y = source.values[j];
                const double* column = block.by_column.data() + static_cast<std::size_t>(j) * stage.width;
                for (int i = 0; i < stage.width; ++i) sum_[i] += column[i] * y;
            }
            const Lanes doubt = (source.error * (1 + relative) + relative * source.size) * (1 + 0x1p-20);
            const std::vector<double>& row_sum = row_sums_[block_number++];
            for (int i = 0; i < stage.width; ++i) error_[i] += row_sum[i] * doubt;
        }
        for (Lanes& row : error_) row *= 1 + 0x1p-20;
    }

    void add_parameter_rows(const Stage& stage, int count, const double* witnesses) {
        const int d = problem_.dim;
        for (int i = 0; i < stage.width; ++i)
            for (int lane = 0; lane < count; ++lane) {
                const double* row = stage.parameter_rows.data() + i * (d + 1);
                double value = row[d], size = std::abs(row[d]);
                for (int k = 0; k < d; ++k) {
                    value += row[k] * witnesses[lane * d + k];
                    size += std::abs(row[k] * witnesses[lane * d + k]);
                }
                sum_[i][lane] += value;
                error_[i][lane] += rounding::bound(d + 4) * size * (1 + 0x1p-20) + rounding::bound(2) * std::abs(value);
            }
    }
};

}  // namespace

std::vector<std::uint8_t> prove_witnesses(const Problem& problem, std::int64_t cells, const std::uint8_t* patterns,
                                          const double* witnesses) {
    std::vector<std::uint8_t> proved(cells, 0);
    ForwardPass pass(problem);
    const int stride = (problem.gates + 7) / 8;
    for (std::int64_t first = 0; first < cells; first += lanes) {
        const int count = static_cast<int>(std::min<std::int64_t>(lanes, cells - first));
        pass(count, patterns + first * stride, witnesses + first * problem.dim, proved.data() + first);
    }
    return proved;
}

}  // namespace polyfold
