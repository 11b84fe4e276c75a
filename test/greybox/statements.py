"""Made-up rows of the table person, and made-up statements over what doc/analyst.md says may be asked of it."""
from typing import NamedTuple


class Column(NamedTuple):
    type: str
    values: tuple  # literals: ordinary ones, extreme ones, NULL
    bounds: tuple = ()
    groups: str = ""


# Bounds that cut off some of the values, on either side.
COLUMNS = {
    "id": Column("integer", ()),
    "small": Column("smallint", ("-32768", "32767", "0", "1", "-20", "49", "50", "51", "NULL"), ("-50", "50")),
    "age": Column("integer", ("0", "17", "30", "31", "42", "59", "60", "90", "119", "2147483647", "-2147483648", "NULL"),
                  ("0", "120")),
    "big": Column("bigint", ("1", "-7", "123456789012", "9223372036854775807", "-9223372036854775808", "NULL"),
                  ("-1000000000000", "2000000000000")),
    "height": Column("real", ("150.5", "172", "199.99", "'NaN'", "'Infinity'", "'-Infinity'", "1e-45", "3e38", "NULL"),
                     ("50", "250")),
    "weight": Column("double precision", ("0.1", "0.3", "0.999999999", "1e-320", "1.7e308", "'-Infinity'", "'Infinity'",
                                          "'NaN'", "NULL"), ("0", "1")),
    "rate": Column("numeric", ("0.5", "-0.25", "999999.999", "1e300", "-1e300", "1e-200", "'NaN'", "'Infinity'",
                               "'-Infinity'", "NULL"), ("-0.5", "1000000.25")),
    "sex": Column("text", ("'Female'", "'Male'", "'Other'", "''", "NULL"), (), "{Female,Male,NULL}"),
    "city": Column("text", ("'Ulm'", "'Bern'", "'Oslo'", "'Rome'", "NULL"), ()),
    "mood": Column("mood", ("'low'", "'fair'", "'high'", "NULL"), ()),
    "member": Column("boolean", ("true", "false", "NULL"), ()),
    "born": Column("date", ("date '1980-02-29'", "date '1871-03-17'", "date '2001-09-09'", "'infinity'", "'-infinity'",
                            "NULL"), ("date '1970-01-01'", "date '1989-12-31'")),
    "note": Column("text", ("'note 1'", "'Note'", "'%'", "repeat('x', 3000)", "''", "NULL"), ()),
}

POLICIES = {
    "regress_dp_laplace": "tau => 0.5",
    "regress_dp_careful": "tau => 0.95",
    "regress_dp_gaussian": "tau => 0.9, mechanism => 'gaussian', delta => 0.001",
    "regress_dp_finder": "tau => 0.5, delta => 0.1",
    "regress_dp_gfinder": "tau => 0.7, mechanism => 'gaussian', delta => 0.2",
    "regress_dp_selector": "tau_var => 0.02, epsilon_svt => 1.5, candidates => '{1,0.9,0.8,0.7}'",
    "regress_dp_gselector": "tau_var => 0.0001, epsilon_svt => 2, candidates => '{1,0.9,0.6,0.2}', mechanism => 'gaussian', "
                            "delta => 0.001",
    "regress_dp_sfinder": "tau_var => 0.02, epsilon_svt => 3, candidates => '{1,0.9,0.7}', delta => 0.1",
    "regress_dp_weighted": "tau => 0.9, weight_min => 0.25, weight_max => 4",
    "regress_dp_reader": "tau => 0.5",
}

DRAWING = ("regress_dp_laplace", "regress_dp_careful", "regress_dp_weighted")  # of which percentiles may be asked
NUMBERS = ("small", "age", "big", "height", "weight", "rate")
SUM_TYPES = {"small": "bigint", "age": "bigint", "big": "numeric", "height": "real", "weight": "double precision",
             "rate": "numeric"}
AVG_TYPES = {"small": "numeric", "age": "numeric", "big": "numeric", "height": "double precision",
             "weight": "double precision", "rate": "numeric"}

# Arguments of sum, avg and variances that are no columns, and the types of their sum and average.
INTEGER, LONG, NUMBER, FLOAT = ("bigint", "numeric"), ("numeric", "numeric"), ("numeric", "numeric"), ("double precision",) * 2
EXPRESSIONS = (
    ("1", INTEGER), ("CASE WHEN member THEN 1 ELSE 0 END", INTEGER), ("member::integer", INTEGER),
    ("age * small", INTEGER), ("age + small - 7", INTEGER), ("age / 7", INTEGER), ("age / (small - 50)", INTEGER),
    ("abs(small) * 1000000", INTEGER), ("-age", INTEGER), ("age % 10", INTEGER), ("big / 1000", LONG), ("big * 2", LONG),
    ("weight * 100", FLOAT), ("height / 2", FLOAT), ("height * weight", FLOAT), ("rate * rate", NUMBER), ("round(rate, 1)", NUMBER),
    ("rate / 7", NUMBER), ("1 / nullif(age, 0)", INTEGER), ("coalesce(age, 0)", INTEGER),
    ("least(greatest(id, 0), 10)", INTEGER), ("greatest(least(weight * 1e300, 5), -5)", FLOAT),
    ("CASE WHEN age > 40 THEN small ELSE age END", INTEGER), ("date '1990-01-01' - born", INTEGER),
    ("extract(year FROM born)", NUMBER), ("extract(month FROM born)", NUMBER), ("width_bucket(rate, 0, 1, 5)", INTEGER),
    ("weight::integer", INTEGER), ("age::float8 * height", FLOAT), ("length(left(note, 7))", INTEGER),
)

