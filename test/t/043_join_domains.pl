# Domains are joined while analysts ask in both: no charge is lost, and nobody waits in a ring. A join that is cut off has joined nothing, one
# that was told of stands after a crash; so does what it has carried after a dump and a restore.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('joins', 'fsync = on');
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(controller analyst second);
$node->safe_psql('postgres', 'CREATE DATABASE data');
$node->safe_psql('data', q{CREATE EXTENSION dp_rdr; GRANT CREATE ON SCHEMA public TO controller});

# A table of the same hundred people, protected apart.
sub protect_apart
{
	my ($database, $total, @names) = @_;
	psql_as($node, $database, 'controller', qq{
		CREATE TABLE $_ (id integer PRIMARY KEY, v integer);
		INSERT INTO $_ SELECT i, i % 7 FROM generate_series(1, 100) i;
		SELECT dp_protect('$_', '${_}_dp', unit => 'id -> $_');
		SELECT dp_set_odometer('$_', epsilon_total => $total);
		SELECT dp_grant('${_}_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}');}) for @names;
	return;
}

sub joins
{
	my ($database, $from, $into) = @_;
	return sqlstate($node, $database, 'controller', "SELECT dp_join_domains('$from', '$into')");
}

sub domains
{
	my ($database, @names) = @_;
	my $list = join ',', map { "'$_'::regclass" } @names;
	return $node->safe_psql($database, "SELECT count(DISTINCT domain) FROM dp_rdr.protected_table WHERE relation IN ($list)");
}

# ---- asked while it is joined -----------------------------------------------------------------------------------------

# Rings of joins, in both orders of the ids, while four sessions ask over all tables and count their answers.
my @tables = qw(one two three four);
protect_apart('data', 100, @tables);
$node->safe_psql('data', 'CREATE TABLE answers (n integer); GRANT INSERT ON answers TO analyst');
my $script = q{DO $$ DECLARE answered integer := 0; BEGIN
	FOR i IN 1 .. 60 LOOP
		BEGIN
			PERFORM * FROM dp_query(format('SELECT count(*) FROM %I', (ARRAY['one_dp', 'two_dp', 'three_dp', 'four_dp'])[1 + (i + :n) % 4])) AS (n bigint);
			answered := answered + 1;
		EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL; END;
	END LOOP;
	INSERT INTO answers VALUES (answered); END $$};
my @runs = map {
	my %run = (text => $script =~ s/:n/$_/r, said => '', out => '');
	$run{process} = IPC::Run::start([ 'psql', '-X', '-q', '-U', 'analyst', '-d', $node->connstr('data'), '-c', $run{text} ],
		'<', \undef, '>', \$run{out}, '2>', \$run{said});
	\%run
} 1 .. 4;
my %states;
for my $pair ([ 'one', 'two' ], [ 'four', 'three' ], [ 'three', 'one' ])
{
	for (1 .. 50) # a charge may hold an odometer
	{
		my $state = joins('data', @$pair);
		$states{$state}++;
		last if $state eq '';
	}
}
for my $run (@runs)
{
	$run->{process}->finish;
	is($run->{said}, '', 'a session has asked to its end');
}
is($states{''}, 3, 'three joins were done');
is(join(',', grep { !/^(?:|55000|55P03)$/ } keys %states), '', 'and none failed but for what was changing');
is(domains('data', @tables), 1, 'all tables have one domain');
my $answers = $node->safe_psql('data', 'SELECT sum(n) FROM answers');
cmp_ok($answers, '>', 100, 'many questions were answered');
my $charged = $node->safe_psql('data', q{SELECT count(*) FROM dp_rdr.ledger_row WHERE kind = 'pure'});
cmp_ok($charged, '>=', $answers, 'no answer without a charge');
is($node->safe_psql('data', q{SELECT epsilon FROM dp_odometer('four') WHERE account = 'public'}) + 0, $charged / 10, 'and no charge was lost');
is($node->safe_psql('data', qq{SELECT dp_verify_ledger('$tables[0]')}), 't', 'the chains are whole');
is($node->safe_psql('data', q{SELECT count(*) FROM dp_rdr.ledger_row l JOIN dp_rdr.privacy_domain d ON d.id = l.table_id
	WHERE d.joined_into IS NOT NULL AND l.id > (SELECT min(id) FROM dp_rdr.ledger_row j WHERE j.table_id = d.id AND j.parameters ? 'into')}), 0,
	'nothing was charged behind the end of a chain');

# ---- what waits for it ------------------------------------------------------------------------------------------------

