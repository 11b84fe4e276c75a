// What a keeper does with a request, in the process of whoever asks: for test/batch/reader.py alone. No function of the
// extension comes here, and rows::check_reader has to see to it that none ever does.
#include "release/resolved.hpp"
#include "release/round.hpp"
#include "risk/leave_one_row_out.hpp"
#include "rows/evaluate.hpp"
#include "rows/units.hpp"

namespace {

using namespace dp;

// One column, a bigint.
release::Checked resolve(FunctionCallInfo fcinfo) {
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

// Whether rows may be read for an answer, a selection, a count of people's rows, or a look, by a value of this type.
template <class T, class = void> constexpr bool reads = false;
template <class T> constexpr bool reads<T, std::void_t<decltype(rows::evaluate(std::declval<const T &>()))>> = true;
template <class T, class = void> constexpr bool selects = false;
template <class T>
constexpr bool selects<T, std::void_t<decltype(rows::evaluate(std::declval<const T &>(), rows::Selection{}))>> = true;
template <class T>
constexpr bool counts = std::is_invocable_v<decltype(rows::count_rows_of_units), const T &, privacy::UnitRows *>;
template <class T>
constexpr bool looks = std::is_invocable_v<decltype(risk::leave_one_out), const T &, privacy::Mechanism,
                                           privacy::Calibration, risk::Detail, const risk::PeopleGroups &>;
template <class T>
constexpr bool reads_units =
    std::is_invocable_v<decltype(rows::for_each_unit), const T &, const List *, bool, rows::TakeUnit, void *>;
template <class T> constexpr bool is_nothing = !reads<T> && !selects<T> && !counts<T> && !looks<T> && !reads_units<T>;
// Whether anybody can make a value of this type of these.
template <class T, class... From> constexpr bool is_made = std::is_constructible_v<T, From...>;
template <class T>
constexpr bool is_kept = !is_made<T> && !is_made<T, const rows::Question *> && !is_made<T, const release::Checked &> &&
                         !is_made<T, const catalog::Entry &> && !is_made<T, const rows::MayRead &>;

struct Fact {
    const char *text;
    bool holds;
};

constexpr Fact facts[] = {
    {"a charge pays for an answer, and for counts", reads<rows::Paid> &&counts<rows::Paid>},
    {"a charge of a selection pays for it alone", selects<rows::PaidSelection> && !reads<rows::PaidSelection> &&
                                                      !counts<rows::PaidSelection> && !selects<rows::Paid>},
    {"a checked question reads nothing", is_nothing<release::Checked>},
    {"a question reads nothing", is_nothing<rows::Question> &&is_nothing<const rows::Question *>},
    {"a search gives no answer",
     looks<rows::Search> && !reads<rows::Search> && !selects<rows::Search> && !counts<rows::Search>},
    {"what is paid is no look", !looks<rows::Paid> && !looks<rows::PaidSelection>},
    {"the owner looks, and answers", looks<rows::OwnRows> &&reads<rows::OwnRows> && !selects<rows::OwnRows>},
    {"nobody makes a charge durable by saying so", is_kept<rows::Paid> &&is_kept<rows::PaidSelection>},
    {"nobody makes a search", is_kept<rows::Search> &&is_kept<rows::Uncharged>},
    {"nobody checks a question by saying so",
     !is_made<release::Checked> && !is_made<release::Checked, const rows::Question *, release::Terms> &&
         !is_made<release::Checked, const rows::Question *, const rows::Question *, release::Terms,
                  const release::Signal *>},
};

} // namespace

// What the types of rows/may_read permit and should not, or the reverse; each with a line break.
DP_FUNCTION(dp_test_permits) {
    StringInfoData wrong;
    initStringInfo(&wrong);
    for (const Fact &fact : facts)
        if (!fact.holds)
            appendStringInfo(&wrong, "%s\n", fact.text);
    PG_RETURN_TEXT_P(cstring_to_text_with_len(wrong.data, wrong.len));
}

// (leaf text, view oid, committed boolean): reads for a charge that nobody has made. What a policy calls within_data searches the
// rows for its price, one with tau_var selects from them, others read them for the answer. committed: what is said of the charge.
DP_FUNCTION(dp_test_read) {
    const release::Checked checked = resolve(fcinfo);
    release::Round *round = release::begin(checked, nullptr);
    catalog::Verdict &verdict = release::due(round)->verdict;
    verdict.outcome = PG_GETARG_BOOL(2) ? catalog::Outcome::committed : catalog::Outcome::denied;
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
