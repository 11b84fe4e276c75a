# What a server of foreign partitions is sent has functions of its own alone, and computes what our library does: integers that are
# equal for extreme and for random values of each type, and keys in the same spelling.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('coordinator', "max_worker_processes = 8\nmax_connections = 50\nlog_min_messages = log");
unlink $node->data_dir . '/pg_hba.conf';
$node->append_conf('pg_hba.conf', "local all reader scram-sha-256\nlocal all all trust");
$node->reload;
my ($host, $port) = ($node->host, $node->port);

my $columns = 'id integer, s smallint, i integer, b bigint, r real, d float8, n numeric, m numeric(10,2), z numeric(1000,500), '
  . 'k text, v varchar(2000), c char(4), w char(900), x bytea, f float8, g real, h date';

# ---- a shard without our extension ----

$node->safe_psql('postgres', q{CREATE ROLE reader LOGIN PASSWORD 'open'; ALTER ROLE reader SET log_statement = 'all'});
$node->safe_psql('postgres', 'CREATE DATABASE shard');
$node->safe_psql('shard', "CREATE SCHEMA kept; CREATE TABLE kept.data ($columns); GRANT USAGE ON SCHEMA kept TO reader;
	GRANT SELECT ON kept.data TO reader");
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_rdr;
	CREATE EXTENSION postgres_fdw;
	CREATE ROLE controller LOGIN;
	CREATE ROLE analyst LOGIN;
	CREATE ROLE chooser LOGIN;
	CREATE ROLE spreader LOGIN;
	ALTER ROLE analyst SET session_preload_libraries = 'dp_rdr';
	ALTER ROLE chooser SET session_preload_libraries = 'dp_rdr';
	ALTER ROLE spreader SET session_preload_libraries = 'dp_rdr';
	GRANT CREATE ON SCHEMA public TO controller;
	GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO controller;});
psql_as($node, 'postgres', 'controller', qq{
	CREATE TABLE data ($columns) PARTITION BY RANGE (id);
	CREATE TABLE data_0 PARTITION OF data FOR VALUES FROM (0) TO (1000);
	CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'shard');
	CREATE USER MAPPING FOR controller SERVER shard OPTIONS (user 'reader', password 'open');
	CREATE FOREIGN TABLE data_1 PARTITION OF data FOR VALUES FROM (1000) TO (2000) SERVER shard OPTIONS (schema_name 'kept', table_name 'data');
	SELECT dp_protect('data', 'data_dp');
	SELECT dp_set_odometer('data', 'none');
	SELECT dp_grant('data_dp', 'analyst', tau => 1e-30, candidates => '{50}', epsilon_max => 50, delta => 1e-6);
	SELECT dp_grant('data_dp', 'chooser', tau_var => 0.24, candidates => '{20,50}', epsilon_svt => 20, epsilon_max => 50, delta => 1e-6);
	SELECT dp_grant('data_dp', 'spreader', tau_var => 0.0001, mechanism => 'gaussian', candidates => '{50}', epsilon_svt => 20,
		epsilon_max => 50, delta => 1e-6);});

# ---- what it is sent ----

my $offset = -s $node->logfile;
my $everything = '';

