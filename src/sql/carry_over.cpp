#include "sql/carry_over.hpp"

#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/ledger.hpp"
#include "sql/role_type.hpp"

using dp::catalog::Visit;

namespace dp::sql {

void move_declarations(Oid from, Oid to) {
    Visit visit = Visit::write();
    for (auto *statement : border::each<const char>(
             for_columns(visit, "relation", "UPDATE dp_rdr.%1$I SET %2$I = $2 WHERE %2$I::oid = $1")))
        run(visit, statement, from, to);
    visit.leave();
}

void refresh_owner(Oid relation) {
    Oid owner = catalog::relation_owner(relation);
    Visit visit = Visit::read();
    const bool other = run(visit,
                           "SELECT o.id FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.domain "
                           "WHERE t.relation::oid = $1 AND o.owner::oid <> $2",
                           relation, owner) == 1;
    const char *id = other ? visit.spi.text(0, 1) : nullptr;
    visit.leave();
    if (id != nullptr)
        catalog::create_odometer(id, catalog::qualified_name(relation), owner);
}

void remember_names(Oid view, Oid relation) {
    Visit visit = Visit::write();
    run(visit,
        "WITH t AS (UPDATE dp_rdr.protected_table SET name = $4 WHERE relation::oid = $2 AND name IS DISTINCT FROM $4) "
        "UPDATE dp_rdr.restricted_view SET name = $3 WHERE view::oid = $1 AND name IS DISTINCT FROM $3",
        view, relation, catalog::qualified_name(view), catalog::qualified_name(relation));
    visit.leave();
    refresh_owner(relation);
}

const char *owned_sql(const char *domain) {
    return psprintf("coalesce((SELECT bool_or(c.relowner = $2) FROM dp_rdr.protected_table t "
                    "JOIN pg_class c ON c.oid = t.relation WHERE t.domain = %s), o.owner::oid = $2 "
                    "OR $3 AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = o.owner))",
                    domain);
}

// $1 and $4 are the names of the table and its view, $5 is the table, $2 its owner, whose the totals must have been. The last part
// is for a table that Citus only knows of: what was the table is its shard.
const char *const earlier_sql = R"sql(
SELECT v.view::oid, v.relation::oid FROM dp_rdr.restricted_view v JOIN dp_rdr.protected_table t ON t.relation = v.relation
JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN dp_rdr.odometer o ON o.id = d.id
WHERE v.name = $4 AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.view)
  AND %s
  AND (t.relation::oid = $5 OR (t.name = $1 AND NOT EXISTS (SELECT FROM dp_rdr.protected_table x WHERE x.relation::oid = $5)
       AND (NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation) %s)))
ORDER BY 1 LIMIT 1 FOR UPDATE OF d)sql";
const char *const or_shard_sql = R"sql(OR EXISTS (
  SELECT FROM pg_dist_shard s JOIN pg_class n ON n.oid = s.logicalrelid JOIN pg_class c ON c.oid = t.relation
  WHERE s.logicalrelid = $5 AND c.relnamespace = n.relnamespace AND c.relname = format('%s_%s', n.relname, s.shardid)))sql";

static bool find_earlier(Oid view, Oid relation, Oid *earlier_view, Oid *earlier_relation) {
    Visit visit = Visit::write();
    const bool found =
        run(visit, psprintf(earlier_sql, owned_sql("d.id"), catalog::is_known_to_citus(relation) ? or_shard_sql : ""),
            catalog::qualified_name(relation), catalog::relation_owner(relation), superuser_arg(visit.role.saved_role),
            catalog::qualified_name(view), relation) == 1;
    if (found) {
        *earlier_view = catalog::value_at<Oid>(0, 1);
        *earlier_relation = catalog::value_at<Oid>(0, 2);
    }
    visit.leave();
    return found;
}

static void grant_again(Oid view) {
    Visit visit = Visit::read();
    uint64 rows = run(visit,
                      "SELECT string_agg(r.oid::regrole::text, ', ' ORDER BY r.oid) FROM dp_rdr.policy p "
                      "JOIN pg_roles r ON r.oid = p.grantee WHERE p.view::oid = $1 HAVING count(*) > 0",
                      view);
    const char *grantees = rows == 1 ? visit.spi.text(0, 1) : nullptr;
    visit.leave();
    if (grantees != nullptr)
        run_as(catalog::relation_owner(view),
               psprintf("GRANT SELECT ON %s TO %s", catalog::qualified_name(view), grantees));
}

void carry_over(Oid view) {
    Oid relation = catalog::is_registered_view(view) ? InvalidOid : catalog::table_of_facade(view);
    if (!OidIsValid(relation))
        return;
    check_owner(view);
    check_owner(relation);
    Oid earlier_view, earlier_relation;
    if (catalog::relation_owner(view) != catalog::relation_owner(relation) ||
        !find_earlier(view, relation, &earlier_view, &earlier_relation))
        return;
    move_declarations(earlier_view, view);
    if (earlier_relation != relation)
        move_declarations(earlier_relation, relation);
    grant_again(view);
    ereport(NOTICE, (errmsg("%s goes on with all that was declared of the earlier view and table of these names",
                            catalog::qualified_name(view))));
}

