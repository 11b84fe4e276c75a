# A charge survives whatever the client does after it, or has done to it: rollback, cancel, timeout, kill, crash.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

# What reads slowly leaves a core to whoever looks on.
my $node = new_server('charges', q{
	fsync = on
	restart_after_crash = on
	max_prepared_transactions = 2
	max_parallel_workers_per_gather = 0
});
protect_people($node, 'postgres', rows => 1_000_000);

# Reads long enough to be interrupted after the charge: every row passes every one of these comparisons.
my $conditions = join(' AND ', map { 'age <> ' . (1000 + $_) } 1 .. 250);
my $slow = qq{SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE $conditions') AS (n bigint)};

my $charges = 0;

# Runs a script as the analyst, errors and all.
sub attempt
{
	my ($sql) = @_;
	$node->psql('postgres', $sql, on_error_stop => 0, stdout => \my $stdout, stderr => \my $stderr,
		extra_params => [ '-U', 'analyst' ]);
	return $stdout;
}

# After a script that asked once, one more charge must stand.
sub charged
{
	my ($name) = @_;
	$charges++;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(account($node, 'postgres'), $charges . '|' . trimmed(0.05 * $charges), "charged: $name");
	return;
}

sub trimmed
{
	my ($number) = @_;
	my $text = sprintf('%.2f', $number);
	$text =~ s/\.?0+$//;
	return $text;
}

sub wait_for_charge
{
	my $wanted = $charges + 1;
	$node->poll_query_until('postgres',
		"SELECT releases = $wanted FROM dp_odometer('people') WHERE account = 'public'")
	  or die 'the charge did not come';
	return;
}

# What the client undoes by itself. Each script asks one question.
my @undone = (
	[ 'commit' => "BEGIN; $COUNT; COMMIT;" ],
	[ 'rollback' => "BEGIN; $COUNT; ROLLBACK;" ],
	[ 'rollback to a savepoint' => "BEGIN; SAVEPOINT s; $COUNT; ROLLBACK TO s; COMMIT;" ],
	[ 'read-only transaction' => "BEGIN READ ONLY; $COUNT; COMMIT;" ],
	[ 'read-only by default' => "SET default_transaction_read_only = on; $COUNT;" ],
	[ 'old snapshot' => "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; $COUNT; ROLLBACK;" ],
	[ 'serializable transaction' => "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1; $COUNT; ROLLBACK;" ],
	[ 'error in the same message' => "$COUNT\\; SELECT 1 / 0;" ],
	[ 'asynchronous commit' => "SET synchronous_commit = off; $COUNT;" ],
	[ 'prepared transaction' => "BEGIN; $COUNT; PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p';" ],
	[ 'cursor closed early' => "BEGIN; DECLARE c CURSOR FOR $COUNT; FETCH 1 FROM c; ROLLBACK;" ],
	[ 'exception' => qq{
		DO \$do\$
		BEGIN
			PERFORM * FROM ($COUNT) q;
			RAISE EXCEPTION 'undo';
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END
		\$do\$;} ],
	[ 'constraint that fails at commit' => qq{
		BEGIN;
		CREATE TEMP TABLE once (x integer UNIQUE DEFERRABLE INITIALLY DEFERRED);
		INSERT INTO once VALUES (1), (1);
		$COUNT;
		COMMIT;} ],
	[ 'session that ends itself' => "$COUNT; SELECT pg_terminate_backend(pg_backend_pid());" ],
);

for my $case (@undone)
{
	my ($name, $script) = @$case;
	attempt($script);
	charged($name);
}

attempt("EXPLAIN $COUNT;");
is(account($node, 'postgres'), $charges . '|' . trimmed(0.05 * $charges), 'EXPLAIN is not charged');

# A timeout while the rows are being read, which takes half a minute on any machine; the charge takes a few milliseconds.
protect_slow($node, 'postgres', 600);
my (undef, undef, $timeout) = $node->psql('postgres', "SET statement_timeout = '4s'; $SLOW", extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=verbose' ]);
like($timeout, qr/57014/, 'statement_timeout gives no answer');
like($timeout, qr/What was charged stays/, 'and says that the charge stays');
is(account($node, 'postgres', 'slow'), '1|0.05', 'charged: statement_timeout');

# A question that has been charged and is being read. Returns its session.
sub session_while_reading
{
	my $session = $node->background_psql('postgres', on_error_stop => 0,
		extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=sqlstate' ]);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->query_until(qr/asked/, "\\echo asked\n$slow;\n");
	wait_for_charge();
	return ($session, $pid);
}

# Ends a session whose server has gone; returns what it had printed.
sub output_of_lost
{
	my ($session) = @_;
	eval { $session->quit };
	return $session->{stdout};
}

my ($cancelled, $pid) = session_while_reading();
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
is($cancelled->query('SELECT 1'), '1', 'a cancelled question has no answer');
like($cancelled->{stderr}, qr/57014/, 'but an error that says so');
$cancelled->quit;
charged('pg_cancel_backend');

# The keeper that reads goes: its client hears that an answer is lost, and its charge stays.
my ($abandoned) = session_while_reading();
ok($node->poll_query_until('postgres', q{
	SELECT count(pg_terminate_backend(pid)) = 1
	FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND backend_xmin IS NOT NULL}), 'one keeper reads');
is($abandoned->query('SELECT 1'), '1', 'a keeper that is terminated gives no answer');
like($abandoned->{stderr}, qr/40003/, 'but an error that says so');
$abandoned->quit;
charged('pg_terminate_backend on the keeper');

(my $killed, $pid) = session_while_reading();
my $log_so_far = -s $node->logfile;
kill 'KILL', $pid;
is(output_of_lost($killed), '', 'a killed backend gives no answer');
# Until the postmaster has noticed, the server that is about to go still answers.
$node->wait_for_log(qr/all server processes terminated; reinitializing/, $log_so_far);
wait_until_up($node);
charged('kill -9 of the backend');

(my $crashed) = session_while_reading();
$node->stop('immediate');
is(output_of_lost($crashed), '', 'a server that stops at once gives no answer');
$node->start;
charged('immediate shutdown');

ok(verified($node, 'postgres'), 'the ledger is whole after all that');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'and questions are answered');
charged('the last question');

$node->stop;
done_testing();
