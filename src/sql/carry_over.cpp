#include "sql/carry_over.hpp"

#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/ledger.hpp"
#include "sql/role_type.hpp"
#include "sql/setter.hpp"

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

} // namespace dp::sql
