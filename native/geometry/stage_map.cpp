#include "geometry/stage_map.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/rounding.hpp"

namespace polyfold {

StageMap::StageMap(const Problem& problem, int stage, std::shared_ptr<const StageMap> below,
                   std::vector<std::uint8_t> on_below)
    : problem_(problem),
      stage_(stage),
      width_(problem.stages[stage].width),
      below_(std::move(below)),
      on_below_(std::move(on_below)),
      forms_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(problem.dim + 1), 0.0),
      norm_(static_cast<std::size_t>(width_), 0.0),
      error_(static_cast<std::size_t>(width_), 0.0),
      exact_rows_(static_cast<std::size_t>(width_)) {
    const Stage& here = problem_.stages[stage_];
    const int size = problem_.dim + 1;
    for (const Block& block : here.blocks) add_block(block);

    const bool copied = here.blocks.empty() || reads_input_as_it_is(here);
    for (int i = 0; i < width_; ++i) {
        const double bias = here.bias[i];
        forms_[(size - 1) * width_ + i] += bias;
        if (!copied) error_[i] = (error_[i] + rounding::bound(here.terms) * std::abs(bias)) * (1 + 0x1p-20);
    }
    if (!here.parameter_rows.empty())
        for (int i = 0; i < width_; ++i)
            for (int k = 0; k < size; ++k) {
                const double value = here.parameter_rows[i * size + k];
                forms_[k * width_ + i] += value;  // exact: the other term is zero
            }
    for (int k = 0; k < size; ++k)
        for (int i = 0; i < width_; ++i) norm_[i] += std::abs(forms_[k * width_ + i]);
    for (double& norm : norm_) norm *= 1.0 + rounding::bound(size + 1);
}

bool StageMap::reads_input_as_it_is(const Stage& here) const {
    return here.blocks.size() == 1 && here.blocks[0].source == 0 && problem_.frame_is_identity;
}

const StageMap& StageMap::at(int stage) const {
    const StageMap* map = this;
    while (map->stage_ > stage) map = map->below_.get();
    return *map;
}

double StageMap::slope(int source, int gate) const {
    const Stage& from = problem_.stages[source];
    const auto g = static_cast<std::size_t>(gate);
    return at(source + 1).on_below_[g] ? from.slope_on[g] : from.slope_off[g];
}

void StageMap::add_block(const Block& block) {
    const int size = problem_.dim + 1;
    const auto width = static_cast<std::size_t>(width_);
    const Stage& here = problem_.stages[stage_];
    const bool input = block.source == 0;
    if (reads_input_as_it_is(here)) {
        std::copy(block.by_column.begin(), block.by_column.end(), forms_.begin());
        return;
    }
    const StageMap* source = input ? nullptr : &at(block.source);
    const double relative = rounding::bound(here.terms);
    for (int j = 0; j < block.columns; ++j) {
        const double factor = input ? 1.0 : slope(block.source, j);
        if (factor == 0.0) continue;
        const double* column = block.by_column.data() + static_cast<std::size_t>(j) * width;
        double largest = 0;
        for (int k = 0; k < size; ++k) {
            const double value = factor * (input ? problem_.frame[j * size + k] : source->entry(j, k));
            largest = std::max(largest, std::abs(value));
            if (value == 0.0) continue;
            double* out = forms_.data() + static_cast<std::size_t>(k) * width;
            for (std::size_t i = 0; i < width; ++i) out[i] += column[i] * value;
        }
        const double doubt = (source ? std::abs(factor) * source->error(j) : 0.0) * (1 + relative) + relative * largest;
        for (std::size_t i = 0; i < width; ++i) error_[i] += std::abs(column[i]) * doubt;
    }
}

const ExactVector& StageMap::exact_row(int row) const {
    const std::lock_guard lock(exact_mutex_);
    auto& slot = exact_rows_[row];
    if (!slot) slot = std::make_unique<ExactVector>(compute_exact_row(row));
    return *slot;
}

ExactVector StageMap::compute_exact_row(int row) const {
    const Stage& here = problem_.stages[stage_];
    const int size = problem_.dim + 1;
    ExactSum sum(size);
    for (const Block& block : here.blocks) {
        for (int j = 0; j < block.columns; ++j) {
            const double weight = block.by_column[j * width_ + row];
            if (weight == 0.0) continue;
            if (block.source == 0) {
                sum.add(weight,
                        ExactVector::from_floats(problem_.frame.data() + static_cast<std::size_t>(j * size), size));
                continue;
            }
            const double factor = slope(block.source, j);
            if (factor == 0.0) continue;
            const ExactVector& form = at(block.source).exact_row(j);
            if (factor == 1.0) {
                sum.add(weight, form);
            } else {
                ExactSum scaled(size);
                scaled.add(factor, form);
                sum.add(weight, scaled.total());
            }
        }
    }
    sum.add_entry(size - 1, here.bias[row]);
    if (!here.parameter_rows.empty())
        for (int k = 0; k < size; ++k) sum.add_entry(k, here.parameter_rows[row * size + k]);
    return sum.total();
}

}  // namespace polyfold
