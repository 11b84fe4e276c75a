// Identity and settings for a stretch of internal work. Plain structs with explicit leave(): on an error the server's own
// transaction abort restores both (AtEOXact_GUC, SetUserIdAndSecContext), so no destructor is needed nor wanted.
#pragma once

#include "border/refuse.hpp"

namespace dp::border {

// The server's record of a setting; null: of none that it knows.
config_generic *record_of(const char *name);

// Acts as `role` with a restricted security context until leave().
struct RoleScope {
    Oid saved_role;
    int saved_context;
    static RoleScope enter(Oid role);
    void leave() const;
};

// For a process of the extension's own, once, at its start: all settings that internal work depends on, for its whole life. Its
// base are those for the extension's own tables; a SettingsScope then changes only what differs where private rows are
// read. Neither ALTER DATABASE or ALTER ROLE ... SET nor a reload reaches them, and ResetAllOptions() comes back to them.
void force_settings();

// Settings that a caller could have set to look at, or to change, internal work (architecture.md, 11: C07..C09, A24) until leave().
struct SettingsScope {
    int nest_level;
    static SettingsScope enter();
    // For the extension's own tables: indexes may be used, which for private rows would count them.
    static SettingsScope enter_for_catalog();
    void leave() const;
};

// Inside a scope for the catalog: whether small tables are read by their keys as well, which is right for statements whose
// plan is kept while the tables grow, and wrong for those that read all of them.
void prefer_indexes(bool prefer);

// Inside a scope, where private rows are joined and grouped by their unit: which plan is chosen depends on public facts as far
// as that goes. hashed: whether what a group adds up is small, so that many may be held at a time.
void pin_joins(bool hashed);
// Calls for each of these settings, which other nodes are sent.
void for_each_join_pin(bool hashed, void (*take)(const char *name, const char *value));

// Some types are compared in a time zone: that of somebody else until leave().
struct TimeZoneScope {
    int nest_level;
    static TimeZoneScope enter(const char *time_zone);
    void leave() const;
};

// The counters that everybody may read do not count until leave(): for look-ups that use no planner and run no code.
struct UncountedScope {
    int nest_level; // 0: they do not count anyway
    static UncountedScope enter();
    void leave() const;
};

// No temporary schema on the search path until leave(), not even last: what is planned meanwhile finds nothing of the
// caller's. From PostgreSQL 17 on the path cannot be set so, and pg_temp stays the last (SettingsScope).
struct PathScope {
    static PathScope enter();
    void leave() const;
};

// Buffers that internal work touches until leave() are not counted. Out-of-line values and spilled groups make their number a
// function of the rows, and EXPLAIN (ANALYZE, BUFFERS) and pg_stat_statements would show it (C05, C08).
struct UsageScope {
    BufferUsage buffers;
    WalUsage wal;
    static UsageScope enter();
    void leave() const;
};

// To the end of the transaction, whatever the caller may set.
void set_locally(const char *name, const char *value);

// The owner of the extension's schema: owns catalog and ledger.
Oid extension_owner();
Oid extension_schema(bool missing_ok = false);
// OID of a function or aggregate of the schema dp_rdr; nobody else can create there, so the look-up cannot be diverted.
Oid internal_function(const char *name, int nargs, const Oid *argtypes, bool missing_ok = false);

} // namespace dp::border
