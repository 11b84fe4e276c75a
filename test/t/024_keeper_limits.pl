# Limits of the pool: answers of many rows and many columns, clients that stop, roles that go, logins that keep keepers busy.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = new_server('limits', q{
	max_worker_processes = 8
	log_min_messages = log
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 30); # 1.5 seconds
$node->safe_psql('postgres', 'CREATE ROLE other LOGIN; CREATE ROLE third LOGIN; CREATE ROLE passing LOGIN IN ROLE analyst');
# Groups of three: nearly without noise all of them reach the threshold.
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('people_dp', 'other', tau => 0.95), dp_grant('people_dp', 'third', tau => 0.95);
	SELECT dp_grant('slow_dp', 'other', tau => 0.95);
	CREATE TABLE crowd AS SELECT g % 200000 AS found, g % 5000 AS declared FROM generate_series(1, 600000) g;
	SELECT dp_protect('crowd', 'crowd_dp');
	SELECT dp_set_odometer('crowd', 'none', NULL, 0.9);
	SELECT dp_set_groups('crowd', 'declared', (SELECT array_agg(g::text) FROM generate_series(0, 4999) g));
	SELECT dp_grant('crowd_dp', 'analyst', tau => 0, delta => 1e-6, epsilon_max => 50, candidates => '{50}');});
my $FOUND = q{FROM dp_query('SELECT found, count(*) FROM crowd_dp GROUP BY found') AS (k integer, n bigint)};

