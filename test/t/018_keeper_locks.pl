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
	dp_rdr.keepers = 2
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

# One login does not get both keepers: one reads its first question, the other has charged the second. Were both asked at once,
# one keeper might charge both, and no other would have to do with them.
my $holding = q{SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.relation = 'slow'::regclass AND a.backend_type = 'dp_rdr keeper' AND
	EXISTS (SELECT FROM pg_locks t WHERE t.pid = l.pid AND t.locktype = 'virtualxid')};
my $reading = $holding . ' = true';
my $waiting = $holding . ' = false';
my @sessions = map { session($node) } 1 .. 2;
start_question($sessions[0], $SLOW);
$node->poll_query_until('postgres', "SELECT count(DISTINCT pid) = 1 FROM ($reading) r") or die 'nobody reads';
# Not only while its charge is prepared.
$node->poll_query_until('postgres', q{SELECT releases = 1 FROM dp_odometer('slow') WHERE account = 'public'}) or die 'no charge';
start_question($sessions[1], $SLOW);
$node->poll_query_until('postgres', "SELECT count(DISTINCT pid) = 1 FROM ($waiting) w") or die 'nobody waits';
is(account($node, 'postgres', 'slow') =~ s/\|.*//r, 2, 'both are charged');
is(scalar(my @both = holders()), 2, 'both keepers hold the table');
my $charger = $node->safe_psql('postgres', "SELECT DISTINCT pid FROM ($waiting) w");

$node->safe_psql('postgres', "SELECT pg_terminate_backend($charger)");
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $charger");
is(join(' ', grep { $_ == $charger || $_ == 0 } holders()), '', 'when one is terminated its locks go with it');
like(finish_question($_), qr/^-?\d+$/, 'each question is answered all the same') for @sessions;
$_->quit for @sessions;
is(join(' ', holders()), '', 'and then nobody holds the table');
is(sqlstate($node, 'postgres', 'controller', q{SET lock_timeout = '3s'; ALTER TABLE slow ADD COLUMN later integer}), '',
	'which can be altered');
ok(verified($node, 'postgres', 'slow'), 'the ledger is whole');

$node->stop;
done_testing();
