# Restores a dump where one of its roles is missing. The catalog's rows of other roles are there. Its rows of that role are kept and
# match nobody, and whoever was suspended asks no more.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('missing', "session_preload_libraries = 'dp_rdr'");
protect_people($node, 'postgres');
$node->safe_psql('postgres', q{CREATE ROLE gone LOGIN; CREATE ROLE rita LOGIN; CREATE ROLE other LOGIN});
psql_as($node, 'postgres', 'controller', q{
	SELECT dp_grant('people_dp', 'gone', tau => 0.95), dp_grant('people_dp', 'other', tau => 0.95), dp_set_review('people', '{rita,gone}')});
my $of_gone = psql_as($node, 'postgres', 'gone', q{SELECT dp_request('SELECT count(*) AS n FROM people_dp', 'of nobody')});
my $of_other = psql_as($node, 'postgres', 'other', q{SELECT dp_request('SELECT count(*) AS n FROM people_dp', 'of somebody')});
# Suspended under the policy of the role that will be missing: itself, and who was asking as a member of it.
$node->safe_psql('postgres', q{INSERT INTO dp_rdr.suspension VALUES ('people_dp', 'gone', 'gone', 'gone', now()), ('people_dp', 'gone', 'analyst', 'analyst', now())});

sub restored
{
	my ($database, $from) = @_;
	my $dump = PostgreSQL::Test::Utils::tempdir() . "/$database.dump";
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $from ], "$from is dumped");
	$node->safe_psql('postgres', q{DROP OWNED BY gone; DROP ROLE gone}) if $from eq 'postgres';
	$node->safe_psql('template1', "CREATE DATABASE $database");
	# A right of the missing role's on the view is an error of its own.
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'pg_restore', '-h', $node->host, '-p', $node->port, '-d', $database, $dump ], '>', \$out, '2>', \$err);
	$node->safe_psql($database, 'GRANT SELECT ON people_dp TO analyst, other'); # pg_restore gives up all rights on the view with the missing one's
	unlike($err, qr/COPY|duplicate|could not execute query.*dp_rdr/, 'no table is left empty');
	return $err;
}

like(restored('copy', 'postgres'), qr/role "gone" does not exist/, 'who restores it hears of the role');
for my $database ('copy', 'again')
{
	restored('again', 'copy') if $database eq 'again';
	is($node->safe_psql($database, 'SELECT count(*), count(r.oid) FROM dp_rdr.policy p LEFT JOIN pg_roles r ON r.oid = p.grantee'), '3|2', 'policies');
	is($node->safe_psql($database, 'SELECT count(*), count(r.oid) FROM dp_rdr.reviewer v LEFT JOIN pg_roles r ON r.oid = v.reviewer'), '2|1', 'reviewers');
	is($node->safe_psql($database, 'SELECT count(*), count(r.oid) FROM dp_rdr.request q LEFT JOIN pg_roles r ON r.oid = q.requester'), '2|1', 'requests');
	is($node->safe_psql($database, 'SELECT count(*) FROM dp_rdr.suspension'), '2', 'suspensions');
	is(sqlstate($node, $database, 'analyst', 'SELECT count(*) FROM people_dp'), '55000', 'who was suspended asks no more');
	is(sqlstate($node, $database, 'other', 'SELECT count(*) FROM people_dp'), '', 'who was not, does');
	is(psql_as($node, $database, 'rita', "SELECT state FROM dp_requests() WHERE request = $of_other"), 'pending', 'a request waits');
	is(psql_as($node, $database, 'controller', "SELECT string_agg(severity || ' ' || regexp_replace(finding, '\\d+', 'N'), E'\\n' ORDER BY finding) FROM dp_audit() WHERE finding ~ 'does not exist'"),
		"warning has a policy for role N, which does not exist\nwarning has a reviewer, role N, who does not exist", 'the audit tells of the policy and the reviewer');
	ok(verified($node, $database), 'the ledger is whole');
}

# A new role of that name is another one.
$node->safe_psql('copy', 'CREATE ROLE gone LOGIN; GRANT SELECT ON people_dp TO gone');
is(sqlstate($node, 'copy', 'gone', 'SELECT count(*) FROM people_dp'), '42501', 'it has no policy');
is(sqlstate($node, 'copy', 'gone', "SELECT dp_reject($of_gone)"), '42501', 'no request');
is(psql_as($node, 'copy', 'gone', 'SELECT count(*) FROM dp_requests(NULL)'), '0', 'nothing to decide on');
is(sqlstate($node, 'copy', 'controller', "SELECT dp_approve($of_gone, basis => 'public')"), '55000', 'and nothing is charged for the one that is missing');

# Its owner lifts a suspension as ever.
psql_as($node, 'copy', 'controller', "SELECT dp_resume('people_dp', 'analyst')");
is(sqlstate($node, 'copy', 'analyst', 'SELECT count(*) FROM people_dp'), '', 'resumed');

# A text that is no UTF-8, where nothing says what it is: refused before the charge, with the reason.
$node->safe_psql('template1', q{CREATE DATABASE bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0});
$node->safe_psql('bytes', q{CREATE EXTENSION dp_rdr; GRANT CREATE ON SCHEMA public TO controller});
psql_as($node, 'bytes', 'controller', q{CREATE TABLE word (id integer PRIMARY KEY, said text); SELECT dp_protect('word', 'word_dp'); SELECT dp_grant('word_dp', 'analyst', tau => 0.95)});
my ($status, $out, $err) = $node->psql('bytes', qq{SELECT count(*) FROM word_dp WHERE said = '\xe9'}, extra_params => [ '-U', 'analyst' ]);
like($err, qr/ERROR:  the query is not in UTF-8.*Nothing was charged/s, 'refused with the reason');
is($node->safe_psql('bytes', 'SELECT count(*) FROM dp_rdr.ledger'), '0', 'and not charged');
is(sqlstate($node, 'bytes', 'analyst', qq{SELECT count(*) FROM word_dp WHERE said = '\xc3\xa9'}), '', 'in UTF-8 it is answered');

done_testing();
