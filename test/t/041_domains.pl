# Domains: tables with data of the same people share one account, also when they are asked at the same time, and after
# a dump and a restore; and no table leaves its account while somebody asks.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('domains', '');
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(controller analyst sharer);
$node->safe_psql('postgres', 'CREATE ROLE member LOGIN IN ROLE sharer');

# ---- one total --------------------------------------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE data');
$node->safe_psql('data', q{CREATE EXTENSION dp_rdr; GRANT CREATE ON SCHEMA public TO controller});
psql_as($node, 'data', 'controller', q{
	CREATE TABLE patient (patient_id integer PRIMARY KEY, age integer);
	CREATE TABLE contact (patient_id integer PRIMARY KEY REFERENCES patient, city text);
	CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient);
	CREATE TABLE drug (visit_id integer NOT NULL REFERENCES visit);
	INSERT INTO patient SELECT i, i % 90 FROM generate_series(1, 100) i;
	INSERT INTO contact SELECT i, 'Oslo' FROM generate_series(1, 100) i;
	SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id');
	SELECT dp_protect('contact', 'contact_dp', unit => 'patient_id');
	SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id', max_rows => 20, max_groups => 4);
	SELECT dp_protect('drug', 'drug_dp', unit => 'visit_id', max_rows => 50);
	SELECT dp_set_odometer('drug', epsilon_total => 1);
	SELECT dp_grant(v::regclass, 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}') FROM unnest('{patient_dp,contact_dp}'::text[]) v;
	SELECT dp_grant('patient_dp', 'member', 0, epsilon_max => 0.3, candidates => '{0.3}');});

# Several sessions ask over two tables until each was denied.
my $script = q{DO $$ BEGIN
	FOR i IN 1 .. 20 LOOP
		BEGIN PERFORM * FROM dp_query(format('SELECT count(*) FROM %I', CASE (i + :n) % 2 WHEN 0 THEN 'patient_dp' ELSE 'contact_dp' END)) AS (n bigint);
		EXCEPTION WHEN configuration_limit_exceeded THEN NULL; END;
	END LOOP; END $$};
my @runs = map {
	my %run = (text => $script =~ s/:n/$_/r, said => '', out => '');
	$run{process} = IPC::Run::start([ 'psql', '-X', '-q', '-U', 'analyst', '-d', $node->connstr('data'), '-c', $run{text} ],
		'<', \undef, '>', \$run{out}, '2>', \$run{said});
	\%run
} 1 .. 4;
for my $run (@runs)
{
	$run->{process}->finish;
	is($run->{said}, '', 'a session has asked until it was denied');
}
is(account($node, 'data', $_), '10|1', "$_: ten answers, and no more, for all") for qw(patient contact visit drug);
is($node->safe_psql('data', q{SELECT count(DISTINCT relation), count(DISTINCT table_id), sum(epsilon) FROM dp_rdr.ledger_row}), '2|1|1.0',
	'over two tables, in one chain');
ok($node->safe_psql('data', "SELECT dp_verify_ledger('$_')") eq 't', "$_: which is whole") for qw(patient drug);
is(psql_as($node, 'data', 'controller', q{SELECT count(*), sum(epsilon) FROM dp_rdr.ledger}), '10|1.0', 'its owner sees each row once');
is(psql_as($node, 'data', 'controller', q{SELECT count(DISTINCT relation), sum(times) FROM dp_rdr.denials}), '2|70', 'and each denial');

# ---- leaving it -------------------------------------------------------------------------------------------------------

psql_as($node, 'data', 'controller', q{SELECT dp_set_odometer('patient', epsilon_total => 3)});
is(sqlstate($node, 'data', 'controller', qq{SELECT dp_set_unit('$_', NULL)}), '55000', "$_ stays") for qw(patient contact visit);
psql_as($node, 'data', 'controller', q{
	CREATE TABLE allergy (patient_id integer PRIMARY KEY REFERENCES patient);
	SELECT dp_protect('allergy', 'allergy_dp', unit => 'patient_id');
	SELECT dp_grant('allergy_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}');});
my $allergy = q{SELECT * FROM dp_query('SELECT count(*) FROM allergy_dp') AS (n bigint)};

# While it leaves nobody is answered; what was asked then was charged to nobody.
my $leaver = $node->background_psql('data', on_error_stop => 0, extra_params => [ '-U', 'controller' ]);
$leaver->query_safe('SET client_min_messages = warning');
$leaver->query_safe(q{BEGIN; SELECT dp_set_unit('allergy', NULL)});
is(sqlstate($node, 'data', 'analyst', $allergy), '55P03', 'a question waits for the table to leave, and gives up');
is(account($node, 'data', 'patient'), '10|1', 'nothing was charged');
$leaver->query_safe('ROLLBACK');
ask($node, 'data', $allergy);
is(account($node, 'data', 'patient'), '11|1.1', 'it has stayed');

