#include "geometry/proof/influence.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "geometry/base/in_parts.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

namespace {

constexpr std::int64_t cells_together = 1 << 10;
// More than what rounding adds to a bound while it is computed.
constexpr double margin = 1 + 0x1p-19;

// The blocks of a stage, or of the outputs, row by row: what pulls a coefficient on a row back to the source.
struct RowBlock {
    int source, columns;
    std::vector<double> entries, sizes;  // [i * columns + j]

    RowBlock(const Block& block, int rows)
        : source(block.source), columns(block.columns), entries(block.by_column.size()), sizes(entries.size()) {
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) {
                const double entry = block.by_column[static_cast<std::size_t>(j) * rows + i];
                entries[static_cast<std::size_t>(i) * columns + j] = entry;
                sizes[static_cast<std::size_t>(i) * columns + j] = std::abs(entry);
            }
    }
};

// How one output of one cell changes with what every gate puts out, backwards from the output, as far as is asked for.
class Influence {
  public:
    Influence(const Problem& problem, const OutputRows& outputs)
        : problem_(problem),
          outputs_(outputs.outputs),
          rounded_(rounding::bound(problem.gates + outputs.outputs + 8)),
          value_(problem.stages.size()),
          error_(problem.stages.size()),
          reached_(problem.stages.size()) {
        for (const Block& block : outputs.blocks) last_.emplace_back(block, outputs.outputs);
        blocks_.resize(problem.stages.size());
        for (std::size_t s = 1; s < problem.stages.size(); ++s) {
            const Stage& stage = problem.stages[s];
            for (const Block& block : stage.blocks)
                if (block.source > 0) blocks_[s].emplace_back(block, stage.width);
            for (auto* numbers : {&value_[s], &error_[s]}) numbers->resize(stage.width);
            reached_[s].resize(stage.width);
        }
    }

    int outputs() const { return outputs_; }

    // From here on of this output under this pattern.
    void begin(const std::uint8_t* pattern, int output) {
        pattern_ = pattern;
        output_ = output;
        whole_from_ = reached_from_ = static_cast<int>(problem_.stages.size());
    }

    // Whether the output changes, for certain, with what the gate of stage s puts out.
    bool is_heard(int s, int row) {
        pull_down_to(s);
        const double value = value_[s][row];
        return std::isfinite(value) && std::abs(value) > (error_[s][row] + rounding::tiny) * margin;
    }

    // Whether no way from the gate to the output has all of its factors.
    bool is_unreached(int s, int row) {
        reach_down_to(s);
        return reached_[s][row] == 0;
    }

  private:
    const Problem& problem_;
    const int outputs_;
    // Bounds the roundings of a coefficient that is summed up over all gates that read a value, and of one slope.
    const double rounded_;
    std::vector<RowBlock> last_;
    std::vector<std::vector<RowBlock>> blocks_;  // by stage, without those that read the input
    // By stage: coefficients on what it puts out, and bounds on their errors; whether there are any terms.
    std::vector<std::vector<double>> value_, error_;
    std::vector<std::vector<std::uint8_t>> reached_;
    const std::uint8_t* pattern_ = nullptr;
    int output_ = 0;
    int whole_from_ = 0, reached_from_ = 0;  // what is above is known of this stage and later ones

    double slope(const Stage& stage, int i) const {
        const int gate = stage.first_wall + i;
        return (pattern_[gate / 8] >> (gate % 8)) & 1 ? stage.slope_on[i] : stage.slope_off[i];
    }

    // Coefficients of stage s are whole once all later stages have passed theirs on.
    void pull_down_to(int s) {
        const int stages = static_cast<int>(problem_.stages.size());
        if (whole_from_ == stages) {
            for (int t = 1; t < stages; ++t) {
                std::fill(value_[t].begin(), value_[t].end(), 0.0);
                std::fill(error_[t].begin(), error_[t].end(), 0.0);
            }
            for (const RowBlock& block : last_)
                if (block.source > 0) {
                    // A program may read a source in two blocks: then these add up, with a rounding.
                    const double* row = block.entries.data() + static_cast<std::size_t>(output_) * block.columns;
                    for (int j = 0; j < block.columns; ++j) {
                        value_[block.source][j] += row[j];
                        error_[block.source][j] += rounded_ * std::abs(row[j]) * margin;
                    }
                }
            whole_from_ = stages - 1;  // nothing reads the last stage but the outputs
        }
        while (whole_from_ > s) pass_on(whole_from_--);
    }

    void pass_on(int s) {
        const Stage& stage = problem_.stages[s];
        for (int i = 0; i < stage.width; ++i) {
            const double a = slope(stage, i);
            if (a == 0.0 || (value_[s][i] == 0.0 && error_[s][i] == 0.0)) continue;
            const double by = value_[s][i] * a;
            const double doubt = (error_[s][i] * std::abs(a) + rounded_ * std::abs(by) + rounding::tiny) * margin;
            for (const RowBlock& block : blocks_[s]) {
                const double* row = block.entries.data() + static_cast<std::size_t>(i) * block.columns;
                const double* size = block.sizes.data() + static_cast<std::size_t>(i) * block.columns;
                double* value = value_[block.source].data();
                double* error = error_[block.source].data();
                for (int j = 0; j < block.columns; ++j) {
                    value[j] += by * row[j];
                    error[j] += doubt * size[j] + rounding::tiny;
                }
            }
        }
    }

