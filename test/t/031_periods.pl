# Budgets by month on a clock that moves: a library that the server loads first adds to it what a file says. What binds until it turns,
# a clock that is set back, a crash, totals that are rebuilt from rows of many periods, dump and restore.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpClock;
use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::Local qw(timegm);

my $clock = build_clock();
plan skip_all => 'needs a C compiler' if !defined $clock;

set_clock(2031, 10, 31, 23, 30);
local $ENV{LD_PRELOAD} = $clock;
my $node = new_server('periods', "dp_rdr.keepers = 2\nTimeZone = 'Pacific/Kiritimati'\nmax_connections = 30\n");
protect_people($node, 'postgres', bound => 'filter');
$node->safe_psql('postgres', 'CREATE ROLE second LOGIN; CREATE ROLE sighted LOGIN');
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('people_dp', 'second', tau => 0.95, epsilon_total => 0.1);
	SELECT dp_grant('people_dp', 'sighted', tau => 0.95, selection => 'within_data', epsilon_max => 0.1);
	SELECT dp_set_odometer('people', epsilon_total => 0.2, period => 'month', epsilon_lifetime => 1);});

# How many of so many questions are answered: each 0.05, or up to 0.1 of the data's.
sub answered
{
	my ($role, $times, $database) = @_;
	my $answers = 0;
	for (1 .. $times)
	{
		my $state = sqlstate($node, $database // 'postgres', $role, $COUNT);
		die "unexpected: $state" if $state ne '' && $state ne '53400';
		$answers++ if $state eq '';
	}
	return $answers;
}

sub value
{
	my ($sql, $database) = @_;
	return $node->safe_psql($database // 'postgres', $sql);
}

sub set_odometer
{
	my ($arguments) = @_;
	psql_as($node, 'postgres', 'controller', "SELECT dp_set_odometer('people', $arguments)");
	return;
}

my $ends = q{SELECT period_end AT TIME ZONE 'UTC' FROM dp_odometer('people') WHERE account = 'public'};

# ---- a turn ----------------------------------------------------------------------------------------------------------

like(value('SELECT now()'), qr/^2031-11-01 13:3/, 'the clock is where it was set, and it is November here');
is(value($ends), '2031-11-01 00:00:00', 'and October in UTC');
is(answered('second', 3), 2, 'the share binds within the month');
is(answered('analyst', 3), 2, 'so does the total');
is(sqlstate($node, 'postgres', 'analyst', $COUNT), '53400', 'to the end of the month');
set_clock(2031, 11, 1, 0, 1);
is(answered('second', 3), 2, 'the share begins anew');
is(answered('analyst', 3), 2, 'so does the total');
is(account($node, 'postgres'), '8|0.4', 'and what was ever spent goes on');
ok(verified($node, 'postgres'), 'the ledger is whole');

set_clock(2031, 10, 31);
is(answered('analyst', 1), 0, 'a clock that is set back gives nothing');
is(value($ends), '2031-12-01 00:00:00', 'it is November all the same');
set_clock(2031, 11, 30, 23, 59);
is(answered('analyst', 1), 0, 'nor does November again');

# A charge whose amount may depend on rows.
set_clock(2031, 12, 3);
my $public = q{SELECT public_period_kind, public_period_start, public_period_epsilon FROM dp_rdr.odometer};
my $before = value($public);
is(answered('sighted', 1), 1, 'the conditional account is in December');
is(value($public), $before, 'the public one is where it was');
set_clock(2031, 11, 15);
is(answered('analyst', 1), 0, 'and gives nothing, as if nobody had asked');
ok(verified($node, 'postgres'), 'the ledger is whole');

set_clock(2032, 2, 29);
is(answered('analyst', 5), 4, 'a month in which nobody asked is not saved up');
set_clock(2032, 3, 1);
is(answered('analyst', 5), 4, 'March');
set_clock(2032, 4, 1);
is(answered('analyst', 5), 4, 'April ends the lifetime');
set_clock(2032, 5, 1);
is(answered('analyst', 2), 0, 'of all months together');
is(account($node, 'postgres'), '20|1', 'it is spent to the last');

# ---- a crash ---------------------------------------------------------------------------------------------------------

my $state = q{SELECT (SELECT o::text FROM dp_rdr.odometer o)
	|| (SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM dp_rdr.odometer_share s)
	|| (SELECT string_agg(d::text, E'\n') FROM dp_rdr.privacy_domain d)};
set_odometer('epsilon_lifetime => 50');
is(answered('analyst', 2), 2, 'May, with a larger lifetime');
$before = value($state);
$node->stop('immediate');
$node->start;
is(value($state), $before, 'a crash takes nothing back');
is(answered('analyst', 5), 2, 'and what is left of May is what was');
ok(verified($node, 'postgres'), 'the ledger is whole');

# ---- whatever is set, asked and shown by the clock ---------------------------------------------------------------------

# By a generator of its own: the same in every run.
my $seed = 1;

sub choose
{
	$seed = ($seed * 16807) % 2147483647;
	return $_[ $seed % @_ ];
}
my $day = timegm(0, 0, 12, 10, 5, 2032);
for my $i (1 .. 70)
{
	$day += 86400 * choose(0, 0, 1, 2, 9, 33, 120, -3, -40);
	my (undef, undef, undef, $mday, $month, $year) = gmtime $day;
	set_clock(1900 + $year, $month + 1, $mday);
	my $period = choose('day', 'week', 'month', 'month', 'quarter', 'year', '');
	set_odometer("bound => 'filter', epsilon_total => 3, delta_total => 0.0001, period => '$period'"
		  . ($period eq '' ? '' : ', delta_lifetime => 0.01'))
	  if choose(0, 1, 1, 1) == 0 && $i < 60 || $i == 60;
	if ($i == 30)
	{
		set_odometer("bound => 'zcdp', delta_total => 0.0001, period => ''");
		answered('analyst', 1);
		set_odometer("bound => 'filter', delta_total => 0.0001, period => 'quarter', epsilon_lifetime => 80");
	}
	answered(choose('analyst', 'analyst', 'second', 'sighted'), 1);
}
cmp_ok(value(q{SELECT count(DISTINCT parameters -> 'period' ->> 'kind') FROM dp_rdr.ledger}), '>=', 4, 'many kinds of periods');
cmp_ok(value(q{SELECT count(*) FROM dp_rdr.ledger WHERE parameters ? 'period'}), '>', 40, 'many charges in them');
ok(verified($node, 'postgres'), 'the ledger is whole');

# ---- dump, restore, and totals that were lost ---------------------------------------------------------------------------

my $dump = $node->basedir . '/periods.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
$before = value($state);
is(value($state, 'restored'), $before, 'all of it is the same after the restore');
ok(verified($node, 'restored'), 'the ledger is whole');
value('TRUNCATE dp_rdr.odometer, dp_rdr.odometer_share', 'restored');
my $sums = q{SELECT to_jsonb(o) - '{public_denials,conditional_denials}'::text[] FROM dp_rdr.odometer o};
my $shares = q{SELECT string_agg(to_jsonb(s)::text, E'\n' ORDER BY grantee) FROM dp_rdr.odometer_share s};
psql_as($node, 'restored', 'controller', q{SELECT dp_protect('people', 'people_again')});
is(value($sums, 'restored'), value($sums), 'lost totals come back from the rows, periods as well');
is(value($shares, 'restored'), value($shares), 'so do the shares');
ok(verified($node, 'restored'), 'the ledger is whole');
is(value(q{SELECT period IS NULL AND period_since IS NULL FROM dp_rdr.protected_table JOIN dp_rdr.privacy_domain ON id = domain}, 'restored'), 't',
	'and the table is closed, without a period');

$node->stop;
done_testing();
