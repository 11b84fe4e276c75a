#include "border/scope.hpp"

namespace dp::border {

RoleScope RoleScope::enter(Oid role) {
    RoleScope scope;
    GetUserIdAndSecContext(&scope.saved_role, &scope.saved_context);
    SetUserIdAndSecContext(role, scope.saved_context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
    return scope;
}

void RoleScope::leave() const {
    SetUserIdAndSecContext(saved_role, saved_context);
}

namespace {
// The server's record of a setting, and the value that the pin means, once it was set: what has it already is left alone.
struct Pin {
    const char *name;
    const char *value;
    config_generic *record = nullptr;
    bool known = false;
    double number = 0;
    const char *text = nullptr;
};

#if PG_VERSION_NUM >= 160000
const char *const forced_parallel = "debug_parallel_query";
#else
const char *const forced_parallel = "force_parallel_mode";
#endif

// For all internal work. Each line closes a door.
Pin pins[] = {
    {"search_path", "pg_catalog, pg_temp"},  // pg_temp is searched first for types unless named last (A24)
    {"track_functions", "none"},             // pg_stat_xact_* would count calls of helper functions (C17)
    {"track_io_timing", "off"},              //
    {"debug_print_parse", "off"},            // plans and constants sent to the client (C09)
    {"debug_print_rewritten", "off"},        //
    {"debug_print_plan", "off"},             //
    {"log_parser_stats", "off"},             //
    {"log_planner_stats", "off"},            //
    {"log_executor_stats", "off"},           //
    {"log_statement_stats", "off"},          //
    {"trace_sort", "off"},                   // sizes of sorts
    {"client_min_messages", "error"},        // whatever an internal statement has to say
    {"seq_page_cost", "1"},                  // with costs of his own the caller would get index scans all the same
    {"random_page_cost", "4"},               //
    {"cpu_tuple_cost", "0.01"},              //
    {"cpu_index_tuple_cost", "0.005"},       //
    {"cpu_operator_cost", "0.0025"},         //
    {"gin_fuzzy_search_limit", "0"},         // a GIN index leaves rows out, many or none as one row decides
    {"temp_file_limit", "-1"},               // with the rest that the caller leaves, one row decides who exceeds it
    {"exit_on_error", "off"},                // an error would end the session before it is caught (C02)
    {"enable_hashagg", "on"},                //
    {"enable_sort", "on"},                   //
    {forced_parallel, "off"},                //
    {"parallel_leader_participation", "on"}, //
    {"plan_cache_mode", "auto"},             //
    {"jit", "off"},                          //
    {"constraint_exclusion", "off"},         // the planner has no business with the expressions of constraints
    {"extra_float_digits", "1"},             // texts that are compared (fingerprint, ledger)
    {"lc_time", "C"},                        // to_char() reads its names of days, and may fail at that
    {"IntervalStyle", "postgres"},           //
    {"DateStyle", "ISO, YMD"},               //
    {"bytea_output", "hex"},                 //
    {"xmlbinary", "base64"},                 //
    {"quote_all_identifiers", "off"},        // deparsed texts, names in the ledger
    {"standard_conforming_strings", "on"},   //
    {"escape_string_warning", "off"},        //
    {"backslash_quote", "safe_encoding"},    //
    {"transform_null_equals", "off"},        // the same text must mean the same query
    {"array_nulls", "on"},                   //
    {"dp_rdr.without_hooks", "on"},          // of parallel workers
};

// Where private rows are read: nothing counts them.
Pin reading_pins[] = {
    {"track_counts", "off"},         // pg_stat_xact_* would count the matching rows (C07)
    {"enable_indexscan", "off"},     // scan counters of an index count matching rows (K6)
    {"enable_indexonlyscan", "off"}, //
    {"enable_bitmapscan", "off"},    //
    {"enable_tidscan", "off"},       //
    {"enable_seqscan", "on"},        //
    {"row_security", "on"},          //
};

// Where they are joined: a hash or a merge join reads each side once, whatever the estimates are. A nested loop is left for
// sides that nothing links but a constant of the query's.
Pin join_pins[] = {
    {"enable_hashjoin", "on"},
    {"enable_mergejoin", "on"},
    {"enable_nestloop", "off"},
    {"enable_memoize", "off"},
    {"enable_parallel_hash", "off"}, // a table in shared memory may not find room there
    {"enable_partitionwise_join", "off"},
    {"enable_partitionwise_aggregate", "off"},
    {"geqo", "off"},
};
Pin hashed_pin = {"enable_hashagg", "on"}, sorted_pin = {"enable_hashagg", "off"};

// For the extension's own tables.
Pin catalog_pins[] = {
    {"track_counts", "off"},     {"enable_indexscan", "on"}, {"enable_indexonlyscan", "on"},
    {"enable_bitmapscan", "on"}, {"enable_tidscan", "off"},  {"row_security", "on"},
};

// A process of ours starts with what the server, ALTER DATABASE and ALTER ROLE say. None of it may weaken a charge or
// follow rows. With `pins`, for its whole life.
const Pin process_pins[] = {
    {"synchronous_commit", "on"},                        // a charge that a crash can lose is none
    {"default_transaction_read_only", "off"},            //
    {"default_transaction_deferrable", "off"},           //
    {"default_transaction_isolation", "read committed"}, // decisions read what is committed once the lock is held
    {"session_replication_role", "origin"},              // triggers that copy the ledger elsewhere fire
    {"row_security", "off"},                             // an error rather than a ledger seen in part
    {"track_counts", "on"},                              // or autovacuum never sees the odometer
    {"enable_indexscan", "on"},                          // the ledger is read by its keys
    {"enable_indexonlyscan", "on"},                      //
    {"enable_bitmapscan", "on"},                         //
    {"enable_tidscan", "off"},                           //
    {"enable_seqscan", "off"},                           //
    {"lock_timeout", "2s"},                              // others wait for this process, on no lock of theirs
    {"deadlock_timeout", "100ms"},                       // of two that wait for each other this process gives way
    {"statement_timeout", "0"},                          //
    {"idle_in_transaction_session_timeout", "0"},        //
    {"idle_session_timeout", "0"},                       //
#if PG_VERSION_NUM >= 170000
    {"transaction_timeout", "0"}, //
#endif
    {"TimeZone", "UTC"},                   // texts, should one depend on it
    {"timezone_abbreviations", "Default"}, // no text of a row is a moment here and none there
};

bool forced = false;
} // namespace

config_generic *record_of(const char *name) {
#if PG_VERSION_NUM >= 160000
    return find_option(name, false, true, ERROR);
#else
    config_generic **records = get_guc_variables();
    for (int i = 0; i < GetNumConfigOptions(); i++)
        if (strcmp(records[i]->name, name) == 0)
            return records[i];
    return nullptr;
#endif
}

static double number_of(const config_generic *record) {
    switch (record->vartype) {
    case PGC_BOOL:
        return *reinterpret_cast<const config_bool *>(record)->variable ? 1 : 0;
    case PGC_INT:
        return *reinterpret_cast<const config_int *>(record)->variable;
    case PGC_REAL:
        return *reinterpret_cast<const config_real *>(record)->variable;
    case PGC_ENUM:
        return *reinterpret_cast<const config_enum *>(record)->variable;
    case PGC_STRING:
        break;
    }
    return 0;
}

static const char *text_of(const config_generic *record) {
    return record->vartype == PGC_STRING ? *reinterpret_cast<const config_string *>(record)->variable : nullptr;
}

static bool is_set(const Pin &pin) {
    if (!pin.known || number_of(pin.record) != pin.number)
        return false;
    const char *text = text_of(pin.record);
    return text == nullptr || pin.text == nullptr ? text == pin.text : strcmp(text, pin.text) == 0;
}

// Records the value that was set, in the server's own spelling.
static void remember(Pin &pin) {
    if (pin.record == nullptr)
        pin.record = record_of(pin.name);
    if (pin.record == nullptr)
        return;
    pin.number = number_of(pin.record);
    const char *text = text_of(pin.record);
    pin.text = text == nullptr ? nullptr : MemoryContextStrdup(TopMemoryContext, text);
    pin.known = true;
}

// PGC_SUSET: the caller may not set some of these; the pin is ours, not his.
static void set_pin(Pin &pin) {
    if (is_set(pin))
        return;
    set_config_option(pin.name, pin.value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
    if (!pin.known)
        remember(pin);
}

void pin_joins(bool hashed) {
    for (Pin &pin : join_pins)
        set_pin(pin);
    set_pin(hashed ? hashed_pin : sorted_pin);
}

void for_each_join_pin(bool hashed, void (*take)(const char *name, const char *value)) {
    for (const Pin &pin : join_pins)
        take(pin.name, pin.value);
    take(hashed_pin.name, hashed ? hashed_pin.value : sorted_pin.value);
}

void prefer_indexes(bool prefer) {
    if (enable_seqscan != !prefer)
        set_config_option("enable_seqscan", prefer ? "off" : "on", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                          false);
}

// PGC_S_OVERRIDE: above ALTER DATABASE, ALTER ROLE and a reload, and what ResetAllOptions() returns to.
static void force(const Pin &pin) {
    set_config_option(pin.name, pin.value, PGC_SUSET, PGC_S_OVERRIDE, GUC_ACTION_SET, true, 0, false);
}

void force_settings() {
    for (const Pin &pin : pins)
        force(pin);
    for (const Pin &pin : process_pins)
        force(pin);
    forced = true;
}

// A setting changes within a transaction alone: its old value is kept in the transaction's memory, and without one that is
// a null pointer.
static int new_nest_level() {
    Assert(IsTransactionState());
    return NewGUCNestLevel();
}

SettingsScope SettingsScope::enter() {
    SettingsScope scope{new_nest_level()};
    if (!forced)
        for (Pin &pin : pins)
            set_pin(pin);
    for (Pin &pin : reading_pins)
        set_pin(pin);
    return scope;
}

SettingsScope SettingsScope::enter_for_catalog() {
    SettingsScope scope{new_nest_level()};
    if (!forced)
        for (Pin &pin : pins)
            set_pin(pin);
    if (!forced || !enable_indexscan) // else these are as they were forced
        for (Pin &pin : catalog_pins)
            set_pin(pin);
    return scope;
}

TimeZoneScope TimeZoneScope::enter(const char *time_zone) {
    TimeZoneScope scope{new_nest_level()};
    set_config_option("TimeZone", time_zone, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
    return scope;
}

void TimeZoneScope::leave() const {
    AtEOXact_GUC(false, nest_level);
}

UncountedScope UncountedScope::enter() {
    if (!pgstat_track_counts)
        return UncountedScope{0};
    UncountedScope scope{new_nest_level()};
    static Pin pin = {"track_counts", "off"};
    set_pin(pin);
    return scope;
}

void UncountedScope::leave() const {
    if (nest_level > 0)
        AtEOXact_GUC(false, nest_level);
}

void SettingsScope::leave() const {
    AtEOXact_GUC(false, nest_level);
}

PathScope PathScope::enter() {
#if PG_VERSION_NUM < 170000
    OverrideSearchPath path = {};
    path.schemas = list_make1_oid(PG_CATALOG_NAMESPACE);
    PushOverrideSearchPath(&path);
#endif
    return PathScope{};
}

void PathScope::leave() const {
#if PG_VERSION_NUM < 170000
    PopOverrideSearchPath();
#endif
}

UsageScope UsageScope::enter() {
    return UsageScope{pgBufferUsage, pgWalUsage};
}

void UsageScope::leave() const {
    pgBufferUsage = buffers;
    pgWalUsage = wal;
}

void set_locally(const char *name, const char *value) {
    Assert(IsTransactionState());
    set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

Oid extension_schema(bool missing_ok) {
    return get_namespace_oid("dp_rdr", missing_ok);
}

Oid extension_owner() {
    Oid schema = extension_schema();
    HeapTuple tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for schema %u", schema);
    Oid owner = ((Form_pg_namespace)GETSTRUCT(tuple))->nspowner;
    ReleaseSysCache(tuple);
    return owner;
}

Oid internal_function(const char *name, int nargs, const Oid *argtypes, bool missing_ok) {
    List *qualified = list_make2(makeString(pstrdup("dp_rdr")), makeString(pstrdup(name)));
    return LookupFuncName(qualified, nargs, argtypes, missing_ok);
}

} // namespace dp::border
