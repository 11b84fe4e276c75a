"""What the programs of this directory have in common: modules of others, and a database with a session for each policy."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "blackbox"):
    sys.path.insert(0, str(HERE.parent / folder))

from libpq import Connection  # noqa: E402
from server import Server  # noqa: E402
from tap import Tap  # noqa: E402


class Sessions:
    """Of one database: its owner's, and one for each policy, whose role asks."""

    def __init__(self, name, policies):
        self.owner = Connection(dbname=name)
        self.sessions = {policy: Connection(dbname=name) for policy in policies}
        for policy, session in self.sessions.items():
            session.must(f"SET ROLE {policy}")

    def close(self):
        for connection in (self.owner, *self.sessions.values()):
            connection.close()


__all__ = ["Connection", "Server", "Sessions", "Tap"]
