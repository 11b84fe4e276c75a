# The library exports the names that the server looks up, and none that could answer for a symbol of another library.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $folder = `pg_config --pkglibdir`);
my @symbols = map { (split)[-1] } split /\n/, `nm -D --defined-only $folder/dp_rdr.so`;
cmp_ok(scalar(@symbols), '>', 300, 'it exports functions');
my @functions = map { /^pg_finfo_(.*)/ ? $1 : () } @symbols;
is_deeply(
	[ sort @symbols ],
	[ sort @functions, (map { "pg_finfo_$_" } @functions), qw(Pg_magic_func _PG_init dp_rdr_keeper_main) ],
	'functions of SQL, what the server calls when it loads it, and the main function of a keeper');

done_testing();
