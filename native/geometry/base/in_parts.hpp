// Independent parts of some work, by several threads, while the one that wants them looks whether they are still
// wanted.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "geometry/base/stop_signal.hpp"
#include "geometry/base/threads.hpp"

namespace polyfold {

// Calls `work(part, stop)` for every part of 0 .. parts - 1, in any order. `still_wanted` is asked now and then from
// the calling thread; where it says no, the work is told to end and Stopped is thrown. Throws what a part threw.
template <class Work>
void in_parts(int threads, std::int64_t parts, const std::function<bool()>& still_wanted, Work work) {
    constexpr auto look_up_every = std::chrono::milliseconds(20);
    StopSignal stop;
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;  // guards what follows
    std::condition_variable finished;
    std::exception_ptr error;
    const int wanted = static_cast<int>(std::clamp<std::int64_t>(parts, 1, std::max(1, threads)));
    int ended = 0;

    const auto fail = [&](std::exception_ptr thrown) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::move(thrown);
        stop.raise();
    };
    const auto run = [&](int) {
        try {
            for (std::int64_t part; !stop.raised() && (part = next.fetch_add(1)) < parts;) work(part, stop);
        } catch (const Stopped&) {
        } catch (...) {
            fail(std::current_exception());
        }
        const std::lock_guard lock(mutex);
        ++ended;
        finished.notify_all();
    };

    Threads others;
    try {
        const int working = others.start(wanted, 1, run);
        std::unique_lock lock(mutex);
        while (ended < working) {
            finished.wait_for(lock, look_up_every);
            if (ended == working || !still_wanted || stop.raised()) continue;
            lock.unlock();
            if (!still_wanted()) stop.raise();
            lock.lock();
        }
    } catch (...) {  // the question threw, or there was no thread to be had: end the others before anybody hears of it
        fail(std::current_exception());
    }
    others.join();
    if (error) std::rethrow_exception(error);
    if (stop.raised()) throw Stopped();
}

}  // namespace polyfold
