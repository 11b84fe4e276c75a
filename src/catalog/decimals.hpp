// numeric <-> exact decimals of the core.
#pragma once

#include "privacy/decimal.hpp"

#include "border/guard.hpp"

namespace dp::catalog {

char *numeric_text(Datum numeric);    // numeric_out
Datum text_numeric(const char *text); // numeric_in

// Most sums of an account stay zero, and every charge writes them.
template <int Places> Datum to_numeric(privacy::Decimal<Places> value) {
    if (value.units() == 0)
        return NumericGetDatum(int64_to_numeric(0));
    char text[64];
    border::core([&] { strlcpy(text, value.text().c_str(), sizeof text); });
    return text_numeric(text);
}

// Errors: 22023 "<what> must be ..." for NaN, infinities, and values too large for an exact decimal.
privacy::Epsilon to_epsilon(Datum numeric, const char *what); // any sign; callers check the range
privacy::Delta to_delta(Datum numeric, const char *what);
privacy::Rho to_rho(Datum numeric, const char *what);
// Stored sums may have become larger than any number that is given.
privacy::Epsilon to_epsilon_sum(Datum numeric, const char *what);
privacy::Rho to_rho_sum(Datum numeric, const char *what);
// Also checks 10^-9 <= epsilon <= 100 after rounding down to 9 decimals (architecture.md, 10).
privacy::Epsilon checked_epsilon(Datum numeric, const char *what);
// Also checks 0 <= delta < 1.
privacy::Delta checked_delta(Datum numeric, const char *what);

} // namespace dp::catalog
