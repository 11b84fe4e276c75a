# What the TAP tests share: a server with one protected table, questions as an analyst, and the state of the odometer.

package DpTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw($COUNT %FACTS copied_installation new_server protect_people ask psql_as sqlstate account verified fact
  wait_until_up);

# A question that costs 0.05 at the preference that protect_people grants.
our $COUNT = q{SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE age > 40') AS (n bigint)};

# Everything that must survive a move to another server, one text a name.
our %FACTS = (
	'ledger' => q{SELECT string_agg(r::text, E'\n' ORDER BY id) FROM dp_rdr.ledger_row r},
	'totals of people' => q{SELECT string_agg(o::text, E'\n') FROM dp_odometer('people') o},
	'totals of the odd table' => q{SELECT string_agg(o::text, E'\n') FROM dp_odometer('"Odd schema"."Ta""ble"') o},
	'bounds' => q{SELECT string_agg(b::text, E'\n' ORDER BY b::text) FROM dp_rdr.column_bounds b
		WHERE relation IN (SELECT oid FROM pg_class)},
	'groups' => q{SELECT string_agg(g::text, E'\n' ORDER BY g::text) FROM dp_rdr.column_groups g},
	'suspensions' => q{SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM dp_rdr.suspension s
		WHERE grantee IN (SELECT oid FROM pg_roles)},
	'policies' => q{SELECT string_agg(p::text, E'\n' ORDER BY p::text) FROM dp_rdr.policy p
		WHERE grantee IN (SELECT oid FROM pg_roles) AND view IN (SELECT oid FROM pg_class)},
);

# init() with a copy of a data directory that the first of all tests of a run has made: initdb takes longer than most tests.
sub init_from_template
{
	my ($node, %params) = @_;
	my $template = "$PostgreSQL::Test::Utils::tmp_check/template_data";
	my $run      = \&PostgreSQL::Test::Utils::system_or_bail;
	my $copy     = sub {
		my @command = @_;
		return $run->(@command) if $command[0] ne 'initdb';
		my $own = "$template.$$";
		if (!-d $template)
		{
			$run->(map { $_ eq $node->data_dir ? $own : $_ } @command);
			rename($own, $template) or system_log('rm', '-rf', $own); # somebody else was first
		}
		return $run->('cp', '-Rp', $template, $node->data_dir);
	};
	no warnings 'redefine';
	local *PostgreSQL::Test::Utils::system_or_bail = $copy;
	$node->init(%params);
	return;
}

# Copies the installed server, so that a test may replace libraries and add scripts of extensions. Returns the copy's folders of
# programs, libraries, and other files: programs look for the others beside themselves.
sub copied_installation
{
	my $copy = PostgreSQL::Test::Utils::tempdir();
	my ($programs, $libraries, $shared) = map { my $path = `pg_config --$_`; chomp $path; $path } qw(bindir pkglibdir sharedir);
	for my $folder ($programs, $libraries)
	{
		system_or_bail('mkdir', '-p', "$copy$folder");
		system_or_bail('cp', '-a', "$folder/.", "$copy$folder");
	}
	system_or_bail('mkdir', '-p', "$copy$shared/extension");
	for my $file (glob("$shared/* $shared/extension/*"))
	{
		symlink($file, "$copy$file") unless -e "$copy$file";
	}
	return map { "$copy$_" } $programs, $libraries, $shared;
}

# A server with these lines in its configuration, started. Further parameters go to init(), but for install_path: where the
# server's programs are.
sub new_server
{
	my ($name, $conf, %params) = @_;
	my $path = delete $params{install_path};
	my $node = PostgreSQL::Test::Cluster->new($name, defined $path ? (install_path => $path) : ());
	# The encoding of every test database, whatever the machine's locale.
	my @extra = (extra => [ '--no-locale', '--encoding=UTF8' ]);
	if (defined $path)
	{
		$node->init(%params, @extra);
	}
	else
	{
		init_from_template($node, %params, @extra);
	}
	$node->append_conf('postgresql.conf', $conf // '');
	$node->start;
	return $node;
}

# The extension, the roles controller and analyst, the controller's table people with the given number of rows, and its
# view people_dp with a preference of 0.95 for the analyst. The bound is an option, since most tests do not want it.
sub protect_people
{
	my ($node, $database, %options) = @_;
	my $rows  = $options{rows}  // 1000;
	my $bound = $options{bound} // 'none';

	$node->safe_psql($database, qq{
		CREATE EXTENSION dp_rdr;
		CREATE ROLE controller LOGIN;
		CREATE ROLE analyst LOGIN;
		GRANT CREATE ON SCHEMA public TO controller;});
	psql_as($node, $database, 'controller', qq{
		CREATE TABLE people (age integer, pay integer, city text);
		INSERT INTO people SELECT g % 90, g % 5000, (ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3]
			FROM generate_series(1, $rows) g;
		SELECT dp_protect('people', 'people_dp');
		SELECT dp_set_bounds('people', 'pay', 0, 5000);
		SELECT dp_set_groups('people', 'city', '{Oslo,Pisa,Rome}');
		SELECT dp_set_odometer('people', '$bound');
		SELECT dp_grant('people_dp', 'analyst', tau => 0.95);});
	return;
}

# Returns once a server that crashed accepts connections again. poll_query_until() would write to a psql that may be gone.
sub wait_until_up
{
	my ($node) = @_;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if system_log('pg_isready', '-q', '-h', $node->host, '-p', $node->port) == 0;
		usleep(100_000);
	}
	die 'the server does not come back';
}

# What a role sees; dies on an error.
sub psql_as
{
	my ($node, $database, $role, $sql) = @_;
	return $node->safe_psql($database, $sql, extra_params => [ '-U', $role ]);
}

# The analyst's answer to a question; dies on an error.
sub ask
{
	my ($node, $database, $question) = @_;
	return psql_as($node, $database, 'analyst', $question // $COUNT);
}

# The SQLSTATE of the first error that a script meets, '' if there is none, 'lost' if the connection broke.
sub sqlstate
{
	my ($node, $database, $role, $sql) = @_;
	my ($status, $stdout, $stderr) = $node->psql($database, $sql,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=sqlstate' ]);
	return $1 if $stderr =~ /(?:ERROR|FATAL):\s+(\w{5})/;
	return $status == 0 ? '' : 'lost';
}

# Releases and epsilon of one account of a table (the public one by default), as "releases|epsilon".
sub account
{
	my ($node, $database, $table, $account) = @_;
	$table   //= 'people';
	$account //= 'public';
	return $node->safe_psql($database, qq{
		SELECT releases, trim_scale(epsilon) FROM dp_odometer('$table') WHERE account = '$account'});
}

# True if the ledger's chain is whole and its rows add up to the totals.
sub verified
{
	my ($node, $database, $table) = @_;
	$table //= 'people';
	return $node->safe_psql($database, "SELECT dp_verify_ledger('$table')") eq 't';
}

# One of %FACTS. The settings of the session must not show in it.
sub fact
{
	my ($node, $database, $name) = @_;
	return $node->safe_psql($database, qq{
		SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
		SET search_path = public;
		$FACTS{$name}});
}

1;