CONDITIONS = (
    "age > 30", "age BETWEEN 17 AND 60", "sex = 'Female'", "sex IS DISTINCT FROM 'Male'", "city IN ('Ulm', 'Bern')",
    "mood >= 'fair'", "member", "member IS NOT TRUE", "NOT member", "note LIKE 'note%'", "note IS NULL",
    "height < 180", "weight = 'NaN'", "rate > 0.25", "born < date '1990-01-01'", "extract(year FROM born) = 1980",
    "age / small > 0", "age + 2147483647 > 0", "small * small > 100",
    "CASE WHEN age > 40 THEN small > 0 ELSE member END", "coalesce(city, 'none') <> 'Rome'",
    "nullif(age, 42) IS NULL", "greatest(age, small) > 50", "length(note) > 3", "upper(sex) = 'MALE'", "big % 2 = 1",
    "rate / weight > 1", "id % 3 = 0", "substr(note, 1, 4) = 'Note'", "born + 30 > date '1980-03-01'",
    "abs(small) = 20", "age::text LIKE '3%'", "round(rate, 1) = 0.5", "weight::real < 0.5",
    "mood IN ('low', 'high') OR age IS NULL", "false", "true", "id > 20",
)
# The reader's conditions are PostgreSQL's own: what raises an error on one row is an answer that the reader may have.
PARTIAL = ("age / small > 0", "age + 2147483647 > 0", "small * small > 100", "rate / weight > 1", "abs(small) = 20",
           "weight::real < 0.5")
CERTAIN = tuple(condition for condition in CONDITIONS if condition not in PARTIAL)
assert len(CERTAIN) == len(CONDITIONS) - len(PARTIAL)
DECLARED = ("sex", "mood", "member", "sex, member", "mood, sex", "member, mood, sex",
            # These follow from the form, or from what is declared of the columns.
            "age > 40", "age / 40", "upper(sex)", "extract(year FROM born)", "extract(month FROM born)", "small % 3, member",
            "CASE WHEN age > 42 THEN 'old' ELSE sex END", "width_bucket(rate, 0, 1, 5)", "extract(century FROM born)")
DISCOVERED = (
    "city", "upper(city)", "sex, city", "city, member", "city, age > 40", "rate::text", "length(note)", "id / 10",
)


class Statement(NamedTuple):
    policy: str
    sql: str
    leaves: int = 1
    plain: bool = True  # every row of the leaf is a row of the answer
    kind: str = ""  # of the reader's aggregates: what their one measure is, its sensitivity and epsilon
    sensitivity: int = 0
    epsilon: str = ""


def make_row(rng):
    return ", ".join(rng.choice(column.values) for name, column in COLUMNS.items() if name != "id")


def condition(rng, depth=2):
    pick = rng.random()
    if depth == 0 or pick < 0.5:
        return rng.choice(CONDITIONS)
    if pick < 0.6:
        return f"NOT ({condition(rng, depth - 1)})"
    return f"({condition(rng, depth - 1)}) {rng.choice(('AND', 'OR'))} ({condition(rng, depth - 1)})"


def quantile(rng):
    """Of a policy of Laplace noise, at groups that are declared."""
    column = rng.choice(NUMBERS + ("born", "age * small"))
    type_ = COLUMNS[column].type if column in COLUMNS else "integer"
    pick = rng.random()
    if pick < 0.4 or column == "born":
        text = f"{rng.choice(('min', 'max'))}({column})"
    else:
        function = rng.choice(("percentile_cont", "percentile_disc"))
        text = f"{function}({rng.choice(('0', '0.5', '0.25', '0.9', '1', '1.0 / 3'))}) WITHIN GROUP (ORDER BY {column}{rng.choice(('', ' DESC'))})"
        type_ = "double precision" if function == "percentile_cont" else type_
    if rng.random() < 0.25:
        text += f" FILTER (WHERE {condition(rng, 1)})"
    return text, type_


