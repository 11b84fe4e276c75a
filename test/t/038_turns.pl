# What is under way while a period turns: rounds, selections, charges that are committed together, open transactions, setters; and
# what meets the end of a lifetime.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpClock;
use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $clock = build_clock();
plan skip_all => 'needs a C compiler' if !defined $clock;
set_clock(2031, 10, 31, 23, 30);
local $ENV{LD_PRELOAD} = $clock;
my $node = new_server('turns', q{
	session_preload_libraries = dp_rdr
	dp_rdr.keepers = 2
	max_worker_processes = 12
	max_connections = 40
});
protect_people($node, 'postgres', bound => 'filter');
protect_slow($node, 'postgres', 30); # a second and a half
$node->safe_psql('postgres', 'CREATE ROLE chooser LOGIN; CREATE ROLE second LOGIN');
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('slow_dp', 'analyst', tau => 0.5),
	       dp_grant('slow_dp', 'chooser', tau_var => 0.24, candidates => '{20,50}', epsilon_svt => 20, epsilon_max => 50),
	       dp_grant('people_dp', 'second', tau => 0.95, epsilon_total => 0.2),
	       dp_set_odometer('slow', 'filter', epsilon_total => 200, period => 'month', epsilon_lifetime => 1000),
	       dp_set_odometer('people', epsilon_total => 0.5, period => 'month', epsilon_lifetime => 30);});

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

sub last_row
{
	return value('SELECT coalesce(max(id), 0) FROM dp_rdr.ledger');
}

# Kinds and periods of the charges behind a row, those that are alike once.
sub charges_behind
{
	my ($row) = @_;
	return value(qq{SELECT string_agg(kind || ' ' || start, ', ' ORDER BY first) FROM
		(SELECT kind, left(parameters -> 'period' ->> 'start', 7) AS start, min(id) AS first FROM dp_rdr.ledger WHERE id > $row GROUP BY 1, 2) l});
}

sub period_epsilon
{
	my ($table) = @_;
	return value("SELECT period_epsilon FROM dp_odometer('$table') WHERE account = 'public'");
}

sub whole
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(value(q{SELECT dp_verify_ledger('people') AND dp_verify_ledger('slow')}) eq 't', "$name: both ledgers are whole");
	return;
}

# Asks, and sets the clock when the first charge is there and the rows are being read; then what the session says of it.
sub asked_over_a_turn
{
	my ($role, $question, @moment) = @_;
	my $row     = last_row();
	my $session = session($node, $role);
	start_question($session, $question);
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM dp_rdr.ledger WHERE id > $row");
	set_clock(@moment);
	my $answer = finish_question($session);
	my $said = $session->query('SELECT max(steps), bool_and(reached) FROM dp_last_release()');
	$session->quit;
	return ($answer, charges_behind($row), $said);
}

my $round = q{SELECT * FROM dp_query('SELECT count(*) FROM slow_dp WHERE id + 1 > 0', within => 0.001) AS (n bigint)};

# ---- rounds ----------------------------------------------------------------------------------------------------------

my $row = last_row();
ask($node, 'postgres', $round);
is(charges_behind($row), 'pure 2031-10, increment 2031-10', 'a round is charged in many steps');
my ($answer, $charges, $said) = asked_over_a_turn('analyst', $round, 2031, 11, 1, 0, 1);
like($answer, qr/^-?\d+$/, 'a round is answered over a turn');
is($charges, 'pure 2031-10', 'and nothing of it is charged in the period that has come');
is($said, '1|f', 'it ends with the look that was paid');
is(period_epsilon('slow'), '0', 'November has not begun with it');
$row = last_row();
ask($node, 'postgres', $round);
is(charges_behind($row), 'pure 2031-11, increment 2031-11', 'the next round is in it');

# Somebody else's charge turns the period meanwhile.
$row = last_row();
my $session = session($node);
start_question($session, $round);
$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM dp_rdr.ledger WHERE id > $row");
set_clock(2031, 12, 1, 0, 1);
psql_as($node, 'postgres', 'controller', q{CALL dp_find_epsilon('SELECT count(*) FROM slow_dp', 0.5)});
psql_as($node, 'postgres', 'analyst', q{SELECT count(*) FROM slow_dp});
finish_question($session);
is($session->query('SELECT max(steps), bool_and(reached) FROM dp_last_release()'), '1|f', 'nor does it go on in one that others have begun');
$session->quit;
unlike(charges_behind($row), qr/increment/, 'no step of it is charged there');

# A clock that is set back turns nothing, and so ends nothing.
set_clock(2031, 11, 15);
$row = last_row();
ask($node, 'postgres', $round);
is(charges_behind($row), 'pure 2031-12, increment 2031-12', 'a round goes on where the clock was set back');
whole('rounds');

# ---- selections ------------------------------------------------------------------------------------------------------

set_clock(2031, 12, 31, 23, 58);
($answer, $charges) = asked_over_a_turn('chooser', $SLOW, 2032, 1, 1, 0, 1);
is($charges, 'selection 2031-12, pure 2032-01', 'a selection and what it has selected may be in two periods');
cmp_ok(period_epsilon('slow'), '>=', 20, 'where each is charged by itself');
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('slow', epsilon_total => 45)});
set_clock(2032, 2, 29, 23, 58);
($answer, $charges) = asked_over_a_turn('chooser', $SLOW, 2032, 3, 1, 0, 1);
is($charges, 'selection 2032-02, pure 2032-03', 'with what the new period leaves for it');
is(period_epsilon('slow'), '20', 'and the selection of the old one does not count');
whole('selections');

