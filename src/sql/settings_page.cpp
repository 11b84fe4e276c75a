// Implements dp_settings: all that is set for a protected table on one page, what is spent of it, and who reads its rows. The last
// column has the calls that set it up again. They are texts over names that others chose, so each is quoted, and each call is qualified.
#include "catalog/row_access_paths.hpp"
#include "sql/call_arguments.hpp"
#include "sql/controller.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

namespace {

// Statements of (item, name, value, call) in the order of the page. $1 is the caller, $2 the table. Names of objects are those that any
// search_path understands.
const char *const parts[] = {
    // A view that lacks columns of its table is made again with those that it has.
    R"sql(
SELECT 'view', v.view::text,
       format('%s, %s', (SELECT count(*) || CASE count(*) WHEN 1 THEN ' column' ELSE ' columns' END FROM pg_attribute a
                         WHERE a.attrelid = v.view AND a.attnum > 0 AND NOT a.attisdropped),
              coalesce('rows where ' || v.filter, 'all rows')),
       format('SELECT pg_catalog.dp_protect(%L, %L%s%s%s);', v.relation::text, v.view::text,
              ', unit => ' || quote_literal(unit.text) || coalesce(', max_rows => ' || unit.max_rows, '')
                || coalesce(', max_groups => ' || unit.max_groups, '')
                || coalesce(', max_rows_per_group => ' || unit.max_rows_per_group, ''),
              CASE WHEN v.columns IS NOT NULL OR listed.names IS DISTINCT FROM (
                SELECT array_agg(a.attname ORDER BY a.attnum)::text[] FROM pg_attribute a
                WHERE a.attrelid = v.relation AND a.attnum > 0 AND NOT a.attisdropped)
              THEN format(', columns => %L', listed.names) ELSE '' END,
              ', filter => ' || quote_literal(v.filter))
FROM dp_rdr.restricted_view v, LATERAL (
  SELECT array_agg(a.attname ORDER BY a.attnum)::text[] AS names FROM pg_attribute a
  WHERE a.attrelid = v.view AND a.attnum > 0 AND NOT a.attisdropped) listed
LEFT JOIN LATERAL (
  SELECT concat(u.names, ' -> ', coalesce(p.relation, t.relation)::text, ' (' || k.names || ')') AS text, t.max_rows, t.max_groups,
         t.max_rows_per_group
  FROM dp_rdr.protected_table t LEFT JOIN dp_rdr.protected_table p ON p.relation = t.parent
  CROSS JOIN LATERAL (SELECT string_agg(quote_ident(n), ', ' ORDER BY i) FROM unnest(t.unit) WITH ORDINALITY x (n, i)) u (names)
  LEFT JOIN LATERAL (SELECT string_agg(quote_ident(n), ', ' ORDER BY i)
                     FROM unnest(coalesce(t.parent_key, p.unit)) WITH ORDINALITY x (n, i)) k (names) ON true
  WHERE t.relation = v.relation AND t.unit IS NOT NULL) unit ON true
WHERE v.relation::oid = $2 AND EXISTS (SELECT FROM pg_class c WHERE c.oid = v.view)
ORDER BY v.view::text COLLATE "C")sql",

    // Says whose rows they are, where a row is not a unit; with whose they have come together.
    R"sql(
SELECT 'unit', array_to_string(t.unit, ', '), concat_ws(', ', 'of ' || t.parent::text, t.max_rows || ' rows', t.max_groups || ' groups',
                 t.max_rows_per_group || ' rows in each group'),
       NULL
FROM dp_rdr.protected_table t WHERE t.relation::oid = $2 AND t.unit IS NOT NULL
UNION ALL
SELECT 'unit', 'people', 'those of ' || d.unit_table::text,
       format('SELECT pg_catalog.dp_join_domains(%L, %L);', t.relation::text, d.unit_table::text)
FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain
JOIN dp_rdr.protected_table o ON o.relation = d.unit_table AND o.domain = d.id JOIN pg_class c ON c.oid = o.relation
WHERE t.relation::oid = $2 AND t.unit IS NOT NULL AND t.parent IS NULL AND t.relation <> d.unit_table)sql",

    R"sql(
