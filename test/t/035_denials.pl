# What was denied stays written down: through a crash, for the latest thousand, in a dump.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('denials', "fsync = on\nrestart_after_crash = on\n");
protect_people($node, 'postgres');
$node->safe_psql('postgres', q{SELECT dp_set_odometer('people', 'filter', 0.01)});

# Asks as the analyst, and is denied.
sub denied
{
	my ($sql) = @_;
	my ($code, $stdout, $stderr) = $node->psql('postgres', $sql, extra_params => [ '-U', 'analyst' ]);
	return $stderr =~ /query denied/;
}

sub counted
{
	return $node->safe_psql('postgres',
		q{SELECT coalesce(sum(times), 0) FROM dp_rdr.denials UNION ALL SELECT sum(denials) FROM dp_odometer('people')});
}

# ---- a crash ----
ok(denied("BEGIN; $COUNT; COMMIT;"), 'denied');
is(counted(), "1\n1", 'and written down, with the count of the odometer');
ok(denied($COUNT), 'denied again');
$node->stop('immediate');
$node->start;
is(counted(), "2\n2", 'a crash takes neither back');
is($node->safe_psql('postgres', 'SELECT reason, account, role_name, session_role, times, first < last FROM dp_rdr.denials'),
	'epsilon_total of the table|public|analyst|analyst|2|t', 'one row for the same question');

# ---- many ----
my $many = join "\n", map { "SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE age = $_') AS (n bigint);" } 1 .. 1250;
$node->psql('postgres', $many, on_error_stop => 0, stderr => \my $errors, extra_params => [ '-U', 'analyst' ]);
is(scalar(() = $errors =~ /query denied/g), 1250, 'many different ones are denied');
my $kept = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.denials');
cmp_ok($kept, '>=', 1000, "the latest thousand are kept");
cmp_ok($kept, '<=', 1100, "and not many more");
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_rdr.denials WHERE query ~ 'age = (1250|1249|252|251)\M'}),
	4, 'the latest among them');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_rdr.denials WHERE query ~ 'age > 40|age = [12]\M'}),
	0, 'and not the first');
is($node->safe_psql('postgres', q{SELECT sum(denials) FROM dp_odometer('people')}), 1252, 'the odometer counts all');
is($node->safe_psql('postgres', q{SELECT dp_verify_ledger('people')}), 't', 'the ledger knows nothing of them');

# ---- a dump ----
$node->safe_psql('postgres', q{
	CREATE ROLE gone LOGIN;
	SELECT dp_grant('people_dp', 'gone', tau => 0.95);
});
$node->psql('postgres', $COUNT, stderr => \my $ignored, extra_params => [ '-U', 'gone' ]);
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_rdr.denials WHERE role_name = 'gone'}), 1, 'another role is denied');
$node->safe_psql('postgres', q{SELECT dp_revoke('people_dp', 'gone'); DROP ROLE gone;});
my $before = $node->safe_psql('postgres', q{SELECT md5(string_agg(d::text, '' ORDER BY d::text)) FROM dp_rdr.denials d WHERE role_name <> 'gone'});
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE again');
$node->command_ok([ 'psql', '-X', '-q', '-d', $node->connstr('again'), '-v', 'ON_ERROR_STOP=1', '-f', $dump ], 'restored');
is($node->safe_psql('again', q{SELECT md5(string_agg(d::text, '' ORDER BY d::text)) FROM dp_rdr.denials d}),
	$before, 'with what was denied, but for roles that are gone');

$node->stop;
done_testing();
