#include "geometry/lp/forms.hpp"

namespace polyfold {

void LargestInBox::start(const double* form, double sign, double error) {
    for (std::size_t k = 0; k < sum_.size(); ++k) {
        sum_[k] = sign * form[k];
        sizes_[k] = std::abs(form[k]);
    }
    error_ = error;
    rows_ = 0;
}

void LargestInBox::add(const double* row, double multiplier, double error) {
    if (!(multiplier > 0)) return;
    const auto size = static_cast<int>(sum_.size());
    const Lanes factor = Lanes{} + multiplier;
    for (int k = 0; k < size; k += lanes) {
        const Lanes term = factor * load(row + k);
        store(&sum_[k], load(&sum_[k]) + term);
        store(&sizes_[k], load(&sizes_[k]) + size_of(term));
    }
    error_ += multiplier * error;
    ++rows_;
}

double LargestInBox::bound() const {
    const auto size = static_cast<int>(sum_.size());
    const double *low = box_.low(), *high = box_.high(), *reach = box_.reach();
    Lanes most{}, magnitude{};
    for (int k = 0; k < size; k += lanes) {
        const Lanes sum = load(&sum_[k]);
        most += larger(sum * load(low + k), sum * load(high + k));
        magnitude += load(&sizes_[k]) * load(reach + k);
    }
    double bound = 0, all = 0;
    for (int j = 0; j < lanes; ++j) {
        bound += most[j];
        all += magnitude[j];
    }
    const double off = rounding::bound(rows_ + box_.dim() + 6) * all + error_ * size_;
    return bound + off * (1 + 0x1p-18) + rounding::tiny;
}

}  // namespace polyfold
