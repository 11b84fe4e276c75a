# pg_dump and restore keep settings, ledger, totals and chain, on another server where every oid and default differs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $old = new_server('old', '');
$old->safe_psql('postgres', 'CREATE DATABASE data');
protect_people($old, 'data', bound => 'filter');

# Attribute numbers move when a table with a dropped column is restored; names need quotes; a table and a role are gone
# when the dump is taken, and their charges are not.
$old->safe_psql('data', 'CREATE ROLE leaver LOGIN; GRANT CREATE ON DATABASE data TO controller');
psql_as($old, 'data', 'controller', q{
	CREATE SCHEMA "Odd schema" CREATE TABLE "Ta""ble" (gone text, pay numeric(8,2), "Of age" boolean, city text);
	ALTER TABLE "Odd schema"."Ta""ble" DROP COLUMN gone;
	INSERT INTO "Odd schema"."Ta""ble" SELECT g, g % 2 = 0, 'Rome' FROM generate_series(1, 100) g;
	SELECT dp_protect('"Odd schema"."Ta""ble"', '"Odd schema"."Vi""ew"');
	SELECT dp_set_bounds('"Odd schema"."Ta""ble"', 'pay', -0.5, 99.5);
	GRANT USAGE ON SCHEMA "Odd schema" TO analyst;
	SELECT dp_grant('"Odd schema"."Vi""ew"', 'analyst', tau => 0.9);

	CREATE TABLE passing (age integer);
	SELECT dp_protect('passing', 'passing_dp');
	SELECT dp_grant('passing_dp', 'analyst', tau => 0.9);
	SELECT dp_grant('people_dp', 'leaver', tau => 0.9);});

my $sum_of_groups = q{SELECT * FROM dp_query('SELECT city, sum(pay) FROM people_dp GROUP BY city') AS (city text, s bigint)};
my $odd = q{SELECT * FROM dp_query('SELECT "Of age", sum(pay) FROM "Odd schema"."Vi""ew" GROUP BY 1') AS (a boolean, s numeric)};

# The keys that a grouped answer has, without its sums.
sub keys_of
{
	my ($node, $question) = @_;
	return ask($node, 'data', $question) =~ s/\|-?[\d.]+$//mgr;
}

ask($old, 'data');
my $groups = keys_of($old, $sum_of_groups);
my $odd_groups = keys_of($old, $odd);
ask($old, 'data', q{SELECT * FROM dp_query('SELECT count(*) FROM passing_dp') AS (n bigint)});
psql_as($old, 'data', 'leaver', $COUNT);
psql_as($old, 'data', 'controller', q{CALL dp_find_epsilon('SELECT count(*) FROM people_dp WHERE age > 40', 0.95)});
psql_as($old, 'data', 'controller', 'DROP TABLE passing CASCADE');
$old->safe_psql('data', q{INSERT INTO dp_rdr.suspension VALUES
	('people_dp', 'analyst', 'somebody', 'somebody', '2026-01-02 03:04:05Z'), ('people_dp', 'leaver', 'leaver', 'leaver', now())});
$old->safe_psql('data', 'DROP OWNED BY leaver; DROP ROLE leaver');

my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.dump';
$old->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'data' ], 'pg_dump');

# Another server: other oids for roles and relations, other defaults for everything that is written as text.
my $new = new_server('new', '');
$new->safe_psql('postgres', q{
	CREATE TABLE moves_the_oids ();
	CREATE ROLE analyst LOGIN;
	CREATE ROLE somebody;
	CREATE ROLE controller LOGIN;
	CREATE DATABASE data;
	ALTER DATABASE data SET TimeZone = 'Pacific/Chatham';
	ALTER DATABASE data SET DateStyle = 'German';
	ALTER DATABASE data SET IntervalStyle = 'sql_standard';
	ALTER DATABASE data SET bytea_output = 'escape';
	ALTER DATABASE data SET extra_float_digits = -15;
	ALTER DATABASE data SET default_transaction_isolation = 'repeatable read';
	ALTER DATABASE data SET search_path = nowhere, public;});
$new->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'data', $dump ], 'pg_restore');

for my $name (sort keys %FACTS)
{
	my $before = fact($old, 'data', $name);
	isnt($before, '', "$name: something to compare");
	is(fact($new, 'data', $name), $before, "$name: the same after the restore");
}
ok(verified($new, 'data'), 'the ledger of people is whole');
ok(verified($new, 'data', '"Odd schema"."Ta""ble"'), 'and that of the odd table');

