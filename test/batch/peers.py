"""Servers that are asked at once, until one deadline: one that says nothing, wherever it stands in the list, keeps no other from
answering."""
import pathlib
import socket

from libpq import Connection

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "build" / "batch" / "batch"
MILLISECONDS = 3000


def complaints(owner, peers, question, expected):
    list_of = "ARRAY[" + ",".join(f"'{peer}'" for peer in peers) + "]"
    found = owner.must(f"SELECT unnest(peers({list_of}, '{question}', {MILLISECONDS}))")
    found = [row[0] for row in found]
    return [] if found == expected else [f"{found} in the place of {expected}"]


def test(tap, database):
    owner = Connection(dbname=database)
    owner.must(f"CREATE FUNCTION peers(text[], text, integer) RETURNS text[] AS '{LIBRARY}', 'dp_test_peers' LANGUAGE C")
    (folder, port), = owner.must("SELECT split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port')")
    there = f"host={folder} port={port} dbname={database} user=postgres"
    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))
        mute = f"host=127.0.0.1 port={silent.getsockname()[1]} dbname=postgres user=postgres"
        nobody = f"host=127.0.0.1 port={closed.getsockname()[1]} dbname=postgres user=postgres"
        # Where the first host is away the socket is another one for the second.
        second = f"host=127.0.0.1,{folder} port={closed.getsockname()[1]},{port} dbname={database} user=postgres"
        nothing = f"nothing for {MILLISECONDS} ms"
        tap.report("servers that are there answer", complaints(owner, [there] * 5, "SELECT $1::text", ["answers"] * 5))
        tap.report("one that says nothing holds up none of the others",
                   complaints(owner, [mute, there, mute, second, there], "SELECT $1::text", [nothing, "answers", nothing, "answers", "answers"]))
        tap.report("one that refuses says why", complaints(owner, [mute, there], "SELECT $1::integer", [nothing, "22P02"]))
        found = owner.must(f"SELECT peers(ARRAY['{nobody}'], 'SELECT $1::text', {MILLISECONDS})")
        tap.report("one that is not there is not waited for", [] if "nothing" not in found[0][0] else [found[0][0]])
    owner.close()
