# A question that one keeper has charged is read by another one only if it still means what was charged. Here a literal means something
# else by then, as the labels of its enum were renamed, or another price is permitted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('charged_question', q{
	max_worker_processes = 8
	dp_rdr.keepers = 2
	restart_after_crash = on
});
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 120); # 6 seconds
$node->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO analyst');
psql_as($node, 'postgres', 'analyst', q{CREATE TYPE en AS ENUM ('x', 'y', 'z')});

my $reading = q{SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.relation = 'slow'::regclass AND a.backend_type = 'dp_rdr keeper' AND
	EXISTS (SELECT FROM pg_locks t WHERE t.pid = l.pid AND t.locktype = 'virtualxid')};

sub wait_for_charges
{
	my ($number) = @_;
	$node->poll_query_until('postgres', "SELECT releases = $number FROM dp_odometer('slow') WHERE account = 'public'")
	  or die 'no charge';
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($reading) r") or die 'nobody reads';
	return;
}

# Two questions come while their login's first one is read, so one keeper charges both at once. It ends while it reads one of them,
# behind what is done meanwhile. Returns both ends: that of the one that it was reading, and the other one's.
sub ends
{
	my ($question, $meanwhile, $who) = @_;
	my @sessions = map { session($node) } 1 .. 3;
	my $before = $node->safe_psql('postgres', q{SELECT coalesce(sum(releases), 0) FROM dp_odometer('slow') WHERE account = 'public'});
	start_question($sessions[0], $SLOW);
	wait_for_charges($before + 1);
	start_question($sessions[$_], $question) for 1 .. 2;
	wait_for_charges($before + 3);
	my $keeper = $node->safe_psql('postgres', $reading);
	psql_as($node, 'postgres', $who // 'analyst', $meanwhile);
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($keeper)");
	my ($first, @both) = map { finish_question($_) } @sessions;
	$_->quit for @sessions;
	like($first, qr/^-?\d+$/, 'what came first is answered');
	return join ' ', map { $_ eq '40003' ? $_ : 'answered' } sort { $b <=> $a } @both;
}

my $swap = q{ALTER TYPE en RENAME VALUE 'x' TO 'w'; ALTER TYPE en RENAME VALUE 'z' TO 'x'; ALTER TYPE en RENAME VALUE 'w' TO 'z'};
my $text = q{SELECT count(*) FROM public.slow_dp WHERE id + 1 > 0 AND CASE WHEN id > 30 THEN 'x'::public.en ELSE 'z'::public.en END < 'y'::public.en};
my $query = qq{SELECT * FROM dp_query(\$\$$text\$\$) AS (n bigint)};
my $release = qq{SELECT * FROM dp_rdr.release(\$\$$text\$\$, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)};

is(ends($query, q{SELECT}), q{40003 answered}, q{another keeper answers what means the same});
is(ends($query, $swap), '40003 40003', 'not what means something else');
is(ends($release, $swap), '40003 40003', 'nor when the text is sent by hand');
is(ends($query, q{SELECT dp_grant('slow_dp', 'analyst', tau => 0.9)}, 'controller'), '40003 40003', 'nor for another price');

ok(verified($node, 'postgres', 'slow'), 'the ledger is whole');

# By accuracy, under a policy of Laplace noise and a bound in rho: measured with Gaussian noise, step by step. Its keeper charges each
# step and reads itself; where that ends nobody goes on with another price.
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('slow', 'zcdp', epsilon_total => 1000, delta_total => 0.00001);
	SELECT dp_grant('slow_dp', 'analyst', tau => 0, epsilon_max => 1, candidates => '{1}', delta => 0)});
my $measured = q{SELECT * FROM dp_query('SELECT count(*) FROM slow_dp WHERE id + 1 > 0', error95 => 20) AS (n bigint)};
my ($asks, $other) = map { session($node) } 1 .. 2;
my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.ledger_row');
start_question($asks, $measured);
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($reading) r") or die 'nobody reads';
start_question($other, $measured);
my $charged = $node->safe_psql('postgres', "SELECT string_agg(rho::text, ' ') FROM dp_rdr.ledger_row WHERE id > $before");
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM ($reading) r LIMIT 1");
is(join(' ', sort { $b cmp $a } map { finish_question($_) =~ s/^-?\d{1,4}$/answered/r } $asks, $other), 'answered 40003',
	'a measured answer ends with its keeper, and another one is not touched');
is($node->safe_psql('postgres', "SELECT count(DISTINCT rho) FROM dp_rdr.ledger_row WHERE id > $before"), '1', 'both were charged the same rho');
isnt($charged, '', 'before rows were read');
ok(verified($node, 'postgres', 'slow'), 'the ledger is whole then');
$_->quit for $asks, $other;
$node->stop;
done_testing();
