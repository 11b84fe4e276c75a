# ALTER EXTENSION dp_rdr UPDATE: what was declared, spent and written stays; what comes out is, object by object, what a fresh
# installation has; and until it is done every use says which version is missing, and nothing else is stopped.
#
# The older version is made up: test/update/older.sql takes away from this one, test/update/newer.sql is the upgrade. No
# installation has the two but a copy that this file makes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = "$FindBin::Bin/../..";
my ($version) = slurp_file("$root/dp_rdr.control") =~ /^default_version = '(.*)'/m;
my $old = '0.1.99';

my ($programs, undef, $shared) = copied_installation();
system_or_bail('cp', "$root/test/update/older.sql", "$shared/extension/dp_rdr--$version--$old.sql");
system_or_bail('cp', "$root/test/update/newer.sql", "$shared/extension/dp_rdr--$old--$version.sql");

my $node = new_server('update', '', install_path => $programs =~ s{/bin$}{}r);
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(controller analyst sharer chooser leaver reviewer);
$node->safe_psql('postgres', 'CREATE ROLE member LOGIN IN ROLE sharer');

# A database of its own; then statements, or a file, in it.
sub database
{
	my ($name, @statements) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, $_) for @statements;
	return $name;
}

sub load_file
{
	my ($database, $file) = @_;
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', $file ],
		"$database: a file is loaded");
	return;
}

# ---- what must stay -------------------------------------------------------------------------------------------------

