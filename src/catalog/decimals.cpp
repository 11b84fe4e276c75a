#include "catalog/decimals.hpp"

namespace dp::catalog {

char *numeric_text(Datum numeric) {
    return DatumGetCString(DirectFunctionCall1(numeric_out, numeric));
}

Datum text_numeric(const char *text) {
    return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

// A number as a message quotes it: who passes a digit string of pages knows what he passed.
static const char *quoted(const char *text) {
    return strlen(text) <= 40 ? text : psprintf("%.40s...", text);
}

template <int Places> static privacy::Decimal<Places> parse(Datum numeric, const char *what, bool is_sum = false) {
    const char *text = numeric_text(numeric);
    privacy::Decimal<Places> value;
    bool ok = border::core([&] {
        auto parsed = is_sum ? privacy::Decimal<Places>::parse_sum(text) : privacy::Decimal<Places>::parse(text);
        if (parsed)
            value = *parsed;
        return parsed.has_value();
    });
    if (!ok)
        refuse_value(psprintf("%s is out of range: %s", what, quoted(text)), "Give a finite number below 10^8.");
    return value;
}

privacy::Epsilon to_epsilon(Datum numeric, const char *what) {
    return parse<9>(numeric, what);
}

privacy::Delta to_delta(Datum numeric, const char *what) {
    return parse<30>(numeric, what);
}

privacy::Rho to_rho(Datum numeric, const char *what) {
    return parse<15>(numeric, what);
}

privacy::Epsilon to_epsilon_sum(Datum numeric, const char *what) {
    return parse<9>(numeric, what, true);
}

privacy::Rho to_rho_sum(Datum numeric, const char *what) {
    return parse<15>(numeric, what, true);
}

privacy::Epsilon checked_epsilon(Datum numeric, const char *what) {
    privacy::Epsilon value = to_epsilon(numeric, what);
    if (value.units() < 1 || value.units() > 100 * int64{1000000000})
        refuse_value(psprintf("%s is out of range: %s", what, quoted(numeric_text(numeric))),
                     "Give a number from 0.000000001 to 100; more than 9 decimals are rounded down.");
    return value;
}

privacy::Delta checked_delta(Datum numeric, const char *what) {
    privacy::Delta value = to_delta(numeric, what);
    privacy::Delta one = border::core([] { return *privacy::Delta::parse("1"); });
    if (value.units() < 0 || value >= one)
        refuse_value(psprintf("%s is out of range: %s", what, quoted(numeric_text(numeric))),
                     "Give a number from 0 to below 1, for instance 1e-6.");
    return value;
}

} // namespace dp::catalog
