# What roles without any right on a table could take: rows and functions of the catalog by privileges that databases grant by
# default, and worker slots by queries of their own.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('roles', q{max_worker_processes = 8});
$node->safe_psql('postgres', q{
	CREATE ROLE reporting LOGIN;
	CREATE DATABASE given;});
$node->safe_psql('given', q{
	ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO reporting;
	ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO reporting;
	ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO reporting;
	ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO reporting;
	CREATE EXTENSION dp_rdr;});
my $rights = q{
	SELECT 'schema' FROM pg_namespace n, aclexplode(n.nspacl) a WHERE nspname = 'dp_rdr' AND a.grantee = 'reporting'::regrole
	UNION ALL SELECT relname FROM pg_class c, aclexplode(c.relacl) a
	WHERE relnamespace = 'dp_rdr'::regnamespace AND a.grantee = 'reporting'::regrole
	UNION ALL SELECT proname FROM pg_proc p, aclexplode(p.proacl) a
	WHERE pronamespace = 'dp_rdr'::regnamespace AND a.grantee = 'reporting'::regrole};
is($node->safe_psql('given', $rights), '', 'default privileges open nothing of the catalog to a role');
my $calls = q{SELECT string_agg(p.oid::regprocedure::text, ',' ORDER BY p.oid::regprocedure::text) FROM pg_proc p
	WHERE pronamespace = 'dp_rdr'::regnamespace AND has_function_privilege('reporting', p.oid, 'EXECUTE')};
protect_people($node, 'postgres');
is($node->safe_psql('given', $calls), $node->safe_psql('postgres', $calls), 'and it may call what everybody may');

# One keeper would be held by a long scan while other queries have taken the slots that are free.
ask($node, 'postgres');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 2 FROM dp_rdr.keepers()'), 'the first question starts two keepers');

$node->stop('fast');
done_testing();