SELECT 'people', 'about', d.people::text, format('SELECT pg_catalog.dp_set_people(%L, %s);', t.relation::text, d.people)
FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain WHERE t.relation::oid = $2 AND d.people IS NOT NULL)sql",

    R"sql(
SELECT 'public', p.relation::text, 'may be joined with ' || (
         SELECT string_agg(o.relation::text, ', ' ORDER BY o.relation::text COLLATE "C")
         FROM dp_rdr.protected_table o JOIN pg_class c ON c.oid = o.relation WHERE o.domain = t.domain),
       format('SELECT pg_catalog.dp_set_public(%L, %L);', p.relation::text, t.relation::text)
FROM dp_rdr.protected_table t JOIN dp_rdr.public_table p ON p.domain = t.domain JOIN pg_class x ON x.oid = p.relation
WHERE t.relation::oid = $2 ORDER BY p.relation::text COLLATE "C")sql",

    // Options of zcdp are refused with other bounds.
    R"sql(
SELECT 'budget', 'bound', d.bound, format('SELECT pg_catalog.dp_set_odometer(%L, %s);', t.relation::text, concat_ws(', ',
       'bound => ' || quote_literal(d.bound),
       'epsilon_total => ' || coalesce(d.epsilon_total::text, quote_literal('Infinity')),
       'delta_total => ' || d.delta_total,
       CASE WHEN d.bound = 'zcdp' THEN concat_ws(', ', 'delta_conversion => ' || d.delta_conversion,
         'cap => ' || quote_literal(d.cap), 'epsilon_pure => ' || d.epsilon_pure,
         CASE WHEN d.epsilon_total IS NULL THEN 'rho_target => ' || d.rho_target END) END,
       'profile => ' || quote_literal(coalesce(d.profile::text, '{}')), 'period => ' || quote_literal(coalesce(d.period, '')),
       CASE WHEN d.period IS NOT NULL THEN concat_ws(', ',
         'epsilon_lifetime => ' || coalesce(d.epsilon_lifetime::text, quote_literal('Infinity')),
         'delta_lifetime => ' || coalesce(d.delta_lifetime::text, quote_literal('Infinity'))) END))
FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain WHERE t.relation::oid = $2)sql",

    // Repeats what is in the call, to be read.
    R"sql(
SELECT 'budget', x.name, x.value, NULL
FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain, LATERAL (VALUES
  ('epsilon_total', CASE WHEN d.bound <> 'none' THEN coalesce(d.epsilon_total::text, CASE WHEN d.profile IS NULL THEN 'none' END) END),
  ('profile', concat((d.profile ->> 'kind') || ', ', 'advantage ' || (d.profile ->> 'advantage') || ', ',
    'tpr ' || (d.profile ->> 'tpr') || ', fpr ' || (d.profile ->> 'fpr') || ', ', 'epsilon ' || (d.profile ->> 'epsilon'))),
  ('delta_total', CASE WHEN d.bound <> 'none' THEN d.delta_total::text END),
  ('period', d.period),
  ('epsilon_lifetime', CASE WHEN d.period IS NOT NULL THEN coalesce(d.epsilon_lifetime::text, 'none') END),
  ('delta_lifetime', CASE WHEN d.period IS NOT NULL THEN coalesce(d.delta_lifetime::text, 'none') END),
  ('delta_conversion', CASE WHEN d.bound = 'zcdp' THEN trim_scale(coalesce(d.delta_conversion, trunc(d.delta_total * 0.5, 30)))::text END),
  ('cap', CASE WHEN d.bound = 'zcdp' THEN d.cap END),
  ('epsilon_pure', CASE WHEN d.bound = 'zcdp' AND d.epsilon_pure > 0 THEN d.epsilon_pure::text END),
  ('rho_total', CASE WHEN d.bound = 'zcdp' THEN d.rho_total::text END),
  ('rho_target', CASE WHEN d.bound = 'zcdp' THEN d.rho_target::text END)) x (name, value)
