#include "sql/withheld.hpp"

#include "border/session.hpp"
#include "release/last.hpp"

namespace dp::sql {

// Under `within_data` the threshold follows from the data, and under `released` from a selection: no number.
static const char *which_groups(const release::Facts &facts) {
    if (facts.algorithm != release::Algorithm::within_domain)
        return "small groups";
    return psprintf("groups of fewer than about " INT64_FORMAT " %s", facts.threshold,
                    facts.of_people ? "people" : "rows");
}

static void warn_of_use(const char *groups) {
    ereport(WARNING,
            (errmsg("%s are withheld: what this statement computes from the others leaves them out", groups),
             errhint("Aggregate the view itself, or ask the controller to declare the groups with dp_set_groups().")));
}

static void notice_once(const char *groups) {
    ereport(NOTICE, (errmsg("%s are withheld", groups),
                     errhint("dp_explain() shows the threshold of each query; groups declared with dp_set_groups() all "
                             "appear. This is said once in a connection.")));
}

void tell_withheld(const release::Facts &facts, bool used) {
    static TimestampTz warned = 0; // the statement that was warned last
    static uint64 told = 0;        // the session's turn in which somebody was
    const char *groups = which_groups(facts);
    if (used)
        release::remember_use_of_groups();
    if (used && warned != GetCurrentStatementStartTimestamp()) {
        warned = GetCurrentStatementStartTimestamp();
        warn_of_use(groups);
    } else if (!used && told != border::session_turn())
        notice_once(groups);
    told = border::session_turn();
}

} // namespace dp::sql