protect_apart('data', 5, qw(left_one right_one));
ask($node, 'data', q{SELECT * FROM dp_query('SELECT count(*) FROM left_one_dp') AS (n bigint)});

# Held where the tables move, with all its locks.
my $holder = $node->background_psql('data');
my $joiner = $node->background_psql('data', on_error_stop => 0, extra_params => [ '-U', 'controller' ]);
my $setter = $node->background_psql('data', on_error_stop => 0, extra_params => [ '-U', 'controller' ]);
$joiner->query_safe('SET client_min_messages = warning');
$holder->query_safe('BEGIN; LOCK TABLE dp_rdr.protected_table IN SHARE MODE');
$joiner->query_until(qr/begun/, "\\echo begun\nSELECT dp_join_domains('left_one', 'right_one');\n\\echo ended\n");
my $blocked = q{SELECT count(*) > 0 FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE l.relation = 'dp_rdr.protected_table'::regclass AND NOT l.granted};
ok($node->poll_query_until('data', $blocked), 'the join is under way');
$setter->query_until(qr/begun/, "\\echo begun\nSELECT dp_set_odometer('left_one', epsilon_total => 50);\n\\echo ended\n");
ok($node->poll_query_until('data', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ 'dp_set_odometer' AND wait_event_type = 'Lock' AND usename = 'controller'}),
	'somebody who sets a total waits for it');
$holder->query_safe('COMMIT');
$joiner->query_until(qr/ended/, '');
$setter->query_until(qr/ended/, '');
is(domains('data', qw(left_one right_one)), 1, 'it is done');
like($setter->{stderr}, qr/being changed by another call/, 'who has waited is told to look again');
is($node->safe_psql('data', q{SELECT DISTINCT epsilon_total FROM dp_odometer('left_one')}), '5', 'and has set nothing');

# What was looked at before the locks is looked at again under them.
protect_apart('data', 5, qw(other_one other_two));
$setter->{stderr} = '';
$setter->query_safe('SET client_min_messages = warning');
$setter->query_safe(q{BEGIN; SELECT dp_set_odometer('other_two', bound => 'zcdp', delta_total => 0.00001)});
$joiner->{stderr} = '';
my $tries = $node->safe_psql('data', 'SELECT coalesce(sum(commits), 0) FROM dp_rdr.keepers()');
$joiner->query_until(qr/begun/, "\\echo begun\nSELECT dp_join_domains('other_one', 'other_two');\n\\echo ended\n");
$node->poll_query_until('data', "SELECT sum(commits) > $tries FROM dp_rdr.keepers()") or die 'it is not tried';
$setter->query_safe('COMMIT');
$joiner->query_until(qr/ended/, '');
like($joiner->{stderr}, qr/are being changed/, 'another rule was set meanwhile');
is(domains('data', qw(other_one other_two)), 2, 'and nothing is joined');

# The process that does it is ended: nothing is joined, and it can be done again.
protect_apart('data', 5, qw(cut_one cut_two));
ask($node, 'data', q{SELECT * FROM dp_query('SELECT count(*) FROM cut_one_dp') AS (n bigint)});
$holder->query_safe('BEGIN; LOCK TABLE dp_rdr.protected_table IN SHARE MODE');
$joiner->{stderr} = '';
$joiner->query_until(qr/begun/, "\\echo begun\nSELECT dp_join_domains('cut_one', 'cut_two');\n\\echo ended\n");
ok($node->poll_query_until('data', $blocked), 'another join is under way');
$node->safe_psql('data', q{SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.relation = 'dp_rdr.protected_table'::regclass AND NOT l.granted});
$joiner->query_until(qr/ended/, '');
$holder->query_safe('COMMIT');
like($joiner->{stderr}, qr/not known whether|no background worker|has ended/, 'its caller is told');
is(domains('data', qw(cut_one cut_two)), 2, 'nothing is joined');
is($node->safe_psql('data', q{SELECT count(*) FROM dp_rdr.ledger_row l JOIN dp_rdr.protected_table t ON t.domain = l.table_id
	WHERE t.relation IN ('cut_one'::regclass, 'cut_two'::regclass) AND l.kind = 'join'}), 0, 'nor written');
is(joins('data', 'cut_one', 'cut_two'), '', 'it is joined when it is asked for again');
$_->quit for $holder, $joiner, $setter;

# ---- a crash ----------------------------------------------------------------------------------------------------------