# ---- charges that are committed together -------------------------------------------------------------------------------

# While the only keeper stands still they wait; then a batch of them is decided in the new period.
$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 1');
$node->restart;
ask($node, 'postgres', $SLOW);
my @sessions = map { session($node, $_ % 2 ? 'analyst' : 'second') } 1 .. 12;
$_->query('SELECT 1') for @sessions;
my @keepers = keepers($node);
is(scalar @keepers, 1, 'no other keeper may start');
kill 'STOP', @keepers;
start_question($_, $COUNT) for @sessions;
usleep(300_000);
set_clock(2032, 4, 1, 0, 0);
kill 'CONT', @keepers;
my @answers = map { finish_question($_) } @sessions;
is(scalar(grep { $_ ne '53400' } @answers), 10, 'of twelve the total of one month is answered');
is(period_epsilon('people'), '0.5', 'which is spent');

# Many ask again and again while the months go by.
$node->append_conf('postgresql.conf', 'dp_rdr.keepers = 3');
$node->reload;
my @crowd = map { session($node, $_ % 3 ? 'analyst' : 'second') } 1 .. 8;
for my $month (5 .. 9)
{
	start_question($_, join(";\n", ($COUNT) x 6)) for @crowd;
	usleep(10_000);
	set_clock(2032, $month, 1, 0, 0);
	finish_question($_) for @crowd;
}
$_->quit for @crowd, @sessions;
my $of_months = q{SELECT max(sum) FROM (SELECT sum(epsilon) FROM dp_rdr.ledger WHERE relation = 'public.people'};
cmp_ok(value("$of_months GROUP BY parameters -> 'period' ->> 'start') m"), '<=', 0.5, 'no month has more than its total');
cmp_ok(value("$of_months AND role_name = 'second' GROUP BY parameters -> 'period' ->> 'start') m"), '<=', 0.2, 'nor a role more than its share');
cmp_ok(value(q{SELECT count(DISTINCT parameters -> 'period' ->> 'start') FROM dp_rdr.ledger WHERE relation = 'public.people'}),
	'>=', 3, 'of several months');
whole('together');

# ---- open transactions -------------------------------------------------------------------------------------------------

set_clock(2032, 10, 31, 23, 59);
my $before = account($node, 'postgres');
my @open = (session($node), session($node, 'second'));
$_->query("BEGIN ISOLATION LEVEL SERIALIZABLE; $COUNT; SAVEPOINT a; $COUNT; ROLLBACK TO a") for @open;
is(period_epsilon('people'), '0.2', 'two transactions have asked in October');
set_clock(2032, 11, 1, 0, 0);
$_->query($COUNT) for @open;
is(period_epsilon('people'), '0.1', 'and in November');
$_->query('ROLLBACK') for @open;
my ($releases, $epsilon) = split /\|/, $before;
is(account($node, 'postgres'), ($releases + 6) . '|' . ($epsilon + 0.3), 'a rollback gives nothing back to either');
is(period_epsilon('people'), '0.1', 'nor turns anything back');

# A setter that is not committed changes nothing; one that is changed it for who had asked before.
my $setter = session($node, 'controller');
$setter->query(q{BEGIN; SELECT dp_set_odometer('people', epsilon_total => 0.1, period => 'day', epsilon_lifetime => 30)});
is(ask($node, 'postgres') =~ /^-?\d+$/, 1, 'an open setter holds nobody up');
set_clock(2032, 12, 1, 0, 0);
is(sqlstate($node, 'postgres', 'analyst', $COUNT), '', 'nor a turn');
$setter->query('COMMIT');
is(sqlstate($node, 'postgres', 'analyst', $COUNT), '', 'from its commit on it binds');
is(sqlstate($node, 'postgres', 'analyst', $COUNT), '53400', 'all alike');
$_->quit for @open, $setter;
whole('open transactions');

# ---- the end of a lifetime ---------------------------------------------------------------------------------------------

my $spent = value(q{SELECT epsilon FROM dp_odometer('slow') WHERE account = 'public'});
psql_as($node, 'postgres', 'controller', "SELECT dp_set_odometer('slow', epsilon_total => 0.1, epsilon_lifetime => $spent + 0.1)");
set_clock(2033, 5, 31, 23, 58);
$row = last_row();
$session = session($node);
$session->query($round);
is($session->query('SELECT bool_or(reached) FROM dp_last_release()'), 'f', 'a round ends with the lifetime');
$session->quit;
cmp_ok(value("SELECT sum(epsilon) FROM dp_rdr.ledger WHERE id > $row"), '<=', 0.1, 'which it does not pass');
set_clock(2033, 6, 1, 0, 0);
cmp_ok(value(q{SELECT epsilon FROM dp_odometer('slow') WHERE account = 'public'}), '<=', $spent + 0.1, 'nor does a turn');
is(sqlstate($node, 'postgres', 'analyst', q{SELECT * FROM dp_query('SELECT count(*) FROM slow_dp', epsilon => 0.1) AS (n bigint)}), '53400',
	'and no more is answered for good');
whole('lifetimes');

$node->stop;
done_testing();
