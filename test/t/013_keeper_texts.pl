# Texts that are sent to dp_rdr.release() directly: nothing of an analyst's runs in a keeper, and what is refused costs
# nothing; and answers of many parts.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('texts', 'log_min_messages = log');
protect_people($node, 'postgres');
$node->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO analyst');

# All that the analyst may make, and whatever calls it leaves a line in the log.
psql_as($node, 'postgres', 'analyst', q{
	CREATE FUNCTION shout(x text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
		$$ BEGIN RAISE LOG 'shouted in %', current_setting('application_name'); RETURN true; END $$;
	CREATE FUNCTION shout_int(x integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
		$$ BEGIN RAISE LOG 'shouted'; RETURN true; END $$;
	CREATE FUNCTION shout_two(x integer, y integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
		$$ BEGIN RAISE LOG 'shouted'; RETURN true; END $$;
	CREATE DOMAIN d AS integer CHECK (shout_int(VALUE));
	CREATE TYPE c AS (x d);
	CREATE TYPE e AS ENUM ('a', 'b');
	CREATE FUNCTION e_to_bool(x e) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
		$$ BEGIN RAISE LOG 'shouted'; RETURN true; END $$;
	CREATE CAST (e AS boolean) WITH FUNCTION e_to_bool(e) AS IMPLICIT;
	CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = shout_two);
	CREATE COLLATION mine FROM "C";
	CREATE TABLE own (x d[]);
	CREATE VIEW forged AS SELECT * FROM dp_rdr.deny('public.own'::regclass) AS (x d[]);});

my $conditions = join "\n", (
	q{age = '1'::public.d}, q{age = ANY ('{1}'::public.d[])}, q{('(1)'::public.c).x = age}, q{'{1}'::public.d[] IS NOT NULL},
	q{public.shout(city)}, q{public.shout('x')}, q{age OPERATOR(public.===) 1}, q{city = 'x' COLLATE public.mine},
	q{'a'::public.e}, q{'a'::public.e::boolean}, q{city::pg_temp.t = 'x'},
	q{city = current_setting('role')}, q{age = (SELECT count(*) FROM pg_catalog.pg_class)},
	q{'(1)'::public.c IS NOT NULL}, q{CAST(ROW(1) AS public.c) IS NOT NULL}, q{age = random()},
	q{pg_catalog.pg_sleep(5) IS NULL}, q{city = pg_catalog.query_to_xml('SELECT public.shout(1)', true, true, '')::text},
	q{age IN (SELECT 1 FROM public.people)}, q{EXISTS (SELECT FROM pg_catalog.pg_authid)});
my $before = releases($node);
for my $condition (split /\n/, $conditions)
{
	my $text = "SELECT count(*) FROM public.people_dp WHERE $condition";
	my $state = sqlstate($node, 'postgres', 'analyst', "SELECT * FROM dp_rdr.release(\$t\$$text\$t\$, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)");
	like($state, qr/^(0A000|42\w{3}|22\w{3}|55000)$/, "$condition: refused ($state)");
}
for my $sql (
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n text)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint, m bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp; SELECT 1', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('RESET ROLE', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM people_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp WHERE $1 IS NULL', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, ROW(1)::c) AS (n bigint)},
	# Values that mean something in the process that made them alone, and literals that are read as of a parameter's type.
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp WHERE $1 < $2', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, ARRAY[ROW(1, 'x'::text)], ARRAY[ROW(1, 'y'::text)]) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp WHERE $1 = $2', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, ARRAY[ROW(1)::c], ARRAY[ROW(1)::c]) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp WHERE $1 = ''{1}''', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, ARRAY[1]::d[]) AS (n bigint)},
	# A view that looks like a restricted one, over a column whose type runs his code.
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.forged WHERE coalesce(x, ''{1}'') IS NULL', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM (SELECT age FROM public.people_dp) p', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('WITH p AS (SELECT age FROM public.people_dp) SELECT count(*) FROM p', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp WHERE ' || repeat('age > 1 AND ', 20000) || 'true', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)},
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp WHERE ' || repeat('(', 60000), NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)})
{
	isnt(sqlstate($node, 'postgres', 'analyst', "SET search_path = public; $sql"), '', 'refused: ' . substr($sql, 29, 100));
}
is(releases($node), $before, 'none is charged');
# A parameter of a domain is its base type's value by the time it is sent: its CHECK has run where it was cast.
like(ask($node, 'postgres',
	q{SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.people_dp WHERE age = $1', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, '1'::d) AS (n bigint)}),
	qr/^-?\d+$/, 'a parameter of a domain');
# The analyst's own session may shout where he casts himself; a keeper never does.
my @shouts = grep { /shouted/ && /LOG/ && !/statement:/ } split /\n/, slurp_file($node->logfile);
my %keepers = map { $_ => 1 } keepers($node);
is(scalar(grep { /\[(\d+)\]/ && $keepers{$1} } @shouts), 0, 'nothing of the analyst ran in a keeper');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'and good questions are answered');

# Constants are computed by whoever asks, in his own process, under his own timeout.
my $long = q{(repeat('a', 5000) || 'b' || repeat('a', 5001) || 'c') ~ '^(a+)(a+)(a+)(a+)b\\1\\2\\3\\4c$'};
is(sqlstate($node, 'postgres', 'analyst', "SET statement_timeout = '1s'; SELECT * FROM dp_rdr.release(\$t\$SELECT count(*) FROM public.people_dp WHERE $long\$t\$, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)"),
	'57014', 'constants that take too long for him to compute');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'and good questions are answered');

# ---- role changes ----

$node->safe_psql('postgres', 'CREATE ROLE guest LOGIN; GRANT analyst TO guest; CREATE ROLE stranger LOGIN; GRANT stranger TO analyst');
$node->safe_psql('postgres', 'REVOKE stranger FROM analyst');
like(psql_as($node, 'postgres', 'guest', "SET ROLE analyst; $COUNT"), qr/^-?\d+$/, 'SET ROLE: the role asks');
is(sqlstate($node, 'postgres', 'stranger', $COUNT), '42501', 'a stranger is refused');
psql_as($node, 'postgres', 'analyst', "CREATE FUNCTION wrapped() RETURNS bigint LANGUAGE sql SECURITY DEFINER VOLATILE AS \$f\$ $COUNT \$f\$");
like(psql_as($node, 'postgres', 'stranger', 'SELECT wrapped()'), qr/^-?\d+$/, 'SECURITY DEFINER: its owner asks');
$node->safe_psql('postgres', 'ALTER ROLE analyst RENAME TO renamed');
like(psql_as($node, 'postgres', 'renamed', $COUNT), qr/^-?\d+$/, 'renamed: answered');
$node->safe_psql('postgres', 'ALTER ROLE renamed RENAME TO analyst');
ok(verified($node, 'postgres'), 'the chain is whole');

# ---- answers of many parts ----

psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE wide (k text COLLATE "C", id integer);
	INSERT INTO wide SELECT lpad((g / 2000)::text, 900, 'x'), g FROM generate_series(0, 399999) g;
	SELECT dp_protect('wide', 'wide_dp');
	SELECT dp_set_odometer('wide', 'none');
	SELECT dp_grant('wide_dp', 'analyst', tau => 0.95, delta => 1e-6);});
my $wide = q{SELECT count(*), min(length(k)), max(length(k)) FROM dp_query('SELECT k, count(*) FROM wide_dp GROUP BY k') AS (k text, n bigint)};
is(ask($node, 'postgres', $wide), '200|900|900', '200 keys of 900 bytes, in many parts');
is(ask($node, 'postgres', "SELECT count(*) FROM (SELECT * FROM dp_query('SELECT k, count(*) FROM wide_dp GROUP BY k') AS (k text, n bigint) LIMIT 1) q"),
	'1', 'of which one is wanted');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'and the keeper goes on');

$node->stop;
done_testing();
