// dp_refresh: a restricted view made anew after its table has changed, with all that hangs on it (doc/reference.md).
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "query/grammar.hpp"
#include "sql/call_arguments.hpp"
#include "sql/carry_over.hpp"
extern "C" {
#include <catalog/indexing.h>
#include <catalog/pg_attribute.h>
#include <commands/comment.h>
}

using dp::catalog::Visit;

namespace dp::sql {

// ---- which columns -------------------------------------------------------------------------------------------------

namespace {
struct Columns {
    ArrayType *names; // null: all, in the order of the table
    bool in_place;    // the view's own columns are as they were: others go behind them
    bool same;        // there is nothing to do
    const char *gone; // that it shows no longer; null: none
};
} // namespace

// $1: the view, $2: the table, $3: the listed columns, which are shown as far as they exist; NULL: it gets all that there are now.
static constexpr char columns_sql[] = R"sql(
WITH mine AS (SELECT a.* FROM pg_attribute a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped),
theirs AS (SELECT a.* FROM pg_attribute a WHERE a.attrelid = $2 AND a.attnum > 0 AND NOT a.attisdropped),
wanted AS (
  SELECT array_agg(w.name ORDER BY w.later, w.place) AS names FROM (
    SELECT x.name, false, x.place FROM unnest($3::text[]) WITH ORDINALITY x (name, place)
    UNION ALL SELECT t.attname, m.attnum IS NULL, coalesce(m.attnum, t.attnum) FROM theirs t LEFT JOIN mine m ON m.attname = t.attname
    WHERE $3 IS NULL) w (name, later, place)
  WHERE w.name IN (SELECT t.attname FROM theirs t)),
kept AS (
  SELECT array_agg(m.attname::text ORDER BY m.attnum) AS names,
    bool_and((t.atttypid, t.atttypmod, t.attcollation) IS NOT DISTINCT FROM (m.atttypid, m.atttypmod, m.attcollation)) AS alike,
    string_agg(quote_ident(m.attname), ', ' ORDER BY m.attnum) FILTER (WHERE m.attname <> ALL (w.names)) AS gone
  FROM wanted w, mine m LEFT JOIN theirs t ON t.attname = m.attname)
SELECT CASE WHEN p.in_place OR $3 IS NOT NULL THEN w.names END, p.in_place, p.in_place AND w.names = k.names, k.gone
FROM kept k, wanted w, LATERAL (SELECT coalesce(k.alike AND w.names[:cardinality(k.names)] = k.names, false)) p (in_place))sql";

static Columns columns_of(const catalog::Settings *settings, ArrayType *listed) {
    LockRelationOid(settings->view, AccessShareLock);
    Visit visit = Visit::read();
    (void)run(visit, columns_sql, settings->view, settings->relation, Typed::array(TEXTARRAYOID, listed));
    bool isnull;
    const Datum names = border::Spi::value(0, 1, &isnull);
    MemoryContextSwitchTo(visit.spi.caller);
    const Columns columns = {isnull ? nullptr : DatumGetArrayTypePCopy(names), catalog::value_at<bool>(0, 2),
                             catalog::value_at<bool>(0, 3), visit.spi.text(0, 4)};
    visit.leave();
    if (isnull && listed != nullptr)
        refuse_state(
            psprintf("%s has none of the columns that were listed for %s", settings->relation_name,
                     settings->view_name),
            "Pass columns that it has, dp_refresh(view, columns => '{...}').");
    return columns;
}

// Listed columns stay listed, and come back with a column of their name.
static void tell_gone(const catalog::Settings *settings, const Columns &columns, bool listed) {
    if (columns.gone != nullptr)
        ereport(NOTICE, (errmsg("%s shows no longer: %s", settings->view_name, columns.gone),
                         listed ? errhint("If a column was renamed: SELECT dp_refresh(%s, columns => '{...}'), with all that "
                                          "it is to show.",
                                          quote_literal_cstr(settings->view_name))
                                : 0));
}

// ---- what a new view would lose ------------------------------------------------------------------------------------

namespace {
// Holds the access lists and comments of a view, at 0, and of its columns by their numbers. An access list of 0: none.
struct Belongings {
    TupleDesc columns;
    Datum *acls;
    const char **comments;
};
} // namespace

// Returns the row of the view, or of a column.
static HeapTuple row_of(Oid view, AttrNumber column) {
    return column == 0 ? SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(view))
                       : SearchSysCacheCopy2(ATTNUM, ObjectIdGetDatum(view), Int16GetDatum(column));
}

static Datum acl_of(Oid view, AttrNumber column) {
    bool isnull;
    const Datum acl = SysCacheGetAttr(column == 0 ? RELOID : ATTNUM, row_of(view, column),
                                      column == 0 ? Anum_pg_class_relacl : Anum_pg_attribute_attacl, &isnull);
    return isnull ? Datum(0) : PointerGetDatum(DatumGetAclPCopy(acl));
}

