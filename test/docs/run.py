#!/usr/bin/env python3
"""Runs every ```sql block of README.md and doc/*.md, page by page, through psql on the server that PG* points to.

A block is followed by the ```text block that shows what comes out, if anything is shown. The two must agree line by
line once numbers have been replaced by #, and spaces and rules have been squeezed: noise moves numbers and with them
the width of columns, and nothing else. In a block marked ```text exact there is no noise, and numbers count. Where
nothing is shown nothing but results without an error may come out. What a page needs and does not show is in comments,
<!-- sql ... -->, which run in their place.

A page is a session of its own, of a superuser, in the order of PAGES: the analyst's page and the cookbook use the database
of the controller's. Tables, signatures and names are looked at in facts.py. The output is TAP.
"""
import os
import pathlib
import re
import subprocess
import sys

import facts
import hooks
import sources

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/packages"))
import meta  # noqa: E402

PAGES = ("README.md", "doc/start.md", "doc/controller.md", "doc/analyst.md", "doc/cookbook.md", "doc/operations.md", "doc/reference.md",
         "doc/guarantee.md", "doc/walks.md")
BLOCK = re.compile(r"^```(\w*)(?: (exact))?\n(.*?)^```$|^<!-- sql\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]*))?\)")
# Functions that return nothing: their headers are not shown.
VOID = re.compile(r"(dp_(set_\w+|grant|revoke|unprotect|resume)( \| )?)+")
MARK = "-- end of block --"


class Block:
    def __init__(self, page, line, sql):
        self.name = f"{page}:{line}"
        self.sql = sql
        self.expected = None  # None: nothing is shown
        self.exact = False    # no noise in it: numbers count


def blocks_of(page, text):
    """The statements of a page, each with the output that the page shows for it."""
    blocks = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match[4] is not None:
            blocks.append(Block(page, line, match[4]))
        elif match[1] == "sql":
            blocks.append(Block(page, line, match[3]))
        elif match[1] == "text" and blocks and blocks[-1].expected is None:
            blocks[-1].expected = match[3]
            blocks[-1].exact = match[2] is not None
    return blocks


def run(blocks):
    """What each block printed, errors included. What answers are worth is not told: which are noise is chance."""
    script = "".join(f"{block.sql}\n\\echo {MARK}\n" for block in blocks)
    psql = subprocess.run(["psql", "-X", "-q", "-v", "VERBOSITY=default", "-d", "postgres"], input=script, text=True,
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={**os.environ, "PGOPTIONS": "-c dp_rdr.noise=silent"})
    return psql.stdout.split(MARK + "\n")


def shape(text, exact):
    """The lines that hold something, numbers and widths taken away."""
    lines = []
    for line in text.splitlines():
        if not exact:
            line = re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?|\b(NaN|Infinity)\b", "#", line)
        line = re.sub(r"[-+]{4,}[-+]*", "-", line)
        line = re.sub(r"\s+", " ", line).strip()
        if line and line not in ("^", "-") and not VOID.fullmatch(line):
            lines.append(line)
    return lines


def errors(text):
    return re.findall(r"^(?:psql:[^:]*:\d+: )?((?:ERROR|FATAL|PANIC): .*)", text, re.MULTILINE)


def complaints(block, output):
    if block.expected is None:
        return errors(output)
    expected, got = shape(block.expected, block.exact), shape(output, block.exact)
    return [] if expected == got else [f"shown:  {expected}", f"output: {got}"]


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def report(self, name, found):
        self.count += 1
        self.failed += bool(found)
        print(f"{'not ok' if found else 'ok'} {self.count} - {name}")
        for line in found:
            print("    # " + line)
        sys.stdout.flush()


def anchors(text):
    """The fragments that a browser of the repository gives the headings."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page, text):
    found = []
    for target, fragment in LINK.findall(text):
        if "://" in target:
            continue
        path = (ROOT / page).parent / target
        if not path.exists():
            found.append(target)
        elif fragment and fragment not in anchors(path.read_text()):
            found.append(f"{target}#{fragment}")
    return found


def main():
    tap = Tap()
    for page in PAGES:
        text = (ROOT / page).read_text()
        blocks = blocks_of(page, text)
        outputs = run(blocks)
        for block, output in zip(blocks, outputs):
            tap.report(block.name, complaints(block, output))
        # One output more than blocks: what follows the last mark. Fewer: psql has ended early.
        if len(outputs) != len(blocks) + 1:
            tap.report(f"{page}: psql reached the end", outputs[-1:])
    for page in facts.pages():
        tap.report(f"{page}: links", broken_links(page, (ROOT / page).read_text()))
    facts.run(tap)
    tap.report("private rows are reached from where they may be alone", sources.faults())
    tap.report("hooks of other extensions are called where the page says alone", hooks.faults())
    tap.report("META.json is one of PGXN's", meta.faults())
    readme = (ROOT / "README.md").read_text().count("\n")
    tap.report("README.md has at most 250 lines", [] if readme <= 250 else [str(readme)])
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
