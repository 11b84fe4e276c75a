#include "rows/engine.hpp"

#include "border/each.hpp"
#include "border/hooks.hpp"
#include "border/peers.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/access.hpp"
#include "catalog/foreign_part.hpp"
#include "rows/foreign_partitions.hpp"
#include "rows/nodes.hpp"
#include "rows/question.hpp"

namespace dp::rows {

bool is_elsewhere(const Question *question) {
    return question->remote || is_on_other_nodes(question->settings->relation);
}

bool adds_up_rows_elsewhere(const Question *question) {
    return is_elsewhere(question) && (question->remote || !is_clipped(question));
}

bool is_on_other_nodes(Oid table) {
    return catalog::is_on_other_nodes(table);
}

AttrNumber distribution_column(Oid table) {
    return is_on_other_nodes(table) ? catalog::distribution_of(table).column : InvalidAttrNumber;
}

// ---- columns of joins ------------------------------------------------------------------------------------------------

static int index_of(const Node *item) {
    return IsA(item, JoinExpr) ? reinterpret_cast<const JoinExpr *>(item)->rtindex
                               : reinterpret_cast<const RangeTblRef *>(item)->rtindex;
}

// One side's: their numbers there go into `numbers`.
static void add_columns(const Query *query, int index, RangeTblEntry *join, List **numbers) {
    List *names = NIL, *columns = NIL;
    RangeTblEntry *side = rt_fetch(index, query->rtable);
    border::expand_entry(side, index, &names, &columns);
    join->eref->colnames = list_concat(join->eref->colnames, names);
    join->joinaliasvars = list_concat(join->joinaliasvars, columns);
    for (int i = 0; i < list_length(columns); i++)
        *numbers = lappend_int(*numbers, side->rtekind == RTE_JOIN
                                             ? i + 1
                                             : static_cast<const Var *>(list_nth(columns, i))->varattno);
}

// Moves a join behind its sides, as the server's parser puts it; its number also stands in columns that it may make NULL.
static int put_behind(Query *query, int index) {
    query->rtable = lappend(query->rtable, rt_fetch(index, query->rtable));
    lfirst(list_nth_cell(query->rtable, index - 1)) = no_entry("moved");
    ChangeVarNodes(as_node(query), index, list_length(query->rtable), 0);
    return list_length(query->rtable);
}

static void name_columns(Query *query, Node *item) {
    if (!IsA(item, JoinExpr))
        return;
    auto *join = castNode(JoinExpr, item);
    name_columns(query, join->larg);
    name_columns(query, join->rarg);
    const int left = index_of(join->larg), right = index_of(join->rarg);
    const int index = join->rtindex < Max(left, right) ? put_behind(query, join->rtindex) : join->rtindex;
    RangeTblEntry *entry = rt_fetch(index, query->rtable);
    entry->joinmergedcols = 0;
    entry->eref->colnames = entry->joinaliasvars = entry->joinleftcols = entry->joinrightcols = NIL;
    add_columns(query, left, entry, &entry->joinleftcols);
    add_columns(query, right, entry, &entry->joinrightcols);
}

// Gives each join of a statement, and of those in its FROM, its columns. Where the server plans it none is needed; Citus prints it as SQL,
// and wants each join behind what it joins.
static void name_join_columns(Query *query) {
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        if (entry->rtekind == RTE_SUBQUERY)
            name_join_columns(entry->subquery);
    for (auto *item : border::each<Node>(query->jointree->fromlist))
        name_columns(query, item);
}

// ---- plans ---------------------------------------------------------------------------------------------------------

// Rows of a table that Citus knows are in shards, wherever these are: Citus alone plans a statement over them.
static bool finds_distributed(Node *node, void *) {
    if (node == nullptr)
        return false;
    if (IsA(node, RangeTblEntry)) {
        auto *entry = castNode(RangeTblEntry, node);
        return entry->rtekind == RTE_RELATION && catalog::is_known_to_citus(entry->relid);
    }
    return IsA(node, Query)
               ? border::walk_query(castNode(Query, node), finds_distributed, nullptr, QTW_EXAMINE_RTES_BEFORE)
               : border::walk_expression(node, finds_distributed, nullptr);
}

PlannedStmt *plan(Query *query, int options) {
    if (!finds_distributed(as_node(query), nullptr))
        return border::plan_unhooked(query, options);
    name_join_columns(query);
    return border::plan_hooked(query, options);
}

// ---- while rows are read -------------------------------------------------------------------------------------------

// Lists settings of a node that a table's owner may change. Index scans would be counted there by the rows that match.
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

void pin_joins_of_nodes(Oid table, bool hashed) {
    if (!is_on_other_nodes(table))
        return;
    border::for_each_join_pin(hashed, [](const char *name, const char *value) {
        border::set_hooked(psprintf("SET LOCAL %s TO %s", name, value));
    });
}

// ---- before the charge ---------------------------------------------------------------------------------------------

// Public facts. A shard that several nodes have is read on one that answers.
static const char *const nodes_sql = R"sql(
SELECT DISTINCT n.nodename, n.nodeport, n.nodeid FROM pg_dist_shard s JOIN pg_dist_placement p ON p.shardid = s.shardid
JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
WHERE s.logicalrelid = $1 AND p.groupid <> (SELECT groupid FROM pg_dist_local_group)
  AND NOT EXISTS (SELECT FROM pg_dist_placement o WHERE o.shardid = p.shardid AND o.groupid <> p.groupid)
ORDER BY 1, 2)sql";

