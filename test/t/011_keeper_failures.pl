# What becomes of a charge, a keeper and everybody else's questions when a client or a keeper goes, at each of their steps.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

# What reads slowly leaves a core to whoever looks on.
my $node = new_server('failures', q{
	max_worker_processes = 8
	dp_rdr.keepers = 1
	restart_after_crash = on
	max_parallel_workers_per_gather = 0
	log_min_messages = log
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 400); # 20 seconds
$node->safe_psql('postgres', 'CREATE ROLE other LOGIN');
psql_as($node, 'postgres', 'controller', q{SELECT dp_grant('people_dp', 'other', tau => 0.95)});
ask($node, 'postgres');

sub lives
{
	my ($name) = @_;
	my ($answer, $seconds) = timed(sub { ask($node, 'postgres') });
	like($answer, qr/^-?\d+$/, sprintf('%s: the next question is answered, after %.1f seconds', $name, $seconds));
	cmp_ok($seconds, '<', 15, "$name: at once"); # not behind a reading of twenty seconds
	return;
}

# ---- the client goes ----

# One that waits for a keeper that does not move.
my $before = releases($node);
my ($keeper) = keepers($node);
kill 'STOP', $keeper;
for my $end ('cancel', 'terminate')
{
	my $session = session($node);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	start_question($session, $COUNT);
	usleep(300_000);
	$node->safe_psql('postgres', "SELECT pg_${end}_backend($pid)");
	is(finish_question($session), '57014', 'pending: cancelled') if $end eq 'cancel';
	eval { $session->quit };
}
is(sqlstate($node, 'postgres', 'analyst', "SET statement_timeout = 300; $COUNT"), '57014', 'pending: timed out');
# More of them than there are places.
my $many = join("\n", map { "$COUNT;" } 1 .. 140);
$node->psql('postgres', "SET statement_timeout = 10;\n$many", on_error_stop => 0, extra_params => [ '-U', 'analyst' ]);
kill 'CONT', $keeper;
is(releases($node), $before, 'pending: nothing is charged');
lives('pending, more often than there are places');

# One whose charge waits for a lock on the ledger.
$before = releases($node);
my $locker = session($node, 'postgres');
$locker->query_safe('BEGIN');
$locker->query_safe('LOCK TABLE dp_rdr.ledger_row IN EXCLUSIVE MODE');
my $session = session($node);
my $pid = $session->query_safe('SELECT pg_backend_pid()');
start_question($session, $COUNT);
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'dp_rdr.ledger_row'::regclass});
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
is(finish_question($session), '57014', 'charging: cancelled');
$locker->query_safe('COMMIT');
$node->poll_query_until('postgres', "SELECT releases = $before + 1 FROM dp_odometer('people') WHERE account = 'public'");
is(releases($node), $before + 1, 'charging: the charge stays');
lives('charging');

# One that has been charged and waits for its turn, behind one that reads for long.
sub wait_for_reading
{
	my ($charged) = @_;
	$node->poll_query_until('postgres', "SELECT releases = $charged FROM dp_odometer('slow') WHERE account = 'public'")
	  or die 'no charge';
	return;
}
my $slow = session($node);
my $slow_pid = $slow->query_safe('SELECT pg_backend_pid()');
my $slow_before = releases($node, 'slow');
start_question($slow, $SLOW);
wait_for_reading($slow_before + 1);
my $begun = time;
usleep(200_000);
$node->safe_psql('postgres', "SELECT pg_cancel_backend($slow_pid)");
is(finish_question($slow), '57014', 'reading: cancelled');
($keeper) = keepers($node);
$node->poll_query_until('postgres', q{SELECT state = 'idle' FROM dp_rdr.keepers()}) or die 'the keeper reads on';
cmp_ok(time - $begun, '<', 15, 'reading: the keeper stops');
is(releases($node, 'slow'), $slow_before + 1, 'reading: the charge stays');
is((keepers($node))[0], $keeper, 'and it is the same keeper');
lives('reading');

start_question($slow, $SLOW);
wait_for_reading($slow_before + 2);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($slow_pid)");
eval { $slow->quit };
$node->poll_query_until('postgres', q{SELECT state = 'idle' FROM dp_rdr.keepers()}) or die 'the keeper reads on';
is((keepers($node))[0], $keeper, 'reading: terminated, and the keeper lives');
lives('terminated');

# ---- a cancel of a keeper does nothing ----

