# A clock that a test sets: a library that the server loads first adds to the time what a file says.

package DpClock;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Time::Local qw(timegm);

our @EXPORT = qw(build_clock set_clock);

my $offset;

# The library, for LD_PRELOAD; undef without a compiler.
sub build_clock
{
	my $folder = PostgreSQL::Test::Utils::tempdir;
	$offset = "$folder/offset";
	append_to_file("$folder/clock.c", <<"END");
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	char text[32] = "0";
	struct timespec real;
	int file = open("$offset", O_RDONLY);
	(void) zone;
	clock_gettime(CLOCK_REALTIME, &real);
	if (file >= 0)
	{
		if (read(file, text, sizeof text - 1) < 0)
			text[0] = 0;
		close(file);
	}
	now->tv_sec = real.tv_sec + atol(text);
	now->tv_usec = real.tv_nsec / 1000;
	return 0;
}
END
	return system('cc', '-O1', '-w', '-shared', '-fPIC', '-o', "$folder/clock.so", "$folder/clock.c") == 0
	  ? "$folder/clock.so"
	  : undef;
}

# So that the clock shows this moment in UTC now. In one piece: it is read all the time.
sub set_clock
{
	my ($year, $month, $day, $hour, $minute) = @_;
	my $more = timegm(0, $minute // 0, $hour // 12, $day, $month - 1, $year) - time;
	open my $file, '>', "$offset.new" or die $!;
	print $file $more;
	close $file;
	rename "$offset.new", $offset or die $!;
	return;
}

1;
