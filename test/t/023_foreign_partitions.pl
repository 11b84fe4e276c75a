# A protected table whose partitions are kept by another server: the answers of one table, and nothing but sums on the wire.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

# ---- two shards in another cluster, and a leaf of our own ----

my $remote = new_server('shards', 'log_statement = all');
unlink $remote->data_dir . '/pg_hba.conf';
$remote->append_conf('pg_hba.conf', "local all reader scram-sha-256\nlocal all all trust");
$remote->reload;
my $node = new_server('coordinator', q{
	max_worker_processes = 8
	max_connections = 50
	log_min_messages = log
});

my $fill = q{SELECT g, CASE WHEN g % 7 > 0 THEN g % 90 END, g % 5000, (g % 300) / 7.0, g / 3.0 % 10,
	(ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3], 'c' || g % 4, timestamptz '2026-01-01 00:00+00' + g * interval '1 hour',
	(ARRAY['sad', 'glad'])[1 + g % 2]::mood};
my $names = 'id, age, pay, share, ratio, city, code, seen, mood';
my $types = 'id integer, age integer, pay integer, share numeric(8,2), ratio float8, city text, code char(4), '
  . 'seen timestamptz, mood mood';

$remote->safe_psql('postgres', q{CREATE ROLE reader LOGIN PASSWORD 'open'});
for my $shard (1, 2)
{
	# Columns of a shard stand in another order.
	my ($first, $last) = ($shard * 1000, $shard * 1000 + 999);
	$remote->safe_psql('postgres', "CREATE DATABASE shard$shard");
	$remote->safe_psql("shard$shard", qq{
		CREATE TYPE mood AS ENUM ('sad', 'glad');
		CREATE SCHEMA kept;
		CREATE TABLE kept.people (mood mood, seen timestamptz, code char(4), city text, ratio float8, share numeric(8,2),
			pay integer, age integer, id integer);
		INSERT INTO kept.people ($names) $fill FROM generate_series($first, $last) g;
		GRANT USAGE ON SCHEMA kept TO reader;
		GRANT SELECT ON kept.people TO reader;});
}

my ($host, $port) = ($remote->host, $remote->port);
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_rdr;
	CREATE EXTENSION postgres_fdw;
	CREATE ROLE controller LOGIN;
	CREATE ROLE analyst LOGIN;
	CREATE ROLE chooser LOGIN;
	GRANT CREATE ON SCHEMA public TO controller;
	GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO controller;});
psql_as($node, 'postgres', 'controller', qq{
	CREATE TYPE mood AS ENUM ('sad', 'glad');
	CREATE TABLE people ($types) PARTITION BY RANGE (id);
	CREATE TABLE people_0 PARTITION OF people FOR VALUES FROM (0) TO (1000);
	CREATE SERVER shard1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'shard1');
	CREATE SERVER shard2 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'shard2',
		connect_timeout '2', async_capable 'true');
	CREATE FOREIGN TABLE people_1 PARTITION OF people FOR VALUES FROM (1000) TO (2000) SERVER shard1
		OPTIONS (schema_name 'kept', table_name 'people');
	CREATE FOREIGN TABLE people_2 PARTITION OF people FOR VALUES FROM (2000) TO (3000) SERVER shard2
		OPTIONS (schema_name 'kept', table_name 'people');
	INSERT INTO people_0 ($names) $fill FROM generate_series(1, 999) g;
	CREATE TABLE whole ($types);
	INSERT INTO whole ($names) $fill FROM generate_series(1, 2999) g;});

