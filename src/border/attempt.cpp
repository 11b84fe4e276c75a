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

// A frame of that size, and the server's own check below it.
void check_stack_room() {
    constexpr int least = 256 * 1024;
    volatile char room[least];
    room[0] = 0;
    check_stack_depth();
    room[least - 1] = room[0]; // the frame is there during the call
}

} // namespace dp::border
