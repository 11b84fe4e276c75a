# Partitions that somebody wants to misuse: refusals among ten thousand cells hold nobody up; statements of any size and depth, columns that
# are no longer what they were, clocks that go back or ahead, answers that are given again, and requests, each charge the cells that they read.

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
set_clock(2031, 10, 15);
local $ENV{LD_PRELOAD} = $clock;
my $node = new_server('many_cells', q{
	session_preload_libraries = dp_rdr
	max_worker_processes = 8
	dp_rdr.keepers = 2});
protect_people($node, 'postgres');
$node->safe_psql('postgres', 'CREATE ROLE second LOGIN; CREATE ROLE third LOGIN');
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE parts (n integer);
	INSERT INTO parts SELECT g FROM generate_series(0, 9998, 7) g;
	SELECT dp_protect('parts', 'parts_dp'), dp_set_odometer('parts', epsilon_total => 1000);
	SELECT dp_grant('parts_dp', 'analyst', tau => 0, candidates => '{0.05}'), dp_grant('parts_dp', 'second', tau => 0, candidates => '{0.01}'),
		dp_grant('parts_dp', 'third', tau_var => 0.5, epsilon_svt => 0.01, candidates => '{0.05,0.03}');
	SELECT dp_set_partition('parts', 'n', by => '1', since => '0', until => '9998', guard => false)});
my ($analyst, $second) = (session($node), session($node, 'second'));

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# The answer, or the SQLSTATE.
sub asks
{
	my ($session, $query) = @_;
	start_question($session, $query);
	my $end = finish_question($session);
	return $end =~ /^\w{5}$/ ? $end : 'answered'; # which has four digits, and may have come with the echo
}

sub charged
{
	my ($table) = @_;
	return value("SELECT releases || ' ' || denials FROM dp_odometer('$table') WHERE account = 'public'");
}

# ---- a late cell among ten thousand --------------------------------------------------------------------------------

my $but_one = 'SELECT count(*) FROM parts_dp WHERE n < 5 OR n > 5';
is(join(' ', map { asks($analyst, 'SELECT count(*) FROM parts_dp WHERE n = 9990') } 1 .. 10), join(' ', ('answered') x 10), 'one cell is used');
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('parts', epsilon_total => 0.52)});
is(asks($analyst, $but_one), '53400', 'and denies what touches it among ten thousand');
my (undef, undef, $said) = $node->psql('postgres', $but_one, extra_params => [ '-U', 'analyst' ]);
like($said, qr/DETAIL:  9990 has nothing left.*n >= 9991/s, 'by its name');
is(charged('parts'), '10 2', 'each denial is counted once');
is(sqlstate($node, 'postgres', 'third', $but_one), '53400', 'a selection is denied as well');
is(charged('parts'), '10 3', 'and counted');
my $holder = session($node, 'postgres');
$holder->query_safe('BEGIN; LOCK TABLE dp_rdr.odometer_cell IN ACCESS EXCLUSIVE MODE');
start_question($analyst, $but_one);
my $waiting = q{FROM pg_locks WHERE relation = 'dp_rdr.odometer_cell'::regclass AND NOT granted};
$node->poll_query_until('postgres', "SELECT count(*) = 1 $waiting") or die 'nobody looks into cells';
my $keeper = value("SELECT pid $waiting");
kill 'STOP', $keeper;
$second->query_safe(q{SET statement_timeout = '30s'});
is(asks($second, 'SELECT count(*) FROM parts_dp'), 'answered', 'who asks of all, where each can pay, does not wait until it is denied');
kill 'CONT', $keeper;
$holder->query_safe('COMMIT');
like(finish_question($analyst), qr/^(53400|55P03)$/, 'which it is');
is(asks($analyst, 'SELECT count(*) FROM parts_dp WHERE n <> 9990'), 'answered', 'the others pay');
ok(verified($node, 'postgres', 'parts'), 'and have what the rows of the ledger say');
is(asks($analyst, "SELECT count(*) FROM parts_dp WHERE n <> $_ AND n <> 9990"), 'answered', "nearly all, but $_") for 10, 20, 30;
cmp_ok(value('SELECT count(*) FROM dp_rdr.odometer_cell'), '<', 100, 'cells that have the same share a row');
$holder->quit;

