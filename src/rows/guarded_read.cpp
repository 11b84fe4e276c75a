#include "rows/guarded_read.hpp"

#include <utility>

#include "border/refuse.hpp"
#include "rows/engine.hpp"
#include "rows/foreign_partitions.hpp"
#include "rows/may_read.hpp"

namespace dp::rows {

// Whether an error may reach the client as it is: it says something about the client or the server, nothing of the rows.
static bool passes(int sqlstate) {
    return sqlstate == ERRCODE_QUERY_CANCELED || ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_OPERATOR_INTERVENTION;
}

// Disk, memory, files, locks, connections: not for a query alone, and outside of what is promised (formulas.md, 4.1). Who can
// use them up to the last page learns something by it.
static bool lacks_resources(int sqlstate) {
    return ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_INSUFFICIENT_RESOURCES ||
           ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_CONNECTION_EXCEPTION ||
           ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_SYSTEM_ERROR || sqlstate == ERRCODE_T_R_DEADLOCK_DETECTED ||
           sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
}

// Tells whether another server's error is about a name in the statement: not there, or not for the owner. It comes before any row.
static bool is_about_names(int sqlstate) {
    return sqlstate == ERRCODE_UNDEFINED_FUNCTION || sqlstate == ERRCODE_UNDEFINED_TABLE ||
           sqlstate == ERRCODE_UNDEFINED_COLUMN || sqlstate == ERRCODE_UNDEFINED_OBJECT ||
           sqlstate == ERRCODE_UNDEFINED_SCHEMA || sqlstate == ERRCODE_INSUFFICIENT_PRIVILEGE;
}

static bool suspends = false, lacks_workers = false;

bool take_suspension() {
    return std::exchange(suspends, false);
}

bool take_lack_of_workers() {
    return std::exchange(lacks_workers, false);
}

// Logs a failed reading. The server's message is logged as its code has it, without the values in it: these may be of a row.
static void log_failure(const Question *question, const ErrorData *error) {
    if (!is_keeper())
        return;
    bool here = !question->remote && !is_on_other_nodes(question->settings->relation);
    bool tells = here && error->message_id != nullptr && strcmp(error->message_id, "%s") != 0;
    ereport(LOG, (errmsg("reading rows of %s failed with SQLSTATE %s", question->settings->relation_name,
                         unpack_sql_state(error->sqlerrcode)),
                  tells ? errdetail_log("The server's message, without its values: %s.", error->message_id) : 0));
}

[[noreturn]] static void raise_failed() {
    // Neither the message nor its place may depend on a row. The transaction is lost all the same: this error ends it.
    refuse_state("the query failed",
                 "What was charged stays. The controller finds out more by running the query on the table.");
}

void raise_caught(const Question *question, ErrorData *error) {
    // A cancel that comes back from another server has its text. In a keeper nobody waits for that of his own any more.
    bool elsewhere = is_elsewhere(question);
    bool ours = !elsewhere || !is_keeper();
    if (ours && passes(error->sqlerrcode)) {
        RESUME_INTERRUPTS();
        ReThrowError(error);
    }
    // The controller's own calls are his: he may see rows.
    suspends = question->grantee != nullptr && !lacks_resources(error->sqlerrcode) &&
               !(elsewhere && (is_about_a_server(error->sqlerrcode) || is_about_names(error->sqlerrcode)));
    lacks_workers = ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES &&
                    ((error->context != nullptr && strstr(error->context, _("parallel worker")) != nullptr) ||
                     (error->message_id != nullptr && strstr(error->message_id, "shared memory segment") != nullptr));
    if (elsewhere)
        forget_nodes();
    log_failure(question, error);
    RESUME_INTERRUPTS();
    raise_failed();
}

void replace_remote_error(const Question *question, const ErrorData *error) {
    if (!question->remote || error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
        return;
    log_failure(question, error);
    raise_failed();
}

} // namespace dp::rows
