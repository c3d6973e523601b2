// How long work is told to end.
#pragma once

#include <atomic>
#include <exception>

namespace polyfold {

// Somebody wants the run to end; thrown out of long work.
struct Stopped : std::exception {};

// Looked at within all long work, so that a run ends soon after it is told to.
class StopSignal {
  public:
    void raise() { raised_.store(true, std::memory_order_relaxed); }
    bool raised() const { return raised_.load(std::memory_order_relaxed); }
    void check() const {
        if (raised()) throw Stopped();
    }

  private:
    std::atomic<bool> raised_{false};
};

}  // namespace polyfold