# table -> its columns now, for the tables that are dumped.
sub kept_columns
{
	my ($database) = @_;
	return map { split /=/, $_, 2 } split /\n/, $node->safe_psql($database, q{
		SELECT a.attrelid::regclass || '=' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
		FROM pg_extension e JOIN pg_attribute a ON a.attrelid = ANY (e.extconfig) JOIN pg_class c ON c.oid = a.attrelid
		WHERE e.extname = 'dp_rdr' AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r' GROUP BY a.attrelid});
}

# table -> its rows in these columns, as one text.
sub contents
{
	my ($database, %columns) = @_;
	return map {
		$_ => $node->safe_psql($database, qq{
			SELECT string_agg(r::text, E'\\n' ORDER BY r::text) FROM (SELECT $columns{$_} FROM $_) r})
	} keys %columns;
}

# What each table would have lost if the update had lost it.
sub same_contents
{
	my ($before, $after, $name) = @_;
	for my $table (sort keys %$before)
	{
		isnt($before->{$table}, '', "$name: $table has rows");
		is($after->{$table}, $before->{$table}, "$name: and keeps them");
	}
	return;
}

# The tables of life.sql go on where they stood, with these totals of each account.
sub goes_on
{
	my ($database, $name, $public, $conditional) = @_;
	my $odd = q{"Odd schema"."Ta""ble"};
	ok($node->safe_psql($database, "SELECT dp_verify_ledger('people')") eq 't', "$name: the chain verifies");
	ok($node->safe_psql($database, "SELECT dp_verify_ledger('$odd')") eq 't', "$name: that of the other table, too");
	is(account($node, $database), $public, "$name: the totals are those of before");
	is(account($node, $database, 'people', 'conditional'), $conditional, "$name: of the other account, too");
	like(ask($node, $database), qr/^-?\d+$/, "$name: an analyst is answered");
	my ($releases, $epsilon) = split /\|/, $public;
	is(account($node, $database), join('|', $releases + 1, $epsilon + 0.05), "$name: and charged on top");
	ok($node->safe_psql($database, "SELECT dp_verify_ledger('people')") eq 't', "$name: the chain goes on from its head");
	is(sqlstate($node, $database, 'member', $COUNT), '53400', "$name: a share that was spent is spent");
	is(sqlstate($node, $database, 'leaver', $COUNT), '55000', "$name: who was suspended is suspended");
	is($node->safe_psql($database, q{SELECT DISTINCT bound, epsilon_total, delta_total FROM dp_odometer('people')}),
		'filter|3|0.00001', "$name: bound and totals are there");
	psql_as($node, $database, 'controller',
		q{SELECT dp_resume('people_dp', 'leaver'), dp_set_odometer('people', epsilon_total => 9)});
	like(psql_as($node, $database, 'leaver', $COUNT), qr/^-?\d+$/, "$name: until the controller resumes him");
	like(psql_as($node, $database, 'chooser', $COUNT), qr/^-?\d+$/, "$name: a policy with tau_var works");
	my $groups = q{SELECT * FROM dp_query('SELECT city, sum(pay) FROM people_dp GROUP BY city') AS (c text, s bigint)};
	is(ask($node, $database, $groups) =~ s/\|-?\d+$//mgr, "Oslo\nPisa\nRome", "$name: bounds and groups are there");
	like(ask($node, $database, q{SELECT * FROM dp_query('SELECT sum(pay) FROM "Odd schema"."Vi""ew"') AS (s numeric)}),
		qr/^-?[\d.]+$/, "$name: odd names are found");
	psql_as($node, $database, 'controller', q{SELECT dp_set_odometer('people', 'zcdp', 5, 1e-3)});
	like(ask($node, $database), qr/^-?\d+$/, "$name: totals in rho begin behind the old ones");
	ok($node->safe_psql($database, "SELECT dp_verify_ledger('people')") eq 't', "$name: and verify with them");
	return;
}

# ---- before the update ----------------------------------------------------------------------------------------------

# A call of every function and procedure that users have; NULL where it may be, else something of the type. The marks of
# intervals are never called: what rewrites a statement answers for them.
my $calls = q{
	SELECT CASE p.prokind WHEN 'p' THEN 'CALL ' ELSE 'SELECT ' END || p.oid::regproc || '('
		|| coalesce(string_agg(CASE WHEN NOT p.proisstrict THEN 'NULL' WHEN t.type = 'regclass'::regtype THEN '''people'''
			WHEN t.type = 'regrole'::regtype THEN '''analyst''' WHEN t.type = 'text'::regtype THEN '''x''' ELSE '1' END
			|| '::' || format_type(t.type, NULL), ', ' ORDER BY t.place), '') || ')'
	FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	LEFT JOIN unnest(p.proargtypes) WITH ORDINALITY t (type, place) ON true
	WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'p') AND p.probin = '$libdir/dp_rdr'
		AND p.prorettype <> 'anyelement'::regtype
	GROUP BY p.oid};

sub says_version
{
	my ($database, $role, $sql, $name) = @_;
	my (undef, undef, $error) = $node->psql($database, $sql, on_error_stop => 0,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	my $said = "ERROR:  55000: extension dp_rdr in this database is version $old, the library is $version\n"
		. 'HINT:  A superuser can run ALTER EXTENSION dp_rdr UPDATE in this database.';
	like($error, qr/\Q$said\E/, $name);
	return;
}

my $updated = database('updated');
load_file($updated, "$root/test/update/life.sql");
my @totals = map { account($node, $updated, 'people', $_) } qw(public conditional);
$node->safe_psql($updated, "ALTER EXTENSION dp_rdr UPDATE TO '$old'");
my %columns = kept_columns($updated);
my %before = contents($updated, %columns);

for my $call (split /\n/, $node->safe_psql($updated, $calls))
{
	says_version($updated, $node->safe_psql($updated, 'SELECT current_user'), $call, "refused before the update: $call");
}
my $plain = 'SELECT count(*) FROM people_dp';
says_version($updated, 'analyst', $COUNT, 'dp_query tells an analyst the same');
# The first loads the library and is refused by the view.
says_version($updated, 'analyst', "$plain; $plain", 'and so does a restricted view');
says_version($updated, 'analyst', "$plain; EXPLAIN $plain", 'and EXPLAIN of a query on it');
is(sqlstate($node, $updated, 'analyst', 'SELECT * FROM people_dp'), '42501', 'its rows are as private as ever');

# Other statements, dumps and the end of the extension have no need of the library.
$node->safe_psql($updated, q{LOAD 'dp_rdr'; SELECT count(*) FROM people; ANALYZE people;
	ALTER TABLE people ADD COLUMN x integer; ALTER TABLE people DROP COLUMN x; 
	CREATE VIEW asks AS SELECT count(*) FROM people_dp; DROP VIEW asks});
my $dump = $node->basedir . '/older.sql';
$node->command_ok([ 'pg_dump', '-d', $node->connstr($updated), '-f', $dump ], 'a database with the older version is dumped');
my $dropped = database('dropped', qq{CREATE EXTENSION dp_rdr VERSION '$old'});
$node->safe_psql($dropped, q{LOAD 'dp_rdr'; DROP EXTENSION dp_rdr});
pass('and the extension is dropped');

# ---- the update -----------------------------------------------------------------------------------------------------

# A session that was refused before asks again after it.
my $session = $node->background_psql($updated, on_error_stop => 0, extra_params => [ '-U', 'analyst' ]);
$session->query($COUNT);
like($session->{stderr}, qr/is version \Q$old\E/, 'a session is refused');
$session->{stderr} = '';
$node->safe_psql($updated, q{LOAD 'dp_rdr'; BEGIN; ALTER EXTENSION dp_rdr UPDATE; ROLLBACK});
$session->query($COUNT);
like($session->{stderr}, qr/is version \Q$old\E/, 'also after an update that was rolled back');
$node->safe_psql($updated, 'ALTER EXTENSION dp_rdr UPDATE');
same_contents(\%before, { contents($updated, %columns) }, 'update');
goes_on($updated, 'update', @totals);
like($session->query($COUNT), qr/^-?\d+$/, 'the session that was refused is answered');

# The other way round: the library of the session is older than the extension.
$node->safe_psql($updated, q{UPDATE pg_extension SET extversion = '99.10.0' WHERE extname = 'dp_rdr';
	CREATE FUNCTION heard() RETURNS integer LANGUAGE sql RETURN 1});
$session->{stderr} = '';
$session->query($COUNT);
like($session->{stderr}, qr/is version 99\.10\.0, the library is \Q$version\E\nHINT:  Reconnect/,
	'a session that has an older library hears of an update');
$session->quit;
$node->safe_psql($updated, qq{UPDATE pg_extension SET extversion = '$version' WHERE extname = 'dp_rdr'});

# The other way to a new version.
my $restored = database('restored', qq{CREATE EXTENSION dp_rdr VERSION '$old'});
load_file($restored, $dump);
$node->safe_psql($restored, 'ALTER EXTENSION dp_rdr UPDATE');
is($node->safe_psql($restored, q{SELECT extversion FROM pg_extension WHERE extname = 'dp_rdr'}), $version,
	'a dump of the older version is restored, and brought to this one');
same_contents(\%before, { contents($restored, %columns) }, 'restore');
goes_on($restored, 'restore', @totals);

# ---- the same as a fresh installation -------------------------------------------------------------------------------

my $shape_sql = slurp_file("$root/test/update/shape.sql");

# What the extension consists of, after statements that are undone.
sub shape
{
	my ($database, $changes) = @_;
	return split /\n/, $node->safe_psql($database, 'BEGIN;' . ($changes // '') . ";\n$shape_sql\nROLLBACK");
}

# Lines that only one of two lists has.
sub misfits
{
	my ($fresh, $other) = @_;
	my (%fresh, %other);
	@fresh{@$fresh} = ();
	@other{@$other} = ();
	return ((map { "only when fresh: $_" } grep { !exists $other{$_} } @$fresh),
		(map { "only when updated: $_" } grep { !exists $fresh{$_} } @$other));
}

my @fresh = shape(database('fresh', 'CREATE EXTENSION dp_rdr'));
cmp_ok(scalar(@fresh), '>', 1000, 'a fresh installation is described by many facts');
is_deeply([ grep { /^not described/ } @fresh ], [], 'of every kind of object that it has');
my $empty = database('empty', "CREATE EXTENSION dp_rdr VERSION '$old'");
isnt(scalar(misfits(\@fresh, [ shape($empty) ])), 0, 'the older version differs');
$node->safe_psql($empty, 'ALTER EXTENSION dp_rdr UPDATE');
is_deeply([ misfits(\@fresh, [ shape($empty) ]) ], [], 'an update of an empty database gives the same');
is_deeply([ misfits(\@fresh, [ shape($updated) ]) ], [], 'and so does one of a database in use');

# It would be seen if one of them had something that the other lacks.
my @changes = (
	q{ALTER FUNCTION dp_query(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer) STRICT},
	q{ALTER FUNCTION dp_query(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer) PARALLEL SAFE},
	q{ALTER FUNCTION dp_query(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer) SET search_path = 'x'},
	q{REVOKE EXECUTE ON FUNCTION dp_rdr.cells_combine(internal, internal) FROM CURRENT_USER},
	q{GRANT SELECT (view) ON dp_rdr.policy TO PUBLIC},
	q{ALTER TABLE dp_rdr.policy ADD COLUMN more integer},
	q{ALTER TABLE dp_rdr.policy ALTER COLUMN delta SET DEFAULT 0},
	q{ALTER TABLE dp_rdr.policy ALTER COLUMN delta DROP NOT NULL},
	q{ALTER TABLE dp_rdr.policy ADD CHECK (delta < 2)},
	q{CREATE INDEX ON dp_rdr.policy (delta)},
	q{ALTER TABLE dp_rdr.policy RENAME COLUMN delta TO delta_of_it},
	q{ALTER TABLE dp_rdr.column_groups DROP COLUMN column_name; ALTER TABLE dp_rdr.column_groups ADD COLUMN column_name text NOT NULL,
	  ADD PRIMARY KEY (relation, column_name)},
	q{ALTER VIEW dp_rdr.ledger SET (security_barrier)},
	q{COMMENT ON TABLE dp_rdr.policy IS 'another'},
	q{COMMENT ON COLUMN dp_rdr.policy.delta IS 'another'},
	q{CREATE FUNCTION dp_rdr.more() RETURNS integer LANGUAGE sql RETURN 1;
	  ALTER EXTENSION dp_rdr ADD FUNCTION dp_rdr.more()},
	q{CREATE TABLE dp_rdr.more (x integer); ALTER EXTENSION dp_rdr ADD TABLE dp_rdr.more},
	q{CREATE TYPE dp_rdr.more AS ENUM ('a'); ALTER EXTENSION dp_rdr ADD TYPE dp_rdr.more},
	q{ALTER EXTENSION dp_rdr DROP FUNCTION dp_rdr.cells_combine(internal, internal)},
	q{UPDATE pg_extension SET extcondition[1] = 'WHERE false' WHERE extname = 'dp_rdr'},
	q{ALTER SEQUENCE dp_rdr.ledger_row_id_seq CACHE 7},
	q{CREATE TRIGGER t BEFORE UPDATE ON dp_rdr.policy FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()},
	q{CREATE OPERATOR dp_rdr.<-> (FUNCTION = int4pl, LEFTARG = integer, RIGHTARG = integer);
	  ALTER EXTENSION dp_rdr ADD OPERATOR dp_rdr.<-> (integer, integer)});
for my $change (@changes)
{
	my @misfits = misfits(\@fresh, [ shape('fresh', $change) ]);
	isnt(scalar(@misfits), 0, "seen: $change");
}

# ---- symbols that versions share ------------------------------------------------------------------------------------

# The library serves the functions of an older script until the update is done. With other arguments than it expects a
# function must compare the versions before it reads one, which DP_CALL does and DP_FUNCTION, for each row, does not.
my %checked;
for my $file (glob("$root/src/*/*.cpp"))
{
	$checked{$_} = 1 for slurp_file($file) =~ /^DP_CALL\((\w+)\)/mg;
}
my $symbols = q{SELECT prosrc || '=' || oidvectortypes(proargtypes) || ' -> ' || prorettype::regtype
	|| CASE WHEN proretset THEN ' rows ' || coalesce(array_to_string(proallargtypes::regtype[], ','), '') ELSE '' END
	FROM pg_proc WHERE probin = '$libdir/dp_rdr' ORDER BY 1};
$node->safe_psql('postgres', 'CREATE DATABASE symbols');
$node->safe_psql('symbols', "CREATE EXTENSION dp_rdr VERSION '$old'");
my (%old, %new);
for my $line (split /\n/, $node->safe_psql('symbols', $symbols)) { my ($s, $a) = split /=/, $line, 2; $old{$s}{$a} = 1 }
for my $line (split /\n/, $node->safe_psql('fresh', $symbols))   { my ($s, $a) = split /=/, $line, 2; $new{$s}{$a} = 1 }
my @changed = grep { $new{$_} && join(';', sort keys %{ $old{$_} }) ne join(';', sort keys %{ $new{$_} }) } sort keys %old;
is_deeply(\@changed, ['dp_unset_public'], 'a function has other arguments than the older one behind its symbol');
is_deeply([ grep { !$checked{$_} } @changed ], [], 'and compares the versions before it reads one');

$node->stop;
done_testing();