    void reach_down_to(int s) {
        const int stages = static_cast<int>(problem_.stages.size());
        if (reached_from_ == stages) {
            for (int t = 1; t < stages; ++t) std::fill(reached_[t].begin(), reached_[t].end(), std::uint8_t{0});
            for (const RowBlock& block : last_)
                if (block.source > 0)
                    for (int j = 0; j < block.columns; ++j)
                        reached_[block.source][j] |=
                            block.entries[static_cast<std::size_t>(output_) * block.columns + j] != 0.0;
            reached_from_ = stages - 1;
        }
        for (; reached_from_ > s; --reached_from_) {
            const Stage& stage = problem_.stages[reached_from_];
            for (int i = 0; i < stage.width; ++i) {
                if (!reached_[reached_from_][i] || slope(stage, i) == 0.0) continue;
                for (const RowBlock& block : blocks_[reached_from_])
                    for (int j = 0; j < block.columns; ++j)
                        reached_[block.source][j] |=
                            block.entries[static_cast<std::size_t>(i) * block.columns + j] != 0.0;
            }
        }
    }
};

// The facets of one cell that are asked about: the gate that alone flips across each, in its stage.
struct Asked {
    std::int64_t facet;
    int stage, row;
};

class Comparison {
  public:
    Comparison(const Problem& problem, const OutputRows& outputs, const FacetArrays& atlas)
        : problem_(problem), atlas_(atlas), influence_(problem, outputs) {
        for (std::size_t s = 1; s < problem.stages.size(); ++s)
            stage_of_.insert(stage_of_.end(), problem.stages[s].width, static_cast<int>(s));
    }

    void operator()(std::int64_t cell, std::uint8_t* found) {
        asked_.clear();
        for (std::int64_t facet = atlas_.facet_start[cell]; facet < atlas_.facet_start[cell + 1]; ++facet)
            if (atlas_.neighbour[facet] > cell && atlas_.neighbour[facet] < atlas_.cells) add(cell, facet, found);
        // Most gates are heard by any output: the next one is looked at only for those that are not.
        const std::uint8_t* pattern = atlas_.patterns + cell * atlas_.stride;
        std::size_t left = asked_.size();
        for (int output = 0; output < influence_.outputs() && left > 0; ++output) {
            influence_.begin(pattern, output);
            std::size_t kept = 0;
            for (std::size_t k = 0; k < left; ++k) {
                if (influence_.is_heard(asked_[k].stage, asked_[k].row))
                    found[asked_[k].facet] = maps_differ;
                else
                    asked_[kept++] = asked_[k];
            }
            left = kept;
        }
        for (std::size_t k = 0; k < left; ++k) found[asked_[k].facet] = maps_agree;
        for (int output = 0; output < influence_.outputs() && left > 0; ++output) {
            influence_.begin(pattern, output);
            std::size_t kept = 0;
            for (std::size_t k = 0; k < left; ++k) {
                if (!influence_.is_unreached(asked_[k].stage, asked_[k].row))
                    found[asked_[k].facet] = open_question;
                else
                    asked_[kept++] = asked_[k];
            }
            left = kept;
        }
    }

  private:
    const Problem& problem_;
    const FacetArrays& atlas_;
    Influence influence_;
    std::vector<int> stage_of_;
    std::vector<Asked> asked_;

    void add(std::int64_t cell, std::int64_t facet, std::uint8_t* found) {
        const std::uint8_t* here = atlas_.patterns + cell * atlas_.stride;
        const std::uint8_t* there = atlas_.patterns + atlas_.neighbour[facet] * atlas_.stride;
        int flips = 0, gate = 0;
        for (int byte = 0; byte < atlas_.stride && flips <= 1; ++byte)
            if (const unsigned differ = static_cast<unsigned>(here[byte] ^ there[byte])) {
                flips += std::popcount(differ);
                gate = 8 * byte + std::countr_zero(differ);
            }
        if (flips != 1 || gate >= problem_.gates) return;
        const int s = stage_of_[gate];
        const Stage& stage = problem_.stages[s];
        const int row = gate - stage.first_wall;
        // A gate whose slopes are the same bends nothing.
        if (stage.slope_on[row] == stage.slope_off[row])
            found[facet] = maps_agree;
        else
            asked_.push_back({facet, s, row});
    }
};

}  // namespace

std::vector<std::uint8_t> compare_maps(const Problem& problem, const OutputRows& outputs, const FacetArrays& atlas,
                                       int threads, const std::function<bool()>& still_wanted) {
    std::vector<std::uint8_t> found(static_cast<std::size_t>(atlas.facet_start[atlas.cells]), open_question);
    const std::int64_t parts = (atlas.cells + cells_together - 1) / cells_together;
    in_parts(threads, parts, still_wanted, [&](std::int64_t part, const StopSignal& stop) {
        Comparison compare(problem, outputs, atlas);
        const std::int64_t last = std::min(atlas.cells, (part + 1) * cells_together);
        for (std::int64_t cell = part * cells_together; cell < last; ++cell) {
            stop.check();
            compare(cell, found.data());
        }
    });
    return found;
}

}  // namespace polyfold
