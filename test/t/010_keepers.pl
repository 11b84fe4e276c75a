# The life of keepers: where they come from, how many there are, when they go, and what stands without them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = new_server('keepers', q{
	max_worker_processes = 8
	max_connections = 100
	log_min_messages = log
});
protect_people($node, 'postgres');

# ---- the first one ----

is($node->safe_psql('postgres', 'SELECT count(*) >= 0 FROM dp_rdr.keepers()'), 't', 'dp_rdr.keepers() answers before anybody asked');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'nothing is preloaded: the first question is answered');
cmp_ok(scalar(keepers($node)), '>=', 1, 'and a keeper lives');
my ($answer, $seconds) = timed(sub { ask($node, 'postgres') });
like($answer, qr/^-?\d+$/, 'it answers the second as well');

# ---- many clients, few workers ----

my $before = releases($node);
my $script = $node->basedir . '/count.sql';
append_to_file($script, "$COUNT;\n");
$node->command_checks_all(
	[ 'pgbench', '-n', '-U', 'analyst', '-c', '64', '-j', '2', '-t', '20', '-f', $script, 'postgres' ],
	0, [qr/number of transactions actually processed: 1280\/1280/], [qr/^(?!.*(?:ERROR|aborted)).*$/s],
	'64 clients and 8 worker processes: every question is answered');
is(releases($node) - $before, 1280, 'each is charged once');
is(rows_of_ledger($node), releases($node), 'with a row of its own in the ledger');
is($node->safe_psql('postgres', q{SELECT epsilon = 0.05 * releases FROM dp_odometer('people') WHERE account = 'public'}),
	't', 'the odometer is exact');
ok(verified($node, 'postgres'), 'the chain is whole');
cmp_ok(scalar(keepers($node)), '<=', 3, 'there are as many keepers as the setting says at most');
my ($charges, $commits) = split /\|/, $node->safe_psql('postgres', 'SELECT sum(charges), sum(commits) FROM dp_rdr.keepers()');
cmp_ok($commits, '<', $charges, "charges share commits: $charges in $commits");

# ---- no worker to be had ----

my @holders = hold_workers($node, 8);
like(ask($node, 'postgres'), qr/^-?\d+$/, 'a keeper that lives answers although all other workers are taken');
# Gone are the keepers, and somebody else has their places.
sub end_keepers
{
	my @pids = keepers($node);
	kill 'TERM', @pids;
	wait_for_keepers($node, 0) or die 'keepers stay';
	return;
}
end_keepers();
push @holders, hold_workers($node, 3);
$before = releases($node);
my $state;
($state, $seconds) = timed(sub { sqlstate($node, 'postgres', 'analyst', $COUNT) });
is($state, '53300', 'no worker at all: an error');
cmp_ok($seconds, '<', 60, sprintf('after %.1f seconds', $seconds));
is(releases($node), $before, 'uncharged');
release_workers($node, @holders);
like(ask($node, 'postgres'), qr/^-?\d+$/, 'with workers again, there is an answer');
is(releases($node), $before + 1, 'and a charge');

# ---- the setting ----

$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 1');
$node->reload;
end_keepers();
ask($node, 'postgres');
$node->command_ok([ 'pgbench', '-n', '-U', 'analyst', '-c', '16', '-t', '20', '-f', $script, 'postgres' ],
	'16 clients with one keeper');
is(scalar(keepers($node)), 1, 'it stays alone');
$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 3');
$node->reload;

# ---- databases that go ----

sub dropped
{
	my ($sql, $name) = @_;
	my ($result, $took) = timed(sub { $node->safe_psql('template1', $sql) });
	cmp_ok($took, '<', 60, sprintf('%s: %.1f seconds', $name, $took));
	return;
}
ask($node, 'postgres');
dropped('CREATE DATABASE copy TEMPLATE postgres', 'CREATE DATABASE beside an idle keeper');
like(ask($node, 'copy'), qr/^-?\d+$/, 'the copy answers');
dropped('ALTER DATABASE copy RENAME TO renamed', 'ALTER DATABASE ... RENAME beside an idle keeper');
like(ask($node, 'renamed'), qr/^-?\d+$/, 'the renamed one answers');
dropped('DROP DATABASE renamed', 'DROP DATABASE beside an idle keeper');

# More databases than the server has room for at the same time: what was dropped serves again.
for my $i (1 .. 70)
{
	last if $ENV{DP_FEW_DATABASES} && $i > 3;
	$node->safe_psql('template1', "CREATE DATABASE d$i TEMPLATE postgres STRATEGY file_copy") if $i <= 2;
	$node->safe_psql('template1', "CREATE DATABASE d$i TEMPLATE d2") if $i > 2;
	# Its pool is made by who looks at it; only some ask.
	$i % 10 <= 2 ? ask($node, "d$i") : $node->safe_psql("d$i", 'SELECT FROM dp_rdr.keepers()');
	$node->safe_psql('template1', "DROP DATABASE d$i") if $i != 2;
}
like(ask($node, 'd2'), qr/^-?\d+$/, '70 databases, one after the other');
$node->safe_psql('template1', 'DROP DATABASE d2 WITH (FORCE)');
pass('DROP DATABASE WITH (FORCE) ends keepers');

# ---- many databases ----

$node->append_conf('postgresql.conf', 'max_worker_processes = 4');
$node->restart;
$node->safe_psql('template1', "CREATE DATABASE $_ TEMPLATE postgres") for qw(a b c);
for my $database (qw(postgres a b c a postgres))
{
	($answer, $seconds) = timed(sub { ask($node, $database) });
	like($answer, qr/^-?\d+$/, sprintf('four databases take turns: %s after %.1f seconds', $database, $seconds));
	my $all = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'});
	cmp_ok($all, '<=', 2, 'keepers of all databases have at most half of the workers');
}

# ---- preloaded ----

$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'dp_rdr'});
$node->restart;
like(ask($node, 'postgres'), qr/^-?\d+$/, 'preloaded: the first question is answered');
$node->command_ok([ 'pgbench', '-n', '-U', 'analyst', '-c', '32', '-t', '5', '-f', $script, 'postgres' ],
	'preloaded: many clients');
ok(verified($node, 'postgres'), 'the chain is whole');

# Every line of the log is one of these.
my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC|TRAP|was terminated by signal|terminated abnormally|WARNING:  you don't own/, 'nothing broke');

$node->stop;
done_testing();