# The last statement on its table that the shard was sent.
sub sent
{
	my ($role, $question) = @_;
	$node->psql('postgres', $question, extra_params => [ '-U', $role ]); # a selection may find nothing
	my $log = slurp_file($node->logfile, $offset);
	$offset = -s $node->logfile;
	$everything .= $log;
	my @statements = grep { /^SELECT (?!NULL FROM)/ && !/\$1/ } map { s/^\s+//r } grep { /FROM kept\.data/ } split /\n/, $log;
	return $statements[-1];
}

# Its target list, cut at the commas of its own level.
sub targets
{
	my ($statement) = @_;
	my ($list) = $statement =~ /^SELECT (.*?) FROM kept\.data/;
	my ($depth, $quoted, $at, @parts) = (0, 0, '');
	for my $c (split //, $list)
	{
		$quoted = !$quoted if $c eq q{'};
		$depth += ($c eq '(') - ($c eq ')') if !$quoted;
		if ($c eq ',' && $depth == 0 && !$quoted) { push @parts, $at =~ s/^\s+//r; $at = ''; next }
		$at .= $c;
	}
	return (@parts, $at =~ s/^\s+//r);
}

# ---- values to try it on ----

my $one = 1 << 30;
$node->safe_psql('postgres', "CREATE TABLE probe ($columns, block integer)");

my $wide = '(random() - 0.5) * 2::float8 ^ (random() * 34)'; # in points
my %largest = (smallint => '32767', integer => '2147483647', bigint => '9.2e18', real => '3e38', float8 => '1e308', numeric => '1e308',
	'numeric(10,2)' => '9e7');

# Extremes are blocks of their own; random ones come a thousand to a block, half of them near the middle between two points.
sub fill
{
	my ($column, $extremes, $random, $unit, $type) = @_;
	$node->safe_psql('postgres', qq{
		TRUNCATE probe;
		INSERT INTO probe ($column, block) SELECT e, row_number() OVER () FROM unnest('{$extremes}'::${type}[]) e;
		INSERT INTO probe ($column, block)
			SELECT least(greatest(CASE q % 4 WHEN 0 THEN $random WHEN 1 THEN ($wide) * $unit WHEN 2 THEN (trunc($wide) + 0.5) * $unit
				ELSE (trunc($wide) + 0.5 - 2::float8 ^ -53) * $unit END, -$largest{$type}), $largest{$type})::$type, 100000 + q / 1000
			FROM generate_series(1, 100000) q;
		INSERT INTO probe ($column, block) SELECT - $column, 50000 + block FROM probe WHERE $column > 0 AND block >= 100000;
		ANALYZE probe;});
	return;
}

sub words { return join ' || ', @_ }

my $header = words(map { "int8send($_)" } 0, 0, 1, 0, 0, 1, 20261123, 0);
sub spec
{
	my ($kind, $lattice, $bytes) = @_;
	return words($header, map({ "int8send($_)" } $kind, 0, 1, 0), 'float8send(1)', $lattice, "decode(repeat('00', 56 - $bytes), 'hex')");
}

$node->safe_psql('postgres', q{
	CREATE FUNCTION number_at(bytes bytea, place integer) RETURNS numeric IMMUTABLE PARALLEL SAFE LANGUAGE sql AS
		$$ SELECT trunc(sum(get_byte(bytes, place + i) * 256::numeric ^ i) - CASE WHEN get_byte(bytes, place + 15) > 127 THEN 256::numeric ^ 16 ELSE 0 END)
		FROM generate_series(0, 15) i $$;
	CREATE FUNCTION numbers(result bytea) RETURNS numeric[] IMMUTABLE PARALLEL SAFE LANGUAGE sql AS
		$$ SELECT array_agg(number_at(result, 16 * i) ORDER BY i) FROM generate_series(0, length(result) / 16 - 1) i $$;});

# How many blocks have other sums by the expressions than by the aggregate of ours.
sub differing
{
	my ($spec, $arguments, @sums) = @_;
	my $sums = join ', ', map { "coalesce($_, 0)" } @sums;
	return $node->safe_psql('postgres', qq{
		SELECT count(*) || ' of ' || coalesce(sum(n), 0) || coalesce(' in ' || string_agg(DISTINCT block || ': ' || ours::text || theirs::text, ', ') FILTER (WHERE first < 4), '')
		FROM (SELECT *, row_number() OVER (ORDER BY block) AS first FROM
			(SELECT block, count(*) AS n, numbers(dp_rdr.cells($spec, $arguments)) AS ours, ARRAY[$sums]::numeric[] AS theirs
			FROM probe GROUP BY block) x WHERE ours IS DISTINCT FROM theirs) y});
}

# The lattice of bounds, as dp_set_bounds reads them.
sub lattice
{
	my ($low, $high, $whole) = @_;
	my $most = abs($low) > abs($high) ? abs($low) : abs($high);
	my $top  = 0;
	$top++ while 2.0**$top < $most;
	$top-- while 2.0**($top - 1) >= $most;
	my $exponent = $whole && $top <= 40 ? 0 : $top - 30;
	my $unit     = 2.0**$exponent;
	my @points   = map { my $p = abs($_) / $unit; my $z = int($p + 0.5); sprintf('%.0f', $_ < 0 ? -$z : $z) } $low, $high;
	return (sprintf('%.17g', 1 / $unit), @points, sprintf('%.17g', $unit));
}

my %extremes = (
	smallint => '-32768,-32767,-1,0,1,2,32767,NULL',
	integer  => '-2147483648,-2147483647,-1,0,1,2,3,2147483647,NULL',
	bigint   => '-9223372036854775808,-9223372036854775807,-9007199254740993,-1,0,1,9007199254740993,4611686018427387904,9223372036854775807,NULL',
	real     => 'NaN,Infinity,-Infinity,3.4028235e38,-3.4028235e38,1.4e-45,-1.4e-45,0,-0,0.5,-0.5,1,NULL',
	float8   => 'NaN,Infinity,-Infinity,1.7976931348623157e308,-1.7976931348623157e308,5e-324,-5e-324,2.2250738585072014e-308,0,-0,'
	  . '0.5,-0.5,0.49999999999999994,-0.49999999999999994,1,1e300,-1e300,1e-300,NULL',
	numeric => 'NaN,Infinity,-Infinity,1e400,-1e400,1e-400,-1e-400,1e-320,1e-305,1e308,2e308,0,0.5,-0.5,0.49999999999999999999,'
	  . '0.50000000000000000000001,1.50,-1.500000000000000000000001,1e300,NULL',
	'numeric(10,2)' => 'NaN,99999999.99,-99999999.99,0.00,0.01,-0.01,0.50,NULL');

my $huge = '(random() - 0.5) * 2::float8 ^ ((random() - 0.5) * 1900)';
for my $case (
	[ 's', 'smallint',      -5,      100,    '(random() - 0.5) * 65000', 1 ],
	[ 'i', 'integer',       -10,     50,     '(random() - 0.5) * 4e9',   1 ],
	[ 'i', 'integer',       0,       1e9,    '(random() - 0.5) * 4e9',   1 ],
	[ 'i', 'integer',       0.5,     99,     '(random() - 0.5) * 400',   0 ],
	[ 'b', 'bigint',        0,       2**40,  '(random() - 0.5) * 2::float8 ^ 62', 1 ],
	[ 'b', 'bigint',        -3e17,   5e18,   '(random() - 0.5) * 1.8e19', 0 ],
	[ 'r', 'real',          0,       43,     $wide, 0 ],
	[ 'd', 'float8',        -20,     80,     $wide, 0 ],
	[ 'd', 'float8',        -1e-200, 3e-200, "$huge", 0 ],
	[ 'd', 'float8',        -1e300,  1e300,  "$huge", 0 ],
	[ 'd', 'float8',        5,       6,      $wide, 0 ],
	[ 'd', 'float8',        -9,      -8,     $wide, 0 ],
	[ 'n', 'numeric',       -20,     80,     $wide, 0 ],
	[ 'n', 'numeric',       -1e-30,  1e30,   '(random() - 0.5) * 2::float8 ^ ((random() - 0.5) * 220)', 0 ],
	[ 'm', 'numeric(10,2)', 0,       43,     '(random() - 0.5) * 1e7', 0 ],
	[ 'm', 'numeric(10,2)', -8e7,    5e6,    '(random() - 0.5) * 1e8', 0 ])
{
	my ($column, $type, $low, $high, $random, $whole) = @$case;
	my ($scale, $lower, $upper, $unit) = lattice($low, $high, $whole);
	psql_as($node, 'postgres', 'controller', "SELECT dp_set_bounds('data', '$column', $low, $high)");
	fill($column, $extremes{$type}, $random, "$unit\::float8", $type);
	my $name = "$type from $low to $high";
	my ($sum) = targets(sent('analyst', "SELECT sum($column) FROM data_dp"));
	like(differing(spec(1, words("float8send($scale)", "int8send($lower)", "int8send($upper)"), 24), $column, $sum), qr/^0 of/, "$name: sums");
	my $pair = words("float8send($low)", "float8send($high\::float8 - ($low)::float8)", 'float8send(0)', 'float8send(1)');
	my ($part, $there) = targets(sent('analyst', "SELECT avg($column) FROM data_dp"));
	like(differing(spec(2, $pair, 32), $column, $part, "$one * $there - coalesce($part, 0)"), qr/^0 of/, "$name: averages");
	my ($squares, $of, $rest) = targets(sent('analyst', "SELECT variance($column) FROM data_dp"));
	like(differing(spec(3, $pair, 32), $column, $squares, "$one * $of - coalesce($squares, 0) - coalesce($rest, 0)", $rest),
		qr/^0 of/, "$name: variances");
}

# Each of the sums is wrong by one point if it is rounded otherwise.
fill('d', $extremes{float8}, $wide, '2::float8 ^ -26', 'float8');
my ($sum) = targets(sent('analyst', 'SELECT sum(d) FROM data_dp'));
like(differing(spec(1, words('float8send(67108864)', 'int8send(-603979776)', 'int8send(-536870912)'), 24), 'd', $sum =~ s/- 1/- 0/r),
	qr/^[1-9]/, 'the test sees another rule for ties');

# ---- two columns ----

fill('d', $extremes{float8}, $wide, 1, 'float8');
$node->safe_psql('postgres', q{UPDATE probe SET f = CASE WHEN block % 7 > 0 THEN (random() - 0.5) * 30 END;
	INSERT INTO probe (d, f, block) VALUES (1, 'NaN', 1000001), ('NaN', 1, 1000002), ('Infinity', '-Infinity', 1000003)});
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_bounds('data', 'd', -20, 80), dp_set_bounds('data', 'f', -3, 9)});
for my $both ([ 5, 'covar_pop' ], [ 6, 'corr' ])
{
	my ($kind, $function) = @$both;
	my @sums = targets(sent('analyst', "SELECT $function(d, f) FROM data_dp"));
	my $spec = spec($kind, words('float8send(-20)', 'float8send(100)', 'float8send(-3)', 'float8send(12)'), 32);
	like(differing($spec, 'point(d, f)', @sums), qr/^0 of/, "$function: products");
}

# ---- a selection of epsilon ----

my $selected = 'SELECT count(*) FILTER (WHERE f > 0), sum(d), count(i) FROM data_dp';
my $brings   = 'CASE WHEN f > 0 THEN true END, d, i';
for my $mechanism ([ 0, 'chooser' ], [ 1, 'spreader' ])
{
	my ($gaussian, $role) = @$mechanism;
	my @sums = targets(sent($role, $selected));
	my ($rows, $points, $squares) = @sums[ 3 .. 5 ];
	my ($noise, $least) = (1, 0);
	if ($gaussian)
	{
		($noise) = $points =~ m{\+ ([\d.e+-]+)::double precision\) / [\d.e+-]+::double precision\)\) \* 1073741824::};
		$least = int(sqrt($noise / (3 + $noise)) * $one + 0.5);
	}
	my $spec = words(map({ "int8send($_)" } 0, 0, 3, 1, $gaussian, 1, 20261123, 0),
		map({ "int8send($_)" } 0, 0, 1, 0), 'float8send(1)', "decode(repeat('00', 56), 'hex')",
		map({ "int8send($_)" } 1, 0, 1, 0), 'float8send(671088640)', 'float8send(8388608)', 'int8send(-167772160)', 'int8send(671088640)', "decode(repeat('00', 32), 'hex')",
		map({ "int8send($_)" } 0, 0, 1, 0), 'float8send(1)', "decode(repeat('00', 56), 'hex')",
		"float8send($noise)", "int8send($least)");
	like(differing($spec, $brings, 'count(*)', $points, $squares), qr/^0 of/, "a selection, $role");
}

