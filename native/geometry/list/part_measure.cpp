#include "geometry/list/part_measure.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "geometry/exact/rounding.hpp"
#include "geometry/exact/twofold.hpp"

namespace polyfold {

namespace {

constexpr int most_bits = 64;

// Values of walls and measures between these bounds can be multiplied up without being lost.
constexpr double largest_value = 0x1p100, largest_measure = 0x1p300;

// The inverse of a matrix in its place, but with its columns in the order in which rows were chosen as pivots, as
// `order` is then as well; and the determinant's size.
template <int N>
double invert(std::array<std::array<double, N>, N>& matrix, std::array<int, N>& order) {
    double determinant = 1;
    for (int step = 0; step < N; ++step) {
        int pivot = step;
        for (int i = step + 1; i < N; ++i)
            if (std::abs(matrix[i][step]) > std::abs(matrix[pivot][step])) pivot = i;
        std::swap(matrix[step], matrix[pivot]);
        std::swap(order[step], order[pivot]);
        auto& chosen = matrix[step];
        determinant *= std::abs(chosen[step]);
        const double inverse = 1 / chosen[step];
        chosen[step] = 1;
        for (double& entry : chosen) entry *= inverse;
        for (int i = 0; i < N; ++i) {
            if (i == step) continue;
            const double factor = std::exchange(matrix[i][step], 0.0);
            for (int k = 0; k < N; ++k) matrix[i][k] -= factor * chosen[k];
        }
    }
    return determinant;
}

}  // namespace

template <int Words>
bool PartMeasure<Words>::find(const Cell<Words>& cell, const PartList<Words>& list,
                              const std::vector<PartVertex>& vertices, bool sharply) {
    sharply_ = sharply;
    if (!list_walls(cell, list, vertices) || !add_vertices(vertices)) return false;
    for (int dimension = 1; dimension <= dim_; ++dimension) rise(dim_ - dimension + 1);
    return true;
}

// ---- walls

template <int Words>
bool PartMeasure<Words>::list_walls(const Cell<Words>& cell, const PartList<Words>& list,
                                    const std::vector<PartVertex>& vertices) {
    Bits used = 0;
    for (const PartVertex& vertex : vertices) used |= vertex.rows;
    rows_.clear();
    for_each_row(used, [&](int r) { rows_.push_back(r); });
    walls_ = static_cast<int>(rows_.size() + list.slots().size());
    if (walls_ + static_cast<int>(rows_.size()) > most_bits) return false;
    stride_ = registers_for(walls_) * lanes;
    forms_.assign(static_cast<std::size_t>((dim_ + 1) * stride_), 0.0);
    further_.assign(sharply_ ? forms_.size() : 0, 0.0);
    norms_.assign(stride_, 0.0);
    doubts_.assign(stride_, 0.0);
    doubt_ = 0;
    int wall = 0;
    for (const int r : rows_) add_wall(*cell.map, cell.frame->rows[cell.row + r], wall++);
    for (const int s : list.slots()) add_wall(*cell.slots[s].map, cell.slots[s].row, wall++);
    return std::all_of(norms_.begin(), norms_.end(), [](double norm) { return norm < largest_value; });
}

template <int Words>
void PartMeasure<Words>::add_wall(const StageMap& map, int row, int wall) {
    norms_[wall] = map.norm(row);
    if (sharply_) {
        const TwofoldForm& form = map.twofold_row(row);
        for (int k = 0; k <= dim_; ++k) {
            forms_[k * stride_ + wall] = form.high[k];
            further_[k * stride_ + wall] = form.low[k];
        }
        doubts_[wall] = (dim_ + 1) * form.error + twofold::lost(dim_ + 2, norms_[wall], norms_[wall] * rounding::unit);
    } else {
        for (int k = 0; k <= dim_; ++k) forms_[k * stride_ + wall] = map.entry(row, k);
        doubts_[wall] = (dim_ + 1) * map.error(row) + rounding::bound(2 * dim_ + 4) * norms_[wall];
    }
    if (norms_[wall] > 0) doubt_ = std::max(doubt_, doubts_[wall] / norms_[wall]);
}

// ---- vertices

template <int Words>
bool PartMeasure<Words>::add_vertices(const std::vector<PartVertex>& vertices) {
    vertices_.clear();
    values_.clear();
    above_.clear();
    above_.make_room(vertices.size());
    switch (dim_) {
        case 2:
            return add_all<2>(vertices);
        case 3:
            return add_all<3>(vertices);
        case 4:
            return add_all<4>(vertices);
        case 5:
            return add_all<5>(vertices);
        case 6:
            return add_all<6>(vertices);
        default:
            return false;
    }
}

// No bounded part has a vertex at infinity.
template <int Words>
template <int N>
bool PartMeasure<Words>::add_all(const std::vector<PartVertex>& vertices) {
    return std::all_of(vertices.begin(), vertices.end(),
                       [&](const PartVertex& vertex) { return vertex.infinite || add<N>(vertex); });
}

// The equations of its walls tell where a vertex is, better than it was known while parts were found.
template <int Words>
template <int N>
bool PartMeasure<Words>::add(const PartVertex& vertex) {
    const Bits key = key_of(vertex.code, vertex.rows, vertex.facets);
    if (std::popcount(vertex.rows) + std::popcount(vertex.facets) != N) return false;
    std::array<int, N> walls;
    Bits rest = key;
    for (int i = 0; i < N; ++i, rest &= rest - 1) walls[i] = std::countr_zero(rest);
    std::array<std::array<double, N>, N> inverse;
    for (int i = 0; i < N; ++i)
        for (int k = 0; k < N; ++k) inverse[i][k] = forms_[k * stride_ + walls[i]];
    const double determinant = invert<N>(inverse, walls);

    const int number = static_cast<int>(vertices_.size());
    Vertex& at = vertices_.emplace_back();
    values_.resize(vertices_.size() * static_cast<std::size_t>(stride_));
    double* const values = values_.data() + static_cast<std::ptrdiff_t>(number) * stride_;
    std::array<double, N> place{};
    rest_.assign(N, 0.0);
    // The first look is at the origin; those after it mend what the inverse is off.
    for (int looks = sharply_ ? 3 : 2;; --looks) {
        sharply_ ? look_sharply(place.data(), values) : look(place.data(), values);
        if (looks == 0) break;
        for (int k = 0; k < N; ++k) {
            double step = 0;
            for (int i = 0; i < N; ++i) step += inverse[k][i] * values[walls[i]];
            std::tie(place[k], rest_[k]) = twofold::sum(place[k], rest_[k] - step);
        }
    }
    // What the coordinates are off, and the determinant, relatively, by the matrix as floats have it.
    double scale = 1, error = 0, total = 0;
    for (int k = 0; k < N; ++k) {
        scale = std::max(scale, std::abs(place[k]));
        double off = 0;
        for (int i = 0; i < N; ++i) {
            const double factor = std::abs(inverse[k][i]);
            off += factor * doubts_[walls[i]];
            total += factor * rounding::bound(2 * N + 4) * norms_[walls[i]];
        }
        error = std::max(error, off);
        total += off;
    }
    if (!(scale < largest_value && determinant > 1 / largest_measure && determinant < largest_measure)) return false;
    at = Vertex{Lanes{}, Lanes{}, (error + doubt_) * scale};
    for (int k = 0; k < N; ++k) (k < 2 ? at.first[2 + k] : at.second[k - 2]) = place[k];
    for (int wall = 0; wall < stride_; ++wall) values[wall] = std::abs(values[wall]);
    for (const int wall : walls) values[wall] = 0;

    const double measure = 1 / determinant;
    Sums sums{measure * at.first, measure * at.second};
    sums.first[0] = measure;
    // What is nearly singular in floats may be anything.
    sums.first[1] = total < rounding::poor ? measure * total : rounding::unknown;
    above_.keys[above_.count] = key;
    above_.apexes[above_.count] = number;
    above_.sums[above_.count++] = sums;
    return true;
}

// The values of all walls at a place.
template <int Words>
void PartMeasure<Words>::look(const double* place, double* values) {
    for (int wall = 0; wall < stride_; wall += lanes) {
        Lanes value = load(&forms_[dim_ * stride_ + wall]);
        for (int k = 0; k < dim_; ++k) value += place[k] * load(&forms_[k * stride_ + wall]);
        store(values + wall, value);
    }
}

// The same to twice the digits, of the place as well.
template <int Words>
void PartMeasure<Words>::look_sharply(const double* place, double* values) {
    const double* const constants = &forms_[dim_ * stride_];
    low_.assign(&further_[dim_ * stride_], &further_[dim_ * stride_] + stride_);
    std::copy(constants, constants + stride_, values);
    for (int k = 0; k < dim_; ++k) {
        const double *form = &forms_[k * stride_], *further = &further_[k * stride_];
        const double at = place[k], rest_of_place = rest_[k];
        for (int wall = 0; wall < stride_; ++wall) {
            const auto [term, term_rest] = twofold::product(form[wall], at);
            const auto [total, rest] = twofold::sum(values[wall], term);
            values[wall] = total;
            low_[wall] += (rest + term_rest) + (form[wall] * rest_of_place + further[wall] * at);
        }
    }
    for (int wall = 0; wall < stride_; ++wall) values[wall] += low_[wall];
}

// ---- faces

template <int Words>
auto PartMeasure<Words>::key_of(Bits code, Bits rows, Bits facets) const -> Bits {
    const auto count = static_cast<int>(rows_.size());
    Bits on_rows = 0, signs = 0;
    for (int i = 0; i < count; ++i) {
        on_rows |= Bits{(rows & bit_of_row(rows_[i])) != 0} << i;
        signs |= Bits{(code & bit_of_row(rows_[i])) != 0} << i;
    }
    return on_rows | facets << count | (count ? signs << walls_ : 0);
}

template <int Words>
inline std::int32_t& PartMeasure<Words>::place_of(Bits key) {
    std::size_t place = (key * 0x9e3779b97f4a7c15) >> shift_;
    while (table_[place] >= 0 && above_.keys[static_cast<std::size_t>(table_[place])] != key)
        place = (place + 1) & (table_.size() - 1);
    return table_[place];
}

// The pyramid over a facet on this wall: nothing if its apex is in there. The first facet that is seen of a face gives
// it its apex. Without branches: nobody can foresee what is new.
template <int Words>
inline void PartMeasure<Words>::add_to(Bits key, std::size_t facet, int wall) {
    std::int32_t& place = place_of(key);
    const bool is_new = place < 0;
    const std::size_t face = is_new ? above_.count : static_cast<std::size_t>(place);
    place = static_cast<std::int32_t>(face);
    const int apex = is_new ? faces_.apexes[facet] : above_.apexes[face];
    above_.keys[face] = key;
    above_.apexes[face] = apex;
    above_.count += is_new;

    const double value = values_[static_cast<std::size_t>(apex) * stride_ + wall];
    const Vertex& at = vertices_[apex];
    const Sums& base = faces_.sums[facet];
    Sums& sums = above_.sums[face];
    const double measure = base.measure();
    sums.first += value * (base.first + measure * at.first);
    sums.second += value * (base.second + measure * at.second);
    sums.first[1] += value > 0 ? measure * at.error * norms_[wall] : 0.0;
}

// From all faces of one dimension, which lie on so many walls, to those of the next.
template <int Words>
void PartMeasure<Words>::rise(int walls) {
    std::swap(faces_, above_);
    above_.clear();
    make_table(faces_.count);
    const auto rows = static_cast<int>(rows_.size());
    std::array<std::pair<Bits, int>, 2 * most_dimensions> parents;
    for (std::size_t face = 0; face < faces_.count; ++face) {
        Bits rest = faces_.keys[face];
        int count = 0;
        for (int i = 0; i < walls; ++i, rest &= rest - 1) {
            const int wall = std::countr_zero(rest);
            const Bits above = faces_.keys[face] ^ (rest & -rest);
            parents[count++] = {above, wall};
            // On either side of a row there is one.
            parents[count] = {above | std::rotl(Bits{1}, walls_ + wall), wall};
            count += wall < rows;
        }
        if (2 * (above_.count + parents.size()) > table_.size()) make_table(above_.count + parents.size());
        for (int i = 0; i < count; ++i) add_to(parents[i].first, face, parents[i].second);
    }
}

// For so many faces at least; those that are there go in.
template <int Words>
void PartMeasure<Words>::make_table(std::size_t faces) {
    const std::size_t size = std::bit_ceil(4 * faces + 64);
    shift_ = 64 - std::countr_zero(size);
    table_.assign(size, -1);
    above_.make_room(size / 2);
    for (std::size_t i = 0; i < above_.count; ++i) place_of(above_.keys[i]) = static_cast<std::int32_t>(i);
}

template <int Words>
bool PartMeasure<Words>::read(std::uint64_t code, Measure& found) {
    const std::int32_t number = place_of(key_of(code, 0, 0));
    if (number < 0) return false;
    const Sums& sums = above_.sums[static_cast<std::size_t>(number)];
    const double measure = sums.measure();
    if (!(sums.error() <= rounding::fair * measure && measure > 1 / largest_measure && measure < largest_measure))
        return false;
    double factorial = 1;
    for (int k = 2; k <= dim_; ++k) factorial *= k;
    found.volume = measure / factorial;
    found.centroid.resize(static_cast<std::size_t>(dim_));
    for (int k = 0; k < dim_; ++k) found.centroid[k] = sums.moment(k) / (measure * (dim_ + 1));
    return true;
}

template class PartMeasure<1>;
template class PartMeasure<4>;
template class PartMeasure<16>;
template class PartMeasure<64>;

}  // namespace polyfold
