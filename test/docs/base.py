#!/usr/bin/env python3
"""What the claim of doc/guarantee.md rests on: the files of its table of the proof, by step, with their lines.

Files of the table of plug-ins are counted apart: each carries a promise of its own, and one that is not used is not
trusted. A module, a header and its source, is counted in each step that names it, and once in the sum. make base prints it;
the suite rooms compares both tables with the tree, and the table of the proof with the planted mistakes that it names.
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "doc/guarantee.md"


def rows(name):
    """The cells of a table of the page, with the modules that its column of files names."""
    lines = PAGE.read_text().split(f"<!-- table: {name} -->\n")[1].splitlines()
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        table.append((cells, re.findall(r"`(src/[\w/]+)\.\w+`", " ".join(cells))))
    return table[2:]


def lines_of(module):
    return sum(path.read_text().count("\n") for path in (ROOT / (module + end) for end in (".cpp", ".hpp")) if path.exists())


def plain(text):
    return re.sub(r" ?\(\[[^\]]*\]\([^)]*\)\)|`", "", text)


def planting():
    """The script that plants mistakes, as a module."""
    loader = importlib.machinery.SourceFileLoader("plant", str(ROOT / "test/mutants/plant"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plant", loader))
    loader.exec_module(module)
    return module


class Base:
    """The steps with their modules and the numbers of their planted mistakes, and the plug-ins with their modules."""

    def __init__(self):
        self.plugins = [(cells[0], cells[1], modules) for cells, modules in rows("plug-ins")]
        self.apart = {module for _, _, modules in self.plugins for module in modules}
        self.steps = [(plain(cells[0]), list(dict.fromkeys(modules)), cells) for cells, modules in rows("proof")]
        self.named = {module for _, modules, _ in self.steps for module in modules}
        self.modules = self.named - self.apart

    @staticmethod
    def sections(cell):
        return re.findall(r"\[([\d.]+)\]", cell)

    def lines(self):
        return sum(map(lines_of, self.modules))

    def below(self):
        """The modules that those of the base include, and these in turn, which no step names."""
        import rooms  # which imports this
        includes, found = rooms.Sources(ROOT).includes, set()
        todo = [module[len("src/"):] for module in self.modules]
        while todo:
            for other in includes.get(todo.pop(), ()):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return {f"src/{module}" for module in found} - self.modules - {m for _, _, modules in self.plugins for m in modules}

    def faults(self):
        """What of both tables does not hold of the tree, or of doc/formulas.md."""
        found = [f"{module}: no such file" for module in sorted(self.named) if not lines_of(module)]
        titles = set(re.findall(r"^#{2,3} ([\d.]+a?b?) ", (ROOT / "doc/formulas.md").read_text(), re.MULTILINE))
        titles = {title.rstrip(".") for title in titles}
        for name, section, modules in self.plugins:
            found += [f"{name}: {module} is in no step of the proof" for module in modules if module not in self.named]
            found += [f"{name}: formulas.md has no section {number}"
                      for number in self.sections(section) or ["at all"] if number not in titles]
        return found

    def strays(self):
        """Planted mistakes that the table of the proof names for a step, and that change none of its files."""
        plant, found = planting(), []
        tree = plant.Tree(ROOT)
        for step, modules, cells in self.steps:
            for number in re.findall(r"\d+", cells[-1]):
                file = next((ROOT / "test/mutants").glob(f"{number}-*.edit"), None)
                try:
                    changed = [path.relative_to(ROOT) for path in plant.apply(tree, plant.read_edits(file)[1] if file else [])]
                except plant.Unplantable:
                    changed = []
                if not any(str(path.with_suffix("")) in modules or f"`{path}`" in cells[1] for path in changed):
                    found.append(f"{step}: {number} changes {', '.join(map(str, changed)) or 'nothing'}")
        return found

    def show(self):
        seen = set(self.apart)
        for step, modules, _ in self.steps:
            print(f"{sum(lines_of(module) for module in modules if module not in self.apart):6}  {step}")
            for module in modules:
                mark = " (a plug-in)" if module in self.apart else " (above as well)" if module in seen else ""
                print(f"        {lines_of(module):6}  {module}{mark}")
            seen |= set(modules)
        print(f"{self.lines():6}  the base, {len(self.modules)} modules, each counted once\n")
        total = 0
        for name, section, modules in self.plugins:
            n = sum(map(lines_of, modules))
            total += n
            print(f"{n:6}  {plain(name)}: formulas.md, {', '.join(self.sections(section))}")
            for module in modules:
                print(f"        {lines_of(module):6}  {module}")
        print(f"{total:6}  the plug-ins, {len(self.plugins)}")
        below = self.below()
        print(f"{sum(map(lines_of, below)):6}  further lines, {len(below)} modules, that the base includes: what it calls and "
              "declares beside them")


if __name__ == "__main__":
    Base().show()
    sys.exit(0)
