# Cells of a partition while a month begins: what was charged in one month is read as of that month, by whichever keeper, and the next month
# begins with what was charged to months to come; under zcdp, over epochs, in a dump, and where totals are lost.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpClock;
use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $clock = build_clock();
plan skip_all => 'needs a C compiler' if !defined $clock;
set_clock(2031, 10, 31, 23, 30);
local $ENV{LD_PRELOAD} = $clock;
my $node = new_server('cells_turn', q{
	session_preload_libraries = dp_rdr
	max_worker_processes = 8
	dp_rdr.keepers = 2
	restart_after_crash = on
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 60); # 3 seconds
psql_as($node, 'postgres', 'controller', q{
	ALTER TABLE slow ADD at date DEFAULT '2031-10-05';
	SELECT dp_set_partition('slow', 'at', by => 'month', since => '2031-08-01')});

my $reading = q{SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.relation = 'slow'::regclass AND a.backend_type = 'dp_rdr keeper' AND
	EXISTS (SELECT FROM pg_locks t WHERE t.pid = l.pid AND t.locktype = 'virtualxid')};

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

sub wait_for_charges
{
	my ($number) = @_;
	$node->poll_query_until('postgres', "SELECT releases = $number FROM dp_odometer('slow') WHERE account = 'public'")
	  or die 'no charge';
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($reading) r") or die 'nobody reads';
	return;
}

# Two questions are charged at once, then a month begins. With `end` their keeper ends while it reads one of them.
sub over_a_turn
{
	my ($end, @month) = @_;
	my @sessions = map { session($node) } 1 .. 3;
	my $before = value(q{SELECT releases FROM dp_odometer('slow') WHERE account = 'public'});
	start_question($sessions[0], $SLOW);
	wait_for_charges($before + 1);
	start_question($sessions[$_], $SLOW) for 1 .. 2;
	wait_for_charges($before + 3);
	my $keeper = value($reading);
	set_clock(@month);
	value("SELECT pg_terminate_backend($keeper)") if $end;
	my ($first, @both) = map { finish_question($_) } @sessions;
	$_->quit for @sessions;
	return join ' ', map { $_ eq '40003' ? $_ : 'answered' } sort { $b <=> $a } @both;
}

sub cells
{
	my ($table) = @_;
	return value("SELECT string_agg(cells || ' ' || epsilon, ', ') FROM dp_cells('$table')");
}

is(over_a_turn(0, 2031, 11, 1, 0, 5), 'answered answered', 'the keeper that has charged reads behind the turn');
is(cells('slow'), 'before 2031-08, NULL .. 2031-10 0.15, 2031-11 0', 'which was charged to the months before');
is(over_a_turn(1, 2031, 12, 1, 0, 5), '40003 answered', 'and so does another keeper');
is(cells('slow'), 'before 2031-08, NULL .. 2031-10 0.3, 2031-11 0.15, 2031-12 0', 'the next month has nothing of it');
ok(verified($node, 'postgres', 'slow'), 'the ledger is whole');

# ---- epochs, and what is kept --------------------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE ROLE second LOGIN');
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE stays (id integer, at date);
	INSERT INTO stays SELECT g, DATE '2031-08-03' + 7 * (g % 16) FROM generate_series(1, 400) g;
	SELECT dp_protect('stays', 'stays_dp');
	SELECT dp_set_odometer('stays', 'zcdp', epsilon_total => 1, delta_total => 1e-6);
	SELECT dp_grant('stays_dp', 'analyst', tau => 0.9),
		dp_grant('stays_dp', 'second', tau => 0.9, mechanism => 'gaussian', delta => 1e-9, epsilon_total => 0.95);
	SELECT dp_set_partition('stays', 'at', by => 'month', since => '2031-08-01', fresh => true)});
my ($analyst, $second) = (session($node), session($node, 'second'));

sub asks
{
	my ($session, $where) = @_;
	start_question($session, "SELECT count(*) FROM stays_dp $where");
	my $end = finish_question($session);
	return $end =~ /^\w{5}$/ ? $end : 'answered'; # which may have come with the echo
}

