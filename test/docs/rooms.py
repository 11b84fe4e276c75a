#!/usr/bin/env python3
"""Whether the sources keep to the rooms of doc/architecture.md, and to what test/docs/budgets allows. Needs no server.

    test/docs/rooms.py            compares, and prints TAP
    test/docs/rooms.py --lower    writes into the budgets what is below them: they may only fall

A module is a header and its source together: their path below src/ without its ending. A budget is a line "words: number";
"modules of NAME in circles" stands for each room that has some, every other one has 0. "name in two rooms: NAME" permits a
second file of that base name.
"""
import collections
import pathlib
import re
import sys

import base

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGETS = ROOT / "test/docs/budgets"
KINDS = (".cpp", ".hpp", ".sql", ".css", ".js", ".map")
LONGEST_FUNCTION, LONGEST_FILE = 60, 400
INDIRECT = re.compile(r"^\s*//\s*(What|Who|Of|The same|That|As|Those)\b", re.MULTILINE)
FUNCTION = re.compile(r"(?!namespace\b|struct\b|class\b|enum\b|constexpr char\b)\w[^=]*\(")


class Sources:
    """The texts below src/, by path, with the modules that each module includes."""

    def __init__(self, root):
        self.texts = {path.relative_to(root / "src").as_posix(): path.read_text()
                      for path in sorted((root / "src").rglob("*")) if path.suffix in KINDS}
        self.includes = collections.defaultdict(set)
        for path, text in self.code():
            self.includes[module_of(path)] |= {module_of(name) for name in included(text)} - {module_of(path)}

    def code(self):
        return [(path, text) for path, text in self.texts.items() if path.endswith(("pp", ".h", ".c"))]


def included(text):
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)


def module_of(path):
    return path.rsplit(".", 1)[0]


def room_of(path):
    return path.split("/")[0] if "/" in path else ""


# ---- what may include what -------------------------------------------------------------------------------------------


