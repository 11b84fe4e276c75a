#include "rows/two_column_checks.hpp"

#include "border/refuse.hpp"
#include "query/grammar.hpp"
#include "rows/engine.hpp"

namespace dp::rows {

bool has_joint(const Question *question) {
    return query::asks_joint(question->leaf);
}

void check_joint(const Question *question) {
    if (has_joint(question) && adds_up_rows_elsewhere(question))
        refuse_form("covariances, correlations and lines of regression are not supported where other servers keep the "
                    "rows",
                    "Ask for sums: count(*), sum(x), sum(y), sum(x * y) ... WHERE x IS NOT NULL AND y IS NOT NULL.");
}

} // namespace dp::rows
