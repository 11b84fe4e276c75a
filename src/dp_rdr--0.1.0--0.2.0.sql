-- From dp_rdr 0.1.0 to 0.2.0. What this file makes of 0.1.0 is what dp_rdr--0.2.0.sql makes from nothing.
\echo Use "ALTER EXTENSION dp_rdr UPDATE TO '0.2.0'" to load this file. \quit

-- The processes that read rows for analysts, for an administrator to look at (doc/operations.md).
CREATE FUNCTION dp_rdr.keepers(OUT pid integer, OUT state text, OUT charges bigint, OUT commits bigint)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 3 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_rdr.keepers() IS
    'background workers that charge and answer the queries of this database, with the charges and commits of each';
CREATE FUNCTION dp_rdr.charge_times(OUT microseconds double precision, OUT charges bigint)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 50 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_rdr.charge_times() IS
    'how many charges took so long at most, and longer than the row before says, since the server started';

REVOKE ALL ON FUNCTION dp_rdr.keepers(), dp_rdr.charge_times() FROM PUBLIC;

-- The internal statement: its rows go past the aggregate collect, and lattices are one argument.
DROP AGGREGATE dp_rdr.collect(record);
DROP FUNCTION dp_rdr.collect_step(internal, record);
DROP FUNCTION dp_rdr.collect_final(internal);
DROP AGGREGATE dp_rdr.lattice_sum("any", double precision, bigint, bigint);
DROP AGGREGATE dp_rdr.lattice_pair("any", double precision, double precision);
DROP FUNCTION dp_rdr.lattice_sum_step(internal, "any", double precision, bigint, bigint);
DROP FUNCTION dp_rdr.lattice_pair_step(internal, "any", double precision, double precision);
DROP FUNCTION dp_rdr.lattice_pair_final(internal);

