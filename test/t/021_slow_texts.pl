# Constants that take long to compute, and questions that take long to prepare, asked for by one login again and again: another login's
# question is answered meanwhile.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_server('slow', 'max_parallel_workers_per_gather = 0');
protect_people($node, 'postgres');
$node->safe_psql('postgres', 'CREATE ROLE colleague LOGIN');
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('people_dp', 'colleague', tau => 0.95);
	CREATE TABLE other (age integer);
	SELECT dp_protect('other', 'other_dp');
	SELECT dp_set_odometer('other', 'none');
	SELECT dp_grant('other_dp', 'colleague', tau => 0.95);});
my $count = q{SELECT * FROM dp_query('SELECT count(*) FROM other_dp') AS (n bigint)};
like(psql_as($node, 'postgres', 'colleague', $count), qr/^-?\d+$/, 'a keeper is there');

# Each of these takes minutes, and looks at no timer and no signal for seconds at a time.
my $dear = join ' OR ', map { qq{age::text = translate(repeat('ab', 30000), repeat('x', 60000 - $_), 'y')} } 1 .. 60;
my $slow = "SELECT * FROM dp_query(\$q\$SELECT count(*) FROM people_dp WHERE $dear\$q\$) AS (n bigint)";
my @hostile = map { session($node) } 1 .. 3;
start_question($_, $slow) for @hostile;
my $asking = q{FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active'};
$node->poll_query_until('postgres', "SELECT count(*) = 3 $asking AND query_start < clock_timestamp() - interval '1 s'")
  or die 'they do not ask';
is($node->safe_psql('postgres', "SELECT count(*) $asking AND wait_event IS NULL"),
	3, 'who asks computes his constants, and waits for nobody');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND backend_xmin IS NOT NULL}),
	0, 'nor does a keeper for him');
like(psql_as($node, 'postgres', 'colleague', $count), qr/^-?\d+$/, 'somebody else is answered');
is($node->safe_psql('postgres', "SELECT count(*) $asking"), 3, 'before any of them');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_rdr.ledger WHERE role_name = 'analyst'}), '0', 'they cost nothing');
$node->stop('immediate');

# Texts that are as long as they may be: preparing them takes a while, and reading does not.
$node->start;
my $conditions = join ' AND ', map { 'age <> ' . (1000 + $_) } 1 .. 3000;
my $long = qq{DO \$\$ BEGIN LOOP PERFORM n FROM dp_query('SELECT count(*) FROM people_dp WHERE $conditions') AS (n bigint); END LOOP; END \$\$};
my @long = map { session($node) } 1 .. 8;
start_question($_, $long) for @long;
wait_for_keepers($node, 3) or die 'not all keepers come';
my ($most, $answered) = (0, 0);
for (1 .. 300)
{
	my $busy = $node->safe_psql('postgres',
		q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND backend_xmin IS NOT NULL});
	$most = $busy if $busy > $most;
	usleep(10_000);
}
is($most, 2, 'one login never has all three keepers prepare, charge and read for it, and two it has');
like(psql_as($node, 'postgres', 'colleague', $count), qr/^-?\d+$/, 'somebody else is answered');
is($node->safe_psql('postgres', "SELECT count(*) $asking"), 8, 'while it asks');
$node->stop('immediate');
done_testing();
