# dp_draft writes a script that stops at each choice that is left open, keeps nothing then, and runs to its end when all are made:
# schemas of three forms, names that mean something to psql or to SQL, and fifty tables. It does not depend on rows.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('draft', 'max_worker_processes = 8');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dp_rdr;
	CREATE ROLE controller LOGIN;
	CREATE ROLE stranger LOGIN;
	CREATE ROLE "Ana ""L"" :x" LOGIN;
	GRANT CREATE ON DATABASE postgres TO controller;
	CREATE FOREIGN DATA WRAPPER nothing;
	CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
	GRANT USAGE ON FOREIGN SERVER nowhere TO controller;
});

# What a call shows, one column.
sub drafted
{
	my ($column, $call) = @_;
	return psql_as($node, 'postgres', 'controller', "SELECT $column FROM $call AS d WHERE $column IS NOT NULL");
}

# A script with these variables: its exit code and what it said.
sub run_script
{
	my ($script, %set) = @_;
	my @params = map { ('-v', "$_=$set{$_}") } sort keys %set;
	my ($code, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0, extra_params => [ '-U', 'controller', @params ]);
	return ($code, $out, $err);
}

sub kept
{
	return $node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM dp_rdr.restricted_view) + (SELECT count(*) FROM dp_rdr.policy)');
}

