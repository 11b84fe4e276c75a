#include "rows/reader.hpp"

namespace dp::rows {

static bool keeper = false;

void become_keeper() {
    keeper = true;
}

bool is_keeper() {
    return keeper;
}

void check_reader(const Question *question) {
    bool allowed = keeper || question->grantee == nullptr;
    Assert(allowed);
    if (!allowed)
        elog(ERROR, "private rows are read for an analyst outside a keeper");
}

} // namespace dp::rows
