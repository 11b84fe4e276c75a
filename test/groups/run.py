#!/usr/bin/env python3
"""Lists of groups that follow from expressions (doc/analyst.md, Groups), against SELECT DISTINCT over all values that the columns may
have by type, bounds and declared groups. Against the server that PG* points to, where this tree is installed.

Epsilon is small: the noise of a group in which nobody can be is not 0, so that the group stands out as one with people would. At a
large epsilon it is 0, like that of a group in which nobody is, and nobody asks whether it may be there.

Of each kind (a name, keys, a condition) two things must hold, one line of TAP each:

  * no group is shown that no permitted row could be in;
  * each group that a permitted row could be in is shown.

The table has few rows: groups must not depend on them. Discovered groups are refused, since the policy has no delta.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("attacks", "blackbox"):
    sys.path.insert(0, str(HERE.parent / folder))

from libpq import Connection  # noqa: E402
from tap import Tap  # noqa: E402

DATABASE, ROLE = "regress_dp_groups", "regress_dp_grouper"

# Lists all values that a row may have within the declarations. Numeric and floating-point columns have every eighth and the ends.
COLUMNS = {
    "age": ("integer NOT NULL", "generate_series(0, 99)", "dp_set_bounds('t', 'age', 0, 99)"),
    "steps": ("integer", "generate_series(-3, 12)", "dp_set_bounds('t', 'steps', -3, 12)"),
    "cost": ("numeric", "SELECT i / 8.0 FROM generate_series(0, 800) i", "dp_set_bounds('t', 'cost', 0, 100)"),
    "weight": ("float8", "SELECT i / 8.0 FROM generate_series(-16, 80) i", "dp_set_bounds('t', 'weight', -2, 10)"),
    "ward": ("text NOT NULL", "unnest('{icu,Surgery,gp}'::text[])", "dp_set_groups('t', 'ward', '{icu,Surgery,gp}')"),
    "sex": ("text", "unnest('{f,m,NULL}'::text[])", "dp_set_groups('t', 'sex', '{f,m,NULL}')"),
    "mood": ("mood", "unnest(enum_range(NULL::mood))", ""),
    "sure": ("boolean NOT NULL", "unnest('{t,f}'::boolean[])", ""),
    "smoker": ("boolean", "unnest('{t,f}'::boolean[])", ""),
    "born": ("date NOT NULL", "SELECT d::date FROM generate_series(timestamp '1999-11-20', '2001-02-10', '1 day') d",
             "dp_set_bounds('t', 'born', date '1999-11-20', date '2001-02-10')"),
    "came": ("timestamp NOT NULL", "generate_series(timestamp '2025-01-05 06:00', '2025-03-15 18:00', '1 min')",
             "dp_set_bounds('t', 'came', timestamp '2025-01-05 06:00', timestamp '2025-03-15 18:00')"),
    "left_at": ("timestamptz NOT NULL", "generate_series(timestamptz '2025-03-20 06:10 UTC', '2025-04-10 17:50 UTC', '1 min')",
                "dp_set_bounds('t', 'left_at', '2025-03-20 06:10 UTC', '2025-04-10 17:50 UTC')"),
    "seen": ("timestamptz", "generate_series(timestamptz '2023-12-01 00:00 UTC', '2025-02-01 00:00 UTC', '30 min')",
             "dp_set_bounds('t', 'seen', timestamptz '2023-12-01 00:00 UTC', timestamptz '2025-02-01 00:00 UTC')"),
    "fee": ("numeric(8, 2)", "SELECT i / 100.0 FROM generate_series(-250, 12000) i", "dp_set_bounds('t', 'fee', -2.5, 120)"),
    "hits": ("bigint NOT NULL", "generate_series(-60000, 90000)", "dp_set_bounds('t', 'hits', -60000, 90000)"),
    "rate": ("numeric(5, 1)", "SELECT i / 10.0 FROM generate_series(0, 500) i", "dp_set_bounds('t', 'rate', 0, 50)"),
    "built": ("date", "SELECT d::date FROM generate_series(timestamp '1850-06-01', '2005-02-01', '1 day') d",
              "dp_set_bounds('t', 'built', '1850-06-01', '2005-02-01')"),
    "logged": ("timestamp NOT NULL", "generate_series(timestamp '2014-12-30 22:30', '2024-12-31 21:00', '30 min')",
               "dp_set_bounds('t', 'logged', timestamp '2014-12-30 22:30', timestamp '2024-12-31 21:00')"),
    # No bounds are declared of it: all weekdays of all days of a year, all minutes of a week, and all half hours of some months.
    "paid": ("timestamptz", "SELECT * FROM (SELECT generate_series(timestamptz '1995-01-01 00:00', '2036-01-01', '25 hours') UNION SELECT generate_series(timestamptz '2021-05-01', '2021-05-08', '1 min')"
             " UNION SELECT generate_series(timestamptz '2023-12-30', '2025-01-03', '30 min') UNION VALUES (timestamptz '-infinity'), ('infinity')) x", ""),
}

# Name; keys; condition. The columns that are named make the grid.
KINDS = (
    ("a column", "ward", ""), ("a column with NULL", "sex", ""), ("enum", "mood", ""), ("boolean", "sure", ""), ("boolean with NULL", "smoker", ""),
    ("two columns", "ward, sure", ""), ("condition", "age >= 65", ""), ("condition with NULL", "steps > 3", ""),
    ("condition that always holds", "age >= 0", ""), ("condition that never holds", "age > 200", ""), ("condition of declared groups", "ward = 'gone'", ""),
    ("IS NULL of a column that is not", "age IS NULL", ""), ("IN of declared groups", "ward IN ('icu', 'gp')", ""),
    ("AND of one column", "age > 20 AND age < 10", ""), ("OR of one column", "age > 20 OR age < 30", ""), ("NOT of a boolean", "NOT smoker", ""),
    ("IS TRUE", "smoker IS TRUE", ""), ("condition of two columns", "age > 50 AND sure", ""),
    ("CASE", "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END", ""),
    ("CASE with an arm that nobody reaches", "CASE WHEN age < 18 THEN 'child' WHEN age < 10 THEN 'infant' ELSE 'adult' END", ""),
    ("CASE with an arm beyond the bounds", "CASE WHEN age < 18 THEN 'child' WHEN age < 150 THEN 'adult' ELSE 'old' END", ""),
    ("CASE without ELSE", "CASE WHEN steps < 5 THEN 'few' WHEN steps < 9 THEN 'some' END", ""),
    ("CASE of all declared groups without ELSE", "CASE ward WHEN 'icu' THEN 1 WHEN 'gp' THEN 2 WHEN 'Surgery' THEN 3 END", ""),
    ("CASE of other columns", "CASE WHEN sure THEN ward ELSE 'none' END", ""), ("CASE around a boolean", "CASE WHEN sure THEN smoker END", ""),
    ("width_bucket", "width_bucket(age, 0, 100, 4)", ""), ("width_bucket of a numeric", "width_bucket(cost, 0, 100, 4)", ""),
    ("width_bucket within the bounds", "width_bucket(age, 20, 60, 4)", ""), ("width_bucket below the bounds", "width_bucket(age, -100, 100, 8)", ""),
    ("width_bucket with NULL", "width_bucket(steps, -3, 12, 3)", ""),
    ("extract month of two months", "extract(month FROM came)", ""), ("extract month of a year", "extract(month FROM born)", ""),
    ("extract year", "extract(year FROM born)", ""), ("extract quarter", "extract(quarter FROM came)", ""), ("extract dow", "extract(dow FROM came)", ""),
    ("extract hour of a timestamp", "extract(hour FROM came)", ""), ("extract minute", "extract(minute FROM came)", ""), ("extract hour of a date", "extract(hour FROM born::timestamp)", ""),
    ("extract day", "extract(day FROM born)", ""), ("extract week", "extract(week FROM came)", ""), ("extract doy", "extract(doy FROM came)", ""),
    ("extract century", "extract(century FROM born)", ""), ("date_trunc month", "date_trunc('month', came)", ""), ("date_trunc week", "date_trunc('week', came)", ""),
    ("date_trunc year of a date", "date_trunc('year', born)", ""), ("date_bin", "date_bin('7 days', came, timestamp '2001-01-01')", ""), ("cast to date", "came::date", ""),
    ("month as a text", "to_char(born, 'YYYY-MM')", ""), ("month of a day", "to_char(came::date, 'MM')", ""),
    ("upper", "upper(ward)", ""), ("left", "left(ward, 1)", ""), ("concatenation", "ward || sex", ""), ("coalesce", "coalesce(sex, 'none')", ""),
    ("coalesce of what is never NULL", "coalesce(ward, 'none')", ""), ("nullif", "nullif(ward, 'icu')", ""), ("nullif of no group", "nullif(ward, 'gone')", ""),
    ("a text of an enum", "mood::text", ""), ("a number of a boolean", "sure::int", ""), ("division", "age / 10", ""), ("remainder", "age % 7", ""),
    ("product", "steps * steps", ""), ("abs", "abs(steps)", ""), ("sum of two columns", "steps + age / 50", ""), ("least and greatest", "least(greatest(steps, 0), 5)", ""),
    ("floor of a numeric", "floor(cost / 10)", ""), ("rounded numeric", "round(cost, -1)", ""), ("floor of a float", "floor(weight)", ""), ("truncated float", "trunc(weight / 5)", ""),
    ("length", "length(ward)", ""), ("two expressions of one column", "age / 10, age >= 65", ""), ("a column and what is made of it", "ward, upper(ward)", ""),
    ("CASE and its condition", "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END, age < 18", ""), ("month and quarter", "extract(month FROM born), extract(quarter FROM born)", ""),
    ("year and month", "extract(year FROM born), extract(month FROM born)", ""), ("month and its text", "date_trunc('month', came), to_char(came::date, 'MM')", ""),
    ("WHERE on a declared column", "ward", "ward <> 'gp'"), ("WHERE on the expression", "age / 10", "age / 10 < 5"), ("WHERE on the column of the expression", "age / 10", "age < 50"),
    ("WHERE BETWEEN on the column", "age / 10", "age BETWEEN 20 AND 39"), ("WHERE on the column of CASE", "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END", "age >= 18"),
    ("WHERE on the column of a condition", "age >= 65", "age < 65"), ("WHERE of days on a month", "date_trunc('month', came)", "came < timestamp '2025-02-01'"),
    ("WHERE of days on extract", "extract(month FROM born)", "born >= date '2001-01-01'"), ("WHERE on width_bucket's column", "width_bucket(age, 0, 100, 4)", "age < 25"),
    ("WHERE on one of two keys", "ward, sure", "sure"), ("WHERE IS NOT NULL", "sex", "sex IS NOT NULL"), ("WHERE IS NOT NULL below", "upper(sex)", "sex IS NOT NULL"),
    ("WHERE that makes NULL impossible", "steps > 3", "steps < 5"), ("WHERE on another column", "ward", "age > 50"), ("WHERE that ties two keys", "ward, sex", "ward = 'icu' OR sex = 'f'"),
    ("ROLLUP", "ROLLUP (ward, upper(ward))", ""),
    ("whole numbers between bounds", "age", ""), ("whole numbers between bounds, and NULL", "steps", ""), ("days between bounds", "born", ""),
    ("a column and a condition on it", "steps, steps > 3", ""), ("a shifted column", "age + 1", ""), ("an even column", "age * 2", ""),
    ("floor times", "floor(fee / 5) * 5", ""), ("floor of a numeric with decimals", "floor(fee)", ""), ("ceiling", "ceil(fee / 7)", ""), ("round", "round(fee)", ""),
    ("round to tens", "round(fee, -1)", ""), ("trunc to hundreds", "trunc(fee, -2)", ""), ("cast to integer", "fee::integer", ""), ("cast of a float", "(weight * 2)::integer", ""),
    ("floor and CASE", "CASE WHEN floor(fee / 10) < 3 THEN 'small' WHEN floor(fee / 10) < 50 THEN 'large' ELSE 'huge' END", ""),
    ("floor and text", "'from ' || (floor(fee / 25) * 25)::text", ""), ("floor and coalesce", "coalesce(floor(fee / 20), -1)", ""), ("floor of a square", "floor(fee / 30) * floor(fee / 30)", ""),
    ("condition on a step", "floor(fee / 10) > 4", ""), ("condition on a step that never holds", "floor(fee / 10) > 40", ""), ("abs of a step", "abs(round(fee / 2))", ""),
    ("division of a wide column", "hits / 1000", ""), ("remainder of a wide column", "hits % 10", ""), ("division, and its remainder", "hits / 10000 % 4", ""),
    ("width_bucket of decimals", "width_bucket(fee, 0, 100, 8)", ""), ("width_bucket, named", "CASE width_bucket(fee, 0, 100, 2) WHEN 0 THEN 'less' WHEN 1 THEN 'low' WHEN 2 THEN 'high' ELSE 'more' END", ""),
    ("seconds in days", "floor(extract(epoch FROM seen) / 86400 / 30)", ""), ("days of a difference", "extract(day FROM came - timestamp '2024-12-25 12:00')", ""),
    ("years of many days", "extract(year FROM built)", ""), ("decades of many days", "extract(decade FROM built)", ""), ("months of many days", "date_trunc('month', built)", ""),
    ("a step and a column", "floor(fee / 50), ward", ""), ("a step and another column's", "floor(fee / 50) + steps", ""),
    ("a moment, or none", "CASE WHEN seen IS NULL THEN 'never' ELSE to_char(seen, 'YYYY') END", ""), ("bins of a moment with a zone", "date_bin('12 hours', left_at, timestamptz '2025-01-01 00:00 UTC')", ""),
    ("bins by a clock", "date_bin('2 days', left_at AT TIME ZONE 'Europe/Berlin', timestamp '2025-01-01')", ""), ("week and month of a moment", "to_char(date_trunc('week', came), 'DD') || extract(month FROM came)::text", ""),
    ("month of a moment with a zone, of two years", "date_trunc('month', seen AT TIME ZONE 'Pacific/Kiritimati')", ""), ("year of a moment", "extract(year FROM seen)", ""),
    ("day and hour", "to_char(left_at, 'Dy HH24')", ""), ("minutes of some days", "extract(minute FROM left_at)", ""), ("minute of a text", "to_char(left_at, 'MI')", ""),
    ("part of the day", "CASE WHEN extract(hour FROM came) < 12 THEN 'morning' ELSE 'evening' END", ""),
    ("thresholds", "width_bucket(age, ARRAY[18, 65])", ""), ("thresholds beyond the bounds", "width_bucket(age, ARRAY[-5, 0, 50, 99, 200])", ""), ("thresholds and NULL", "width_bucket(steps, '{-3,4}'::integer[])", ""),
    ("thresholds of decimals", "width_bucket(fee, ARRAY[0, 9.99, 10, 100])", ""), ("thresholds between decimals", "width_bucket(fee, ARRAY[0.004, 0.015, 7.5, 300])", ""), ("thresholds of a numeric", "width_bucket(cost, ARRAY[12.5, 50])", ""),
    ("thresholds of a float", "width_bucket(weight, ARRAY[0, 0.5, 5]::float8[])", ""), ("thresholds of a bigint", "width_bucket(hits, ARRAY[-100000, 0, 1, 1000])", ""), ("thresholds of days", "width_bucket(built, ARRAY[date '1900-01-01', '1900-01-02', '2000-01-01'])", ""),
    ("thresholds of moments", "width_bucket(came, ARRAY['2025-02-01', '2025-03-01']::timestamp[])", ""), ("thresholds of moments with a zone", "width_bucket(seen, ARRAY['2024-02-01 00:00 UTC', '2024-10-27 01:30 UTC']::timestamptz[])", ""),
    ("thresholds, named", "CASE width_bucket(fee, ARRAY[5, 20]) WHEN 0 THEN 'low' WHEN 1 THEN 'fair' ELSE 'high' END", ""), ("thresholds of a step", "width_bucket(floor(fee / 7), ARRAY[2, 3, 11])", ""),
    ("thresholds out of order", "width_bucket(age, ARRAY[65, 18])", ""), ("thresholds of what has few values", "width_bucket(steps::numeric, ARRAY[0.5, 0.7, 3])", ""),
    ("product of whole numbers", "age * age * age > 5", ""),
    ("width_bucket of coalesce", "width_bucket(coalesce(fee, 0), -2.5, 120, 4)", ""), ("width_bucket of a shifted number", "width_bucket(hits + 1, -60000, 90000, 3)", ""), ("thresholds of coalesce", "width_bucket(coalesce(fee, 0), ARRAY[5, 20])", ""),
    ("hour of many days, as an integer", "extract(hour FROM seen)::int", ""), ("hour and one", "extract(hour FROM seen) + 1", ""), ("hour of many days, as a text", "extract(hour FROM seen)::text", ""),
    ("quarter of a day", "extract(hour FROM seen)::int / 6", ""), ("floor of a quarter of a day", "floor(extract(hour FROM seen) / 6)", ""), ("hour by to_char", "to_char(seen, 'HH24')", ""),
    ("hour by a clock", "extract(hour FROM seen AT TIME ZONE 'Australia/Lord_Howe')::int", ""), ("hour of ten years", "to_char(logged, 'HH24')", ""), ("weekday and hour of ten years", "to_char(logged, 'Dy HH24')", ""),
    ("month of ten years", "extract(month FROM logged)::int", ""), ("weekday of ten years, and weekday", "extract(isodow FROM logged)::int, to_char(logged, 'Dy')", ""), ("day of ten years", "to_char(logged, 'DDD')", ""),
    ("month of anything", "extract(month FROM paid)::int", ""), ("week of anything", "extract(week FROM paid)::text", ""), ("hour of anything", "to_char(paid, 'HH12')", ""),
    ("minute of anything", "extract(minute FROM paid)::int", ""), ("day of anything", "to_char(paid, 'DD Mon')", ""), ("weekday of a day of anything", "to_char(paid, 'DD Dy')", ""),
    ("WHERE on the hour", "extract(hour FROM seen)::int", "extract(hour FROM seen)::int BETWEEN 9 AND 17"), ("WHERE on the hour by another form", "to_char(seen, 'HH24')", "extract(hour FROM seen) < 5"),
    ("WHERE on days of a moment", "date_trunc('month', seen)", "seen::date >= '2024-10-01'"), ("WHERE on years of a moment", "date_trunc('month', seen)", "date_trunc('year', seen)::date = '2024-01-01'"),
    ("WHERE on the year of a moment", "date_trunc('week', seen)", "extract(year FROM seen) = 2024"), ("WHERE on days or years", "date_trunc('month', logged)", "logged::date >= '2024-10-01' OR extract(year FROM logged)::int = 2016"),
    ("WHERE on days of ten years", "to_char(logged, 'DD Mon')", "logged::date = '2020-02-29' OR logged::date BETWEEN '2017-03-01' AND '2017-03-03'"), ("WHERE on months of two years", "to_char(seen, 'Mon ') || sure", "extract(month FROM seen) < 4 OR sure"),
    ("WHERE bounds the days", "date_trunc('month', paid)", "paid::date >= '2024-10-01' AND paid::date < '2024-12-01'"), ("WHERE bounds the year", "date_trunc('quarter', paid)", "date_trunc('year', paid)::date = '2024-01-01'"),
    ("WHERE bounds the year of a moment", "date_trunc('week', paid)", "extract(year FROM paid) = 2024"), ("WHERE bounds the year of a clock", "date_trunc('month', paid AT TIME ZONE 'Asia/Tokyo')", "extract(year FROM paid AT TIME ZONE 'Asia/Tokyo') = 2024"),
    ("quarter of an hour", "extract(hour FROM left_at) * 4 + floor(extract(minute FROM left_at) / 15)", ""),
    ("month by the clock of a zone", "date_trunc('month', seen, 'Asia/Tokyo')", ""), ("day by the clock of a zone", "date_trunc('day', left_at, 'America/St_Johns')", ""),
    ("WHERE on a month by the clock of a zone", "date_trunc('month', paid, 'Asia/Tokyo')", "date_trunc('year', paid, 'Asia/Tokyo') = timestamptz '2024-01-01 00:00+09'"),
    ("WHERE of what is in each group", "date_trunc('month', logged)", "extract(hour FROM logged) = 3"), ("WHERE on a day, of hours", "to_char(logged, 'HH24')", "logged::date = '2020-02-29'"),
    ("WHERE of weekdays and others", "to_char(paid, 'Dy')", "paid < timestamptz '1996-01-01' OR extract(isodow FROM paid) < 3"),
    ("WHERE on another clock", "date_trunc('month', seen, 'Asia/Tokyo')", "extract(hour FROM seen) < 3"),
    ("weekday and hour", "extract(isodow FROM came), extract(hour FROM came)", ""), ("month and year of a moment", "extract(year FROM seen), extract(month FROM seen)", ""),
)

# Each moment under each function.
MOMENTS = ("came", "came + interval '5 hours'", "came - interval '2 days 30 minutes'", "left_at", "left_at AT TIME ZONE 'America/New_York'",
           "(left_at - interval '6 hours') AT TIME ZONE 'Asia/Kolkata'", "(came AT TIME ZONE 'UTC') AT TIME ZONE 'Australia/Lord_Howe'", "seen", "born + 3")
FUNCTIONS = ("date_trunc('month', {})", "date_trunc('week', {})", "date_trunc('day', {})", "extract(dow FROM {})", "extract(week FROM {})", "extract(doy FROM {})",
             "({})::date", "to_char({}, 'YYYY-\"W\"WW')", "to_char({}, 'Mon DD')", "date_trunc('quarter', {})::date", "extract(quarter FROM {})",
             "date_trunc('hour', {})", "extract(hour FROM {})")
OF_DAYS = 11 # the first of them
KINDS += tuple((f"moment {i}", f.format(m), "") for i, (m, f) in enumerate(
    (m, f) for m in MOMENTS for n, f in enumerate(FUNCTIONS) if n < OF_DAYS or m not in ("seen", "born + 3")))

# Conditions on what is not listed value by value have both values, and choices of it all that each has, wherever WHERE leaves it
# (conditions.py tries none of them).
BOTH = (
    ("thresholds of nullif", "width_bucket(nullif(fee, 3), ARRAY[5, 20])", ""), ("thresholds of a choice", "width_bucket(CASE WHEN sure THEN fee ELSE 7 END, ARRAY[5, 20])", ""), ("thresholds of least", "width_bucket(least(fee, 50), ARRAY[5, 20])", ""),
    ("arithmetic of money", "fee * 2 > 30", "fee IS NOT NULL"), ("quotient of money", "fee / 7 > 3", "fee IS NOT NULL"), ("price and tax of money", "fee + fee * 0.19 < 50", "fee IS NOT NULL"),
    ("money, or none", "coalesce(fee, 0) > 5", ""), ("money by a column that may be 0", "fee / nullif(age, 0) > 2", "fee IS NOT NULL"), ("sum of whole numbers", "hits + age > 10", ""),
)

# What follows from nothing: each is refused.
REFUSED = (
    "came", "extract(epoch FROM came)", "extract(julian FROM came)", "extract(second FROM came)", "date_trunc('second', came)", "to_char(came, 'HH24:MI:SS')", "came + interval '1 hour'",
    "came + interval '1 month'", "to_char(came + interval '1 month', 'MM')", "came::date::text || (came + interval '1 hour')::date::text",
    "date_trunc('day', came)::date - date_bin('7 hours', came, timestamp '2025-01-01')::date", "to_char(left_at, 'DD') || to_char(left_at AT TIME ZONE 'Asia/Tokyo', 'DD')",
    "fee", "floor(fee / 5) || ' ' || floor(fee / 7)", "floor(fee / 5) + fee", "fee * fee", "floor(fee * 1000)", "floor(rate * 50)", "floor(fee - fee / 2)", "round(fee, 1)", "hits", "hits * 2", "weight * 2",
    "width_bucket(fee, ARRAY[10, 5])", "width_bucket(fee, ARRAY[5, 5, 10])", "width_bucket(fee, ARRAY[5.001, 5.002, 7])", "width_bucket(fee, ARRAY[5, 7]) * fee",
    "floor(hits * 0.5) * 3", "date_bin('1 hour', left_at AT TIME ZONE 'Europe/Berlin', timestamp '2025-01-01')", "built", "to_char(came, 'DD') || came::text", "to_char(date_trunc('day', left_at, 'Asia/Tokyo'), 'DD') || left_at::date",
)


def prepare():
    postgres = Connection(dbname="postgres")
    postgres.send(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    postgres.send(f"DROP ROLE IF EXISTS {ROLE}")
    postgres.must(f"CREATE ROLE {ROLE}")
    postgres.must(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
    postgres.must(f"ALTER DATABASE {DATABASE} SET session_preload_libraries = 'dp_rdr'")
    postgres.must(f"ALTER DATABASE {DATABASE} SET TimeZone = 'Europe/Berlin'")
    postgres.close()
    owner = Connection(dbname=DATABASE)
    owner.must("CREATE EXTENSION dp_rdr; CREATE TYPE mood AS ENUM ('low', 'fair', 'high')")
    owner.must(f"CREATE TABLE t ({', '.join(f'{name} {type_}' for name, (type_, _, _) in COLUMNS.items())})")
    owner.must("INSERT INTO t VALUES (40, NULL, 12.5, 1, 'icu', 'f', 'low', true, NULL, '2000-05-05', '2025-02-02 12:00', '2025-04-01 UTC', NULL, 7, 12, 3, NULL, '2020-01-01', NULL)")
    owner.must("SELECT dp_protect('t', 't_dp')")
    for _, _, declared in COLUMNS.values():
        owner.must(f"SELECT {declared}" if declared else "SELECT")
    owner.must("SELECT dp_set_odometer('t', 'none')")
    owner.must(f"SELECT dp_grant('t_dp', '{ROLE}', tau => 0, candidates => '{{0.001}}', epsilon_max => 0.001)")
    analyst = Connection(dbname=DATABASE)
    analyst.must(f"SET ROLE {ROLE}")
    return owner, analyst


def grid(text):
    """A sub-SELECT of all permitted rows, as far as these columns go."""
    words = "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
    named = [name for name in COLUMNS if name in words]
    parts = []
    for name in named:
        type_, values, _ = COLUMNS[name]
        values = values if values.startswith("SELECT") else f"SELECT {values}"
        null = "" if "NOT NULL" in type_ else " UNION SELECT NULL"
        parts.append(f"({values}{null}) of_{name} ({name})")
    return ", ".join(parts)


def query(keys, condition, source):
    texts = keys[len("ROLLUP ("):-1] if keys.startswith("ROLLUP") else keys
    where = f" WHERE {condition}" if condition else ""
    return f"SELECT {texts}, count(*) FROM {source}{where} GROUP BY {keys}"


def check(owner, analyst, keys, condition):
    """Groups that are shown and cannot be; that can be and are not shown; why it was refused."""
    reply = analyst.send(query(keys, condition, "t_dp"))
    if reply.sqlstate():
        return [], [], f"{reply.sqlstate()} {reply.results[-1].field('M')}"
    shown = {row[:-1] for row in reply.results[-1].rows}
    possible = {row[:-1] for row in owner.must(query(keys, condition, grid(keys + " " + condition)))}
    return sorted(shown - possible, key=str), sorted(possible - shown, key=str), ""


def some(groups):
    return ", ".join(str(group) for group in groups[:8]) + (f" and {len(groups) - 8} more" if len(groups) > 8 else "")


def main():
    owner, analyst = prepare()
    tap, impossible, refused = Tap(), [], []
    for name, keys, condition in KINDS + BOTH:
        cannot, lacking, error = check(owner, analyst, keys, condition)
        of = f"{name}: GROUP BY {keys}" + (f", WHERE {condition}" if condition else "")
        if error:
            refused.append(f"{of}: {error}")
            continue
        tap.report(f"{of}: each group that is shown can be", [f"{len(cannot)} cannot: {some(cannot)}"] if cannot else [])
        tap.report(f"{of}: each group that can be is shown", [f"{len(lacking)} are not: {some(lacking)}"] if lacking else [])
        impossible += [name] * bool(cannot)
    tap.report("each list of these follows from what is declared", refused)
    for key in REFUSED:
        reply = analyst.send(f"SELECT {key}, count(*) FROM t_dp GROUP BY {key}")
        tap.report(f"nothing follows of GROUP BY {key}", [] if reply.sqlstate() == "55000" else [f"{reply.sqlstate()}: {len(reply.results[-1].rows)} groups"])
    print(f"# impossible groups: {', '.join(impossible) or 'none'} ({len(impossible)} of {len(KINDS + BOTH)} kinds)")
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
