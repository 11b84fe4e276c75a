// The one place where an error about private rows ends (C02). All that touches rows for an analyst runs in here: the
// internal statement, reading back and sorting its groups, conversions of what it returned, leave-one-out.
#pragma once

#include "border/attempt.hpp"
#include "border/scope.hpp"
#include "rows/question.hpp"

namespace dp::rows {

// Errors: cancel and shutdown as they are, all others as the constant text 55000 "the query failed". Unless it was for lack
// of resources, a failure suspends the role that asked (formulas.md, 4.1) before the error is raised.
[[noreturn]] void raise_caught(const Question *question, ErrorData *error);

// Behind the work, what was begun on other servers is ended: the error of that, which comes from there, becomes the constant text
// as well. It suspends nobody, since all rows have been read. Returns for errors that are ours.
void replace_remote_error(const Question *question, const ErrorData *error);

// Whether the error that was raised last suspends who asked; asked once, by whoever ends his request.
bool take_suspension();

// Whether that error was for lack of what parallel workers need: locks of their own, and a segment of shared memory. Asked once.
bool take_lack_of_workers();

// Runs work whose errors are about rows. A tuplestore that outlives the work must be begun before it. Buffers are not
// counted, and whatever the settings count or print is off, also while an error cleans up (C05, C07, C18).
template <class Work> void caught(const Question *question, Work &&work) {
    border::UsageScope usage = border::UsageScope::enter();
    border::SettingsScope settings = border::SettingsScope::enter();
    ErrorData *error = border::attempt(work);
    usage.leave();
    // The settings stay until the error has undone the caller's transaction: what it closes then is not counted either.
    if (error != nullptr)
        raise_caught(question, error);
    settings.leave();
}

} // namespace dp::rows
