// A keeper that is told to stop while it is with other servers. Citus, and postgres_fdw up to PostgreSQL 16, tell a server to stop
// as well, and wait until it has heard: one that hangs would hold the keeper for ever, as nothing interrupts that wait.
#pragma once

namespace dp::keeper {

// From a signal handler: what is under way is to end.
void note_told();
// Behind its end.
void forget_told();

// While the request is with other servers: a while after it was told to stop, its connections are shut, and with them whoever
// waits on one goes on.
void watch_connections();
void stop_watching();

} // namespace dp::keeper
