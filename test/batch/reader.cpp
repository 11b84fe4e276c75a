// What a keeper does with a request, in the process of whoever asks: for test/batch/reader.py alone. No function of the
// extension comes here, and rows::check_reader has to see to it that none ever does.
#include "release/ask.hpp"
#include "release/resolved.hpp"
#include "release/round.hpp"

namespace {

using namespace dp;

// One column, a bigint.
release::Resolved resolve(FunctionCallInfo fcinfo) {
    static Oid type = INT8OID;
    release::Ask ask = {};
    ask.asker = catalog::current_asker();
    ask.leaf = text_to_cstring(PG_GETARG_TEXT_PP(0));
    ask.view = PG_GETARG_OID(1);
    ask.time_zone = "UTC";
    ask.weight = 1;
    ask.noutputs = 1;
    ask.output_types = &type;
    ask.parameter_types = &type;
    ask.parameters = makeParamList(0);
    return release::resolve(ask, release::check_ask(ask), false);
}

} // namespace

// (leaf text, view oid): reads for a charge that nobody has made. What a policy calls within_data searches the rows for its
// price, one with tau_var selects from them, others read them for the answer.
DP_FUNCTION(dp_test_read) {
    release::Resolved resolved = resolve(fcinfo);
    release::Round *round = release::begin(resolved.question, resolved.terms, nullptr);
    catalog::Verdict &verdict = release::due(round)->verdict;
    verdict.outcome = catalog::Outcome::committed;
    verdict.last = 1;
    release::charged(round);
    if (release::must_select(round))
        release::select(round);
    else
        (void)release::finish(round);
    PG_RETURN_VOID();
}

// Whether the library that is tested has assertions.
DP_FUNCTION(dp_test_asserts) {
#ifdef USE_ASSERT_CHECKING
    PG_RETURN_BOOL(true);
#else
    PG_RETURN_BOOL(false);
#endif
}
