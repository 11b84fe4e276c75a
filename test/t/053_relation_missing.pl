# Restores a dump without one of its protected tables and its view. What is declared of other tables is there, the audit names what is
# missing, and dp_refresh() brings its declarations back when the table comes later.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('missing', "session_preload_libraries = 'dp_rdr'");
protect_people($node, 'postgres');
$node->safe_psql('postgres', q{CREATE ROLE rita LOGIN});
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE visit (id integer PRIMARY KEY, minutes integer);
	INSERT INTO visit SELECT g, g % 60 FROM generate_series(1, 500) g;
	CREATE TABLE "Opening hours" (minutes integer PRIMARY KEY, phase text);
	SELECT dp_protect('visit', 'visit_dp'), dp_set_bounds('visit', 'minutes', 0, 59), dp_set_groups('visit', 'minutes', '{0,30}');
	SELECT dp_grant('visit_dp', 'analyst', tau => 0.95), dp_set_review('visit', '{rita}'), dp_set_review('people', '{rita}');
	SELECT dp_set_public('"Opening hours"', 'visit');});
my $visits = 'SELECT count(*) FROM visit_dp';
my $request = psql_as($node, 'postgres', 'analyst', q{SELECT dp_request('SELECT count(*) AS n FROM visit_dp', 'of what is missing')});
is(sqlstate($node, 'postgres', 'analyst', $visits), '', 'answered before');
$node->safe_psql('postgres', q{INSERT INTO dp_rdr.suspension VALUES ('visit_dp', 'analyst', 'rita', 'rita', now()), ('people_dp', 'analyst', 'rita', 'rita', now())});
# A number that a table had once is not that of another one elsewhere.
psql_as($node, 'postgres', 'controller', q{CREATE TABLE gone (id integer); SELECT dp_protect('gone', 'gone_dp'); DROP TABLE gone CASCADE});

my $tables = join(' UNION ALL ', map { "SELECT '$_', count(*) FROM dp_rdr.$_" }
	qw(privacy_domain protected_table public_table restricted_view column_bounds column_groups policy suspension reviewer request));
my $before = $node->safe_psql('postgres', $tables);
my $dump = PostgreSQL::Test::Utils::tempdir() . '/whole.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'postgres' ], 'the database is dumped');

my ($list, $rest) = map { PostgreSQL::Test::Utils::tempdir() . "/$_" } qw(list rest);
my @entries = split /\n/, `pg_restore -l $dump`;
my @missing = grep { /public (visit|visit_dp|Opening hours|TABLE visit|TABLE "Opening hours"|visit visit_pkey|Opening hours Opening hours_pkey|TABLE visit_dp|VIEW visit_dp)\b/ } @entries;
PostgreSQL::Test::Utils::append_to_file($rest, join("\n", @missing, ''));
my %is_missing = map { $_ => 1 } @missing;
PostgreSQL::Test::Utils::append_to_file($list, join("\n", (grep { !$is_missing{$_} } @entries), ''));

$node->safe_psql('template1', 'CREATE DATABASE copy');
my ($out, $err) = ('', '');
IPC::Run::run([ 'pg_restore', '-v', '-h', $node->host, '-p', $node->port, '-L', $list, '-d', 'copy', $dump ], '>', \$out, '2>', \$err);
unlike($err, qr/COPY failed|could not execute/, 'nothing fails');
like($err, qr/relation "public\.visit_dp" does not exist/, 'who restores hears of the view');
is($node->safe_psql('copy', $tables), $before, 'the catalog is whole');
is(sqlstate($node, 'copy', 'analyst', 'SELECT count(*) FROM people_dp'), '', 'another table is answered');
is($node->safe_psql('copy', q{SELECT string_agg(object || ': ' || finding, E'\n' ORDER BY object COLLATE "C") FROM dp_audit() WHERE finding ~ 'does not exist' AND object !~ 'gone'}),
	join("\n", 'public.visit: dp_rdr.protected_table names it, and it does not exist',
		'public.visit_dp: dp_rdr.restricted_view names it, and it does not exist',
		'relation N: dp_rdr.public_table names it, and it does not exist') =~ s/relation N/'relation ' . $node->safe_psql('copy', 'SELECT max(relation::oid) FROM dp_rdr.public_table')/er,
	'the audit names what is missing');
is($node->safe_psql('copy', 'SELECT count(*) FROM dp_rdr.protected_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation) AND t.relation::oid < 4026531840::oid'),
	'0', 'no number waits for a relation that gets it');
ok(verified($node, 'copy'), 'the ledger is whole');

# Restored once more, its numbers stay.
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dump.2", 'copy' ], 'the copy is dumped');
$node->safe_psql('template1', 'CREATE DATABASE again');
$node->command_ok([ 'pg_restore', '-d', 'again', "$dump.2" ], 'and restored');
is($node->safe_psql('again', $tables), $before, 'the catalog is whole again');

# The table comes later.
$node->command_ok([ 'pg_restore', '-L', $rest, '-d', 'copy', $dump ], 'the table is restored');
is(sqlstate($node, 'copy', 'analyst', $visits), '55000', 'a table that came later is not answered about');
is(sqlstate($node, 'copy', 'controller', q{SELECT dp_refresh('visit_dp')}), '', 'until it is refreshed');
is(sqlstate($node, 'copy', 'analyst', $visits), '', 'then it is');
is(psql_as($node, 'copy', 'controller', q{SELECT releases FROM dp_odometer('visit') WHERE account = 'public'}), '2', 'and goes on with its totals');
is($node->safe_psql('copy', q{SELECT count(*) FROM dp_rdr.suspension WHERE view = 'visit_dp'::regclass}), '1', 'its suspension is there');
is(psql_as($node, 'copy', 'rita', "SELECT state FROM dp_requests() WHERE request = $request"), 'pending', 'and its request');

$node->stop;
done_testing();
