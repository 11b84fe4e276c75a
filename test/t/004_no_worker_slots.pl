# Without a free worker process no keeper can start: an error soon, no answer, and nothing charged. One that lives needs no
# other slot.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_server('slots', '');
protect_people($node, 'postgres');
ask($node, 'postgres');

$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->restart;

my $begun = time;
my ($status, $stdout, $stderr) = $node->psql('postgres', $COUNT,
	extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=verbose' ]);
my $duration = time - $begun;

isnt($status, 0, 'no slot: the question fails');
is($stdout, '', 'without an answer');
like($stderr, qr/ERROR:  53300: no background worker could be started\nDETAIL:  Nothing was charged/, 'and says why');
like($stderr, qr/HINT:.*max_worker_processes/, 'and what to do');
cmp_ok($duration, '<', 60, sprintf('after %.1f seconds', $duration));
is(account($node, 'postgres'), '1|0.05', 'nothing was charged');

$node->append_conf('postgresql.conf', 'max_worker_processes = 8');
$node->restart;
like(ask($node, 'postgres'), qr/^-?\d+$/, 'with slots again, the question is answered');
is(account($node, 'postgres'), '2|0.1', 'and charged');

# All slots but one are taken by others: the keeper answers one after the other, for owners as well.
$node->append_conf('postgresql.conf', 'max_worker_processes = 2');
$node->restart;
for my $n (3 .. 5)
{
	like(ask($node, 'postgres'), qr/^-?\d+$/, 'with one slot for a keeper, a question is answered');
	is(account($node, 'postgres'), $n . '|' . 0.05 * $n, 'and charged');
}
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'"), 1,
	'by one keeper');
psql_as($node, 'postgres', 'controller', q{CALL dp_find_epsilon('SELECT count(*) FROM people_dp', 0.5)});
is((split /\|/, account($node, 'postgres', 'people', 'conditional'))[0], 1, 'which charges what the owner asks himself');

$node->stop;
done_testing();
