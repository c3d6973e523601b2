// Domains that a walk cannot begin with.
#pragma once

#include <exception>

namespace polyfold {

// The domain has no interior.
struct FlatDomain : std::exception {
    bool empty;
    explicit FlatDomain(bool is_empty) : empty(is_empty) {}
    const char* what() const noexcept override { return empty ? "empty" : "flat"; }
};

// The domain is unbounded or without interior, or reaches farther than any box that was tried: not for the walk by
// linear programs.
struct OpenDomain : std::exception {};

}  // namespace polyfold