# Each choice, with the variables that it needs and values for them.
sub values_for
{
	my ($open, $script) = @_;
	return (analyst => 'Ana "L" :x') if $open eq 'analyst';
	return (people => 2000) if $open eq 'people';
	return ($open => 4) if $open =~ /_max_rows$/;
	return ($open => 'true') if $open =~ /_is_public$/;
	if ($open =~ /_unit$/)
	{
		my ($way) = $script =~ /^-- \\set \Q$open\E '(.*)'$/m or return ($open => 'person');
		return ($open => $way =~ s/''/'/gr =~ s/\\n/\n/gr =~ s/\\\\/\\/gr);
	}
	return map { ("${open}_$_->[0]" => $_->[1]) } grep { $script =~ /^-- \\set \Q$open\E_$_->[0]\b/m } ([ low => 0 ], [ high => 100 ]);
}

# Without each of its choices in turn the script fails and keeps nothing; with all of them it ends well.
sub walk
{
	my ($name, $call, $tables) = @_;
	my $script = drafted('statement', $call);
	my @open = split /\n/, drafted('open', $call);
	my %all = map { values_for($_, $script) } @open;
	my $before = kept();
	my @bad;
	for my $open (@open)
	{
		my %set = %all;
		delete @set{ keys %{ { values_for($open, $script) } } };
		my ($code, $out, $err) = run_script($script, %set);
		push @bad, "$open: $code $err" if $code != 3 || $err !~ /syntax error/ || kept() != $before;
	}
	is(join("\n", @bad), '', "$name: each of " . @open . ' choices stops the script, and nothing is kept');
	my ($code, $out, $err) = run_script($script, %all);
	is($code, 0, "$name: runs to its end") or diag($err);
	cmp_ok(kept() - $before, '==', 2 * $tables, "$name: a view and a policy for each table that leads to people");
	return ($script, \@open, $err);
}

# ---- a schema of keys alone, as most are ---------------------------------------------------------------------------

psql_as($node, 'postgres', 'controller', q{
	CREATE SCHEMA club;
	SET search_path = club;
	CREATE DOMAIN shift AS text CHECK (VALUE IN ('early', 'late'));
	CREATE TABLE court (court_id integer PRIMARY KEY, floor text);
	CREATE TABLE player (player_id integer PRIMARY KEY, sex text CHECK (sex = 'f' OR sex = 'm'), mail text UNIQUE, born date,
		weight numeric(5,1) CHECK (weight > 0), invited_by integer REFERENCES player);
	CREATE TABLE booking (booking_id bigint PRIMARY KEY, player_id integer REFERENCES player, court_id integer REFERENCES court,
		shift shift NOT NULL, fee numeric(8,2), minutes integer CHECK (minutes BETWEEN 10 AND 180), balls integer, towels integer);
	CREATE TABLE drink (id bigint PRIMARY KEY, booking_id bigint NOT NULL REFERENCES booking, price double precision);
	CREATE TABLE badge (player_id integer PRIMARY KEY REFERENCES player, issued timestamp, returned timestamptz);
	CREATE TABLE game (id bigint PRIMARY KEY, winner integer NOT NULL REFERENCES player, loser integer NOT NULL REFERENCES player);
	CREATE TABLE noticeboard (words text);
	GRANT USAGE ON SCHEMA club TO stranger;
});

# The table of the people is a choice as well, and the script that has it prints the next one.
my $first = drafted('statement', q{dp_draft('club')});
is(drafted('open', q{dp_draft('club')}), 'unit_table', 'the table of the people is open');
my ($code, $out, $err) = run_script($first);
ok($code == 3 && $err =~ /syntax error/, 'and the script stops there');
($code, $out, $err) = run_script($first, unit_table => 'club.player');
is("$code\n$out", "0\n" . drafted('statement', q{dp_draft('club', 'club.player')}), 'with it, it is the whole draft');

my $call = q{dp_draft('club', 'club.player', preset => 'careful')};
my $before = drafted('statement', $call) . drafted('statement', q{dp_draft('club')});
psql_as($node, 'postgres', 'controller', q{
	INSERT INTO club.player SELECT i FROM generate_series(1, 3000) i;
	INSERT INTO club.booking SELECT i, i % 1000, NULL, 'late', i, 10 FROM generate_series(1, 5000) i WHERE i % 1000 > 0;
	INSERT INTO club.noticeboard SELECT 'x' FROM generate_series(1, 9000);
	ANALYZE club.player, club.booking, club.noticeboard;
});
is(drafted('statement', $call) . drafted('statement', q{dp_draft('club')}), $before, 'no row and no statistic moves a draft');

my ($script, $open, $said) = walk('club', $call, 5);
my @other = $said =~ /of club\.(\w+) is one individual here: rows of others may tell/g;
is("@other", 'game', 'what is left out is not warned of');
is(join(' ', @$open), 'analyst people player_weight booking_max_rows booking_fee booking_balls game_unit game_max_rows drink_max_rows drink_price court_is_public',
	'what is open');
like($script, qr/'club.player', 'sex', '\{f,m,NULL\}'/, 'groups by CHECK, and NULL where there may be one');
like($script, qr/'club.booking', 'shift', '\{early,late\}'/, 'groups by a domain');
like($script, qr/'club.booking', 'minutes', '10'::text, '180'::text/, 'bounds by CHECK');
like($script, qr/bounds of issued \(timestamp without time zone\), returned \(timestamp with time zone\)/, 'moments may have bounds');
like($script, qr/left out: mail is unique, invited_by may name another person/, 'what names people is left out');
like($script, qr/a row whose player_id is NULL is nobody's/, 'a step that may be NULL is marked');
like($script, qr/left out: club.noticeboard\. No foreign key/, 'a table without a way is left out');
is($node->safe_psql('postgres', q{SELECT bound, epsilon_total, delta_conversion FROM dp_rdr.privacy_domain WHERE unit_table = 'club.player'::regclass}),
	'zcdp|1|0.000001', 'the totals are those of the preset');
like($node->safe_psql('postgres', q{SET ROLE "Ana ""L"" :x"; SELECT count(*) FROM club_dp.drink JOIN club_dp.booking USING (booking_id)
	JOIN club.court USING (court_id)}), qr/^-?\d+$/, 'an analyst asks at once, public tables as well');
# xmax of a row that a foreign key refers to shows who refers to it: columns alone are granted.
is($node->safe_psql('postgres', q{SELECT has_table_privilege(r.oid, 'club.court', 'SELECT'), bool_and(has_column_privilege(r.oid, 'club.court', attnum, 'SELECT'))
	FROM pg_roles r, pg_attribute WHERE rolname = 'Ana "L" :x' AND attrelid = 'club.court'::regclass AND attnum > 0 AND NOT attisdropped GROUP BY r.oid}), 'f|t',
	'by their columns alone');

# The page for an officer is about the people, whichever of their tables is named.
my %page = map { $_ => psql_as($node, 'postgres', 'controller', "SELECT dp_report('$_')") } 'club.badge', 'club_dp.drink';
my %summary = map { $_ => $page{$_} =~ /id="summary"(.*?)<\/section>/s ? $1 : die 'no summary' } keys %page;
is($summary{'club.badge'}, $summary{'club_dp.drink'}, 'an officer reads the same of each table');
like($summary{'club.badge'}, qr/about 2000 people, whom club\.player names; .* in club\.badge, club\.booking, club\.drink, club\.game, club\.player\./,
	'whose data they are');
like($summary{'club.badge'}, qr/from 3\.93 to 23\.2 of 100, but for a probability of 0\.000001/, 'what somebody may come to believe');
like($summary{'club.badge'}, qr/recognises at most 2;/, 'how many are recognised');
like($page{'club.badge'}, qr/<td data-label="table">.{0,30}club\.drink</, 'and the settings are those of all tables');

# Again, now that all is there.
like(drafted('statement', $call), qr/club.booking \(is protected already\)/, 'what is protected stays');
unlike(drafted('statement', $call), qr/dp_protect\('club/, 'and is not protected twice');
unlike(drafted('statement', $call), qr/dp_set_odometer|dp_set_people|set people/, 'no total is set again');
like(drafted('statement', $call), qr/-- the totals of club\.player and the number of people stay/, 'which is said');

# ---- names, and tables of every kind -------------------------------------------------------------------------------

psql_as($node, 'postgres', 'controller', <<'SQL');
	CREATE SCHEMA "s:x ""y"" 'z' \q";
	SET search_path = "s:x ""y"" 'z' \q";
	CREATE TABLE "p:""1
DROP TABLE victim; --" ("k:1" integer, "k'2\" text, "v
'; DROP TABLE victim; --" integer CHECK ("v
'; DROP TABLE victim; --" >= 0), "g{,}" text CHECK ("g{,}" IN ('a''b', 'c\d', ':x', E'e\nf', '"', 'NULL', '')), PRIMARY KEY ("k:1", "k'2\"));
	COMMENT ON TABLE "p:""1
DROP TABLE victim; --" IS E'a\nDROP TABLE victim;\r\\! touch /tmp/never';
	CREATE TABLE victim (x integer);
	CREATE TABLE "T 1" (a integer, b text, "V" numeric, FOREIGN KEY (a, b) REFERENCES "p:""1
DROP TABLE victim; --");
	CREATE TABLE "t_1" (a integer, b text, "V" numeric, "v" numeric, c integer, d text, FOREIGN KEY (a, b) REFERENCES "p:""1
DROP TABLE victim; --", FOREIGN KEY (c, d) REFERENCES "p:""1
DROP TABLE victim; --");
	-- A circle, a step to oneself, parts, children, and what is neither table nor key.
	ALTER TABLE "t_1" ADD id integer PRIMARY KEY, ADD up integer REFERENCES "t_1", ADD loop integer;
	CREATE TABLE circle (id integer PRIMARY KEY, back integer REFERENCES "t_1");
	ALTER TABLE "t_1" ADD FOREIGN KEY (loop) REFERENCES circle;
	CREATE TABLE split (id integer, back integer REFERENCES circle, PRIMARY KEY (id)) PARTITION BY RANGE (id);
	CREATE TABLE split1 PARTITION OF split FOR VALUES FROM (0) TO (9);
	CREATE TABLE heir () INHERITS (circle);
	CREATE TABLE other_type (back bigint REFERENCES "t_1");
	CREATE TABLE forced (back integer REFERENCES "t_1");
	ALTER TABLE forced FORCE ROW LEVEL SECURITY;
	CREATE VIEW shown AS SELECT * FROM circle;
	CREATE FOREIGN TABLE away (x integer) SERVER nowhere;
SQL
my $evil = q{dp_draft('"s:x ""y"" ''z'' \q"', $$"s:x ""y"" 'z' \q"."p:""1
DROP TABLE victim; --"$$, 2000, 'trusted')};
($script) = walk('names', $evil, 4);
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname = 'victim'}), 1, 'no name is a statement');
like($script, qr/'t_1__1_max_rows|:t_1__1_max_rows/, 'variables of names that are written alike have numbers');
like($script, qr/left out: \S.*other_type\. Its foreign key leads to people, but/, 'columns of other types lead nowhere');
like($script, qr/left out: \S.*forced\. .*FORCE ROW LEVEL SECURITY/, 'what cannot be protected says why');
like($script, qr/left out: \S.*split\. Its foreign key leads to people, but/, 'a way through a table with children is none');
like($script, qr/left out: \S.*away\. It is a foreign table/, 'foreign tables are left out');
unlike($script, qr/\bheir|split1/, 'parts go with their parents');

# ---- no key that names a person ------------------------------------------------------------------------------------

psql_as($node, 'postgres', 'controller', q{
	CREATE SCHEMA lone;
	CREATE FUNCTION lone.most() RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $f$ BEGIN RAISE 'code of the owner ran'; END $f$;
	CREATE DOMAIN lone.cost AS integer CHECK (VALUE < lone.most());
	CREATE TABLE lone.visit (person text, clinic text, cost lone.cost);
});
($script, $open) = walk('lone', q{dp_draft('lone', 'lone.visit')}, 1);
is(join(' ', @$open), 'analyst people visit_unit visit_max_rows visit_cost', 'the column of the people is open');

# ---- fifty tables --------------------------------------------------------------------------------------------------

my $tables = 'CREATE SCHEMA many; SET search_path = many; CREATE TABLE person (id bigint PRIMARY KEY, a real, b real, c real, d real, e real);';
$tables .= "CREATE TABLE code$_ (id integer PRIMARY KEY, label text);" for 0 .. 14;
my @led = ('person');
for my $i (0 .. 33)
{
	my ($to, $also, $code) = ($led[ $i * 7 % @led ], $led[ $i * 5 % @led ], $i % 15);
	$tables .= "CREATE TABLE t$i (id bigint PRIMARY KEY, p bigint REFERENCES $to, q bigint REFERENCES $also, code integer REFERENCES code$code,
		amount numeric(8,2), score integer, hours real, kind text CHECK (kind IN ('a', 'b')));";
	push @led, "t$i" if $i < 20;
}
psql_as($node, 'postgres', 'controller', $tables);
my $many = q{dp_draft('many', 'many.person', 9000)};
my $start = time;
$script = drafted('statement', $many);
my @many = split /\n/, drafted('open', $many);
my %of_table;
$of_table{ $_ =~ s/_.*//r }++ for @many;
is((sort { $b <=> $a } values %of_table)[0], 3, 'no table has more than three choices');
($code, $out, $err) = run_script($script, map { values_for($_, $script) } @many);
is($code, 0, 'fifty tables run to the end') or diag($err);
note('drafted and run in ', time - $start, ' s (target: 5)');

# ---- who may -------------------------------------------------------------------------------------------------------

sub refused
{
	my ($role, $query) = @_;
	my ($rc, $stdout, $stderr) = $node->psql('postgres', "\\set VERBOSITY verbose\n$query", extra_params => [ '-U', $role ]);
	return $stderr =~ /ERROR:  (\w+): (.*)/ ? "$1 $2" : $stdout;
}
is(refused('stranger', q{SELECT FROM dp_draft('club', 'club.player')}), '42501 must be owner of club.player', 'who does not own the table is told');
is(refused('stranger', q{SELECT FROM dp_draft('club')}), '42501 none of the tables of schema club is yours', 'or the schema');
is(refused('controller', q{SELECT FROM dp_draft('club', preset => 'bold')}), '22023 preset "bold" does not exist', 'presets have names');
is(refused('controller', q{SELECT FROM dp_draft('club', people => 0)}), '22023 people is 0, and must be at least 1', 'people are some');
is(refused('controller', q{SELECT FROM dp_draft('names', 'club_dp.player')}), '3F000 schema "names" does not exist', 'schemas are there');
is(refused('controller', q{SELECT FROM dp_draft('club', 'club_dp.player')}),
	'55000 club_dp.player cannot be protected: it is not a table', 'the people are in a table');

done_testing();
