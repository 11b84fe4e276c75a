#include "risk/general_risk.hpp"

#include "catalog/foreign_part.hpp"
#include "risk/closed_forms.hpp"
#include "risk/rerun.hpp"

namespace dp::risk {

// A place in a file tells one row from others on one server alone.
static void check_rerun(const GeneralQuestion *question) {
    if (catalog::is_known_to_citus(question->settings->relation))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("rows of %s are kept on several nodes, and the query would be run without one of them",
                        question->settings->relation_name),
                 errhint("Ask for what needs no such run: one level of count, sum, avg, variance, stddev, min, max "
                         "and percentiles of columns, without HAVING.")));
}

GeneralRisk general_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                         const char *caller) {
    const ClosedForms *forms = find_closed_forms(question);
    if (forms != nullptr && at_most_once(question))
        return closed_forms_risk(question, forms, mechanism, keep_records);
    check_rerun(question);
    return rerun_risk(question, mechanism, keep_records, caller);
}

} // namespace dp::risk
