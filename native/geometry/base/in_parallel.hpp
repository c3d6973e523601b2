// A range of independent things, by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "geometry/base/threads.hpp"

namespace polyfold {

// Calls `work(first, last)` for parts of 0 .. count - 1, each in a thread of its own if it has enough to do; throws
// what one of them threw.
template <class Work>
void in_parallel(int threads, std::int64_t count, std::int64_t worth_a_thread, Work work) {
    const std::int64_t parts = std::clamp<std::int64_t>(count / worth_a_thread, 1, std::max(1, threads));
    if (parts == 1) return work(0, count);
    std::exception_ptr error;
    std::mutex mutex;
    std::atomic<std::int64_t> next{0};
    const auto run = [&](int = 0) {
        try {
            for (std::int64_t part; (part = next.fetch_add(1)) < parts;)
                work(count * part / parts, count * (part + 1) / parts);
        } catch (...) {
            const std::lock_guard lock(mutex);
            error = std::current_exception();
        }
    };
    Threads others;
    others.start(static_cast<int>(parts) - 1, 0, run);
    run();
    others.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace polyfold
