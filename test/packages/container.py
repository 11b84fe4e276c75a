#!/usr/bin/env python3
"""Builds what doc/Containerfile says, starts it, and asks it for an answer. TAP.

With podman or docker if one of them works here. Otherwise, as root, its instructions are carried out in chroots that
debootstrap makes in place of the image that it starts from: FROM, COPY, RUN, ENV, USER and CMD. What neither needs nor
finds (VOLUME, EXPOSE) is read over; an instruction of another name is a failure.
"""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "doc/Containerfile"
MIRROR = "http://deb.debian.org/debian"
# A mount namespace of its own, so that nothing stays mounted.
CHROOT = "mount --make-rprivate / && mount -t proc proc {0}/proc && mount --rbind /dev {0}/dev && exec chroot {0} {1}"
ASK = """
CREATE EXTENSION dp_rdr;
CREATE ROLE analyst;
CREATE TABLE people AS SELECT i % 90 AS age FROM generate_series(1, 1000) i;
SELECT dp_protect('people', 'people_dp');
SELECT dp_grant('people_dp', 'analyst', tau => 0.95);
SET ROLE analyst;
SELECT 'answer ' || count(*) FROM people_dp;
RESET ROLE;
SELECT 'whole ' || dp_verify_ledger('people');
"""

count = failed = 0


def report(what, holds, detail=""):
    global count, failed
    count += 1
    failed += not holds
    print(f"{'ok' if holds else 'not ok'} {count} - {what}")
    if not holds:
        print("".join(f"    # {line}\n" for line in str(detail).splitlines()[-60:]), end="")
    sys.stdout.flush()
    return holds


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    return done.returncode, done.stdout


def instructions():
    """(name, rest) of each instruction, lines joined."""
    text = "\n".join(line for line in FILE.read_text().splitlines() if not line.lstrip().startswith("#"))
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            name, rest = line.split(None, 1)
            yield name.upper(), rest.strip()


class Stage:
    def __init__(self, root):
        self.root = root
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        self.user = "root"
        self.command = None

    def inside(self, command):
        """The arguments that run a command in the stage, as its user."""
        inner = ["env", "-i"] + [f"{name}={value}" for name, value in self.environment.items()] + command
        if self.user != "root":
            inner = ["runuser", "-u", self.user, "--"] + inner
        return ["unshare", "-m", "bash", "-c", CHROOT.format(shlex.quote(str(self.root)), shlex.join(inner))]


class Chroots:
    """The stages of the file, each a directory."""

    def __init__(self, directory):
        self.directory = directory
        self.stages = {}
        self.stage = None

    def base(self):
        base = self.directory / "base"
        if not base.exists():
            status, said = run("unshare", "-m", "debootstrap", "--variant=minbase", "bookworm", base, MIRROR)
            if status != 0:
                raise RuntimeError(said)
            sources = "".join(f"deb {where} main\n" for where in (
                f"{MIRROR} bookworm", f"{MIRROR} bookworm-updates",
                "http://deb.debian.org/debian-security bookworm-security"))
            (base / "etc/apt/sources.list").write_text(sources)
            shutil.copy("/etc/resolv.conf", base / "etc/resolv.conf")
            # As in the images: nothing is started while packages are installed.
            (base / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
            (base / "usr/sbin/policy-rc.d").chmod(0o755)
        return base

    def start(self, rest):
        words = rest.split()
        if not words[0].endswith("debian:bookworm-slim"):
            raise RuntimeError(f"an image that is not Debian's: {words[0]}")
        name = words[2] if len(words) == 3 and words[1].upper() == "AS" else str(len(self.stages))
        root = self.directory / f"stage-{name}"
        subprocess.run(["cp", "-a", self.base(), root], check=True)
        self.stage = self.stages[name] = Stage(root)

    def copy(self, rest):
        words = rest.split()
        target = self.stage.root / words[-1].strip("/")
        target.mkdir(parents=True, exist_ok=True)
        if words[0].startswith("--from="):
            source = self.stages[words[0].split("=")[1]].root / words[1].strip("/")
            subprocess.run(["cp", "-a", f"{source}/.", target], check=True)
        else:
            tar = subprocess.Popen(["tar", "-C", ROOT / words[0], "--exclude-vcs", "--exclude=./build", "-c", "."],
                                   stdout=subprocess.PIPE)
            subprocess.run(["tar", "-C", target, "--no-same-owner", "-x"], stdin=tar.stdout, check=True)
            tar.wait()

    def follow(self, name, rest):
        if name == "FROM":
            self.start(rest)
        elif name == "COPY":
            self.copy(rest)
        elif name == "RUN":
            status, said = run(*self.stage.inside(["/bin/sh", "-c", rest]))
            if status != 0:
                raise RuntimeError(said)
        elif name == "ENV":
            key, value = rest.split("=", 1)
            self.stage.environment[key] = value
        elif name == "USER":
            self.stage.user = rest
        elif name == "CMD":
            self.stage.command = json.loads(rest)
        elif name not in ("VOLUME", "EXPOSE", "STOPSIGNAL"):
            raise RuntimeError(f"not understood: {name}")


def ask(command):
    """The answer of a server that may still be starting."""
    for _ in range(60):
        status, said = run(*command, input=ASK)
        if status == 0 or "ERROR" in said:
            break
        time.sleep(1)
    report("CREATE EXTENSION works and an analyst is answered by a view",
           status == 0 and "answer " in said and "whole true" in said, said)


PSQL = ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", "postgres"]


def in_chroots(directory):
    chroots = Chroots(directory)
    for name, rest in instructions():
        try:
            chroots.follow(name, rest)
        except (RuntimeError, OSError, subprocess.CalledProcessError, ValueError) as error:
            report(f"{name} {rest[:70]}", False, error)
            return
        if name in ("FROM", "COPY", "RUN"):
            report(f"{name} {rest[:70]}", True)
    stage = chroots.stage
    # Its port is on '*': a network of its own.
    server = subprocess.Popen(["unshare", "-n"] + stage.inside(stage.command), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        ask(stage.inside(PSQL))
    finally:
        pid = stage.root / "var/lib/postgresql/data/postmaster.pid"
        if pid.exists():
            os.kill(int(pid.read_text().split()[0]), signal.SIGINT)
        report("it stops when it is told to", server.wait(60) == 0, server.returncode)


def in_engine(engine):
    status, said = run(engine, "build", "-f", FILE, "-t", "dp_rdr_test", ROOT)
    if not report(f"{engine} builds it", status == 0, said):
        return
    _, container = run(engine, "run", "-d", "--rm", "dp_rdr_test")
    try:
        ask([engine, "exec", "-i", container.strip()] + PSQL)
    finally:
        run(engine, "stop", container.strip())
        run(engine, "rmi", "dp_rdr_test")


def main():
    for engine in ("podman", "docker"):
        if shutil.which(engine) is not None and run(engine, "info")[0] == 0:
            in_engine(engine)
            break
    else:
        print("# no container engine works here: chroots in its place")
        with tempfile.TemporaryDirectory(prefix="container.") as directory:
            os.chmod(directory, 0o755)
            in_chroots(pathlib.Path(directory))
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
