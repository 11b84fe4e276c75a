# Settings are compared between a session and a keeper by the versions of their rows. A session that ignores indexes finds
# them in another order: they are the same all the same.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('indexes', '');
protect_people($node, 'postgres');
psql_as($node, 'postgres', 'controller', q{SELECT dp_set_bounds('people', 'age', 0, 100)}); # behind pay
$ENV{PGOPTIONS} = '-c ignore_system_indexes=on';
my $changing = q{BEGIN; CREATE TEMPORARY TABLE mine (a integer); };
like(ask($node, 'postgres', "$changing $COUNT; COMMIT"), qr/^-?\d+$/, 'an open transaction of an analyst is answered');
is(sqlstate($node, 'postgres', 'controller', q{CALL dp_find_epsilon('SELECT count(*) FROM people_dp', 0.5)}), '',
	'and so is an owner');

$node->stop;
done_testing();
