"""A database that loads build/greybox/dp_rdr.so by its path, in the place of the library that is installed."""
import pathlib

from libpq import Connection

BUILD = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "greybox"


def make_database(name, roles):
    """A connection of its owner."""
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    for role in roles:
        postgres.send(f"DROP ROLE IF EXISTS {role}")
    postgres.must(f"CREATE DATABASE {name} TEMPLATE template0")
    for role in roles:
        postgres.must(f"CREATE ROLE {role}")
    library = BUILD / "dp_rdr"
    owner = Connection(dbname=name)
    owner.must("CREATE EXTENSION dp_rdr")
    # The functions of this database alone: by the path of the library that is tested.
    owner.must(f"UPDATE pg_proc SET probin = '{library}' WHERE probin = '$libdir/dp_rdr'")
    owner.must(f"ALTER DATABASE {name} SET session_preload_libraries = '{library}'")
    owner.must(f"ALTER DATABASE {name} SET max_parallel_workers_per_gather = 0")
    owner.close()
    # One process draws for all leaves of a statement.
    postgres.must("LOAD 'dp_rdr'")
    postgres.must("ALTER SYSTEM SET dp_rdr.keepers = 1")
    postgres.must("SELECT pg_reload_conf()")
    postgres.close()
    return Connection(dbname=name)


def drop_database(name, roles):
    postgres = Connection(dbname="postgres")
    postgres.send("LOAD 'dp_rdr'")
    postgres.send("ALTER SYSTEM RESET dp_rdr.keepers")
    postgres.send("SELECT pg_reload_conf()")
    postgres.send(f"DROP DATABASE {name} WITH (FORCE)")
    for role in roles:
        postgres.send(f"DROP ROLE {role}")
    postgres.close()


def end_keeper(owner, name):
    """The next one begins with the first bit of the file."""
    owner.must("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
               f"WHERE backend_type = 'dp_rdr keeper' AND datname = '{name}'")