namespace {
struct Node {
    const char *host, *port;
    int32 id;
};
} // namespace

static Node *read_nodes(Oid table, int *count) {
    catalog::Visit visit = catalog::Visit::read();
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(table)};
    *count = static_cast<int>(visit.run(nodes_sql, 1, types, values));
    auto *nodes = static_cast<Node *>(MemoryContextAlloc(visit.spi.caller, sizeof(Node) * (*count + 1)));
    for (int i = 0; i < *count; i++) {
        bool isnull;
        nodes[i] = {visit.spi.text(i, 1), visit.spi.text(i, 2), DatumGetInt32(visit.spi.value(i, 3, &isnull))};
    }
    visit.leave();
    return nodes;
}

// Returns the last column of a node's row in a table of Citus that superusers alone write and read; null without such a row.
// A row of the node itself goes before that of every node (0). role: the row must name it; null: the table has no roles.
static const char *written_for(const char *name, int32 node, const char *role) {
    for (const int32 of : {node, 0}) {
        ScanKeyData keys[2];
        ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(of));
        ScanKeyInit(&keys[1], 2, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum(role));
        const int nkeys = role == nullptr ? 1 : 2;
        Datum written;
        if (catalog::read_citus(name, keys, nkeys, static_cast<AttrNumber>(nkeys + 1), &written))
            return TextDatumGetCString(written);
    }
    return nullptr;
}

// Makes the options of a connection as Citus does: the server's configuration, then the node, then the rows written for it.
static border::Peer peer_of(const Node &node, Oid owner) {
    const char *role = GetUserNameFromId(owner, false);
    border::Peer peer = border::make_peer(psprintf("%s:%s", node.host, node.port));
    border::add_options(&peer, GetConfigOption("citus.node_conninfo", true, false));
    border::add_option(&peer, border::has_option(peer, "host") ? "hostaddr" : "host", node.host);
    border::add_option(&peer, "port", node.port);
    border::add_option(&peer, "dbname", get_database_name(MyDatabaseId));
    border::add_option(&peer, "user", role);
    border::add_option(&peer, "client_encoding", GetDatabaseEncodingName());
    border::add_option(&peer, "application_name", "dp_rdr");
    border::add_options(&peer, written_for("pg_dist_poolinfo", node.id, nullptr));
    border::add_options(&peer, written_for("pg_dist_authinfo", node.id, role));
    return peer;
}

[[noreturn]] static void refuse_node(Oid table, const border::Peer &peer) {
    const char *name = get_rel_name(table);
    ereport(LOG, (errmsg("node %s, which keeps rows of %s, does not answer: %s", peer.name, name, peer.words)));
    if (peer.sqlstate[0] == 0)
        refuse_state(psprintf("a node that keeps rows of %s does not answer", name),
                     "Ask again later. The administrator finds out more in the log of this server and by "
                     "citus_check_cluster_node_health().",
                     "Nothing was charged.");
    refuse_state(
        psprintf("a node that keeps rows of %s has another dp_rdr than this server, or none", name),
        psprintf("The administrator installs the same version of dp_rdr on node %s, creates or updates the extension "
                 "there, and calls dp_refresh() for each restricted view.",
                 peer.name),
        psprintf("It answered with SQLSTATE %s. Nothing was charged.", peer.sqlstate));
}

static Oid last_table = InvalidOid;
static TimestampTz last_time = 0;

void forget_nodes() {
    last_table = InvalidOid;
}

// Citus's own connections are not asked: it cancels what hangs there at the end of the transaction, and waits until the node
// has heard of it.
void check_nodes(Oid table, Oid owner) {
    constexpr int one_look_ms = 1000, patience_ms = 2000;
    if (!is_on_other_nodes(table))
        return;
    TimestampTz now = GetCurrentTimestamp();
    if (table == last_table && !TimestampDifferenceExceeds(last_time, now, one_look_ms))
        return;
    int n;
    Node *nodes = read_nodes(table, &n);
    auto *peers = zeroed<border::Peer>(n + 1);
    for (int i = 0; i < n; i++)
        peers[i] = peer_of(nodes[i], owner);
    border::ask_peers(peers, n, "SELECT dp_rdr.is_other_node($1)", node_facts(), patience_ms);
    for (int i = 0; i < n; i++)
        if (!peers[i].answers)
            refuse_node(table, peers[i]);
    last_table = table;
    last_time = now;
}

} // namespace dp::rows
