# Totals outlive a restart and a failover; a standby, which cannot write a charge, gives no answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = new_server('primary', 'max_worker_processes = 16', allows_streaming => 1);
protect_people($primary, 'postgres', bound => 'filter');
ask($primary, 'postgres') for 1 .. 2;
is(account($primary, 'postgres'), '2|0.1', 'two answers are charged');

$primary->restart;
is(account($primary, 'postgres'), '2|0.1', 'a restart keeps the totals');
ask($primary, 'postgres');
is(account($primary, 'postgres'), '3|0.15', 'and questions go on from there');

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));

is(sqlstate($standby, 'postgres', 'analyst', $COUNT), '55000', 'a standby refuses to answer');
is(sqlstate($standby, 'postgres', 'analyst', 'SELECT * FROM people_dp'), '42501', 'and shows no row');
is(account($standby, 'postgres'), '3|0.15', 'but shows the controller the totals');
ok(verified($standby, 'postgres'), 'and verifies the ledger');
for my $call ("dp_protect('people', 'again')", "dp_set_bounds('people', 'age', 0, 9)", "dp_set_odometer('people', epsilon_total => 9)",
	"dp_grant('people_dp', 'analyst', tau => 0.5)", "dp_unprotect('people_dp')")
{
	my ($status, $out, $err) = $standby->psql('postgres', "SELECT $call", extra_params => [ '-U', 'controller', '-v', 'VERBOSITY=verbose' ]);
	like($err, qr/ERROR:  25006: the catalog of dp_rdr cannot be changed in a read-only transaction\nHINT:  This server is a standby\. Call it on the primary\.\n(?!CONTEXT)/,
		"$call is refused there");
}

ask($primary, 'postgres');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
$primary->stop;
$standby->promote;
is(account($standby, 'postgres'), '4|0.2', 'a promoted standby has every charge');
like(ask($standby, 'postgres'), qr/^-?\d+$/, 'answers');
is(account($standby, 'postgres'), '5|0.25', 'and charges');
ok(verified($standby, 'postgres'), 'and its ledger is whole');

$standby->stop;
done_testing();
