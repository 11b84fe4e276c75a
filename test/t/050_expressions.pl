# Declarations of dates, and the answers that follow from them, survive a dump.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('expressions', "shared_preload_libraries = 'dp_rdr'\ntimezone = 'UTC'\n");

my $table = q{
CREATE ROLE controller; CREATE ROLE analyst;
GRANT CREATE ON SCHEMA public TO controller;
SET ROLE controller;
CREATE TABLE stay (id integer, came timestamp, born date, cost numeric(8, 2));
INSERT INTO stay SELECT i, timestamp '2025-01-01' + i * interval '1 day', date '2000-01-01' + i, i % 50 FROM generate_series(0, 89) i;
SELECT dp_protect('stay', 'stay_dp');
SELECT dp_set_bounds('stay', 'cost', 0, 100);
SELECT dp_set_odometer('stay', 'none');
SELECT dp_grant('stay_dp', 'analyst', tau => 0, epsilon_max => 100, candidates => '{100}');
};
my $dates = q{
SET ROLE controller;
SELECT dp_set_bounds('stay', 'came', timestamp '2025-01-01', timestamp '2025-03-31 23:59:59'),
       dp_set_bounds('stay', 'born', date '2000-01-01', date '2000-12-31');
};
my $questions = q{
SET ROLE analyst;
SELECT date_trunc('month', came)::date, count(*) FROM stay_dp WHERE date_trunc('month', came) IS NOT NULL GROUP BY date_trunc('month', came) ORDER BY 1;
SELECT sum(CASE WHEN cost > 25 THEN 1 ELSE 0 END), round(avg(date '2001-01-01' - born), -1), stddev(cost) > 0 FROM stay_dp;
};
my $answers = "2025-01-01|31\n2025-02-01|28\n2025-03-01|31\n38|320|t";

# ---- a new installation, dumped and restored ----

$node->safe_psql('postgres', 'CREATE DATABASE fresh; CREATE DATABASE restored');
$node->safe_psql('fresh', 'CREATE EXTENSION dp_rdr');
$node->safe_psql('fresh', $table . $dates);
is($node->safe_psql('fresh', $questions), $answers, 'expressions, variances and derived groups are answered');
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('fresh') ], 'it is dumped');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'and restored');
is($node->safe_psql('restored', $questions), $answers, 'the copy gives the same answers');
is( $node->safe_psql('restored', q{SET ROLE controller; SELECT name, value FROM dp_settings('stay') WHERE item = 'bounds' ORDER BY name COLLATE "C"}),
    "born|date '2000-01-01' to date '2000-12-31'\ncame|timestamp '2025-01-01 00:00:00' to timestamp '2025-03-31 23:59:59'\ncost|0 to 100",
    'with the same bounds');

done_testing();