# A charge that a transaction's old snapshot does not show counts all the same.
psql_as($node, 'data', 'controller', q{
	CREATE TABLE recipe (patient_id integer PRIMARY KEY REFERENCES patient);
	SELECT dp_protect('recipe', 'recipe_dp', unit => 'patient_id');
	SELECT dp_grant('recipe_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}');});
$leaver->query_safe(q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class});
ask($node, 'data', q{SELECT * FROM dp_query('SELECT count(*) FROM recipe_dp') AS (n bigint)});
$leaver->{stderr} = '';
$leaver->query(q{SELECT dp_set_unit('recipe', NULL)});
like($leaver->{stderr}, qr/could not serialize|stays/, 'an old snapshot does not let a table leave');
$leaver->query('ROLLBACK');
$leaver->quit;
is($node->safe_psql('data', q{SELECT count(DISTINCT domain) FROM dp_rdr.protected_table}), 1, 'all are where they were');

# ---- dump and restore -------------------------------------------------------------------------------------------------

# Public tables, one of which is gone.
psql_as($node, 'data', 'controller', q{
	CREATE TABLE drug_name (drug integer PRIMARY KEY, name text);
	CREATE TABLE drug_shape (drug integer PRIMARY KEY);
	SELECT dp_set_public('drug_name', 'drug'), dp_set_public('drug_shape', 'patient');
	DROP TABLE drug_shape; SELECT dp_set_people('patient', 4000), dp_set_total('visit', 'patient_id * 2', 12.5);});

# A table of the domain is gone when the dump is taken, and comes back afterwards.
psql_as($node, 'data', 'controller', 'DROP VIEW allergy_dp; DROP TABLE allergy');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'data' ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->safe_psql('copy', 'CREATE TABLE moves_the_oids (a integer); DROP TABLE moves_the_oids');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'copy', $dump ], 'pg_restore');
my %facts = (
	'ledger' => q{SELECT string_agg(r::text, E'\n' ORDER BY id) FROM dp_rdr.ledger_row r},
	'odometer' => q{SELECT string_agg(o::text, E'\n') FROM dp_rdr.odometer o},
	'domains' => q{SELECT string_agg(d::text, E'\n' ORDER BY d::text) FROM dp_rdr.privacy_domain d},
	'tables' => q{SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dp_rdr.protected_table t JOIN pg_class c ON c.oid = t.relation},
	'totals of units' => q{SELECT string_agg(l::text, E'\n') FROM dp_rdr.unit_limit l},
	'public' => q{SELECT string_agg(p::text, E'\n') FROM dp_rdr.public_table p JOIN pg_class c ON c.oid = p.relation},
	'ways' => q{SELECT string_agg(d::text, E'\n' ORDER BY d::text) FROM dp_domain('patient') d});
is($node->safe_psql('copy', $facts{$_}), $node->safe_psql('data', $facts{$_}), "$_: the same after the restore") for sort keys %facts;
ok($node->safe_psql('copy', q{SELECT dp_verify_ledger('visit')}) eq 't', 'the chain is whole');
is($node->safe_psql('copy', q{SELECT value FROM dp_settings('visit') WHERE item = 'people' AND name = 'about'}), '4000', 'and so is the number of people');
is($node->safe_psql('copy', q{SELECT DISTINCT public FROM dp_domain('visit')}), '{drug_name}', 'a public table is public');
is($node->safe_psql('copy', 'SELECT count(*), count(*) FILTER (WHERE relation::oid >= 4026531840::oid) FROM dp_rdr.public_table'), '2|1',
	'and one that is gone has a number that no table gets');
my $spent = account($node, 'copy', 'patient');
psql_as($node, 'copy', 'controller', 'CREATE TABLE allergy (patient_id integer PRIMARY KEY)');
is(sqlstate($node, 'copy', 'controller', q{SELECT dp_protect('allergy', 'allergy_dp')}), '55000', 'the table that was gone does not begin anew');
is(sqlstate($node, 'copy', 'controller', q{SELECT dp_protect('allergy', 'allergy_dp', unit => 'patient_id -> allergy')}), '',
	'it comes back with its unit');
is(account($node, 'copy', 'allergy'), $spent, 'to its account');
is(sqlstate($node, 'copy', 'controller', qq{SELECT dp_set_unit('$_', NULL)}), '55000', "$_ stays") for qw(patient contact allergy);

