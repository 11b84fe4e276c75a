# Without a free worker process no charge can be committed: an error soon, no answer, and nothing charged.

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
like($stderr, qr/ERROR:  55000: no background worker could be started\nDETAIL:  Nothing was charged/, 'and says why');
like($stderr, qr/HINT:.*max_worker_processes/, 'and what to do');
cmp_ok($duration, '<', 8, sprintf('after %.1f seconds', $duration));
is(account($node, 'postgres'), '1|0.05', 'nothing was charged');

$node->append_conf('postgresql.conf', 'max_worker_processes = 8');
$node->restart;
like(ask($node, 'postgres'), qr/^-?\d+$/, 'with slots again, the question is answered');
is(account($node, 'postgres'), '2|0.1', 'and charged');

$node->stop;
done_testing();
