# Risk profiles through a dump, a restore and lost totals: the caps stay, with the definitions that they come from; and a keeper that
# another session's setter overtakes looks again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('profiles', '');
$node->safe_psql('postgres', 'CREATE DATABASE data');
protect_people($node, 'data', bound => 'filter');
$node->safe_psql('postgres', 'CREATE ROLE guest LOGIN');
psql_as($node, 'data', 'controller', q{
	SELECT dp_set_odometer('people', epsilon_total => 'Infinity', profile => dp_profile('both', relative => 3, absolute => 0.25));
	SELECT dp_grant('people_dp', 'guest', epsilon_max => 1, profile => dp_profile('constant', relative => 1.5));});

# What is declared, and what it comes to.
my $DECLARED = q{SELECT d.bound, d.epsilon_total, d.profile, p.selection, p.tau, p.profile
	FROM dp_rdr.privacy_domain d, dp_rdr.policy p WHERE p.grantee::text = 'guest'};
my $TOTAL = q{SELECT epsilon_total, epsilon FROM dp_odometer('people') WHERE account = 'public'};

sub asked
{
	my ($database, $epsilon) = @_;
	return sqlstate($node, $database, 'guest', "SELECT n FROM dp_query('SELECT count(*) FROM people_dp', epsilon => $epsilon) AS (n bigint)");
}

is($node->safe_psql('data', $DECLARED),
	'filter||{"kind": "both", "epsilon": 0.649641492, "absolute": 0.25, "relative": 3}|profile||'
	. '{"kind": "constant", "epsilon": 0.202732554, "relative": 1.5}', 'both profiles are stored with their epsilon');
is(psql_as($node, 'data', 'controller', $TOTAL), '0.649641492|0', 'the total is that of the profile');
is(asked('data', '0.2'), '', 'what fits in the share is answered');
is(asked('data', '0.002732555'), '53400', 'a unit more than is left is not');

my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'data' ], 'the database is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'copy', $dump ], 'and restored');
is($node->safe_psql('copy', $DECLARED), $node->safe_psql('data', $DECLARED), 'with both profiles');
is(psql_as($node, 'copy', 'controller', $TOTAL), '0.649641492|0.2', 'the total, and what is spent of it');
is(asked('copy', '0.002732555'), '53400', 'the share');
is(asked('copy', '0.002732554'), '', 'to the last unit');
is(psql_as($node, 'copy', 'controller', q{SELECT round(1000 * tpr_max::numeric, 4) FROM dp_attack_risk('people') WHERE (fpr, prior) = (0.001, 0.5)}),
	sprintf('%.4f', exp(0.202732554)), 'an attacker has what was charged before and behind the dump');

# Totals that were lost close the table; the profile is still there.
$node->safe_psql('copy', q{DELETE FROM dp_rdr.odometer; DELETE FROM dp_rdr.odometer_share; DELETE FROM dp_rdr.protected_table; DELETE FROM dp_rdr.privacy_domain;
	DELETE FROM dp_rdr.restricted_view; DELETE FROM dp_rdr.policy; DROP VIEW people_dp;});
$node->safe_psql('copy', q{SELECT dp_protect('people', 'people_dp')}); # nobody knows whose totals they were
psql_as($node, 'copy', 'controller', q{SELECT dp_set_odometer('people', epsilon_total => 1, profile => dp_profile('constant', relative => 2))});
psql_as($node, 'copy', 'controller', q{SELECT dp_grant('people_dp', 'guest', epsilon_max => 1, profile => dp_profile('constant', relative => 1.5))});
is(asked('copy', '0.001'), '53400', 'the share is rebuilt from the ledger, and spent');
is(psql_as($node, 'copy', 'controller', $TOTAL), '0.34657359|0.202732554', 'the total of the new profile, with history in it');

# A setter that has not committed: whoever asks is told that the settings are changing, or waits; the charge never goes by the old cap.
my $setter = session($node, 'controller', 'data');
$setter->query_safe(q{BEGIN; SELECT dp_grant('people_dp', 'guest', epsilon_max => 1, profile => dp_profile('constant', relative => 9))});
is(asked('data', '0.1'), '53400', 'a profile that is not committed permits nothing');
$setter->query_safe('COMMIT');
is(asked('data', '0.1'), '', 'and does when it is');

# A charge with a delta is asked for, then the setter finds none, then the charge is decided, then the profile is committed: nothing
# is answered under it.
$node->safe_psql('data', 'CREATE ROLE late LOGIN');
psql_as($node, 'data', 'controller', q{
	SELECT dp_set_odometer('people', epsilon_total => 9, delta_total => 1e-4, profile => '{}');
	SELECT dp_grant('people_dp', 'late', tau => 0.95, mechanism => 'gaussian', delta => 1e-6)});
my ($late, $holder) = (session($node, 'late', 'data'), session($node, 'postgres', 'data'));
$late->query_safe('SELECT'); # connected
$holder->query_safe('BEGIN; SELECT FROM dp_rdr.odometer FOR UPDATE');
my $tries = $node->safe_psql('data', 'SELECT coalesce(sum(commits), 0) FROM dp_rdr.keepers()');
start_question($late, q{SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM people_dp', epsilon => 0.1) AS (n bigint)});
$node->poll_query_until('data', "SELECT sum(commits) > $tries FROM dp_rdr.keepers()") or die 'its charge is not tried';
$setter->query_safe(q{BEGIN; SELECT dp_grant('people_dp', 'late', mechanism => 'laplace', delta => 0, profile => dp_profile('constant', relative => 3))});
$holder->query_safe('COMMIT');
is(finish_question($late), 't', 'a charge that was under way goes by the policy that is committed');
$setter->query_safe('COMMIT');
is(sqlstate($node, 'data', 'late', "SELECT n FROM dp_query('SELECT count(*) FROM people_dp', epsilon => 0.01) AS (n bigint)"), '53400',
	'and is the last under a profile that came meanwhile');
is($node->safe_psql('data', q{SELECT string_agg(mechanism || ' ' || delta, ',') FROM dp_rdr.ledger_row WHERE grantee = 'late'}), 'gaussian 0.000001', 'nothing else was charged');
$_->quit for $setter, $late, $holder;

done_testing();