# Questions go on from the same totals, with the same bounds and groups. Spent so far: two for the analyst, 0.1 for the
# role that has gone.
is(account($new, 'data'), '3|0.2', 'the totals before');
like(ask($new, 'data'), qr/^-?\d+$/, 'a count is answered');
is(keys_of($new, $sum_of_groups), $groups, 'a sum in the same groups as before');
is(account($new, 'data'), '5|0.3', 'and both are charged on top');
is(keys_of($new, $odd), $odd_groups, 'the odd table is answered');
ok(verified($new, 'data'), 'the chain goes on');
is($new->safe_psql('data', 'SELECT count(*) = count(DISTINCT id) AND max(id) = count(*) FROM dp_rdr.ledger_row'),
	't', 'the numbers of the ledger go on');

# The budget belongs to the table: another view of it starts where this one is.
psql_as($new, 'data', 'controller', q{
	SELECT dp_protect('people', 'people_again');
	SELECT dp_grant('people_again', 'analyst', tau => 0.95);});
ask($new, 'data', q{SELECT * FROM dp_query('SELECT count(*) FROM people_again') AS (n bigint)});
is(account($new, 'data'), '6|0.35', 'a second view shares the restored totals');

# A copy of the database has a copy of the totals.
$new->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE data');
is(account($new, 'copy'), '6|0.35', 'a copy begins with the totals of its template');
ask($new, 'copy');
is(account($new, 'copy'), '7|0.4', 'and charges on top of them');
is(account($new, 'data'), '6|0.35', 'as the template does for itself');

# Lost totals are not spent again: no answer without them, and the next dp_protect() closes the table at what the ledger
# tells, whatever was permitted before.
$new->safe_psql('copy', 'TRUNCATE dp_rdr.odometer, dp_rdr.odometer_share');
is(sqlstate($new, 'copy', 'analyst', $COUNT), '55000', 'without totals nothing is answered');
is(verified($new, 'copy'), '', 'and the ledger does not verify');
my ($status, $stdout, $stderr) = $new->psql('copy', q{SELECT dp_protect('people', 'people_third')},
	extra_params => [ '-U', 'controller' ]);
is($status, 0, 'a table that has lost its totals is protected again');
like($stderr, qr/WARNING:  public.people was protected before, and its totals are lost: no query will be answered/,
	'with a warning');
is(account($new, 'copy'), '7|0.4', 'its totals are those of the ledger');
is(sqlstate($new, 'copy', 'analyst', $COUNT), '53400', 'and are all that is permitted');
ok(verified($new, 'copy'), 'the ledger verifies again');
psql_as($new, 'copy', 'controller', q{SELECT dp_set_odometer('people', 'filter', epsilon_total => 0.6)});
ask($new, 'copy');
is(account($new, 'copy'), '8|0.45', 'until the controller permits more');

# A materialized view is filled anew by a restore: it asks, and is charged, again. A table keeps its answer.
$new->safe_psql('data', 'GRANT CREATE ON SCHEMA public TO analyst');
psql_as($new, 'data', 'analyst', qq{$COUNT; -- loads the library
	CREATE MATERIALIZED VIEW asked AS SELECT count(*) AS n FROM people_dp;
	CREATE TABLE kept AS SELECT count(*) AS n FROM people_dp;});
my ($before) = account($new, 'data') =~ /^(\d+)/;
my $kept = $new->safe_psql('data', 'TABLE kept');
$new->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'data' ], 'pg_dump of answers');
$new->safe_psql('postgres', 'CREATE DATABASE again');
$new->safe_psql('postgres', q{ALTER DATABASE again SET session_preload_libraries = 'dp_rdr'});
$new->command_checks_all([ 'pg_restore', '-v', '-d', 'again', $dump ], 0, [], [qr/WARNING: +a materialized view asks again, and is charged again/],
	'pg_restore -v shows a warning');
like(account($new, 'again'), qr/^${\($before + 1)}\|/, 'and one more is charged');
is($new->safe_psql('again', 'TABLE kept'), $kept, 'a table has the answer that was charged');

# The views go with the extension, so that there is nothing to ask until the controller protects the table again.
$new->safe_psql('copy', 'DROP EXTENSION dp_rdr CASCADE');
is(sqlstate($new, 'copy', 'analyst', 'SELECT count(*) FROM people_dp'), '42P01', 'without the extension: no view');
is(sqlstate($new, 'copy', 'analyst', 'SELECT count(*) FROM people'), '42501', 'and no other way to the table');
$new->safe_psql('copy', 'CREATE EXTENSION dp_rdr');
is(sqlstate($new, 'copy', 'analyst', $COUNT), '42P01', 'a new extension does not bring it back');

$_->stop for ($old, $new);
done_testing();