WHERE t.relation::oid = $2 AND x.value <> '')sql",

    // Shows the public charges, which decisions about analysts of DP modes read, and what the conditional account has spent.
    R"sql(
WITH used AS (SELECT b.*, row_number() OVER () AS n FROM dp_rdr.budget($2) b),
kept AS (SELECT o.* FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.domain WHERE t.relation::oid = $2)
SELECT 'budget', x.name, x.value, NULL
FROM (SELECT u.n, 1, u.name || ' used', u.used::text FROM used u WHERE u.total IS NOT NULL
  UNION ALL SELECT u.n, 2, u.name || ' left', trim_scale(greatest(u.total - u.used, 0))::text FROM used u WHERE u.total IS NOT NULL
  UNION ALL SELECT 100, 1, 'period end', max(u.period_end) FROM used u
  UNION ALL SELECT 100, 2, 'used_percent', max(u.percent)::text FROM used u
  UNION ALL SELECT 100, 3, 'conditional', string_agg(concat(u.name, ' ', u.used), ', ' ORDER BY u.n) FROM used u WHERE u.total IS NULL
            HAVING sum(u.used) > 0
  UNION ALL SELECT 100, 4, 'releases', (k.public_releases + k.conditional_releases)::text FROM kept k
  UNION ALL SELECT 100, 5, 'denials', (k.public_denials + k.conditional_denials)::text FROM kept k
  UNION ALL SELECT 100, 6, 'odometer', 'missing: dp_protect() on the table rebuilds it' WHERE NOT EXISTS (SELECT FROM kept)
) x (n, place, name, value) WHERE x.value IS NOT NULL ORDER BY x.n, x.place)sql",

    R"sql(
SELECT 'ledger', 'verified', format('as a whole on %s, what came since on %s', to_char(timezone('UTC', v.whole_at), 'YYYY-MM-DD'),
                          to_char(timezone('UTC', v.at), 'YYYY-MM-DD')), NULL
FROM dp_rdr.verified_ledger v JOIN dp_rdr.protected_table t ON t.domain = v.table_id WHERE t.relation = $2)sql",

    R"sql(
SELECT 'bounds', b.column_name, format('%s to %s', v.lower, v.upper),
       format('SELECT pg_catalog.dp_set_bounds(%L, %L, %s, %s);', b.relation::text, b.column_name, v.lower, v.upper)
FROM dp_rdr.column_bounds b
LEFT JOIN pg_attribute a ON a.attrelid = $2 AND a.attname = b.column_name AND a.attnum > 0 AND NOT a.attisdropped,
LATERAL (SELECT coalesce(a.atttypid, 0)) t (type),
LATERAL (SELECT dp_rdr.bound_text(b.lower, t.type, true), dp_rdr.bound_text(b.upper, t.type, true)) v (lower, upper)
WHERE b.relation::oid = $2 ORDER BY b.column_name COLLATE "C")sql",

    R"sql(
SELECT 'groups', g.column_name, format('%s: %s', cardinality(g.groups), CASE WHEN length(list.text) <= 60 THEN list.text
                                                                   ELSE left(list.text, 57) || '...' END),
       format('SELECT pg_catalog.dp_set_groups(%L, %L, %L);', g.relation::text, g.column_name, g.groups)
FROM dp_rdr.column_groups g, LATERAL (SELECT array_to_string(g.groups, ', ', 'NULL')) list (text)
WHERE g.relation::oid = $2 ORDER BY g.column_name COLLATE "C")sql",

    R"sql(
SELECT 'total', l.expression, l.total || ' for a unit', format('SELECT pg_catalog.dp_set_total(%L, %L, %s);', l.relation::text, l.expression, l.total)
FROM dp_rdr.unit_limit l WHERE l.relation::oid = $2 ORDER BY l.expression COLLATE "C")sql",

    // Passes all options, so that a policy that was changed meanwhile is as it was.
    R"sql(
