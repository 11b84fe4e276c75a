# A role is renamed while a keeper reads for it, and another gets its name: what the query then does to its role it does to the one
# that asked.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('renamed', 'max_worker_processes = 8');
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 20);
$node->safe_psql('postgres', q{CREATE ROLE second LOGIN});
psql_as($node, 'postgres', 'controller', q{INSERT INTO slow VALUES (-1); SELECT dp_grant('slow_dp', 'second', tau => 0.95)});
my $number = $node->safe_psql('postgres', q{SELECT 'second'::regrole::oid});

my $session = session($node, 'second');
start_question($session, $SLOW);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM dp_rdr.queue() WHERE state = 'reading'}) or die 'nobody reads';
$node->safe_psql('postgres', q{ALTER ROLE second RENAME TO first; CREATE ROLE second LOGIN});
is(finish_question($session), '40003', 'the query fails');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT format('%s %s', grantee, role), ', ') FROM dp_rdr.suspension}), 'first first',
	'the role that asked is suspended');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT grantee_oid::text, ', ') FROM dp_rdr.ledger_row}), $number, 'the ledger has its number');
ok(verified($node, 'postgres', 'slow'), 'and is whole');

$session->quit;
$node->stop;
done_testing();
