# Who may dump a database with protected tables: not its owner, since the catalog and the ledger are not his; a superuser, or
# a role that may read everything.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('dumped', '');
$node->safe_psql('postgres', q{
	CREATE ROLE landlord LOGIN;
	CREATE ROLE keeper_of_dumps LOGIN IN ROLE pg_read_all_data;
	CREATE DATABASE data OWNER landlord;});
protect_people($node, 'data');
ask($node, 'data');

my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.dump';
$node->command_fails_like([ 'pg_dump', '-U', 'landlord', '-Fc', '-f', $dump, 'data' ],
	qr/permission denied/, 'the owner of the database is refused');
is(sqlstate($node, 'data', 'landlord', 'SELECT * FROM dp_rdr.ledger_row'), '42501', 'and so by the ledger of others');

$node->command_ok([ 'pg_dump', '-U', 'keeper_of_dumps', '-Fc', '-f', $dump, 'data' ],
	'who may read everything can dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'copy', $dump ], 'and a superuser restores it');
is(account($node, 'copy'), account($node, 'data'), 'with its totals');
ok(verified($node, 'copy'), 'and a whole ledger');

done_testing();
