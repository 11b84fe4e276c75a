# More databases than the directory of pools has places: those that nobody asks in any more make room.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $places = 64;
my $node   = new_server('many', q{
	max_worker_processes = 8
	fsync = off
	autovacuum = off
});
protect_people($node, 'postgres', rows => 100);
$node->safe_psql('template1', 'CREATE EXTENSION dp_rdr');
$node->safe_psql('postgres', "CREATE DATABASE d$_") for 1 .. $places;

# A session that has had its answer, and stays.
my $stays = session($node);
like($stays->query($COUNT), qr/^-?\d+$/, 'the first database is answered');
# Another that looks at the keepers alone.
my $looks = $node->background_psql('postgres');
my $seen  = 'SELECT (SELECT count(*) > 0 FROM dp_rdr.keepers()), (SELECT sum(charges) FROM dp_rdr.charge_times())';
like($looks->query($seen), qr{^t\|[1-9]}, 'a session sees the keeper and its charge');
# Looking at a pool makes it.
$node->safe_psql("d$_", 'SELECT dp_rdr.keepers()') for 1 .. $places - 1;

# All places are taken, and the first database has keepers.
ok($node->poll_query_until('postgres', 'SELECT count(*) = 2 FROM dp_rdr.keepers()'), 'the first database has two keepers');
my @before = keepers($node);
is($node->safe_psql("d$places", 'SELECT count(*) FROM dp_rdr.keepers()'), 0, 'a database more than there are places finds one');
is_deeply([ keepers($node) ], \@before, 'which is not that of a database with keepers');
like($stays->query($COUNT), qr/^-?\d+$/, 'where questions go on');

# Its own place is taken when its keepers have gone.
kill 'TERM', keepers($node);
wait_for_keepers($node, 0) or die 'keepers stay';
# Each of the others that lost its place takes one: after a round all have been somebody else's.
for (1 .. 2)
{
	$node->safe_psql("d$_", 'SELECT dp_rdr.keepers()') for 1 .. $places;
}
like($stays->query($COUNT), qr/^-?\d+$/, 'a session whose pool has gone finds the new one');
like(ask($node, 'postgres'), qr/^-?\d+$/, 'as does one that is new');
is($looks->query($seen), 't|2', 'a session that only looks, and whose pool has gone, sees the new one');
$stays->quit;
$looks->quit;
ok(verified($node, 'postgres'), 'the ledger is whole');

$node->stop;
done_testing();