# Somebody else is answered within so many seconds.
sub answered
{
	my ($name, $limit, $role) = @_;
	my ($answer, $seconds) = timed(sub { psql_as($node, 'postgres', $role // 'other', $COUNT) });
	like($answer, qr/^-?\d+$/, "$name: somebody else is answered");
	cmp_ok($seconds, '<', $limit, sprintf('%s: after %.1f seconds', $name, $seconds));
	return;
}

sub all_idle
{
	return $node->poll_query_until('postgres', q{SELECT bool_and(state = 'idle') FROM dp_rdr.keepers()});
}

# ---- many rows ----

is(ask($node, 'postgres', q{SELECT count(*), min(k), max(k), bool_and(k = i - 1), bool_and(n BETWEEN 60 AND 180)
	FROM (SELECT *, row_number() OVER () AS i
		FROM dp_query('SELECT declared, count(*) FROM crowd_dp GROUP BY declared') AS (k integer, n bigint)) s}),
	'5000|0|4999|t|t', '5,000 declared groups, in order');
is(ask($node, 'postgres', "SELECT count(*), min(k), max(k), bool_and(k = i - 1)
	FROM (SELECT *, row_number() OVER () AS i $FOUND) s"),
	'200000|0|199999|t', '200,000 discovered groups, in order');
is(ask($node, 'postgres', "SELECT count(*) FROM (SELECT k $FOUND LIMIT 5) s"), 5, 'of which five are wanted');

# ---- many columns ----

my $columns = join(', ', map { "count(*) FILTER (WHERE declared = $_)" } 1 .. 1000);
my $types   = join(', ', map { "c$_ bigint" } 1 .. 1000);
is(ask($node, 'postgres', "SELECT num_nonnulls(c1, c500, c1000) FROM dp_query('SELECT $columns FROM crowd_dp') AS ($types)"),
	3, '1,000 columns');
is(sqlstate($node, 'postgres', 'analyst',
	"SELECT * FROM dp_query('SELECT $columns, count(*) FROM crowd_dp') AS ($types, c1001 bigint)"), '54000', '1,001 are refused');
is(account($node, 'postgres', 'crowd'), '4|200', 'each answer is charged once');

# ---- clients that stop ----

# The program that does not read: the answer is in its server process, and no keeper waits.
my $stopped = session($node, 'analyst');
my $pid     = $stopped->query_safe('SELECT pg_backend_pid()');
start_question($stopped, "\\copy (SELECT * $FOUND) TO '/dev/null'");
$stopped->{run}->signal('STOP');
answered('a client that does not read', 60);
ok(all_idle(), 'and no keeper is held');
$stopped->{run}->signal('CONT');
$stopped->query('SELECT');
unlike($stopped->{stderr}, qr/ERROR/, 'and nobody has given it up');
$stopped->quit;

# The server process itself, in mid-answer, with one keeper: it is given up after ten seconds.
$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 1');
$node->reload;
kill 'TERM', keepers($node);
wait_for_keepers($node, 0);
answered('a new keeper', 60);
$stopped = session($node, 'analyst');
$pid     = $stopped->query_safe('SELECT pg_backend_pid()');
my $before = releases($node, 'crowd');
start_question($stopped, "SELECT count(*) $FOUND");
$node->poll_query_until('postgres', "SELECT releases > $before FROM dp_odometer('crowd') WHERE account = 'public'");
kill 'STOP', $pid;
answered('a process that does not move', 60);
ok(all_idle(), 'and is given up');
kill 'CONT', $pid;
is(finish_question($stopped), '40003', 'it has no answer');
is(scalar $stopped->query('SELECT'), '', 'and lives');
is(releases($node, 'crowd'), $before + 1, 'the charge stays');
$stopped->quit;
is(ask($node, 'postgres', "SELECT count(*) $FOUND"), 200000, 'the next one has all rows');

# ---- what the log says of a keeper's memory ----

my $session = session($node);
$before = releases($node, 'slow');
start_question($session, q{SELECT * FROM dp_query('SELECT count(*) FROM slow_dp WHERE id + 1 > 0 AND id <> 271828182') AS (n bigint)});
$node->poll_query_until('postgres', "SELECT releases > $before FROM dp_odometer('slow') WHERE account = 'public'");
my $offset = -s $node->logfile;
my ($keeper) = keepers($node);
is($node->safe_psql('postgres', "SELECT pg_log_backend_memory_contexts($keeper)"), 't', 'the memory of a keeper is logged');
like(finish_question($session), qr/^-?\d{1,4}$/, 'while it reads');
$session->quit;
# Of relations and statements of the extension it has names and texts, of the question nothing.
my $log = join("\n", grep { /level: \d/ } split /\n/, substr(slurp_file($node->logfile), $offset));
like($log, qr/dp_rdr request/, 'contexts have names');
unlike($log, qr/271828182|slow_dp\s+where|count\(\*\)/i, 'and nothing of the question');

# ---- a role that goes between charge and reading ----

# Two requests of one batch, charged together; the second is read when the first has been.
$session = session($node, 'passing');
my $slow = session($node, 'other');
my $locker = session($node, 'postgres');
my ($people, $slow_before) = (releases($node), releases($node, 'slow'));
$locker->query_safe('BEGIN; LOCK TABLE dp_rdr.ledger_row IN EXCLUSIVE MODE');
my $first = session($node, 'third');
start_question($first, $COUNT); # its charge waits for the lock, and the others for the keeper
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'dp_rdr.ledger_row'::regclass});
start_question($slow, $SLOW);
usleep(200_000);
start_question($session, $COUNT);
usleep(200_000);
$locker->query_safe('COMMIT');
$node->poll_query_until('postgres', "SELECT releases = $people + 2 FROM dp_odometer('people') WHERE account = 'public'") or die 'no charge';
$node->safe_psql('postgres', 'DROP ROLE passing');
like(finish_question($first), qr/^-?\d{1,4}$/, 'an answer');
like(finish_question($slow), qr/^-?\d{1,4}$/, 'and one that takes long');
my $answer = finish_question($session);
like($answer, qr/^(?:-?\d+|55000|40003|42704|42501)$/, "a role that is dropped after its charge: $answer");
is(releases($node), $people + 2, 'its charge stays');
is((keepers($node))[0], $keeper, 'the keeper lives');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.suspension'), 0, 'nobody is suspended');
answered('behind it', 60);
$_->quit for $session, $slow, $first, $locker;

# ---- logins that keep keepers busy ----

$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 3');
$node->reload;
answered('before the flood', 60, $_) for qw(other third);
# None is charged before all are there.
$locker = session($node, 'postgres');
$locker->query_safe('BEGIN; LOCK TABLE dp_rdr.ledger_row IN EXCLUSIVE MODE');
my @flood = map { session($node, $_ % 2 ? 'analyst' : 'other') } 1 .. 12;
start_question($_, $SLOW) for @flood;
my $third = session($node, 'third');
start_question($third, $COUNT);
usleep(300_000);
$locker->query_safe('COMMIT');
like(finish_question($third), qr/^-?\d{1,4}$/, 'a question behind twelve long ones of two logins');
my $waiting = $node->safe_psql('postgres',
	q{SELECT count(*) FROM pg_stat_activity WHERE usename IN ('analyst', 'other') AND state = 'active'});
cmp_ok($waiting, '>=', 5, "is answered before most of them: $waiting are left");
like(finish_question($_), qr/^-?\d{1,4}$/, 'a long question is answered as well') for @flood;
$_->quit for @flood, $third, $locker;

ok(verified($node, 'postgres', $_), "the ledger of $_ is whole") for qw(people slow crowd);
$node->stop;
done_testing();
