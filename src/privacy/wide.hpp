// Numbers of 256 and 512 bits, and how a GaussianScale holds one. For the samplers, privacy/*.cpp and tests only: Boost's headers
// behind them take longer to compile than most files that mention a scale.
#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/multiprecision/cpp_int.hpp>

#include "privacy/words256.hpp"

namespace dp::privacy {

using uint256 = boost::multiprecision::uint256_t;
using uint512 = boost::multiprecision::uint512_t;

inline uint256 wide(const Words256 &x) {
    uint256 result = 0;
    for (std::size_t i = x.words.size(); i-- > 0;)
        result = (result << 64) | x.words[i];
    return result;
}

inline Words256 words(uint256 x) {
    Words256 result;
    for (std::uint64_t &word : result.words) {
        word = static_cast<std::uint64_t>(x & ~std::uint64_t{0});
        x >>= 64;
    }
    return result;
}

} // namespace dp::privacy
