# What a join leaves behind in a public table is the same whoever is in the private one: an analyst may write there, and look at where
# scans begin and where new rows go.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use Test::More;

# 128 buffers: scans of more than 32 pages are synchronized.
my $node = new_server('public_rows', "shared_buffers = 1MB\nautovacuum = off");
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(controller analyst);

# Somebody has the code that nobody else has, or nobody.
sub world
{
	my ($name, $somebody) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, q{CREATE EXTENSION dp_rdr; GRANT CREATE ON SCHEMA public TO controller});
	psql_as($node, $name, 'controller', qq{
		CREATE TABLE visit (pid integer, code integer);
		INSERT INTO visit SELECT i % 50, i % 10 FROM generate_series(1, 500) i;
		INSERT INTO visit SELECT 77, 7777 WHERE $somebody;
		CREATE TABLE code (code integer PRIMARY KEY, note text); -- by which nothing is counted before
		INSERT INTO code SELECT i, repeat('x', 400) FROM generate_series(1, 1998) i; -- 111 pages, all full
		SELECT dp_protect('visit', 'visit_dp', unit => 'pid', max_rows => 20);
		SELECT dp_set_odometer('visit', 'none');
		SELECT dp_grant('visit_dp', 'analyst', 0, epsilon_max => 1, candidates => '{1}');
		SELECT dp_set_public('code', 'visit');
		GRANT SELECT, INSERT, DELETE ON code TO analyst;
		CREATE TABLE note (code integer, note text); -- all of the notes on one page, which they fill
		ALTER TABLE note ALTER note SET STORAGE EXTERNAL;
		INSERT INTO note VALUES (7777, repeat('x', 5000)), (1, repeat('x', 2400));
		SELECT dp_set_public('note', 'visit');
		GRANT SELECT, INSERT, DELETE ON note TO analyst;});
	return;
}

my $ask = q{SELECT * FROM dp_query('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code WHERE v.code > 7000') AS (n bigint)};

# Where a scan of a part begins, and where a row goes after others were deleted.
sub traces
{
	my ($name) = @_;
	my @traces;
	ask($node, $name, $ask);
	push @traces, psql_as($node, $name, 'analyst', 'SELECT ctid FROM code LIMIT 1');
	psql_as($node, $name, 'analyst', 'DELETE FROM code WHERE code > 1990'); # from the last page, where new rows go if it has been pruned
	ask($node, $name, $ask);
	push @traces, psql_as($node, $name, 'analyst', q{INSERT INTO code SELECT 8000 + i, repeat('x', 400) FROM generate_series(1, 3) i RETURNING ctid});
	return join ' ', @traces;
}

# Where a value goes that is kept out of line, after another one was deleted from the page of the value that only somebody meets.
sub size
{
	my ($name) = @_;
	psql_as($node, $name, 'analyst', 'DELETE FROM note WHERE code = 1');
	ask($node, $name, q{SELECT * FROM dp_query('SELECT count(*) FROM visit_dp v JOIN note n ON n.code = v.code WHERE v.code = 7777 AND length(n.note) > v.pid') AS (n bigint)});
	psql_as($node, $name, 'analyst', q{INSERT INTO note VALUES (2, repeat('x', 2300))});
	return psql_as($node, $name, 'analyst', q{SELECT pg_table_size('note')});
}

world('somebody', 'true');
world('nobody', 'false');
my $with = traces('somebody');
like($with, qr/^\(0,1\)/, 'a scan begins where the table does');
is(traces('nobody'), $with, 'nobody who could be met leaves the same behind as somebody');

is(size('nobody'), size('somebody'), 'values out of line are read whoever could meet them');

$node->stop;
done_testing();
