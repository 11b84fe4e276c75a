#include "border/attempt.hpp"

namespace dp::border {

ErrorData *attempt_call(void (*work)(void *), void *context) {
    MemoryContext memory = CurrentMemoryContext;
    ResourceOwner owner = CurrentResourceOwner;
    ErrorData *volatile error = nullptr; // set behind the jump
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(memory);
    PG_TRY();
    {
        work(context);
        ReleaseCurrentSubTransaction();
    }
    PG_CATCH();
    {
        HOLD_INTERRUPTS();
        MemoryContextSwitchTo(memory);
        error = CopyErrorData();
        FlushErrorState();
        RollbackAndReleaseCurrentSubTransaction();
    }
    PG_END_TRY();
    MemoryContextSwitchTo(memory);
    CurrentResourceOwner = owner;
    return error;
}

} // namespace dp::border
