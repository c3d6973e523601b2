#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "geometry/base/waiting_lines.hpp"
#include "tests/numbers.hpp"

namespace polyfold::tests {

TEST_CASE("who comes first to a line leaves it first") {
    Numbers numbers(61);
    constexpr int lines = 3;
    WaitingLines<int> waiting(lines);
    std::vector<std::deque<int>> expected(lines);
    int longest = 0;
    for (int step = 0; step < 20000; ++step) {
        const auto line = static_cast<std::size_t>(numbers.below(lines));
        // Lines grow long, and become empty again.
        const int joining = step / 2000 % 2 ? 3 : 7;
        if (numbers.below(10) < joining) {
            waiting.join(line, step);
            expected[line].push_back(step);
            longest = std::max(longest, static_cast<int>(expected[line].size()));
        } else if (!expected[line].empty()) {
            REQUIRE_FALSE(waiting.empty(line));
            CHECK_EQ(waiting.first(line), expected[line].front());
            waiting.leave(line);
            expected[line].pop_front();
        }
        CHECK_EQ(waiting.empty(line), expected[line].empty());
    }
    CHECK_GT(longest, 100);
    for (std::size_t line = 0; line < lines; ++line)
        CHECK((std::vector<int>(waiting.begin(line), waiting.end(line)) ==
               std::vector<int>(expected[line].begin(), expected[line].end())));
}

}  // namespace polyfold::tests
