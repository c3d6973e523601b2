// A walk down the whole tree of cells by several threads, whose outcome does not depend on them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "geometry/base/stop_signal.hpp"
#include "geometry/base/threads.hpp"
#include "geometry/problem/problem.hpp"
#include "geometry/walk/known_cells.hpp"

namespace polyfold {

struct RunOptions {
    int threads = 1;
    std::int64_t max_cells = -1;  // negative: no limit
    // Called now and then from the calling thread with the number of cells so far; false stops the run.
    std::function<bool(std::int64_t)> keep_going;
    // Cells that need not be found; subtrees that hold no others are passed over.
    const KnownCells* known = nullptr;
    // Called now and then from the calling thread while what was found is put together; false gives everything up.
    std::function<bool()> still_wanted;
};

// A Walk makes cells (root, advance, recycle) and writes finished ones into a Walk::Block (emit), which counts them.
// A thread without work is given the subtree at the bottom of another one's stack: the largest that is left there. It
// comes behind everything else that the giver still has to walk, so that the order of all blocks is known at once.
template <class Walk>
class Run {
  public:
    using Block = typename Walk::Block;

    Run(const Problem& problem, const RunOptions& options)
        : problem_(problem), options_(options), threads_(std::max(1, options.threads)) {}

    // Walk to the end, or until the run is stopped. Throws what a walk or the callback threw.
    void operator()() {
        Threads threads;
        try {
            if (takes_a_moment()) {
                threads_ = 1;
                work(true);
            } else {
                do_with(threads.start(threads_, 1, [this](int t) { work(t == 0); }));
                watch();
            }
        } catch (...) {  // end the threads before anybody hears of it
            fail(std::current_exception());
        }
        threads.join();
        if (error_) std::rethrow_exception(error_);
    }

