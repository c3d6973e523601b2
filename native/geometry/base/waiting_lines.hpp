// Lines in which items wait: who comes first to a line leaves it first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <vector>

namespace polyfold {

// Memory is that of the most that ever wait at the same time, or twice as much.
template <class T>
class WaitingLines {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit WaitingLines(std::size_t lines) : lines_(lines) {}
    WaitingLines(const WaitingLines&) = delete;
    WaitingLines& operator=(const WaitingLines&) = delete;
    ~WaitingLines() {
        for (const Line& line : lines_) std::free(line.begin);
    }

    void join(std::size_t number, T item) {
        Line& line = lines_[number];
        if (line.behind == line.limit) make_room(line);
        *line.behind++ = item;
    }
    bool empty(std::size_t number) const { return lines_[number].first == lines_[number].behind; }
    // Of a line that is not empty.
    const T& first(std::size_t number) const { return *lines_[number].first; }
    void leave(std::size_t number) { ++lines_[number].first; }

    // All that wait in a line.
    const T* begin(std::size_t number) const { return lines_[number].first; }
    const T* end(std::size_t number) const { return lines_[number].behind; }

  private:
    struct Line {
        T *begin = nullptr, *first = nullptr, *behind = nullptr, *limit = nullptr;
    };
    std::vector<Line> lines_;

    // The others move up where that makes half of the line free again; else it is made twice as long.
    [[gnu::noinline]] static void make_room(Line& line) {
        const std::size_t room = line.limit - line.begin, waiting = line.behind - line.first;
        std::copy(line.first, line.behind, line.begin);
        if (2 * waiting >= room) {
            const std::size_t longer = 2 * room + 16;
            void* const moved = std::realloc(static_cast<void*>(line.begin), longer * sizeof(T));
            if (!moved) throw std::bad_alloc();
            line.begin = static_cast<T*>(moved);
            line.limit = line.begin + longer;
        }
        line.first = line.begin;
        line.behind = line.begin + waiting;
    }
};

}  // namespace polyfold
