// Other servers that are asked whether they are there, over connections of this process's own (libpq).
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

constexpr int most_options = 100; // of libpq there are fewer, and each source names one once at most

struct Peer {
    const char *name;      // that it has here, for whoever reports
    const char **keywords; // of libpq, and their values; a null pointer ends them
    const char **values;   //
    int noptions;
    // Found by ask_peers:
    bool answers;
    char sqlstate[6]; // with which it has refused the question; "": it was not reached
    char words[256];  // what it, or libpq, has said then; not for analysts
};

Peer make_peer(const char *name);
// One that is named again replaces what was said before.
void add_option(Peer *peer, const char *keyword, const char *value);
// Adds those of a connection string; null: none. 22023 when it is none.
void add_options(Peer *peer, const char *conninfo);
bool has_option(const Peer &peer, const char *keyword);

// Asks all of them at once for one row, and waits for milliseconds at most. The argument is $1, a text; without a question being
// let in is all. An interrupt ends the wait; nothing but the resolver of host names can hold it up. Errors: 53000 without room
// for the connections.
void ask_peers(Peer *peers, int n, const char *question, const char *argument, int milliseconds);

} // namespace dp::border
