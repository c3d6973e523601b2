// Threads that share one piece of work.
#pragma once

#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace polyfold {

// The system may refuse a thread, where memory or the number of threads is limited. Then those that it has given do
// the work, so that work is always handed out to whoever asks for it and never bound to a thread.
class Threads {
  public:
    Threads() = default;
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
    ~Threads() { join(); }

    // Starts up to `wanted` threads, which call `work(0)`, `work(1)` and so on; how many there are. Throws what the
    // system says where there are fewer than `least`.
    template <class Work>
    int start(int wanted, int least, const Work& work) {
        threads_.reserve(wanted);
        try {
            while (static_cast<int>(threads_.size()) < wanted)
                threads_.emplace_back(work, static_cast<int>(threads_.size()));
        } catch (const std::exception&) {
            if (static_cast<int>(threads_.size()) < least) throw;
        }
        return static_cast<int>(threads_.size());
    }

    void join() {
        for (auto& thread : threads_) thread.join();
        threads_.clear();
    }

  private:
    std::vector<std::thread> threads_;
};

}  // namespace polyfold
