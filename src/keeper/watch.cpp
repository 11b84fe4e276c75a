#include "keeper/watch.hpp"

#include <sys/socket.h>

#include "border/postgres.hpp"

namespace dp::keeper {

constexpr int look_ms = 1000, patience_looks = 3;

static volatile sig_atomic_t looks = -1; // since it was told; -1: it was not

void note_told() {
    if (looks < 0)
        looks = 0;
}

void forget_told() {
    if (!ProcDiePending)
        looks = -1;
}

// A keeper has no client of its own: all its streams are to other servers. Nothing but calls that a signal handler may make.
static void shut_streams() {
    constexpr int most_files = 65536;
    for (int file = 0; file < most_files; file++) {
        int type = 0;
        socklen_t size = sizeof type;
        if (getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM)
            (void)shutdown(file, SHUT_RDWR);
    }
}

static void look() {
    int saved = errno;
    if (looks >= 0 && ++looks % patience_looks == 0) // again and again: who waits may connect once more
        shut_streams();
    errno = saved;
}

static TimeoutId timer() {
    static TimeoutId id = RegisterTimeout(USER_TIMEOUT, look);
    return id;
}

void watch_connections() {
    looks = -1;
    enable_timeout_every(timer(), TimestampTzPlusMilliseconds(GetCurrentTimestamp(), look_ms), look_ms);
}

void stop_watching() {
    disable_timeout(timer(), false);
    looks = -1;
}

} // namespace dp::keeper
