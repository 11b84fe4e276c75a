// Exact numbers behind decimals and lattices. For privacy/*.cpp only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // GCC 12 is wrong about zero in boost/rational.hpp
#include <boost/multiprecision/cpp_int.hpp>
#pragma GCC diagnostic pop

namespace dp::privacy::exact {

using boost::multiprecision::cpp_int;

// The finite number +-digits * 10^exponent. digits: without leading zeros, empty for zero.
struct Scanned {
    bool negative = false;
    std::string digits;
    long exponent = 0; // within +-2000000: what lies outside is out of every range that is ever asked for
};

// Reads "12", "-0.05", ".5", "1e-6". No value for NaN, infinities, spaces, anything else.
std::optional<Scanned> scan(std::string_view text);

// numerator / denominator, denominator > 0, not reduced: all that is done with it is compare, round and convert.
struct Ratio {
    cpp_int numerator;
    cpp_int denominator = 1;
    bool operator<(const Ratio &o) const { return numerator * o.denominator < o.numerator * denominator; }
};

// Returns what was scanned. Precondition: the caller has bounded its exponent, or no power of ten has an end.
Ratio ratio_of(const Scanned &scanned);

// By value: cpp_int takes references, and int128 may be less aligned than those may expect.
inline cpp_int integer(__int128 x) { return cpp_int(x); }
inline cpp_int integer(unsigned __int128 x) { return cpp_int(x); }

} // namespace dp::privacy::exact