my $september = q{WHERE at >= '2031-09-01' AND at < '2031-10-01'};
is(join(' ', map { asks($analyst, $september) } 1 .. 8), join(' ', ('answered') x 8), 'September has a total');
is(asks($second, q{WHERE at >= '2031-10-01'}), 'answered', 'October and what follows another');
is(asks($analyst, q{}), 'answered', 'September has pure charges alone, and the others little rho: each may pay');
is(asks($analyst, q{}), '53400', 'October may not again');
is(asks($analyst, q{WHERE at < '2031-09-01'}), 'answered', 'August is left');
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('stays', 'zcdp', epsilon_total => 4, epsilon_pure => 1, delta_total => 1e-6)});
is(asks($analyst, $september), 'answered', 'another epoch begins with nothing in rho');
is(value(q{SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.stays' AND kind = 'closing'}), 1, 'months to come had nothing to close');
ok(verified($node, 'postgres', 'stays'), 'the ledger is whole');
set_clock(2032, 1, 2);
is(asks($analyst, q{WHERE at >= '2032-01-01'}), 'answered', 'January begins');
is(value(q{SELECT delta FROM dp_cells('stays') WHERE cells LIKE '%2032-01'}), '0', 'with nothing of the epoch that has ended');
ok(verified($node, 'postgres', 'stays'), 'the ledger is whole then');

sub sums
{
	my ($database) = @_;
	return $node->safe_psql($database, q{SELECT string_agg(concat_ws(' ', cells, epsilon, delta), ', ') FROM dp_cells('stays')}) . $node->safe_psql($database,
		q{SELECT string_agg(concat_ws(' ', g, trim_scale(coalesce(c.epsilon, 0) + b.epsilon), trim_scale(coalesce(c.rho, 0) + b.rho)), ', ' ORDER BY g)
			FROM (SELECT s.grantee, s.public_epsilon - s.most_epsilon AS epsilon, CASE s.epoch WHEN o.epoch THEN s.public_rho - s.most_rho ELSE 0 END AS rho
				FROM dp_rdr.odometer_share s JOIN dp_rdr.odometer o ON o.id = s.id WHERE o.relation_name = 'public.stays') b
			CROSS JOIN generate_series(-1, 5) g LEFT JOIN LATERAL (SELECT c.* FROM dp_rdr.odometer_cell c JOIN dp_rdr.odometer o ON o.id = c.id
				WHERE o.relation_name = 'public.stays' AND c.grantee = b.grantee AND c.first <= o.begun - g ORDER BY c.first DESC LIMIT 1) c ON true});
}

my $before = sums('postgres');
value(q{CREATE DATABASE restored});
command_ok([ 'bash', '-c', "pg_dump -h " . $node->host . " -p " . $node->port . " postgres | psql -q -X -v ON_ERROR_STOP=1 -h " . $node->host . ' -p ' . $node->port . ' restored' ],
	'dump and restore');
is(sums('restored'), $before, 'a restored database has the same sums of cells');
is($node->safe_psql('restored', q{SELECT dp_verify_ledger('stays', true)}), 't', 'and verifies them');
$node->safe_psql('restored', q{
	DELETE FROM dp_rdr.odometer_cell c USING dp_rdr.odometer o WHERE o.id = c.id AND o.relation_name = 'public.stays';
	DELETE FROM dp_rdr.odometer_share c USING dp_rdr.odometer o WHERE o.id = c.id AND o.relation_name = 'public.stays';
	DELETE FROM dp_rdr.odometer o WHERE o.relation_name = 'public.stays'});
$node->safe_psql('restored', q{SELECT dp_protect('stays', 'stays_again')});
is(sums('restored'), $before, 'totals that are lost come back from the ledger');
is($node->safe_psql('restored', q{SELECT dp_verify_ledger('stays', true)}), 't', 'and are those of its rows');
$node->safe_psql('restored', q{UPDATE dp_rdr.odometer_cell c SET epsilon = epsilon - 0.001 FROM dp_rdr.odometer o
	WHERE o.id = c.id AND o.relation_name = 'public.stays' AND c.grantee = 'analyst' AND c.first = (
		SELECT min(first) FROM dp_rdr.odometer_cell WHERE id = c.id AND grantee = 'analyst')});
is($node->safe_psql('restored', q{SELECT dp_verify_ledger('stays', true)}), 'f', 'a cell of a role that has less than its rows is seen');

# ---- six at once ---------------------------------------------------------------------------------------------------

psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('stays', 'zcdp', epsilon_total => 1000, epsilon_pure => 400, delta_total => 0.1);
	SELECT dp_grant('stays_dp', 'second', tau => 0.9, mechanism => 'gaussian', delta => 1e-9, epsilon_total => 500)});
my @clients = map { session($node, $_ % 2 ? 'analyst' : 'second') } 1 .. 6;
my @stretches = (q{}, $september, q{WHERE at >= '2031-10-01'}, q{WHERE at < '2031-09-01'}, q{WHERE at < '2031-09-01' OR at >= '2031-12-01'});
my $answered = 0;
for my $turn (1 .. 20)
{
	start_question($clients[$_], 'SELECT count(*) FROM stays_dp ' . $stretches[($turn * 7 + $_ * 3) % 5]) for 0 .. 5;
	$answered += grep { finish_question($_) !~ /^\w{5}$/ } @clients;
}
is($answered, 120, 'six clients ask for one stretch and another');
ok(verified($node, 'postgres', 'stays'), 'and all cells have what the rows say');
$_->quit for $analyst, $second, @clients;
$node->stop;
done_testing();