// ---- the totals of a table ------------------------------------------------------------------------------------------

// Returns whether a view of the owner's over this table calls deny(): it was protected before, by a catalog that is lost. Anybody can
// make such a view: another's, or a temporary one, says nothing.
static bool has_facade(const Visit &visit, Oid relation) {
    const uint64 n = run(visit,
                         "SELECT DISTINCT r.ev_class FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid "
                         "WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass "
                         "AND d.refobjid = $1 AND EXISTS (SELECT FROM pg_class v JOIN pg_class t ON t.oid = $1 "
                         "WHERE v.oid = r.ev_class AND v.oid <> t.oid AND v.relowner = t.relowner "
                         "AND v.relpersistence <> 't')",
                         relation);
    for (uint64 i = 0; i < n; i++)
        if (catalog::table_of_facade(catalog::value_at<Oid>(i, 1)) == relation)
            return true;
    return false;
}

// $1: the table's name, $2: its owner, $3: whether a superuser calls, $4: whether it has a facade, $5: whether it has a unit, $6: the
// domain that this leads to, $7: the types of its own. Columns: the refusal (of refuse_first), then those of Identity.
//
// total: all totals, whether they are the owner's, and the role that has them.
// before: a unit domain whose totals were used by a table of this name: it is there, is made again, or is another that was renamed (oids
// do not tell: after a restore that of the charged one may be another's). Else one that was used, or has tables, and whose people were
// the columns of a table of this name. Where that lives under another name it is refused: what is made in its place has the same people as
// often as not.
// other: totals of this name that another role has, or had before it was dropped: neither the owner's to go on with, nor to begin at 0
// beside them. Rows that are units are others' where another owns them, but for a role that is gone nobody can say so.
// earlier: a table that was dropped and made again by the same owner goes on with its totals, unless they belong to a living table that was
// renamed; so does one whose ledger was restored without its odometer. Not after a dp_protect that was rolled back: its odometer was never
// used.
static constexpr char identity_sql[] = R"sql(
WITH charged AS MATERIALIZED (SELECT DISTINCT l.table_id AS id FROM dp_rdr.ledger_row l WHERE l.relation = $1),
total AS MATERIALIZED (
  SELECT x.id, %s AS mine, r.rolname AS owner, o.id IS NOT NULL AS odometer, o.relation_name = $1 AS named,
    coalesce(o.public_epsilon + o.conditional_epsilon + o.public_rho + o.conditional_rho + o.public_denials
             + o.conditional_denials > 0, true) AS used
  FROM (SELECT o.id FROM dp_rdr.odometer o UNION SELECT c.id FROM charged c UNION SELECT d.id FROM dp_rdr.privacy_domain d
        UNION SELECT d.joined_into FROM dp_rdr.privacy_domain d WHERE d.joined_into IS NOT NULL) x
  LEFT JOIN dp_rdr.odometer o ON o.id = x.id
  LEFT JOIN pg_roles r ON r.oid = coalesce((
    SELECT min(c.relowner) FROM dp_rdr.protected_table t JOIN pg_class c ON c.oid = t.relation WHERE t.domain = x.id), o.owner::oid)),
before AS (
  SELECT t.id, NULL::regclass AS renamed, 1 AS place
  FROM dp_rdr.privacy_domain d JOIN charged c ON c.id = d.id JOIN total t ON t.id = coalesce(d.joined_into, d.id)
  WHERE d.unit_types IS NOT NULL AND t.mine
  UNION ALL
  SELECT d.id, (SELECT c.oid FROM dp_rdr.protected_table t JOIN pg_class c ON c.oid = t.relation
                JOIN pg_namespace n ON n.oid = c.relnamespace WHERE t.domain = d.id AND t.relation = d.unit_table
                AND format('%%I.%%I', n.nspname, c.relname) <> ALL (d.unit_names)), 2
  FROM dp_rdr.privacy_domain d JOIN total t ON t.id = d.id
  WHERE d.unit_types IS NOT NULL AND t.mine AND $1 = ANY (d.unit_names) AND $6 IS NULL
    AND (EXISTS (SELECT FROM dp_rdr.ledger_row l WHERE l.table_id = d.id)
         OR EXISTS (SELECT FROM dp_rdr.protected_table p WHERE p.domain = d.id))
  ORDER BY place, id LIMIT 1),
other AS (
  SELECT true AS found, t.owner FROM (
    SELECT c.id FROM charged c UNION SELECT d.id FROM dp_rdr.privacy_domain d
    WHERE $1 = ANY (d.unit_names) AND EXISTS (SELECT FROM dp_rdr.ledger_row l WHERE l.table_id = d.id)) x
  LEFT JOIN dp_rdr.privacy_domain d ON d.id = x.id JOIN total t ON t.id = coalesce(d.joined_into, x.id)
  WHERE t.mine IS NOT TRUE AND (d.unit_types IS NOT NULL OR t.owner IS NULL) ORDER BY x.id LIMIT 1),
