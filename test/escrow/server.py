"""A server of our own: on a folder that we name, on loopback and on a socket that nobody else reaches."""
import os
import pathlib
import secrets
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/attacks"))

import libpq  # noqa: E402

# As in the other measurements; TLS is on, and asked for by the connections that are to have it.
SETTINGS = {"listen_addresses": "127.0.0.1", "ssl": "on", "fsync": "on", "shared_buffers": "512MB", "timezone": "UTC",
            "max_worker_processes": "32", "log_min_messages": "warning"}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options).stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, name, place, work):
        self.data = pathlib.Path(place) / f"{name}.data"
        self.sockets = pathlib.Path(work)
        self.port = free_port()
        self.password = secrets.token_urlsafe(16)
        secret = pathlib.Path(work) / f"{name}.password"
        secret.write_text(self.password)
        run("initdb", "-D", self.data, "-E", "UTF8", "--no-locale", "-U", "postgres", "-A", "scram-sha-256", "--pwfile", secret)
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-out",
            self.data / "server.crt", "-keyout", self.data / "server.key")
        (self.data / "server.key").chmod(0o600)
        lines = {**SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.sockets)}
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in lines.items())
        # Not with a pipe, which the server would keep open.
        subprocess.run(["pg_ctl", "-D", str(self.data), "-w", "-l", str(self.data / "log"), "start"], check=True,
                       stdout=subprocess.DEVNULL)

    def stop(self):
        run("pg_ctl", "-D", self.data, "-m", "fast", "stop")

    def connect(self, database, tls=False):
        where = {"host": "127.0.0.1", "sslmode": "require"} if tls else {"host": str(self.sockets)}
        return libpq.Connection(dbname=database, port=str(self.port), user="postgres", password=self.password, **where)

    def psql(self, database, script, variables=()):
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database]
        for name, value in dict(variables).items():
            command += ["-v", f"{name}={value}"]
        environment = {**os.environ, "PGHOST": str(self.sockets), "PGPORT": str(self.port), "PGUSER": "postgres",
                       "PGPASSWORD": self.password}
        run(*command, input=script, env=environment, cwd=ROOT)