protect_apart('data', 0.2, qw(crash_one crash_two));
ask($node, 'data', qq{SELECT * FROM dp_query('SELECT count(*) FROM ${_}_dp') AS (n bigint)}) for qw(crash_one crash_two);
is(joins('data', 'crash_one', 'crash_two'), '', 'joined');
$node->stop('immediate');
$node->start;
is(domains('data', qw(crash_one crash_two)), 1, 'it stands after a crash');
is(account($node, 'data', 'crash_one'), '2|0.2', 'with what was spent');
is(sqlstate($node, 'data', 'analyst', q{SELECT * FROM dp_query('SELECT count(*) FROM crash_one_dp') AS (n bigint)}), '53400', 'to the end');

# ---- requests ---------------------------------------------------------------------------------------------------------

protect_apart('data', 5, qw(asked_one asked_two));
psql_as($node, 'data', 'controller', q{SELECT dp_grant('asked_one_dp', 'second', 0, epsilon_max => 0.1, candidates => '{0.1}', on_request => true)});
my $request = psql_as($node, 'data', 'second', q{SELECT dp_request('SELECT count(*) FROM asked_one_dp', 'to know', epsilon => 0.1)});
my $withdrawn = psql_as($node, 'data', 'second', q{SELECT dp_request('SELECT count(*) FROM asked_one_dp', 'to know more', epsilon => 0.1)});
my $asker = $node->background_psql('data', extra_params => [ '-U', 'second' ]);
$asker->query_safe("BEGIN; SELECT dp_reject($withdrawn)");
is(joins('data', 'asked_one', 'asked_two'), '', 'joined with a request that is pending');
$asker->query_safe('ROLLBACK');
$asker->quit;
is(psql_as($node, 'data', 'controller', q{SELECT count(*) FROM dp_requests()}), 2, 'and with one that its requester held');
psql_as($node, 'data', 'controller', "SELECT dp_approve($request, basis => 'public')");
is(account($node, 'data', 'asked_two'), '1|0.1', 'its answer is charged to the domain of both');
psql_as($node, 'data', 'controller', "SELECT dp_approve($withdrawn, basis => 'public')");
is(account($node, 'data', 'asked_two'), '2|0.2', 'so is the other one');
isnt(psql_as($node, 'data', 'second', "SELECT dp_answer($request)"), '', 'and fetched');
is(psql_as($node, 'data', 'controller', q{SELECT count(*) FROM dp_requests('answered')}), 2, 'its owner sees both');

# ---- under other rules --------------------------------------------------------------------------------------------------

# What was joined and has another rule since is set up anew by its settings: a domain that was told of nothing joins under any.
my %rules = (
	zcdp => q{bound => 'zcdp', epsilon_total => 2, delta_total => 0.00001},
	dynamic => q{bound => 'dynamic', epsilon_total => 3},
	period => q{epsilon_total => 1, delta_total => 0.00001, period => 'month', epsilon_lifetime => 12, delta_lifetime => 0.0001},
	profile => q{profile => dp_profile('constant', relative => 3)});
$node->safe_psql('postgres', 'CREATE DATABASE anew');
$node->safe_psql('anew', q{CREATE EXTENSION dp_rdr; GRANT CREATE ON SCHEMA public TO controller});

sub settings_of
{
	my ($database, $table) = @_;
	return psql_as($node, $database, 'controller', qq{SELECT item, name, value, call FROM dp_settings('$table')
		WHERE item NOT IN ('reads rows', 'ledger') AND name !~ '(used|left|_percent|releases|denials|period end)'});
}

for my $rule (sort keys %rules)
{
	my ($from, $into) = ("${rule}_from", "${rule}_into");
	protect_apart('data', 1, $from, $into);
	psql_as($node, 'data', 'controller', qq{SELECT dp_set_bounds('$from', 'v', 0, 7), dp_set_groups('$into', 'v', '{0,1,2,3,4,5,6}')});
	ask($node, 'data', qq{SELECT * FROM dp_query('SELECT count(*) FROM ${_}_dp') AS (n bigint)}) for $from, $into;
	is(joins('data', $from, $into), '', "$rule: joined under the bound filter");
	psql_as($node, 'data', 'controller', qq{SELECT dp_set_odometer('$into', $rules{$rule})});
	psql_as($node, 'data', 'controller', qq{SELECT dp_grant('${into}_dp', 'second', 0, profile => dp_profile('constant', relative => 2))}) if $rule eq 'profile';
	my $calls = join "\n", map { psql_as($node, 'data', 'controller', qq{SELECT call FROM dp_settings('$_') WHERE call IS NOT NULL}) } $into, $from;
	psql_as($node, 'anew', 'controller', "CREATE TABLE $_ (id integer PRIMARY KEY, v integer)") for $from, $into;
	is(sqlstate($node, 'anew', 'controller', $calls), '', "$rule: set up anew");
	is(domains('anew', $from, $into), 1, "$rule: with one domain");
	is(settings_of('anew', $_), settings_of('data', $_), "$rule: as it is set, $_") for $from, $into;
	ask($node, 'anew', qq{SELECT * FROM dp_query('SELECT count(*) FROM $from f JOIN $into i USING (id)') AS (n bigint)} =~ s/(${rule}_\w+) /$1_dp /gr);
	is($node->safe_psql('anew', qq{SELECT dp_verify_ledger('$into')}), 't', "$rule: whole");
}

