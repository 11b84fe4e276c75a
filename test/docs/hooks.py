"""Hooks of other extensions (doc/architecture.md, 9.1): which functions of the server that call one are used where is in the
page's table, and in no other place of src/. Somebody who adds a call has thought about what the hook expects, and whether
it may see this statement, and adds a line. The list of hooks that keepers drop is held against the server's headers.
"""
import os
import pathlib
import re
import subprocess

from sources import SRC, without_comments

ROOT = SRC.parent
PAGE = ROOT / "doc/architecture.md"

# Functions of the server that call hooks of a statement. Calls by fmgr and look-ups of names call hooks as well
# (needs_fmgr_hook, object_access_hook), which are told an oid and expect nothing.
CALLERS = (
    r"ExecCheckRTPerms|ExecCheckPermissions|ExecCheckOneRelPerms",
    r"(?:standard_)?planner|pg_plan_quer(?:y|ies)|subquery_planner",
    r"(?:standard_)?Executor(?:Start|Run|Finish|End|Rewind)",
    r"(?:standard_)?ProcessUtility\w*",
    r"pg_analyze_and_rewrite\w*|parse_analyze\w*|pg_rewrite_query|QueryRewrite",
    r"SPI_(?:prepare|exec|cursor|keepplan|modifytuple)\w*",
    r"Portal(?:Start|Run)\w*",
    r"(?:standard_)?Explain(?:One|Query|Print)\w*|NewExplainState",
    r"eval_const_expressions|estimate_expression_value|expression_planner\w*",
    r"(?:GetCached|CreateCached|CompleteCached|BuildCached)Plan",
    r"pg_get_(?:view|rule)def\w*",
    r"Define(?:View|Relation|Index)|performDeletion\w*|RemoveRelations|InvokeObject\w*|InvokeFunction\w*|RunObject\w*",
)
# Hooks that no statement meets, and the one that sees the server's log.
OTHERS = r"(?i)(clientauthentication|check_password|openssl_\w+|ldap_\w+|shmem_\w+|emit_log|explain\w*)_hook"


def stems():
    for path in sorted(SRC.rglob("*.[ch]pp")):
        yield path.relative_to(SRC).as_posix().rsplit(".", 1)[0], without_comments(path.read_text())


def used():
    """(function, file without its ending) for each call in src/."""
    calls = re.compile(r"\b(" + "|".join(CALLERS) + r")\(")
    return {(name, stem) for stem, text in stems() for name in re.findall(calls, text)}


def listed():
    """The same of the page's table: a line names functions in its first column, files in its third."""
    rows = re.search(r"<!-- table: hooks -->\n((?:\|.*\n)+)", PAGE.read_text())
    found = set()  # a pair of a line: not every function need be called in every file
    for row in rows[1].splitlines()[2:]:
        cells = row.split("|")[1:-1]
        found |= {(function, file) for function in re.findall(r"`(\w+)`", cells[0])
                  for file in re.findall(r"`src/([\w/]+)\.[ch]pp`", cells[2])}
    return found


def headers():
    """The hooks that the server's headers declare."""
    config = f"/usr/lib/postgresql/{os.environ.get('PGVERSION', '15')}/bin/pg_config"
    folder = subprocess.run([config, "--includedir-server"], capture_output=True, text=True, check=True).stdout.strip()
    for path in pathlib.Path(folder).rglob("*.h"):
        yield from re.findall(r"^extern PGDLLIMPORT \w*hook\w* \**(\w*hook\w*);", path.read_text(errors="replace"), re.MULTILINE)


def faults():
    found = [f"src/{file} calls {function}, which is not in the table" for function, file in sorted(used() - listed())]
    found += [f"the table says that src/{file} calls {function}" for function, file in sorted(listed() - used())]
    dropped = set(re.findall(r"DO\((\w+)\)", (SRC / "border/hooks.cpp").read_text()))
    hooks = {hook for hook in headers() if not re.fullmatch(OTHERS, hook)}
    found += [f"a keeper does not drop {hook}" for hook in sorted(hooks - dropped)]
    return found + [f"the server has no {hook}" for hook in sorted(dropped - hooks)]
