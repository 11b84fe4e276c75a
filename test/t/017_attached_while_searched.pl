# A partition that is attached behind the check of the others, while a search for a price waits for one of them: the search
# reads no part that was not checked, nobody is suspended for it, and the next question is answered.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use KeeperTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('attached', '');
protect_people($node, 'postgres');
psql_as($node, 'postgres', 'controller', q{
	CREATE TABLE parted (age integer) PARTITION BY RANGE (age);
	CREATE TABLE young PARTITION OF parted FOR VALUES FROM (0) TO (50);
	CREATE TABLE old (age integer);
	INSERT INTO parted SELECT g FROM generate_series(0, 49) g;
	INSERT INTO old SELECT g FROM generate_series(50, 90) g;
	SELECT dp_protect('parted', 'parted_dp');
	SELECT dp_set_bounds('parted', 'age', 0, 100);
	SELECT dp_set_odometer('parted', 'none');
	SELECT dp_grant('parted_dp', 'analyst', tau => 0.5, selection => 'within_data', epsilon_max => 10);});
my $SUM = q{SELECT * FROM dp_query('SELECT sum(age) FROM parted_dp') AS (n bigint)};
like(ask($node, 'postgres', $SUM), qr/^-?\d+$/, 'a price is found');

my $owner = session($node, 'controller');
my $other = session($node, 'controller');
my $session = session($node);
$owner->query_safe('BEGIN');
$owner->query_safe('LOCK TABLE young IN ACCESS EXCLUSIVE MODE');
start_question($session, $SUM);
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'young'::regclass
	AND waitstart < clock_timestamp() - interval '100 ms'
	AND pid IN (SELECT pid FROM dp_rdr.keepers() WHERE pid IS NOT NULL)}) or die 'the keeper does not wait';
$other->query_safe('ALTER TABLE parted ATTACH PARTITION old FOR VALUES FROM (50) TO (100)');
$owner->query_safe('COMMIT');
is(finish_question($session), '55000', 'with a part that was not checked nothing is answered');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_rdr.suspension'), 0, 'for which nobody is suspended');
is(account($node, 'postgres', 'parted', 'conditional') =~ s/\|.*//r, 1, 'or charged');
like(ask($node, 'postgres', $SUM), qr/^-?\d+$/, 'asked again, it is');

$_->quit for $owner, $other, $session;
$node->stop;
done_testing();