# ---- statements of any size and depth ------------------------------------------------------------------------------

my $before = value(q{SELECT count(*) FROM dp_rdr.ledger_row});
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('parts', epsilon_total => 1000)});
my $many = join ',', 1 .. 60000;
my $deep = ('(n = 1 OR (n = 2 AND ' x 4000) . 'n = 3' . ('))' x 4000);
my $hundreds = join ' OR ', map { 'n = ' . 2 * $_ } 1 .. 150;
isnt(sqlstate($node, 'postgres', 'analyst', "SELECT count(*) FROM parts_dp WHERE n IN ($many)"), '', '60,000 constants are refused');
isnt(sqlstate($node, 'postgres', 'analyst', "SELECT count(*) FROM parts_dp WHERE $deep"), '', 'and so is what is 8,000 levels deep');
is(value(q{SELECT count(*) FROM dp_rdr.ledger_row}), $before, 'neither is charged');
is(sqlstate($node, 'postgres', 'analyst', "SELECT count(*) FROM parts_dp WHERE $hundreds"), '', 'what has 150 ranges is answered');
is(value(q{SELECT parameters -> 'cells' ? 'ranges' FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1}), 'f', 'and charged to all');
ok(verified($node, 'postgres', 'parts'), 'the ledger is whole');

# ---- columns that are no longer what they were ---------------------------------------------------------------------

psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE changed (id integer, day date, at timestamp);
	INSERT INTO changed SELECT g, DATE '2031-09-01' + g % 40, TIMESTAMP '2031-09-01' + g * INTERVAL '1 hour' FROM generate_series(1, 400) g;
	INSERT INTO changed VALUES (0, NULL, NULL), (0, 'infinity', 'infinity'), (0, '-infinity', '-infinity');
	SELECT dp_protect('changed', 'changed_dp', columns => '{id}'), dp_set_odometer('changed', epsilon_total => 1000);
	SELECT dp_grant('changed_dp', 'analyst', tau => 0.9);
	SELECT dp_set_partition('changed', 'day', by => 'month', since => '2031-09-01')});
my $ids = 'SELECT count(*) FROM changed_dp';
is(sqlstate($node, 'postgres', 'analyst', $ids), '', 'a view without the column is asked');
for my $change ([ 'ALTER TABLE changed RENAME COLUMN day TO night', 'ALTER TABLE changed RENAME COLUMN night TO day', 'renamed' ],
	[ 'ALTER TABLE changed ALTER day TYPE text', q{ALTER TABLE changed ALTER day TYPE date USING day::date}, 'of another type' ],
	[ 'ALTER TABLE changed DROP COLUMN day', 'SELECT 1', 'gone' ])
{
	my ($there, $back, $name) = @$change;
	psql_as($node, 'postgres', 'controller', $there);
	$before = value(q{SELECT count(*) FROM dp_rdr.ledger_row});
	my (undef, undef, $stderr) = $node->psql('postgres', $ids, extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=verbose' ]);
	like($stderr, qr/55000.*dp_unset_partition/s, "a column that is $name ends the answers, with the remedy");
	is(value(q{SELECT count(*) FROM dp_rdr.ledger_row}), $before, 'and charges');
	psql_as($node, 'postgres', 'controller', $back);
}
psql_as($node, 'postgres', 'controller', q{SELECT dp_unset_partition('changed')});
is(sqlstate($node, 'postgres', 'analyst', $ids), '', 'which is taken');

# ---- clocks, answers that are given again, requests ----------------------------------------------------------------

psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE stays (id integer, at date);
	INSERT INTO stays SELECT g, DATE '2031-08-03' + 7 * (g % 40) FROM generate_series(1, 4000) g;
	SELECT dp_protect('stays', 'stays_dp'), dp_set_odometer('stays', 'zcdp', epsilon_total => 1000, delta_total => 1e-3);
	SELECT dp_grant('stays_dp', 'analyst', tau => 0, candidates => '{50}', epsilon_max => 50), dp_grant('stays_dp', 'second', tau => 0.9, replay => '300 days'),
		dp_grant('stays_dp', 'third', tau => 0.5, mechanism => 'gaussian', delta => 1e-9);
	SELECT dp_set_partition('stays', 'at', by => 'month', since => '2031-08-01', fresh => true)});
