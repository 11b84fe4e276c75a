#include "rows/may_read.hpp"

#include "border/versions.hpp"
#include "rows/question.hpp"

namespace dp::rows {

static bool keeper = false;

void become_keeper() {
    keeper = true;
}

bool is_keeper() {
    return keeper;
}

static bool is_owners(const Question *question) {
    return question->grantee == nullptr && border::owns_relation(question->settings->relation, question->asker.role);
}

OwnRows::OwnRows(const Question *question) : Uncharged(question) {
    if (!is_owners(question))
        elog(ERROR, "rows are looked at by somebody who does not own them");
}

void check_reader(const Question *question) {
    bool allowed = keeper || is_owners(question);
    Assert(allowed);
    if (!allowed)
        elog(ERROR, "private rows are read for an analyst outside a keeper");
}

} // namespace dp::rows