COMMENT ON FUNCTION dp_rdr.lattice_sum_final(internal) IS 'final function of lattice_sum and lattice_pair';
CREATE FUNCTION dp_rdr.lattice_add_sum(internal, "any", bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_lattice_add_sum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.lattice_add_sum(internal, "any", bytea) IS 'transition function of lattice_sum';
CREATE FUNCTION dp_rdr.lattice_add_pair(internal, "any", bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_lattice_add_pair' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.lattice_add_pair(internal, "any", bytea) IS 'transition function of lattice_pair and lattice_rows';
CREATE FUNCTION dp_rdr.lattice_rows_final(internal) RETURNS bigint
    AS 'MODULE_PATHNAME', 'dp_lattice_rows_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.lattice_rows_final(internal) IS 'final function of lattice_rows';

-- FINALFUNC_MODIFY keeps an aggregate from being used as a window function, where every row would be an answer of its
-- own: READ_WRITE, here and below, or SHAREABLE, so that lattice_pair and lattice_rows of the same values share one state.
CREATE AGGREGATE dp_rdr.lattice_sum(value "any", facts bytea) (
    SFUNC = dp_rdr.lattice_add_sum, STYPE = internal, SSPACE = 48,
    FINALFUNC = dp_rdr.lattice_sum_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dp_rdr.lattice_combine, SERIALFUNC = dp_rdr.lattice_serialize,
    DESERIALFUNC = dp_rdr.lattice_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.lattice_sum("any", bytea)
    IS 'exact sum of values rounded to a lattice and clamped, in lattice units';

CREATE AGGREGATE dp_rdr.lattice_pair(value "any", facts bytea) (
    SFUNC = dp_rdr.lattice_add_pair, STYPE = internal, SSPACE = 48,
    FINALFUNC = dp_rdr.lattice_sum_final, FINALFUNC_MODIFY = SHAREABLE,
    COMBINEFUNC = dp_rdr.lattice_combine, SERIALFUNC = dp_rdr.lattice_serialize,
    DESERIALFUNC = dp_rdr.lattice_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.lattice_pair("any", bytea) IS 'exact sum of values scaled to 0..2^30';

CREATE AGGREGATE dp_rdr.lattice_rows(value "any", facts bytea) (
    SFUNC = dp_rdr.lattice_add_pair, STYPE = internal, SSPACE = 48,
    FINALFUNC = dp_rdr.lattice_rows_final, FINALFUNC_MODIFY = SHAREABLE,
    COMBINEFUNC = dp_rdr.lattice_combine, SERIALFUNC = dp_rdr.lattice_serialize,
    DESERIALFUNC = dp_rdr.lattice_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.lattice_rows("any", bytea) IS 'how many values lattice_pair has added up';

-- Where other nodes keep the rows, sum(bigint) adds up what these make of each.
CREATE FUNCTION dp_rdr.sum_point(value "any", facts bytea) RETURNS bigint
    AS 'MODULE_PATHNAME', 'dp_sum_point' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.sum_point("any", bytea) IS 'a value rounded to a lattice and clamped, in lattice units';
CREATE FUNCTION dp_rdr.pair_point(value "any", facts bytea) RETURNS bigint
    AS 'MODULE_PATHNAME', 'dp_pair_point' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.pair_point("any", bytea) IS 'a value scaled to 0..2^30';
CREATE FUNCTION dp_rdr.selection_point(facts bytea, VARIADIC contributions "any") RETURNS bigint
    AS 'MODULE_PATHNAME', 'dp_selection_point' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.selection_point(bytea, "any") IS 'scaled sensitivity of a row, for the selection of epsilon';
CREATE FUNCTION dp_rdr.selection_square(facts bytea, VARIADIC contributions "any") RETURNS bigint
    AS 'MODULE_PATHNAME', 'dp_selection_square' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.selection_square(bytea, "any") IS 'its square';
-- Partitions on other servers are asked by it whether they are there and fit, before a charge.
CREATE FUNCTION dp_rdr.is_other_node(facts text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'dp_is_other_node' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.is_other_node(text)
    IS 'false, or an error if this server has another dp_rdr or encoding than the one that asks';
CREATE FUNCTION dp_rdr.is_other_column_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_is_other_column_support' LANGUAGE C;
COMMENT ON FUNCTION dp_rdr.is_other_column_support(internal) IS 'planner support of is_other_column';
CREATE FUNCTION dp_rdr.is_other_column(type text, "column" "any") RETURNS boolean
    AS 'MODULE_PATHNAME', 'dp_is_other_column' LANGUAGE C IMMUTABLE PARALLEL SAFE
    SUPPORT dp_rdr.is_other_column_support;
COMMENT ON FUNCTION dp_rdr.is_other_column(text, "any")
    IS 'false, or an error if the column is of another type than the one that is asked for';

REVOKE ALL ON FUNCTION
    dp_rdr.lattice_add_sum(internal, "any", bytea), dp_rdr.lattice_add_pair(internal, "any", bytea),
    dp_rdr.lattice_rows_final(internal), dp_rdr.lattice_sum("any", bytea), dp_rdr.lattice_pair("any", bytea),
    dp_rdr.lattice_rows("any", bytea), dp_rdr.sum_point("any", bytea), dp_rdr.pair_point("any", bytea),
    dp_rdr.selection_point(bytea, "any"), dp_rdr.selection_square(bytea, "any"), dp_rdr.is_other_node(text),
    dp_rdr.is_other_column(text, "any"), dp_rdr.is_other_column_support(internal) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    dp_rdr.lattice_sum("any", bytea), dp_rdr.lattice_pair("any", bytea), dp_rdr.lattice_rows("any", bytea),
    dp_rdr.sum_point("any", bytea), dp_rdr.pair_point("any", bytea), dp_rdr.selection_point(bytea, "any"),
    dp_rdr.selection_square(bytea, "any"), dp_rdr.is_other_node(text), dp_rdr.is_other_column(text, "any") TO PUBLIC;
