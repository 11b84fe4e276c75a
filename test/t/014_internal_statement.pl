# What a release reads is executed past the hooks of other extensions: how many rows and groups there are stays with us.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('internal', q{
	shared_preload_libraries = 'dp_rdr, pg_stat_statements, auto_explain'
	pg_stat_statements.track = all
	auto_explain.log_min_duration = 0
	auto_explain.log_analyze = on
	auto_explain.log_nested_statements = on
});
protect_people($node, 'postgres');
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()');

# The log of auto_explain while this is answered.
sub logged
{
	my ($role, $sql) = @_;
	my $offset = -s $node->logfile;
	psql_as($node, 'postgres', $role, $sql);
	return slurp_file($node->logfile, $offset);
}

like(logged('controller', 'SELECT city, count(*) FROM people GROUP BY city'), qr/Seq Scan on people .*actual.*rows=1000(?:\.00)? loops/,
	'auto_explain logs plans with rows');
my %answers = (
	'a sum'           => q{SELECT * FROM dp_query('SELECT sum(pay), avg(pay) FROM people_dp') AS (s bigint, a numeric)},
	'declared groups' => q{SELECT * FROM dp_query('SELECT city, count(*) FROM people_dp GROUP BY city') AS (c text, n bigint)});
for my $name (sort keys %answers)
{
	my $log = logged('analyst', $answers{$name});
	like($log, qr/Query Text: .*dp_query/, "$name: the statement of the analyst is logged");
	unlike($log, qr/Seq Scan on people\b/, "$name: nothing of the scan is");
	unlike($log, qr/\(dp_rdr\)|lattice_/, "$name: nor of the internal statement");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_statements WHERE query ~ 'lattice_|\(dp_rdr\)'}), '0',
	'pg_stat_statements has not met it either');


done_testing();
