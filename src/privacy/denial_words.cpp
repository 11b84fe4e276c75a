#include "privacy/denial_words.hpp"

namespace dp::privacy {

static const char *words_for_total(const BoundSettings &bound, Basis basis) {
    if (bound.bound != Bound::zcdp)
        return bound.period ? "epsilon_total of the period" : "epsilon_total of the table";
    return basis == Basis::epsilon ? "epsilon_pure of the table" : "rho_total of the table";
}

static const char *words_for_share(const BoundSettings &bound, bool profile) {
    if (profile)
        return "share of the role (epsilon_total or risk profile)";
    return bound.period ? "share of the role (epsilon_total) in the period" : "share of the role (epsilon_total)";
}

const char *words_for(Denial denial, const BoundSettings &bound, Basis basis, bool profile) {
    switch (denial) {
    case Denial::none:
        break;
    case Denial::no_candidate:
        return "no epsilon meets the preference";
    case Denial::dynamic_bound:
        return "bound dynamic of the table";
    case Denial::epsilon_total:
        return words_for_total(bound, basis);
    case Denial::role_share:
        return words_for_share(bound, profile);
    case Denial::delta_total:
        return bound.period ? "delta_total of the period" : "delta_total of the table";
    case Denial::epsilon_lifetime:
        return "epsilon_lifetime of the table";
    case Denial::delta_lifetime:
        return "delta_lifetime of the table";
    }
    return "";
}

} // namespace dp::privacy