static Belongings belongings_of(Oid oid) {
    Relation view = table_open(oid, AccessShareLock);
    const int n = RelationGetDescr(view)->natts;
    Belongings all = {CreateTupleDescCopy(RelationGetDescr(view)), static_cast<Datum *>(palloc0(sizeof(Datum) * (n + 1))),
                      static_cast<const char **>(palloc0(sizeof(char *) * (n + 1)))};
    table_close(view, NoLock);
    for (int i = 0; i <= n; i++) {
        all.acls[i] = acl_of(oid, static_cast<AttrNumber>(i));
        all.comments[i] = GetComment(oid, RelationRelationId, i);
    }
    return all;
}

// Writes an access list as it was, grantors and all; GRANT could only give the owner's own.
static void put_acl(Oid view, AttrNumber column, Datum acl) {
    Relation catalog = table_open(column == 0 ? RelationRelationId : AttributeRelationId, RowExclusiveLock);
    const AttrNumber attribute = column == 0 ? Anum_pg_class_relacl : Anum_pg_attribute_attacl;
    int natts = RelationGetNumberOfAttributes(catalog);
    auto *values = static_cast<Datum *>(palloc0(sizeof(Datum) * natts));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * natts));
    auto *replaces = static_cast<bool *>(palloc0(sizeof(bool) * natts));
    values[attribute - 1] = acl;
    nulls[attribute - 1] = acl == Datum(0);
    replaces[attribute - 1] = true;
    const Datum before = acl_of(view, column);
    HeapTuple changed = heap_modify_tuple(row_of(view, column), RelationGetDescr(catalog), values, nulls, replaces);
    CatalogTupleUpdate(catalog, &changed->t_self, changed);
    Oid *old_members = nullptr, *new_members = nullptr;
    int nold = before == Datum(0) ? 0 : aclmembers(DatumGetAclP(before), &old_members);
    int nnew = acl == Datum(0) ? 0 : aclmembers(DatumGetAclP(acl), &new_members);
    updateAclDependencies(RelationRelationId, view, column, catalog::relation_owner(view), nold, old_members, nnew,
                          new_members);
    table_close(catalog, RowExclusiveLock);
}

static void give_back(const Belongings &all, Oid view) {
    for (int i = 0; i <= all.columns->natts; i++) {
        const AttrNumber column = i == 0 ? 0 : get_attnum(view, NameStr(TupleDescAttr(all.columns, i - 1)->attname));
        if (i > 0 && column <= 0)
            continue; // the column is gone
        if (i == 0 || all.acls[i] != Datum(0))
            put_acl(view, column, all.acls[i]);
        if (all.comments[i] != nullptr)
            CreateComments(view, RelationRelationId, column, all.comments[i]);
    }
    CommandCounterIncrement();
}

// Finds what depends on the view or on its row type, but the view itself. $2: its name.
static constexpr char dependents_sql[] = R"sql(
SELECT '2BP01', format('cannot make %s anew: other objects depend on it', $2),
  format('They would be lost: %s.', string_agg(x.name, ', ' ORDER BY x.name)),
  'A column was renamed, dropped, or changed its type. Keep the definitions (pg_get_viewdef), drop these objects, call '
  'dp_refresh(), and create them again. Policies and rights stay.'
FROM (
  SELECT DISTINCT CASE WHEN r.oid IS NULL THEN pg_describe_object(d.classid, d.objid, d.objsubid)
                       ELSE pg_describe_object('pg_class'::regclass, r.ev_class, 0) END COLLATE "C" AS name
  FROM pg_class c JOIN pg_type y ON y.oid = c.reltype
  JOIN pg_depend d ON (d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
                   OR (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray))
  LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
  WHERE c.oid = $1 AND d.deptype IN ('n', 'a') AND r.ev_class IS DISTINCT FROM c.oid) x
HAVING count(*) > 0)sql";

// ---- the view ------------------------------------------------------------------------------------------------------

// " WITH (security_barrier=true)", or nothing.
static const char *options_of(Oid view) {
    const Visit visit = Visit::read();
    run(visit, "SELECT format(' WITH (%s)', array_to_string(c.reloptions, ', ')) FROM pg_class c "
               "WHERE c.oid = $1 AND c.reloptions IS NOT NULL UNION ALL SELECT '' LIMIT 1", view);
    const char *with = visit.spi.text(0, 1);
    visit.leave();
    return with;
}