SELECT 'policy', p.grantee::text || ' on ' || p.view::text, concat_ws(', ',
         CASE WHEN r.oid IS NULL THEN 'the role does not exist any more' END,
         'tau ' || p.tau, 'tau_var ' || p.tau_var, p.selection, p.mechanism, CASE WHEN p.delta > 0 THEN 'delta ' || p.delta END,
         'epsilon_max ' || p.epsilon_max, 'share ' || p.epsilon_total,
         'profile ' || (p.profile ->> 'kind') || ', epsilon ' || (p.profile ->> 'epsilon'), 'replay ' || p.replay, CASE WHEN p.on_request THEN 'on request' END),
       CASE WHEN r.oid IS NOT NULL THEN format('SELECT pg_catalog.dp_grant(%L, %L, %s);', p.view::text, p.grantee::text,
         concat_ws(', ', 'tau => ' || p.tau, 'tau_var => ' || p.tau_var, 'selection => ' || quote_literal(p.selection),
           'mechanism => ' || quote_literal(p.mechanism), 'delta => ' || p.delta, 'epsilon_max => ' || p.epsilon_max,
           'epsilon_total => ' || coalesce(p.epsilon_total::text, quote_literal('Infinity')),
           'epsilon_svt => ' || p.epsilon_svt, 'candidates => ' || quote_literal(coalesce(p.candidates::text, '{}')),
           'weight_min => ' || p.weight_min, 'weight_max => ' || p.weight_max,
           'group_a => ' || quote_literal(coalesce(p.group_a, '')), 'group_b => ' || quote_literal(coalesce(p.group_b, '')),
           'epsilon_min => ' || p.epsilon_min, 'profile => ' || quote_literal(coalesce(p.profile::text, '{}')),
           'replay => ' || quote_literal(coalesce(p.replay::text, '0')),
           'on_request => ' || p.on_request)) END
FROM dp_rdr.restricted_view v JOIN dp_rdr.policy p ON p.view = v.view LEFT JOIN pg_roles r ON r.oid = p.grantee
WHERE v.relation::oid = $2 AND EXISTS (SELECT FROM pg_class c WHERE c.oid = v.view)
ORDER BY p.grantee::text COLLATE "C", p.view::text COLLATE "C")sql",

    R"sql(
SELECT 'reviewers', 'decide on requests', string_agg(v.reviewer::text, ', ' ORDER BY v.reviewer::text COLLATE "C"),
       format('SELECT pg_catalog.dp_set_review(%L, %L);', v.relation::text,
              array_agg(v.reviewer::text ORDER BY v.reviewer::text COLLATE "C"))
FROM dp_rdr.reviewer v JOIN pg_roles r ON r.oid = v.reviewer WHERE v.relation::oid = $2 GROUP BY v.relation)sql",

    R"sql(
SELECT 'requests', s.state, count(*)::text, NULL
FROM dp_rdr.protected_table t JOIN dp_rdr.request q ON q.table_id = t.domain, LATERAL (
  SELECT CASE WHEN q.state = 'pending' AND q.expires_at <= clock_timestamp() THEN 'expired' ELSE q.state END) s (state)
WHERE t.relation::oid = $2 GROUP BY s.state ORDER BY s.state COLLATE "C")sql",

    R"sql(
SELECT 'suspended', s.role::text, format('session of %s, under the policy of %s on %s', s.session_role::text, s.grantee::text, s.view::text), NULL
FROM dp_rdr.restricted_view v JOIN dp_rdr.suspension s ON s.view = v.view
WHERE v.relation::oid = $2 ORDER BY s.role::text COLLATE "C", s.session_role::text COLLATE "C", s.view::text COLLATE "C")sql",
};