# The error that a script meets: SQLSTATE, message, detail and hint.
sub refused
{
	my ($role, $sql) = @_;
	my ($status, $out, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', $role ]);
	$error =~ s/^psql:.*?(?=ERROR)//s;
	return $error;
}

# ---- what dp_protect asks of a foreign partition ----

my $protect = q{SELECT dp_protect('people', 'people_dp')};
psql_as($node, 'postgres', 'controller', q{ALTER SERVER shard1 OPTIONS (ADD connect_timeout '2')});
like(refused('controller', $protect), qr/55000.*people_1 is on foreign server shard1, where the owner controller has no user mapping.*CREATE USER MAPPING/s,
	'no user mapping');
psql_as($node, 'postgres', 'controller', qq{
	CREATE USER MAPPING FOR controller SERVER shard$_ OPTIONS (user 'reader', password 'open')}) for 1, 2;
psql_as($node, 'postgres', 'controller', q{
	CREATE FOREIGN TABLE people_3 PARTITION OF people FOR VALUES FROM (3000) TO (4000) SERVER shard2
		OPTIONS (schema_name 'kept', table_name 'people')});
like(refused('controller', $protect), qr/55000.*people_3 names the same remote table as another partition/s, 'a table that is there twice');
psql_as($node, 'postgres', 'controller', 'DROP FOREIGN TABLE people_3');
like(refused('controller', q{CREATE TABLE parent (id integer); CREATE FOREIGN TABLE child () INHERITS (parent) SERVER shard1;
	SELECT dp_protect('parent', 'parent_dp')}), qr/55000.*child is not a plain table/s, 'a foreign child of a plain table');
like(refused('controller', q{SELECT dp_protect('people_1', 'people_1_dp')}), qr/55000.*it is not a table/s, 'a foreign table alone');
$node->safe_psql('postgres', 'CREATE FOREIGN DATA WRAPPER other; CREATE SERVER other FOREIGN DATA WRAPPER other; ALTER SERVER other OWNER TO controller');
psql_as($node, 'postgres', 'controller', 'CREATE FOREIGN TABLE people_4 PARTITION OF people FOR VALUES FROM (4000) TO (5000) SERVER other');
like(refused('controller', $protect), qr/55000.*people_4 is a foreign table of another wrapper/s, 'another wrapper');
psql_as($node, 'postgres', 'controller', 'DROP FOREIGN TABLE people_4');

for my $table ('people', 'whole')
{
	psql_as($node, 'postgres', 'controller', qq{
		SELECT dp_protect('$table', '${table}_dp');
		SELECT dp_set_bounds('$table', 'pay', 0, 5000);
		SELECT dp_set_bounds('$table', 'share', 0, 43);
		SELECT dp_set_bounds('$table', 'ratio', 0, 10);
		SELECT dp_set_groups('$table', 'city', '{Oslo,Pisa,Rome,Turin}');
		SELECT dp_set_odometer('$table', 'none');
		SELECT dp_grant('${table}_dp', 'analyst', tau => 1e-30, candidates => '{50}', epsilon_max => 50, delta => 1e-6);
		SELECT dp_grant('${table}_dp', 'chooser', tau_var => 0.24, candidates => '{20,50}', epsilon_svt => 20, epsilon_max => 50, delta => 1e-6);});
}

# ---- the answers of one table ----

# The lines in the log of the shards since then that read the table.
my $offset = 0;
sub sent
{
	my $log = slurp_file($remote->logfile, $offset);
	$offset = -s $remote->logfile;
	return grep { /kept\.people/ } split /\n/, $log;
}
sub only_sums
{
	my ($name) = @_;
	my @sent = sent();
	cmp_ok(scalar(@sent), '>', 0, "$name: the shards are asked");
	is(join("\n", grep { !/^\s+SELECT (?:(?! FROM ).)*\b(?:count|sum|dp_rdr\.cells)\(/ } @sent), '', "$name: for sums alone");
	return;
}
sent();

# The noise of epsilon 50 on counts is below 8 in all of the lives of this test, and that on sums below what each may differ.
sub same_answer
{
	my ($name, $role, $sql, $columns, $tolerance) = @_;
	my @answers = map {
		my $table = $_;
		[ map { [ split /\|/, $_, -1 ] } split /\n/, psql_as($node, 'postgres', $role,
			"SELECT * FROM dp_query('" . ($sql =~ s/TABLE/${table}_dp/r =~ s/'/''/gr) . "') AS ($columns)") ]
	} ('people', 'whole');
	my ($ours, $theirs) = @answers;
	my $same = @$ours == @$theirs;
	for my $i (0 .. $#$theirs)
	{
		last if !$same;
		for my $j (0 .. $#{ $theirs->[$i] })
		{
			my ($a, $b) = ($ours->[$i][$j], $theirs->[$i][$j]);
			my $is_number = $a =~ /^-?[\d.]+(e[-+]\d+)?$/ && $b =~ /^-?[\d.]+(e[-+]\d+)?$/;
			my $far = $is_number ? abs($a - $b) > ($tolerance // 8) : $a ne $b;
			$same = 0 if $far;
		}
	}
	ok($same, $name) or diag(explain(\@answers));
	only_sums($name);
	return;
}

same_answer('a count', 'analyst', 'SELECT count(*) FROM TABLE', 'n bigint');
same_answer('WHERE', 'analyst', q{SELECT count(*) FROM TABLE WHERE age > 39 AND city IN ('Oslo', 'Pisa') AND code = 'c1'}, 'n bigint');
same_answer('IS TRUE, COALESCE, CASE', 'analyst',
	q{SELECT count(*) FROM TABLE WHERE (age > 40) IS NOT TRUE AND coalesce(age, pay) > 3 AND coalesce(city, 'x') <> 'Pisa' AND CASE WHEN pay > 2500 THEN city <> 'Oslo' ELSE true END},
	'n bigint');
same_answer('FILTER and count of a column', 'analyst', 'SELECT count(age), count(*) FILTER (WHERE (age > 40) IS NOT FALSE) FROM TABLE',
	'a bigint, b bigint');
same_answer('sums and averages', 'analyst', 'SELECT sum(pay), sum(share), sum(ratio), avg(pay), avg(share) FILTER (WHERE age < 50) FROM TABLE',
	'a bigint, b numeric, c float8, d numeric, e numeric', 15000);
same_answer('declared groups', 'analyst', 'SELECT city, count(*), sum(pay) FROM TABLE GROUP BY city', 'c text, n bigint, s bigint', 10000);
same_answer('discovered groups', 'analyst', 'SELECT code, count(*) FROM TABLE GROUP BY code', 'c char(4), n bigint');
same_answer('a correlation', 'analyst', 'SELECT corr(pay, share), regr_slope(pay, ratio) FROM TABLE', 'c float8, s float8', 300);
same_answer('a preference with tau_var', 'chooser', 'SELECT count(*), sum(pay) FROM TABLE WHERE age > 20', 'n bigint, s bigint', 5000);
same_answer('groups with tau_var', 'chooser', 'SELECT code, count(*) FROM TABLE GROUP BY code', 'c char(4), n bigint');

# What the wire carries is one row a shard and group.
psql_as($node, 'postgres', 'analyst', q{SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE id < 500') AS (n bigint)});
is(join("\n", sent()), '', 'partitions that WHERE excludes are not asked');

# The owner's own calls. Risks look at single rows: these are fetched, for him.
my %chosen = map {
	$_ => (split /\|/, psql_as($node, 'postgres', 'controller',
		"CALL dp_find_epsilon('SELECT city, count(*), avg(pay) FROM ${_}_dp WHERE age > 20 GROUP BY city', 0.5)"))[0]
} ('people', 'whole');
is($chosen{people}, $chosen{whole}, "dp_find_epsilon chooses the same: $chosen{people}");
like(psql_as($node, 'postgres', 'controller', q{CALL dp_find_and_release_epsilon('SELECT count(*) FROM people_dp', 0.5, 1)}), qr/^[\d.]+\|/,
	'dp_find_and_release_epsilon');
my %risks = map {
	$_ => psql_as($node, 'postgres', 'controller', "SELECT * FROM dp_risk('SELECT sum(pay) FROM ${_}_dp WHERE age > 30', ARRAY[0.1, 1])")
} ('people', 'whole');
is($risks{people}, $risks{whole}, 'dp_risk');
is(join("\n", grep { !/SELECT .*\bcount\(\*\)/ } sent()), '', 'for risks and searches the shards group equal records');
%risks = map {
	$_ => psql_as($node, 'postgres', 'controller', "SELECT * FROM dp_risk('SELECT count(*) FROM ${_}_dp WHERE id % 100 = 0 HAVING true', ARRAY[1], sensitivity => 1)")
} ('people', 'whole');
is($risks{people}, $risks{whole}, 'dp_risk of a query that is run again and again');
sent();

# ---- before the charge ----

# Uncharged, and says this.
sub costs_nothing
{
	my ($name, $sql, $error, $role) = @_;
	my $before = releases($node);
	my $said   = refused($role // 'analyst', "SELECT * FROM dp_query('" . ($sql =~ s/'/''/gr) . "') AS (n bigint)");
	like($said, $error, $name) or diag(join("\n", 'sent meanwhile:', sent()));
	is(releases($node), $before, "$name: uncharged");
	return $said;
}
costs_nothing('an enum is not sent', q{SELECT count(*) FROM people_dp WHERE mood = 'sad'},
	qr/0A000.*cannot be computed where the rows of public.people are.*a condition of WHERE.*foreign server shard1 of partition public.people_1/s);
costs_nothing('nor what depends on the time zone', q{SELECT count(*) FROM people_dp WHERE date_trunc('day', seen) > '2026-02-01'}, qr/0A000.*a condition of WHERE/s);
costs_nothing('nor such an argument', 'SELECT count(mood) FROM people_dp', qr/0A000.*an aggregate, its argument or its FILTER/s);
like(refused('analyst', q{SELECT * FROM dp_query('SELECT mood, count(*) FROM people_dp GROUP BY mood') AS (m mood, n bigint)}),
	qr/0A000.*a key of GROUP BY/s, 'nor such a key');
is(join("\n", sent()), '', 'of these nothing went to the shards');

my $all = 'SELECT count(*) FROM people_dp';
psql_as($node, 'postgres', 'controller', 'DROP USER MAPPING FOR controller SERVER shard2');
costs_nothing('the user mapping is gone', $all, qr/55000.*people_2 is on foreign server shard2, where the owner controller has no user mapping/s);
psql_as($node, 'postgres', 'controller', q{CREATE USER MAPPING FOR controller SERVER shard2 OPTIONS (user 'reader', password 'shut')});
my $said = costs_nothing('a wrong password', $all, qr/HV00N.*partition public.people_2 of public.people cannot be reached.*Nothing was charged/s);
unlike($said, qr/reader|password|shard2.*FATAL|\Q$host\E/, 'and no word of the server');
psql_as($node, 'postgres', 'controller', q{ALTER USER MAPPING FOR controller SERVER shard2 OPTIONS (SET password 'open')});
$remote->safe_psql('shard2', 'ALTER TABLE kept.people RENAME TO persons');
costs_nothing('the remote table is gone', $all, qr/55000.*partition public.people_2 of public.people cannot be asked.*SQLSTATE 42P01. Nothing was charged/s);
$remote->safe_psql('shard2', 'ALTER TABLE kept.persons RENAME TO people');
$remote->safe_psql('postgres', q{CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'});
$remote->safe_psql('latin', q{CREATE SCHEMA kept; CREATE TABLE kept.people (id integer, city text);
	GRANT USAGE ON SCHEMA kept TO reader; GRANT SELECT ON kept.people TO reader});
psql_as($node, 'postgres', 'controller', q{ALTER SERVER shard2 OPTIONS (SET dbname 'latin')});
costs_nothing('another encoding', $all, qr/55000.*cannot be asked.*SQLSTATE 22P05/s);
$remote->safe_psql('postgres', q{CREATE DATABASE bytes TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'});
$remote->safe_psql('bytes', q{CREATE SCHEMA kept; CREATE TABLE kept.people (id integer, city text);
	GRANT USAGE ON SCHEMA kept TO reader; GRANT SELECT ON kept.people TO reader});
psql_as($node, 'postgres', 'controller', q{ALTER SERVER shard2 OPTIONS (SET dbname 'bytes')});
costs_nothing('no encoding', $all, qr/55000.*cannot be asked.*SQLSTATE 55000/s);
like(slurp_file($node->logfile), qr/people_2 on foreign server shard2 cannot be asked: the database there is not in UTF8/, 'the log says why');
psql_as($node, 'postgres', 'controller', q{ALTER SERVER shard2 OPTIONS (SET dbname 'shard2')});
psql_as($node, 'postgres', 'controller', q{SELECT dp_revoke('people_dp', 'chooser'); SELECT dp_grant('people_dp', 'chooser', tau => 0.5, selection => 'within_data')});
costs_nothing('a search in the rows', $all, qr/0A000.*within_data is not supported where partitions are foreign tables/s, 'chooser');
psql_as($node, 'postgres', 'controller', q{SELECT dp_revoke('people_dp', 'chooser')});

$remote->stop('immediate');
my $seconds;
($said, $seconds) = timed(sub { costs_nothing('an outage', $all, qr/HV00N.*cannot be reached.*Nothing was charged/s) });
cmp_ok($seconds, '<', 20, 'it does not take long');
unlike($said, qr/\Q$host\E|$port|refused/, 'and names no host');
like(ask($node, 'postgres', q{SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE id < 500') AS (n bigint)}), qr/^49\d|50\d$/,
	'what concerns no shard is answered all the same');
$remote->start;
$offset = -s $remote->logfile;
cmp_ok(abs(ask($node, 'postgres', "SELECT * FROM dp_query('$all') AS (n bigint)") - 2999), '<', 9, 'it is back, and so are the connections');

# ---- what needs our functions there ----

costs_nothing('arithmetic is computed by dp_rdr', 'SELECT count(*) FROM people_dp WHERE ratio * 2 > 4',
	qr/0A000.*a condition of WHERE.*Arithmetic beyond that of integers, and casts, are sent to servers that have dp_rdr/s);
$remote->safe_psql("shard$_", 'CREATE EXTENSION dp_rdr') for 1, 2;
psql_as($node, 'postgres', 'controller', "ALTER SERVER shard$_ OPTIONS (ADD extensions 'dp_rdr')") for 1, 2;
same_answer('arithmetic', 'analyst', 'SELECT count(*), sum(pay + 1) FROM TABLE WHERE ratio * 2 > 4 AND age + 1 > 40', 'n bigint, s bigint', 5000);
same_answer('groups of an expression', 'analyst', 'SELECT pay / 1000 AS k, count(*) FROM TABLE GROUP BY pay / 1000', 'k integer, n bigint');

# Another version of them may compute something else: that is asked before the charge.
my $asked = $remote->safe_psql('shard2', q{SELECT pg_get_functiondef('dp_rdr.is_other_node(text)'::regprocedure)});
$remote->safe_psql('shard2', q{
	CREATE OR REPLACE FUNCTION dp_rdr.is_other_node(facts text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN RAISE EXCEPTION 'this server has another dp_rdr' USING ERRCODE = '55000'; END $$});
costs_nothing('another dp_rdr there', 'SELECT count(*) FROM people_dp WHERE ratio * 2 > 4', qr/55000.*cannot be asked/s);
same_answer('which built-in functions do without', 'analyst', 'SELECT count(*), sum(pay) FROM TABLE WHERE age > 40', 'n bigint, s bigint', 5000);
$remote->safe_psql('shard2', $asked);

# ---- while the rows are read ----

# As a total function of a shard would not.
sub replace_sum
{
	my ($body) = @_;
	$remote->safe_psql('shard2', qq{
		CREATE OR REPLACE FUNCTION dp_rdr.float8mul(float8, float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS \$\$
		BEGIN $body RETURN \$1 OPERATOR(pg_catalog.*) \$2; END \$\$;});
	return;
}
my $plus = q{SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE ratio * 2 > 7') AS (n bigint)};
my $log = -s $node->logfile;
replace_sum(q{IF $1 > 9.5 THEN RAISE EXCEPTION 'the row of somebody with %', $1 USING DETAIL = 'private', HINT = 'private'; END IF;});
my $before = releases($node);
$said = refused('analyst', $plus);
like($said, qr/40003.*the query failed.*charged stays/s, 'an error on a shard is the constant one');
unlike($said, qr/9\.|private|somebody|shard|remote/, 'and says nothing of the row');
is(releases($node), $before + 1, 'its charge stays');
like(refused('analyst', "SELECT * FROM dp_query('$all') AS (n bigint)"), qr/55000.*suspended/s, 'who saw it asks no more');
unlike(slurp_file($node->logfile, $log), qr/somebody|private/, 'nor does the log of the coordinator');
like(slurp_file($node->logfile, $log), qr/reading rows of public.people failed with SQLSTATE P0001/, 'which has the SQLSTATE');
psql_as($node, 'postgres', 'controller', q{SELECT dp_resume('people_dp', 'analyst')});

# A server that goes while it is asked, or an administrator's cancel there: nobody's row.
for my $end ('terminate', 'cancel')
{
	replace_sum('PERFORM pg_catalog.pg_sleep(0.05);');
	$before = releases($node);
	my $session = session($node);
	$session->query('\\set VERBOSITY verbose');
	start_question($session, $plus);
	$remote->poll_query_until('shard2', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active' AND query LIKE 'FETCH%'})
	  or die 'the shard is not asked';
	$remote->safe_psql('shard2', qq{SELECT pg_${end}_backend(pid) FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'});
	is(finish_question($session), '40003', "$end on a shard: an error");
	like($session->{stderr}, qr/the query failed/, "$end: the constant one");
	unlike($session->{stderr}, qr/due to|administrator|terminating|shard|kept/, "$end: not that of the shard");
	$session->quit;
	is(releases($node), $before + 1, "$end: the charge stays");
	replace_sum('');
	like(ask($node, 'postgres', $plus), qr/^\d+$/, "$end: nobody is suspended");
}

# The client's own cancel ends what the shard does.
replace_sum('PERFORM pg_catalog.pg_sleep(0.05);');
my $session = session($node);
my $pid = $session->query_safe('SELECT pg_backend_pid()');
start_question($session, $plus);
my $busy = q{FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active' AND query LIKE 'FETCH%'};
$remote->poll_query_until('shard2', "SELECT count(*) > 0 $busy") or die 'the shard is not asked';
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
is(finish_question($session), '57014', 'the client cancels');
$session->quit;
ok($remote->poll_query_until('shard2', "SELECT count(*) = 0 $busy"), 'the shard stops as well');
replace_sum('');
like(ask($node, 'postgres', $plus), qr/^\d+$/, 'the keeper goes on');

# ---- partitions come and go ----

$remote->safe_psql('shard1', q{CREATE TABLE kept.more (LIKE kept.people); INSERT INTO kept.more SELECT * FROM kept.people LIMIT 100;
	GRANT SELECT ON kept.more TO reader});
psql_as($node, 'postgres', 'controller', q{CREATE FOREIGN TABLE people_5 PARTITION OF people FOR VALUES FROM (5000) TO (6000) SERVER shard1
	OPTIONS (schema_name 'kept', table_name 'more')});
cmp_ok(abs(ask($node, 'postgres', "SELECT * FROM dp_query('$all') AS (n bigint)") - 3099), '<', 9, 'a partition more');
psql_as($node, 'postgres', 'controller', 'DROP FOREIGN TABLE people_5');
cmp_ok(abs(ask($node, 'postgres', "SELECT * FROM dp_query('$all') AS (n bigint)") - 2999), '<', 9, 'and one less');
ok(verified($node, 'postgres'), 'the chain is whole');

# ---- people with many rows: refused, and one row for each of them there ----

$remote->safe_psql('shard1', q{CREATE TABLE kept.ride (rider integer, fare integer); INSERT INTO kept.ride SELECT g % 500, g % 7 FROM generate_series(1, 5000) g;
	CREATE MATERIALIZED VIEW kept.rider AS SELECT rider, count(*)::integer AS rides, sum(fare)::integer AS fare FROM kept.ride GROUP BY rider;
	GRANT SELECT ON kept.ride, kept.rider TO reader});
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE ride (rider integer, fare integer) PARTITION BY RANGE (rider);
	CREATE FOREIGN TABLE ride_1 PARTITION OF ride FOR VALUES FROM (0) TO (500) SERVER shard1 OPTIONS (schema_name 'kept', table_name 'ride');
	CREATE TABLE rider (rider integer, rides integer, fare integer) PARTITION BY RANGE (rider);
	CREATE FOREIGN TABLE rider_1 PARTITION OF rider FOR VALUES FROM (0) TO (500) SERVER shard1 OPTIONS (schema_name 'kept', table_name 'rider');
	SELECT dp_protect('rider', 'rider_dp');
	SELECT dp_set_bounds('rider', 'rides', 0, 20), dp_set_bounds('rider', 'fare', 0, 100), dp_set_odometer('rider', 'none');
	SELECT dp_grant('rider_dp', 'analyst', tau => 1e-30, candidates => '{50}', epsilon_max => 50)});
like(refused('controller', q{SELECT dp_protect('ride', 'ride_dp', unit => 'rider', max_rows => 20)}),
	qr/0A000.*a unit with several rows of public.ride is not supported: other servers keep public.ride_1.*Keep a summary table with one row for each unit/s,
	'a unit with several rows');
like(ask($node, 'postgres', q{SELECT round(a, -1), round(b, -2), round(c, -3) FROM dp_query('SELECT count(*), sum(rides), sum(fare) FROM rider_dp') AS (a bigint, b bigint, c bigint)}),
	qr/^500\|5000\|15000$/, 'a summary of them');
psql_as($node, 'postgres', 'controller', q{SELECT dp_unprotect('rider_dp'); DROP TABLE ride, rider});
sent();

# ---- nobody enforces NOT NULL of a foreign table: rows that have NULL all the same are a group ----

$remote->safe_psql('shard1', q{CREATE TABLE kept.flags (id integer, flag boolean);
	INSERT INTO kept.flags SELECT g, CASE WHEN g % 3 > 0 THEN g % 3 = 1 END FROM generate_series(1, 3000) g; GRANT SELECT ON kept.flags TO reader});
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE flags (id integer, flag boolean NOT NULL) PARTITION BY RANGE (id);
	CREATE FOREIGN TABLE flags_1 PARTITION OF flags FOR VALUES FROM (1) TO (4000) SERVER shard1 OPTIONS (schema_name 'kept');
	ALTER FOREIGN TABLE flags_1 OPTIONS (ADD table_name 'flags');
	SELECT dp_protect('flags', 'flags_dp');
	SELECT dp_grant('flags_dp', 'analyst', tau => 0, epsilon_max => 1, candidates => '{1}')});
is(ask($node, 'postgres', q{SELECT flag, round(n, -2) FROM dp_query('SELECT flag, count(*) FROM flags_dp GROUP BY flag') AS (flag boolean, n bigint) ORDER BY 1}),
	"f|1000\nt|1000\n|1000", 'NULL is a group where a partition is foreign');
psql_as($node, 'postgres', 'controller', 'DROP TABLE flags CASCADE');

# ---- cells with totals of their own: the shards are told which are asked for ----

sent();
for my $cells ([ q{'city'}, q{city IN ('Oslo', 'Rome')}, 'Oslo, Rome' ], [ q{'city'}, q{city <> 'Oslo'}, q{others, Pisa .. Turin} ],
	[ q{'pay', by => '500', since => '0', until => '3999'}, 'pay BETWEEN 100 AND 1200', '0 to 499 .. 1000 to 1499' ],
	[ q{'seen', by => 'month', since => '2026-02-01'}, q{seen >= '2026-03-01 00:00+00' AND seen < '2026-05-01 00:00+00'}, '2026-03 .. 2026-04' ])
{
	my ($call, $condition, $touched) = @$cells;
	my (undef, undef, $warning) = $node->psql('postgres', "SELECT dp_set_partition('people', $call)", extra_params => [ '-U', 'controller' ]);
	like($warning, qr/WARNING:  other servers keep rows of public.people, where no trigger/, 'no trigger is on other servers');
	same_answer("cells by $call: $condition", 'analyst', "SELECT count(*), sum(pay) FROM TABLE WHERE $condition", 'n bigint, s bigint', 5000);
	is($node->safe_psql('postgres', q{SELECT parameters -> 'cells' ->> 'names' FROM dp_rdr.ledger_row WHERE relation = 'public.people' ORDER BY id DESC LIMIT 1}),
		$touched, 'what was charged');
}
# Nobody who is dated ahead is read, there and here.
my $near = ask($node, 'postgres', q{SELECT n FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint)});
my $begun = $node->safe_psql('postgres', q{SELECT count(*) FROM whole WHERE seen < date_trunc('month', now() AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'});
cmp_ok(abs($near - $begun), '<', 8, 'months that have begun, of all shards');
ok(verified($node, 'postgres', 'people'), 'the ledger is whole');
psql_as($node, 'postgres', 'controller', q{SELECT dp_unset_partition('people')});
sent();

# ---- the other way round: another server asks a restricted view of ours, and its estimates are ours ----

my ($here, $door) = ($node->host, $node->port);
$node->safe_psql('postgres', q{ALTER ROLE analyst SET session_preload_libraries = 'dp_rdr'});
$remote->safe_psql('shard1', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER asked FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$here', port '$door', dbname 'postgres', use_remote_estimate 'true');
	CREATE USER MAPPING FOR CURRENT_USER SERVER asked OPTIONS (user 'analyst');
	CREATE FOREIGN TABLE asked (age integer, pay integer) SERVER asked OPTIONS (table_name 'people_dp');});
like($remote->safe_psql('shard1', 'EXPLAIN (VERBOSE) SELECT count(*), sum(pay) FROM asked'), qr/Remote SQL: SELECT count\(\*\), sum\(pay\) FROM/,
	'a server that compares costs asks for the answer, not for rows');
like($remote->safe_psql('shard1', 'SELECT count(*) FROM asked'), qr/^\d+$/, 'and gets it');

# ---- dp_audit ----

my $audit = sub { psql_as($node, 'postgres', 'controller', q{SELECT severity, object, finding FROM dp_audit() WHERE object LIKE 'foreign server%'}) };
my $found = $audit->();
like($found, qr/^info\|foreign server shard1\|its administrators see the rows of public\.people_1, and its log/m, 'dp_audit names what a shard shows');
unlike($found, qr/critical|connect_timeout/, 'and no more than there is');
psql_as($node, 'postgres', 'controller', q{
	ALTER SERVER shard1 OPTIONS (DROP connect_timeout, SET host '192.0.2.1');
	GRANT USAGE ON FOREIGN SERVER shard1 TO chooser;
	CREATE USER MAPPING FOR PUBLIC SERVER shard1;});
$found = $audit->();
like($found, qr/^critical\|foreign server shard1\|chooser may use it, and has the user mapping of PUBLIC/m, 'who else can connect');
like($found, qr/^warning\|foreign server shard1\|has no connect_timeout/m, 'a server that may hold keepers');
like($found, qr/^warning\|foreign server shard1\|exact sums and keys come from it over a network/m, 'sums that are not encrypted');

$node->stop;
$remote->stop;
done_testing();