# Only tables and views are restored: the domain is rebuilt from what its ledger knows, or closed.
$node->safe_psql('copy', 'DELETE FROM dp_rdr.odometer; DELETE FROM dp_rdr.odometer_share');
psql_as($node, 'copy', 'controller', q{SELECT dp_protect('visit', 'visit_again_dp')});
is(account($node, 'copy', 'patient'), $spent, 'totals that were lost are rebuilt, whichever table is protected again');
is($node->safe_psql('copy', q{SELECT DISTINCT epsilon_total = epsilon FROM dp_odometer('contact') WHERE account = 'public'}), 't',
	'and closed at what was spent');

# What was told through a table that nobody asked about is told of its units.
psql_as($node, 'data', 'controller', q{SELECT dp_grant('drug_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}')});
ask($node, 'data', q{SELECT * FROM dp_query('SELECT count(*) FROM drug_dp') AS (n bigint)});
psql_as($node, 'data', 'controller', 'DROP TABLE drug CASCADE');
is(sqlstate($node, 'data', 'controller', q{SELECT dp_set_unit('visit', 'patient_id -> visit', 20)}), '55000', 'a way of others stays');

# ---- histories that names tell ----------------------------------------------------------------------------------------

my $patients = q{CREATE TABLE patient (patient_id integer PRIMARY KEY); SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id');};
my $visits = q{CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer NOT NULL);};
my $protect_visit = q{SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id -> patient', max_rows => 20)};
my $granted = q{SELECT dp_grant('visit_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}');};
my $asks = q{SELECT * FROM dp_query('SELECT count(*) FROM visit_dp') AS (n bigint)};

sub database
{
	my ($name) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, q{CREATE EXTENSION dp_rdr; GRANT CREATE ON SCHEMA public TO controller, sharer});
	return;
}

sub restored
{
	my ($from, $to, @parts) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . "/$to.dump";
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $file, @parts, $from ], "$to: dumped");
	@parts ? database($to) : $node->safe_psql('postgres', "CREATE DATABASE $to");
	$node->safe_psql($to, 'CREATE TABLE moves_the_oids (a integer); DROP TABLE moves_the_oids');
	return $file;
}

sub filled
{
	my ($name, $file) = @_;
	$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $name, $file ], "$name: restored");
	return;
}

database('told');
psql_as($node, 'told', 'controller', "$patients $visits $protect_visit; $granted");
ask($node, 'told', $asks);
is(account($node, 'told', 'patient'), '1|0.1', 'one table was asked about');

# Another name, and other oids.
psql_as($node, 'told', 'controller', 'ALTER TABLE visit RENAME TO stay');
my $leaves = q{SELECT dp_set_unit('stay', 'patient_id -> stay', 20)};
is(sqlstate($node, 'told', 'controller', $leaves), '55000', 'a table with another name stays');
filled('renamed', restored('told', 'renamed'));
is(sqlstate($node, 'renamed', 'controller', $leaves), '55000', 'and after a restore');
is(account($node, 'renamed', 'stay'), '1|0.1', 'with what was told');
psql_as($node, 'told', 'controller', 'ALTER TABLE stay RENAME TO visit');

# The table of the people is made again, which nobody has asked about.
psql_as($node, 'told', 'controller', 'ALTER TABLE patient RENAME TO person');
is(sqlstate($node, 'told', 'controller', "BEGIN; $patients"), '55000', 'the name of a table that has another is not free');
psql_as($node, 'told', 'controller', 'ALTER TABLE person RENAME TO patient; DROP TABLE patient CASCADE');
is(sqlstate($node, 'told', 'controller', q{BEGIN; CREATE TABLE patient (patient_id integer PRIMARY KEY); SELECT dp_protect('patient', 'patient_dp')}),
	'55000', 'rows are not its people');
