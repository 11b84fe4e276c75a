"""What is measured: the queries of the papers on Adult, and what they are held against.

Beside the columns of Adult the table has `serial`, a number of its own for each row: a sum that has as many distinct
values as rows.
"""
from typing import NamedTuple


class Query(NamedTuple):
    name: str
    text: str       # {} is the table or the restricted view
    projected: str  # the columns it reads
    result: str     # column definition list for dp_query
    options: str = ""  # for the controller's calls


QUERIES = (
    Query("Q1", "SELECT count(*) FROM {} WHERE income = '>50K' AND education_num = 13 AND age = 25",
          "income, education_num, age", "n bigint"),
    Query("Q2", "SELECT marital_status, count(*) FROM {} WHERE race = 'Asian-Pac-Islander' AND age BETWEEN 30 AND 40 "
          "GROUP BY marital_status", "marital_status, race, age", "marital_status text, n bigint"),
    Query("Q3", "SELECT count(*) FROM {} WHERE native_country <> 'United-States' AND sex = 'Female'",
          "native_country, sex", "n bigint"),
    Query("Q4", "SELECT avg(hours_per_week) FROM {} WHERE workclass IN ('Federal-gov', 'Local-gov', 'State-gov')",
          "hours_per_week, workclass", "a numeric"),
    Query("Q5", "SELECT sum(capital_gain) FROM {}", "capital_gain", "s bigint"),
    Query("sum", "SELECT sum(serial) FROM {}", "serial", "s bigint"),
    Query("avg", "SELECT avg(age) FROM {}", "age", "a numeric"),
    Query("groups", "SELECT age, education_num, count(*) FROM {} GROUP BY age, education_num", "age, education_num",
          "age integer, education_num integer, n bigint", ", delta => 1e-9"),  # groups that nobody declared
)

# The odometer only counts: no total would last for all rounds.
SETUP = """
CREATE ROLE bench_analyst;
CREATE ROLE bench_selected;
\\set data test/data
\\i test/data/adult.sql
TRUNCATE adult;
\\copy adult from program 'test/data/scale_adult.py {rows}' csv header
ALTER TABLE adult ADD COLUMN serial integer GENERATED ALWAYS AS IDENTITY;
VACUUM ANALYZE adult;
CHECKPOINT;
CREATE EXTENSION dp_rdr;
SELECT dp_protect('adult', 'adult_dp');
SELECT dp_set_bounds('adult', 'hours_per_week', 0, 100), dp_set_bounds('adult', 'age', 16, 91),
    dp_set_bounds('adult', 'capital_gain', 0, 99999), dp_set_bounds('adult', 'serial', 0, {rows});
SELECT dp_set_groups('adult', 'marital_status', '{{Divorced,Married-AF-spouse,Married-civ-spouse,'
    'Married-spouse-absent,Never-married,Separated,Widowed}}');
SELECT dp_set_odometer('adult', 'none', delta_total => 0.9);
SELECT dp_grant('adult_dp', 'bench_analyst', tau => 0.95, delta => 1e-9);
SELECT dp_grant('adult_dp', 'bench_selected', tau_var => 1e-4, delta => 1e-9);
"""

# call -> role (none: the owner). In the order of the columns.
CALLS = {"plain": None, "group by": None, "view": "bench_analyst", "dp_query": "bench_analyst",
         "released": "bench_selected", "dp_risk": None, "dp_find_epsilon": None}


def statement(query, call):
    private = query.text.format("adult_dp")
    return {
        "plain": query.text.format("adult"),
        "group by": f"SELECT {query.projected}, count(*) FROM adult GROUP BY {query.projected}",
        "view": private,
        "dp_query": f"SELECT * FROM dp_query($${private}$$) AS ({query.result})",
        "released": f"SELECT * FROM dp_query($${private}$$) AS ({query.result})",
        "dp_risk": f"SELECT * FROM dp_risk($${private}$${query.options})",
        "dp_find_epsilon": f"CALL dp_find_epsilon($${private}$$, 0.95{query.options})",
    }[call]
