#include "rows/two_column_checks.hpp"

#include "border/refuse.hpp"
#include "query/grammar.hpp"
#include "rows/engine.hpp"

namespace dp::rows {

bool has_joint(const Question *question) {
    return query::asks_joint(question->leaf);
}

void check_joint(const Question *question) {
    if (has_joint(question) && is_elsewhere(question))
        refuse_form("covariances, correlations and lines of regression are not supported where other servers keep the "
                    "rows",
                    "Ask for sums: count(*), sum(x), sum(y), sum(x * y) ... WHERE x IS NOT NULL AND y IS NOT NULL.");
}

void check_joint_has_risk(const Question *question) {
    if (has_joint(question))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("covariances, correlations and lines of regression are not supported here"),
                        errdetail("They are computed from four or six noisy sums: how far one record moves them is not "
                                  "compared with that noise."),
                        errhint(is_clipped(question) ? "Leave them out."
                                                     : "Leave them out; or look at dp_risk(), dp_risk_records() or "
                                                       "dp_find_epsilon(), which take them as a query with a declared "
                                                       "sensitivity.")));
}

} // namespace dp::rows
