// dp_refine: the last answer, measured once more (doc/analyst.md).
#include "keeper/message.hpp"
#include "release/last.hpp"
#include "sql/analyst.hpp"
#include "sql/call_arguments.hpp"

namespace dp::sql {

static const char *why(release::Short how) {
    switch (how) {
    case release::Short::ceiling:
        return "More would cost more than the policy permits for one answer.";
    case release::Short::denied:
        return "The next step was denied; what was charged before it is paid.";
    default:
        return "The next step was not charged, as the settings of the table were changing, its period had turned, or "
               "its ledger was busy; what was charged before it is paid.";
    }
}

void tell_short(const release::Reached &reached) {
    if (!reached.asked || reached.how == release::Short::not_at_all)
        return;
    ereport(NOTICE, (errmsg("the answer is less accurate than asked for"), errdetail("%s", why(reached.how)),
                     errhint("dp_last_release() shows its error95.")));
}

[[noreturn]] static void refuse_replayed() {
    refuse_state("there is no answer to refine",
                 "Ask with dp_query(..., replay => false) for a new one, which is charged.",
                 "Nothing was drawn for the last answer: it was replayed, or names declared groups.");
}

[[noreturn]] static void refuse(const char *detail) {
    refuse_state("there is no answer to refine",
                 "Ask with dp_query(query, error95 => ...) or within, on a table with the bound zcdp, and refine in "
                 "the same connection and under the same role.",
                 detail);
}

// The last answer, if it is this role's, and can be made more accurate.
static const release::LastRelease *refinable_release() {
    const release::LastRelease *last = release::last_release();
    if (last == nullptr || last->role != GetUserId())
        refuse("The last answer in this connection, if there was one, was not the current role's.");
    if (!last->alone)
        refuse("The last statement made several releases.");
    if (last->uncharged)
        refuse_replayed();
    if (last->refinable.mean == nullptr)
        refuse("The last answer had Laplace noise, as plain answers of most policies have, or was not charged in rho, "
               "or had groups that are not declared, or count and sum of one column.");
    return last;
}

// The very leaf again, with its parameters; an epsilon that was asked for does not bind what comes later.
static release::Ask ask_again(const release::LastRelease *last) {
    border::Reader reader = {last->request, last->request + last->request_size};
    release::Ask ask = keeper::read_ask(&reader, catalog::current_asker());
    ask.has_epsilon = false;
    ask.refines = true;
    ask.refinable = last->refinable;
    ask.refinable.mean = pstrdup(last->refinable.mean); // what is remembered is replaced by the answer
    return ask;
}

DP_CALL(dp_refine) {
    check_in_from(fcinfo, "dp_refine");
    privacy::Wanted wanted = wanted_arguments(fcinfo, 0);
    catalog::check_can_ask();
    release::Ask ask = ask_again(refinable_release());
    ask.wanted = wanted;
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    ask.noutputs = result->setDesc->natts;
    ask.output_types = types_of(result->setDesc);
    ask_keeper(&ask, result, nullptr, query::Use::shown);
    return Datum(0);
}

} // namespace dp::sql