    bool complete() const {
        return !parts_.empty() &&
               std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.complete; });
    }

    // Calls `take(Block&&)` for all blocks, in the tree's order.
    template <class Take>
    void take_blocks(Take take) {
        for (; !parts_.empty(); parts_.pop_front()) take(std::move(parts_.front().block));
    }

  private:
    using CellPointer = typename Walk::CellPointer;

    // What one task found; the list of them is in the tree's order. Its thread counts in it, cell by cell, so that it
    // shares no cache line with another thread's.
    struct alignas(64) Part {
        Block block;
        std::int64_t known = 0;  // cells of the block that were known: they came with others that were not
        bool ended = false, complete = false;

        std::int64_t fresh() const { return block.cells - known; }
    };
    using Place = typename std::list<Part>::iterator;
    struct Task {
        CellPointer root;
        Place place;
    };

    static constexpr auto look_up_every = std::chrono::milliseconds(40);
    static constexpr std::int64_t tell_every = 64;

    const Problem& problem_;
    const RunOptions& options_;
    StopSignal stop_;
    std::atomic<std::int64_t> found_{0};
    std::atomic<bool> wanted_{false};  // there are more threads without work than tasks for them

    std::mutex mutex_;  // guards everything below
    std::condition_variable task_given_, all_done_;
    std::list<Part> parts_;
    std::deque<Task> given_;
    int threads_;  // that there are; until all are started, that are wanted
    int idle_ = 0, left_ = 0;
    bool over_ = false;
    std::exception_ptr error_;

    // So few patterns, in so few dimensions, that the calling thread is done before it would look up for the first
    // time. To start another thread takes longer than the work.
    bool takes_a_moment() const {
        constexpr int few_gates = 8, few_dimensions = 4, few_rows = 8;
        return problem_.gates <= few_gates && problem_.dim <= few_dimensions && problem_.rows() <= few_rows;
    }

    void fail(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        end();
    }

    // With the mutex held.
    void end() {
        stop_.raise();
        over_ = true;
        task_given_.notify_all();
    }

    void work(bool first) {
        try {
            Walk walk(problem_, stop_);
            if (first) {
                CellPointer root = walk.root();
                if (options_.known) options_.known->start_at(*root);
                const std::lock_guard lock(mutex_);
                add_task(std::move(root), parts_.end());
            }
            for (Task task; next_task(task);) finish(task.place, walk_subtree(walk, std::move(task)));
        } catch (const Stopped&) {  // before there was a root
            const std::lock_guard lock(mutex_);
            end();
        } catch (...) {
            fail(std::current_exception());
        }
        const std::lock_guard lock(mutex_);
        ++left_;
        all_done_.notify_all();
    }

    // With the mutex held.
    void add_task(CellPointer root, Place before) {
        given_.push_back({std::move(root), parts_.emplace(before)});
        note_demand();
        task_given_.notify_one();
    }
    void note_demand() { wanted_.store(idle_ > static_cast<int>(given_.size()), std::memory_order_relaxed); }

    // With the mutex held: there is no more work once all threads wait for some.
    void end_if_done() {
        if (idle_ < threads_ || !given_.empty()) return;
        over_ = true;
        task_given_.notify_all();
    }

    // The system may have given fewer threads than were wanted.
    void do_with(int threads) {
        const std::lock_guard lock(mutex_);
        threads_ = threads;
        end_if_done();
    }

    // Wait for work.
    bool next_task(Task& task) {
        std::unique_lock lock(mutex_);
        ++idle_;
        note_demand();
        end_if_done();
        task_given_.wait(lock, [&] { return over_ || !given_.empty(); });
        if (over_) return false;
        --idle_;
        task = std::move(given_.front());
        given_.pop_front();
        note_demand();
        return true;
    }

    // True if the subtree was walked to its end.
    bool walk_subtree(Walk& walk, Task task) {
        Block& block = task.place->block;
        std::deque<CellPointer> stack;
        stack.push_back(std::move(task.root));
        std::int64_t told = 0;
        bool complete = true;
        try {
            while (!stack.empty()) {
                if (stop_.raised() || (options_.max_cells >= 0 && task.place->fresh() >= options_.max_cells)) {
                    complete = false;
                    break;
                }
                auto cell = std::move(stack.back());
                stack.pop_back();
                bool known = all_known_below(*cell);
                while (!known) {
                    auto on = walk.advance(*cell);
                    known = all_known_below(*cell);
                    if (!on) break;
                    stack.push_back(std::move(on));
                }
                if (wanted_.load(std::memory_order_relaxed) && !stack.empty()) give(stack, task.place);
                if (!known) {
                    walk.emit(*cell, block);
                    if (options_.known) task.place->known += cell->known_last - cell->known_first;
                }
                if (task.place->fresh() - told >= tell_every) {
                    found_.fetch_add(task.place->fresh() - told, std::memory_order_relaxed);
                    told = task.place->fresh();
                }
                walk.recycle(std::move(cell));
            }
        } catch (const Stopped&) {
            complete = false;
        }
        found_.fetch_add(task.place->fresh() - told, std::memory_order_relaxed);
        return complete;
    }

    template <class AnyCell>
    bool all_known_below(AnyCell& cell) const {
        return options_.known && options_.known->all_below(cell, decided_gates(problem_, cell));
    }

    // Give the bottom of the stack away.
    void give(std::deque<CellPointer>& stack, Place place) {
        CellPointer cell = std::move(stack.front());
        stack.pop_front();
        cell->detach();
        const std::lock_guard lock(mutex_);
        add_task(std::move(cell), std::next(place));
    }

    void finish(Place place, bool complete) {
        const std::lock_guard lock(mutex_);
        place->ended = true;
        place->complete = complete;
        if (options_.max_cells < 0) return;
        // The limit keeps the first cells in the tree's order, whichever thread was faster: stop only once the finished
        // parts at the front hold enough of them.
        std::int64_t front = 0;
        for (const Part& part : parts_) {
            if (!part.ended) break;
            front += part.fresh();
        }
        if (front >= options_.max_cells) end();
    }

    void watch() {
        std::unique_lock lock(mutex_);
        while (left_ < threads_) {
            all_done_.wait_for(lock, look_up_every);
            if (left_ == threads_ || !options_.keep_going || stop_.raised()) continue;
            lock.unlock();
            const bool go_on = options_.keep_going(found_);
            lock.lock();
            if (!go_on) end();
        }
    }
};

}  // namespace polyfold
