# Rebuilds tables while they are asked about: whoever rebuilds one locks its indexes and its TOAST table beside it. A question
# meets all locks in its way before its charge; a charge has its answer. Whoever waits for a lock comes to his turn.
#
#   REBUILT_QUESTIONS  how many questions six clients ask beside each kind of rebuilding (default 60; make soak: 1000)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use IPC::Run;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $questions = $ENV{REBUILT_QUESTIONS} // 60;
my $clients   = 6;
my $GROUPED   = 'SELECT city, count(*), avg(pay) FROM people_dp GROUP BY city';
my $node      = new_server('rebuilt', q{
	max_worker_processes = 16
	max_connections = 60
	log_line_prefix = '%m [%p] %d '
	session_preload_libraries = 'dp_rdr'
});
protect_people($node, 'postgres', rows => 3000);
psql_as($node, 'postgres', 'controller', q{
	ALTER TABLE people ADD COLUMN id serial PRIMARY KEY;
	CREATE INDEX people_age ON people (age);
	CREATE INDEX people_city ON people (city);});
my $refused = qr/(?:ERROR|FATAL):\s+(\w{5})/;

# Clients that ask a question so often each; their answers and SQLSTATEs come with finish_clients().
sub start_clients
{
	my ($number, $each, $question) = @_;
	my $file = $node->basedir . '/questions.sql';
	unlink $file;
	append_to_file($file, join('', map { "\\echo asked\n$question;\n" } 1 .. $each));
	return map {
		my %client = (out => '', err => '');
		$client{run} = IPC::Run::start(
			[ 'psql', '-X', '-A', '-t', '-U', 'analyst', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), '-f', $file ],
			'<', \undef, '>', \$client{out}, '2>', \$client{err});
		\%client
	} 1 .. $number;
}

sub are_running
{
	my (@clients) = @_;
	return scalar(grep { my $run = $_->{run}; $run->pumpable && eval { $run->pump_nb; 1 } && $run->pumpable } @clients);
}

# How many answers there were, and how often each SQLSTATE.
sub finish_clients
{
	my (@clients) = @_;
	my ($answers, %states) = (0);
	for my $client (@clients)
	{
		$client->{run}->finish;
		$answers += grep { /\|/ } map { (split /\n/)[0] // '' } split /^asked\n/m, $client->{out};
		$states{$1}++ while $client->{err} =~ /$refused/g;
	}
	return ($answers, \%states);
}

# Each question is answered and charged, or refused for a lock and not charged.
sub all_accounted
{
	my ($name, $before, $asked, $answers, $states) = @_;
	my $locked = $states->{'55P03'} // 0;
	is(releases($node) - $before, $answers, "$name: as many charges as answers");
	is($answers + $locked, $asked, "$name: $answers of $asked are answered, $locked refused for a lock, nothing else")
	  or diag(explain($states));
	return;
}

# ---- a lock that lasts ----

my $before = releases($node);
my $owner  = session($node, 'controller');
$owner->query_safe('BEGIN; REINDEX TABLE people');
my @asking = start_clients(3, 1, $GROUPED);
my ($answers, $states) = finish_clients(@asking);
is($answers, 0, 'while the indexes are rebuilt nobody is answered');
all_accounted('REINDEX that lasts', $before, 3, $answers, $states);
$owner->query_safe('ROLLBACK');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'afterwards there is an answer');

$before = releases($node);
$owner->query_safe('BEGIN; REINDEX INDEX people_age');
($answers, $states) = finish_clients(start_clients(1, 1, $GROUPED));
all_accounted('REINDEX of one index, which the question does not need', $before, 1, $answers, $states);
$owner->query_safe('ROLLBACK');

# A lock that the one who asks has himself: nobody detects that each waits for the other.
my $self = session($node, 'controller');
psql_as($node, 'postgres', 'controller', q{SELECT dp_grant('people_dp', 'controller', tau => 0.95)});
$before = releases($node);
$self->query_safe('BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE');
start_question($self, $COUNT);
is(finish_question($self), '55P03', 'who has locked the table himself cannot ask');
$self->query('ROLLBACK');
$self->quit;
is(releases($node), $before, 'and is not charged');

# ---- a file that is not there ----

my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('people_age')});
rename($file, "$file.away") or die "$file: $!";
$before = releases($node);
is(sqlstate($node, 'postgres', 'analyst', $COUNT), '58P01', 'a file of an index is away: an error');
is(releases($node), $before, 'uncharged');
rename("$file.away", $file) or die "$file: $!";
like(ask($node, 'postgres'), qr/^-?\d+$/, 'and with it again an answer');

# ---- everything that rebuilds a table, beside questions ----

my $log = -s $node->logfile;
my %rebuilding = (
	'REINDEX TABLE' => 'REINDEX TABLE people',
	'REINDEX TABLE CONCURRENTLY' => 'REINDEX TABLE CONCURRENTLY people',
	'CLUSTER' => 'CLUSTER people USING people_age',
	'VACUUM FULL' => 'VACUUM FULL people',
	'ALTER TABLE' => 'ALTER TABLE people ADD COLUMN other text; ALTER TABLE people DROP COLUMN other',
);
for my $name (sort keys %rebuilding)
{
	$before = releases($node);
	@asking = start_clients($clients, int($questions / $clients), $GROUPED);
	my $times = 0;
	while (are_running(@asking))
	{
		$owner->query_safe("$_") for split /; /, $rebuilding{$name};
		$times++;
	}
	($answers, $states) = finish_clients(@asking);
	cmp_ok($times, '>', 0, "$name: so often: $times");
	all_accounted($name, $before, $clients * int($questions / $clients), $answers, $states);
}
$owner->quit;

SKIP:
{
	# Looked for, as system() of what is missing ends a child whose warnings are fatal, and the server with it.
	skip 'pg_repack is not installed', 2
	  if !(grep { -x "$_/pg_repack" } split /:/, $ENV{PATH}) || $node->psql('postgres', 'CREATE EXTENSION pg_repack') != 0;
	$before = releases($node);
	@asking = start_clients($clients, int($questions / $clients), $GROUPED);
	system_log('pg_repack', '-h', $node->host, '-p', $node->port, '-t', 'people', 'postgres') while are_running(@asking);
	($answers, $states) = finish_clients(@asking);
	all_accounted('pg_repack', $before, $clients * int($questions / $clients), $answers, $states);
}
unlike(slurp_file($node->logfile, $log), qr/reading rows of .* failed/, 'no reading has failed');
ok(verified($node, 'postgres'), 'the ledger is whole');

# ---- who waits for the table ----

# The clients ask until they are told to stop: without a gap in which nobody holds the table, as each question takes a while.
psql_as($node, 'postgres', 'controller', q{INSERT INTO people (age, pay, city) SELECT g % 90, g % 5000, 'Oslo' FROM generate_series(1, 300000) g});
$before = releases($node);
@asking = start_clients(12, 10_000, $COUNT);
$node->poll_query_until('postgres', "SELECT releases > $before + 50 FROM dp_odometer('people') WHERE account = 'public'") or die 'no load';
is(sqlstate($node, 'postgres', 'controller', q{SET lock_timeout = '20s'; BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE; COMMIT}),
	'', 'twelve clients ask without a pause, and the table is locked all the same');
is(are_running(@asking), 12, 'before the first of them has ended');
$before = releases($node);
ok($node->poll_query_until('postgres', "SELECT releases > $before FROM dp_odometer('people') WHERE account = 'public'"),
	'and they go on being answered');
$_->{run}->kill_kill for @asking;
ok(verified($node, 'postgres'), 'the ledger is whole');

$node->stop;
done_testing();
