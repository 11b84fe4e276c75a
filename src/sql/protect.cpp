// dp_protect and dp_unprotect: the restricted views of a table, and the totals that it goes on with.
#include "border/listed.hpp"
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "catalog/ledger.hpp"
#include "query/grammar.hpp"
#include "sql/call_arguments.hpp"
#include "sql/carry_over.hpp"
#include "sql/role_type.hpp"
extern "C" {
#include <commands/comment.h>
}

using dp::catalog::Visit;

namespace dp::sql {

// ---- dp_protect ----------------------------------------------------------------------------------------------------

// "schema.view" as the caller means it: his search_path decides where an unqualified view goes.
static const char *resolve_view_name(const char *name, const char **schema, const char **view) {
    RangeVar *range = makeRangeVarFromNameList(border::qualified_name_list(name));
    Oid in = RangeVarGetCreationNamespace(range);
    *schema = get_namespace_name(in);
    *view = range->relname;
    return quote_qualified_identifier(*schema, *view);
}

// $1: the table; $2: names of columns, NULL for all. Names of types and collations are those that any search_path understands.
static constexpr char columns_sql[] = R"sql(
SELECT coalesce(a.attname, x.name), a.atttypid, quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod) || CASE
    WHEN a.attcollation <> y.typcollation THEN format(' COLLATE %s', a.attcollation::regcollation) ELSE '' END
FROM unnest(coalesce($2, ARRAY(SELECT b.attname FROM pg_attribute b WHERE b.attrelid = $1 AND b.attnum > 0 AND NOT b.attisdropped
                               ORDER BY b.attnum))) WITH ORDINALITY x (name, place)
LEFT JOIN pg_attribute a ON a.attrelid = $1 AND a.attname = x.name AND a.attnum > 0 LEFT JOIN pg_type y ON y.oid = a.atttypid
ORDER BY x.place)sql";

const char *facade_statement(const char *head, Oid relation, ArrayType *columns) {
    if (columns != nullptr && ArrayGetNItems(ARR_NDIM(columns), ARR_DIMS(columns)) == 0)
        refuse_value("the list of columns is empty", "Leave columns at NULL for all columns.");
    LockRelationOid(relation, AccessShareLock);
    const Visit visit = Visit::read();
    const uint64 n = run(visit, columns_sql, relation, Typed::array(TEXTARRAYOID, columns));
    const char *list = border::listed(0, static_cast<int>(n), [&](int i) {
        const char *name = visit.spi.text(i, 1);
        if (name == nullptr)
            refuse_with(ERRCODE_NULL_VALUE_NOT_ALLOWED, "columns must not contain NULL");
        (void)checked_column(relation, name);
        catalog::check_column_type(name, catalog::value_at<Oid>(i, 2));
        return visit.spi.text(i, 3);
    });
    const char *sql = MemoryContextStrdup(
        visit.spi.caller, psprintf("%s AS SELECT * FROM dp_rdr.deny(%s::pg_catalog.regclass) AS (%s)", head,
                                   quote_literal_cstr(catalog::qualified_name(relation)), list));
    visit.leave();
    return sql;
}

// Deletes rows whose table or view is gone: their oid may be used again some day. Rows of a table that was made anew under its name
// wait for dp_refresh(), under a number of nothing, unless it is the one that is protected now.
static void forget_dangling(const Visit &visit, Oid relation) {
    forget_dropped_roles(visit);
    run(visit,
        "DELETE FROM dp_rdr.protected_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation) "
        "AND NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.oid <> $1 AND format('%I.%I', n.nspname, c.relname) = t.name)",
        relation);
    visit.run("DELETE FROM dp_rdr.restricted_view v "
              "WHERE (NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.view) "
              "AND NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
              "WHERE format('%I.%I', n.nspname, c.relname) = v.name)) "
              "OR NOT EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.relation = v.relation)");
    const char *const about[][3] = {{"policy", "view", "restricted_view"},
                                    {"suspension", "view", "restricted_view"},
                                    {"column_bounds", "relation", "protected_table"},
                                    {"column_groups", "relation", "protected_table"},
                                    {"unit_limit", "relation", "protected_table"},
                                    {"reviewer", "relation", "protected_table"}};
    for (const auto &[table, column, of] : about)
        visit.run(psprintf("DELETE FROM dp_rdr.%1$s x WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = x.%2$s) "
                           "AND NOT EXISTS (SELECT FROM dp_rdr.%3$s o WHERE o.%2$s = x.%2$s)",
                           table, column, of));
    // One with units may have told what other tables with the same people must not tell again; and what was charged to a row must
    // not be taken for a charge whose domain is lost.
    visit.run("DELETE FROM dp_rdr.privacy_domain d WHERE d.unit_types IS NULL "
              "AND NOT EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.domain = d.id) "
              "AND NOT EXISTS (SELECT FROM dp_rdr.ledger_row l WHERE l.table_id = d.id)");
    visit.run("DELETE FROM dp_rdr.public_table p WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = p.relation) "
              "OR NOT EXISTS (SELECT FROM dp_rdr.privacy_domain d WHERE d.id = p.domain)");
    forget_dropped_relations(visit);
}

