# A session whose library is not that of the worker: the file was replaced meanwhile. The worker knows it by the number at
# the head of the request, refuses, and nothing is charged. Here the postmaster is stopped, so that no worker starts, while
# the number is changed where the request is: in a segment of shared memory that is a file.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# A table of contents (shm_toc): magic number, lock, two sizes, the number of entries; then entries of key and offset.
my ($entry_count, $entries) = (32, 40);
# The mail has key 0 and begins with layout, size and status.
my $key_mail = 0;

my $node = new_server('layout', 'dynamic_shared_memory_type = mmap');
protect_people($node, 'postgres');
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

sub segments
{
	return glob($node->data_dir . '/pg_dynshmem/mmap.*');
}

# Where in a segment a request is that waits; nothing if there is none.
sub request_at
{
	my ($bytes) = @_;
	my $count = unpack('L', substr($bytes, $entry_count, 4));
	return if $count != 2;
	for my $i (0 .. $count - 1)
	{
		my ($key, $offset) = unpack('QQ', substr($bytes, $entries + 16 * $i, 16));
		next if $key != $key_mail;
		my ($layout, $size, $status) = unpack('LLL', substr($bytes, $offset, 12));
		return $offset if $layout > 0 && $size > 100 && $size < 10_000 && $status == 0;
	}
	return;
}

# The one request that waits, as file and position.
sub waiting_request
{
	for (1 .. 100)
	{
		for my $segment (segments())
		{
			my $at = request_at(slurp_file($segment));
			return ($segment, $at) if defined $at;
		}
		sleep 0.1;
	}
	die 'no request came';
}

sub add_to_number
{
	my ($file, $at, $more) = @_;
	open(my $handle, '+<:raw', $file) or die "$file: $!";
	sysseek($handle, $at, 0);
	sysread($handle, my $bytes, 4) == 4 or die "$file: $!";
	sysseek($handle, $at, 0);
	syswrite($handle, pack('L', unpack('L', $bytes) + $more)) == 4 or die "$file: $!";
	close $handle;
	return;
}

# What the analyst gets whose request has its number at this distance from the head changed: the answer and the error.
sub answer_after
{
	my ($distance, $more) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0,
		extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=verbose' ]);
	$session->query('SELECT 1');
	kill 'STOP', $postmaster;
	$session->query_until(qr/asked/, "\\echo asked\n$COUNT;\n");
	my $changed = eval {
		my ($file, $at) = waiting_request();
		add_to_number($file, $at + $distance, $more);
		1;
	};
	kill 'CONT', $postmaster;
	die $@ if !$changed;
	my $answer = $session->query('SELECT 1');
	my $error = $session->{stderr};
	$session->quit;
	return ($answer, $error);
}

my ($answer, $error) = answer_after(0, 0);
like($answer, qr/^-?\d+\n1$/, 'a request that waits and is not changed is answered');
is(account($node, 'postgres'), '1|0.05', 'and charged');

for my $case ([ 0, 1, 'of a later layout' ], [ 0, 7, 'of a much later layout' ], [ 4, 8, 'of another size' ])
{
	my ($distance, $more, $name) = @$case;
	($answer, $error) = answer_after($distance, $more);
	is($answer, '1', "a request $name is not answered");
	like($error, qr/ERROR:  55000: the library of dp_rdr was replaced while this session was running/, 'which the error says');
	like($error, qr/HINT:  Reconnect/, 'and what to do');
	is(account($node, 'postgres'), '1|0.05', 'and nothing is charged');
}

like(ask($node, 'postgres'), qr/^-?\d+$/, 'a new session is answered');
ok(verified($node, 'postgres'), 'and the ledger is whole');

$node->stop;
done_testing();
