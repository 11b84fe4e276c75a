# What a selection of epsilon has read waits for the charge of what it selected, between the transactions of a keeper. However
# the question ends there, it takes neither the keeper nor the server along.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('ended', 'restart_after_crash = on');
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 60);
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_set_odometer('slow', 'none', delta_total => 0.5);
	SELECT dp_revoke('slow_dp', 'analyst');
	SELECT dp_grant('slow_dp', 'analyst', tau_var => 0.01, epsilon_svt => 0.25, delta => 1e-12);}); # sixty groups of one row
my $groups = q{SELECT * FROM dp_query('SELECT id, count(*) FROM slow_dp WHERE id + 1 > 0 GROUP BY id') AS (id integer, n bigint)};

# A question whose selection is charged: three seconds of reading follow.
sub begin_question
{
	my $before = rows_of_ledger($node, 'public.slow');
	my $asking = session($node);
	start_question($asking, $groups);
	$node->poll_query_until('postgres', "SELECT count(*) > $before FROM dp_rdr.ledger WHERE relation = 'public.slow'") or die 'no selection was charged';
	return $asking;
}

is(ask($node, 'postgres', "SELECT count(*) FROM ($groups) g"), '0', 'groups of one row are withheld');
my @keepers = keepers($node);

my $asking = begin_question();
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_bounds('slow', 'id', 0, 100000000)});
is(finish_question($asking), '40003', 'settings changed before what was selected was charged');
$asking->quit;

$asking = begin_question();
my $holder = session($node, 'postgres');
$holder->query_safe(q{BEGIN; SELECT FROM dp_rdr.odometer FOR UPDATE});
is(finish_question($asking), '40003', 'somebody else held the odometer');
$holder->query_safe('ROLLBACK');
$asking->quit;
$holder->quit;

# The client goes at any moment between the two charges, and while its groups are sorted and written.
psql_as($node, 'postgres', 'controller', q{INSERT INTO slow SELECT g FROM generate_series(1000, 60000) g});
$node->safe_psql('postgres', 'ALTER FUNCTION dp_rdr.int4pl(integer, integer) RENAME TO int4pl_slow');
(my $many = $groups) =~ s/ WHERE id \+ 1 > 0//;
for my $at (1 .. 30)
{
	sqlstate($node, 'postgres', 'analyst', sprintf('SET statement_timeout = %d; %s', 10 * $at, $many));
}
like(ask($node, 'postgres', "SELECT count(*) FROM ($many) g"), qr/^\d+$/, 'the keepers answer');
unlike(slurp_file($node->logfile), qr/terminated by signal|server process .* was terminated/, 'none has ended in a crash');
my %now = map { $_ => 1 } keepers($node);
is(scalar(grep { $now{$_} } @keepers), scalar(@keepers), 'they are the same as before');
ok(verified($node, 'postgres', 'slow'), 'the ledger is whole');

$node->stop;
done_testing();