$slow = session($node);
start_question($slow, $SLOW);
wait_for_reading($slow_before + 3);
$node->safe_psql('postgres', "SELECT pg_cancel_backend($keeper)") for 1 .. 3;
ok((keepers($node))[0] == $keeper, 'pg_cancel_backend on a keeper');
is($node->safe_psql('postgres', q{SELECT state FROM dp_rdr.keepers()}), 'busy', 'it reads on');

# ---- the keeper goes ----

$node->safe_psql('postgres', "SELECT pg_terminate_backend($keeper)");
is(finish_question($slow), '40003', 'the keeper is terminated: no answer');
is(releases($node, 'slow'), $slow_before + 3, 'the charge stays');
lives('keeper terminated');
isnt((keepers($node))[0], $keeper, 'by another one');
ok(verified($node, 'postgres', 'slow'), 'the chain is whole');

# Charged and waiting for a keeper that is terminated: another one starts and answers.
my $small = session($node, 'other');
start_question($slow, $SLOW);
wait_for_reading($slow_before + 4);
start_question($small, $COUNT);
usleep(300_000);
kill 'TERM', (keepers($node))[0];
is(finish_question($slow), '40003', 'what it read is lost');
like(finish_question($small), qr/^-?\d{1,4}$/, 'what waited is answered by its successor');

# Killed: the server restarts, and what was committed stays.
start_question($slow, $SLOW);
wait_for_reading($slow_before + 5);
my $log_so_far = -s $node->logfile;
kill 'KILL', (keepers($node))[0];
$node->wait_for_log(qr/all server processes terminated; reinitializing/, $log_so_far);
wait_until_up($node);
eval { $_->quit } for $slow, $small, $session, $locker;
is(releases($node, 'slow'), $slow_before + 5, 'killed: the charge stays');
ok(verified($node, 'postgres', 'slow'), 'and the chain is whole');
lives('killed');

# ---- a failed reading ----

psql_as($node, 'postgres', 'controller', 'TRUNCATE slow; INSERT INTO slow VALUES (1), (-1)');
($keeper) = keepers($node);
is(sqlstate($node, 'postgres', 'analyst', $SLOW), '40003', 'a reading fails');
my $suspended = q{SELECT count(*) FROM dp_rdr.suspension};
is($node->safe_psql('postgres', $suspended), 1, 'the role is suspended');
is((keepers($node))[0], $keeper, 'the keeper lives');
lives('a failed reading');
psql_as($node, 'postgres', 'controller', q{SELECT dp_resume('slow_dp', 'analyst')});

# Also when its client has gone while the row was read that fails, and the odometer is held.
psql_as($node, 'postgres', 'controller', q{
	TRUNCATE slow; INSERT INTO slow SELECT g FROM generate_series(1, 20) g; INSERT INTO slow VALUES (-1)});
$locker = session($node, 'postgres');
$slow = session($node);
$slow_before = releases($node, 'slow');
start_question($slow, $SLOW);
wait_for_reading($slow_before + 1);
$locker->query_safe('BEGIN');
$locker->query_safe(q{SELECT FROM dp_rdr.odometer WHERE relation_name = 'public.slow' FOR UPDATE});
usleep(1_700_000); # it has failed
$locker->query_safe('COMMIT');
is(finish_question($slow), '40003', 'a reading fails beside a lock on the odometer');
is($node->safe_psql('postgres', $suspended), 1, 'and the role is suspended when the lock is gone');

psql_as($node, 'postgres', 'controller', q{SELECT dp_resume('slow_dp', 'analyst')});

# And when the odometer stays held for longer than anybody waits for it: the suspension has no row in the ledger then.
my $rows_before = $node->safe_psql('postgres', q{SELECT count(*) FROM dp_rdr.ledger_row WHERE kind = 'suspension'});
start_question($slow, $SLOW);
wait_for_reading($slow_before + 2);
$locker->query_safe('BEGIN');
$locker->query_safe(q{SELECT FROM dp_rdr.odometer WHERE relation_name = 'public.slow' FOR UPDATE});
is(finish_question($slow), '40003', 'a reading fails beside a lock on the odometer that stays');
is($node->safe_psql('postgres', $suspended), 1, 'and the role is suspended all the same');
$locker->query_safe('COMMIT');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_rdr.ledger_row WHERE kind = 'suspension'}), $rows_before,
	'without a row in the ledger');
ok(verified($node, 'postgres', 'slow'), 'whose chain is whole');
like(slurp_file($node->logfile), qr/a role is suspended on public.slow_dp without a row in the ledger/, 'which the log says');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11|signal 6|WARNING:  you don't own|ERROR:.*the row that fails/,
	'nothing in the log that should not be there');
$node->stop;
done_testing();
