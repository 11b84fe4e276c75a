// dp_set_unit, dp_set_contribution, dp_domain: whose rows protected tables have (doc/controller.md).
#include "sql/domain_members.hpp"

#include "catalog/ledger.hpp"
#include "sql/call_arguments.hpp"
#include "sql/result_rows.hpp"

using dp::catalog::Visit;

namespace dp::sql {

using catalog::qualified_name;
using catalog::UnitPath;

UnitPath *declared_unit(Oid relation) {
    catalog::Reading reading = catalog::Reading::open();
    StringInfo versions = makeStringInfo();
    UnitPath *path = catalog::read_unit_path(reading, relation, versions);
    reading.close();
    return path;
}

void check_unmoved(Oid relation, const char *text, const Unit *unit) {
    if (unit == nullptr || unit->parent == nullptr)
        return;
    const Unit *now = resolve_unit(relation, text);
    if (now->parent == nullptr || !is_same_way(*now, *unit) || !is_same_domain(*now->parent, *unit->parent))
        refuse_with(ERRCODE_LOCK_NOT_AVAILABLE,
                    psprintf("%s is being changed by another call", qualified_name(unit->parent_relation)),
                    "Try again.");
}

// ---- dp_set_unit ---------------------------------------------------------------------------------------------------

// Finds what has named the domain through this table, as far as anything remembers; of a domain of one table whatever has. A charge is
// this table's unless it is surely another's, by oid and name: tables are renamed, and a restore gives them other oids.
static constexpr char use_sql[] = R"sql(
WITH mine AS (
  SELECT t.domain AS id, NOT EXISTS (SELECT FROM dp_rdr.protected_table o
                                     WHERE o.domain = t.domain AND o.relation <> t.relation) AS alone
  FROM dp_rdr.protected_table t WHERE t.relation::oid = $1),
others AS (
  SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name
  FROM mine m JOIN dp_rdr.protected_table o ON o.domain = m.id JOIN pg_class c ON c.oid = o.relation
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid <> $1)
SELECT '55000', format('the unit of %s stays: %s has named it', $2, x.use),
  'The totals count what was told about its units, and what names no other table of its domain for sure may have been.',
  format('dp_domain(%L) shows it; dp_set_contribution() changes how many rows of one unit count.', $2)
FROM mine m, LATERAL (
  SELECT 1, 'a charge' WHERE EXISTS (
    SELECT FROM dp_rdr.ledger_row l
    WHERE l.table_id = ANY (ARRAY(SELECT j.id FROM dp_rdr.privacy_domain j WHERE m.id IN (j.id, j.joined_into)))
    AND NOT EXISTS (SELECT FROM others o WHERE o.oid = l.relation_oid AND o.name = l.relation))
  UNION ALL
  SELECT 2, 'a charge or a denial' FROM dp_rdr.odometer o WHERE o.id = m.id AND m.alone
    AND o.public_epsilon + o.conditional_epsilon + o.public_rho + o.conditional_rho + o.public_releases
        + o.conditional_releases + o.public_denials + o.conditional_denials > 0
  UNION ALL
  SELECT 3, 'a denial' WHERE EXISTS (SELECT FROM dp_rdr.denial d WHERE d.table_id = m.id
    AND (d.relation = $2 OR NOT EXISTS (SELECT FROM others o WHERE o.name = d.relation)))
  UNION ALL
  SELECT 4, 'a stored answer' WHERE m.alone AND EXISTS (SELECT FROM dp_rdr.stored_answer a WHERE a.table_id = m.id)
  UNION ALL
  SELECT 5, 'a request' WHERE EXISTS (SELECT FROM dp_rdr.request r WHERE r.table_id = m.id AND (m.alone OR NOT EXISTS (
    SELECT FROM dp_rdr.restricted_view v WHERE v.view = r.view AND v.relation::oid <> $1)))
  ) x (place, use) ORDER BY x.place LIMIT 1)sql";

// The lock makes charges wait: they look again at what they rest on when they have it.
static void check_unused(const Visit &visit, Oid relation) {
    run(visit,
        "SELECT 1 FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.domain "
        "WHERE t.relation::oid = $1 FOR UPDATE OF o",
        relation);
    refuse_first(visit, use_sql, relation, qualified_name(relation));
    refuse_first(visit,
                 "SELECT '55000', format('the unit of %s stays: that of %s follows from it', $2, p.relation), NULL, "
                 "'Give that table another unit first, with dp_set_unit().' "
                 "FROM dp_rdr.protected_table p JOIN pg_class c ON c.oid = p.relation "
                 "WHERE p.parent::oid = $1 AND p.relation::oid <> $1 ORDER BY p.relation::oid LIMIT 1",
                 relation, qualified_name(relation));
}

