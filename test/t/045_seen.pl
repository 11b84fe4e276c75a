# Looks at what administrators alone see of keepers and of the queue, and how keepers end.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('seen', q{
	max_worker_processes = 8
	dp_rdr.keepers = 2
	log_min_messages = log
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 60); # 3 seconds
$node->safe_psql('postgres', 'CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher; CREATE ROLE nobody LOGIN');

sub seen_by
{
	my ($role, $what) = @_;
	return psql_as($node, 'postgres', $role, qq{SELECT $what FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'
		AND state IS DISTINCT FROM 'idle' ORDER BY 1});
}

# ---- a reading ----

my $session = session($node);
my $client  = $session->query_safe('SELECT pg_backend_pid()');
start_question($session, $SLOW);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM dp_rdr.queue() WHERE state = 'reading'}) or die 'nobody reads';
is(seen_by('watcher', 'state, query'), 'active|dp_rdr: reading for analyst on public.slow_dp', 'a monitor sees who reads what for whom');
for my $role ('nobody', 'analyst')
{
	is(psql_as($node, 'postgres', $role, q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'dp_rdr:%' OR backend_type = 'dp_rdr keeper'}),
		0, "$role does not");
}
is(psql_as($node, 'postgres', 'watcher', q{SELECT client_pid, login, relation, state, since < now(), (SELECT count(*) FROM dp_rdr.keepers() k
	WHERE k.pid = keeper_pid) FROM dp_rdr.queue()}), "$client|analyst|slow_dp|reading|t|1", 'the queue has it');
is(sqlstate($node, 'postgres', 'nobody', 'SELECT * FROM dp_rdr.queue()'), '42501', 'which is not for everybody');
is(sqlstate($node, 'postgres', 'analyst', 'SELECT * FROM dp_rdr.queue()'), '42501', 'nor for analysts');
like(finish_question($session), qr/^-?\d{1,4}$/, 'it is answered');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.queue()'), 0, 'and the queue is empty');
is(seen_by('watcher', 'query'), '', 'keepers are idle');
my ($keeper) = keepers($node);
like(slurp_file("/proc/$keeper/cmdline"), qr/dp_rdr keeper of postgres/, 'a process has the name of its database')
  if -e "/proc/$keeper/cmdline";

# ---- one that waits ----

my $owner = session($node, 'controller');
$owner->query_safe('BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE');
start_question($session, $COUNT);
# It waits for a lock while it prepares: alone, for up to two seconds.
my $charged = releases($node);
$node->poll_query_until('postgres', q{SELECT count(pg_terminate_backend(q.keeper_pid)) = 1 FROM dp_rdr.queue() q,
	LATERAL pg_blocking_pids(q.keeper_pid) b WHERE q.state = 'charging' AND cardinality(b) > 0}) or die 'nobody waits';
is(finish_question($session), '57P03', 'a keeper that is ended before the charge: an error of its own');
is(releases($node), $charged, 'nothing is charged');
$owner->query_safe('ROLLBACK');

# ---- a failure ----

my $log = -s $node->logfile;
psql_as($node, 'postgres', 'controller', 'UPDATE slow SET id = -1 WHERE id = 7');
is(sqlstate($node, 'postgres', 'analyst', $SLOW), '40003', 'a reading fails');
my $said = slurp_file($node->logfile, $log);
like($said, qr/reading rows of public.slow failed with SQLSTATE P0001/, 'the log says so');
like($said, qr/background worker of database "postgres"/, 'and in which database');
unlike($said, qr/the row that fails/, 'without words that may be of a row');
$session->quit;

# ---- the end ----

$log = -s $node->logfile;
ask($node, 'postgres');
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM dp_rdr.keepers() WHERE state <> 'idle'});
$owner->quit;
$node->stop('fast');
unlike(slurp_file($node->logfile, $log), qr/FATAL.*background worker/, 'idle keepers go without a word');

done_testing();