# ---- keys ----

$node->safe_psql('postgres', q{TRUNCATE probe; INSERT INTO probe (k, v, c, w, x, f, g, m, z)
	SELECT repeat(chr(200 + q), q * 37), repeat('a', q * 20), left('b  c', q % 5), repeat('ä ', q * 4), decode(repeat('0a', q * 13), 'hex'),
		CASE q WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' WHEN 3 THEN '0' WHEN 4 THEN '-Infinity' ELSE random() - 0.5 END::float8,
		CASE q WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' WHEN 3 THEN '0' WHEN 4 THEN 'Infinity' ELSE random() - 0.5 END::real,
		CASE q WHEN 1 THEN 'NaN' WHEN 2 THEN 1.5 WHEN 3 THEN 0 ELSE random() * 1e6 END::numeric, (q - 50) * 10::numeric ^ (q * 4)
	FROM generate_series(1, 100) q;
	INSERT INTO probe (k) VALUES (NULL), (''), (repeat('x', 1000)), (repeat('x', 1001)), (repeat('x', 3000000))});
for my $key ([ 'k', -1 ], [ 'v', 2004 ], [ 'c', 8 ], [ 'w', 904 ], [ 'x', -1 ], [ 'f', -1 ], [ 'g', -1 ], [ 'm', 655366 ], [ 'z', 65536504 ])
{
	my ($column, $typmod) = @$key;
	my $type = $node->safe_psql('postgres', "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'probe'::regclass AND attname = '$column'");
	my ($text) = targets(sent('analyst', "SELECT $column, count(*) FROM data_dp GROUP BY $column"));
	is($node->safe_psql('postgres', "SELECT count(*) FROM probe WHERE dp_rdr.canonical($column, $typmod)::text IS DISTINCT FROM ($text)::text"),
		0, "the key of a $type: $text");
}