def aggregate(rng):
    """Its text and type."""
    pick = rng.random()
    column = rng.choice(NUMBERS)
    prefix = rng.choice(("", "", "", "dp_"))
    if pick < 0.3:
        text, type_ = prefix + "count(*)", "bigint"
    elif pick < 0.45:
        argument = rng.choice(NUMBERS + ("note", "city", "member", "nullif(age, 30)"))
        text, type_ = f"{prefix}count({argument})", "bigint"
        if rng.random() < 0.4:
            argument = rng.choice((argument, "mood", "born", "sex", "rate / 7", "upper(note)", "age % 7"))
            text = f"count(DISTINCT {argument})"
    elif pick < 0.7:
        text, type_ = f"{prefix}sum({column})", SUM_TYPES[column]
    elif pick < 0.8:
        text, type_ = f"{prefix}avg({column})", AVG_TYPES[column]
    elif pick < 0.87:
        function = rng.choice(("var_pop", "var_samp", "variance", "stddev", "stddev_pop", "stddev_samp"))
        text, type_ = f"{function}({column})", AVG_TYPES[column]
    elif pick < 0.91:
        function = rng.choice(("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept", "regr_r2"))
        text, type_ = f"{function}({column}, {rng.choice(NUMBERS + ('age * 2',))})", "double precision"
    else:
        expression, types = rng.choice(EXPRESSIONS)
        function = rng.choice(("sum", "sum", "avg", "stddev"))
        text, type_ = f"{function}({expression})", types[0 if function == "sum" else 1]
    if rng.random() < 0.25:
        text += f" FILTER (WHERE {condition(rng, 1)})"
    return text, type_


def leaf(rng, keys, draws):
    aggregates = [quantile(rng) if draws and rng.random() < 0.2 else aggregate(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5)))]
    if rng.random() < 0.1:
        aggregates = [("avg(age)", "numeric"), ("sum(age)", "bigint"), ("count(age)", "bigint")]  # one pair
    columns = ([keys] if keys else []) + [text for text, _ in aggregates]
    filtered = f"(SELECT * FROM person_dp WHERE {condition(rng, 0)}) q"
    source = rng.choice(("person_dp",) * 6 + ("(SELECT * FROM person_dp) q", filtered))
    where = f" WHERE {condition(rng)}" if rng.random() < 0.7 else ""
    grouped = f" GROUP BY {keys}" if keys else ""
    return f"SELECT {', '.join(columns)} FROM {source}{where}{grouped}", [type_ for _, type_ in aggregates]


def of_reader(rng):
    epsilon = rng.choice(("0.5", "1", "0.013"))
    filtered = f" FILTER (WHERE {rng.choice(CERTAIN)})" if rng.random() < 0.3 else ""
    pick = rng.choice(("count", "sum", "avg"))
    if pick == "count":
        call, kind, sensitivity = f"dp_count({rng.choice(NUMBERS)}, {epsilon})", "count", 1
    elif pick == "sum":
        call, kind, sensitivity = f"dp_sum(age, -10, 120, {epsilon})", "sum", 120
    else:
        call, kind, sensitivity = f"dp_avg({rng.choice(NUMBERS)}, 0, 50, {epsilon})", "pair", 2 ** 30
    return Statement("regress_dp_reader", f"SELECT {call}{filtered} FROM person", 1, False, kind, sensitivity, epsilon)


def weighted(rng, policy, sql, types):
    """Through dp_query, of one row."""
    columns = ", ".join(f"c{i} {type_}" for i, type_ in enumerate(types))
    extra = rng.choice(("", ", epsilon => 0.01"))
    if policy == "regress_dp_weighted":
        extra = f", weight => {rng.choice(('0.25', '0.7', '2', '9'))}"
    return Statement(policy, f"SELECT * FROM dp_query($q${sql}$q${extra}) AS ({columns})")


def around(rng, policy, sql):
    """Ordinary SQL over the answer of a leaf, or of two."""
    pick = rng.randrange(5)
    if pick == 0:
        return Statement(policy, f"WITH w AS MATERIALIZED ({sql}) SELECT a FROM w a, w b", 1, False)
    if pick == 1 and "selector" not in policy and policy != "regress_dp_sfinder":
        return Statement(policy, f"({sql}) UNION ALL ({sql})", 2, False)
    if pick == 2:
        return Statement(policy, f"{sql} ORDER BY 1 LIMIT 2", 1, False)
    if pick == 3:
        return Statement(policy, f"SELECT count(*) OVER (), q FROM ({sql}) q", 1, True)
    return Statement(policy, f"CREATE TEMP TABLE kept AS {sql}", 1, False)


def make_statement(rng):
    policy = rng.choice(tuple(POLICIES) + ("regress_dp_finder", "regress_dp_gfinder"))
    if policy == "regress_dp_reader":
        return of_reader(rng)
    finder = policy.endswith("finder")
    keys = rng.choice(("", "", "", *DECLARED[:4], *rng.sample(DECLARED, 4)))
    if finder and rng.random() < 0.75:
        keys = rng.choice(DISCOVERED)
    sql, types = leaf(rng, keys, policy in DRAWING)
    if not keys and rng.random() < (1 if policy == "regress_dp_weighted" else 0.25):
        return weighted(rng, policy, sql, types)
    if rng.random() < 0.2:
        return around(rng, policy, sql)
    return Statement(policy, sql)