earlier AS (
  SELECT t.id, t.used, d.unit_types, d.id IS NOT NULL AND d.unit_types IS NULL AS rows
  FROM total t LEFT JOIN dp_rdr.privacy_domain d ON d.id = t.id
  WHERE (t.named AND t.mine OR NOT t.odometer AND $3 AND t.id IN (SELECT c.id FROM charged c)) AND d.joined_into IS NULL
    AND NOT EXISTS (SELECT FROM dp_rdr.protected_table p WHERE p.domain = t.id)
  ORDER BY t.odometer DESC, t.used DESC, t.id LIMIT 1),
fact AS (
  SELECT b.id AS before, b.renamed, d.unit_types AS types_before, o.found AS others, o.owner, e.id AS earlier,
    coalesce(e.used, false) AS used, coalesce(e.rows, false) AS rows, e.unit_types AS types_earlier,
    CASE WHEN b.id IS NOT NULL THEN b.id WHEN $6 IS NOT NULL THEN $6::uuid
         WHEN $5 AND e.used OR NOT $5 AND e.unit_types IS NULL THEN e.id END AS id
  FROM (SELECT) one LEFT JOIN before b ON true LEFT JOIN dp_rdr.privacy_domain d ON d.id = b.id
  LEFT JOIN other o ON true LEFT JOIN earlier e ON true)
SELECT r.state, r.message, r.detail, r.hint, coalesce(f.id, gen_random_uuid()), coalesce(t.odometer, false),
  CASE WHEN f.before IS NOT NULL THEN true WHEN $6 IS NOT NULL THEN t.odometer IS NOT TRUE WHEN f.id IS NOT NULL THEN f.used ELSE $4 END,
  f.before IS NULL AND $6 IS NOT NULL AND (f.used OR $4)
  OR EXISTS (SELECT FROM charged c WHERE c.id NOT IN (SELECT d.id FROM dp_rdr.privacy_domain d))
FROM fact f LEFT JOIN total t ON t.id = f.id LEFT JOIN LATERAL (
  SELECT '55000' AS state, coalesce(x.message, format('an earlier table %%s was asked about with %%s as its unit', $1, x.was)) AS message,
    CASE WHEN x.was IS NOT NULL THEN 'What it has told of them counts in the totals of that unit.' END AS detail, x.hint
  FROM (VALUES
    (f.renamed IS NOT NULL, format('the people of %%s were known by the name of %%s', f.renamed, $1), NULL,
     format('If these are the same people, write unit => ''... -> %%s''; if not, protect the table under another name.', f.renamed)),
    (NOT $5 AND (f.before IS NOT NULL OR f.types_earlier IS NOT NULL AND f.used AND f.others IS NULL), NULL,
     'people who may have many rows', 'Pass the unit that it had, unit => ''...''.'),
    ($5 AND f.before IS NOT NULL
     AND CASE WHEN $6 IS NOT NULL THEN f.before <> $6::uuid ELSE f.types_before IS DISTINCT FROM $7 END, NULL,
     'other people', 'Give it the unit that it had.'),
    (f.before IS NULL AND f.others, format('an earlier table %%s was asked about when it belonged to %%s', $1,
       coalesce('role ' || quote_ident(f.owner), 'a role that does not exist')), NULL,
     CASE WHEN f.owner IS NULL THEN 'A superuser protects it, and its totals go on' ELSE 'Protect it as that role''s, whose totals go on'
     END || '; with other people, protect the table under another name.'),
    ($5 AND f.before IS NULL AND f.used AND f.rows, NULL, 'a row', 'Leave unit at NULL.'),
    ($5 AND f.before IS NULL AND f.used AND ($6 IS NOT NULL AND f.types_earlier IS NOT NULL OR f.types_earlier <> $7), NULL,
     'other people', 'Give it the unit that it had.')) x (broken, message, was, hint)
  WHERE x.broken LIMIT 1) r ON true)sql";

Identity find_identity(const Visit &visit, Oid relation, const Unit *unit) {
    if (run(visit,
            "SELECT t.domain, EXISTS (SELECT FROM dp_rdr.odometer o WHERE o.id = t.domain) "
            "FROM dp_rdr.protected_table t WHERE t.relation::oid = $1",
            relation) == 1)
        return Identity{visit.spi.text(0, 1), catalog::value_at<bool>(0, 2), true, false, true};
    const char *domain = domain_of_parent(unit);
    refuse_first(visit, psprintf(identity_sql, owned_sql("x.id")), catalog::qualified_name(relation),
                 catalog::relation_owner(relation), superuser_arg(visit.role.saved_role), has_facade(visit, relation),
                 unit != nullptr, domain, types_of_unit(domain == nullptr ? unit : nullptr));
    return Identity{visit.spi.text(0, 5), catalog::value_at<bool>(0, 6), catalog::value_at<bool>(0, 7),
                    catalog::value_at<bool>(0, 8), false};
}

} // namespace dp::sql
