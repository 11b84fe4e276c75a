#include "rows/engine.hpp"

#include "border/hooks.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/access.hpp"
#include "catalog/foreign_part.hpp"

namespace dp::rows {

bool is_on_other_nodes(Oid table) {
    return catalog::is_on_other_nodes(table);
}

AttrNumber distribution_column(Oid table) {
    if (!is_on_other_nodes(table))
        return InvalidAttrNumber;
    catalog::Visit visit = catalog::Visit::read();
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(table)};
    bool isnull;
    uint64 found =
        visit.run("SELECT a.attnum FROM pg_dist_partition p JOIN pg_attribute a ON a.attrelid = p.logicalrelid "
                  "AND a.attname = column_to_column_name(p.logicalrelid, p.partkey) "
                  "WHERE p.logicalrelid = $1 AND p.partkey IS NOT NULL",
                  1, types, values);
    AttrNumber column = found > 0 ? DatumGetInt16(visit.spi.value(0, 1, &isnull)) : InvalidAttrNumber;
    visit.leave();
    return column;
}

// ---- plans ---------------------------------------------------------------------------------------------------------

static bool finds_distributed(Node *node, void *) {
    if (node == nullptr)
        return false;
    if (IsA(node, RangeTblEntry)) {
        auto *entry = castNode(RangeTblEntry, node);
        return entry->rtekind == RTE_RELATION && is_on_other_nodes(entry->relid);
    }
    return IsA(node, Query)
               ? border::walk_query(castNode(Query, node), finds_distributed, nullptr, QTW_EXAMINE_RTES_BEFORE)
               : border::walk_expression(node, finds_distributed, nullptr);
}

PlannedStmt *plan(Query *query, int options) {
    return finds_distributed(reinterpret_cast<Node *>(query), nullptr) ? border::plan_hooked(query, options)
                                                                       : border::plan_unhooked(query, options);
}

// ---- while rows are read -------------------------------------------------------------------------------------------

// What a table's owner may set. Index scans would be counted there by the rows that match.
static const char *const node_settings[] = {
    "SET LOCAL enable_indexscan TO off", "SET LOCAL enable_indexonlyscan TO off", "SET LOCAL enable_bitmapscan TO off"};

// Citus sends them along where a transaction begins on a node.
void pin_nodes(Oid table) {
    if (!is_on_other_nodes(table))
        return;
    (void)set_config_option("citus.propagate_set_commands", "local", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                            false);
    for (const char *setting : node_settings)
        border::set_hooked(setting);
}

// ---- before the charge ---------------------------------------------------------------------------------------------

namespace {
struct Node {
    Datum name, port;
};
} // namespace

// Public facts. A shard that several nodes have is read on one that answers.
static const char *const nodes_sql = R"sql(
SELECT DISTINCT n.nodename, n.nodeport FROM pg_dist_shard s JOIN pg_dist_placement p ON p.shardid = s.shardid
JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
WHERE s.logicalrelid = $1 AND p.groupid <> (SELECT groupid FROM pg_dist_local_group)
  AND NOT EXISTS (SELECT FROM pg_dist_placement o WHERE o.shardid = p.shardid AND o.groupid <> p.groupid)
ORDER BY 1, 2)sql";

static Node *read_nodes(Oid table, uint64 *count) {
    catalog::Visit visit = catalog::Visit::read();
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(table)};
    *count = visit.run(nodes_sql, 1, types, values);
    auto *nodes = static_cast<Node *>(MemoryContextAlloc(visit.spi.caller, sizeof(Node) * (*count + 1)));
    for (uint64 i = 0; i < *count; i++) {
        bool isnull;
        nodes[i].port = visit.spi.value(i, 2, &isnull);
        char *name = visit.spi.text(i, 1);
        MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
        nodes[i].name = CStringGetTextDatum(name);
        MemoryContextSwitchTo(old);
    }
    visit.leave();
    return nodes;
}

// By Citus's own function, over the connection that it would read by. The first call after a restart of the node finds an
// old connection, and the second a new one.
static bool answers(Oid function, const Node &node) {
    return DatumGetBool(OidFunctionCall2(function, node.name, node.port)) ||
           DatumGetBool(OidFunctionCall2(function, node.name, node.port));
}

static bool all_answer(Oid table, Oid owner) {
    Oid types[2] = {TEXTOID, INT4OID};
    List *name = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup("citus_check_connection_to_node")));
    Oid function = LookupFuncName(name, 2, types, true);
    if (!OidIsValid(function))
        return true;
    uint64 count;
    Node *nodes = read_nodes(table, &count);
    border::SettingsScope settings =
        border::SettingsScope::enter(); // what Citus says of a node is for the server's log
    border::RoleScope role = border::RoleScope::enter(owner);
    (void)set_config_option("citus.node_connection_timeout", "2s", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                            false);
    bool all = true;
    for (uint64 i = 0; all && i < count; i++)
        all = answers(function, nodes[i]);
    role.leave();
    settings.leave();
    return all;
}

static Oid last_table = InvalidOid;
static TimestampTz last_time = 0;

void forget_nodes() {
    last_table = InvalidOid;
}

void check_nodes(Oid table, Oid owner) {
    constexpr int one_look_ms = 1000;
    if (!is_on_other_nodes(table))
        return;
    TimestampTz now = GetCurrentTimestamp();
    if (table == last_table && !TimestampDifferenceExceeds(last_time, now, one_look_ms))
        return;
    if (!all_answer(table, owner))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("a node that keeps rows of %s does not answer", get_rel_name(table)),
                        errdetail("Nothing was charged."),
                        errhint("Ask again later. The administrator finds out more in the log of this server and by "
                                "citus_check_cluster_node_health().")));
    last_table = table;
    last_time = now;
}

} // namespace dp::rows