# Whoever has a policy may have been told of something by the time that it is joined; and a denial may have been decided in sight of the rows.
psql_as($node, 'anew', 'controller', q{
	CREATE TABLE late (id integer PRIMARY KEY, v integer);
	SELECT dp_protect('late', 'late_dp', unit => 'id -> late'), dp_set_odometer('late', epsilon_total => 0.01);
	SELECT dp_grant('late_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}')});
is(joins('anew', 'late', 'zcdp_into'), '55000', 'a domain with a policy joins under its own rule alone');
is(sqlstate($node, 'anew', 'analyst', q{SELECT * FROM dp_query('SELECT count(*) FROM late_dp') AS (n bigint)}), '53400', 'somebody is denied');
psql_as($node, 'anew', 'controller', q{SELECT dp_revoke('late_dp', 'analyst')});
is(joins('anew', 'late', 'zcdp_into'), '55000', 'so does one with a denial');

# ---- dump and restore -------------------------------------------------------------------------------------------------

my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'data' ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->safe_psql('copy', 'CREATE TABLE moves_the_oids (a integer); DROP TABLE moves_the_oids');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'copy', $dump ], 'pg_restore');
my %facts = (
	'ledger' => q{SELECT string_agg(r::text, E'\n' ORDER BY id) FROM dp_rdr.ledger_row r},
	'odometers' => q{SELECT string_agg(o::text, E'\n' ORDER BY o::text) FROM dp_rdr.odometer o},
	'shares' => q{SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM dp_rdr.odometer_share s},
	'domains' => q{SELECT string_agg(d::text, E'\n' ORDER BY d::text) FROM dp_rdr.privacy_domain d});
is($node->safe_psql('copy', $facts{$_}), $node->safe_psql('data', $facts{$_}), "$_: the same after the restore") for sort keys %facts;
is($node->safe_psql('copy', qq{SELECT dp_verify_ledger('$_')}), 't', "$_: whole") for qw(one right_one cut_two crash_one asked_two);
is(psql_as($node, 'copy', 'controller', q{SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.crash_one'}), 2, 'its owner sees both chains');
is(sqlstate($node, 'copy', 'controller', qq{SELECT dp_set_unit('$_', 'id -> $_')}), '55000', "$_ stays") for qw(one crash_one crash_two);
is($node->safe_psql('copy', q{SELECT count(*) FROM dp_audit() WHERE finding ~ 'ledger is not whole'}), 0, 'nothing for dp_audit');

# Without the totals: they follow from the rows of both chains.
$node->safe_psql('copy', 'DELETE FROM dp_rdr.odometer; DELETE FROM dp_rdr.odometer_share');
psql_as($node, 'copy', 'controller', q{SELECT dp_protect('crash_one', 'crash_again_dp')});
is(account($node, 'copy', 'crash_two'), '2|0.2', 'totals that were lost are rebuilt');
is($node->safe_psql('copy', q{SELECT dp_verify_ledger('crash_two')}), 't', 'and whole');

# Without the domains: a table does not begin anew.
$node->safe_psql('copy', 'DELETE FROM dp_rdr.privacy_domain; DELETE FROM dp_rdr.protected_table; DELETE FROM dp_rdr.restricted_view');
psql_as($node, 'copy', 'controller', 'DROP VIEW crash_one_dp');
$node->safe_psql('copy', q{SELECT dp_protect('crash_one', 'crash_one_dp', unit => 'id -> crash_one')}); # nobody knows whose totals they were
is(sqlstate($node, 'copy', 'controller', q{SELECT dp_grant('crash_one_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}')}), '', 'protected again');
is(sqlstate($node, 'copy', 'analyst', q{SELECT * FROM dp_query('SELECT count(*) FROM crash_one_dp') AS (n bigint)}), '53400',
	'totals of which nobody knows what they count are closed');

$node->stop;
done_testing();