is(sqlstate($node, 'told', 'controller', q{BEGIN; CREATE TABLE patient (patient_id bigint PRIMARY KEY); SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id')}),
	'55000', 'nor others');
psql_as($node, 'told', 'controller', $patients);
is(account($node, 'told', 'patient'), '1|0.1', 'it comes back to its people');
is(sqlstate($node, 'told', 'controller', q{SELECT dp_set_unit('visit', 'patient_id -> patient', 20)}), '', 'the way to it is mended');
is($node->safe_psql('told', q{SELECT count(*) FROM dp_domain('visit') WHERE path LIKE '%gone%'}), 0, 'whole');

# Two owners: nobody asks, and neither sets what counts for the other.
psql_as($node, 'told', 'postgres', 'ALTER TABLE visit OWNER TO sharer; ALTER VIEW visit_dp OWNER TO sharer');
is(sqlstate($node, 'told', $_, q{SELECT dp_set_odometer('} . ($_ eq 'sharer' ? 'visit' : 'patient') . q{', epsilon_total => 100)}), '42501',
	"$_ does not set the total of both") for qw(sharer controller);
is(sqlstate($node, 'told', 'analyst', $asks), '55000', 'no question is answered');
psql_as($node, 'told', 'postgres', 'ALTER TABLE visit OWNER TO controller; ALTER VIEW visit_dp OWNER TO controller');
is(sqlstate($node, 'told', 'analyst', $asks), '', 'until one has both');
my $told = account($node, 'told', 'patient');
is($told, '2|0.2', 'and it is charged');

# A step to a table that is gone.
psql_as($node, 'told', 'controller', q{CREATE TABLE drug (visit_id integer);
	SELECT dp_protect('drug', 'drug_dp', unit => 'visit_id -> visit (visit_id)', max_rows => 50);
	SELECT dp_grant('drug_dp', 'analyst', 0, epsilon_max => 0.1, candidates => '{0.1}');});
my $drugs = q{SELECT * FROM dp_query('SELECT count(*) FROM drug_dp') AS (n bigint)};
is(sqlstate($node, 'told', 'analyst', $drugs), '', 'a step');
psql_as($node, 'told', 'controller', 'DROP TABLE visit CASCADE');
is(sqlstate($node, 'told', 'analyst', $drugs), '55000', 'the table that is gone is said');
$told = account($node, 'told', 'patient');

# All of them are gone when the dump is taken.
psql_as($node, 'told', 'controller', 'DROP TABLE drug CASCADE; DROP TABLE patient CASCADE');
filled('emptied', restored('told', 'emptied'));
psql_as($node, 'emptied', 'controller', "$patients $visits");
is(account($node, 'emptied', 'patient'), $told, 'the people come back after a restore');
is(sqlstate($node, 'emptied', 'controller', q{SELECT dp_protect('visit', 'visit_dp')}), '55000', 'what was told of them is not told of rows');
is(sqlstate($node, 'emptied', 'controller', $protect_visit), '', 'but of them');
is(account($node, 'emptied', 'visit'), $told, 'in one account');

# What is not known is closed: a domain that was not restored, ...
my $closed = q{SELECT epsilon_total = epsilon FROM dp_odometer('visit') WHERE account = 'public'};
for my $way ("$patients $visits $protect_visit", "$visits SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id -> visit', max_rows => 20)",
	"$visits SELECT dp_protect('visit', 'visit_dp')")
{
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS unknown');
	filled('unknown', restored('told', 'unknown'));
	$node->safe_psql('unknown', 'DELETE FROM dp_rdr.privacy_domain');
	psql_as($node, 'unknown', 'controller', $way);
	is($node->safe_psql('unknown', $closed), 't', 'without its domain a table is closed');
}

# ... or a table and its view without anything else, which joins others.
my $part = restored('renamed', 'joined', '-t', 'stay', '-t', 'visit_dp');
psql_as($node, 'joined', 'controller', $patients);
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'joined', $part ], 'a part is restored');
psql_as($node, 'joined', 'controller', q{SELECT dp_protect('stay', 'stay_dp', unit => 'patient_id -> patient', max_rows => 20)});
is($node->safe_psql('joined', q{SELECT epsilon_total FROM dp_odometer('patient') WHERE account = 'public'}), '0',
	'whoever joins with lost totals closes those of all');

# The owner has another name, or is another.
$node->safe_psql('postgres', 'CREATE ROLE first_name LOGIN');
database('owners');
$node->safe_psql('owners', 'GRANT CREATE ON SCHEMA public TO first_name');
psql_as($node, 'owners', 'first_name', "$patients $visits $protect_visit; $granted");
ask($node, 'owners', $asks);
$node->safe_psql('owners', 'ALTER ROLE first_name RENAME TO second_name');
psql_as($node, 'owners', 'second_name', "DROP TABLE visit, patient CASCADE; $patients $visits $protect_visit");
is(account($node, 'owners', 'visit'), '1|0.1', 'an owner of another name goes on');
psql_as($node, 'owners', 'second_name', "$granted");
ask($node, 'owners', $asks);
psql_as($node, 'owners', 'second_name', 'DROP TABLE visit, patient CASCADE');
is(sqlstate($node, 'owners', 'sharer', $_), '55000', 'another does not begin at 0') for $patients, "$visits SELECT dp_protect('visit', 'visit_dp')";

$node->stop;
done_testing();
