"""The questions of hospital.sql, shop.sql and log.sql, and what state.txt says of each.

A question is a comment "-- id who: what", the statement, and, where the same text on the tables themselves is not what is meant,
a comment "-- reference" and another statement. instead.sql has other words for some that are refused: h07 is h07i there.

A line of state.txt is

    h01 answered 1 0.5                 how far each value may be from its reference, column by column, keys left out
    h33 answered 35 +2                 two groups are shown that plain SQL does not show: groups that follow from declarations are all shown
    s25 answered 6 -3                  three groups of plain SQL are withheld, as too few people are in them: that counts as no answer
    h07 refused 0A000 the message      its SQLSTATE and its message, or the beginning of it
"""
import pathlib
import re
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = ("hospital", "shop", "log")
INSTEAD = "i"
HEAD = re.compile(r"^-- ([hse]\d\d) ([^:]+): (.*)$")


class Question(NamedTuple):
    id: str
    schema: str
    who: str
    what: str
    sql: str
    reference: str


class State(NamedTuple):
    answered: bool
    tolerances: tuple = ()
    empty: int = 0     # groups that plain SQL does not show
    withheld: int = 0  # groups that only plain SQL shows
    sqlstate: str = ""
    message: str = ""

    def line(self):
        if self.answered:
            return " ".join(["answered", *(f"{tolerance:g}" for tolerance in self.tolerances), *([f"+{self.empty}"] if self.empty else []),
                             *([f"-{self.withheld}"] if self.withheld else [])])
        return f"refused {self.sqlstate} {self.message}"


def read_questions():
    questions = []
    for schema in SCHEMAS:
        for part in (HERE / f"{schema}.sql").read_text(encoding="utf-8").split("\n\n"):
            head, _, statements = part.strip().partition("\n")
            match = HEAD.match(head)
            if match:
                sql, _, reference = statements.partition("\n-- reference\n")
                questions.append(Question(match[1], schema, match[2], match[3], sql, reference or sql))
    return questions + in_other_words({question.id: question for question in questions})


def in_other_words(questions):
    found = []
    for part in (HERE / "instead.sql").read_text(encoding="utf-8").split("\n\n"):
        match = re.match(r"-- ([hse]\d\d)\n(.*)", part.strip(), re.DOTALL)
        if match:
            found.append(questions[match[1]]._replace(id=match[1] + INSTEAD, sql=match[2]))
    return found


def read_states():
    states = {}
    path = HERE / "state.txt"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            name, kind, rest = (line + " ").split(" ", 2)
            if kind == "answered":
                words = rest.split()
                groups = {sign: sum(int(word[1:]) for word in words if word[0] == sign) for sign in "+-"}
                states[name] = State(True, tuple(float(word) for word in words if word[0] not in "+-"), groups["+"], groups["-"])
            else:
                states[name] = State(False, (), 0, 0, *rest.strip().split(" ", 1))
    return states


def tally(states):
    """How many questions are answered as they were asked, and how many only in other words."""
    asked = [name for name in states if not name.endswith(INSTEAD)]
    answered = {name for name, state in states.items() if state.answered and state.withheld == 0}
    as_asked = sum(name in answered for name in asked)
    in_words = sum(name not in answered and name + INSTEAD in answered for name in asked)
    return f"{as_asked} of {len(asked)} questions are answered as they were asked, {in_words} in other words"


def write_states(states):
    with open(HERE / "state.txt", "w", encoding="utf-8") as file:
        file.write(f"# {tally(states)}. Written by run.py --record; questions.py says how to read it.\n")
        for name, state in states.items():
            file.write(f"{name} {state.line()}\n")