// (An oid that was restored as a number may be another's by now, which is no table of the domain.)
static bool is_next_gone(const UnitPath *path) {
    return OidIsValid(path->parent_relation) &&
           (get_rel_name(path->parent_relation) == nullptr || !list_member_oid(path->tables, path->parent_relation));
}

// Returns whether it is the declared way by the same columns in the same domain, whose next table was dropped and made again.
static bool only_repairs(const UnitPath *path, const Unit *unit) {
    if (path == nullptr || unit == nullptr || unit->parent == nullptr || path->direct != unit->direct ||
        path->ncolumns != unit->ncolumns || !is_next_gone(path) || !is_same_domain(*path, *unit->parent))
        return false;
    for (int i = 0; i < unit->ncolumns; i++)
        if (path->columns[i] != unit->columns[i] ||
            (!path->direct && strcmp(path->key_names[i], get_attname(unit->parent_relation, unit->parent_key[i], false)) != 0))
            return false;
    return true;
}

static const char *domain_of(const Visit &visit, Oid relation, bool *alone) {
    (void)run(visit,
              "SELECT t.domain, NOT EXISTS (SELECT FROM dp_rdr.protected_table o "
              "WHERE o.domain = t.domain AND o.relation <> t.relation) "
              "FROM dp_rdr.protected_table t WHERE t.relation::oid = $1",
              relation);
    *alone = catalog::value_at<bool>(0, 2);
    return visit.spi.text(0, 1);
}

// Its own domain, made over, where no other table is in it: bound and totals stay as they are set, and so does the number of people
// unless rows were units or become some.
static void make_over(const Visit &visit, const char *id, Oid relation, const Unit *unit) {
    run(visit,
        "UPDATE dp_rdr.privacy_domain d SET unit_types = $3, "
        "unit_table = CASE WHEN $3 IS NOT NULL THEN $2::regclass END, unit_names = NULL, "
        "people = CASE WHEN (d.unit_types IS NULL) = ($3 IS NULL) THEN d.people END WHERE d.id = $1::uuid",
        id, relation, types_of_unit(unit));
    if (unit != nullptr)
        remember_name(visit, id, relation);
}

// Moves the table to the parent's domain, to its own if it is alone there, or to a new one; returns which.
static const char *move(const Visit &visit, Oid relation, const Unit *unit, const char *id, bool alone) {
    if (const char *domain = domain_of_parent(unit)) {
        register_domain(visit, domain, relation, unit);
        return domain;
    }
    if (alone) {
        make_over(visit, id, relation, unit);
        return id;
    }
    visit.run("SELECT gen_random_uuid()");
    id = visit.spi.text(0, 1);
    register_domain(visit, id, relation, unit);
    return id;
}

// Leaves a domain where nothing was told of the table. One that was alone there leaves nothing.
static void leave_domain(const Visit &visit, const char *id, Oid relation) {
    run(visit, "UPDATE dp_rdr.privacy_domain d SET unit_names = array_remove(d.unit_names, $2) WHERE d.id = $1::uuid",
        id, qualified_name(relation));
    run(visit,
        "DELETE FROM dp_rdr.privacy_domain d WHERE d.id = $1::uuid "
        "AND NOT EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.domain = d.id)",
        id);
    run(visit,
        "DELETE FROM dp_rdr.public_table p WHERE p.domain = $1::uuid "
        "AND NOT EXISTS (SELECT FROM dp_rdr.privacy_domain d WHERE d.id = p.domain)",
        id);
}

DP_CALL(dp_set_unit) {
    require_first(fcinfo, 1);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    LockRelationOid(relation, AccessShareLock);
    const char *text = text_argument(fcinfo, 1);
    const Unit *unit = text == nullptr ? nullptr : resolve_unit(relation, text);
    const Limits limits = limit_arguments(fcinfo, 2);
    check_limits(relation, unit, limits);
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    check_no_partition(visit, relation);
    const UnitPath *path = declared_unit(relation);
    if (!only_repairs(path, unit))
        check_unused(visit, relation);
    bool alone;
    const char *before = domain_of(visit, relation, &alone);
    const char *id = move(visit, relation, unit, before, alone);
    register_unit(visit, id, relation, unit, limits);
    if (strcmp(id, before) != 0)
        leave_domain(visit, before, relation);
    check_shares(visit, relation);
    check_profiles(visit, relation, InvalidOid);
    const bool odometer = has_odometer(visit, id);
    visit.leave();
    check_unmoved(relation, text, unit);
    if (!odometer)
        catalog::create_odometer(id, qualified_name(relation), catalog::relation_owner(relation));
    warn_of_many_rows(relation);
    tell_accuracy(relation);
    PG_RETURN_VOID();
}

