// Numbers that are written one behind the other, perhaps very many of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace polyfold {

// Unlike a std::vector this grows by realloc: the system moves large arrays by their page tables, so that growing
// copies nothing and never holds two copies. The memory can be handed over to be freed with std::free.
template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    GrowingArray() = default;
    GrowingArray(GrowingArray&& other) noexcept { swap(other); }
    GrowingArray& operator=(GrowingArray&& other) noexcept {
        GrowingArray taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~GrowingArray() { std::free(data_); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

    void push_back(T value) {
        if (size_ == capacity_) reserve(2 * capacity_ + 16);
        data_[size_++] = value;
    }
    void append(const T* values, std::size_t count) {
        if (count == 0) return;
        if (size_ + count > capacity_) reserve(std::max(2 * capacity_ + 16, size_ + count));
        std::memcpy(static_cast<void*>(data_ + size_), values, count * sizeof(T));
        size_ += count;
    }
    // So many new numbers, which are whatever was in memory.
    T* extend(std::size_t count) {
        if (size_ + count > capacity_) reserve(std::max(2 * capacity_ + 16, size_ + count));
        size_ += count;
        return data_ + size_ - count;
    }
    void assign(std::size_t count, T value) {
        resize(count);
        std::fill_n(data_, count, value);
    }
    // New numbers are whatever was in memory.
    void resize(std::size_t count) {
        if (count > capacity_) reserve(count);
        size_ = count;
    }
    void reserve(std::size_t capacity) {
        void* moved = std::realloc(static_cast<void*>(data_), std::max<std::size_t>(capacity, 1) * sizeof(T));
        if (!moved) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
    }

    // Give the memory away, to be freed with std::free.
    T* release() {
        size_ = capacity_ = 0;
        return std::exchange(data_, nullptr);
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;

    void swap(GrowingArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
};

}  // namespace polyfold
