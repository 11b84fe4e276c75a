#include "rows/reader.hpp"

#include "border/versions.hpp"

namespace dp::rows {

static bool keeper = false;

void become_keeper() {
    keeper = true;
}

bool is_keeper() {
    return keeper;
}

void check_reader(const Question *question) {
    bool allowed = keeper || (question->grantee == nullptr &&
                              border::owns_relation(question->settings->relation, question->asker.role));
    Assert(allowed);
    if (!allowed)
        elog(ERROR, "private rows are read for an analyst outside a keeper");
}

} // namespace dp::rows
