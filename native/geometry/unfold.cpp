#include "geometry/unfold.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "geometry/face_count.hpp"
#include "geometry/pairing.hpp"

namespace polyfold {

namespace {

constexpr auto look_up_every = std::chrono::milliseconds(40);
constexpr int subtrees_per_thread = 48;

// Cut the tree near its root into subtrees, in order.
template <class Walk>
std::vector<typename Walk::CellPointer> subtrees(Walk& walk, std::size_t wanted) {
    std::vector<typename Walk::CellPointer> front;
    front.push_back(walk.root());
    bool grown = true;
    while (grown && front.size() < wanted) {
        grown = false;
        std::vector<typename Walk::CellPointer> next;
        for (auto& cell : front) {
            auto on = walk.advance(*cell);
            if (on) {
                cell->detach();
                on->detach();
                grown = true;
            }
            next.push_back(std::move(cell));
            if (on) next.push_back(std::move(on));
        }
        front = std::move(next);
    }
    return front;
}

template <class Walk>
class Run {
  public:
    Run(const Problem& problem, const UnfoldOptions& options) : problem_(problem), options_(options) {}

    Unfolded operator()() {
        std::thread driver([this] { drive(); });
        try {
            watch();
        } catch (...) {  // the callback threw: end the threads before anybody hears of it
            fail(std::current_exception());
        }
        driver.join();
        if (error_) std::rethrow_exception(error_);
        return collect();
    }

  private:
    using CellPointer = typename Walk::CellPointer;

    const Problem& problem_;
    const UnfoldOptions& options_;
    std::vector<CellPointer> roots_;
    std::vector<CellBlock> blocks_;
    struct Ended {
        std::int64_t cells = -1;  // negative: not ended yet
        bool complete = false;
    };
    std::vector<Ended> ended_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::int64_t> found_{0};
    StopSignal stop_;
    std::mutex mutex_;
    std::condition_variable finished_;
    bool done_ = false;
    std::exception_ptr error_;

    void fail(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        stop_.raise();
    }

