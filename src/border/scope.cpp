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
struct Pin {
    const char *name;
    const char *value;
};

#if PG_VERSION_NUM >= 160000
const char *const forced_parallel = "debug_parallel_query";
#else
const char *const forced_parallel = "force_parallel_mode";
#endif

// Each line closes a door.
const Pin pins[] = {
    {"search_path", "pg_catalog, pg_temp"},  // pg_temp is searched first for types unless named last (A24)
    {"track_counts", "off"},                 // pg_stat_xact_* would count the matching rows (C07)
    {"track_functions", "none"},             // and calls of helper functions (C17)
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
    {"enable_indexscan", "off"},             // scan counters of an index count matching rows (K6)
    {"enable_indexonlyscan", "off"},         //
    {"enable_bitmapscan", "off"},            //
    {"enable_tidscan", "off"},               //
    {"enable_seqscan", "on"},                //
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
    {"row_security", "on"},                  //
    {"extra_float_digits", "1"},             // texts that are compared (fingerprint, ledger)
    {"IntervalStyle", "postgres"},           //
    {"DateStyle", "ISO, YMD"},               //
    {"bytea_output", "hex"},                 //
    {"xmlbinary", "base64"},                 //
    {"quote_all_identifiers", "off"},        // deparsed texts
    {"standard_conforming_strings", "on"},   //
    {"escape_string_warning", "off"},        //
    {"backslash_quote", "safe_encoding"},    //
    {"transform_null_equals", "off"},        // the same text must mean the same query
    {"array_nulls", "on"},                   //
};
} // namespace

// PGC_SUSET: the caller may not set some of these; the pin is ours, not his.
static void set_pin(const char *name, const char *value) {
    set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

SettingsScope SettingsScope::enter() {
    SettingsScope scope{NewGUCNestLevel()};
    for (const Pin &pin : pins)
        set_pin(pin.name, pin.value);
    return scope;
}

SettingsScope SettingsScope::enter_for_catalog() {
    SettingsScope scope = enter();
    static const char *const by_index[] = {"enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"};
    for (const char *name : by_index)
        set_pin(name, "on");
    return scope;
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
