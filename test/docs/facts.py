"""What the pages state in tables, signatures and names, compared with the server that PG* points to and with the tree.

A table is checked if the line before it is <!-- table: name -->; the functions below say what each column means.
"""
import json
import math
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATABASE = "docs_facts"
ROLE = "docs_reader"


def psql(sql, database=DATABASE):
    """Rows of fields; what goes wrong is an exception."""
    command = ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", database]
    done = subprocess.run(command, input=sql, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return [line.split("\t") for line in done.stdout.splitlines()]


def prepare():
    """A table whose total binds nothing, for prices."""
    psql(f"CREATE DATABASE {DATABASE}", "postgres")
    psql(f"""CREATE EXTENSION dp_rdr;
        CREATE ROLE {ROLE};
        CREATE TABLE person AS SELECT i % 1000 AS x, i % 1000 AS y, 'g' || i % 7 AS g FROM generate_series(1, 100000) i;
        SELECT dp_protect('person', 'person_dp');
        SELECT dp_set_bounds('person', 'x', 0, 1000), dp_set_bounds('person', 'y', 0, 1000);
        SELECT dp_set_odometer('person', 'none', delta_total => 0.9);
        CREATE TABLE visit (person integer);
        SELECT dp_protect('visit', 'visit_dp', unit => 'person', max_rows => 20);""")


# ---- tables ---------------------------------------------------------------------------------------------------------


def table(page, name):
    """The cells of a marked table, without its head."""
    lines = (ROOT / page).read_text().split(f"<!-- table: {name} -->\n")[1].splitlines()
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows[2:]


def explain(select_list, column, tau, grant="", view="person_dp"):
    psql(f"SELECT dp_revoke('{view}', '{ROLE}')")
    psql(f"SELECT dp_grant('{view}', '{ROLE}', tau => {tau} {grant})")
    return psql(f"SET ROLE {ROLE}; SELECT {column} FROM dp_explain($q$SELECT {select_list}$q$) WHERE accepted")


def number(cell):
    return float(re.search(r"-?\d[\d,]*(\.\d+)?", cell)[0].replace(",", ""))


def agree(what, shown, found, tolerance=0.0):
    shown, found = float(shown), float(found)
    return [] if abs(shown - found) <= tolerance * abs(found) + 1e-9 else [f"{what}: shown {shown:g}, found {found:g}"]


def answers(epsilon):
    return math.floor(1 / epsilon + 1e-9)


def check_short_prices():
    """tau | a count costs | answers | of people | of rows | an average costs | answers"""
    found = []
    for tau, epsilon, n, within, of_rows, epsilon_average, n_average in table("README.md", "prices"):
        rows, = explain("count(*) FROM visit_dp", "error95", tau, view="visit_dp")
        found += agree(f"rows at {tau}", number(of_rows), rows[0])
        count, = explain("count(*) FROM person_dp", "epsilon, error95", tau)
        average, = explain("avg(x) FROM person_dp", "epsilon", tau)
        found += agree(f"count at {tau}", epsilon, count[0]) + agree(f"within at {tau}", within, count[1])
        found += agree(f"answers at {tau}", n, answers(float(count[0])))
        found += agree(f"average at {tau}", epsilon_average, average[0])
        found += agree(f"averages at {tau}", n_average, answers(float(average[0])))
    return found


def check_targets():
    """a target for attacks | counts in epsilon | counts in rho | the epsilon of that"""
    found = []
    psql("""CREATE TABLE target AS SELECT 1 AS x; SELECT dp_protect('target', 'target_dp');""")
    psql(f"SELECT dp_grant('target_dp', '{ROLE}', tau => 0.95)")
    left = f"SET ROLE {ROLE}; SELECT answers FROM dp_remaining('SELECT count(*) FROM target_dp')"
    for target, pure, in_rho, epsilon in table("doc/start.md", "targets"):
        rate = number(target)
        wanted = f"advantage => {rate}" if target.startswith("advantage") else f"tpr => {rate / 100}, fpr => 0.01"
        psql("SELECT dp_set_odometer('target', profile => '{}', epsilon_total => 1)")
        for bound, shown in (("'filter', delta_total => 0", pure), ("'zcdp', delta_total => 1e-6, delta_conversion => 1e-6", in_rho)):
            psql("SELECT dp_set_odometer('target', profile => '{}', epsilon_total => 1)")
            psql(f"SELECT dp_set_odometer('target', {bound}, epsilon_total => 'Infinity', profile => dp_profile('attack', {wanted}))")
            found += agree(f"{target}, {bound}", shown, psql(left)[0][0])
        found += agree(f"epsilon of {target}", epsilon, psql(
            "SELECT round(epsilon_total, 2) FROM dp_odometer('target') WHERE account = 'public'")[0][0])
    return found


def check_shapes():
    """query | m | k1 | epsilon, perhaps with the number before rounding down; at tau 0.95"""
    found = []
    for query, m, k1, epsilon in table("doc/analyst.md", "shapes"):
        price = float(m) * math.asinh(float(k1) * 0.05 / (float(m) * 0.95))
        for select_list in re.findall(r"`([^`]+)`", query):
            cost = explain(f"{select_list} FROM person_dp", "DISTINCT epsilon", 0.95)[0][0]
            found += agree(select_list, number(epsilon), cost)
            found += [] if float(cost) <= price else [f"{select_list}: {cost} is above the price, {price:g}"]
        before = re.search(r"([\d.]+) before", epsilon)
        found += agree(f"{query} before rounding", before[1], round(price, 3)) if before else []
    return found


def check_accuracy():
    """tau | epsilon | COUNT | SUM in M | epsilon of AVG | h"""
    found = []
    for tau, epsilon, count, total, epsilon_average, h in table("doc/analyst.md", "accuracy"):
        one, = explain("count(*) FROM person_dp", "epsilon, error95", tau)
        summed, = explain("sum(x) FROM person_dp", "epsilon, error95", tau)
        average, = explain("avg(x) FROM person_dp", "epsilon", tau)
        found += agree(f"epsilon at {tau}", epsilon, one[0]) + agree(f"sum at {tau}", epsilon, summed[0])
        found += agree(f"COUNT at {tau}", number(count), one[1])
        found += agree(f"SUM at {tau}", number(total), float(summed[1]) / 1000, 0.005)
        found += agree(f"AVG at {tau}", epsilon_average, average[0])
        # R h / c with R = 1000 and c = 100,000, but for the noise of c.
        released = psql(f"SET ROLE {ROLE}; SELECT * FROM dp_query('SELECT avg(x) FROM person_dp') AS (a numeric);"
                        "SELECT error95 FROM dp_last_release()")[-1]
        found += agree(f"h at {tau}", number(h), float(released[0]) * 100, 0.02)
    return found


def check_thresholds():
    """tau | T with delta 1e-6"""
    found = []
    for tau, threshold in table("doc/analyst.md", "thresholds"):
        shown = explain("g, count(*) FROM person_dp GROUP BY g", "max(threshold)", tau, ", delta => 1e-6")[0][0]
        found += agree(f"T at {tau}", threshold, shown)
    return found


def check_gaussian():
    """tau | epsilon | COUNT, with delta 1e-6"""
    found = []
    for tau, epsilon, within in table("doc/analyst.md", "gaussian"):
        shown, = explain("count(*) FROM person_dp", "epsilon, error95", tau, ", mechanism => 'gaussian', delta => 1e-6")
        found += agree(f"epsilon at {tau}", epsilon, shown[0]) + agree(f"error95 at {tau}", number(within), shown[1])
    return found


def statement(fragment):
    """A cell may leave out what is the same everywhere."""
    if re.match(r"(SELECT|WITH|TABLE)\b", fragment):
        return fragment
    if re.match(r"(WHERE|GROUP BY|JOIN)\b", fragment):
        return "SELECT count(*) FROM stay_dp " + fragment
    return f"SELECT {fragment} FROM stay_dp"


def check_remedies():
    """refused | instead: statements, or fragments of them, of the role analyst in the database demo"""
    found = []
    for refused, instead in table("doc/analyst.md", "remedies"):
        for cell, wanted in ((refused, False), (instead, True)):
            for fragment in re.findall(r"`([^`]+)`", cell):
                try:
                    psql(f"LOAD 'dp_rdr'; SET ROLE analyst; SET client_min_messages = error; {statement(fragment)}",
                         "demo")
                    answered = True
                except RuntimeError as error:
                    answered = False
                    message = str(error).splitlines()[0]
                if answered != wanted:
                    found.append(f"{fragment}: {'answered' if answered else message}")
    return found


# ---- names ----------------------------------------------------------------------------------------------------------

FUNCTIONS = """
SELECT p.prokind, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'dp_rdr'
WHERE p.pronamespace = 'pg_catalog'::regnamespace OR p.proname IN ('total_functions', 'keepers', 'charge_times', 'queue')
ORDER BY 1, 2, 3"""


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def shown_signature(kind, name, arguments, result):
    """As reference.md writes it: name(arguments) -> result, INOUT and OUT columns as a list behind setof."""
    arguments = arguments.replace("double precision", "float8").replace('"any"', "any")
    arguments = re.sub(r" DEFAULT ('(?:[^']*)'|[^,:]+)(::[\w\[\]]+( precision)?)?", r" = \1", arguments)
    parts = re.split(r", (?![^(]*\))", arguments) if arguments else []
    columns = [part[len("OUT "):] for part in parts if part.startswith("OUT ")]
    given = [re.sub(r"^IN ", "", part) for part in parts if not part.startswith("OUT ")]
    if kind == "p":
        return f"CALL {name}({', '.join(given)})"
    if columns:
        return f"{name}({', '.join(given)}) -> setof ({', '.join(columns)})"
    result = result.replace("SETOF", "setof").replace("double precision", "float8")
    return f"{name}({', '.join(given)}) -> {result}"


def fences(page):
    """The blocks without a language."""
    return re.findall(r"^```\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def check_signatures():
    """All functions are in reference.md, with the signatures they have, and no others. Aggregates: the names."""
    written = set()
    for block in fences("doc/reference.md"):
        written |= {squeezed(text) for text in re.split(r"\n(?=\S)", block) if re.match(r"(CALL )?(dp_|total_)", text)}
    rows = psql(FUNCTIONS)
    there = {squeezed(shown_signature(*(row + [""])[:4])) for row in rows if row[0] != "a"}
    there = {text if text.startswith(("dp_", "CALL ")) else f"dp_rdr.{text}" for text in there}
    aggregates = {row[1] for row in rows if row[0] == "a"}
    plain = {text for text in written if text.split("(")[0] not in aggregates}
    found = [f"not in reference.md: {text}" for text in sorted(there - plain)]
    found += [f"there is no {text}" for text in sorted(plain - there)]
    return found + [f"aggregate not in reference.md: {name}" for name in sorted(aggregates - {
        text.split("(")[0] for text in written})]


def check_policy_columns():
    """Whatever dp_grant takes is explained."""
    text = (ROOT / "doc/reference.md").read_text()
    arguments = psql("""SELECT unnest(proargnames) FROM pg_proc
                        WHERE proname IN ('dp_grant', 'dp_set_odometer', 'dp_protect')""")
    return [name for name, in arguments if f"`{name}`" not in text]


def pages():
    return ["README.md"] + sorted(f"doc/{path.name}" for path in (ROOT / "doc").glob("*.md"))


def check_make_targets():
    targets = set(re.findall(r"^([a-z][\w -]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    targets = {name for line in targets for name in line.split()}
    targets |= {"install", "uninstall", "installcheck", "clean", "all"}  # of PostgreSQL's makefile
    found = []
    for page in pages():
        text = (ROOT / page).read_text()
        shell = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        code = re.findall(r"`([^`\n]+)`", text) + [re.sub(r"#.*", "", block) for block in shell]
        for named in re.findall(r"\bmake ([a-z][a-z-]+)", "\n".join(code)):
            found += [] if named in targets else [f"{page}: make {named}"]
    return found


def check_suites():
    """The table of suites in contributing.md is that of make test."""
    run = set(re.findall(r"^ *suite '([^']+)'", (ROOT / "test/run").read_text(), re.MULTILINE))
    shown = {name.strip() for row in table("doc/contributing.md", "suites") for name in row[0].split(";")}
    return [f"only in test/run: {name}" for name in sorted(run - shown)] + [
        f"only in contributing.md: {name}" for name in sorted(shown - run)]


def check_proof():
    """Each planted mistake that the proof's table names is there, and the suites that see it stand beside it."""
    found = []
    for step, _, suites, mistakes in table("doc/guarantee.md", "proof"):
        for number in mistakes.split(", "):
            mistake, = (ROOT / "test/mutants").glob(f"{number}-*.edit")
            sees = re.search(r"^# sees: *(.*)$", mistake.read_text(), re.MULTILINE)[1]
            for suite in {name.split(":")[0].replace("box", " box") for name in sees.split(", ")}:
                found += [] if suite in suites.split(", ") else [f"{step}: {suite} sees {mistake.name}"]
    return found


LIMITS = {  # row of the table: where the number is
    "group keys, distinct aggregates and GROUPING()": ("src/query/limits.hpp", "max_outputs"),
    "restricted views joined": ("src/query/leaf.hpp", "max_sources"),
    "aggregations over restricted views in a statement": ("src/query/limits.hpp", "max_leaves"),
    "text of one aggregation": ("src/query/limits.hpp", "max_text"),
    "parameters of one aggregation": ("src/query/limits.hpp", "max_leaf_arguments"),
    "a constant, a parameter": ("src/query/total_entry.hpp", "longest_value"),
    "a pattern of LIKE": ("src/query/total_entry.hpp", "longest_pattern"),
    "grouping sets of one GROUP BY": ("src/query/grouping_sets.hpp", "max_grouping_sets"),
    "numbers in an answer over declared groups": ("src/rows/question.hpp", "max_coordinates"),
    "tuples of public tables": ("src/rows/public_values.hpp", "most_tuples"),
    "a declared key": ("src/rows/canonical.hpp", "longest_key"),
    "parts of the expression": ("src/query/flatten_subselects.cpp", "most_nodes"),
    "text of a query in the ledger": ("src/catalog/ledger_row.cpp", "most"),
    "stack that must be left": ("src/border/attempt.cpp", "least"),
    "a text, bytea, bit string or numeric": ("src/query/cost.cpp", "largest_limit"),
}


def shown_limit(cell):
    number, unit = re.match(r"([\d,]+) ?(kB|MB)?", cell).groups()
    return int(number.replace(",", "")) * {"kB": 1024, "MB": 1024 * 1024, None: 1}[unit]


def check_limits():
    found = []
    rows = table("doc/reference.md", "limits")
    for begin, (path, name) in LIMITS.items():
        cell, = [row[1] for row in rows if row[0].startswith(begin)]
        source = re.search(rf"constexpr \w+ (?:[^;]*, )?{name} = ([\d *]+)", (ROOT / path).read_text())
        wanted = math.prod(int(factor) for factor in source[1].split("*"))
        found += [] if shown_limit(cell) == wanted else [f"{begin}: shown {cell}, found {wanted}"]
    return found


def check_sqlstates():
    """Whatever the sources raise is in reference.md."""
    headers = subprocess.run(["pg_config", "--includedir-server"], text=True, stdout=subprocess.PIPE, check=True).stdout
    codes = dict(re.findall(r"#define (ERRCODE_\w+) MAKE_SQLSTATE\((.*?)\)",
                            pathlib.Path(headers.strip(), "utils/errcodes.h").read_text()))
    raised = set()
    for path in (ROOT / "src").rglob("*.[ch]pp"):
        raised |= set(re.findall(r"errcode\((ERRCODE_\w+)\)", path.read_text()))
    text = (ROOT / "doc/reference.md").read_text().split("## SQLSTATEs")[1].split("## Limits")[0]
    states = {name: re.sub(r"\W", "", codes[name]) for name in raised}
    return [f"{state} {name}" for name, state in sorted(states.items()) if state not in text]


def check_names():
    """Whatever is called dp_... on a page for users is of the extension, or made on that page."""
    known = {name for name, in psql("""SELECT DISTINCT proname FROM pg_proc WHERE proname ~ '^dp_'
        UNION SELECT 'dp_rdr' UNION SELECT relname FROM pg_class WHERE relname ~ '^dp_'""")}
    known |= set(re.findall(r'_cursor\[\] = "(dp_\w+)"', (ROOT / "src/sql/answer.cpp").read_text()))
    found = []
    for page in ("README.md", "CHANGELOG.md", "doc/walks.md", "doc/analyst.md", "doc/controller.md", "doc/operations.md",
                 "doc/reference.md", "doc/guarantee.md"):
        text = (ROOT / page).read_text()
        found += [f"{page}: {name}" for name in sorted(set(re.findall(r"(?<![\w/])dp_[a-z_]+\b", text)) - known)]
    return found


def check_version():
    """Control file, META.json, changelog and install script agree."""
    version, = re.findall(r"default_version = '(.*)'", (ROOT / "dp_rdr.control").read_text())
    meta = json.loads((ROOT / "META.json").read_text())
    found = [] if meta["version"] == meta["provides"]["dp_rdr"]["version"] == version else ["META.json"]
    found += [] if (ROOT / meta["provides"]["dp_rdr"]["file"]).exists() else [meta["provides"]["dp_rdr"]["file"]]
    found += [] if meta["provides"]["dp_rdr"]["file"] == f"src/dp_rdr--{version}.sql" else ["META.json: file"]
    comment, = re.findall(r"^comment = '(.*)'", (ROOT / "dp_rdr.control").read_text(), re.MULTILINE)
    found += [] if comment == meta["abstract"][0].lower() + meta["abstract"][1:] else [f"comment: {comment}"]
    changes = (ROOT / "CHANGELOG.md").read_text()
    return found + ([] if re.match(f"## {re.escape(version)}\\b", changes) else ["CHANGELOG.md"])


def check_paths():
    """Files of the tree that the pages name."""
    found = []
    for page in pages():
        for name in re.findall(r"`((?:src|test|sql|doc)/[\w./-]+)`", (ROOT / page).read_text()):
            found += [] if (ROOT / name).exists() or list(ROOT.glob(name + "*")) else [f"{page}: {name}"]
    return found


CHECKS = (check_short_prices, check_targets, check_shapes, check_accuracy, check_thresholds, check_gaussian, check_remedies,
          check_signatures, check_policy_columns, check_make_targets, check_suites, check_proof, check_limits,
          check_sqlstates, check_names, check_version, check_paths)


def run(tap):
    prepare()
    for check in CHECKS:
        try:
            found = check()
        except Exception as error:  # whatever keeps a check from its end is what it has found
            found = [repr(error).replace("\n", " / ")]
        tap.report(check.__name__.replace("_", " "), found)
