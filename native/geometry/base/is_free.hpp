// Things that several hold, and that are used again when the others have let
// them go.
#pragma once

#include <atomic>
#include <memory>

namespace polyfold {

// Whether nobody but the caller holds it, who may then fill it anew.
template <class T>
bool is_free(const std::shared_ptr<T>& held) {
    if (held.use_count() != 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);  // see all that its last holder did
    return true;
}

}  // namespace polyfold
