"""A server of its own whose random bytes come from a seed."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIM = ROOT / "build" / "seeded" / "bytes.so"
BIN = pathlib.Path(os.environ.get("PG_BIN", "/usr/lib/postgresql/15/bin"))

CONFIGURATION = """
listen_addresses = ''
fsync = off
autovacuum = off
max_connections = 250
max_worker_processes = 40
timezone = 'UTC'
wal_level = minimal
max_wal_senders = 0
dp_rdr.keepers = 1
"""


class Server:
    """With one keeper for each database, so that all leaves of a statement draw in one process, one behind the other."""

    def __init__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="seeded."))
        self.data, self.seed_file, self.renewed = self.home / "data", self.home / "seed", 0
        self.write(0)
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(CONFIGURATION + f"unix_socket_directories = '{self.home}'\n")
        preloaded = dict(os.environ, LD_PRELOAD=str(SHIM), DP_RDR_SEED=str(self.seed_file))
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.home / "log", "start", env=preloaded)
        os.environ.update(PGHOST=str(self.home), PGPORT="5432", PGUSER="postgres")

    def run(self, program, *arguments, env=None):
        subprocess.run([BIN / program, *arguments], check=True, stdout=subprocess.DEVNULL, env=env)

    def write(self, seed):
        """In place: the processes of the server have mapped the file."""
        with open(self.seed_file, "r+b" if self.seed_file.exists() else "wb") as file:
            file.write(struct.pack("=QQ", self.renewed, seed))

    def renew(self, seed):
        """Each process draws from the first byte of this seed on."""
        self.renewed += 1
        self.write(seed)

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.home)