    // Find subtrees and let all threads, this one among them, walk them.
    void drive() {
        try {
            Walk walk(problem_, stop_);
            const int threads = std::max(1, options_.threads);
            roots_ = subtrees(walk, threads > 1 ? static_cast<std::size_t>(threads * subtrees_per_thread) : 1);
            blocks_.resize(roots_.size());
            ended_.assign(roots_.size(), Ended{});
            std::vector<std::thread> others;
            for (int t = 1; t < threads; ++t) others.emplace_back([this] { work(); });
            work();
            for (auto& other : others) other.join();
        } catch (const Stopped&) {  // before there were any subtrees: nothing was found
        } catch (...) {
            fail(std::current_exception());
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        finished_.notify_all();
    }

    void work() {
        try {
            Walk walk(problem_, stop_);
            for (std::size_t task; !stop_.raised() && (task = next_++) < roots_.size();) {
                const bool complete = walk_subtree(walk, std::move(roots_[task]), blocks_[task]);
                const std::lock_guard lock(mutex_);
                ended_[task] = {blocks_[task].cells, complete};
                if (options_.max_cells >= 0) stop_at_limit();
            }
        } catch (...) {
            fail(std::current_exception());
        }
    }

    // True if the subtree was walked to its end.
    bool walk_subtree(Walk& walk, CellPointer root, CellBlock& block) {
        std::vector<CellPointer> stack;
        stack.push_back(std::move(root));
        try {
            while (!stack.empty()) {
                if (stop_.raised() || block.cells == options_.max_cells) return false;
                auto cell = std::move(stack.back());
                stack.pop_back();
                while (auto on = walk.advance(*cell)) stack.push_back(std::move(on));
                walk.emit(*cell, block);
                found_.fetch_add(1, std::memory_order_relaxed);
                walk.recycle(std::move(cell));
            }
        } catch (const Stopped&) {
            return false;
        }
        return true;
    }

    // The limit keeps the first cells in tree order, whichever thread was faster: stop only once the finished
    // subtrees at the front hold enough of them.
    void stop_at_limit() {
        std::int64_t front = 0;
        for (const Ended& subtree : ended_) {
            if (subtree.cells < 0) break;
            front += subtree.cells;
        }
        if (front >= options_.max_cells) stop_.raise();
    }

    void watch() {
        std::unique_lock lock(mutex_);
        while (!done_) {
            finished_.wait_for(lock, look_up_every);
            if (done_ || !options_.keep_going || stop_.raised()) continue;
            lock.unlock();
            if (!options_.keep_going(found_)) stop_.raise();
            lock.lock();
        }
    }

    Unfolded collect() {
        Unfolded result;
        result.complete =
            !ended_.empty() && std::all_of(ended_.begin(), ended_.end(), [](const Ended& e) { return e.complete; });
        for (auto& block : blocks_) result.cells.append(std::move(block));
        if (options_.max_cells >= 0 && result.cells.cells > options_.max_cells) {
            result.complete = false;
            result.cells.truncate(options_.max_cells, problem_.dim);
        }
        pair_facets(result, problem_.gates);
        return result;
    }
};

// Bit masks of facets are as short as they can be; a cell with more facets than that is rare and starts the
// run again.
template <class Attempt>
auto with_enough_facets(Attempt attempt) {
    try {
        return attempt.template operator()<1>();
    } catch (const TooManyFacets&) {
    }
    try {
        return attempt.template operator()<4>();
    } catch (const TooManyFacets&) {
    }
    try {
        return attempt.template operator()<16>();
    } catch (const TooManyFacets&) {
    }
    try {
        return attempt.template operator()<64>();
    } catch (const TooManyFacets&) {
        throw TooLarge("a cell has more than 4,096 facets: choose a smaller domain");
    }
}

}  // namespace

Unfolded unfold(const Problem& problem, const UnfoldOptions& options) {
    if (options.method == Method::programs) return Run<LpWalk>(problem, options)();
    return with_enough_facets([&]<int Words>() { return Run<CellWalk<Words>>(problem, options)(); });
}

namespace {

template <int Words>
std::vector<double> vertices_of(const Cell<Words>& cell, int dim) {
    std::vector<double> points;
    for (int v = 0; v < cell.size(); ++v)
        for (int k = 0; k < dim; ++k) points.push_back(cell.point(v)[k] / cell.point(v)[dim]);
    return points;
}

// Visit every finished cell below the root, in tree order.
template <int Words, class Visit>
void visit_all(CellWalk<Words>& walk, Visit visit) {
    std::vector<std::unique_ptr<Cell<Words>>> stack;
    stack.push_back(walk.root());
    while (!stack.empty()) {
        auto cell = std::move(stack.back());
        stack.pop_back();
        while (auto on = walk.advance(*cell)) stack.push_back(std::move(on));
        visit(*cell);
        walk.recycle(std::move(cell));
    }
}

// Walk to the selected cells only and visit them in the selection's order.
template <int Words, class Visit>
void visit_selected(const Problem& problem, const Selection& selection, Visit visit) {
    if (selection.count == 0) return;
    const StopSignal never;
    CellWalk<Words> walk(problem, never, &selection);
    visit_all(walk, [&](Cell<Words>& cell) {
        for (int gate = 0; gate < problem.gates; ++gate)
            if (selection.on(cell.wanted_first, gate) != cell.Path::on(gate))
                throw std::out_of_range("a pattern that was asked for is no cell of this network");
        visit(cell);
    });
}

}  // namespace

GeneratorBlock trace(const Problem& problem, const Selection& selection) {
    return with_enough_facets([&]<int Words>() {
        GeneratorBlock block;
        CellWriter<Words> writer(problem);
        visit_selected<Words>(problem, selection, [&](Cell<Words>& cell) { writer.emit_generators(cell, block); });
        return block;
    });
}

std::vector<Measure> measure_selected(const Problem& problem, const Selection& selection) {
    return with_enough_facets([&]<int Words>() {
        std::vector<Measure> measures;
        visit_selected<Words>(problem, selection, [&](Cell<Words>& cell) {
            measures.push_back(is_bounded(cell)
                                   ? measure<Words>(vertices_of(cell, problem.dim), cell.facets_of, problem.dim)
                                   : Measure{std::numeric_limits<double>::infinity(), {}});
        });
        return measures;
    });
}

std::vector<std::int64_t> count_faces(const Problem& problem) {
    return with_enough_facets([&]<int Words>() {
        FaceCount count(problem);
        const StopSignal never;
        CellWalk<Words> walk(problem, never, nullptr, true);
        visit_all(walk, [&](Cell<Words>& cell) { count.add(cell); });
        return count.f_vector();
    });
}

}  // namespace polyfold