bool has_odometer(const Visit &visit, const char *id) {
    return run(visit, "SELECT 1 FROM dp_rdr.odometer o WHERE o.id = $1::uuid", id) == 1;
}

void remember_name(const Visit &visit, const char *id, Oid relation) {
    run(visit,
        "UPDATE dp_rdr.privacy_domain d SET unit_names = d.unit_names || $2 "
        "WHERE d.id = $1::uuid AND ($2 = ANY (d.unit_names)) IS NOT TRUE",
        id, catalog::qualified_name(relation));
}

// A domain that is there stays as it is. Totals of an earlier table go on, but not an epoch that its settings had begun.
void register_domain(const Visit &visit, const char *id, Oid relation, const Unit *unit) {
    const bool founds = unit != nullptr && unit->parent == nullptr;
    // A table of rows that is gone may have left one.
    run(visit,
        "DELETE FROM dp_rdr.privacy_domain d WHERE d.id = $1::uuid AND d.unit_types IS NULL "
        "AND NOT EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.domain = d.id)",
        id);
    run(visit,
        "INSERT INTO dp_rdr.privacy_domain (id, unit_table, unit_types, epoch) "
        "SELECT $1::uuid, CASE WHEN $3 IS NOT NULL THEN $2::regclass END, $3, "
        "coalesce((SELECT o.epoch + 1 FROM dp_rdr.odometer o WHERE o.id = $1::uuid), 0) ON CONFLICT DO NOTHING",
        id, relation, types_of_unit(founds ? unit : nullptr));
    if (run(visit, "SELECT 1 FROM dp_rdr.privacy_domain d WHERE d.id = $1::uuid AND d.joined_into IS NULL FOR UPDATE",
            id) != 1)
        refuse_moving(relation); // into another domain, since its own was looked up
    if (!founds)
        return;
    if (!OidIsValid(unit->parent_relation))
        remember_name(visit, id, relation);
    // The table whose keys are the people is made again, or is the first that is: one with limits may have several rows of one.
    run(visit,
        "UPDATE dp_rdr.privacy_domain d SET unit_table = $2::regclass WHERE d.id = $1::uuid AND NOT EXISTS "
        "(SELECT FROM dp_rdr.protected_table t WHERE t.domain = d.id AND t.relation = d.unit_table "
        "AND (t.max_rows IS NULL OR NOT $3))",
        id, relation, unit->keyed);
}

void register_unit(const Visit &visit, const char *id, Oid relation, const Unit *unit, const Limits &limits) {
    const bool follows = unit != nullptr && OidIsValid(unit->parent_relation), has_key = follows && !unit->direct;
    const Datum columns = unit == nullptr ? Datum{0} : unit_array(relation, unit->ncolumns, unit->columns);
    const Datum key = has_key ? unit_array(unit->parent_relation, unit->ncolumns, unit->parent_key) : Datum{0};
    run(visit, R"sql(
INSERT INTO dp_rdr.protected_table AS t (relation, domain, unit, parent, parent_key, max_rows, max_groups, max_rows_per_group)
VALUES ($1::regclass, $2::uuid, $3, $4::regclass, $5, nullif($6, 0), nullif($7, 0), nullif($8, 0))
ON CONFLICT (relation) DO UPDATE SET (domain, unit, parent, parent_key, max_rows, max_groups, max_rows_per_group) =
  ($2::uuid, $3, $4::regclass, $5, nullif($6, 0), nullif($7, 0), nullif($8, 0)))sql",
        relation, id, Typed{TEXTARRAYOID, columns}, if_given(follows, follows ? unit->parent_relation : InvalidOid),
        Typed{TEXTARRAYOID, key}, limits.max_rows, limits.max_groups, limits.max_rows_per_group);
}

