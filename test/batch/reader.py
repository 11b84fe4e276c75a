"""No analyst's process reads rows: one that comes to the code that reads them ends where assertions are on, and gets an
error elsewhere, whatever his policy is. build/batch/batch.so calls that code as no function of the extension does.

The server is one of this test's own, since an assertion that fails restarts it.
"""
import contextlib
import pathlib
import re
import resource
import subprocess
import tempfile
import time

from libpq import Connection

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "build" / "batch" / "batch"
# What each policy's request does with rows before anything else.
POLICIES = {
    "answering": "tau => 0.95",
    "searching": "tau => 0.95, selection => 'within_data'",
    "selecting": "tau_var => 0.001, epsilon_max => 10",
}
SETTINGS = "-c listen_addresses='' -c unix_socket_directories='{0}' -c fsync=off"


@contextlib.contextmanager
def own_server():
    """The folder of its socket; its log is the file log in there."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    programs = pathlib.Path(subprocess.run(["pg_config", "--bindir"], text=True, stdout=subprocess.PIPE,
                                           check=True).stdout.strip())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([programs / "initdb", "-D", f"{folder}/data", "-U", "postgres", "-A", "trust", "--no-locale", "-N"],
                       check=True, stdout=subprocess.DEVNULL)
        control = [programs / "pg_ctl", "-D", f"{folder}/data", "-l", f"{folder}/log", "-w"]
        subprocess.run(control + ["-o", SETTINGS.format(folder), "start"], check=True, stdout=subprocess.DEVNULL)
        try:
            yield folder
        finally:
            subprocess.run(control + ["-m", "immediate", "stop"], check=False, stdout=subprocess.DEVNULL)


def connect(folder, user):
    return Connection(host=folder, user=user, dbname="postgres")


def prepare(folder):
    """Whether the library has assertions."""
    owner = connect(folder, "postgres")
    owner.must("CREATE EXTENSION dp_rdr")
    owner.must(f"CREATE FUNCTION read(text, oid, boolean) RETURNS void AS '{LIBRARY}', 'dp_test_read' LANGUAGE C")
    owner.must(f"CREATE FUNCTION asserts() RETURNS boolean AS '{LIBRARY}', 'dp_test_asserts' LANGUAGE C")
    owner.must(f"CREATE FUNCTION permits() RETURNS text AS '{LIBRARY}', 'dp_test_permits' LANGUAGE C")
    owner.must("CREATE TABLE people AS SELECT g AS age FROM generate_series(1, 10) g")
    owner.must("SELECT dp_protect('people', 'people_dp')")
    owner.must("SELECT dp_set_odometer('people', 'none')")
    for role, terms in POLICIES.items():
        owner.must(f"CREATE ROLE {role} LOGIN")
        owner.must(f"SELECT dp_grant('people_dp', '{role}', {terms})")
    asserts = owner.must("SELECT asserts()") == (("t",),)
    owner.close()
    return asserts


def logged(folder, before, last):
    """What the server writes from `before` on, up to the last thing that it has to say."""
    for _ in range(200):
        text = pathlib.Path(folder, "log").read_bytes()[before:].decode()
        if last in text:
            break
        time.sleep(0.05)
    return text


def complaints(folder, role, asserts):
    before = pathlib.Path(folder, "log").stat().st_size
    session = connect(folder, role)
    reply = session.send("SELECT read('SELECT count(*) AS n FROM public.people_dp', 'people_dp'::regclass, true)")
    alive = session.alive()
    session.close()
    text = logged(folder, before, "ready to accept connections" if asserts else "outside a keeper")
    if asserts:
        good = not alive and re.search(r"TRAP: .*allowed", text) and "terminated by signal 6" in text
    else:
        good = alive and reply.sqlstate() == "XX000" and "outside a keeper" in reply.results[-1].field("M")
    return [] if good else [f"alive: {alive}, {reply.results[-1].error}"] + [line[:200] for line in text.splitlines()[-10:]]


def wrong_types(folder):
    owner = connect(folder, "postgres")
    wrong = owner.must("SELECT permits()")[0][0].splitlines()
    owner.close()
    return wrong


def read_uncharged(folder, role):
    """Whether a charge that is not durable pays for nothing: that is said before the process is looked at."""
    session = connect(folder, role)
    reply = session.send("SELECT read('SELECT count(*) AS n FROM public.people_dp', 'people_dp'::regclass, false)")
    good = session.alive() and reply.sqlstate() == "XX000" and "were not charged" in reply.results[-1].field("M")
    error = reply.results[-1].error
    session.close()
    return [] if good else [str(error)]


def test(tap):
    with own_server() as folder:
        asserts = prepare(folder)
        tap.report("reading before paying does not compile", wrong_types(folder))
        for role in ("answering", "selecting"):
            tap.report(f"a charge that is not durable pays for nothing: {role}", read_uncharged(folder, role))
        for role in POLICIES:
            tap.report(f"an analyst's process does not read: {role}, {'with' if asserts else 'without'} assertions",
                       complaints(folder, role, asserts))
