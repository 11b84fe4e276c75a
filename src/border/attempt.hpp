// Work whose error must not leave by itself: it runs in a subtransaction, so that afterwards nothing is held that it took
// (locks, buffers, files, the identity and settings of scopes), and work of ours can follow.
#pragma once

#include <type_traits>

#include "border/postgres.hpp"

namespace dp::border {

// Null when the work is done. Otherwise it was rolled back and this is its error; interrupts are held from the moment of
// the error on, so that nobody's cancel comes between it and what must follow: RESUME_INTERRUPTS() is the caller's.
ErrorData *attempt_call(void (*work)(void *), void *context);

template <class Work> ErrorData *attempt(Work &&work) {
    return attempt_call([](void *context) { (*static_cast<std::remove_reference_t<Work> *>(context))(); }, &work);
}

// Raises the server's error of stack depth unless work over rows has room: patterns go deeper with the text that they meet
// (LIKE calls itself for each %), and a caller may have come close to the limit before. Asked before a charge (C02).
void check_stack_room();

} // namespace dp::border
