# A selection of epsilon is charged before its first comparison: whatever happens while the rows are read, or to the release
# that was to follow, its charge stays.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

# What reads slowly leaves a core to whoever looks on.
my $node = new_server('selection', q{
	fsync = on
	restart_after_crash = on
	max_parallel_workers_per_gather = 0
});
protect_people($node, 'postgres', rows => 1_000_000);

# Nobody's age is NULL and everybody's PIS is the same: the first candidate tested, 1, is accepted but for a chance of e^-999.
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('people_dp', 'analyst', tau_var => 0.01, epsilon_svt => 0.25);});
my $conditions = join(' AND ', map { 'age <> ' . (1000 + $_) } 1 .. 250);
my $slow = qq{SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE $conditions') AS (n bigint)};

my ($selections, $releases) = (0, 0);

# Selections of 0.25 and releases of 1 so far.
sub charged
{
	my ($name, $selected, $released) = @_;
	$selections += $selected;
	$releases   += $released;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(account($node, 'postgres'), $releases . '|' . (0.25 * $selections + $releases), $name);
	return;
}

sub kinds
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(kind || ' ' || epsilon, ', ' ORDER BY kind DESC)
		FROM (SELECT kind, epsilon FROM dp_rdr.ledger ORDER BY id DESC LIMIT 2) l});
}

ask($node, 'postgres', $slow);
charged('a selection and a release', 1, 1);
is(kinds(), 'selection 0.25, pure 1', 'both are in the ledger');

psql_as($node, 'postgres', 'analyst', "BEGIN; $slow; ROLLBACK;");
charged('rolled back, both stay', 1, 1);

# Far behind the first charge, and in the middle of a read that takes half a minute on any machine.
protect_slow($node, 'postgres', 600);
psql_as($node, 'postgres', 'controller', q{SELECT dp_grant('slow_dp', 'analyst', tau_var => 0.01, epsilon_svt => 0.25)});
is(sqlstate($node, 'postgres', 'analyst', "SET statement_timeout = '4s'; $SLOW"), '57014', 'a timeout while the rows are read gives no answer');
is(account($node, 'postgres', 'slow'), '0|0.25', 'the selection stays charged');

# A question whose selection has been charged and whose rows are being read.
sub session_while_reading
{
	my ($question) = @_;
	$question //= $slow;
	my $session = $node->background_psql('postgres', on_error_stop => 0,
		extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=sqlstate' ]);
	$session->query_safe('SELECT 1');
	$session->query_until(qr/asked/, "\\echo asked\n$question;\n");
	my $wanted = 0.25 * ($selections + 1) + $releases;
	$node->poll_query_until('postgres',
		"SELECT epsilon = $wanted FROM dp_odometer('people') WHERE account = 'public'")
	  or die 'the selection was not charged';
	return $session;
}

# Another charge takes what the release would have needed: denied, and the selection stays charged.
my $late = session_while_reading();
my $left = 0.25 * ($selections + 1) + $releases;
psql_as($node, 'postgres', 'controller', qq{SELECT dp_set_odometer('people', 'filter', $left + 0.5)});
is($late->query('SELECT 1'), '1', 'no answer');
like($late->{stderr}, qr/40003/, 'the settings have changed since the selection');
$late->quit;
charged('the selection stays charged', 1, 0);

my $total = 0.25 * ($selections + 1) + $releases + 1.5;
psql_as($node, 'postgres', 'controller', qq{SELECT dp_set_odometer('people', 'filter', $total)});
$late = session_while_reading();
psql_as($node, 'postgres', 'controller', q{
	CALL dp_find_and_release_epsilon('SELECT count(*) FROM people_dp', 0.25, candidates => '{1}')});
is($late->query('SELECT 1'), '1', 'no answer');
like($late->{stderr}, qr/53400/, 'what the release would have needed is gone');
$late->quit;
charged('the selection stays charged', 1, 1);

# The same with groups that nobody declared, which wait for the release in what may be a file.
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_set_odometer('people', 'none');
	SELECT dp_grant('people_dp', 'analyst', tau_var => 0.01, epsilon_svt => 0.25, delta => 1e-6);});
my $grouped = qq{SELECT * FROM dp_query('SELECT age, count(*) FROM people_dp WHERE $conditions GROUP BY age') AS (age integer, n bigint)};
$late = session_while_reading($grouped);
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_bounds('people', 'pay', 0, 6000)});
is($late->query('SELECT 1'), '1', 'no answer');
like($late->{stderr}, qr/40003/, 'the settings have changed since the selection for groups');
$late->quit;
charged('the selection stays charged', 1, 0);
like(ask($node, 'postgres', $grouped), qr/^\d+\|-?\d+$/m, 'the next one is answered');
charged('and charged', 1, 1);

$late = session_while_reading();
$node->stop('immediate');
eval { $late->quit };
is($late->{stdout}, '', 'a server that stops at once gives no answer');
$node->start;
charged('the selection has survived', 1, 0);
ok(verified($node, 'postgres'), 'the ledger is whole');

$node->stop;
done_testing();
