# Nobody waits for another one's lock, scan or mistake; and nothing of one request is left for the next.

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
my $node = new_server('neighbours', q{
	max_worker_processes = 8
	max_parallel_workers_per_gather = 0
	log_min_messages = log
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 200); # 10 seconds
$node->safe_psql('postgres', 'CREATE ROLE other LOGIN');
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('people_dp', 'other', tau => 0.95);
	CREATE TABLE parts (id integer, d integer) PARTITION BY RANGE (d);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
	INSERT INTO parts SELECT g, g % 200 FROM generate_series(1, 1000) g;
	SELECT dp_protect('parts', 'parts_dp');
	SELECT dp_set_odometer('parts', 'none');
	SELECT dp_grant('parts_dp', 'analyst', tau => 0.95);
	SELECT dp_grant('parts_dp', 'controller', tau => 0.95);});
my $PARTS = q{SELECT * FROM dp_query('SELECT count(*) FROM parts_dp') AS (n bigint)};
ask($node, 'postgres');
ask($node, 'postgres', $PARTS);

# The longest of some answers of the other role while something goes on, in seconds.
sub longest_of_other
{
	my ($number) = @_;
	my $session = session($node, 'other');
	my $longest = 0;
	for (1 .. $number)
	{
		my ($answer, $seconds) = timed(sub { $session->query($COUNT) });
		$longest = $seconds if $seconds > $longest;
		die "no answer: $session->{stderr}" unless $answer =~ /^-?\d+$/;
	}
	$session->quit;
	return $longest;
}

# None of them took as long as what goes on.
sub answers_of_other
{
	my ($number, $name, $limit) = @_;
	my $longest = longest_of_other($number);
	cmp_ok($longest, '<', $limit, sprintf('%s: the longest of %d answers took %.3f s', $name, $number, $longest));
	return;
}

# ---- locks ----

my $before = releases($node, 'parts');
for my $lock (
	'ALTER TABLE parts ADD COLUMN more integer',
	'LOCK TABLE parts IN ACCESS EXCLUSIVE MODE',
	'LOCK TABLE parts_2 IN ACCESS EXCLUSIVE MODE',
	'ALTER TABLE parts_1 ADD CONSTRAINT c CHECK (id IS NOT NULL) NOT VALID',
	'ALTER VIEW parts_dp SET (security_barrier = true)')
{
	my $locker = session($node, 'controller');
	$locker->query_safe('BEGIN');
	$locker->query_safe($lock);
	my $asker = session($node, 'analyst');
	my $begun = time;
	# The view itself is waited for in the asker's own session.
	my $of_view = $lock =~ /VIEW/;
	# The asker waits for two seconds. Who waited behind him would do so each time, whoever is kept by a busy machine does not.
	my $longest;
	for (1 .. 4)
	{
		start_question($asker, $of_view ? "SET statement_timeout = '2s'; $PARTS" : $PARTS);
		$longest = longest_of_other(10);
		is(finish_question($asker), $of_view ? '57014' : '55P03', "$lock: refused");
		last if $longest < 1;
	}
	cmp_ok($longest, '<', 1, 'beside it answers are given');
	cmp_ok(time - $begun, '<', 60, sprintf('after %.1f seconds', time - $begun));
	$locker->query_safe('ROLLBACK');
	$locker->quit;
	$asker->quit;
}
is(releases($node, 'parts'), $before, 'and none of them is charged');

# The caller's own lock.
my ($state, $seconds) = timed(sub {
	sqlstate($node, 'postgres', 'controller', "BEGIN; ALTER TABLE parts ADD COLUMN more integer; $PARTS;") });
is($state, '55P03', sprintf('own lock: refused after %.1f seconds', $seconds));
cmp_ok($seconds, '<', 60, 'soon');
($state, $seconds) = timed(sub {
	sqlstate($node, 'postgres', 'controller', "BEGIN; LOCK TABLE parts_1 IN ACCESS EXCLUSIVE MODE; $PARTS;") });
is($state, '55P03', sprintf('own lock of a partition: refused after %.1f seconds', $seconds));
is(releases($node, 'parts'), $before, 'uncharged');

# The odometer of one table is held: the others go on, and it goes on afterwards.
my $locker = session($node, 'postgres');
$locker->query_safe('BEGIN');
$locker->query_safe(q{SELECT FROM dp_rdr.odometer WHERE relation_name = 'public.parts' FOR UPDATE});
my $asker = session($node, 'analyst');
start_question($asker, $PARTS);
answers_of_other(1, 'beside a held odometer', 2);
$locker->query_safe('COMMIT');
like(finish_question($asker), qr/^-?\d{1,4}$/, 'a moment of it is waited for');

# DDL that waits while rows are read is let through afterwards.
start_question($asker, $SLOW);
$node->poll_query_until('postgres', q{SELECT releases > 0 FROM dp_odometer('slow') WHERE account = 'public'});
$locker->query_safe("SET lock_timeout = '300ms'");
$locker->query('ALTER TABLE slow ADD COLUMN more integer');
like($locker->{stderr}, qr/55P03/, 'a table is not changed while its rows are read');
answers_of_other(20, 'beside a scan of ten seconds', 8);
my $limit = time + 15;
like(finish_question($asker), qr/^-?\d{1,4}$/, 'which ends');
$locker->{stderr} = '';
$locker->query('ALTER TABLE slow ADD COLUMN more integer; ALTER TABLE slow DROP COLUMN more');
unlike($locker->{stderr}, qr/ERROR/, 'and leaves no lock behind');

