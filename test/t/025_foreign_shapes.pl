# Partitions whose remote tables are not what the foreign tables say, servers that are set up in other ways, and what must not
# cost a charge.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

# ---- one cluster asks two databases of its own ----

my $node = new_server('coordinator', q{
	max_worker_processes = 8
	max_connections = 50
	log_min_messages = log
}, allows_streaming => 1);
unlink $node->data_dir . '/pg_hba.conf';
$node->append_conf('pg_hba.conf', "local all reader scram-sha-256\nlocal all all trust");
$node->reload;

my $types = 'id integer, age integer, code char(4), city text, bill money, place regclass';
my $fill  = q{SELECT g, g % 90, 'c' || g % 4, (ARRAY['Oslo', 'Pisa'])[1 + g % 2], (g % 3)::money,
	(ARRAY['pg_class', 'pg_proc'])[1 + g % 2]::regclass};

$node->safe_psql('postgres', q{CREATE ROLE reader LOGIN PASSWORD 'open'});
for my $shard (1, 2)
{
	$node->safe_psql('postgres', "CREATE DATABASE shard$shard");
	$node->safe_psql("shard$shard", qq{
		CREATE SCHEMA kept;
		CREATE TABLE kept.people ($types);
		INSERT INTO kept.people $fill FROM generate_series($shard * 1000, $shard * 1000 + 999) g;
		GRANT USAGE ON SCHEMA kept TO reader;
		GRANT SELECT ON kept.people TO reader;});
}

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_rdr;
	CREATE EXTENSION postgres_fdw;
	CREATE ROLE controller LOGIN;
	CREATE ROLE analyst LOGIN;
	CREATE ROLE chooser LOGIN;
	GRANT CREATE ON SCHEMA public TO controller;
	GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO controller;});
psql_as($node, 'postgres', 'controller', qq{
	CREATE TABLE people ($types) PARTITION BY RANGE (id);
	CREATE TABLE people_0 PARTITION OF people FOR VALUES FROM (0) TO (1000);
	INSERT INTO people_0 $fill FROM generate_series(1, 999) g;});
psql_as($node, 'postgres', 'controller', qq{
	CREATE SERVER shard$_ FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'shard$_', connect_timeout '2');
	CREATE USER MAPPING FOR controller SERVER shard$_ OPTIONS (user 'reader', password 'open');
	CREATE FOREIGN TABLE people_$_ PARTITION OF people FOR VALUES FROM (${_}000) TO (${_}999) SERVER shard$_
		OPTIONS (schema_name 'kept', table_name 'people')}) for 1, 2;
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_protect('people', 'people_dp');
	SELECT dp_set_bounds('people', 'age', 0, 100);
	SELECT dp_set_groups('people', 'city', '{Oslo,Pisa}');
	SELECT dp_set_groups('people', 'place', '{pg_class,pg_proc}');
	SELECT dp_set_odometer('people', 'none');
	SELECT dp_grant('people_dp', 'analyst', tau => 1e-30, candidates => '{50}', epsilon_max => 50, delta => 1e-6);
	SELECT dp_grant('people_dp', 'chooser', tau_var => 0.24, candidates => '{20,50}', epsilon_svt => 20, epsilon_max => 50, delta => 1e-6);});

