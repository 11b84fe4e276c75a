"""Who may reach the code that reads private rows (doc/architecture.md, 3.6 and 3.8): each name below is used in the files
beside it, and in no other of src/. Somebody who adds a user has thought about which process he runs in, and adds him here.
"""
import pathlib
import re

SRC = pathlib.Path(__file__).resolve().parents[2] / "src"

USERS = {  # a name, as a regular expression: who may use it
    # Statements over protected tables are planned and run in two places, over public ones in rows/public_rows, and in rows/foreign_partitions those that must find nothing on
    # another server; sql/analyst.cpp runs what dp_query() was given,
    # in which restricted views have been replaced.
    r"pg_plan_quer\w+|standard_Executor\w+|Executor(Start|Run)\b": "border/hooks sql/analyst border/versions",
    r"\bplan_(un)?hooked\(|\brun_unhooked\(": "border/hooks rows/engine rows/run_plan rows/foreign_partitions risk/scan_statement",
    r"\b(rows::|= |return )plan\((query|unit_query)": "rows/evaluate rows/units rows/public_rows risk/scan_statement query/rewrite",
    r"run_plan\(": "rows/evaluate rows/units rows/public_rows rows/run_plan sql/analyst border/versions",
    r"SPI_(prepare|execute)\w*\(": "border/spi",
    r"\b(table|index)_beginscan\w*|heap_getnext|tuple_fetch\w*": "",
    # For analysts: the round of a keeper. For owners: their own calls.
    r"\b(rows::)?evaluate\(const (MayRead|Paid|OwnRows)|rows::evaluate\(": "rows/evaluate release/round release/select release/refinement_steps release/release release/signal",
    r"\bcount_rows_of_units\(|\bfor_each_row_count\(": "rows/units rows/evaluate release/choose_row_limit",
    r"release::choose_limit\(": "keeper/answering",
    r"\bleave_one_out\(": "risk/leave_one_row_out release/choose release/output sql/risk_calls sql/risk_summary sql/output_risk sql/report_query",
    r"\bfor_each_unit(_of_several)?\(": "rows/units rows/unit_sums risk/unit_changes risk/loss",
    # sql/leaf_arguments evaluates values and rows of the caller's own, with his rights: no restricted view and no protected table is in them.
    r"\brun_(query|counts|again)\(": "risk/scan_statement risk/general_risk risk/leave_one_row_out risk/records risk/result risk/closed_forms risk/loss_rows sql/leaf_arguments",
    r"\bcount_units\(": "rows/population rows/evaluate rows/units risk/unit_changes risk/leave_one_row_out risk/loss",
    r"\bread_losses\(": "risk/loss sql/loss_calls",
    r"\bgeneral_risk\(": "risk/general_risk release/general_answer sql/general sql/risk_calls",
    r"release::(begin|select|step|finish|finish_signal|charged|continue_charged)\(": "keeper/preparing keeper/answering keeper/serving",
    # Why rows may be read (rows/may_read): what a charge permits, a search before it, and the owner's right.
    r"\bpaid_by\(": "release/checked release/round release/output keeper/answering",
    r"\bselection_paid_by\(": "release/checked release/round",
    r"\bsearch\(\)": "release/checked release/choose release/output",
    r"\bOwnRows\(": "rows/may_read risk/loss release/round release/signal sql/risk_calls sql/risk_summary sql/output_risk sql/report_query",
    r"\bfriend (release::)?Checked\b": "rows/may_read release/checked",
    # Exact rows: for a number that noise is added to, behind a charge, and for the owner's look.
    r"\beach_exact_row\(": "release/steps release/release release/signal",
    r"\badd_noise\(const Signal|\badd_noise\(round": "release/signal release/round",
    r"release::look\(": "sql/request_signal",
    r"\btake_step\(Refinement|\btake_step\(round": "release/refinement_steps release/round",
    r"release::answer\(": "sql/find sql/find_and_release",
    # Who is a keeper, and who asks under a policy.
    r"\bbecome_keeper\(": "rows/may_read keeper/keeper",
    r"\bcheck_reader\(const Question|rows::check_reader\(|^ +check_reader\(question": "rows/may_read rows/evaluate risk/leave_one_row_out",
    r"rows::prepare\(": "release/resolved sql/risk_profile sql/statement_leaves",
}

# What begins with the question whether this process may.
CHECKED = {
    "rows/evaluate.cpp": r"^static Sums evaluate\([^{;]*\{\n[^\n]*\n    check_reader\(question\);",
    "rows/evaluate.cpp ": r"^void count_rows_of_units\([^{;]*\{\n[^\n]*\n    check_reader\(question\);",
    "risk/leave_one_row_out.cpp": r"^Memo \*leave_one_out\([^{;]*\{\n[^\n]*\n    rows::check_reader\(question\);",
    "release/resolved.cpp": r"question->grantee = policy->grantee_name;",
    "sql/statement_leaves.cpp": r"if \(!border::owns_relation\([^}]*rows::prepare\(",
}


def without_comments(text):
    return re.sub(r"//.*|/\*.*?\*/", "", text)


def faults():
    found = []
    for path in sorted(SRC.rglob("*.[ch]pp")):
        name, text = str(path.relative_to(SRC)), without_comments(path.read_text())
        for entry, users in USERS.items():
            if re.search(entry, text, re.MULTILINE) and name.rsplit(".", 1)[0] not in users.split():
                found.append(f"src/{name} uses {re.search(entry, text, re.MULTILINE)[0]}")
    for name, beginning in CHECKED.items():
        if not re.search(beginning, (SRC / name.strip()).read_text(), re.MULTILINE | re.DOTALL):
            found.append(f"src/{name} lacks {beginning}")
    return found
