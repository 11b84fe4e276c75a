# A question whose price takes long to find is answered, however long all keepers had no time for it: nothing but a lock that is
# there is taken for one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use Test::More;

my $node = new_server('waiting', "max_parallel_workers_per_gather = 0\ndp_rdr.keepers = 1");
protect_people($node, 'postgres');
protect_slow($node, 'postgres', 60);
$node->safe_psql('postgres', 'CREATE ROLE colleague LOGIN');
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_set_odometer('people', 'none', delta_total => 0.5);
	SELECT dp_grant('people_dp', 'colleague', tau => 0.9, mechanism => 'gaussian', delta => 1e-6);});

# Three seconds of the only keeper.
my $reading = session($node);
start_question($reading, $SLOW);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM dp_rdr.ledger}) or die 'nothing was charged';
is(sqlstate($node, 'postgres', 'colleague', $COUNT), '', 'behind a long question');
like(finish_question($reading), qr/^-?\d{1,4}$/, 'which is answered as well');

# A lock is waited for, and not for ever.
my $holder = session($node, 'controller');
$holder->query_safe('BEGIN; LOCK TABLE people');
is(sqlstate($node, 'postgres', 'colleague', $COUNT), '55P03', 'a lock that stays');
$holder->query_safe('ROLLBACK');
$_->quit for $reading, $holder;

$node->stop;
done_testing();
