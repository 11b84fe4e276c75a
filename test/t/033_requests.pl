# Requests through crashes and moves: what was charged stays charged and is answered at most once, whatever becomes of the approver,
# his transaction, the keeper or the server; dump and restore keep what is asked and answered; who listens hears numbers alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('requests', 'restart_after_crash = on');
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 100); # 5 seconds

sub request
{
	my ($query, @options) = @_;
	return psql_as($node, 'postgres', 'analyst', sprintf(q{SELECT dp_request('%s', 'a test'%s)}, $query, join '', @options));
}

sub state_of
{
	my ($request) = @_;
	return $node->safe_psql('postgres', "SELECT state || coalesce('|' || array_length(rows, 1), '') FROM dp_rdr.request WHERE id = $request");
}

# ROLLBACK undoes nothing of an approval, and no read-only transaction hinders it.
my $plain = request('SELECT city, count(*) AS n FROM people_dp GROUP BY city');
psql_as($node, 'postgres', 'controller', "BEGIN READ ONLY; SELECT dp_approve($plain, basis => 'public'); ROLLBACK");
is(state_of($plain), 'answered|6', 'answered, whatever became of the transaction');
is(account($node, 'postgres'), '1|0.05', 'and charged');
my $fetch = "SELECT string_agg(f::text, ' ') FROM dp_fetch($plain) AS f (city text, n bigint)";
my $answer = ask($node, 'postgres', $fetch);
like($answer, qr/^\(Oslo,-?\d+\) \(Pisa,-?\d+\) \(Rome,-?\d+\)$/, 'its requester has it');

# Many permit it at once, all of them prepared while somebody holds the odometer: one charge.
my $raced = request('SELECT count(*) AS n FROM people_dp');
my $holder = session($node, 'postgres');
$holder->query_safe(q{BEGIN; SELECT FROM dp_rdr.odometer FOR UPDATE});
my @racers = map { session($node, 'controller') } 1 .. 4;
start_question($_, "SELECT (dp_approve($raced, basis => 'public')).state") for @racers;
$node->safe_psql('postgres', 'SELECT pg_sleep(0.3)');
$holder->query_safe('ROLLBACK');
is(join(' ', sort map { finish_question($_) } @racers), '55000 55000 55000 answered', 'one of them has it');
is(account($node, 'postgres'), '2|0.1', 'and it is charged once');
$_->quit for $holder, @racers;

# A keeper is killed between the charge and the answer: the server comes back with the charge and without the answer.
my $slow = 'SELECT count(*) AS n FROM slow_dp WHERE id + 1 > 0';
my $killed = request($slow);
my $before = rows_of_ledger($node, 'public.slow');
my $approver = session($node, 'controller');
start_question($approver, "SELECT dp_approve($killed, basis => 'public')");
$node->poll_query_until('postgres', "SELECT count(*) > $before FROM dp_rdr.ledger WHERE relation = 'public.slow'") or die 'nothing was charged';
is(state_of($killed), 'charged', 'charged before a row is read');
kill 'KILL', (keepers($node))[0];
eval { $approver->quit };
wait_until_up($node);
is(state_of($killed), 'charged', 'and so after the crash');
is(rows_of_ledger($node, 'public.slow'), $before + 1, 'its charge stays');
is(sqlstate($node, 'postgres', 'analyst', "SELECT * FROM dp_fetch($killed) AS (n bigint)"), '55000', 'there is nothing to fetch');
is(sqlstate($node, 'postgres', 'controller', "SELECT dp_approve($killed, basis => 'public')"), '55000', 'and it is not charged again');
ok(verified($node, 'postgres', 'slow'), 'the ledger is whole');

# What was drawn is stored for the charge that pays for it, and for no other.
my $moved = request($slow);
$before = rows_of_ledger($node, 'public.slow');
$approver = session($node, 'controller');
start_question($approver, "SELECT dp_approve($moved, basis => 'public')");
$node->poll_query_until('postgres', "SELECT count(*) > $before FROM dp_rdr.ledger WHERE relation = 'public.slow'") or die 'nothing was charged';
$node->safe_psql('postgres', "UPDATE dp_rdr.request SET ledger_id = ledger_id - 1 WHERE id = $moved");
is(finish_question($approver), '40003', 'an answer that is another charge\'s is not stored');
is(state_of($moved), 'charged', 'and its request stays as it was');
$approver->quit;

# The approver gives up far behind the charge, while rows are read for half a minute: the same.
$node->safe_psql('postgres', 'INSERT INTO slow SELECT g FROM generate_series(101, 600) g');
my $cancelled = request($slow);
is(sqlstate($node, 'postgres', 'controller', "SET statement_timeout = '4s'; SELECT dp_approve($cancelled, basis => 'public')"), '57014', 'the approver gives up');
is(state_of($cancelled), 'charged', 'what is spent is spent');
$node->safe_psql('postgres', 'DELETE FROM slow WHERE id > 100');

