#!/usr/bin/env python3
"""check_deb.py DIRECTORY VERSION PGVERSION: looks at the package that dpkg-buildpackage left in DIRECTORY. TAP.

The package is unpacked over a copy of the server, which finds its library and its scripts beside its own binaries, so
nothing is installed on this machine.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DIRECTORY, VERSION, PGVERSION = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
NAME = f"postgresql-{PGVERSION}-dp-rdr"
PACKAGE, = DIRECTORY.glob(f"{NAME}_*.deb")
ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = f"usr/lib/postgresql/{PGVERSION}/lib"
EXTENSION = f"usr/share/postgresql/{PGVERSION}/extension"
DOC = f"usr/share/doc/{NAME}"

ASK = """
CREATE EXTENSION dp_rdr;
CREATE ROLE analyst;
CREATE TABLE people AS SELECT i % 90 AS age FROM generate_series(1, 1000) i;
SELECT dp_protect('people', 'people_dp');
SELECT dp_grant('people_dp', 'analyst', tau => 0.95);
SET ROLE analyst;
SELECT 'answer ' || n FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint);
RESET ROLE;
SELECT 'charged ' || trim_scale(epsilon) FROM dp_odometer('people') WHERE account = 'public';
SELECT 'whole ' || dp_verify_ledger('people');
SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'dp_rdr';
"""

count = failed = 0


def report(what, holds, detail=""):
    global count, failed
    count += 1
    failed += not holds
    print(f"{'ok' if holds else 'not ok'} {count} - {what}")
    if not holds:
        print("".join(f"    # {line}\n" for line in str(detail).splitlines()), end="")
    sys.stdout.flush()


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    return done.returncode, done.stdout


def check_fields():
    fields = dict(re.findall(r"^(\w[\w-]*): (.*)", run("dpkg-deb", "-f", PACKAGE)[1], re.MULTILINE))
    report("name and version", (fields["Package"], fields["Version"]) == (NAME, f"{VERSION}-1"), fields)
    depends = {re.split(r"[ :(]", one.strip())[0] for one in fields["Depends"].split(",")}
    report("depends on the server, its client library, libstdc++ and what comes with it alone",
           {f"postgresql-{PGVERSION}", "libpq5", "libstdc++6", "libc6"} <= depends <=
           {f"postgresql-{PGVERSION}", "libpq5", "libstdc++6", "libc6", "libgcc-s1"}, fields["Depends"])


def check_contents():
    listing = run("dpkg-deb", "-c", PACKAGE)[1].splitlines()
    files = {line.split()[5].removeprefix("./"): line.split()[0] for line in listing if not line.startswith("d")}
    scripts = {f"{EXTENSION}/{path.name}" for path in (ROOT / "src").glob("dp_rdr--*.sql")}
    wanted = {f"{LIBRARY}/dp_rdr.so", f"{EXTENSION}/dp_rdr.control"} | scripts
    rest = {name for name in files if not name.startswith(DOC + "/")}
    report("the library, the control file, every script, and nothing else", rest == wanted, rest ^ wanted)
    pages = {path.name for path in (ROOT / "doc").glob("*.md")} | {"README.md"}
    shipped = {pathlib.Path(name).name.removesuffix(".gz") for name in files if name.startswith(DOC + "/")}
    report("the pages, the changes and the licence", pages | {"changelog", "changelog.Debian", "copyright"} == shipped,
           shipped ^ pages)
    report("files that everybody may read and nobody but root may write",
           all(re.fullmatch(r"[-l]rw[-x]r-[-x]r-[-x]|lrwxrwxrwx", mode) for mode in files.values()), files)


def check_lintian():
    if shutil.which("lintian") is None:
        report("lintian # SKIP it is not installed", True)
        return
    source, = DIRECTORY.glob("*.dsc")
    _, said = run("lintian", "--no-cfg", "--suppress-tags", "initial-upload-closes-no-bugs", source, PACKAGE,
                  env={**os.environ, "LC_ALL": "C.UTF-8"})
    complaints = [line for line in said.splitlines() if re.match("[EW]: ", line)]
    report("lintian has neither errors nor warnings", not complaints, said)


def check_install(root):
    """A server of its own, from the copy of the installed one with the package on top."""
    for part in (f"usr/lib/postgresql/{PGVERSION}", f"usr/share/postgresql/{PGVERSION}"):
        shutil.copytree(f"/{part}", root / part, symlinks=False)
    for planted in [*(root / LIBRARY).glob("dp_rdr*"), *(root / EXTENSION).glob("dp_rdr*")]:
        planted.unlink()
    status, said = run("dpkg-deb", "-x", PACKAGE, root)
    report("it is unpacked", status == 0, said)
    binaries, data = root / f"usr/lib/postgresql/{PGVERSION}/bin", root / "data"
    status, said = run(binaries / "initdb", "-D", data, "--no-locale", "-E", "UTF8", "-A", "trust", "-U", "postgres")
    report("a cluster of its own", status == 0, said)
    status, said = run(binaries / "pg_ctl", "-D", data, "-w", "-l", root / "log",
                       "-o", f"-c listen_addresses='' -c unix_socket_directories={root}", "start")
    report("is started", status == 0, said)
    try:
        status, said = run(binaries / "psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", root, "-U", "postgres",
                           "-d", "postgres", input=ASK)
        report("CREATE EXTENSION works, an analyst is answered and charged",
               status == 0 and re.search(rf"answer -?\d+\ncharged 0.05\nwhole true\nversion {VERSION}", said), said)
    finally:
        run(binaries / "pg_ctl", "-D", data, "-w", "-m", "fast", "stop")


def main():
    check_fields()
    check_contents()
    check_lintian()
    with tempfile.TemporaryDirectory(prefix="deb.") as root:
        check_install(pathlib.Path(root))
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