// ---- dp_set_contribution -------------------------------------------------------------------------------------------

void store_limits(const Visit &visit, Oid relation, const UnitPath *path, const Limits &limits) {
    Unit unit = *path;
    unit.keyed = path->direct && catalog::covers_key(relation, path->ncolumns, path->columns);
    check_limits(relation, &unit, limits);
    run(visit,
        "UPDATE dp_rdr.protected_table t SET max_rows = nullif($2, 0), max_groups = nullif($3, 0), "
        "max_rows_per_group = nullif($4, 0) WHERE t.relation::oid = $1",
        relation, limits.max_rows, limits.max_groups, limits.max_rows_per_group);
}

DP_CALL(dp_set_contribution) {
    require_first(fcinfo, 1);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    LockRelationOid(relation, AccessShareLock);
    const Limits limits = limit_arguments(fcinfo, 1, true);
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    const UnitPath *path = declared_unit(relation);
    if (path == nullptr)
        refuse_state(psprintf("a row of %s is a unit: there is nothing to limit", qualified_name(relation)),
                     psprintf("dp_set_unit(%s, 'column', max_rows => ...) says whose rows they are.",
                              quote_literal_cstr(qualified_name(relation))));
    auto kept = [](int passed, int set) { return passed == no_limit ? 0 : passed > 0 ? passed : set; };
    store_limits(visit, relation, path,
                 Limits{kept(limits.max_rows, path->max_rows), kept(limits.max_groups, path->max_groups),
                        kept(limits.max_rows_per_group, path->max_rows_per_group)});
    visit.leave();
    tell_accuracy(relation);
    PG_RETURN_VOID();
}

// ---- dp_domain -----------------------------------------------------------------------------------------------------

// Leaves out tables that are gone. A path goes table by table to the one whose columns are the units.
static constexpr char domain_sql[] = R"sql(
WITH RECURSIVE member AS (
  SELECT o.*, (SELECT string_agg(quote_ident(u.name), ', ' ORDER BY u.place)
               FROM unnest(o.unit) WITH ORDINALITY u (name, place)) AS columns
  FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = t.domain WHERE t.relation::oid = $1),
way AS (
  SELECT m.relation AS start, m.columns, m.parent, m.parent_key, m.relation::text AS path, 1 AS step
  FROM member m WHERE m.unit IS NOT NULL
  UNION ALL
  SELECT w.start, m.columns, m.parent, m.parent_key, format('%s (%s) -> %s', w.path, w.columns,
    CASE WHEN c.oid IS NULL THEN 'a table that is gone' ELSE w.parent::text END), w.step + 1
  FROM way w LEFT JOIN member m ON m.relation = w.parent AND w.parent_key IS NOT NULL LEFT JOIN pg_class c ON c.oid = w.parent
  WHERE w.parent IS NOT NULL AND w.step <= 8)
SELECT m.relation::regclass, m.columns, w.path || coalesce(' (' || w.columns || ')', ''), m.max_rows, m.max_groups,
  (SELECT count(*) FROM dp_rdr.restricted_view v JOIN pg_class r ON r.oid = v.view WHERE v.relation = m.relation),
  coalesce((SELECT array_agg(p.relation::regclass ORDER BY pn.nspname COLLATE "C", pc.relname COLLATE "C")
            FROM dp_rdr.public_table p JOIN pg_class pc ON pc.oid = p.relation JOIN pg_namespace pn ON pn.oid = pc.relnamespace
            WHERE p.domain = m.domain), '{}'), m.max_rows_per_group
FROM member m JOIN pg_class c ON c.oid = m.relation JOIN pg_namespace s ON s.oid = c.relnamespace
LEFT JOIN way w ON w.start = m.relation AND w.parent IS NULL
ORDER BY s.nspname COLLATE "C", c.relname COLLATE "C")sql";

DP_CALL(dp_domain) {
    require_first(fcinfo, 1);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const ResultRows rows(fcinfo);
    Visit visit = Visit::read();
    rows.put_as_they_are(run(visit, domain_sql, relation));
    visit.leave();
    return Datum{0};
}

} // namespace dp::sql
