#include "border/session.hpp"

#include "border/scope.hpp"

namespace dp::border {

// A setting that nobody sees: RESET ALL takes its value away, and says so to its hook.
static const char *const mark_name = "dp_rdr.session_mark";
static bool mark = false;
static uint64 turn = 1;

static void mark_changes(bool value, void *) {
    if (mark && !value)
        turn++;
}

// The transaction that is under way may be rolled back, which would take the mark away: what the server has kept of before is what
// is now.
static void outlast_rollback() {
    for (GucStack *kept = record_of(mark_name)->stack; kept != nullptr; kept = kept->prev) {
        kept->prior.val.boolval = true;
        kept->source = PGC_S_SESSION;
    }
}

void define_session_mark() {
    DefineCustomBoolVariable(mark_name, "Marks a session until RESET ALL.", nullptr, &mark, false, PGC_SUSET,
                             GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, nullptr, mark_changes,
                             nullptr);
}

uint64 session_turn() {
    if (!mark) {
        set_config_option(mark_name, "on", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SET, true, 0, false);
        outlast_rollback();
    }
    return turn;
}

} // namespace dp::border