// Names every way to the rows that a catalog shows, by the names of subject_sql. dp_audit has the remedies.
const char *const flows = R"sql(
SELECT DISTINCT ON (f.place, f.name COLLATE "C", f.value COLLATE "C") 'reads rows', f.name, f.value, f.call FROM (
  SELECT 1 AS place, c.owner::regrole::text AS name, 'owner of the table' AS value, NULL AS call
  FROM controlled c WHERE c.relation = $2
  UNION ALL
  SELECT 2, m.member::regrole::text, 'may act for the owner', NULL
  FROM controlled c JOIN member m ON m.role = c.owner JOIN pg_roles r ON r.oid = m.member AND NOT r.rolsuper
  WHERE c.relation = $2
  UNION ALL
  SELECT 3, r.oid::regrole::text, 'superuser', NULL FROM pg_roles r WHERE r.rolsuper
  UNION ALL
  SELECT 4, g.grantee, format('%s on %s', string_agg(g.rights, ', ' ORDER BY g.rights COLLATE "C"), g.oid::regclass),
         format('GRANT %s ON TABLE %s TO %s;', string_agg(g.rights, ', ' ORDER BY g.rights COLLATE "C"), g.oid::regclass, g.grantee)
  FROM granted g JOIN part p ON p.oid = g.oid AND p.relation = $2
  WHERE g.privilege IN ('SELECT', 'MAINTAIN', 'REFERENCES', 'TRIGGER') GROUP BY g.oid, g.grantee
  UNION ALL
  SELECT 5, p.name, p.power, NULL FROM power p
  UNION ALL
  SELECT 6, x.grantee, format('%s %s', CASE v.reads WHEN 'reads' THEN 'by the view' ELSE 'by the copy' END, v.name), NULL
  FROM reading_view v JOIN exposed_view x ON x.oid = v.oid AND x.relation = v.relation WHERE v.relation = $2
  UNION ALL
  SELECT 7, d.caller, format('by the function %s of %s', d.name, d.owner::regrole), NULL
  FROM definer d JOIN uses u ON u.function = d.oid
  JOIN (SELECT oid, relation FROM part UNION SELECT oid, relation FROM reading_view) p ON p.oid = u.relation
  WHERE p.relation = $2
  UNION ALL
  SELECT 8, format('publication %I', b.pubname), 'sends rows to its subscribers', NULL
  FROM pg_publication b WHERE EXISTS (
    SELECT FROM part p JOIN pg_get_publication_tables(b.pubname) g ON g.relid = p.oid WHERE p.relation = $2)
  UNION ALL
  SELECT 9, format('foreign server %I', f.srvname), format('keeps the rows of %s', f.oid::regclass), NULL
  FROM remote f JOIN part p ON p.oid = f.oid WHERE p.relation = $2
  UNION ALL
  SELECT 10, format('trigger %I', t.tgname), format('sees the rows of %s that change', t.tgrelid::regclass), NULL
  FROM pg_trigger t JOIN part p ON p.oid = t.tgrelid
  WHERE p.relation = $2 AND NOT t.tgisinternal AND t.tgparentid = 0 AND t.tgfoid <> 'dp_rdr.keep_cell()'::regprocedure) f
ORDER BY f.place, f.name COLLATE "C", f.value COLLATE "C")sql";

} // namespace

// Names are those under the settings of the visit, where texts do not depend on the caller's.
DP_CALL(dp_settings) {
    require(fcinfo, 0, "relation");
    const Oid caller = GetUserId(), relation = protected_relation(PG_GETARG_OID(0));
    const ResultRows rows(fcinfo);
    catalog::Visit visit = catalog::Visit::read();
    for (const char *part : parts)
        rows.put_all(visit, run(visit, part, caller, relation));
    rows.put_all(visit, run(visit, psprintf("%s%s", catalog::subject_sql(), flows), caller, relation));
    visit.leave();
    put_partition(rows, controlled_table(PG_GETARG_OID(0)));
    return Datum(0);
}

} // namespace dp::sql