// Totals that were lost are not to be spent again: the bound closes at what is known to be consumed on the public account.
// Public charges are held against that account alone; a total that had the conditional charges in it would leave them room. An
// epoch under zcdp ends with it: its claim comes on top, when the next request is denied.
static void freeze(Oid relation, bool joins) {
    Visit visit = Visit::write();
    run(visit,
        "UPDATE dp_rdr.privacy_domain d SET bound = 'filter', "
        "epsilon_total = o.public_epsilon, delta_total = o.public_delta, delta_conversion = NULL, "
        "cap = 'tight', epsilon_pure = 0, rho_target = NULL, rho_total = NULL, period = NULL, "
        "period_since = NULL, epsilon_lifetime = NULL, delta_lifetime = NULL, "
        "epoch = greatest(d.epoch, o.epoch) + 1 FROM dp_rdr.odometer o, dp_rdr.protected_table t "
        "WHERE o.id = d.id AND t.domain = d.id AND t.relation::oid = $1",
        relation);
    visit.leave();
    ereport(WARNING, (errmsg("%s was protected before, and its totals are lost: no query will be answered",
                             catalog::qualified_name(relation)),
                      joins ? errdetail("The totals that it shares with other tables are closed.") : 0,
                      errhint("When you know what has been spent, lift the bound with dp_set_odometer(%s, "
                              "epsilon_total => ..., delta_total => ...).",
                              quote_literal_cstr(catalog::qualified_name(relation)))));
}

// Refuses what is passed for a protected table unless it is what was declared.
static void check_declared(Oid relation, const Unit *unit, const Limits &limits) {
    const catalog::UnitPath *path = declared_unit(relation);
    const char *name = catalog::qualified_name(relation);
    if (unit != nullptr && (path == nullptr || !is_same_way(*path, *unit)))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        path == nullptr ? errmsg("%s is protected with a row as its unit", name)
                                        : errmsg("%s is protected with the unit %s", name, unit_text(path)),
                        errhint("A further view has the same: leave unit at NULL. dp_set_unit(%s, ...) changes it, as "
                                "long as nothing was asked.",
                                quote_literal_cstr(name))));
    const Limits declared =
        path == nullptr ? Limits{} : Limits{path->max_rows, path->max_groups, path->max_rows_per_group};
    if ((limits.max_rows > 0 && limits.max_rows != declared.max_rows) ||
        (limits.max_groups > 0 && limits.max_groups != declared.max_groups) ||
        (limits.max_rows_per_group > 0 && limits.max_rows_per_group != declared.max_rows_per_group))
        refuse_state(psprintf("%s is protected with other limits", name),
                     psprintf("All its views have the same: leave max_rows, max_groups and max_rows_per_group at NULL; "
                              "dp_set_contribution(%s, ...) changes them.",
                              quote_literal_cstr(name)));
}

// Returns the unit of a protected table whose domain was lost in a restore of a part.
static const Unit *founding_unit(Oid relation) {
    Unit *path = declared_unit(relation);
    if (path == nullptr || !path->direct)
        return nullptr;
    path->types = types_of_columns(relation, path->ncolumns, path->columns);
    return path;
}

static Identity register_table(Oid relation, const Unit *unit, const Limits &limits) {
    Visit visit = Visit::write();
    forget_dangling(visit, relation);
    Identity identity = find_identity(visit, relation, unit);
    register_domain(visit, identity.id, relation, identity.known ? founding_unit(relation) : unit);
    if (!identity.known)
        register_unit(visit, identity.id, relation, unit, limits);
    visit.leave();
    return identity;
}

