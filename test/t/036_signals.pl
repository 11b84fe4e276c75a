# Signals through crashes and moves: what was charged for one stays charged and is answered at most once, a reading that fails suspends its
# requester, and an answer that was moved to another server is redrawn there, and compared with its rows.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('signals', 'restart_after_crash = on');
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 20);

sub request
{
	my ($query) = @_;
	return psql_as($node, 'postgres', 'analyst', "SELECT dp_request('$query', 'a test')");
}

sub approved
{
	my ($query) = @_;
	my $request = request($query);
	psql_as($node, 'postgres', 'controller', "SELECT dp_approve($request, basis => 'public')");
	return $request;
}

sub signal
{
	my ($request, $value, $database) = @_;
	return psql_as($node, $database // 'postgres', 'analyst', "SELECT dp_request_signal($request, 'mean', '$value', 'a test', upper => 100)");
}

sub state_of
{
	my ($request) = @_;
	return $node->safe_psql('postgres', "SELECT state || coalesce('|' || array_length(rows, 1), '') FROM dp_rdr.request WHERE id = $request");
}

# ROLLBACK undoes nothing of its approval.
my $plain = approved('SELECT city, count(*) AS n FROM people_dp GROUP BY city');
my $signal = signal($plain, 'answer.n');
psql_as($node, 'postgres', 'controller', "BEGIN READ ONLY; SELECT dp_approve($signal, basis => 'public'); ROLLBACK");
is(state_of($signal), 'answered|3', 'answered, whatever became of the transaction');
is(account($node, 'postgres'), '2|0.1', 'and charged');

# A look is recorded for good where its transaction is, and not without. It counts for all signals on the answer: on one of its own.
my $looked = signal(approved('SELECT city, count(*) AS n FROM people_dp GROUP BY city'), 'answer.n');
psql_as($node, 'postgres', 'controller', "SELECT dp_inspect_signal($looked)");
is(sqlstate($node, 'postgres', 'controller', "SELECT dp_approve($looked, basis => 'public')"), '55000', 'a look is remembered');
is(sqlstate($node, 'postgres', 'controller', "BEGIN READ ONLY; SELECT dp_inspect_signal($looked)"), '25006', 'nothing is shown that could not be');

# A keeper is killed between the charge and the answer.
my $slow = approved('SELECT count(*) AS n FROM slow_dp WHERE id + 1 > 0');
my $killed = signal($slow, 'answer.n');
my $before = rows_of_ledger($node, 'public.slow');
my $approver = session($node, 'controller');
start_question($approver, "SELECT dp_approve($killed, basis => 'public')");
$node->poll_query_until('postgres', "SELECT count(*) > $before FROM dp_rdr.ledger WHERE relation = 'public.slow'") or die 'nothing was charged';
is(state_of($killed), 'charged', 'charged before a row is read');
kill 'KILL', $_ for keepers($node);
eval { $approver->quit };
wait_until_up($node);
is(state_of($killed), 'charged', 'and so after the crash');
is(rows_of_ledger($node, 'public.slow'), $before + 1, 'its charge stays');
is(sqlstate($node, 'postgres', 'analyst', "SELECT dp_answer($killed)"), '55000', 'there is nothing to fetch');
is(sqlstate($node, 'postgres', 'controller', "SELECT dp_approve($killed, basis => 'public')"), '55000', 'and it is not charged again');
ok(verified($node, 'postgres', 'slow'), 'the ledger is whole');

# Reading fails: one constant text, and its requester asks no more.
my $failing = signal($slow, 'answer.n');
$node->safe_psql('postgres', q{INSERT INTO slow VALUES (-1)});
my ($status, $out, $err) = $node->psql('postgres', "SELECT dp_approve($failing, basis => 'public')", extra_params => [ '-U', 'controller' ]);
like($err, qr/the query failed/, 'the approver hears that it failed');
unlike($err, qr/the row that fails/, 'and not why');
is($node->safe_psql('postgres', 'SELECT role FROM dp_rdr.suspension'), 'analyst', 'its requester asks no more');
is(sqlstate($node, 'postgres', 'analyst', "SELECT dp_request_signal($slow, 'mean', 'answer.n', 'again')"), '55000', 'nor for signals');
$node->safe_psql('postgres', q{DELETE FROM slow WHERE id = -1; SELECT dp_resume('slow_dp', 'analyst')});

# Moved to another database: the law of the answer, and what it was answered under, mean the same there.
my $waiting = signal($plain, 'abs(answer.n - dp.n)');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/signals.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'postgres' ], 'dumped');
$node->safe_psql('template1', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'copy', $dump ], 'restored');
is(psql_as($node, 'copy', 'analyst', "SELECT count(*), count(DISTINCT city) FROM dp_redraw($plain, 10) AS r (draw int, city text, n bigint)"), '30|3', 'redrawn');
is(psql_as($node, 'copy', 'controller', "SELECT (dp_approve($waiting, basis => 'public')).state"), 'answered', 'decided there');
is(psql_as($node, 'copy', 'analyst', "SELECT jsonb_array_length(dp_answer($waiting))"), '1', 'and fetched');
like(signal($plain, 'answer.n', 'copy'), qr/^\d+$/, 'and asked for there');
ok(verified($node, 'copy'), 'with a whole ledger');

done_testing();
