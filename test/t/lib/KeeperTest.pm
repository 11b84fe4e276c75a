# What the tests of the keepers share: who lives, sessions in the background, questions that take long.

package KeeperTest;

use strict;
use warnings;

use DpTest;
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

our @EXPORT = qw(keepers wait_for_keepers session start_question finish_question hold_workers release_workers
  $SLOW protect_slow timed releases rows_of_ledger);

# A question that takes 50 ms for each row of slow, and fails if one of them is -1.
our $SLOW = q{SELECT * FROM dp_query('SELECT count(*) FROM slow_dp WHERE id + 1 > 0') AS (n bigint)};

# The pids of the keepers that live, the oldest place first.
sub keepers
{
	my ($node, $database) = @_;
	return split /\n/, $node->safe_psql($database // 'postgres', 'SELECT pid FROM dp_rdr.keepers() WHERE pid IS NOT NULL');
}

sub wait_for_keepers
{
	my ($node, $number, $database) = @_;
	return $node->poll_query_until($database // 'postgres',
		"SELECT count(*) = $number FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database()");
}

# A psql of a role's in the background.
sub session
{
	my ($node, $role, $database) = @_;
	return $node->background_psql($database // 'postgres', on_error_stop => 0,
		extra_params => [ '-U', $role // 'analyst', '-v', 'VERBOSITY=sqlstate' ]);
}

# Sends a question and does not wait for its answer.
sub start_question
{
	my ($session, $sql) = @_;
	$session->{stderr} = ''; # the error may come with the echo
	$session->query_until(qr/asked/, "\\echo asked\n$sql;\n");
	return;
}

# The answer of the question under way, or the SQLSTATE of its error.
sub finish_question
{
	my ($session) = @_;
	my $answer = $session->query('SELECT');
	$answer =~ s/^asked\s*//;
	return $1 if $session->{stderr} =~ /(?:ERROR|FATAL):\s+(\w{5})/;
	return $answer;
}

# A view slow_dp of so many rows. What adds in it is replaced by the superuser: no analyst could.
sub protect_slow
{
	my ($node, $database, $rows) = @_;
	psql_as($node, $database, 'controller', qq{
		CREATE TABLE slow (id integer);
		INSERT INTO slow SELECT g FROM generate_series(1, $rows) g;
		SELECT dp_protect('slow', 'slow_dp');
		SELECT dp_set_odometer('slow', 'none');
		SELECT dp_grant('slow_dp', 'analyst', tau => 0.95);});
	$node->safe_psql($database, q{
		CREATE OR REPLACE FUNCTION dp_rdr.int4pl(integer, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS $$
		BEGIN
			PERFORM pg_catalog.pg_sleep(0.05);
			IF $1 = -1 THEN
				RAISE EXCEPTION 'the row that fails';
			END IF;
			RETURN $1 OPERATOR(pg_catalog.+) $2;
		END $$;});
	return;
}

# So many sessions, each of which keeps a parallel worker until it is released.
sub hold_workers
{
	my ($node, $number) = @_;
	my $setting = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
	my $sleepers = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'SELECT pg_sleep(600)%'};
	my $before = $node->safe_psql('postgres', $sleepers);
	my @holders;
	for (1 .. $number)
	{
		my $holder = session($node, 'postgres');
		$holder->query_safe("SET $setting = on");
		start_question($holder, 'SELECT pg_sleep(600)');
		push @holders, $holder;
	}
	# Each has its worker by now, or there is none.
	$node->poll_query_until('postgres', $sleepers, $before + $number) or die 'not all sleep';
	return @holders;
}

sub release_workers
{
	my ($node, @holders) = @_;
	$node->safe_psql('postgres',
		q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND leader_pid IS NULL});
	$_->quit for @holders;
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
	return;
}

# What a script returns, and how many seconds it took.
sub timed
{
	my ($work) = @_;
	my $begun  = time;
	my $result = $work->();
	return ($result, time - $begun);
}

sub releases
{
	my ($node, $table, $database) = @_;
	my ($releases) = split /\|/, account($node, $database // 'postgres', $table);
	return $releases;
}

sub rows_of_ledger
{
	my ($node, $table, $database) = @_;
	return $node->safe_psql($database // 'postgres',
		"SELECT count(*) FROM dp_rdr.ledger WHERE relation = '" . ($table // 'public.people') . "'");
}

1;