// Names no view: it stays true when this one is renamed.
constexpr char comment_of_facade[] =
    "Rows are private. Ask for numbers, and get them with noise: SELECT count(*), sum(x), avg(x) ... WHERE ... "
    "GROUP BY ... dp_about() of this view says what may be asked, dp_explain() of a query what it costs.";

static Oid protect(Oid relation, const char *name, ArrayType *columns, const char *filter, const char *text,
                   const Unit *unit, const Limits &limits) {
    const char *schema, *view;
    const char *view_name = resolve_view_name(name, &schema, &view);
    Identity identity = register_table(relation, unit, limits);
    check_unmoved(relation, text, unit);

    run_as(catalog::relation_owner(relation),
           facade_statement(psprintf("CREATE VIEW %s", view_name), relation, columns));
    Oid facade = get_relname_relid(view, get_namespace_oid(schema, false));
    CreateComments(facade, RelationRelationId, 0, comment_of_facade);
    Visit visit = Visit::write();
    run(visit,
        "INSERT INTO dp_rdr.restricted_view (view, relation, filter, columns) "
        "VALUES ($1::regclass, $2::regclass, $3, $4)",
        facade, relation, filter, Typed::array(TEXTARRAYOID, columns));
    visit.leave();
    remember_names(facade, relation);

    if (!identity.odometer)
        catalog::create_odometer(identity.id, catalog::qualified_name(relation), catalog::relation_owner(relation));
    if (identity.lost || (identity.history && !identity.odometer))
        freeze(relation, unit != nullptr && unit->parent != nullptr);
    else if (identity.history && !identity.known)
        ereport(WARNING, (errmsg("%s goes on with the ledger and the totals of an earlier table of this name",
                                 catalog::qualified_name(relation))));
    warn_of_many_rows(relation);
    if (!identity.known)
        tell_accuracy(relation);
    return facade;
}

DP_CALL(dp_protect) {
    require_first(fcinfo, 2);
    Oid relation = PG_GETARG_OID(0);
    check_owner(relation);
    LockRelationOid(relation, AccessShareLock);
    catalog::check_protectable(relation);
    catalog::check_writable();
    catalog::check_can_charge();
    const char *filter = text_argument(fcinfo, 4);
    if (filter != nullptr)
        filter = query::canonical_condition(filter, relation, "filter");
    const char *text = text_argument(fcinfo, 2);
    const Unit *unit = text == nullptr ? nullptr : resolve_unit(relation, text);
    const Limits limits = limit_arguments(fcinfo, 5);
    if (catalog::is_protected_table(relation))
        check_declared(relation, unit, limits);
    else
        check_limits(relation, unit, limits);
    PG_RETURN_OID(protect(relation, text_argument(fcinfo, 1), array_argument(fcinfo, 3), filter, text, unit, limits));
}

// Behind the end of a view, whose answers nobody is given again: those of roles that have no other policy with a replay on the domain.
// (dp_revoke() leaves them, since what is granted anew would be drawn and charged anew; they expire.)
static void drop_stored(const Visit &visit, Oid relation) {
    run(visit,
        "DELETE FROM dp_rdr.stored_answer a USING dp_rdr.protected_table t "
        "WHERE t.domain = a.table_id AND t.relation::oid = $1 AND NOT EXISTS "
        "(SELECT FROM dp_rdr.policy p JOIN dp_rdr.restricted_view v ON v.view::oid = p.view::oid "
        "JOIN dp_rdr.protected_table o ON o.relation = v.relation "
        "WHERE o.domain = t.domain AND p.grantee::oid = a.grantee AND p.replay IS NOT NULL)",
        relation);
}

DP_CALL(dp_unprotect) {
    require_first(fcinfo, 1);
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    Visit visit = Visit::write();
    lock_declarations(visit, settings->relation);
    for (const char *table : {"policy", "suspension", "restricted_view"})
        run(visit, psprintf("DELETE FROM dp_rdr.%s x WHERE x.view::oid = $1", table), settings->view);
    drop_stored(visit, settings->relation);
    visit.leave();
    run_as(catalog::relation_owner(settings->view), psprintf("DROP VIEW %s", settings->view_name));
    PG_RETURN_VOID();
}

} // namespace dp::sql
