# A keeper that has charged a request, and may not read it yet, holds the locks of its tables meanwhile. It gives them back
# when it goes, however it goes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('locks', q{
	max_worker_processes = 8
	dp_rdr.keepers = 1
	restart_after_crash = on
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 100); # 5 seconds

# Who holds a lock on slow: pids; 0 is a process that is no more.
sub holders
{
	return split /\n/, $node->safe_psql('postgres',
		q{SELECT DISTINCT coalesce(pid, 0) FROM pg_locks WHERE relation = 'slow'::regclass AND granted ORDER BY 1});
}

# What comes while the only keeper reads it charges in one batch; then it reads one, and the other waits.
my $queued = q{SELECT count(*) FROM dp_rdr.queue()};
my ($first, @sessions) = map { session($node) } 0 .. 2;
start_question($first, $SLOW);
$node->poll_query_until('postgres', "SELECT ($queued WHERE state = 'reading') = 1") or die 'nobody reads';
start_question($_, $SLOW) for @sessions;
$node->poll_query_until('postgres', "SELECT ($queued) = 2 AND ($queued WHERE state = 'charged') = 1 AND ($queued WHERE state = 'reading') = 1")
	or die 'nobody waits';
is(account($node, 'postgres', 'slow') =~ s/\|.*//r, 3, 'both are charged');
is(scalar(my @both = holders()), 1, 'one keeper holds the table for both');
my ($charger) = @both;

$node->safe_psql('postgres', "SELECT pg_terminate_backend($charger)");
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $charger");
is(join(' ', grep { $_ == $charger || $_ == 0 } holders()), '', 'when it is terminated its locks go with it');
my @answers = sort map { finish_question($_) =~ s/^-?\d{1,4}$/answered/r } @sessions;
is("@answers", '40003 answered', 'what it has read is lost, and another reads what it has charged');
$_->quit for $first, @sessions;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_locks WHERE relation = 'slow'::regclass}), 'and then nobody holds the table');
is(sqlstate($node, 'postgres', 'controller', q{SET lock_timeout = '60s'; ALTER TABLE slow ADD COLUMN later integer}), '',
	'which can be altered');
ok(verified($node, 'postgres', 'slow'), 'the ledger is whole');

$node->stop;
done_testing();