# Reading fails: the requester is suspended, and not who has permitted it; the approver hears one constant text.
$node->safe_psql('postgres', q{INSERT INTO slow VALUES (-1)});
my $failing = request($slow);
my ($status, $out, $err) = $node->psql('postgres', "SELECT dp_approve($failing, basis => 'public')", extra_params => [ '-U', 'controller' ]);
like($err, qr/the query failed/, 'the approver hears that it failed');
unlike($err, qr/the row that fails/, 'and not why');
is($node->safe_psql('postgres', 'SELECT role FROM dp_rdr.suspension'), 'analyst', 'its requester asks no more');
is(state_of($failing), 'charged', 'its charge stays');
is(sqlstate($node, 'postgres', 'analyst', "SELECT dp_request('$slow', 'again')"), '55000', 'nor by requests');
$node->safe_psql('postgres', q{DELETE FROM slow WHERE id = -1; SELECT dp_resume('slow_dp', 'analyst')});

# Listeners hear the number of a request once it is committed, on a channel that those who decide are told.
my $channel = psql_as($node, 'postgres', 'controller', "SELECT dp_requests_channel('people')");
like($channel, qr/^dp_rdr_[0-9a-f]{32}$/, 'the channel of a table');
is(psql_as($node, 'postgres', 'controller', "SELECT dp_requests_channel('people_dp')"), $channel, 'or of its restricted view');
isnt(psql_as($node, 'postgres', 'controller', "SELECT dp_requests_channel('slow')"), $channel, 'another for another');
is(sqlstate($node, 'postgres', 'analyst', "SELECT dp_requests_channel('people')"), '42501', 'who asks does not know it');
my (undef, undef, $traced) = $node->psql('postgres',
    "SET trace_notify = on; SET client_min_messages = debug1; SELECT dp_request('SELECT count(*) FROM people_dp', 'traced')",
    extra_params => [ '-U', 'analyst' ]);
unlike($traced, qr/dp_rdr_[0-9a-f]/, 'nor is told it when he asks');
my $listener = $node->background_psql('postgres', on_error_stop => 0);
$listener->query_safe("LISTEN dp_rdr_requests; LISTEN $channel");
psql_as($node, 'postgres', 'analyst', "BEGIN; SELECT dp_request('SELECT count(*) FROM people_dp', 'secret words'); ROLLBACK");
my $heard = request('SELECT count(*) AS n FROM people_dp');
my $said = $listener->query('SELECT 1');
psql_as($node, 'postgres', 'controller', "SELECT dp_approve($heard, basis => 'public')");
$said .= $listener->query('SELECT 2');
my @told = $said =~ /Asynchronous notification "(\w+)" with payload "([^"]*)"/g;
is_deeply(\@told, [ $channel, $heard ], 'one number, and nothing on decisions');
$listener->quit;

# Moved to another server: what waits is decided there, what is answered is fetched there, the next number is new.
$node->safe_psql('postgres', q{CREATE ROLE rita LOGIN; CREATE ROLE gone LOGIN});
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_review('people', '{rita,gone}'); SELECT dp_grant('people_dp', 'gone', tau => 0.95)});
psql_as($node, 'postgres', 'gone', q{SELECT dp_request('SELECT count(*) FROM people_dp', 'of nobody')});
my $waiting = request(q{SELECT count(*) AS n FROM people_dp WHERE age < extract(year from date ''2040-01-01'') - 2000}, q{, epsilon => 0.04});
my $dump = PostgreSQL::Test::Utils::tempdir() . '/requests.dump';
$node->safe_psql('postgres', q{REVOKE ALL ON people_dp FROM gone; DROP ROLE gone});
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'postgres' ], 'dumped');
$node->safe_psql('template1', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'copy', $dump ], 'restored');
is(psql_as($node, 'copy', 'analyst', $fetch), $answer, 'the same answer');
is($node->safe_psql('copy', 'SELECT string_agg(reviewer::text, $$,$$) FROM dp_rdr.reviewer'), 'rita', 'reviewers that there are');
is($node->safe_psql('copy', "SELECT count(*) FROM dp_rdr.request WHERE purpose = 'of nobody'"), '0', 'nothing of a role that is gone');
is(psql_as($node, 'copy', 'rita', "SELECT (dp_approve($waiting)).state"), 'answered', 'decided there');
is(psql_as($node, 'copy', 'analyst', "SELECT count(*) FROM dp_fetch($waiting) AS (n bigint)"), '1', 'and fetched');
ok(verified($node, 'copy'), 'with a whole ledger');
cmp_ok(psql_as($node, 'copy', 'analyst', q{SELECT dp_request('SELECT count(*) FROM people_dp', 'new')}), '>', $waiting, 'the next number is new');

done_testing();
