// A row of 64-bit words of which the first few need no memory of their own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace polyfold {

// Exact numbers are mostly short, and there are many of them: allocating took longer than computing.
class Limbs {
  public:
    Limbs() = default;
    Limbs(const Limbs& other) { copy(other); }
    Limbs(Limbs&& other) noexcept
        : inside_(other.inside_),
          outside_(std::move(other.outside_)),
          size_(std::exchange(other.size_, 0)),
          room_(std::exchange(other.room_, few)) {}
    Limbs& operator=(const Limbs& other) {
        if (this != &other) copy(other);
        return *this;
    }
    Limbs& operator=(Limbs&& other) noexcept {
        inside_ = other.inside_;
        outside_ = std::move(other.outside_);
        size_ = std::exchange(other.size_, 0);
        room_ = std::exchange(other.room_, few);
        return *this;
    }
    ~Limbs() = default;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::uint64_t* data() { return outside_ ? outside_.get() : inside_.data(); }
    const std::uint64_t* data() const { return outside_ ? outside_.get() : inside_.data(); }
    std::uint64_t* begin() { return data(); }
    std::uint64_t* end() { return data() + size_; }
    const std::uint64_t* begin() const { return data(); }
    const std::uint64_t* end() const { return data() + size_; }
    std::uint64_t& operator[](std::size_t i) { return data()[i]; }
    std::uint64_t operator[](std::size_t i) const { return data()[i]; }
    std::uint64_t back() const { return data()[size_ - 1]; }

    // New words are zeros.
    void resize(std::size_t size) {
        make_room(size);
        if (size > size_) std::fill(data() + size_, data() + size, std::uint64_t{0});
        size_ = size;
    }
    void push_back(std::uint64_t limb) {
        make_room(size_ + 1);
        data()[size_++] = limb;
    }
    void pop_back() { --size_; }
    // So many zeros before all others.
    void push_zeros_to_front(std::size_t count) {
        const std::size_t before = size_;
        resize(before + count);
        std::copy_backward(data(), data() + before, data() + before + count);
        std::fill(data(), data() + count, std::uint64_t{0});
    }
    void drop_front(std::size_t count) {
        std::copy(data() + count, data() + size_, data());
        size_ -= count;
    }

    friend bool operator==(const Limbs& a, const Limbs& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    static constexpr std::size_t few = 4;

    std::array<std::uint64_t, few> inside_{};
    std::unique_ptr<std::uint64_t[]> outside_;  // in use once there were more than a few
    std::size_t size_ = 0, room_ = few;

    void make_room(std::size_t size) {
        if (size <= room_) return;
        const std::size_t room = std::max(size, 2 * room_);
        auto more = std::make_unique<std::uint64_t[]>(room);
        std::copy(begin(), end(), more.get());
        outside_ = std::move(more);
        room_ = room;
    }
    void copy(const Limbs& other) {
        make_room(other.size_);
        std::copy(other.begin(), other.end(), data());
        size_ = other.size_;
    }
};

}  // namespace polyfold
