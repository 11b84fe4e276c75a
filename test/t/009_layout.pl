# A session whose library is not that of the keepers: the file was replaced while it ran. The layout of what they share is
# part of its name, so the two never meet in one piece of memory. As long as keepers of the session's own library live it is
# answered; afterwards it hears soon that it has to reconnect, and nothing is charged.
#
# The server runs from a copy of the installation, whose library can be replaced: by the same one, with another name of what
# is shared.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# The library with another name for what sessions and keepers share, in place of the one that is there: those who have that
# one open keep it.
sub replace_library
{
	my ($file) = @_;
	my $bytes = slurp_file($file);
	die 'the name is not there once' if ($bytes =~ s/dp_rdr keepers %u/dp_rdr KEEPERS %u/g) != 1;
	unlink $file or die "$file: $!";
	open(my $handle, '>:raw', $file) or die "$file: $!";
	print $handle $bytes;
	close $handle or die "$file: $!";
	return;
}

my ($bin, $libraries) = copied_installation();
my $library = "$libraries/dp_rdr.so";
$ENV{PATH} = "$bin:$ENV{PATH}";
my $node = new_server('layout', 'dp_rdr.keepers = 1');
protect_people($node, 'postgres');

sub new_session
{
	my $session = $node->background_psql('postgres', on_error_stop => 0,
		extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=verbose' ]);
	$session->query('SELECT 1');
	return $session;
}

my $session = new_session();
like($session->query("$COUNT;"), qr/^-?\d+$/, 'a session is answered');
is(account($node, 'postgres'), '1|0.05', 'and charged');

replace_library($library);
like($session->query("$COUNT;"), qr/^-?\d+$/, 'after the library was replaced it is, too, by the keeper that lives');
my $later = new_session();
like($later->query("$COUNT;"), qr/^-?\d+$/, 'and so is a later session, by a keeper of its own');
is(account($node, 'postgres'), '3|0.15', 'each is charged');
my $keepers = q{FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper'};
is($node->safe_psql('postgres', "SELECT count(*) $keepers"), 2, 'there is one of each library');

$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 5000) $keepers");
my $begun = time;
is($session->query("$COUNT;"), '', 'without a keeper of its own the old session is not answered');
my $duration = time - $begun;
like($session->{stderr}, qr/ERROR:  57P03: no background worker could be started/, 'which the error says');
like($session->{stderr}, qr/HINT:.*reconnect/i, 'and what to do');
cmp_ok($duration, '<', 60, sprintf('after %.1f seconds', $duration));
is(account($node, 'postgres'), '3|0.15', 'and nothing is charged');
cmp_ok($node->safe_psql('postgres', "SELECT count(*) $keepers"), '<=', 1, 'nor are there more keepers than there may be');
like($later->query("$COUNT;"), qr/^-?\d+$/, 'the later session is answered');
is(account($node, 'postgres'), '4|0.2', 'and charged');
$_->quit for $session, $later;

ok(verified($node, 'postgres'), 'the ledger is whole');

$node->stop;
done_testing();
