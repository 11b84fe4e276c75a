# Keepers among other processes: what one login may hold of them, and who does not have to wait for them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = new_server('keepers', 'max_parallel_workers_per_gather = 0');
protect_people($node, 'postgres', rows => 1_000_000);
$node->safe_psql('postgres', 'CREATE ROLE colleague LOGIN');
psql_as($node, 'postgres', 'controller', q{SELECT dp_grant('people_dp', 'colleague', tau => 0.95)});

# Every row passes every one of these comparisons: some seconds.
my $conditions = join(' AND ', map { 'age <> ' . (1000 + $_) } 1 .. 900);
my $slow = qq{SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE $conditions') AS (n bigint)};
my $asking = q{FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active'};
my $reading = q{FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND backend_xmin IS NOT NULL
	AND xact_start < clock_timestamp() - interval '100 ms'};

# Four long questions of one login: two of the three keepers are all that it gets, and the third answers somebody else.
my @sessions = map { $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'analyst' ]) } 1 .. 4;
$_->query_until(qr/asked/, "\\echo asked\n$slow;\n") for @sessions;
$node->poll_query_until('postgres', "SELECT count(*) >= 2 $reading") or die 'nobody reads';
# All that may be there are, and have had the time to take a question.
$node->poll_query_until('postgres', "SELECT count(*) = 3 FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'")
  or die 'not all keepers come';
$node->safe_psql('postgres', 'SELECT pg_sleep(1)');
like(psql_as($node, 'postgres', 'colleague', $COUNT), qr/^-?\d+$/, 'somebody else is answered');
is($node->safe_psql('postgres', "SELECT count(*) $asking"), 4, 'before any of four long questions of one login');
is($node->safe_psql('postgres', "SELECT count(*) $reading"), 2, 'for which two of three keepers read');
like($_->query('SELECT 1'), qr/^-?\d+\n1$/, 'a long question is answered as well') for @sessions;
$_->quit for @sessions;
is(account($node, 'postgres'), '5|0.25', 'and all are charged');

# A database can be dropped, and copied, beside its idle keepers.
$node->safe_psql('postgres', 'CREATE DATABASE other');
protect_people_again($node, 'other');
like(ask($node, 'other'), qr/^-?\d+$/, 'a question in another database');
my $keepers = q{FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = 'other'};
is($node->safe_psql('postgres', "SELECT count(*) > 0 $keepers"), 't', 'has keepers of its own');
my $begun = time;
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE other; DROP DATABASE other');
cmp_ok(time - $begun, '<', 60, 'which do not hinder its copy and its end');
like(ask($node, 'copy'), qr/^-?\d+$/, 'the copy answers');
ok(verified($node, 'copy'), 'and its ledger is whole');

# Roles are the cluster's.
sub protect_people_again
{
	my ($server, $database) = @_;
	$server->safe_psql($database, 'CREATE EXTENSION dp_rdr; GRANT CREATE ON SCHEMA public TO controller');
	psql_as($server, $database, 'controller', q{
		CREATE TABLE people AS SELECT g % 90 AS age FROM generate_series(1, 1000) g;
		SELECT dp_protect('people', 'people_dp');
		SELECT dp_set_odometer('people', 'none');
		SELECT dp_grant('people_dp', 'analyst', tau => 0.95);});
	return;
}

# Where the server has room for two, one is all that a login gets.
$node->append_conf('postgresql.conf', 'max_worker_processes = 4');
$node->restart;
@sessions = map { $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'analyst' ]) } 1 .. 3;
$_->query_until(qr/asked/, "\\echo asked\n$slow;\n") for @sessions;
$node->poll_query_until('postgres', "SELECT count(*) >= 1 $reading") or die 'nobody reads';
$node->poll_query_until('postgres', "SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'")
  or die 'not all keepers come';
$node->safe_psql('postgres', 'SELECT pg_sleep(1)');
like(psql_as($node, 'postgres', 'colleague', $COUNT), qr/^-?\d+$/, 'with room for two keepers, somebody else is answered');
is($node->safe_psql('postgres', "SELECT count(*) $asking"), 3, 'before any of three long questions of one login');
like($_->query('SELECT 1'), qr/^-?\d+\n1$/, 'which are answered as well') for @sessions;
$_->quit for @sessions;

ok(verified($node, 'postgres'), 'the ledger is whole');
$node->stop;
done_testing();
