#include "privacy/decimal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "privacy/exact.hpp"

namespace dp::privacy {

namespace {

constexpr long exponent_limit = 1000000;
constexpr int integer_digits = 8; // |x| < 10^8

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The part after 'e'. Saturates: an exponent of a billion digits means the same as exponent_limit.
std::optional<long> scan_exponent(std::string_view text) {
    bool negative = false;
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
        negative = text.front() == '-';
        text.remove_prefix(1);
    }
    if (text.empty())
        return std::nullopt;
    long value = 0;
    for (char c : text) {
        if (!is_digit(c))
            return std::nullopt;
        value = std::min(exponent_limit, value * 10 + (c - '0'));
    }
    return negative ? -value : value;
}

uint128 power_of_ten(int n) {
    uint128 p = 1;
    while (n-- > 0)
        p *= 10;
    return p;
}

uint128 magnitude(int128 x) { return x < 0 ? -static_cast<uint128>(x) : static_cast<uint128>(x); }

std::string digits_of(uint128 x) { return exact::integer(x).str(); }

} // namespace

std::optional<exact::Scanned> exact::scan(std::string_view text) {
    Scanned result;
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
        result.negative = text.front() == '-';
        text.remove_prefix(1);
    }
    const std::size_t e = text.find_first_of("eE");
    if (e != std::string_view::npos) {
        const std::optional<long> exponent = scan_exponent(text.substr(e + 1));
        if (!exponent)
            return std::nullopt;
        result.exponent = *exponent;
        text = text.substr(0, e);
    }
    bool any = false, fraction = false;
    for (char c : text) {
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(c))
            return std::nullopt;
        any = true;
        result.exponent -= fraction ? 1 : 0;
        if (c != '0' || !result.digits.empty())
            result.digits.push_back(c);
    }
    if (!any)
        return std::nullopt;
    return result;
}

exact::Ratio exact::ratio_of(const Scanned &scanned) {
    Ratio x;
    if (scanned.digits.empty())
        return x;
    x.numerator = cpp_int(scanned.negative ? "-" + scanned.digits : scanned.digits);
    (scanned.exponent < 0 ? x.denominator : x.numerator) *=
        boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::labs(scanned.exponent)));
    return x;
}

std::string to_text(int128 value) {
    return exact::integer(value).str();
}

// Places and digits before the point together are at most 38: below 2^127.
template <int Places>
static std::optional<Decimal<Places>> parse_within(std::string_view text, Rounding rounding, int integers) {
    const std::optional<exact::Scanned> number = exact::scan(text);
    if (!number)
        return std::nullopt;
    const std::string &digits = number->digits;
    if (digits.empty())
        return Decimal<Places>();
    const long top = static_cast<long>(digits.size()) + number->exponent; // 10^(top-1) <= |x| < 10^top
    if (top > integers)
        return std::nullopt;
    const long kept = std::max(0L, top + Places); // at most 38 digits: below 2^127
    uint128 units = 0;
    for (long i = 0; i < kept; ++i)
        units = units * 10 + (i < static_cast<long>(digits.size()) ? static_cast<unsigned>(digits[i] - '0') : 0U);
    const bool inexact = kept < static_cast<long>(digits.size()) &&
                         digits.find_first_not_of('0', static_cast<std::size_t>(kept)) != std::string::npos;
    if (inexact && rounding == Rounding::up)
        ++units;
    return Decimal<Places>::from_units(number->negative ? -static_cast<int128>(units) : static_cast<int128>(units));
}

template <int Places> std::optional<Decimal<Places>> Decimal<Places>::parse(std::string_view text, Rounding rounding) {
    return parse_within<Places>(text, rounding, integer_digits);
}

template <int Places> std::optional<Decimal<Places>> Decimal<Places>::parse_sum(std::string_view text) {
    return parse_within<Places>(text, Rounding::down, std::max(integer_digits, 36 - Places));
}

template <int Places> Decimal<Places> Decimal<Places>::from_double(double x, Rounding rounding) {
    if (!(std::fabs(x) < 1e8))
        throw std::out_of_range("a number for a decimal must be finite and below 10^8");
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);
    exact::cpp_int units = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    units *= exact::integer(power_of_ten(Places));
    const int shift = exponent - 53; // below 0, since |x| < 2^27
    const bool inexact = units != 0 && static_cast<int>(lsb(units)) < -shift;
    units >>= static_cast<unsigned>(-shift);
    if (inexact && rounding == Rounding::up)
        ++units;
    const int128 magnitude = static_cast<int128>(units.convert_to<unsigned __int128>());
    return from_units(x < 0 ? -magnitude : magnitude);
}

template <int Places> double Decimal<Places>::value() const {
    return std::strtod(text().c_str(), nullptr);
}

template <int Places> std::string Decimal<Places>::text() const {
    const uint128 one = power_of_ten(Places), m = magnitude(units_);
    std::string result = (units_ < 0 ? "-" : "") + digits_of(m / one);
    if (m % one == 0)
        return result;
    std::string fraction = digits_of(m % one);
    fraction.insert(0, static_cast<std::size_t>(Places) - fraction.size(), '0');
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return result + "." + fraction;
}

template class Decimal<9>;
template class Decimal<15>;
template class Decimal<30>;

} // namespace dp::privacy