# ---- one role does not take all ----

# As many scans as there are keepers, of one role.
my @scans = map { session($node, 'analyst') } 1 .. 5;
start_question($_, $SLOW) for @scans;
usleep(500_000);
answers_of_other(20, 'beside five scans of one role', 8);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
is(finish_question($_), '57014', 'a scan is cancelled') for @scans;
$_->quit for @scans;

# A flood of small ones.
my $script = $node->basedir . '/flood.sql';
append_to_file($script, "$COUNT;\n");
my $flood = IPC::Run::start([ 'pgbench', '-h', $node->host, '-p', $node->port, '-n', '-U', 'analyst', '-c', '40', '-T', '10',
	'-f', $script, 'postgres' ], '<', \undef, '>', \my $flood_out, '2>', \my $flood_err);
usleep(1_000_000);
my $beside = session($node, 'other');
like($beside->query($COUNT), qr/^-?\d+$/, 'beside a flood of 40 connections there is an answer');
ok($flood->pumpable, 'while the flood still runs');
$beside->quit;
ok($flood->finish, 'and ends without an error') or diag $flood_err;

# ---- bad ones among good ones ----

my $mixed = $node->basedir . '/mixed.sql';
append_to_file($mixed, $COUNT . ";\n");
my $bad = $node->basedir . '/bad.sql';
append_to_file($bad, qq{
DO \$do\$
DECLARE
	bad text;
BEGIN
	FOREACH bad IN ARRAY ARRAY[
		'SELECT * FROM dp_rdr.release(''SELECT count(* FROM public.people_dp'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)',
		'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.people_dp WHERE nothing = 1'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)',
		'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.people'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)',
		'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.people_dp'', 0.000001, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)',
		'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.people_dp'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n text)'] LOOP
		BEGIN
			EXECUTE bad;
			RAISE 'answered: %', bad USING ERRCODE = 'XX000';
		EXCEPTION WHEN syntax_error OR undefined_column OR insufficient_privilege OR configuration_limit_exceeded
			OR object_not_in_prerequisite_state OR datatype_mismatch OR feature_not_supported OR invalid_parameter_value THEN
			NULL;
		END;
	END LOOP;
END
\$do\$;
});
$before = releases($node);
my $ledger = rows_of_ledger($node);
$node->command_checks_all(
	[ 'pgbench', '-n', '-U', 'analyst', '-c', '16', '-t', '30', '-f', "$mixed\@1", '-f', "$bad\@1", 'postgres' ],
	0, [qr/actually processed: 480\/480/], [qr/^(?!.*(?:ERROR|aborted)).*$/s], 'bad questions among good ones: all good ones are answered');
is(releases($node) - $before, rows_of_ledger($node) - $ledger, 'releases and rows of the ledger agree');
ok(verified($node, 'postgres'), 'the chain is whole');

# ---- nothing is left ----

my $locks_of_keepers = q{
	SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE a.backend_type = 'dp_rdr keeper' AND l.locktype <> 'virtualxid'};
ok($node->poll_query_until('postgres', q{SELECT bool_and(state = 'idle') FROM dp_rdr.keepers()}), 'keepers are idle');
ok($node->poll_query_until('postgres', $locks_of_keepers, '0'), 'and hold no lock then');

my $zone = q{SELECT * FROM dp_query('SELECT count(*) FROM zoned_dp WHERE at >= timestamptz ''2020-06-01 00:00''') AS (n bigint)};
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE zoned (at timestamptz);
	INSERT INTO zoned SELECT '2020-05-31 20:00Z' FROM generate_series(1, 100000) g;
	SELECT dp_protect('zoned', 'zoned_dp');
	SELECT dp_set_odometer('zoned', 'none');
	SELECT dp_grant('zoned_dp', 'analyst', tau => 0.95);});
cmp_ok(ask($node, 'postgres', "SET TimeZone = 'UTC'; $zone"), '<', 50000, 'UTC: midnight has yet to come');
cmp_ok(ask($node, 'postgres', "SET TimeZone = 'Asia/Tokyo'; $zone"), '>', 50000, 'Tokyo: it has come');
cmp_ok(ask($node, 'postgres', "SET TimeZone = 'UTC'; $zone"), '<', 50000, 'UTC: as before');

# Memory: what a keeper has after many answers is what it had after some.
sub memory_of_keeper
{
	my $total = 0;
	for my $pid (keepers($node))
	{
		my ($line) = grep { /^RssAnon/ } split /\n/, slurp_file("/proc/$pid/status");
		$line =~ /(\d+)/;
		$total = $1 if $1 > $total;
	}
	return $total;
}
$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 1');
$node->restart;
$node->command_ok([ 'pgbench', '-n', '-U', 'analyst', '-c', '4', '-t', '300', '-f', $script, 'postgres' ], 'some answers');
my $memory = memory_of_keeper();
my ($keeper) = keepers($node);
$node->command_ok([ 'pgbench', '-n', '-U', 'analyst', '-c', '4', '-t', '1700', '-f', $script, 'postgres' ], 'many answers');
is((keepers($node))[0], $keeper, 'of one keeper');
cmp_ok(memory_of_keeper(), '<', $memory + 2048, sprintf('%d kB, and %d kB after many', $memory, memory_of_keeper()));

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11|signal 6|WARNING:  you don't own/,
	'nothing in the log that should not be there');
$node->stop;
done_testing();
