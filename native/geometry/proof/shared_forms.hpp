// Witnesses of many cells, by the affine forms that cells with the same gates on have in common.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/base/lanes.hpp"
#include "geometry/problem/problem.hpp"

namespace polyfold {

// Cells that come one behind the other mostly agree in the gates of all stages but the last ones, and then a stage has
// the same forms on all of them: found once, with bounds on what rounding may have done, they are looked at with each
// witness in as many products as the domain has dimensions. From cells to the next ones forms change by few gates:
// those that cells in a row have in common are added up once for all of these, then, where a gate is on from
// some cell on, those that each of both parts has in common beside, and so on. See decisions 48 and 62.
class SharedForms {
  public:
    explicit SharedForms(const Problem& problem);

    // Whether there are so few dimensions that forms are cheaper than values.
    static bool pays(const Problem& problem);

    // Whether floats prove that these points have these patterns, with no gate that vanishes there: written for each.
    void prove(int count, const std::uint8_t* patterns, const double* points, std::uint8_t* proved);

  private:
    static constexpr int most_dimensions = 8;

    // A matrix applied to what a stage puts out, by its columns: each fills whole registers.
    struct Weights {
        int source;
        std::vector<Lanes> columns;
    };
    // What does not depend on any cell.
    struct Layer {
        int width = 0, registers = 0, first_word = 0, words = 0;  // of the patterns, where its gates are
        std::vector<Weights> weights;                             // on stages, not on the input
        std::vector<Lanes> start;                                 // [register * dimensions + k]: forms without these
        bool reads_earlier = false;                               // stages before the last one
        Lanes no_rows{};      // of the last register: infinity where there is no row, else minus infinity
        double relative = 0;  // what rounding does to a form, relatively to its terms
        double largest_row_sum = 0, largest_bias_error = 0, slope = 0;
        std::vector<double> start_doubt;  // by coordinate: about every number that comes from the input
    };
    // Forms of a stage on some cells.
    struct Forms {
        std::vector<Lanes> entries;  // [register * dimensions + k]
        // By coordinate: what about every number that comes in, of this coordinate, is not known; what bounds the
        // entries; the same two of what the stage puts out.
        std::vector<double> doubt, size, out_error, out_size;
    };

    const Problem& problem_;
    const int dimensions_;  // dim + 1
    int words_ = 0;         // of a pattern, each stage from a word of its own on
    std::vector<Layer> layers_;
    std::vector<Forms> forms_;  // of the cells at hand, by stage
    // What the patterns of a stage have in common, from all at hand to ever smaller parts of them.
    struct Common {
        std::vector<std::uint64_t> gates;  // in which they agree
        std::vector<Lanes> entries;        // what these add to the next stage's forms
    };
    struct Patterns {
        std::vector<int> starts;  // of cells with one pattern each, and the end of the last ones
        std::vector<Common> common;
    };
    std::vector<Patterns> patterns_of_;  // by stage

    // Of the cells at hand.
    const double* points_ = nullptr;
    std::vector<std::uint64_t> patterns_;  // words_ each
    std::uint8_t* proved_ = nullptr;
    std::array<double, most_dimensions> largest_{};  // by coordinate: what bounds the sizes of all points' ones

    // Scratch.
    std::vector<std::uint8_t> last_patterns_;
    std::vector<std::uint64_t> among_;
    std::vector<const Lanes*> columns_;
    std::vector<double> factors_;  // dimensions_ for each of the columns

    const std::uint64_t* pattern(int cell, const Layer& layer) const {
        return patterns_.data() + static_cast<std::ptrdiff_t>(cell) * words_ + layer.first_word;
    }
    void find_largest(int count);
    void read_patterns(int count, const std::uint8_t* patterns);
    std::uint64_t* read_word(int gate, int gates, const std::uint8_t* patterns, int count, std::uint64_t* out) const;
    bool same(int cell, int other, const Layer& layer) const;
    void look(std::size_t stage, int first, int last);
    void look_above(std::size_t stage, int first, int last);
    void look_at_patterns(std::size_t stage, std::size_t depth, std::size_t first, std::size_t last);
    std::size_t first_with_next_gate(std::size_t stage, std::size_t first, std::size_t last) const;
    bool find_bounds(std::size_t stage);
    double error_at(std::size_t stage, const double* point) const;
    template <int Dim>
    void look_at(std::size_t stage, int first, int last);
    void add_columns_of(std::size_t stage, std::size_t source, const std::uint64_t* pattern,
                        const std::vector<Lanes>& before, std::vector<Lanes>& after);
    void add_up(const Layer& layer, const Lanes* before, Lanes* after) const;
};

}  // namespace polyfold
