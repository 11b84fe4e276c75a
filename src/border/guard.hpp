// The only crossing between the backend and C++.
//
// Two regions, one rule each:
//  * Backend region (everything outside privacy/): calls the server, may ereport(), and therefore holds no object with a
//    destructor: an error leaves by longjmp and would skip it. Data live in memory contexts (palloc, List, StringInfo).
//  * Core region (privacy/, and lambdas passed to core()): ordinary C++ that may throw; it never calls the server, except
//    for functions that cannot ereport (pg_strong_random).
// core() is the way from the first into the second: it turns every exception into ereport(ERROR) after all destructors of
// the core have run. An exception that escaped from an extern "C" function would abort the backend and restart the whole
// cluster; ereport from inside a catch block would leak the exception object, so the text is copied out first.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "border/refuse.hpp"
#include "border/version.hpp"

namespace dp::border {

// Keeps what an exception said once it is gone: plain data, so that it may be live across ereport.
struct Caught {
    int sqlstate;
    char message[512];
};

[[noreturn]] void raise(const Caught &caught);
void describe_current_exception(Caught &caught) noexcept; // call inside catch only

template <class F> auto core(F &&f) -> decltype(f()) {
    using Result = decltype(f());
    static_assert(std::is_void_v<Result> || std::is_trivially_destructible_v<Result>,
                  "a result that needs a destructor cannot live in a backend region");
    Caught caught;
    try {
        return f();
    } catch (...) {
        describe_current_exception(caught);
    }
    raise(caught);
}

// An object of the core owned by CurrentMemoryContext: its destructor runs when the context is reset or deleted, also
// after an error. The pointer may live in a backend region.
template <class T, class... Args> T *context_new(Args &&...args) {
    // palloc aligns to 8 bytes; Boost's wide integers want 16.
    auto *memory = static_cast<char *>(palloc0(sizeof(MemoryContextCallback) + sizeof(T) + alignof(T)));
    auto *callback = reinterpret_cast<MemoryContextCallback *>(memory);
    void *place = reinterpret_cast<void *>(TYPEALIGN(alignof(T), memory + sizeof(MemoryContextCallback)));
    T *object = core([&] { return new (place) T(std::forward<Args>(args)...); });
    callback->func = [](void *p) { static_cast<T *>(p)->~T(); };
    callback->arg = object;
    MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
    return object;
}

} // namespace dp::border

// Declares an SQL-callable function. Its body is a backend region; the guard is for the exception nobody thought of.
#define DP_FUNCTION(name) DP_GUARDED(name, name##_body(fcinfo))

// Defines a function that people call, with the arguments of the version that their database has. Before it reads one, the
// versions are compared (version.hpp). Not for what runs on each row.
#define DP_CALL(name) DP_GUARDED(name, (dp::border::check_version(), name##_body(fcinfo)))

#define DP_GUARDED(name, call)                                                                                         \
    extern "C" {                                                                                                       \
    PG_FUNCTION_INFO_V1(name);                                                                                         \
    }                                                                                                                  \
    static Datum name##_body(FunctionCallInfo fcinfo);                                                                 \
    extern "C" PGDLLEXPORT Datum name(PG_FUNCTION_ARGS) {                                                              \
        return dp::border::core([&] { return call; });                                                                 \
    }                                                                                                                  \
    static Datum name##_body(FunctionCallInfo fcinfo)

// Defines a function that is called for every row and whose body calls no C++ that may throw, without the guard.
#define DP_ROW_FUNCTION(name)                                                                                          \
    extern "C" {                                                                                                       \
    PG_FUNCTION_INFO_V1(name);                                                                                         \
    }                                                                                                                  \
    extern "C" PGDLLEXPORT Datum name(PG_FUNCTION_ARGS)