def permitted():
    """The rooms that each room may include besides itself, from the table of modules of doc/architecture.md."""
    text = (ROOT / "doc/architecture.md").read_text().split("## 2. The modules")[1].split("\n## ")[0]
    rooms = {}
    for cells in (re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| `src/")):
        place, words = re.search(r"src/(\w*)(/|\.cpp)?", cells[0]), cells[2].strip()
        if place[2] is not None:
            above = set(rooms) if words == "all of the above" else set(re.findall(r"\w+", words))
            rooms[place[1] if place[2] == "/" else ""] = set() if words == "nothing of ours" else above
    return rooms


def forbidden_includes(sources):
    rooms, found = permitted(), []
    for path, text in sources.code():
        here = room_of(path)
        for name in included(text):
            if here not in rooms:
                found.append(f"src/{path}: its room is not in the table of doc/architecture.md")
            elif ".." in name or (room_of(name) in rooms and name not in sources.texts and not from_test(name)):
                found.append(f"src/{path} includes {name}, which is no file of src/")
            elif name in sources.texts and room_of(name) not in rooms[here] | {here}:
                found.append(f"src/{path} includes {name}, which the table of doc/architecture.md does not permit")
    return found


def from_test(name):
    """A header that is on the include path of a test alone (test/greybox), or made by the build."""
    return name.endswith(".inc") or next((ROOT / "test").rglob(pathlib.PurePosixPath(name).name), None) is not None


# ---- circles ---------------------------------------------------------------------------------------------------------


def circles(includes):
    """The strongly connected modules, each circle as a sorted list (Tarjan, without recursion)."""
    number, low, stack, found = {}, {}, [], []
    for start in sorted(includes):
        work = [] if start in number else [(start, iter(sorted(includes[start])))]
        if work:
            number[start] = low[start] = len(number)
            stack.append(start)
        while work:
            module, others = work[-1]
            other = next((o for o in others if o in includes), None)
            if other is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == number[module]:
                    circle = stack[stack.index(module):]
                    del stack[stack.index(module):]
                    found += [sorted(circle)] if len(circle) > 1 else []
            elif other not in number:
                number[other] = low[other] = len(number)
                stack.append(other)
                work.append((other, iter(sorted(includes[other]))))
            elif other in stack:
                low[module] = min(low[module], number[other])
    return found


def modules_in_circles(sources):
    """The modules of each room that are part of a circle."""
    rooms = collections.defaultdict(list)
    for circle in circles(dict(sources.includes)):
        for module in circle:
            rooms[room_of(module)].append(module)
    return rooms


# ---- functions -------------------------------------------------------------------------------------------------------


def functions(text):
    """(its first line, how many lines, the comment above it) of each function that begins and ends at the margin."""
    lines = text.split("\n")
    for begin, line in enumerate(lines):
        if not FUNCTION.match(line):
            continue
        opened = next((i for i in range(begin, len(lines)) if lines[i].endswith(("{", ";", "}"))), begin)
        if not lines[opened].endswith("{"):
            continue
        end = next((i for i in range(opened, len(lines)) if lines[i].startswith("}")), opened)
        top = begin
        while top > 0 and lines[top - 1].startswith("//"):
            top -= 1
        yield line, end - begin + 1, "\n".join(lines[top:begin])


def long_functions(sources):
    """Functions that are too long to be seen at once, and whose comment does not say why: "Long: ..."."""
    return [f"src/{path}: {name}" for path, text in sources.code() for name, n, comment in functions(text)
            if n > LONGEST_FUNCTION + 1 and "Long:" not in comment]


# ---- budgets ---------------------------------------------------------------------------------------------------------


def reached(sources):
    """What the sources have of each thing that there is a budget for: a number, and what it is made of."""
    long_files = [path for path, text in sources.code() if text.count("\n") > LONGEST_FILE]
    indirect = [f"src/{path}:{text.count(chr(10), 0, m.start()) + 1}" for path, text in sources.code() for m in INDIRECT.finditer(text)]
    long = long_functions(sources)
    found = {"lines of src": (sum(text.count("\n") for text in sources.texts.values()), []),
             "lines of comments that begin with What, Who, Of, The same, That, As or Those": (len(indirect), indirect),
             "files of more than 400 lines": (len(long_files), long_files),
             "functions of more than 60 lines": (len(long), long),
             "lines of the base of the proof": (base.Base().lines(), [])}
    for room, modules in sorted(modules_in_circles(sources).items()):
        found[f"modules of {room or 'src'} in circles"] = (len(modules), modules)
    return found


def names_twice(sources):
    """Base names that modules of several rooms have."""
    rooms = collections.defaultdict(set)
    for path, _ in sources.code():
        rooms[module_of(path).split("/")[-1]].add(module_of(path))
    return {name: sorted(modules) for name, modules in rooms.items() if len(modules) > 1}


def read_budgets():
    numbers, names = {}, set()
    for line in BUDGETS.read_text().splitlines():
        if line and not line.startswith("#"):
            what, value = line.rsplit(": ", 1)
            if what == "name in two rooms":
                names.add(value)
            else:
                numbers[what] = int(value)
    return numbers, names


def lower(sources):
    """Writes what is below its budget; what is above it stays as it is."""
    numbers, names = read_budgets()
    now, twice = reached(sources), names_twice(sources)
    head = [line for line in BUDGETS.read_text().splitlines() if line.startswith("#")]
    kept = {what: min(most, now.get(what, (0, []))[0]) for what, most in numbers.items()}
    lines = [f"{what}: {n}" for what, n in kept.items() if n > 0 or "circles" not in what]
    lines += [f"name in two rooms: {name}" for name in sorted(names & set(twice))]
    BUDGETS.write_text("\n".join(head + lines) + "\n")


def report(sources):
    """(name, faults, remarks) of each check."""
    numbers, names = read_budgets()
    yield "includes are those that doc/architecture.md permits", forbidden_includes(sources), []
    twice = names_twice(sources)
    yield "each base name is that of one module", [f"{name}: {' '.join(twice[name])}" for name in sorted(set(twice) - names)], \
        [f"{name} is that of one by now" for name in sorted(names - set(twice))]
    yield "the steps of the proof name files, and plug-ins sections of the formulas", base.Base().faults(), []
    yield "each mistake that a step of the proof names changes a file of it", base.Base().strays(), []
    now = reached(sources)
    for what in sorted(set(numbers) | set(now)):
        n, parts = now.get(what, (0, []))
        most = numbers.get(what, 0)
        yield f"{what}: at most {most}", [f"{n}", *parts[:20]] if n > most else [], [f"{n}"] if n < most else []


def main():
    sources = Sources(ROOT)
    if sys.argv[1:] == ["--lower"]:
        lower(sources)
        return 0
    failed = count = 0
    for count, (name, faults, remarks) in enumerate(report(sources), 1):
        failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {count} - {name}")
        for line in faults + remarks:
            print(f"    # {line}")
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
