# Answers that are given again: what a crash between charge and store leaves, stores that fail, sessions that ask at the same time,
# transactions that may not write, restarts, dumps.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_server('replay', q{
	session_preload_libraries = dp_rdr
	max_worker_processes = 8
	dp_rdr.keepers = 1
	restart_after_crash = on
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 30); # a second and a half
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('people_dp', 'analyst', replay => '1 hour'), dp_grant('slow_dp', 'analyst', replay => '1 hour'),
	       dp_set_groups('slow', 'id', '{1,2,3}')});

# A question about ages from this one on.
sub older
{
	my ($age) = @_;
	return "SELECT * FROM dp_query('SELECT sum(pay) FROM people_dp WHERE age > $age') AS (n bigint)";
}

sub charges_of
{
	my ($work) = @_;
	my $before = releases($node);
	my $answer = $work->();
	return ($answer, releases($node) - $before);
}

sub stored
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.stored_answer');
}

# ---- no row is read ----

my ($first, $seconds) = timed(sub { ask($node, 'postgres', $SLOW) });
cmp_ok($seconds, '>', 1, 'the first answer reads the rows');
# A row that nobody can read.
$node->safe_psql('postgres', 'INSERT INTO slow VALUES (-1)');
is(ask($node, 'postgres', $SLOW), $first, 'the second one is the same, and reads none');
is(ask($node, 'postgres', 'SELECT DISTINCT id FROM slow_dp'), "1\n2\n3", 'declared groups are listed');
ask($node, 'postgres', 'SELECT DISTINCT id FROM slow_dp WHERE id IS NULL OR id + 1 > 0');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.suspension'), 0, 'and no row is read for them');
$node->safe_psql('postgres', 'DELETE FROM slow WHERE id = -1');

# ---- a keeper that goes between charge and store ----

my $locker = session($node, 'postgres');
$locker->query_safe('BEGIN');
$locker->query_safe('LOCK TABLE dp_rdr.stored_answer IN EXCLUSIVE MODE');
my $before  = releases($node);
my $session = session($node);
start_question($session, older(20));
ok( $node->poll_query_until('postgres',
		q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'dp_rdr.stored_answer'::regclass}),
	'a keeper waits to store an answer');
is(releases($node), $before + 1, 'it is charged');
my ($keeper) = keepers($node);
kill 'KILL', $keeper;
eval { $session->quit };
eval { $locker->quit };
usleep(500_000);
wait_until_up($node);
is(releases($node), $before + 1, 'killed between charge and store: the charge stays');
my ($answer, $charged) = charges_of(sub { ask($node, 'postgres', older(20)) });
is($charged, 1, 'and the answer is gone: asked again, it is paid again');
my ($replayed, $free) = charges_of(sub { ask($node, 'postgres', older(20)) });
is("$replayed $free", "$answer 0", 'and then no more');
(undef, $free) = charges_of(sub { ask($node, 'postgres', $SLOW) });
is($free, 0, 'what was stored before the crash is there');

# ---- a store that fails ----

$locker = session($node, 'postgres');
$locker->query_safe('BEGIN');
$locker->query_safe('LOCK TABLE dp_rdr.stored_answer IN EXCLUSIVE MODE');
my $log = -s $node->logfile;
($answer, $charged) = charges_of(sub { ask($node, 'postgres', older(30)) });
like("$answer $charged", qr/^-?\d+ 1$/, 'an answer that cannot be stored is given all the same');
ok($node->wait_for_log(qr/an answer about public\.people was not stored/, $log), 'the log says so');
$locker->query_safe('ROLLBACK');
$locker->quit;
(undef, $charged) = charges_of(sub { ask($node, 'postgres', older(30)) });
is($charged, 1, 'asked again, it is paid again');

# ---- transactions that may not write ----

($answer, $charged) = charges_of(sub {
	psql_as($node, 'postgres', 'analyst', 'SET default_transaction_read_only = on; BEGIN ISOLATION LEVEL SERIALIZABLE; ' . older(40) . '; COMMIT') });
is($charged, 1, 'a read-only transaction pays');
($replayed, $free) = charges_of(sub {
	psql_as($node, 'postgres', 'analyst', 'BEGIN READ ONLY; ' . older(40) . '; ROLLBACK') });
is("$replayed $free", "$answer 0", 'another one is given the same');

# ---- a client that goes behind the noise ----

$locker = session($node, 'postgres');
$locker->query_safe('BEGIN');
$locker->query_safe('LOCK TABLE dp_rdr.stored_answer IN EXCLUSIVE MODE');
$before  = releases($node);
$session = session($node);
my $pid = $session->query_safe('SELECT pg_backend_pid()');
start_question($session, older(50));
$node->poll_query_until('postgres',
	q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'dp_rdr.stored_answer'::regclass});
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
$locker->query_safe('ROLLBACK');
is(finish_question($session), '57014', 'cancelled while the answer is stored');
(undef, $free) = charges_of(sub { ask($node, 'postgres', older(50)) });
is($free, 0, 'asked again, it is given what it has paid');
$session->quit;
$locker->quit;

# ---- two who ask at the same time ----

($keeper) = keepers($node);
kill 'STOP', $keeper;
my @sessions = (session($node), session($node));
$before = releases($node);
start_question($_, older(60)) for @sessions;
usleep(500_000);
kill 'CONT', $keeper;
my @answers = map { finish_question($_) } @sessions;
is(releases($node), $before + 2, 'two who ask at the same time both pay');
$_->quit for @sessions;
my $oldest = $node->safe_psql('postgres', 'SELECT trim_scale(coordinates[1]) FROM dp_rdr.stored_answer ORDER BY at DESC OFFSET 1 LIMIT 1');
($replayed, $free) = charges_of(sub { ask($node, 'postgres', older(60)) });
is("$replayed $free", "$oldest 0", 'and both are given the older answer from then on');
ok((grep { $_ eq $replayed } @answers) > 0, 'which is one of theirs');

# ---- restart, dump, restore ----

$node->restart;
($replayed, $free) = charges_of(sub { ask($node, 'postgres', older(60)) });
is("$replayed $free", "$oldest 0", 'a restart changes nothing');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/replay.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, 'postgres' ], 'pg_dump');
unlike(PostgreSQL::Test::Utils::slurp_file($dump), qr/COPY dp_rdr\.(?:stored_answer|forgotten)/, 'stored answers are not dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copy'), '-f', $dump ], 'restore');
is($node->safe_psql('copy', q{SELECT replay FROM dp_rdr.policy WHERE view = 'people_dp'::regclass}), '01:00:00', 'the policy is');
$before = releases($node, 'people', 'copy');
ask($node, 'copy', older(60)) for 1 .. 2;
is(releases($node, 'people', 'copy'), $before + 1, 'in the copy it is drawn once more');
ok(verified($node, 'postgres'), 'the ledger is whole');

done_testing();