static Oid make_anew(const catalog::Settings *settings, const Columns &columns) {
    refuse_by(dependents_sql, settings->view, settings->view_name);
    Oid owner = catalog::relation_owner(settings->view), schema = get_rel_namespace(settings->view);
    const char *name = get_rel_name(settings->view);
    const char *head = psprintf("CREATE VIEW %s%s", settings->view_name, options_of(settings->view));
    Belongings all = belongings_of(settings->view);
    run_as(owner, psprintf("DROP VIEW %s", settings->view_name));
    run_as(owner, facade_statement(head, settings->relation, columns.names));
    Oid view = get_relname_relid(name, schema);
    give_back(all, view);
    move_declarations(settings->view, view);
    return view;
}

// ---- bounds and groups of columns that are gone --------------------------------------------------------------------

// A new column of that name would have them, and nobody declared them for it. $2: the table's name.
static constexpr char forget_sql[] = R"sql(
WITH bounds AS (
  DELETE FROM dp_rdr.column_bounds b WHERE b.relation::oid = $1 AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = b.column_name AND a.attnum > 0 AND NOT a.attisdropped)
  RETURNING b.column_name, format('dp_set_bounds(%L, ''...'', %s, %s)', b.relation, b.lower, b.upper) AS again),
groups AS (
  DELETE FROM dp_rdr.column_groups g WHERE g.relation::oid = $1 AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = g.column_name AND a.attnum > 0 AND NOT a.attisdropped)
  RETURNING g.column_name, format('dp_set_groups(%L, ''...'', %s)', g.relation,
    CASE WHEN length(g.groups::text) <= 1000 THEN quote_literal(g.groups) ELSE '...' END) AS again)
SELECT 'notice', format('the %s of column %I, which %s has no longer, are taken away', x.what, x.column_name, $2), NULL,
  format('If it was renamed: SELECT %s;', x.again)
FROM (SELECT 'bounds' AS what, * FROM bounds UNION ALL SELECT 'groups', * FROM groups) x
ORDER BY x.column_name COLLATE "C", x.what)sql";

// Returns the columns that are listed for the view, from now on `others` unless that is null; null: it shows all.
static ArrayType *listed_columns(const catalog::Settings *settings, ArrayType *others) {
    Visit visit = Visit::write();
    lock_declarations(visit, settings->relation);
    if (others != nullptr)
        (void)run(visit, "UPDATE dp_rdr.restricted_view v SET columns = $2 WHERE v.view::oid = $1 AND v.columns IS DISTINCT FROM $2",
                  settings->view, Typed::array(TEXTARRAYOID, others));
    if (run(visit, "SELECT v.columns FROM dp_rdr.restricted_view v WHERE v.view::oid = $1 FOR UPDATE", settings->view) != 1)
        refuse_with(ERRCODE_LOCK_NOT_AVAILABLE, psprintf("%s is being changed by another call", settings->view_name),
                    "Try again.");
    bool isnull;
    const Datum names = border::Spi::value(0, 1, &isnull);
    MemoryContextSwitchTo(visit.spi.caller);
    ArrayType *listed = isnull ? nullptr : DatumGetArrayTypePCopy(names);
    visit.leave();
    return listed;
}

DP_CALL(dp_refresh) {
    require_first(fcinfo, 1);
    carry_over(PG_GETARG_OID(0));
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    LockRelationOid(settings->relation, AccessShareLock);
    catalog::check_protectable(settings->relation);
    ArrayType *others = array_argument(fcinfo, 1);
    if (others != nullptr)
        (void)facade_statement("", settings->relation, others); // refuses what is no column
    ArrayType *listed = listed_columns(settings, others);
    if (catalog::table_of_facade(settings->view) != settings->relation)
        refuse_state(psprintf("%s is no longer a restricted view over %s: its rule was replaced", settings->view_name,
                              settings->relation_name),
                     "Drop it with dp_unprotect() and make another with dp_protect().");
    // A filter over a column that is gone fails here, and nothing has been lost.
    if (settings->filter != nullptr)
        query::canonical_condition(settings->filter, settings->relation, "filter");
    Columns columns = columns_of(settings, listed);
    Oid view = settings->view;
    if (!columns.in_place)
        view = make_anew(settings, columns);
    // Nodes of Citus have the view as well, and lose it with the extension: they are sent the statement.
    else if (!columns.same || catalog::is_known_to_citus(settings->relation))
        run_as(catalog::relation_owner(view),
               facade_statement(psprintf("CREATE OR REPLACE VIEW %s%s", settings->view_name, options_of(view)),
                                settings->relation, columns.names));
    Visit visit = Visit::write();
    const Reports gone = reports_of(visit, forget_sql, settings->relation, settings->relation_name);
    visit.leave();
    tell_gone(settings, columns, listed != nullptr && others == nullptr);
    tell(gone);
    remember_names(view, settings->relation);
    PG_RETURN_OID(view);
}

} // namespace dp::sql
