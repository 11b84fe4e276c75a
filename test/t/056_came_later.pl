# An index or a partition that comes behind the charge of a question, and is locked before it is read: the question waits for as long as
# it takes, keeps no keeper from others meanwhile, gives way where each would wait for the other, and has its answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('later', q{
	max_worker_processes = 8
	wal_level = replica
	max_wal_senders = 2
	dp_rdr.keepers = 1
});
protect_people($node, 'postgres');
$node->safe_psql('postgres', q{CREATE ROLE other LOGIN});
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE visit (day integer, note text) PARTITION BY LIST (day);
	CREATE TABLE visit_1 PARTITION OF visit FOR VALUES IN (1);
	INSERT INTO visit SELECT 1, 'n' || g FROM generate_series(1, 500) g;
	CREATE TABLE desk AS SELECT g AS x FROM generate_series(1, 100) g;
	SELECT dp_protect('visit', 'visit_dp'), dp_protect('desk', 'desk_dp');
	SELECT dp_set_odometer('visit', 'none'), dp_set_odometer('desk', 'none');
	SELECT dp_grant('visit_dp', 'analyst', tau => 0.95), dp_grant('desk_dp', 'other', tau => 0.95);});

sub set_standby
{
	my ($name) = @_;
	$node->safe_psql('postgres', "ALTER SYSTEM SET synchronous_standby_names = '$name'");
	$node->reload;
	return;
}

# A question whose charge waits for a standby that does not exist: all its locks are taken, and no row is read. One that comes before
# the server has taken the setting is answered, and asked again. Returns how many those are.
sub start_between
{
	my ($session, $question) = @_;
	my $answered = 0;
	set_standby('nobody');
	start_question($session, $question);
	while (1)
	{
		my $state = $node->safe_psql('postgres', q{SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND wait_event = 'SyncRep')
			THEN 'waits' WHEN EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active') THEN 'asks' END});
		return $answered if $state eq 'waits';
		next if $state eq 'asks';
		finish_question($session);
		$answered++;
		start_question($session, $question);
	}
}

sub waits_for
{
	my ($relation, $mode) = @_;
	return $node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND mode = '$mode' AND relation = ($relation)");
}

sub answered_as
{
	my ($role, $question) = @_;
	return sqlstate($node, 'postgres', $role, $question);
}

my $visits = q{SELECT * FROM dp_query('SELECT count(*) FROM visit_dp WHERE day > -100') AS (n bigint)};
my $desks  = q{SELECT * FROM dp_query('SELECT count(*) FROM desk_dp') AS (n bigint)};
my ($asks, $owner) = (session($node), session($node, 'controller'));
my ($counted, $visited) = (1, 0);
$owner->query_safe('SET synchronous_commit = local');

# ---- an index that is rebuilt for long ----

$counted += 1 + start_between($asks, $COUNT);
$owner->query_safe('CREATE INDEX people_age ON people (age)');
$owner->query_safe('BEGIN; REINDEX INDEX people_age');
set_standby('');
ok(waits_for(q{SELECT 'people_age'::regclass}, 'AccessShareLock'), 'the reading meets an index that is newer than its charge');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM dp_rdr.queue() WHERE state = 'charged'}), 'which is put off: no keeper stays with it');
is(answered_as('other', $desks), '', 'somebody else is answered meanwhile');
$owner->query_safe('ROLLBACK');
like(finish_question($asks), qr/^-?\d{1,4}$/, 'and then what was charged');
$owner->query_safe('DROP INDEX people_age');

# ---- each waits for the other ----

# REINDEX TABLE has the new index, and waits for that of the TOAST table.
$counted += 1 + start_between($asks, $COUNT);
$owner->query_safe('CREATE INDEX people_age ON people (age)');
start_question($owner, 'REINDEX TABLE people');
my $toast = q{SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.reltoastrelid = i.indrelid WHERE c.oid = 'people'::regclass};
ok(waits_for($toast, 'AccessExclusiveLock'), 'REINDEX waits for a lock of the question');
set_standby('');
like(finish_question($asks), qr/^-?\d{1,4}$/, 'the question waits for REINDEX, gives way, and is answered');
is(finish_question($owner), '', 'REINDEX goes on');

$owner->query_safe('DROP INDEX people_age');

# Four questions of one batch, in a keeper that is stopped until their charges wait.
my @asking = map { session($node) } 1 .. 4;
my $witness = session($node, 'controller');
$witness->query_safe('SET synchronous_commit = on; CREATE TABLE witness (n integer)');
my @keepers = split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'});
kill 'STOP', @keepers;
start_question($_, $COUNT) for @asking;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 4 FROM dp_rdr.queue()}), 'four questions come to one keeper');
set_standby('nobody');
start_question($witness, 'DO $$ BEGIN FOR i IN 1 .. 1000 LOOP INSERT INTO witness VALUES (i); COMMIT; PERFORM pg_sleep(0.01); END LOOP; END $$');
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'}), 'commits wait for a standby');
kill 'CONT', @keepers;
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND wait_event = 'SyncRep'}), 'so do their charges');
$owner->query_safe('CREATE INDEX people_age ON people (age)');
start_question($owner, 'REINDEX TABLE people');
ok(waits_for($toast, 'AccessExclusiveLock'), 'REINDEX waits for what all of them hold');
$node->safe_psql('postgres', 'SELECT pg_sleep(1.5)'); # its look for a deadlock is over: the questions alone can end this one
set_standby('');
is(finish_question($owner), '', 'REINDEX goes on, as all of them give way');
like(finish_question($_), qr/^-?\d{1,4}$/, 'one of them is answered') for @asking;
finish_question($witness);
$counted += 4;

$visited += 1 + start_between($asks, $visits);
$owner->query_safe('CREATE TABLE visit_2 (day integer, note text)');
$owner->query_safe('ALTER TABLE visit ATTACH PARTITION visit_2 FOR VALUES IN (2)');
$owner->query_safe('BEGIN; LOCK TABLE visit_2 IN ACCESS EXCLUSIVE MODE');
start_question($owner, 'LOCK TABLE visit IN ACCESS EXCLUSIVE MODE');
ok(waits_for(q{SELECT 'visit'::regclass}, 'AccessExclusiveLock'), 'who has locked a new partition waits for its table');
set_standby('');
is(finish_question($owner), '', 'and gets it, as the question gives way');
$owner->query_safe('COMMIT');
like(finish_question($asks), qr/^-?\d{1,4}$/, 'which is answered then');

# ---- what ends it ----

$counted += 1 + start_between($asks, $COUNT);
$owner->query_safe('CREATE INDEX people_pay ON people (pay)');
$owner->query_safe('BEGIN; REINDEX INDEX people_pay');
set_standby('');
ok(waits_for(q{SELECT 'people_pay'::regclass}, 'AccessShareLock'), 'a question waits');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active'});
is(finish_question($asks), '57014', 'until its client gives up');
$owner->query_safe('ROLLBACK');
is(answered_as('analyst', $COUNT), '', 'and the next one is answered');

is(releases($node) . ' ' . releases($node, 'visit'), "$counted $visited", 'each was charged once');
ok(verified($node, 'postgres'), 'the ledger is whole');
$_->quit for $asks, $owner;
$node->stop;
done_testing();
