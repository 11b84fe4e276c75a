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

# Extensions that show what planner and executor met: found while everybody may call their functions.
$node->safe_psql('postgres', 'CREATE SCHEMA stats');
if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name IN ('pg_stat_kcache', 'pg_qualstats')}) == 2)
{
	$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'pg_stat_statements, pg_stat_kcache, pg_qualstats'});
	$node->restart;
}
for my $shown ([ 'pg_stat_statements', 'how many rows each statement returned', 'SELECT * FROM stats.pg_stat_statements' ],
	[ 'pg_stat_kcache', 'how much each statement read', 'SELECT * FROM stats.pg_stat_kcache_detail' ],
	[ 'pg_qualstats', 'constants of others', 'SELECT * FROM stats.pg_qualstats()' ],
	[ 'hypopg', 'how many rows the planner expects', q{SELECT * FROM stats.hypopg_create_index('CREATE INDEX ON patient (id) WHERE id < 5')} ],
	[ 'pg_buffercache', undef, 'SELECT * FROM stats.pg_buffercache' ])
{
	my ($name, $finding, $statement) = @$shown;
  SKIP:
	{
		skip "no $name", 4
			unless $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = '$name'");
		$node->safe_psql('postgres', "CREATE EXTENSION $name SCHEMA stats");
		# Granted by somebody: PostgreSQL gives these to pg_monitor alone.
		$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION stats.pg_buffercache_pages() TO PUBLIC') unless defined $finding;
		like(findings($name), defined $finding ? qr/^warning PUBLIC may call .*\Q$finding\E/ : qr/^warning PUBLIC/, "$name is found");
		my $remedy = psql_as($node, 'postgres', 'controller', "SELECT remedy FROM dp_audit() WHERE object = '$name'");
		cmp_ok(length $remedy, '<', 350, 'its remedy fits into a cell');
		$node->safe_psql('postgres', $remedy);
		is(findings($name), '', "$name is not found any more");
		isnt(scalar $node->psql('postgres', $statement, extra_params => [ '-U', 'analyst' ]), 0, 'nor called');
	}
}

# Ways in: whoever comes may be any role, and what crosses a network as it is.
my $hba = $node->data_dir . '/pg_hba.conf';

sub let_in
{
	my (@lines) = @_;
	open my $file, '>', $hba or die "$hba: $!";
	print $file "$_\n" for @lines;
	close $file or die "$hba: $!";
	return;
}

like(findings('pg_hba.conf'), qr/^warning lets in whoever comes as any role that he names.*: line \d/, 'trust is found');
let_in('local all all peer', 'local postgres controller trust', 'local elsewhere all trust', 'host all all 10.0.0.0/8 scram-sha-256',
	'hostssl all all all scram-sha-256', 'host all all 127.0.0.1/32 md5', 'host all all ::1/128 md5');
is(findings('pg_hba.conf'), 'warning lets in whoever comes as any role that he names, a table\'s owner too: line 2',
	'of this database alone');
let_in('local all all trust', 'host all all 10.0.0.0/8 scram-sha-256');
is(findings('ssl'), '', 'no network, no finding');

# A name of 127.0.0.1 that does not look like one.
$node->append_conf('postgresql.conf', "listen_addresses = '0x7f.1'");
$node->restart;
like(findings('ssl'), qr/^warning is off: /, 'TLS that is off is found');
let_in('local all all trust', 'hostnossl all all 0.0.0.0/0 reject', 'host all all 10.0.0.0/8 scram-sha-256');
is(findings('ssl'), '', 'not where nobody gets in without it');

SKIP: {
	my $dir = $node->data_dir;
	skip 'no openssl, or a server without TLS', 5
		if system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -days 2 -out '$dir/server.crt' -keyout '$dir/server.key' 2>/dev/null") != 0
		|| $node->psql('postgres', q{ALTER SYSTEM SET ssl = 'on'}) != 0;
	chmod 0600, "$dir/server.key";
	$node->restart;
	is(findings('pg_hba.conf'), 'warning lets in whoever comes as any role that he names, a table\'s owner too: line 1',
		'a line that turns away who comes without TLS covers the next');
	let_in('local all all trust', 'host all all 10.0.0.0/8 scram-sha-256', 'host all all 0.0.0.0/0 reject', 'host all all fe80::/10 md5',
		'hostnossl sameuser all all scram-sha-256');
	like(findings('pg_hba.conf'), qr/^warning lets in over the network without TLS: line 2, 4, 5$/m, 'lines without TLS are found');
	let_in('local all all trust', 'hostssl all all 10.0.0.0/8 scram-sha-256');
	unlike(findings('pg_hba.conf'), qr/network/, 'and not those with it');
	is(findings('ssl'), '', 'which is on');
	let_in('local all all trust', 'nonsense');
	like(findings('server'), qr/disks/, 'a line that is none fails nothing');
}
let_in('local all all trust');

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
