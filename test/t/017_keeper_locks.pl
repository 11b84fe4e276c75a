# A keeper that goes while another one reads what it has charged leaves no lock behind.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use Test::More;

my $node = new_server('locks', "max_parallel_workers_per_gather = 0\ndp_rdr.keepers = 1");
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 160);
$node->safe_psql('postgres', 'CREATE ROLE colleague LOGIN');
psql_as($node, 'postgres', 'controller', q{SELECT dp_grant('slow_dp', 'colleague', tau => 0.95)});

# So many rows, 50 ms each.
sub question
{
	my ($rows) = @_;
	return "SELECT * FROM dp_query('SELECT count(*) FROM slow_dp WHERE id <= $rows AND id + 1 > 0') AS (n bigint)";
}

# While the only keeper reads for the first, two others wait. A second keeper charges both and reads for one of them; the first,
# which is done by then, reads for the other.
my ($first, $second, $third) = (session($node, 'colleague'), session($node), session($node, 'colleague'));
start_question($first, question(80));
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM dp_rdr.ledger}) or die 'nothing was charged';
start_question($second, question(120));
$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 2');
$node->reload;
start_question($third, question(160));
like(finish_question($first), qr/^-?\d+$/, 'the first question');
like(finish_question($second), qr/^-?\d+$/, 'the second');
my $holding = q{SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.relation = 'public.slow'::regclass AND a.backend_type = 'dp_rdr keeper' AND a.backend_xmin IS NULL};
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($holding) h") or BAIL_OUT("no idle keeper holds a lock");
my $pid = $node->safe_psql('postgres', $holding);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 5000)");
like(finish_question($third), qr/^-?\d+$/, 'the third is answered when the keeper that has charged it has gone');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE relation = 'public.slow'::regclass}), '0', 'no lock is left');
is(sqlstate($node, 'postgres', 'controller', q{SET lock_timeout = '3s'; ALTER TABLE slow ADD COLUMN other integer}), '',
	'the table can be changed');
$_->quit for $first, $second, $third;

$node->stop;
done_testing();
