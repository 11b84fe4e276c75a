// Checks of dp_audit on the ways into the server, and on what crosses the network or lies on disks unencrypted (the papers' escrow asks
// for a "secure platform", doc/operations.md).
#include "sql/audit.hpp"

namespace dp::sql {

// An earlier line that turns everybody away who comes without TLS covers later ones.
static const char *const subject_sql = R"sql(
, rule AS ( -- lines of pg_hba.conf that concern this database
  SELECT h.line_number AS line, coalesce((to_jsonb(h) ->> 'rule_number')::integer, h.line_number) AS place, -- files may include files
         h.type, h.auth_method AS method, coalesce(h.address, '') AS address,
         h.user_name && '{all}' AND h.database && '{all}' AS for_all
  FROM pg_hba_file_rules h
  WHERE h.error IS NULL AND (h.database && ARRAY['all', 'sameuser', 'samerole', 'samegroup', current_database()::text]
                             OR EXISTS (SELECT FROM unnest(h.database) d WHERE d ~ '^[/+@]'))),
plain_rule AS ( -- that let in over a network without TLS
  SELECT r.* FROM rule r
  WHERE r.type IN ('host', 'hostnossl', 'hostnogssenc') AND r.method <> 'reject'
    AND r.address NOT IN ('::1', 'localhost', 'samehost') AND r.address !~ '^127[.]'
    AND NOT EXISTS (SELECT FROM rule e WHERE e.place < r.place AND e.type IN ('host', 'hostnossl') AND e.method = 'reject'
      AND e.for_all AND (e.address IN ('all', r.address) OR e.address = '0.0.0.0' AND r.address ~ '^[0-9.]+$'
                         OR e.address = '::' AND r.address ~ ':')))
)sql";

static const Check checks[] = {
    {"warning", R"sql(
SELECT 'ssl', 'is off: passwords, queries and answers cross the network as they are',
       'ALTER SYSTEM SET ssl = on; SELECT pg_reload_conf(); -- with ssl_cert_file and ssl_key_file in place'
FROM pg_settings s JOIN pg_settings l ON l.name = 'listen_addresses' AND l.setting !~ '^\s*((localhost|127[.][0-9.]+|::1)\s*,?\s*)*$'
WHERE s.name = 'ssl' AND s.setting = 'off' AND EXISTS (SELECT FROM plain_rule))sql"},
    {"warning", R"sql(
SELECT 'pg_hba.conf', format('lets in over the network without TLS: line %s', string_agg(line::text, ', ' ORDER BY line)),
       'SELECT pg_reload_conf(); -- after writing hostssl in place of host there'
FROM plain_rule WHERE EXISTS (SELECT FROM pg_settings WHERE name = 'ssl' AND setting = 'on') HAVING count(*) > 0)sql"},
    {"warning", R"sql(
SELECT 'pg_hba.conf', format('lets in whoever comes as any role that he names, a table''s owner too: line %s',
                             string_agg(line::text, ', ' ORDER BY line)),
       'SELECT pg_reload_conf(); -- after writing peer (type local) or scram-sha-256 in place of trust there'
FROM rule WHERE method = 'trust' HAVING count(*) > 0)sql"},
    {"info", R"sql(
SELECT 'server', 'whether its disks are encrypted cannot be seen from SQL: data files, write-ahead log, temporary files, swap '
                 'and backups hold rows as they are', NULL)sql"},
};

const Chapter transport_chapter = {subject_sql, checks, sizeof checks / sizeof checks[0]};

} // namespace dp::sql
