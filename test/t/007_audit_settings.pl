# Settings of the server that weaken the protection: dp_audit finds each of them, and no more when its remedy was followed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use Test::More;

# name => [ the value that is found, how severe ]
my %bad = (
	fsync                      => [ 'off',  'warning' ],
	full_page_writes           => [ 'off',  'warning' ],
	log_statement              => [ 'all',  'info' ],
	log_min_duration_statement => [ '0',    'info' ],
	log_temp_files             => [ '0',    'info' ],
	synchronous_commit         => [ 'off',  'info' ],
	track_functions            => [ 'pl',   'info' ],
	max_worker_processes       => [ '3',    'info' ],
);

my $node = new_server('audit', join("\n", map { "$_ = $bad{$_}[0]" } keys %bad));
protect_people($node, 'postgres');

sub findings
{
	my ($name) = @_;
	return psql_as($node, 'postgres', 'controller',
		"SELECT severity || ' ' || finding FROM dp_audit() WHERE object = '$name'");
}

for my $name (sort keys %bad)
{
	my ($value, $severity) = @{ $bad{$name} };
	# What PostgreSQL shows of a time or a size has a unit.
	like(findings($name), qr/^$severity is $value\w*: /, "$name = $value is found");

	my $remedy = psql_as($node, 'postgres', 'controller', "SELECT remedy FROM dp_audit() WHERE object = '$name'");
	# A superuser pastes it into psql, where the comment that tells what is left to do has no effect.
	$node->psql('postgres', $remedy, on_error_die => 1);
	if ($remedy =~ /restart the server/)
	{
		isnt(findings($name), '', "$name: not before the restart");
		$node->restart;
	}
	ok($node->poll_query_until('postgres', "SELECT setting <> '$value' FROM pg_settings WHERE name = '$name'"),
		"$name: $remedy");
	is(findings($name), '', "$name is not found any more");
}

is($node->safe_psql('postgres', 'SHOW max_worker_processes'), '8', 'the restart was needed for worker processes');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'and questions are answered');

# Who may read it sees how many rows the statements of others had.
$node->safe_psql('postgres', 'CREATE SCHEMA stats; CREATE EXTENSION pg_stat_statements SCHEMA stats');
like(findings('pg_stat_statements'), qr/^warning PUBLIC may read how many rows/, 'pg_stat_statements is found');
$node->safe_psql('postgres', psql_as($node, 'postgres', 'controller', q{SELECT remedy FROM dp_audit() WHERE object = 'pg_stat_statements'}));
is(findings('pg_stat_statements'), '', 'and not any more');
isnt(scalar $node->psql('postgres', 'SELECT * FROM stats.pg_stat_statements', extra_params => [ '-U', 'analyst' ]), 0, 'nor read');

# PostgreSQL 17 has done without it. With it a query can fail at a page that one row has changed: nothing is answered, and nothing charged.
if ($node->safe_psql('postgres', 'SHOW server_version_num') < 170000)
{
	$node->append_conf('postgresql.conf', 'old_snapshot_threshold = 0');
	$node->restart;
	my $before = account($node, 'postgres');
	is(sqlstate($node, 'postgres', 'analyst', "SELECT * FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint)"),
		'55000', 'old_snapshot_threshold: refused');
	is(account($node, 'postgres'), $before, 'old_snapshot_threshold: and not charged');
}

$node->stop;
done_testing();