my $all = 'SELECT count(*) FROM stays_dp';

# How many rows an answer counts: noise of this epsilon is 0, but for once in 10^21.
sub counted
{
	my ($where) = @_;
	my (undef, $n) = $node->psql('postgres', "$all $where", extra_params => [ '-U', 'analyst' ]);
	return $n;
}

sub rows_before
{
	my ($day) = @_;
	return value("SELECT count(*) FROM stays WHERE at < '$day'");
}

# The last month that a charge on all so far was on, counted from the year 0; nothing if it names some of them.
sub last_begun
{
	return value(q{SELECT l.parameters #>> '{cells,begun}' FROM (SELECT * FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1) l WHERE NOT l.parameters -> 'cells' ? 'ranges'});
}

is(counted(''), rows_before('2031-11-01'), 'October counts, and what has begun before');
my (undef, $again) = $node->psql('postgres', $all, extra_params => [ '-U', 'second' ]);
my $third = session($node, 'third');
is($third->query(q{SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM stays_dp', within => 0.9) AS (n bigint)}), 't', 'an answer that can be refined');
set_clock(2031, 12, 3);
is(counted(''), rows_before('2032-01-01'), 'the clock is ahead: December counts');
set_clock(2031, 10, 16);
is(counted(''), rows_before('2031-11-01'), 'it goes back, and November is no longer read');
is(last_begun(), 2031 * 12 + 9, 'nor charged');
is(value(q{SELECT string_agg(cells, ', ') FROM dp_cells('stays') WHERE cells LIKE '%2031-12'}), '2031-11 .. 2031-12', 'what has begun stays begun');
set_clock(2031, 12, 4);
is(counted(q{WHERE at >= '2031-12-01'}), rows_before('2032-01-01') - rows_before('2031-12-01'), 'December is asked for itself');
$before = value(q{SELECT count(*) FROM dp_rdr.ledger_row});
my (undef, $same) = $node->psql('postgres', $all, extra_params => [ '-U', 'second' ]);
is("$same " . value(q{SELECT count(*) FROM dp_rdr.ledger_row}), "$again $before", 'an answer is given again after months have begun, for nothing');
$third->{stderr} = '';
$third->query(q{SELECT n IS NOT NULL FROM dp_refine() AS (n bigint)});
like($third->{stderr}, qr/ERROR/, 'one over other months is not refined');
is(value(q{SELECT count(*) FROM dp_rdr.ledger_row}), $before, 'which costs nothing');
set_clock(2031, 12, 31);
$analyst->query_safe(q{SELECT dp_request('SELECT count(*) FROM stays_dp', 'all')});
set_clock(2032, 1, 1);
my $request = value(q{SELECT max(id) FROM dp_rdr.request});
my (undef, undef, $refused) = $node->psql('postgres', "SELECT * FROM dp_approve($request, basis => 'public')", extra_params => [ '-U', 'controller' ]);
unlike($refused, qr/ERROR/, 'a request is approved in the next month');
is(last_begun(), 2032 * 12, 'and charged to all months at its approval, January among them');
ok(verified($node, 'postgres', 'stays'), 'the ledger is whole');
$_->quit for $analyst, $second, $third;
$node->stop;
done_testing();
