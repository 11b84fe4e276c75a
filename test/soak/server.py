"""A server of the soak's own, which may be killed and started again, and what its log may say."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/attacks"))
import libpq  # noqa: E402

SETTINGS = """
listen_addresses = ''
fsync = on
max_connections = 100
max_worker_processes = 24
max_parallel_workers = 12
restart_after_crash = on
session_preload_libraries = 'dp_rdr'
log_line_prefix = '%m [%p] <%b> %e '
log_checkpoints = off
log_autovacuum_min_duration = -1
timezone = UTC
"""

# What statements may end with while others kill, cancel, alter and exhaust: SQLSTATE -> what is allowed to be said.
EXPECTED = {
    "57014": ".",                    # canceled, timed out
    "57P01": ".",                    # terminated
    "57P02": ".",                    # a crash of another process
    "57P03": ".",                    # starting up, shutting down
    "53300": ".",                    # too many clients, while dead ones are not gone
    "53400": "query denied",
    "55000": "^(?!.*(the query failed|suspended))", # settings that change
    # A worker that has ended, settings that changed behind the charge; but nothing that reading rows has met.
    "40003": "^(?!.*the query failed)",
    "55P03": ".",                    # a lock that was not to be had in time
    "40P01": ".",
    "25P02": ".",                    # the rest of a transaction that has failed
    "42P01": "part",                 # a partition that is gone already
    "08006": ".", "08P01": "unexpected EOF", "08003": ".", "08000": ".",
}
# Those that some questions are for; analysts look at these replies themselves.
ASKED_FOR = {"42501": "rows of a restricted view are private|permission denied for table ledger_row",
             "0A000": "aggregate max is not supported"}
# Lines of the server's own, without a statement.
QUIET = re.compile("|".join((
    r"LOG:  (starting PostgreSQL|listening on|database system|checkpoint|received|shutting down|aborting any active"
    r"|background worker|server process|terminating any other|all server processes|redo|invalid record length"
    r"|invalid magic number|record with incorrect prev-link"
    r"|unexpected EOF|could not send data|could not receive data|process \d+ still waiting|automatic recovery"
    r"|entering standby|selected new"
    r"|connection to client lost|parallel worker|terminating logical|worker process)",
    r"WARNING:  terminating connection because of crash",
    r"WARNING:  PID \d+ is not a PostgreSQL backend process",
    r"FATAL:  the database system is",
    r"(DETAIL|HINT|STATEMENT|CONTEXT|QUERY|LOCATION):")))
SIGNALLED = re.compile(r"was terminated by signal (\d+)")


class Server:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.data = self.directory / "data"
        self.log = self.directory / "log"
        os.environ.update(PGHOST=str(directory), PGPORT="5432", PGUSER="postgres", PGDATABASE="postgres")

    def create(self):
        subprocess.run(["initdb", "-D", self.data, "--no-locale", "-E", "UTF8", "-A", "trust", "-U", "postgres"],
                       stdout=subprocess.DEVNULL, check=True)
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write(SETTINGS + f"unix_socket_directories = '{self.directory}'\n")
        self.start()

    def control(self, *arguments):
        subprocess.run(["pg_ctl", "-D", self.data, "-w", "-t", "120", *arguments], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)

    def start(self):
        self.control("-l", str(self.log), "start")

    def stop(self, mode):
        self.control("-m", mode, "stop")

    def postmaster(self):
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def is_mine(self, pid):
        """Whether a process is a child of this server, so that nobody else's is ever killed."""
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            return f"PPid:\t{self.postmaster()}\n" in status
        except OSError:
            return False

    def unexpected(self):
        """Lines of the log that nobody can explain."""
        lines = []
        for line in self.log.read_text(errors="replace").splitlines():
            found = re.match(r"\S+ \S+ \S+ \[\d+\] <([^>]*)> (\w{5}) (.*)", line)
            if not found:
                # What follows the first line of a message begins with a tab; everything else is a server's own words.
                if line and not line.startswith("\t") and re.search("TRAP|PANIC|leak|sanitizer|corrupt", line, re.I):
                    lines.append(line)
                continue
            state, text = found[2], found[3]
            signalled = SIGNALLED.search(text)
            if signalled and signalled[1] not in ("9", "15"):
                lines.append(line)
            elif QUIET.match(text):
                continue
            elif not re.search((EXPECTED | ASKED_FOR).get(state, "(?!)"), text):
                lines.append(line)
        return lines


def connect(role, **more):
    connection = libpq.Connection(user=role, dbname="soak", **more)
    connection.must("SET client_min_messages = error")
    return connection
