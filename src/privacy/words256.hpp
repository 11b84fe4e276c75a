// Declares 256 bits as words. Arithmetic on them is in wide.hpp.
#pragma once

#include <array>
#include <cstdint>

namespace dp::privacy {

// Holds 256 bits, the lowest word first.
struct Words256 {
    std::array<std::uint64_t, 4> words{};
    constexpr Words256(std::uint64_t x = 0) : words{x, 0, 0, 0} {} // implicit: an integer is one
    bool operator==(const Words256 &o) const { return words == o.words; }
    bool operator!=(const Words256 &o) const { return words != o.words; }
};

} // namespace dp::privacy
