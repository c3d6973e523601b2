// How far a float point can lie from the true solution of the linear equations that define it.
#pragma once

#include <vector>

namespace polyfold {

// Equations row . v = 0 whose coefficients are themselves known up to an error.
class LinearBound {
  public:
    explicit LinearBound(int size) : size_(size) {}

    void clear() {
        rows_.clear();
        slack_.clear();
    }
    // `error` bounds the errors of the coefficients. Returns where to write these.
    double* add_row(double error) {
        rows_.resize(rows_.size() + static_cast<std::size_t>(size_), 0.0);
        slack_.push_back(error);
        return rows_.data() + rows_.size() - static_cast<std::size_t>(size_);
    }

    // Bounds on |v_k - point_k| over all k, and for the last k alone, where v is the solution with v = point in the
    // point's largest coordinate; infinity where none can be given.
    struct Bound {
        double all, last;
    };
    Bound error(const double* point);

  private:
    int size_;
    std::vector<double> rows_, slack_, work_;
    std::vector<int> chosen_;

    bool choose_independent_rows(int fixed);
};

}  // namespace polyfold
