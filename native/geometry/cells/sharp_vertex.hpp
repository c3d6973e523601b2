// Where as many walls meet as there are dimensions, rounded as if it were known exactly. See decision 59.
#pragma once

#include <vector>

#include "geometry/exact/twofold.hpp"

namespace polyfold {

class SharpVertex {
  public:
    explicit SharpVertex(int dim)
        : dim_(dim), rows_(dim), inverse_(dim * dim), work_(dim * dim), rest_(dim), residual_(dim), doubt_(dim) {}

    // The walls, one after the other; they must live until the vertex is found.
    void set_wall(int i, const TwofoldForm& form) { rows_[i] = &form; }

    // Corrects a place (dim coordinates, t = 1) in which the walls nearly meet. Each coordinate is then the float
    // nearest to the true one, or next to it, and the true one itself if that is a float. False if that is not proved;
    // the place then says nothing.
    bool find(double* place);

  private:
    const int dim_;
    std::vector<const TwofoldForm*> rows_;
    std::vector<double> inverse_, work_;  // dim x dim
    std::vector<double> rest_;            // the vertex is near the place and this
    std::vector<double> residual_, doubt_;

    bool invert();
    double defect() const;
    void look(const double* place);
    bool is_sharp(const double* place, double defect) const;
};

}  // namespace polyfold
