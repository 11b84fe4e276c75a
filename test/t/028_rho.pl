# Totals in rho: many clients at one total, the end of an epoch between them, a crash, dump and restore, and totals that were lost.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('rho', "dp_rdr.keepers = 2\nmax_connections = 60\n");
protect_people($node, 'postgres');
$node->safe_psql('postgres', 'CREATE ROLE gauss LOGIN');
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_set_odometer('people', 'zcdp', 1, 1e-6);
	SELECT dp_grant('people_dp', 'gauss', tau => 0.95, mechanism => 'gaussian', delta => 1e-8, epsilon_max => 0.3);});

# As many clients as these, each asking so often; how many were answered, and how many denied.
sub all_ask
{
	my ($clients, $times, $role) = @_;
	my $script = $node->basedir . '/ask.sql';
	append_to_file($script, join "\n", ($COUNT . ';') x $times) if !-e $script;
	my (@running, @out, @err);
	for my $i (0 .. $clients - 1)
	{
		($out[$i], $err[$i]) = ('', '');
		push @running, IPC::Run::start(
			[ 'psql', '-X', '-A', '-t', '-q', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), '-U', $role, '-f', $script ],
			'>', \$out[$i], '2>', \$err[$i]);
	}
	$_->finish for @running;
	my $answered = () = join('', @out) =~ /^-?\d+$/mg;
	my $denied = () = join('', @err) =~ /ERROR:\s+53400/g;
	return ($answered, $denied);
}

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

my $of_people = q{FROM dp_rdr.odometer o JOIN dp_rdr.privacy_domain t USING (id) WHERE id = (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'people'::regclass)};

# ---- 16 clients at one total -----------------------------------------------------------------------------------------

ask($node, 'postgres'); # so that the library and the first keeper are there
my ($answered, $denied) = all_ask(16, 4, 'gauss');
is($answered + $denied, 64, 'everybody is answered or denied');
cmp_ok($answered, '>', 0, 'some are answered');
cmp_ok($denied, '>', 0, 'some are denied');
is(value("SELECT o.public_rho <= t.rho_total AND o.public_rho + (SELECT min(rho) FROM dp_rdr.ledger WHERE role_name = 'gauss')
	> t.rho_total $of_people"), 't', 'the total is reached and not passed');
is(value("SELECT count(*) FROM dp_rdr.ledger WHERE role_name = 'gauss'"), $answered, 'each answer has its row');
is(value(q{SELECT denials FROM dp_odometer('people') WHERE account = 'public'}), $denied, 'each denial is counted');
ok(verified($node, 'postgres'), 'the ledger is whole');

# ---- an epoch ends once, whoever meets the next one first ------------------------------------------------------------

psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('people', 'filter', 3, 1e-5)});
($answered, $denied) = all_ask(16, 4, 'analyst');
is($answered, 40, 'what is left of 3 beside a claim of 1 is answered');
is($denied, 24, 'and no more');
is(value("SELECT string_agg(concat_ws(' ', kind, epsilon, delta, epoch), ', ') FROM dp_rdr.ledger WHERE kind = 'closing'"),
	'closing 1 0.000001 1', 'one row ends the epoch');
ok(verified($node, 'postgres'), 'the ledger is whole');

# ---- a crash ---------------------------------------------------------------------------------------------------------

psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('people', 'zcdp', 'Infinity', 1e-5)});
ask($node, 'postgres');
psql_as($node, 'postgres', 'gauss', $COUNT);
my $state = "SELECT o::text $of_people";
my $before = value($state);
$node->stop('immediate');
$node->start;
is(value($state), $before, 'a crash takes nothing of the epoch back');
ok(verified($node, 'postgres'), 'the ledger is whole');
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_odometer('people', 'zcdp', 2, 1e-5)});
ask($node, 'postgres');
is(value("SELECT count(*) FROM dp_rdr.ledger WHERE kind = 'closing'"), 2, 'an epoch that a crash has met ends as any other');

# ---- dump and restore: settings, sums, epoch and claim -----------------------------------------------------------------

my $all = q{SELECT (SELECT string_agg(o::text, E'\n' ORDER BY o::text) FROM dp_rdr.odometer o)
	|| (SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM dp_rdr.odometer_share s)
	|| (SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dp_rdr.protected_table t)
	|| (SELECT string_agg(d::text, E'\n' ORDER BY d::text) FROM dp_rdr.privacy_domain d)
	|| (SELECT string_agg(l::text, E'\n' ORDER BY l.id) FROM dp_rdr.ledger_row l)};
my $dump = $node->basedir . '/rho.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', $all), value($all), 'all of it is the same after the restore');
ok(verified($node, 'restored'), 'the ledger is whole');
ask($node, 'restored');
is($node->safe_psql('restored', q{SELECT count(*) FROM dp_rdr.ledger WHERE kind = 'closing'}), 2, 'and goes on in its epoch');

# ---- totals that were lost -------------------------------------------------------------------------------------------

my $sums = q{SELECT to_jsonb(o) - '{public_denials,conditional_denials}'::text[] FROM dp_rdr.odometer o};
my $shares = q{SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM dp_rdr.odometer_share s};
my ($kept, $kept_shares) = map { $node->safe_psql('restored', $_) } ($sums, $shares);
$node->safe_psql('restored', 'TRUNCATE dp_rdr.odometer, dp_rdr.odometer_share');
psql_as($node, 'restored', 'controller', q{SELECT dp_protect('people', 'people_again')});
is($node->safe_psql('restored', $sums), $kept, 'they come back from the rows, epoch and claim as well');
is($node->safe_psql('restored', $shares), $kept_shares, 'so do the shares');
is(sqlstate($node, 'restored', 'analyst', $COUNT), '53400', 'the table is closed');
is($node->safe_psql('restored', q{SELECT epsilon FROM dp_rdr.ledger WHERE kind = 'closing' ORDER BY id DESC LIMIT 1}), '0.1',
	'and its last epoch has ended at what it came to');
ok(verified($node, 'restored'), 'the ledger is whole');

$node->stop;
done_testing();
