// Inequalities side by side, so that loops over all of them run in vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace polyfold {

// {u : form_i . (u, 1) >= 0 for all i}; the largest linear coefficient of a form lies between a half and one.
class Polyhedron {
  public:
    explicit Polyhedron(int dim = 0) : dim_(dim) {}

    int dim() const { return dim_; }
    int rows() const { return rows_; }
    // The length of a column: behind the rows come some that say 1 >= 0, so that loops have no remainder.
    int padded_rows() const { return stride_; }

    // Coefficient k of all rows; constants are column dim.
    const double* column(int k) const { return forms_.data() + static_cast<std::size_t>(k) * stride_; }
    double entry(int row, int k) const { return column(k)[row]; }

    void add(const std::vector<double>& form, int side) {
        if (rows_ == stride_) restride(stride_ + lanes);
        for (int k = 0; k <= dim_; ++k) at(rows_, k) = side * form[k];
        ++rows_;
    }

    // Keep only these rows (ascending).
    void keep(const std::vector<int>& rows) {
        for (int k = 0; k <= dim_; ++k) {
            for (std::size_t i = 0; i < rows.size(); ++i) at(static_cast<int>(i), k) = entry(rows[i], k);
            for (int i = static_cast<int>(rows.size()); i < rows_; ++i) at(i, k) = k == dim_ ? 1.0 : 0.0;
        }
        rows_ = static_cast<int>(rows.size());
        restride((rows_ + lanes - 1) / lanes * lanes);
    }

  private:
    static constexpr int lanes = 8;
    int dim_;
    int rows_ = 0;
    int stride_ = 0;
    std::vector<double> forms_;

    double& at(int row, int k) { return forms_[static_cast<std::size_t>(k) * stride_ + row]; }

    void restride(int stride) {
        std::vector<double> forms(static_cast<std::size_t>(stride) * (dim_ + 1), 0.0);
        std::fill(forms.end() - stride, forms.end(), 1.0);
        for (int k = 0; k <= dim_; ++k)
            std::copy_n(column(k), rows_, forms.begin() + static_cast<std::ptrdiff_t>(k) * stride);
        forms_ = std::move(forms);
        stride_ = stride;
    }
};

}  // namespace polyfold
