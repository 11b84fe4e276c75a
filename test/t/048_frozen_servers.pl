# A server of a partition that takes connections and bytes, and says nothing: it holds up nobody but those who ask about its table,
# and no keeper for longer than somebody waits for it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $remote = new_server('shards');
my $node = new_server('coordinator', q{
	max_worker_processes = 8
	max_connections = 50
	log_min_messages = log
});

# Makes a table with a partition on a server without connect_timeout.
my ($host, $port) = ($remote->host, $remote->port);
my @asking = ('analyst', 'second', 'third', 'fourth');
$remote->safe_psql('postgres', qq{
	CREATE ROLE reader LOGIN;
	CREATE TABLE people (id integer);
	INSERT INTO people SELECT generate_series(1000, 1999);
	GRANT SELECT ON people TO reader;});
$node->safe_psql('postgres', join(';', 'CREATE EXTENSION dp_rdr', 'CREATE EXTENSION postgres_fdw', 'CREATE ROLE controller LOGIN',
	'GRANT CREATE ON SCHEMA public TO controller', 'GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO controller',
	map { "CREATE ROLE $_ LOGIN" } @asking, 'clerk'));
psql_as($node, 'postgres', 'controller', qq{
	CREATE TABLE people (id integer) PARTITION BY RANGE (id);
	CREATE TABLE people_0 PARTITION OF people FOR VALUES FROM (0) TO (1000);
	INSERT INTO people_0 SELECT generate_series(1, 999);
	CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE TABLE desk AS SELECT generate_series(1, 100) AS id;});
$node->safe_psql('postgres', q{CREATE USER MAPPING FOR controller SERVER shard OPTIONS (user 'reader', password_required 'false')});
psql_as($node, 'postgres', 'controller', q{
	CREATE FOREIGN TABLE people_1 PARTITION OF people FOR VALUES FROM (1000) TO (2000) SERVER shard OPTIONS (table_name 'people');
	SELECT dp_protect('people', 'people_dp'), dp_protect('desk', 'desk_dp'), dp_set_odometer('people', 'none'), dp_set_odometer('desk', 'none');
	SELECT dp_grant('desk_dp', 'clerk', tau => 0, epsilon_max => 1, candidates => '{1}');}
	. join('', map { "SELECT dp_grant('people_dp', '$_', tau => 0, epsilon_max => 1, candidates => '{1}');" } @asking));

my $count = q{SELECT * FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint)};
my $desk = q{SELECT * FROM dp_query('SELECT count(*) FROM desk_dp') AS (n bigint)};
my @sessions = map { session($node, $_) } @asking;
my $clerk = session($node, 'clerk');
$clerk->query(q{SET statement_timeout = '100s'});

# 0: it has gone.
sub parent_of
{
	my ($pid) = @_;
	open(my $stat, '<', "/proc/$pid/stat") or return 0;
	my $line = <$stat> // '';
	return $line =~ /\) \S (\d+) / ? $1 : 0;
}

sub servers
{
	my ($postmaster) = split /\n/, slurp_file($remote->data_dir . '/postmaster.pid');
	my @children = grep { parent_of($_) == $postmaster } map { m{/proc/(\d+)} } glob '/proc/[0-9]*';
	return ($postmaster, @children);
}

my @frozen;

sub freeze
{
	@frozen = servers();
	kill 'STOP', @frozen;
	return;
}

sub thaw
{
	kill 'CONT', @frozen;
	@frozen = ();
	return;
}

END { thaw() if @frozen }

sub answers_at_the_desk
{
	my ($name) = @_;
	like($clerk->query($desk), qr/^\d+$/m, $name);
	return;
}

sub told_to_end
{
	my ($name) = @_;
	$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM dp_rdr.keepers()');
	my $gone = 0;
	for (1 .. 200)
	{
		$gone = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'}) == 0;
		last if $gone;
		usleep(100_000);
	}
	ok($gone, $name);
	return;
}

sub all_ask
{
	start_question($_, $count) for @sessions;
	return;
}

# ---- before the charge ----

# With connections that are there.
all_ask();
like(finish_question($_), qr/^\d{1,4}$/, 'the shard is there') for @sessions;
my $before = releases($node);
freeze();
all_ask();
answers_at_the_desk('a table of this server is answered');
is(finish_question($_), 'HV00N', 'the others hear that it is away') for @sessions;
is(releases($node), $before, 'that costs nothing');
# Without: nothing bounds the time that connecting takes.
told_to_end('keepers end when they are told to');
all_ask();
answers_at_the_desk('a table of this server is answered then');
is(finish_question($_), 'HV00N', 'the others hear of it then') for @sessions;
is(releases($node), $before, 'that costs nothing either');
thaw();
like(ask($node, 'postgres', $count), qr/^\d+$/, 'answers go on');

# ---- while it is read ----

$remote->safe_psql('postgres', q{
	CREATE FUNCTION wait() RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT pg_sleep(60) IS NULL';
	ALTER TABLE people RENAME TO kept;
	CREATE VIEW people AS SELECT id FROM kept WHERE wait();
	GRANT SELECT ON people TO reader;
	GRANT SELECT ON kept TO reader;});
$_->query(q{SET statement_timeout = '20s'}) for @sessions;
all_ask();
$remote->poll_query_until('postgres', q{SELECT count(*) > 1 FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active' AND query LIKE 'FETCH%'})
  or die 'the shard is not asked';
freeze();
answers_at_the_desk('a table of this server is answered');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%people_dp%'
	AND pid <> pg_backend_pid() AND backend_type = 'client backend'}), scalar @asking, 'while the others wait');
is(finish_question($_), '57014', 'the others give up') for @sessions;
answers_at_the_desk('and when they have given up');
told_to_end('keepers end then when they are told to');
thaw();
$remote->safe_psql('postgres', q{DROP VIEW people; ALTER TABLE kept RENAME TO people});
$_->query(q{SET statement_timeout = 0}) for @sessions;
like(ask($node, 'postgres', $count), qr/^\d+$/, 'answers go on after that');

$node->stop;
$remote->stop;
done_testing();
