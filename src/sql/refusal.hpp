// Errors as answers, for functions that report what others refuse (dp_explain, dp_audit), or that do something else then.
#pragma once

#include "border/postgres.hpp"

namespace dp::sql {

// Errors that say something about a query, its caller or the settings. Others are not to be swallowed.
inline bool is_refusal(int sqlstate) {
    switch (ERRCODE_TO_CATEGORY(sqlstate)) {
    case ERRCODE_TO_CATEGORY(ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION):
    case ERRCODE_TO_CATEGORY(ERRCODE_FEATURE_NOT_SUPPORTED):
    case ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION):
    case ERRCODE_TO_CATEGORY(ERRCODE_PROGRAM_LIMIT_EXCEEDED):
    case ERRCODE_TO_CATEGORY(ERRCODE_INVALID_SCHEMA_NAME):
        return true;
    default:
        return sqlstate == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    }
}

// Takes a step that may refuse, and returns its error, or null. The step only looks: its subtransaction is rolled back in
// any case, so that whatever it had open is closed, and the locks that it took are given back. A look in a transaction that
// stays idle afterwards keeps nobody from altering a table.
template <class Step> ErrorData *refusal_by(Step step) {
    MemoryContext context = CurrentMemoryContext;
    ResourceOwner owner = CurrentResourceOwner;
    ErrorData *volatile refusal = nullptr;
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(context);
    PG_TRY();
    {
        step();
        RollbackAndReleaseCurrentSubTransaction();
    }
    PG_CATCH();
    {
        HOLD_INTERRUPTS();
        MemoryContextSwitchTo(context);
        refusal = CopyErrorData();
        FlushErrorState();
        RollbackAndReleaseCurrentSubTransaction();
        RESUME_INTERRUPTS();
    }
    PG_END_TRY();
    MemoryContextSwitchTo(context);
    CurrentResourceOwner = owner;
    // Behind the subtransaction: the server takes one that an error leaves open for a savepoint, and waits for ROLLBACK TO it.
    if (refusal != nullptr && !is_refusal(refusal->sqlerrcode))
        ReThrowError(refusal);
    return refusal;
}

// Returns message and hint of a refusal to SQL; NULL without one.
inline Datum text_of_fault(FunctionCallInfo fcinfo, const ErrorData *refusal, const char *format) {
    if (refusal == nullptr)
        PG_RETURN_NULL();
    return CStringGetTextDatum(psprintf(format, refusal->message, refusal->hint == nullptr ? "" : refusal->hint));
}

// The error's message alone.
template <class Step> const char *refusal_of(Step step) {
    ErrorData *refusal = refusal_by(step);
    return refusal == nullptr ? nullptr : refusal->message;
}

} // namespace dp::sql
