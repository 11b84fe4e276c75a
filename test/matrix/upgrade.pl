# pg_upgrade keeps settings, ledger, totals, chain, policies and suspensions, and answers go on from there.
#
# The library has to be installed for both versions. DP_OLD and DP_NEW name their folders, as /usr/lib/postgresql/15.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "session_preload_libraries = 'dp_rdr'\n";
my $old = new_server('old', $conf, install_path => $ENV{DP_OLD});
$old->safe_psql('postgres', 'CREATE DATABASE data');
protect_people($old, 'data', bound => 'filter');

# A dropped column, names that need quotes, a table and a role that have gone and left their charges, a role that is
# suspended, and one whose answers have no noise to speak of.
$old->safe_psql('data', q{
	CREATE ROLE leaver LOGIN;
	CREATE ROLE failed LOGIN;
	CREATE ROLE precise LOGIN;
	GRANT CREATE ON DATABASE data TO controller});
psql_as($old, 'data', 'controller', q{
	CREATE SCHEMA "Odd schema" CREATE TABLE "Ta""ble" (gone text, pay numeric(8,2), "Of age" boolean, city text);
	ALTER TABLE "Odd schema"."Ta""ble" DROP COLUMN gone;
	INSERT INTO "Odd schema"."Ta""ble" SELECT g, g % 2 = 0, 'Rome' FROM generate_series(1, 100) g;
	SELECT dp_protect('"Odd schema"."Ta""ble"', '"Odd schema"."Vi""ew"');
	SELECT dp_set_bounds('"Odd schema"."Ta""ble"', 'pay', -0.5, 99.5);
	SELECT dp_set_odometer('"Odd schema"."Ta""ble"', 'none');
	GRANT USAGE ON SCHEMA "Odd schema" TO analyst, precise;
	SELECT dp_grant('"Odd schema"."Vi""ew"', 'precise', tau => 0, epsilon_max => 100, candidates => '{50}');

	CREATE TABLE passing (age integer);
	SELECT dp_protect('passing', 'passing_dp');
	SELECT dp_grant('passing_dp', 'analyst', tau => 0.9);
	SELECT dp_grant('people_dp', r, tau => 0.9) FROM unnest('{leaver,failed}'::regrole[]) r;});

my $exact = q{SELECT "Of age", count(*) FROM "Odd schema"."Vi""ew" GROUP BY 1 ORDER BY 1};
ask($old, 'data');
my $answer = psql_as($old, 'data', 'precise', $exact);
is($answer, "f|50\nt|50\n|0", 'an exact answer');
ask($old, 'data', q{SELECT * FROM dp_query('SELECT count(*) FROM passing_dp') AS (n bigint)});
psql_as($old, 'data', 'leaver', $COUNT);
psql_as($old, 'data', 'controller', q{CALL dp_find_epsilon('SELECT count(*) FROM people_dp WHERE age > 40', 0.95)});
psql_as($old, 'data', 'controller', 'DROP TABLE passing CASCADE');
$old->safe_psql('data', q{INSERT INTO dp_rdr.suspension VALUES ('people_dp', 'failed', 'failed', 'failed', '2026-01-02 03:04:05Z')});
is(sqlstate($old, 'data', 'failed', $COUNT), '55000', 'a suspended role is refused');
$old->safe_psql('data', 'DROP OWNED BY leaver; DROP ROLE leaver');

my %before = map { $_ => fact($old, 'data', $_) } keys %FACTS;
my $account = account($old, 'data');
$old->stop;

my $new = new_server('new', $conf, install_path => $ENV{DP_NEW});
$new->stop;
chdir PostgreSQL::Test::Utils::tempdir() or die $!;
command_ok([ "$ENV{DP_NEW}/bin/pg_upgrade", '-d', $old->data_dir, '-D', $new->data_dir, '-b', "$ENV{DP_OLD}/bin",
	'-B', "$ENV{DP_NEW}/bin", '-s', $new->host, '-p', $old->port, '-P', $new->port ], 'pg_upgrade');
$new->start;

for my $name (sort keys %FACTS)
{
	isnt($before{$name}, '', "$name: something to compare");
	is(fact($new, 'data', $name), $before{$name}, "$name: the same after the upgrade");
}
ok(verified($new, 'data'), 'the ledger of people is whole');
ok(verified($new, 'data', '"Odd schema"."Ta""ble"'), 'and that of the odd table');
is($new->safe_psql('data', q{SELECT count(*) FROM dp_audit() WHERE finding ~ 'ledger|answers no query'}), '0',
	'the audit finds no fault');

is(account($new, 'data'), $account, 'the totals before');
like(ask($new, 'data'), qr/^-?\d+$/, 'a count is answered');
isnt(account($new, 'data'), $account, 'and charged');
is(psql_as($new, 'data', 'precise', $exact), $answer, 'the exact answer is the same');
is(sqlstate($new, 'data', 'failed', $COUNT), '55000', 'the suspended role is refused still');
is(sqlstate($new, 'data', 'analyst', 'SELECT age FROM people_dp'), '42501', 'rows are private');
is(sqlstate($new, 'data', 'analyst', 'SELECT age FROM people'), '42501', 'the table is, too');
ok(verified($new, 'data'), 'the chain goes on');
is($new->safe_psql('data', 'SELECT count(*) = count(DISTINCT id) AND max(id) = count(*) FROM dp_rdr.ledger_row'),
	't', 'the numbers of the ledger go on');
psql_as($new, 'data', 'controller', q{SELECT dp_unprotect('"Odd schema"."Vi""ew"')});
is(sqlstate($new, 'data', 'precise', $exact), '42P01', 'what was protected before can be given up');

done_testing();
