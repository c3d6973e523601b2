#include "geometry/cells/frame.hpp"

#include <algorithm>
#include <iterator>

#include "geometry/base/lanes.hpp"
#include "geometry/exact/rounding.hpp"

namespace polyfold {

Walls with_wall(const Walls& walls, std::int32_t wall) {
    auto more =
        walls ? std::make_shared<std::vector<std::int32_t>>(*walls) : std::make_shared<std::vector<std::int32_t>>();
    const auto at = std::lower_bound(more->begin(), more->end(), wall);
    if (at == more->end() || *at != wall) more->insert(at, wall);
    return more;
}

Walls common_walls(const Walls& a, const Walls& b) {
    if (!a || !b) return nullptr;
    auto both = std::make_shared<std::vector<std::int32_t>>();
    std::set_intersection(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*both));
    return both;
}

int GeneratorStore::add(const double* at, double point_error, bool infinite,
                        std::shared_ptr<const ExactVector> exact_point, Walls walls) {
    coordinates.insert(coordinates.end(), at, at + dimensions);
    error.push_back(point_error);
    at_infinity.push_back(infinite);
    exact.push_back(std::move(exact_point));
    touched.push_back(std::move(walls));
    return size() - 1;
}

void GeneratorStore::take(const GeneratorStore& from, const std::vector<std::int32_t>& some) {
    resize(static_cast<int>(some.size()));
    sharp.clear();
    const int size = dimensions;
    double* point_to = coordinates.data();
    for (const std::int32_t g : some) {
        const double* at = from.point(g);
        for (int k = 0; k < size; k += lanes) store(point_to + k, load(at + k, size - k), size - k);
        point_to += size;
    }
    const auto take_numbers = [&](const auto* values, auto* to) {
        for (const std::int32_t g : some) *to++ = values[g];
    };
    take_numbers(from.error.data(), error.data());
    take_numbers(from.at_infinity.data(), at_infinity.data());
    const auto take_held = [&](const auto* held, auto* to) {  // nothing, mostly
        for (const std::int32_t g : some) {
            if (held[g] || *to) *to = held[g];
            ++to;
        }
    };
    take_held(from.exact.data(), exact.data());
    take_held(from.touched.data(), touched.data());
}

void GeneratorStore::resize(int count) {
    coordinates.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(dimensions));
    error.resize(count);
    at_infinity.resize(count);
    exact.resize(count);
    sharp.resize(std::min(sharp.size(), static_cast<std::size_t>(count) * static_cast<std::size_t>(dimensions - 1)));
    touched.resize(count);
}

void Frame::clear() {
    rows.clear();
    value.clear();
    sign.clear();
    entry = 0;
    ahead.known = false;
}

void RowTable::list_rows(const StageMap& map, int dimensions) {
    const int n = count(), stride = map.stride();
    forms.resize(n * dimensions);
    norm.resize(n);
    doubt.resize(n);
    const double of_norm = rounding::of_norm(dimensions, 0), of_form = rounding::of_form(dimensions);
    const auto list = [&](auto place) {
        const double* entries = map.entries();
        double* to = forms.data();
        for (int k = 0; k < dimensions; ++k, entries += stride, to += n)
            for (int c = 0; c < n; ++c) to[c] = entries[place(c)];
        const double *norms = map.norms(), *errors = map.errors();
        for (int c = 0; c < n; ++c) {
            norm[c] = norms[place(c)] * (1 + 0x1p-20);
            doubt[c] = norms[place(c)] * of_norm + errors[place(c)] * of_form + rounding::tiny;
        }
    };
    if (!map.knows_all()) {
        list([](int c) { return 1 + c; });
    } else if (n == stride) {
        list([](int c) { return c; });
    } else {
        list([&](int c) { return rows[c]; });
    }
}

void RowTable::keep(const RowTable& from, const std::vector<int>& columns, int dimensions) {
    const int n = from.count(), kept = static_cast<int>(columns.size());
    rows.resize(kept);
    norm.resize(kept);
    doubt.resize(kept);
    forms.resize(kept * dimensions);
    for (int c = 0; c < kept; ++c) {
        rows[c] = from.rows[columns[c]];
        norm[c] = from.norm[columns[c]];
        doubt[c] = from.doubt[columns[c]];
    }
    for (int k = 0; k < dimensions; ++k)
        for (int c = 0; c < kept; ++c) forms[k * kept + c] = from.forms[k * n + columns[c]];
}

void Frame::truncate(int generator_count) {
    if (generators.size() == generator_count) return;
    generators.resize(generator_count);
}

}  // namespace polyfold
