#include "geometry/proof/certify.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "geometry/base/stop_signal.hpp"
#include "geometry/base/threads.hpp"
#include "geometry/proof/cell_proof.hpp"

namespace polyfold {

namespace {

constexpr auto look_up_every = std::chrono::milliseconds(40);
constexpr std::int64_t cells_at_once = 256;  // in a row, for the stages that they share

class Run {
  public:
    Run(const Problem& problem, const FacetArrays& atlas, const double* witnesses, const std::int64_t* order,
        const CertifyOptions& options)
        : problem_(problem),
          atlas_(atlas),
          witnesses_(witnesses),
          order_(order),
          options_(options),
          proved_(atlas.cells, 0) {}

    std::vector<std::uint8_t> operator()() {
        Threads threads;
        try {
            watch(threads.start(std::max(1, options_.threads), 1, [this](int) { work(); }));
        } catch (...) {  // the callback threw: end the threads before anybody hears of it
            fail(std::current_exception());
        }
        threads.join();
        if (error_) std::rethrow_exception(error_);
        if (stop_.raised()) return {};
        return std::move(proved_);
    }

  private:
    const Problem& problem_;
    const FacetArrays& atlas_;
    const double* witnesses_;
    const std::int64_t* order_;
    const CertifyOptions& options_;
    std::vector<std::uint8_t> proved_;
    std::atomic<std::int64_t> next_{0}, done_{0};
    StopSignal stop_;
    std::mutex mutex_;
    std::condition_variable finished_;
    int ended_ = 0;
    std::exception_ptr error_;

    void fail(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        stop_.raise();
    }

    void work() {
        try {
            CellProof proof(problem_, atlas_, witnesses_, stop_);
            for (std::int64_t first; (first = next_.fetch_add(cells_at_once)) < atlas_.cells;)
                for (std::int64_t at = first; at < std::min(first + cells_at_once, atlas_.cells); ++at) {
                    stop_.check();
                    proved_[order_[at]] = static_cast<std::uint8_t>(proof(order_[at]));
                    done_.fetch_add(1, std::memory_order_relaxed);
                }
        } catch (const Stopped&) {
        } catch (...) {
            fail(std::current_exception());
        }
        const std::lock_guard lock(mutex_);
        ++ended_;
        finished_.notify_all();
    }

    void watch(int threads) {
        std::unique_lock lock(mutex_);
        while (ended_ < threads) {
            finished_.wait_for(lock, look_up_every);
            if (ended_ == threads || !options_.keep_going || stop_.raised()) continue;
            lock.unlock();
            if (!options_.keep_going(done_)) stop_.raise();
            lock.lock();
        }
    }
};

}  // namespace

std::vector<std::uint8_t> certify(const Problem& problem, const FacetArrays& atlas, const double* witnesses,
                                  const std::int64_t* order, const CertifyOptions& options) {
    return Run(problem, atlas, witnesses, order, options)();
}

}  // namespace polyfold
