# What calls take of memory while half a million groups go through them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('memory', q{
	dp_rdr.keepers = 1
	max_parallel_workers_per_gather = 0
});
# Half a million groups take no more memory than a hash table of work_mem and 100 MB, in whoever reads them.
my $LIMIT = 4 * 2 + 100;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_rdr;
	CREATE TABLE many AS SELECT g, sqrt(g) AS w FROM generate_series(1, 500000) g;
	ANALYZE many;
	SELECT dp_protect('many', 'many_dp'), dp_set_odometer('many', 'none', NULL), dp_set_bounds('many', 'w', 0, 1000);
	CREATE ROLE looking LOGIN; SET client_min_messages = error;
	SELECT dp_grant('many_dp', 'looking', tau => 0, delta => 1e-6, selection => 'within_data', epsilon_max => 50, candidates => '{50}');});

# By how many MB a server process of its own grows while it runs the statement, and what that prints.
sub growth
{
	my ($statement) = @_;
	my $peak = q{SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::numeric / 1024};
	my $output = $node->safe_psql('postgres', "
		LOAD 'dp_rdr';
		SET work_mem = '4MB'; SET hash_mem_multiplier = 2; SET max_parallel_workers_per_gather = 0;
		SELECT count(*) FROM (SELECT g, w, count(*) FROM many GROUP BY g, w OFFSET 0) s \\g /dev/null
		$peak AS before \\gset
		$statement;
		SELECT round(($peak) - :before);");
	my ($grown) = $output =~ /(\d+)\s*\z/;
	return ($grown, $output);
}

my $SUMS = 'SELECT g, count(*) AS n, sum(w) AS s, avg(w) AS a FROM many_dp GROUP BY g';
my %calls = (
	'a search, its answer in a cursor' =>
	  "CALL dp_find_epsilon('SELECT g, count(*) AS n FROM many_dp GROUP BY g', 0, NULL, NULL, candidates => '{100}', sensitivity => 1);
	   MOVE FORWARD ALL IN dp_answer",
	'a search whose answer is one value' =>
	  "CALL dp_find_epsilon('SELECT g, count(*) AS n FROM many_dp WHERE g % 3 = 0 GROUP BY g', 0, NULL, NULL, candidates => '{100}', sensitivity => 1)",
	'a search over discovered groups' =>
	  "CALL dp_find_epsilon('SELECT w < 0, g % 250000 AS k, count(*), sum(w), avg(w) FROM many_dp GROUP BY 1, 2', 0, NULL, NULL, delta => 1e-6, candidates => '{100}')",
	'a search with the best draw' =>
	  "CALL dp_find_epsilon('SELECT g, count(*) FROM many_dp GROUP BY g', 0, NULL, NULL, delta => 1e-6, indicator => 'output', candidates => '{100}')",
	'a selection' =>
	  "CALL dp_find_and_release_epsilon('SELECT g % 250000 AS k, count(*) FROM many_dp GROUP BY 1', 1, 1, NULL, NULL, delta => 1e-6, candidates => '{100}')",
	'risks, Laplace noise'  => "SELECT count(*) FROM dp_risk('$SUMS', '{1,0.001}', delta => 1e-6)",
	'risks, Gaussian noise' => "SELECT count(*) FROM dp_risk('$SUMS', '{1,0.001}', 'gaussian', delta => 1e-6)",
	'records'               => "SELECT count(*) FROM dp_risk_records('$SUMS', 1, delta => 1e-6)");
for my $name (sort keys %calls) {
	my ($grown, $output) = growth($calls{$name});
	cmp_ok($grown, '<', $LIMIT, "$name: $grown MB");
	$output =~ s/\d+\s*\z//;
	my $has_value = $output =~ /^100\|\[/m;
	is($has_value, $name =~ /one value|best draw/ ? 1 : '', "$name: " . ($has_value ? 'a value' : 'no value')) if $name =~ /search/;
}

is(psql_as($node, 'postgres', 'looking', q{SELECT count(*) FROM dp_query('SELECT count(*) FROM many_dp WHERE g < 10') AS (n bigint)}), 1, 'a keeper');
my %before = map { $_ => peak_of($_) } keepers($node);
is(psql_as($node, 'postgres', 'looking', "SELECT count(*) >= 0 FROM dp_query('$SUMS') AS (g integer, n bigint, s float8, a float8)"),
	't', 'epsilon from the data');
cmp_ok(peak_of($_) - $before{$_}, '<', $LIMIT, 'the keeper that does it') for grep { exists $before{$_} } keepers($node);

# What sub-SELECTs by person keep of texts, twelve of 1,000 bytes, is not kept of 10,000 people at a time: such states are sorted. In a hash
# table, which the planner believes to be small, they would grow by 120 MB: each person has short
# texts in the first row, and the statistics know no others.
my @texts = map { "t$_" } 1 .. 12;
my ($columns, $short, $long) = (join(', ', map { "$_ text" } @texts), join(', ', map { "'a'" } @texts), join(', ', map { "repeat('z', 1000)" } @texts));
$node->safe_psql('postgres', qq{
	CREATE TABLE person AS SELECT g AS id FROM generate_series(1, 10000) g;
	ALTER TABLE person ADD PRIMARY KEY (id);
	CREATE TABLE note (person integer REFERENCES person, $columns) WITH (autovacuum_enabled = off);
	INSERT INTO note SELECT g, $short FROM generate_series(1, 10000) g;
	ALTER TABLE note ALTER person SET (n_distinct = 10000);
	ANALYZE person, note;
	INSERT INTO note SELECT g, $long FROM generate_series(1, 10000) g;
	SELECT dp_protect('person', 'person_dp', unit => 'id'), dp_protect('note', 'note_dp', unit => 'person -> person(id)', max_rows => 2),
		dp_set_odometer('person', 'none');
	SELECT dp_grant(v, 'looking', tau => 0.9) FROM unnest('{person_dp,note_dp}'::regclass[]) v;});
my $LONGEST = 'SELECT person, ' . join(', ', map { "max($_) AS $_" } @texts) . ' FROM note_dp GROUP BY person';
my $ALL = join(' AND ', map { "$_ > 'm'" } @texts);
my %texts = ('texts of people' => "SELECT count(*) FROM ($LONGEST) s WHERE $ALL",
	'texts of people, joined' => "SELECT count(*) FROM person_dp p JOIN ($LONGEST) s ON s.person = p.id WHERE $ALL");
is(ask_looking('SELECT count(*) FROM note_dp'), 't', 'the table has been read');
for my $name (sort keys %texts)
{
	my %peak = map { $_ => peak_of($_) } keepers($node);
	is(ask_looking($texts{$name}, 'n BETWEEN 9000 AND 11000'), 't', "$name: answered");
	cmp_ok(peak_of($_) - $peak{$_}, '<', 60, sprintf('%s: %.0f MB', $name, peak_of($_) - $peak{$_})) for grep { exists $peak{$_} } keepers($node);
}
ok(verified($node, 'postgres', 'person'), 'their ledger is whole');

# Whether an answer is as it should be.
sub ask_looking
{
	my ($question, $expected) = @_;
	return psql_as($node, 'postgres', 'looking', "SET client_min_messages = error; SELECT " . ($expected // 'n > 0') . " FROM dp_query(\$q\$$question\$q\$) AS (n bigint)");
}

# In MB, of a process.
sub peak_of
{
	my ($pid) = @_;
	my ($peak) = slurp_file("/proc/$pid/status") =~ /^VmHWM:\s+(\d+)/m;
	return $peak / 1024;
}

ok(verified($node, 'postgres', 'many'), 'the ledger is whole');
$node->stop;
done_testing();
