# Several who decide on one request at the same time, and its requester beside them: whoever is first decides, it is charged once or not
# at all, and what is stored belongs to its charge. Commits take long, so that all of them have looked before the first one is done.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use Test::More;

# A commit waits for others before it is flushed, if there were any: long enough to be prepared behind it.
my $node = new_server('request_races', "fsync = on\ncommit_delay = 100000\ncommit_siblings = 0\nmax_prepared_transactions = 2\nmax_worker_processes = 16");
protect_people($node, 'postgres');

sub request
{
	return psql_as($node, 'postgres', 'analyst', q{SELECT dp_request('SELECT count(*) AS n FROM people_dp', 'a race')});
}

sub facts
{
	my ($request) = @_;
	return $node->safe_psql('postgres',
		"SELECT r.state, coalesce(array_length(r.rows, 1), 0), count(l.id), count(l.id) FILTER (WHERE l.id = r.ledger_id) "
		. "FROM dp_rdr.request r LEFT JOIN dp_rdr.ledger_row l ON (l.parameters ->> 'request')::bigint = r.id "
		. "WHERE r.id = $request GROUP BY r.id");
}

# Four who permit it: the others were prepared while the first was charged.
my @approvers = map { session($node, 'controller') } 1 .. 4;
my (@outcomes, @facts);
for my $round (1 .. 3)
{
	my $raced = request();
	start_question($_, "SELECT (dp_approve($raced, basis => 'public')).state") for @approvers;
	push @outcomes, join ' ', sort map { finish_question($_) } @approvers;
	push @facts, facts($raced);
}
is(join(', ', @outcomes), join(', ', ('55000 55000 55000 answered') x 3), 'one of them has it');
is(join(', ', @facts), join(', ', ('answered|1|1|1') x 3), 'and it is charged once');

# One permits, one rejects, the requester withdraws.
my $requester = session($node, 'analyst');
my %sound = map { $_ => 1 } ('answered|1|1|1', 'rejected|0|0|0', 'withdrawn|0|0|0');
my (@unsound, @several);
for my $round (1 .. 8)
{
	my $raced = request();
	my @calls = ([ $approvers[0], "SELECT (dp_approve($raced, basis => 'public')).state" ], [ $approvers[1], "SELECT 'rejected' FROM dp_reject($raced)" ],
		[ $requester, "SELECT 'withdrawn' FROM dp_reject($raced)" ]);
	start_question(@$_) for @calls[ map { ($_ + $round) % 3 } 0 .. 2 ];
	my @done = map { finish_question($_->[0]) } @calls;
	push @several, "@done" unless (grep { $_ ne '55000' } @done) == 1;
	push @unsound, facts($raced) unless $sound{ facts($raced) };
}
is("@several", '', 'one of three decides');
is("@unsound", '', 'and what is charged is answered');

# A withdrawal that is prepared may be committed at any time: nobody decides until then, and nobody waits.
my $prepared = request();
psql_as($node, 'postgres', 'analyst', "BEGIN; SELECT dp_reject($prepared); PREPARE TRANSACTION 'withdrawn'");
is(sqlstate($node, 'postgres', 'controller', "SELECT dp_approve($prepared, basis => 'public')"), '55000', 'somebody else may have decided');
is(facts($prepared), 'pending|0|0|0', 'nothing was charged');
psql_as($node, 'postgres', 'analyst', q{ROLLBACK PREPARED 'withdrawn'});
is(psql_as($node, 'postgres', 'controller', "SELECT (dp_approve($prepared, basis => 'public')).state"), 'answered', 'he has not');

# The bound of a hundred holds in a transaction that does not see what others have asked since it began.
my $old = session($node, 'analyst');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM dp_requests(NULL)');
psql_as($node, 'postgres', 'analyst', q{SELECT count(dp_request('SELECT count(*) FROM people_dp', 'many')) FROM generate_series(1, 100)});
start_question($old, q{SELECT dp_request('SELECT count(*) FROM people_dp', 'one more')});
is(finish_question($old), '54000', 'a hundred wait, whatever the snapshot shows');
$old->query('ROLLBACK');
psql_as($node, 'postgres', 'analyst', q{SELECT count(dp_reject(request)) FROM dp_requests()});

# A role that is made again under an old name has none of the old one's requests, and the old one's are nobody's.
$node->safe_psql('postgres', 'CREATE ROLE passing LOGIN');
psql_as($node, 'postgres', 'controller', q{SELECT dp_grant('people_dp', 'passing', tau => 0.95)});
my ($answered, $waiting) = map { psql_as($node, 'postgres', 'passing', q{SELECT dp_request('SELECT count(*) AS n FROM people_dp', 'passing')}) } 1 .. 2;
psql_as($node, 'postgres', 'controller', "SELECT dp_approve($answered, basis => 'public'); SELECT dp_revoke('people_dp', 'passing')");
$node->safe_psql('postgres', 'DROP ROLE passing; CREATE ROLE passing LOGIN');
is(sqlstate($node, 'postgres', 'passing', "SELECT dp_answer($answered)"), '42501', 'the answer was the old one\'s');
is(psql_as($node, 'postgres', 'passing', 'SELECT count(*) FROM dp_requests(NULL)'), '0', 'and so were the requests');
is(sqlstate($node, 'postgres', 'controller', "SELECT dp_approve($waiting, basis => 'public')"), '55000', 'there is nobody to answer to');
is(psql_as($node, 'postgres', 'controller', "SELECT state FROM dp_requests() WHERE request = $waiting"), 'pending', 'which its owner sees');
psql_as($node, 'postgres', 'controller', "SELECT dp_reject($waiting)");
ok(verified($node, 'postgres'), 'the ledger is whole');
$_->quit for @approvers, $requester, $old;

done_testing();