# ---- arithmetic of integers ----

my %ends = (s => $extremes{smallint}, i => $extremes{integer}, b => $extremes{bigint});
my $random_integers = join ', ', map { "(random() - 0.5) * 2::float8 ^ (random() * $_)" } 15, 31, 62;
$node->safe_psql('postgres', qq{TRUNCATE probe;
	INSERT INTO probe (s, i, b) SELECT s, i, b FROM unnest('{$ends{s}}'::smallint[]) s, unnest('{$ends{i}}'::integer[]) i, unnest('{$ends{b}}'::bigint[]) b;
	INSERT INTO probe (s, i, b) SELECT $random_integers FROM generate_series(1, 100000)});
for my $call (
	[ 'i + s',   'int42pl(i, s)' ],  [ 's + s',       'int2pl(s, s)' ],  [ 'i - s',        'int42mi(i, s)' ], [ 'i * s',  'int42mul(i, s)' ],
	[ 'i / s',   'int42div(i, s)' ], [ 's / s',       'int2div(s, s)' ], [ 'i / (-1)',     'int4div(i, -1)' ], [ 'i % 7', 'int4mod(i, 7)' ],
	[ 'b + i',   'int84pl(b, i)' ],  [ 'b - b',       'int8mi(b, b)' ],  [ 'b * i',        'int84mul(b, i)' ], [ 'b / i', 'int84div(b, i)' ],
	[ 'b % (-7)', 'int8mod(b, (-7)::bigint)' ], [ '- s', 'int2um(s)' ],  [ '- b',          'int8um(b)' ],      [ 'abs(i)', 'abs(i)' ],
	[ 'b::integer', 'int4(b)' ],     [ '(i + s) / 7', 'int4div(dp_rdr.int42pl(i, s), 7)' ])
{
	my ($written, $ours) = @$call;
	my ($text) = targets(sent('analyst', "SELECT $written AS k, count(*) FROM data_dp GROUP BY $written"));
	is($node->safe_psql('postgres', "SELECT count(*) FROM probe WHERE dp_rdr.$ours IS DISTINCT FROM ($text)"), 0, $written);
}

# Declared ones, and conditions on texts.
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_groups('data', 'k', '{a,b}'), dp_set_groups('data', 'w', '{a,b}')});
like(sent('analyst', 'SELECT k, w, count(*) FROM data_dp GROUP BY k, w'), qr/octet_length\(w::text\) > 1000.*octet_length\(k\) > 1000/, 'long keys are in no declared group');
like(sent('analyst', q{SELECT count(*) FROM data_dp WHERE k = 'a' AND v LIKE 'b%' AND n > 3 AND coalesce(c, v) <> 'q' AND h > '2020-01-01'}),
	qr/CASE WHEN \(octet_length\(k\) <= \d+\) THEN k ELSE NULL::text END\) = 'a'/, 'sizes are limited there');

unlike(join("\n", grep { /\b(?:FROM kept|DECLARE)/ } split /\n/, $everything), qr/dp_rdr/, 'nothing of ours is called there');
is($node->safe_psql('shard', q{SELECT count(*) FROM pg_extension WHERE extname = 'dp_rdr'}), 0, 'and nothing of ours is there');

$node->stop;
done_testing();
