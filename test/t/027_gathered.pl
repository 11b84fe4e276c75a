# Group commit: what comes while a batch is charged is charged together, whoever else could begin with it meanwhile. What is
# charged alone holds nobody back, and keepers charge in the order in which they come.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_server('gathered', q{
	max_worker_processes = 8
	wal_level = replica
	max_wal_senders = 1
});
protect_people($node, 'postgres');
$node->safe_psql('postgres', 'CREATE ROLE colleague LOGIN; CREATE ROLE third LOGIN; CREATE ROLE slow LOGIN; CREATE ROLE slower LOGIN');
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_set_odometer('people', 'none', delta_total => 0.5);
	SELECT dp_grant('people_dp', 'colleague', tau => 0.95), dp_grant('people_dp', 'third', tau => 0.95);
	SELECT dp_grant('people_dp', 'slow', tau => 0.9, mechanism => 'gaussian', delta => 1e-6),
		dp_grant('people_dp', 'slower', tau => 0.9, mechanism => 'gaussian', delta => 1e-6);});

# A commit waits for a standby that there is not, until let_go().
sub hold
{
	$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'});
	$node->reload;
	$node->poll_query_until('postgres', q{SELECT current_setting('synchronous_standby_names') = 'nobody'});
	usleep(300_000); # for the process that tells all others
	return;
}

sub let_go
{
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET synchronous_standby_names');
	$node->reload;
	return;
}

my $keepers = q{FROM pg_stat_activity a WHERE backend_type = 'dp_rdr keeper'};
my $busy = qq{$keepers AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND relation = 'people'::regclass)};
my $clients = q{FROM pg_stat_activity WHERE backend_type = 'client backend' AND wait_event_type = 'Extension'};

sub wait_for
{
	my ($number, $what, $name) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = $number $what") or die $name;
	return;
}

# A question whose commit hangs.
sub start_charge
{
	my ($session) = @_;
	start_question($session, $COUNT);
	wait_for(1, "$keepers AND wait_event = 'SyncRep'", 'nobody commits');
	return;
}

sub charges_and_commits
{
	return split /\|/, $node->safe_psql('postgres', 'SELECT sum(charges), sum(commits) FROM dp_rdr.keepers()');
}

# ---- a batch of all that has come ----

my %session = map { $_ => session($node, $_) } qw(slow slower);
my @askers = map { session($node, $_) } ('analyst', 'colleague', 'third') x 4;
my $first = session($node);
like($first->query($COUNT), qr/^-?\d+$/, 'a keeper is there');
$_->query_safe('SELECT 1') for @askers, values %session;
my ($charges, $commits) = charges_and_commits();
my $slow_ones = q{SELECT coalesce(sum(charges), 0) FROM dp_rdr.charge_times() WHERE microseconds > 500000};
my $slow_before = $node->safe_psql('postgres', $slow_ones);
hold();
start_charge($first);
start_question($_, $COUNT) for @askers;
wait_for(1 + @askers, $clients, 'not all have asked');
usleep(500_000); # for a keeper to take them, if one did
is($node->safe_psql('postgres', "SELECT count(*) $busy"), 1, 'while one keeper charges the others leave in the queue what comes');

# Of these nothing is charged yet.
my $gone = pop @askers;
is($node->safe_psql('postgres', q{SELECT count(pg_cancel_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
	WHERE usename = 'third' AND state = 'active' ORDER BY backend_start DESC LIMIT 1) p}), 1, 'one is cancelled');
is(finish_question($gone), '57014', 'with an error of its own');
let_go();
like(finish_question($_), qr/^-?\d+$/, 'the others are answered') for $first, @askers;
my ($more_charges, $more_commits) = charges_and_commits();
is($more_charges - $charges, 1 + @askers, 'each is charged, but for the one that was cancelled');
is($more_commits - $commits, 2, 'all that came meanwhile in one commit');
is($node->safe_psql('postgres', $slow_ones) - $slow_before, 1 + @askers,
	'the wait in the queue is counted');

# ---- those that are charged alone ----

my $before = releases($node);
hold();
start_charge($session{slow});
start_question($session{slower}, $COUNT);
wait_for(2, $busy, 'a second one that takes long is not prepared');
start_question($askers[0], $COUNT);
wait_for(3, $busy, 'what is charged alone holds back others');
pass('behind what is charged alone others are prepared');
start_question($askers[1], $COUNT);
wait_for(4, $clients, 'not all have asked');
let_go();
like(finish_question($_), qr/^-?\d+$/, 'all are answered') for $session{slow}, $session{slower}, @askers[ 0, 1 ];
is(releases($node) - $before, 4, 'and charged');
is($node->safe_psql('postgres', q{SELECT string_agg(role_name, ' ' ORDER BY id) FROM
	(SELECT id, role_name FROM dp_rdr.ledger ORDER BY id DESC LIMIT 4) l}), 'slow slower analyst colleague',
	'in the order in which they came');
ok(verified($node, 'postgres'), 'the ledger is whole');

$_->quit for $first, $gone, @askers, values %session;
$node->stop;
done_testing();
