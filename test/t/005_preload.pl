# CREATE EXTENSION alone is enough for dp_query; and where the library is missing, the view gives nothing away.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $plain = 'SELECT count(*) FROM people_dp WHERE age > 40';

my $node = new_server('preload', '');
protect_people($node, 'postgres');
is($node->safe_psql('postgres', 'SHOW shared_preload_libraries'), '', 'the library is not preloaded');

# Every psql call is a connection of its own.
like(ask($node, 'postgres'), qr/^-?\d+$/, 'dp_query answers in a fresh connection');
is(sqlstate($node, 'postgres', 'analyst', 'SELECT * FROM people_dp'), '42501', 'the view shows no row');
is(sqlstate($node, 'postgres', 'analyst', $plain), '42501', 'nor a count');
is(sqlstate($node, 'postgres', 'controller', 'SELECT * FROM people_dp'), '42501', 'to nobody');
is(account($node, 'postgres'), '1|0.05', 'and refusals cost nothing');
is(sqlstate($node, 'postgres', 'analyst', "$COUNT; $plain"), '', 'after dp_query, ordinary SQL is answered as well');

# What was planned before the library was there is planned again: the first EXECUTE fails, and loads it.
my ($status, $stdout) = $node->psql('postgres', "PREPARE q AS $plain; EXECUTE q; EXECUTE q; $COUNT; EXECUTE q;",
	on_error_stop => 0, extra_params => [ '-U', 'analyst', '-Atq' ]);
my @answers = grep { /^-?\d+$/ } split /\n/, $stdout;
is(scalar(@answers), 3, 'a statement prepared before the library was loaded is answered after it');
# What to do is said according to whether this statement has loaded the library.
sub complaint
{
	my ($sql) = @_;
	my (undef, undef, $stderr) = $node->psql('postgres', $sql, extra_params => [ '-U', 'analyst' ]);
	return $stderr;
}
like(complaint($plain), qr/HINT:  The library was loaded only now: .*repeat the statement/, 'the first refusal says: repeat');
like(complaint("$COUNT; SELECT * FROM people_dp"), qr/HINT:  Ask for count/, 'a later one says what to ask for');

# Loaded for every session of the database, which needs no restart; and for the whole server.
my @ways = (
	[ 'session_preload_libraries' =>
		  sub { $node->safe_psql('postgres', q{ALTER DATABASE postgres SET session_preload_libraries = 'dp_rdr'}) } ],
	[ 'shared_preload_libraries' =>
		  sub {
			$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET session_preload_libraries');
			$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'dp_rdr'});
			$node->restart;
		  } ]);

for my $way (@ways)
{
	my ($name, $preload) = @$way;
	$preload->();
	like(ask($node, 'postgres'), qr/^-?\d+$/, "$name: dp_query answers");
	like(ask($node, 'postgres', $plain), qr/^-?\d+$/, "$name: ordinary SQL is answered at once");
	is(sqlstate($node, 'postgres', 'analyst', 'SELECT * FROM people_dp'), '42501', "$name: the view shows no row");
	like(complaint('SELECT * FROM people_dp'), qr/HINT:  Ask for count/, "$name: and says what to ask for");
}

# The noise of different connections of one preloaded server must differ: a generator that was seeded before the fork
# would give all of them the same. Scale 20: six equal answers have a probability below 1e-8.
my %answers = map { ask($node, 'postgres') => 1 } 1 .. 6;
cmp_ok(scalar(keys %answers), '>', 1, 'connections draw different noise');

# Background workers are not preloaded by the setting of sessions: each one that asks is told what to do. Here those of pg_cron,
# which runs a job at the beginning of each minute.
SKIP:
{
	skip 'no pg_cron', 1
		unless $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_cron'");
	$node->safe_psql('postgres', q{ALTER DATABASE postgres SET session_preload_libraries = 'dp_rdr'});
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_cron'\ncron.use_background_workers = on");
	$node->restart;
	$node->safe_psql('postgres', "CREATE EXTENSION pg_cron; SELECT cron.schedule_in_database('asks', '* * * * *', \$\$$plain\$\$, 'postgres', 'analyst')");
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')});
	like($node->safe_psql('postgres', 'SELECT return_message FROM cron.job_run_details LIMIT 1') . slurp_file($node->logfile),
		qr/dp_query\(\).*shared_preload_libraries; session_preload_libraries does not reach them/, 'a background worker is told of both ways');
}

$node->stop;
done_testing();
