# The server's table of locks is full, or nearly: a question is refused and nothing is charged, or it is answered. What parallel workers
# need beside, the locks of their leader once more, is found behind the charge alone: it is read without any where they find no room.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('full', q{
	max_worker_processes = 8
	max_connections = 20
	max_locks_per_transaction = 64
	min_parallel_table_scan_size = 0
	parallel_setup_cost = 0
	parallel_tuple_cost = 0
	dp_rdr.keepers = 1
});
protect_people($node, 'postgres');
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE visit (day integer) PARTITION BY LIST (day);
	SELECT format('CREATE TABLE visit_%s PARTITION OF visit FOR VALUES IN (%1$s)', day) FROM generate_series(1, 60) day \gexec
	INSERT INTO visit SELECT 1 + g % 60 FROM generate_series(1, 600) g;
	SELECT dp_protect('visit', 'visit_dp'), dp_set_odometer('visit', 'none');
	SELECT dp_grant('visit_dp', 'analyst', tau => 0.95);});

my $holder  = $node->background_psql('postgres', on_error_stop => 0);
my $analyst = session($node);
my $count   = q{SELECT count(*) IS NOT NULL FROM visit_dp};
$analyst->query($count); # has seen the catalog
$holder->query(q{DO $$ BEGIN FOR i IN 1 .. 1000000 LOOP PERFORM pg_advisory_lock(i); END LOOP; EXCEPTION WHEN out_of_memory THEN END $$});

my ($answered, $refused, @wrong) = (0, 0);
for my $step (1 .. 30)
{
	$holder->query('SELECT count(pg_advisory_unlock(i)) FROM generate_series(' . ($step * 10 - 9) . ', ' . $step * 10 . ') i');
	my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.ledger_row');
	start_question($analyst, $count);
	my $answer  = finish_question($analyst);
	my $charged = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.ledger_row') - $before;
	$answered += $charged if $answer eq 't';
	my $is_refused = $answer =~ /^(53200|55000)$/; # by the question, or by the writer of its charge
	$refused += $is_refused;
	push @wrong, "$answer, charged $charged" unless $charged == ($is_refused ? 0 : 1) && ($is_refused || $answer eq 't');
}
is("@wrong", '', 'each question is answered and charged, or neither');
cmp_ok($answered, '>', 0, 'some are answered');
cmp_ok($refused, '>', 0, 'some are refused');
$_->quit for $analyst, $holder;
ok(verified($node, 'postgres', 'visit'), 'the ledger is whole');
$node->stop;
like(slurp_file($node->logfile), qr/reading rows of public\.visit failed with SQLSTATE 53200/, 'workers have found no room');
done_testing();