# The error that a role meets: SQLSTATE, message, detail and hint.
sub refused
{
	my ($role, $sql) = @_;
	my ($status, $out, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', $role ]);
	$error =~ s/^psql:.*?(?=ERROR)//s;
	return $error;
}

sub question
{
	my ($sql, $columns) = @_;
	return "SELECT * FROM dp_query('" . ($sql =~ s/'/''/gr) . "') AS ($columns)";
}

# Uncharged, and says this.
sub costs_nothing
{
	my ($name, $sql, $columns, $error, $role) = @_;
	my $before = releases($node);
	my $said   = refused($role // 'analyst', question($sql, $columns));
	like($said, $error, $name);
	is(releases($node), $before, "$name: uncharged");
	return $said;
}

# The noise of epsilon 50 is below 8 in all of the lives of this test.
sub counts
{
	my ($name, $where, $expected, $role) = @_;
	my $n = psql_as($node, 'postgres', $role // 'analyst', question("SELECT count(*) FROM people_dp $where", 'n bigint'));
	cmp_ok(abs($n - $expected), '<', 8, $name);
	return;
}

# As a superuser on one of the shards.
sub on_shard
{
	my ($shard, $sql) = @_;
	$node->safe_psql("shard$shard", $sql);
	return;
}

sub as_controller
{
	psql_as($node, 'postgres', 'controller', $_[0]);
	return;
}

counts('all', '', 2999 - 2);
counts('all, for a preference with tau_var', '', 2999 - 2, 'chooser');

# ---- before the charge: servers that only the number of all rows needs ----

on_shard(2, 'ALTER TABLE kept.people RENAME TO persons');
counts('a partition that WHERE excludes is not needed', 'WHERE id < 1100', 1099);
costs_nothing('but for a selection, which counts all rows', 'SELECT count(*) FROM people_dp WHERE id < 1100', 'n bigint',
	qr/55000.*partition public.people_2 of public.people cannot be asked.*SQLSTATE 42P01. Nothing was charged/s, 'chooser');
on_shard(2, 'ALTER TABLE kept.persons RENAME TO people');

# ---- before the charge: columns of another type ----

# A row would decide whether its value fits into the type here.
for my $change (
	[ 'char(4) here, text there', 'code', 'text', 'char(4)', 'SELECT code, count(*) FROM people_dp GROUP BY code', 'c char(4), n bigint' ],
	[ 'integer here, bigint there', 'age', 'bigint', 'integer', 'SELECT age, count(*) FROM people_dp GROUP BY age', 'a integer, n bigint' ],
	[ 'char(4) here, char(5) there', 'code', 'char(5)', 'char(4)', q{SELECT count(*) FROM people_dp WHERE code = 'c1'}, 'n bigint' ],
	[ 'a sum of numeric', 'age', 'numeric', 'integer', 'SELECT sum(age) FROM people_dp', 's bigint' ],
	[ 'a FILTER', 'city', 'varchar(9)', 'text', q{SELECT count(*) FILTER (WHERE city = 'Oslo') FROM people_dp}, 'n bigint' ])
{
	my ($name, $column, $there, $here, $sql, $columns) = @$change;
	on_shard(2, "ALTER TABLE kept.people ALTER $column TYPE $there");
	costs_nothing($name, $sql, $columns, qr/55000.*people_2 of public.people cannot be asked.*SQLSTATE 42804. Nothing was charged/s);
	counts("$name: not where it is not read", '', 2997);
	on_shard(2, "ALTER TABLE kept.people ALTER $column TYPE $here");
}
like(slurp_file($node->logfile), qr/people_2 on foreign server shard2 cannot be asked: a column of type text is asked for as character\(4\)/,
	'the log says why');

# Equal values that look different: one row's spelling would be shown.
on_shard(2, q{CREATE COLLATION kept.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	ALTER TABLE kept.people ALTER city TYPE text COLLATE kept.any_case});
costs_nothing('a nondeterministic collation there', 'SELECT city, count(*) FROM people_dp GROUP BY city', 'c text, n bigint',
	qr/55000.*SQLSTATE 42804. Nothing was charged/s);
on_shard(2, 'ALTER TABLE kept.people ALTER city TYPE text COLLATE "default"');

# A view is asked as a table is; a constant column of its own as well.
on_shard(2, q{ALTER TABLE kept.people RENAME TO persons;
	CREATE VIEW kept.people AS SELECT id, 7 AS age, code, city, bill, place FROM kept.persons;
	GRANT SELECT ON kept.people TO reader});
counts('a view', 'WHERE age < 8 AND id >= 2000', 999);
on_shard(2, q{DROP VIEW kept.people; CREATE VIEW kept.people AS SELECT id, 7::bigint AS age, code, city, bill, place FROM kept.persons;
	GRANT SELECT ON kept.people TO reader});
costs_nothing('a view with a column of another type', 'SELECT count(*) FROM people_dp WHERE age < 8', 'n bigint', qr/55000.*SQLSTATE 42804/s);
on_shard(2, q{DROP VIEW kept.people; ALTER TABLE kept.persons RENAME TO people});

# ---- before the charge: keys whose text depends on who writes and reads it ----

costs_nothing('money as a key', 'SELECT bill, count(*) FROM people_dp GROUP BY bill', 'b money, n bigint', qr/0A000.*a key of GROUP BY/s);
costs_nothing('names of relations as a key', 'SELECT place, count(*) FROM people_dp GROUP BY place', 'p regclass, n bigint', qr/0A000.*a key of GROUP BY/s);

# ---- the same table by two servers ----

as_controller(qq{
	CREATE SERVER another FOREIGN DATA WRAPPER postgres_fdw OPTIONS (port '$port', dbname 'shard2', host '$host');
	CREATE USER MAPPING FOR controller SERVER another OPTIONS (user 'reader', password 'open');
	CREATE FOREIGN TABLE people_3 PARTITION OF people FOR VALUES FROM (3000) TO (4000) SERVER another
		OPTIONS (schema_name 'kept', table_name 'people')});
costs_nothing('two servers that are one', 'SELECT count(*) FROM people_dp', 'n bigint', qr/55000.*people_\d names the same remote table as another partition/s);
as_controller('DROP FOREIGN TABLE people_3');

# ---- servers that are set up in other ways ----

for my $options ("ADD use_remote_estimate 'true'", "ADD fetch_size '1'", "ADD keep_connections 'off'", "ADD async_capable 'true'",
	"ADD parallel_commit 'true'", "ADD fdw_startup_cost '1e20', ADD fdw_tuple_cost '1e20'")
{
	as_controller("ALTER SERVER shard$_ OPTIONS ($options)") for 1, 2;
	counts($options, 'WHERE age >= 0', 2997);
	my $groups = psql_as($node, 'postgres', 'analyst', question('SELECT code, count(*) FROM people_dp GROUP BY code', 'c char(4), n bigint'));
	is(scalar(split /\n/, $groups), 4, "$options: groups");
	as_controller("ALTER SERVER shard$_ OPTIONS (" . ($options =~ s/ADD (\w+) '[^']*'/DROP $1/gr) . ')') for 1, 2;
}

# ---- a partition that comes between the charge and the reading ----

# The commit of the charge waits for a standby that is not there; then the partition is attached, unasked.
on_shard(1, q{CREATE TABLE kept.more (LIKE kept.people); GRANT SELECT ON kept.more TO reader});
as_controller(qq{CREATE FOREIGN TABLE more ($types) SERVER shard1 OPTIONS (schema_name 'kept', table_name 'more')});
my $before  = releases($node);
my $session = session($node);
$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'});
$node->reload;
start_question($session, question('SELECT count(*) FROM people_dp', 'n bigint'));
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'}) or die 'the charge does not wait';
as_controller('SET synchronous_commit = local; ALTER TABLE people ATTACH PARTITION more FOR VALUES FROM (5000) TO (6000)');
$node->safe_psql('postgres', q{SET synchronous_commit = local; ALTER SYSTEM RESET synchronous_standby_names});
$node->reload;
is(finish_question($session), '40003', 'a partition that was not asked before the charge is not read');
$session->quit;
is(releases($node), $before + 1, 'the charge stays');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.suspension'), 0, 'nobody is suspended');
counts('asked again, it is read', '', 2997);
as_controller('DROP FOREIGN TABLE more');

# ---- a server that gives up between its answer and the end of the transaction ----

# While the second shard is asked the first one ends the session that waits for it.
$node->safe_psql('postgres', q{ALTER ROLE reader SET idle_in_transaction_session_timeout = '1ms'});
as_controller(q{ALTER SERVER shard1 OPTIONS (ADD keep_connections 'off'); ALTER SERVER shard2 OPTIONS (ADD keep_connections 'off')});
for (1 .. 5)
{
	my $said = costs_nothing('a session that has ended', 'SELECT count(*) FROM people_dp', 'n bigint', qr/HV00N.*cannot be reached.*Nothing was charged/s);
	unlike($said, qr/terminating|idle|server closed|COMMIT|remote/i, 'and no word of the server');
}
$node->safe_psql('postgres', 'ALTER ROLE reader RESET idle_in_transaction_session_timeout');
counts('it is back', '', 2997);
ok(verified($node, 'postgres'), 'the chain is whole');

$node->stop;
done_testing();
