# Constants that take long to compute, asked for by one login again and again: nobody else waits for more than one of them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_server('slow', 'max_parallel_workers_per_gather = 0');
protect_people($node, 'postgres');
$node->safe_psql('postgres', 'CREATE ROLE colleague LOGIN');
psql_as($node, 'postgres', 'controller', q{SELECT dp_grant('people_dp', 'colleague', tau => 0.95)});
(my $count = $COUNT) =~ s/age > 40/age > 41/;
like(psql_as($node, 'postgres', 'colleague', $count), qr/^-?\d+$/, 'a keeper is there');

# Some seconds each; given up after 200 ms where others wait with it.
my $long = q{(repeat('a', 5000) || 'b' || repeat('a', 5001) || 'c') ~ '^(a+)(a+)(a+)(a+)b\\1\\2\\3\\4c$'};
my $slow = "SELECT * FROM dp_query(\$q\$SELECT count(*) FROM people_dp WHERE $long\$q\$) AS (n bigint)";
my $honest = session($node, 'colleague');
$honest->query_safe('SELECT 1');
my @hostile = map { session($node) } 1 .. 40;
start_question($_, $slow) for @hostile;

my $begun = time;
like($honest->query($count), qr/^-?\d+$/, 'somebody else is answered');
cmp_ok(time - $begun, '<', 1.5, 'within the time of a few of them');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_rdr.ledger WHERE role_name = 'analyst'}), '0', 'they cost nothing');
$node->stop('immediate');
done_testing();
