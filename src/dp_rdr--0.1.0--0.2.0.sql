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

-- Variances are computed from these.
CREATE FUNCTION dp_rdr.lattice_add_square(internal, "any", bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_lattice_add_square' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.lattice_add_square(internal, "any", bytea) IS 'transition function of lattice_square';
CREATE AGGREGATE dp_rdr.lattice_square(value "any", facts bytea) (
    SFUNC = dp_rdr.lattice_add_square, STYPE = internal, SSPACE = 48,
    FINALFUNC = dp_rdr.lattice_sum_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dp_rdr.lattice_combine, SERIALFUNC = dp_rdr.lattice_serialize,
    DESERIALFUNC = dp_rdr.lattice_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.lattice_square("any", bytea)
    IS 'exact sum of squares of values scaled to 0..1, in units of 2^-30';
CREATE FUNCTION dp_rdr.lattice_add_joint(internal, point, bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_lattice_add_joint' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.lattice_add_joint(internal, point, bytea) IS 'transition function of lattice_joint';
CREATE AGGREGATE dp_rdr.lattice_joint(value point, facts bytea) (
    SFUNC = dp_rdr.lattice_add_joint, STYPE = internal, SSPACE = 48,
    FINALFUNC = dp_rdr.lattice_sum_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dp_rdr.lattice_combine, SERIALFUNC = dp_rdr.lattice_serialize,
    DESERIALFUNC = dp_rdr.lattice_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.lattice_joint(point, bytea)
    IS 'exact sum of one part of the products of two values scaled to 0..1';
CREATE FUNCTION dp_rdr.square_point(value "any", facts bytea) RETURNS bigint
    AS 'MODULE_PATHNAME', 'dp_square_point' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.square_point("any", bytea) IS 'the square of a value scaled to 0..1, in units of 2^-30';
CREATE FUNCTION dp_rdr.lattice_add_rest(internal, "any", bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_lattice_add_rest' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.lattice_add_rest(internal, "any", bytea) IS 'transition function of lattice_rest';
CREATE AGGREGATE dp_rdr.lattice_rest(value "any", facts bytea) (
    SFUNC = dp_rdr.lattice_add_rest, STYPE = internal, SSPACE = 48,
    FINALFUNC = dp_rdr.lattice_sum_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dp_rdr.lattice_combine, SERIALFUNC = dp_rdr.lattice_serialize,
    DESERIALFUNC = dp_rdr.lattice_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.lattice_rest("any", bytea)
    IS 'exact sum of squares of what scaled values lack to 1, in units of 2^-30';
CREATE FUNCTION dp_rdr.rest_point(value "any", facts bytea) RETURNS bigint
    AS 'MODULE_PATHNAME', 'dp_rest_point' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.rest_point("any", bytea) IS 'the square of what a scaled value lacks to 1, in units of 2^-30';

-- Minima, maxima and percentiles are drawn from these.
CREATE FUNCTION dp_rdr.histogram_add(internal, "any", bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_histogram_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.histogram_add(internal, "any", bytea) IS 'transition function of histogram';
CREATE FUNCTION dp_rdr.histogram_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_histogram_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.histogram_combine(internal, internal) IS 'combine function of histogram';
CREATE FUNCTION dp_rdr.histogram_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dp_histogram_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.histogram_serialize(internal) IS 'serialization function of histogram';
CREATE FUNCTION dp_rdr.histogram_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_histogram_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.histogram_deserialize(bytea, internal) IS 'deserialization function of histogram';
CREATE FUNCTION dp_rdr.histogram_final(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dp_histogram_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.histogram_final(internal) IS 'final function of histogram';
-- SSPACE: of 1,024 cells.
CREATE AGGREGATE dp_rdr.histogram(value "any", facts bytea) (
    SFUNC = dp_rdr.histogram_add, STYPE = internal, SSPACE = 8208,
    FINALFUNC = dp_rdr.histogram_final, FINALFUNC_MODIFY = SHAREABLE,
    COMBINEFUNC = dp_rdr.histogram_combine, SERIALFUNC = dp_rdr.histogram_serialize,
    DESERIALFUNC = dp_rdr.histogram_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.histogram("any", bytea) IS 'how many values each cell of a grid has, by the cells that have any';
CREATE FUNCTION dp_rdr.histogram_cell(value "any", facts bytea) RETURNS integer
    AS 'MODULE_PATHNAME', 'dp_histogram_cell' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.histogram_cell("any", bytea) IS 'the cell of a grid that a value is in';
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
REVOKE ALL ON FUNCTION
    dp_rdr.lattice_add_square(internal, "any", bytea), dp_rdr.lattice_add_rest(internal, "any", bytea),
    dp_rdr.lattice_square("any", bytea), dp_rdr.lattice_rest("any", bytea), dp_rdr.square_point("any", bytea),
    dp_rdr.rest_point("any", bytea), dp_rdr.lattice_add_joint(internal, point, bytea), dp_rdr.lattice_joint(point, bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION
    dp_rdr.histogram_add(internal, "any", bytea), dp_rdr.histogram_combine(internal, internal),
    dp_rdr.histogram_serialize(internal), dp_rdr.histogram_deserialize(bytea, internal), dp_rdr.histogram_final(internal),
    dp_rdr.histogram("any", bytea), dp_rdr.histogram_cell("any", bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.histogram("any", bytea), dp_rdr.histogram_cell("any", bytea) TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    dp_rdr.lattice_square("any", bytea), dp_rdr.lattice_rest("any", bytea), dp_rdr.square_point("any", bytea),
    dp_rdr.rest_point("any", bytea), dp_rdr.lattice_joint(point, bytea) TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    dp_rdr.lattice_sum("any", bytea), dp_rdr.lattice_pair("any", bytea), dp_rdr.lattice_rows("any", bytea),
    dp_rdr.sum_point("any", bytea), dp_rdr.pair_point("any", bytea), dp_rdr.selection_point(bytea, "any"),
    dp_rdr.selection_square(bytea, "any"), dp_rdr.is_other_node(text), dp_rdr.is_other_column(text, "any") TO PUBLIC;

-- What a unit brings to a query, where it may have several rows. SSPACE: of a unit with few groups.
CREATE FUNCTION dp_rdr.contribution_step(internal, bytea, VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_contribution_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.contribution_step(internal, bytea, "any") IS 'transition function of contribution';
CREATE FUNCTION dp_rdr.contribution_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_contribution_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.contribution_combine(internal, internal) IS 'combine function of contribution';
CREATE FUNCTION dp_rdr.contribution_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dp_contribution_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.contribution_serialize(internal) IS 'serialization function of contribution';
CREATE FUNCTION dp_rdr.contribution_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'dp_contribution_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.contribution_deserialize(bytea, internal) IS 'deserialization function of contribution';
CREATE FUNCTION dp_rdr.contribution_final(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dp_contribution_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.contribution_final(internal) IS 'final function of contribution';

CREATE AGGREGATE dp_rdr.contribution(facts bytea, VARIADIC contributions "any") (
    SFUNC = dp_rdr.contribution_step, STYPE = internal, SSPACE = 192,
    FINALFUNC = dp_rdr.contribution_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dp_rdr.contribution_combine, SERIALFUNC = dp_rdr.contribution_serialize,
    DESERIALFUNC = dp_rdr.contribution_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.contribution(bytea, "any")
    IS 'exact sums of what the rows of one unit bring to a query, by group, as they are before they are clipped';
CREATE FUNCTION dp_rdr.value_digest(value anyelement) RETURNS uuid
    AS 'MODULE_PATHNAME', 'dp_value_digest' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.value_digest(anyelement) IS '128 bits that equal values have in common, for count(DISTINCT x)';
CREATE FUNCTION dp_rdr.only_value_step(anyelement, anyelement) RETURNS anyelement
    AS 'MODULE_PATHNAME', 'dp_only_value_step' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.only_value_step(anyelement, anyelement) IS 'transition and combine function of only_value';
CREATE AGGREGATE dp_rdr.only_value(value anyelement) (
    SFUNC = dp_rdr.only_value_step, STYPE = anyelement, COMBINEFUNC = dp_rdr.only_value_step, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.only_value(anyelement) IS 'of a column that is the same in all rows of one unit, its value as it is stored';
REVOKE ALL ON FUNCTION
    dp_rdr.contribution_step(internal, bytea, "any"), dp_rdr.contribution_combine(internal, internal),
    dp_rdr.contribution_serialize(internal), dp_rdr.contribution_deserialize(bytea, internal),
    dp_rdr.contribution_final(internal), dp_rdr.contribution(bytea, "any"),
    dp_rdr.only_value_step(anyelement, anyelement), dp_rdr.only_value(anyelement) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.contribution(bytea, "any") TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.value_digest(anyelement) TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.only_value(anyelement) TO PUBLIC;

-- What was a protected table with its bound becomes a domain of one table, with the same id.
-- People and the account of what is told about them. Its tables have rows of the same people.
CREATE TABLE dp_rdr.privacy_domain (
    id            uuid PRIMARY KEY,               -- names the domain, and its odometer, for ever
    unit_table    regclass,                       -- whose keys are the people; NULL: a row of the domain's one table is one
    bound         text NOT NULL DEFAULT 'filter'
                  CHECK (bound OPERATOR(pg_catalog.=) ANY ('{filter,dynamic,none,zcdp}'::text[])),
    epsilon_total numeric DEFAULT 1,
    delta_total   numeric NOT NULL DEFAULT 0,
    -- Of the bound zcdp:
    delta_conversion numeric,                     -- NULL: half of delta_total
    cap           text NOT NULL DEFAULT 'tight' CHECK (cap OPERATOR(pg_catalog.=) ANY ('{tight,classic}'::text[])),
    epsilon_pure  numeric NOT NULL DEFAULT 0,     -- a total of their own for pure charges
    rho_target    numeric,                        -- without an epsilon_total
    rho_total     numeric,                        -- with one: computed from the others
    profile       jsonb,                          -- risk profile and its epsilon: the total is at most that
    epoch         integer NOT NULL DEFAULT 0,     -- raised when the sums are to begin anew
    -- Of the bound filter: totals and shares bind within a period, the lifetime pair over all.
    period           text CHECK (period OPERATOR(pg_catalog.=) ANY ('{day,week,month,quarter,year}'::text[])),
    epsilon_lifetime numeric,
    delta_lifetime   numeric,
    period_since     date,                        -- day in UTC on which the period was set: until it turns, what was spent counts
    unit_types       regtype[],                   -- of the unit's columns, in all tables; NULL: a row is a unit
    unit_names       text[],                      -- qualified names of the tables whose columns were the people: under one it comes back
    joined_into      uuid                         -- the domain that its tables and its totals went to; NULL: it is one of its own
);
COMMENT ON TABLE dp_rdr.privacy_domain IS 'whose data protected tables have, and the bound of their odometer';

INSERT INTO dp_rdr.privacy_domain (id, bound, epsilon_total, delta_total)
SELECT id, bound, epsilon_total, delta_total FROM dp_rdr.protected_table;
-- Of tables that are gone and were asked about: a row was their unit. A charge without a domain is one whose domain is lost.
INSERT INTO dp_rdr.privacy_domain (id) SELECT DISTINCT table_id FROM dp_rdr.ledger_row ON CONFLICT DO NOTHING;
ALTER TABLE dp_rdr.protected_table
    DROP CONSTRAINT protected_table_id_key,
    DROP COLUMN unit, DROP COLUMN bound, DROP COLUMN epsilon_total, DROP COLUMN delta_total;
ALTER TABLE dp_rdr.protected_table RENAME COLUMN id TO domain;
-- Made anew under the name that it has in a new installation.
ALTER TABLE dp_rdr.protected_table ALTER COLUMN domain DROP NOT NULL;
ALTER TABLE dp_rdr.protected_table
    ALTER COLUMN domain SET NOT NULL,
    ADD COLUMN unit text[],
    ADD COLUMN parent regclass,
    ADD COLUMN parent_key text[],
    ADD COLUMN max_rows integer CHECK (max_rows OPERATOR(pg_catalog.>=) 1 AND max_rows OPERATOR(pg_catalog.<=) 1048576),
    ADD COLUMN max_groups integer,
    ADD CONSTRAINT protected_table_check
        CHECK (max_groups OPERATOR(pg_catalog.>=) 1 AND max_groups OPERATOR(pg_catalog.<=) max_rows),
    ADD COLUMN max_rows_per_group integer,
    ADD CONSTRAINT protected_table_check1
        CHECK (max_rows_per_group OPERATOR(pg_catalog.>=) 1 AND max_rows_per_group OPERATOR(pg_catalog.<=) max_rows);
CREATE INDEX protected_table_domain_idx ON dp_rdr.protected_table (domain);
COMMENT ON TABLE dp_rdr.protected_table IS 'protected tables, and how their rows find the unit that they belong to';
-- What is no secret, and may be joined with a domain's tables. Nothing in its rows comes from private ones.
CREATE TABLE dp_rdr.public_table (
    domain   uuid NOT NULL,                       -- privacy_domain.id
    relation regclass NOT NULL,
    PRIMARY KEY (domain, relation)
);
CREATE INDEX public_table_relation_idx ON dp_rdr.public_table (relation);
COMMENT ON TABLE dp_rdr.public_table IS 'public tables, which may be joined with the protected tables of a domain';
REVOKE ALL ON dp_rdr.privacy_domain, dp_rdr.public_table FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dp_rdr.privacy_domain', '');
SELECT pg_catalog.pg_extension_config_dump('dp_rdr.public_table',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) relation)');
-- Totals in rho. Columns come last, as in a new installation.
ALTER TABLE dp_rdr.odometer
    ADD COLUMN public_rho numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_pure numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_rho_only boolean NOT NULL DEFAULT false,
    ADD COLUMN public_epsilon_before numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_delta_before numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_rho numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_pure numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_rho_only boolean NOT NULL DEFAULT false,
    ADD COLUMN conditional_epsilon_before numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_delta_before numeric NOT NULL DEFAULT 0,
    ADD COLUMN epoch integer NOT NULL DEFAULT 0,
    ADD COLUMN claim_epsilon numeric,
    ADD COLUMN claim_conversion numeric,
    ADD COLUMN claim_mechanisms numeric,
    ADD COLUMN claim_target numeric,
    ADD COLUMN conditional_conversion numeric,
    ADD COLUMN public_period_kind text,
    ADD COLUMN public_period_start timestamptz,
    ADD COLUMN public_period_epsilon numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_period_delta numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_period_kind text,
    ADD COLUMN conditional_period_start timestamptz,
    ADD COLUMN conditional_period_epsilon numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_period_delta numeric NOT NULL DEFAULT 0;
ALTER TABLE dp_rdr.odometer_share
    ADD COLUMN epoch integer NOT NULL DEFAULT 0,
    ADD COLUMN public_rho numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_pure numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_rho_only boolean NOT NULL DEFAULT false,
    ADD COLUMN conditional_rho numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_pure numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_rho_only boolean NOT NULL DEFAULT false,
    ADD COLUMN public_epsilon_before numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_epsilon_before numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_period_kind text,
    ADD COLUMN public_period_start timestamptz,
    ADD COLUMN public_period_epsilon numeric NOT NULL DEFAULT 0,
    ADD COLUMN public_period_delta numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_period_kind text,
    ADD COLUMN conditional_period_start timestamptz,
    ADD COLUMN conditional_period_epsilon numeric NOT NULL DEFAULT 0,
    ADD COLUMN conditional_period_delta numeric NOT NULL DEFAULT 0;
DROP FUNCTION dp_rdr.ledger_content(dp_rdr.ledger_row); -- it has the type of a row
ALTER TABLE dp_rdr.ledger_row
    ADD COLUMN basis text NOT NULL DEFAULT 'epsilon',
    ADD COLUMN epoch integer NOT NULL DEFAULT 0;

-- The columns from table_id to outcome, then basis and epoch, as one JSON array of texts (parameters: as JSON). No
-- setting reaches it: numerics are printed with their own scale, the time in UTC, and all that looks the same after a dump and
-- a restore elsewhere. Content version 1, of dp_rdr 0.1.0, ends with the outcome.
CREATE FUNCTION dp_rdr.ledger_content(entry dp_rdr.ledger_row) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN convert_to(CASE entry.content_version WHEN 1 THEN json_build_array(
        entry.table_id::text, to_char(timezone('UTC', entry.at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        entry.relation, entry.relation_oid::text, entry.view, entry.view_oid::text,
        entry.grantee, entry.role_name, entry.role_oid::text, entry.session_role, entry.query,
        entry.account, entry.kind, entry.algorithm, entry.mechanism,
        entry.epsilon::text, entry.epsilon_svt::text, entry.epsilon_worst::text,
        entry.delta::text, entry.delta_noise::text, entry.delta_groups::text, entry.rho::text,
        entry.parameters, entry.guarantee, entry.outcome)
    ELSE json_build_array(
        entry.table_id::text, to_char(timezone('UTC', entry.at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        entry.relation, entry.relation_oid::text, entry.view, entry.view_oid::text,
        entry.grantee, entry.role_name, entry.role_oid::text, entry.session_role, entry.query,
        entry.account, entry.kind, entry.algorithm, entry.mechanism,
        entry.epsilon::text, entry.epsilon_svt::text, entry.epsilon_worst::text,
        entry.delta::text, entry.delta_noise::text, entry.delta_groups::text, entry.rho::text,
        entry.parameters, entry.guarantee, entry.outcome, entry.basis, entry.epoch::text) END::text, 'UTF8');
COMMENT ON FUNCTION dp_rdr.ledger_content(dp_rdr.ledger_row) IS 'canonical text of a ledger row, by its content version';
REVOKE ALL ON FUNCTION dp_rdr.ledger_content(dp_rdr.ledger_row) FROM PUBLIC;
CREATE OR REPLACE VIEW dp_rdr.ledger WITH (security_barrier) AS
SELECT l.id, l.at, l.relation, l.view, l.role_name, l.session_role, l.query, l.account, l.kind, l.algorithm, l.mechanism,
       l.epsilon, l.epsilon_svt, l.epsilon_worst, l.delta, l.delta_noise, l.delta_groups, l.rho, l.parameters, l.guarantee,
       l.outcome, l.content_version, l.content, l.previous_hash, l.hash, l.basis, l.epoch
FROM dp_rdr.ledger_row l CROSS JOIN (SELECT) AS once
WHERE ((SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER)
       OR EXISTS (SELECT FROM dp_rdr.protected_table t
                  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.relation::pg_catalog.oid
                  WHERE t.domain OPERATOR(pg_catalog.=) l.table_id AND pg_catalog.pg_has_role(c.relowner, 'USAGE'))
       OR EXISTS (SELECT FROM dp_rdr.privacy_domain d
                  JOIN dp_rdr.protected_table t ON t.domain OPERATOR(pg_catalog.=) d.joined_into
                  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.relation::pg_catalog.oid
                  WHERE d.id OPERATOR(pg_catalog.=) l.table_id AND pg_catalog.pg_has_role(c.relowner, 'USAGE'))
       OR (NOT EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.domain OPERATOR(pg_catalog.=) l.table_id)
           AND EXISTS (SELECT FROM pg_catalog.pg_class c
                       JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
                       WHERE c.oid OPERATOR(pg_catalog.=) l.relation_oid AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
                         AND pg_catalog.parse_ident(l.relation, false)
                             OPERATOR(pg_catalog.=) ARRAY[n.nspname::pg_catalog.text, c.relname::pg_catalog.text])))
  -- Asked once, before any row is read: EXPLAIN ANALYZE shows how many rows a scan met, and those are others' charges.
  AND ((SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER)
       OR EXISTS (SELECT FROM dp_rdr.protected_table p
                  JOIN pg_catalog.pg_class o ON o.oid OPERATOR(pg_catalog.=) p.relation::pg_catalog.oid
                  WHERE pg_catalog.pg_has_role(o.relowner, 'USAGE'))
       OR EXISTS (SELECT FROM dp_rdr.odometer p JOIN pg_catalog.pg_roles r ON r.rolname OPERATOR(pg_catalog.=) p.owner::name
                  WHERE pg_catalog.pg_has_role(r.oid, 'USAGE')));

DROP FUNCTION dp_odometer(regclass);
CREATE FUNCTION dp_odometer(relation regclass, OUT account text, OUT epsilon numeric, OUT delta numeric,
                            OUT releases bigint, OUT denials bigint, OUT bound text,
                            OUT epsilon_total numeric, OUT delta_total numeric, OUT rho numeric,
                            OUT rho_total numeric, OUT epsilon_anytime float8, OUT epsilon_claim numeric,
                            OUT delta_claim numeric, OUT period_epsilon numeric, OUT period_delta numeric,
                            OUT period_end timestamptz, OUT epsilon_lifetime numeric, OUT delta_lifetime numeric)
    RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE ROWS 2 AS 'MODULE_PATHNAME', 'dp_odometer';
COMMENT ON FUNCTION dp_odometer(regclass) IS 'total privacy loss of a protected table and its bound, by account';
DROP FUNCTION dp_set_odometer(regclass, text, numeric, numeric);
CREATE FUNCTION dp_set_odometer(relation regclass, bound text = NULL, epsilon_total numeric = NULL,
                                delta_total numeric = NULL, delta_conversion numeric = NULL, cap text = NULL,
                                epsilon_pure numeric = NULL, rho_target numeric = NULL, profile jsonb = NULL,
                                period text = NULL, epsilon_lifetime numeric = NULL, delta_lifetime numeric = NULL)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_odometer';
COMMENT ON FUNCTION dp_set_odometer(regclass, text, numeric, numeric, numeric, text, numeric, numeric, jsonb, text, numeric,
                                    numeric)
    IS 'sets how the total privacy loss of a protected table is bounded';

ALTER TABLE dp_rdr.policy
    ADD COLUMN profile jsonb,
    ADD COLUMN replay interval,
    ADD COLUMN on_request boolean NOT NULL DEFAULT false;
DROP FUNCTION dp_grant(regclass, regrole, float8, float8, text, text, numeric, numeric, numeric, numeric, numeric[], float8,
                       float8, text, text, numeric);
CREATE FUNCTION dp_grant(view regclass, grantee regrole, tau float8 = NULL, tau_var float8 = NULL,
                         selection text = NULL, mechanism text = NULL, delta numeric = NULL, epsilon_max numeric = NULL,
                         epsilon_total numeric = NULL, epsilon_svt numeric = NULL, candidates numeric[] = NULL,
                         weight_min float8 = NULL, weight_max float8 = NULL, group_a text = NULL, group_b text = NULL,
                         epsilon_min numeric = NULL, profile jsonb = NULL, replay interval = NULL,
                         on_request boolean = NULL)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_grant';
COMMENT ON FUNCTION dp_grant(regclass, regrole, float8, float8, text, text, numeric, numeric, numeric, numeric, numeric[],
                             float8, float8, text, text, numeric, jsonb, interval, boolean)
    IS 'permits a role to query a restricted view under a privacy preference';

-- Risk profiles: what a total of epsilon means to somebody with prior beliefs, and which total a limit on that allows.
CREATE FUNCTION dp_profile(kind text, relative float8 = NULL, absolute float8 = NULL, prior float8 = NULL,
                           expression text = NULL, p float8[] = NULL, q float8[] = NULL, r float8[] = NULL)
    RETURNS jsonb LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_profile';
COMMENT ON FUNCTION dp_profile(text, float8, float8, float8, text, float8[], float8[], float8[])
    IS 'a risk profile: how much more than before somebody may know of a person after all answers';

CREATE FUNCTION dp_profile_epsilon(profile jsonb)
    RETURNS numeric LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_profile_epsilon';
COMMENT ON FUNCTION dp_profile_epsilon(jsonb) IS 'the largest total of epsilon that keeps a risk profile';

CREATE FUNCTION dp_risk_profile(profile jsonb, priors float8[] = '{0.001,0.01,0.05,0.1,0.25,0.5,0.75,0.9,1}',
                                OUT p float8, OUT q float8, OUT relative float8, OUT posterior float8,
                                OUT epsilon float8, OUT posterior_at float8, OUT binding boolean)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 81 AS 'MODULE_PATHNAME', 'dp_risk_profile';
COMMENT ON FUNCTION dp_risk_profile(jsonb, float8[])
    IS 'what a risk profile allows against each adversary, and what its epsilon comes to; the one who binds among them';

CREATE FUNCTION dp_profile_utility(profiles jsonb[], query text = NULL, distances float8[] = '{1}',
                                   OUT profile jsonb, OUT epsilon numeric, OUT noise_stddev float8, OUT error95 float8,
                                   OUT p_exact float8, OUT distance float8, OUT p_switch float8)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 4 AS 'MODULE_PATHNAME', 'dp_profile_utility';
COMMENT ON FUNCTION dp_profile_utility(jsonb[], text, float8[])
    IS 'how accurate one answer is that is given all that a risk profile allows';

CREATE FUNCTION dp_epsilon_meaning(epsilon numeric, p float8[] = '{0.001,0.01,0.1,0.5,0.9}', q float8[] = '{1}',
                                   OUT p float8, OUT q float8, OUT prior float8, OUT posterior_min float8,
                                   OUT posterior_max float8, OUT relative_max float8)
    RETURNS SETOF record LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 5 AS 'MODULE_PATHNAME', 'dp_epsilon_meaning';
COMMENT ON FUNCTION dp_epsilon_meaning(numeric, float8[], float8[])
    IS 'what somebody with a prior belief can come to believe after answers of this total epsilon';

-- Answers that are given again.
-- Answers that were paid and may be given again (policy.replay): group keys and noisy numbers, all of them released. Written
-- by keepers. Not dumped: what it refers to has other oids afterwards.
CREATE TABLE dp_rdr.stored_answer (
    table_id    uuid NOT NULL,                    -- privacy_domain.id
    grantee     oid NOT NULL,                     -- of the policy that was asked under
    key         bytea NOT NULL,                   -- SHA-256 of the question and of the declarations that it rests on
    at          timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    charged     jsonb NOT NULL,                   -- what it was charged when it was drawn, and how accurate it is
    group_keys  text[],                           -- of discovered groups, one key behind the other
    coordinates numeric[] NOT NULL,               -- noisy numbers, group by group
    PRIMARY KEY (table_id, grantee, key, at)      -- two who ask at the same time both pay: the oldest one is given
);
CREATE INDEX stored_answer_expires_at_idx ON dp_rdr.stored_answer (expires_at);
COMMENT ON TABLE dp_rdr.stored_answer IS 'answers that are given again to the same question, without a charge';

-- How often dp_forget was called: part of the key, so that an answer that is drawn meanwhile is not found afterwards.
CREATE TABLE dp_rdr.forgotten (
    table_id uuid PRIMARY KEY,                    -- privacy_domain.id
    times    bigint NOT NULL
);
COMMENT ON TABLE dp_rdr.forgotten IS 'how often the stored answers about a protected table were forgotten';
REVOKE ALL ON dp_rdr.stored_answer, dp_rdr.forgotten FROM PUBLIC;
CREATE FUNCTION dp_forget(relation regclass)
    RETURNS bigint LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_forget';
COMMENT ON FUNCTION dp_forget(regclass)
    IS 'deletes the stored answers about a protected table: who asks again pays for a new one; returns how many there were';

-- Answers by accuracy.
DROP FUNCTION dp_query(text, numeric, float8);
DROP FUNCTION dp_explain(text);
DROP FUNCTION dp_last_release();
DROP FUNCTION dp_rdr.release(text, numeric, float8);
DROP FUNCTION dp_rdr.release(text, numeric, float8, "any");
CREATE FUNCTION dp_query(query text, epsilon numeric = NULL, weight float8 = 1, within float8 = NULL,
                         error95 float8 = NULL, deviations float8 = 1, replay boolean = true,
                         max_rows integer = NULL, max_groups integer = NULL, max_rows_per_group integer = NULL)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_query';
COMMENT ON FUNCTION dp_query(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer)
    IS 'answers an aggregate query on a restricted view with DP noise; needs a column list: AS (n bigint)';

CREATE FUNCTION dp_refine(within float8 = NULL, error95 float8 = NULL, deviations float8 = 1)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_refine';
COMMENT ON FUNCTION dp_refine(float8, float8, float8)
    IS 'makes the last answer to the current role in this connection more accurate; needs the column list of that answer';

CREATE FUNCTION dp_explain(query text, within float8 = NULL, error95 float8 = NULL, deviations float8 = 1,
                           magnitude float8 = NULL, max_rows integer = NULL, max_groups integer = NULL,
                           max_rows_per_group integer = NULL,
                           OUT leaf integer, OUT column_name text, OUT accepted boolean, OUT reason text,
                           OUT epsilon numeric, OUT delta numeric, OUT mechanism text, OUT error95 float8,
                           OUT threshold bigint, OUT rho numeric, OUT posterior50 float8, OUT advantage_max float8,
                           OUT unit text, OUT max_rows integer, OUT max_groups integer,
                           OUT max_rows_per_group integer)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 4 AS 'MODULE_PATHNAME', 'dp_explain';
COMMENT ON FUNCTION dp_explain(text, float8, float8, float8, float8, integer, integer, integer)
    IS 'whether a query would be answered, what each leaf would cost and how accurate it would be; nothing is charged';

CREATE FUNCTION dp_last_release(OUT column_name text, OUT epsilon numeric, OUT epsilon_svt numeric, OUT delta numeric,
                                OUT mechanism text, OUT error95 float8, OUT reason text, OUT rho numeric,
                                OUT steps integer, OUT reached boolean, OUT posterior50 float8)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 4 AS 'MODULE_PATHNAME', 'dp_last_release';
COMMENT ON FUNCTION dp_last_release()
    IS 'what the last answer to the current role in this connection was charged, and how accurate its columns are; '
       'behind a pool of connections it may have been another client''s: ask in the same transaction';
CREATE FUNCTION dp_rdr.release(leaf text, epsilon numeric, weight float8, within float8, error95 float8,
                               deviations float8, replay boolean, max_rows integer, max_groups integer,
                               max_rows_per_group integer)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'release';
COMMENT ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer)
    IS 'checks, charges, evaluates and answers one leaf of a query';
CREATE FUNCTION dp_rdr.release(leaf text, epsilon numeric, weight float8, within float8, error95 float8,
                               deviations float8, replay boolean, max_rows integer, max_groups integer,
                               max_rows_per_group integer, VARIADIC parameters "any")
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'release';
COMMENT ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer, "any")
    IS 'checks, charges, evaluates and answers one leaf of a query with parameters';
CREATE FUNCTION dp_rdr.as_interval(seconds numeric)
    RETURNS interval LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_as_interval';
COMMENT ON FUNCTION dp_rdr.as_interval(numeric)
    IS 'days of 24 hours and the rest: what an answer in seconds shows of an average or sum of intervals';
REVOKE ALL ON FUNCTION dp_rdr.as_interval(numeric) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.as_interval(numeric) TO PUBLIC;
REVOKE ALL ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer),
    dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer, "any") FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer, "any") TO PUBLIC;

CREATE FUNCTION dp_attack_risk(relation regclass, role regrole = NULL, OUT fpr float8, OUT tpr_max float8,
                               OUT advantage_max float8, OUT prior float8, OUT posterior_max float8)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 18 AS 'MODULE_PATHNAME', 'dp_attack_risk';
COMMENT ON FUNCTION dp_attack_risk(regclass, regrole)
    IS 'how often at most an attack on all answers so far, or on one role''s, is right that somebody is in the table';

-- What a controller reads in a browser, or on paper.
CREATE FUNCTION dp_report(relation regclass, query text = NULL, request bigint = NULL, tau float8 = NULL,
                          mechanism text = NULL, delta numeric = NULL, epsilons numeric[] = NULL, records integer = 20)
    RETURNS text LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_report';
COMMENT ON FUNCTION dp_report(regclass, text, bigint, float8, text, numeric, numeric[], integer)
    IS 'a page of HTML for the controller alone: the risk of a query or a request, what is set, who spent what; spends nothing';

-- What a bound or a preference refused, for controllers: the latest 1,000 of a table, or a few more. Written by keepers under the
-- odometer's lock, so no two write those of one table at once; the index finds a query by its hash.
CREATE TABLE dp_rdr.denial (
    table_id     uuid NOT NULL,                   -- privacy_domain.id
    view         text NOT NULL,
    role_name    text NOT NULL,
    session_role text NOT NULL,
    query        text NOT NULL,                   -- of a long one the beginning
    reason       text NOT NULL,
    account      text NOT NULL,
    times        bigint NOT NULL,
    first        timestamptz NOT NULL,
    last         timestamptz NOT NULL,
    relation     text NOT NULL                    -- behind the view, by its name at the time
);
CREATE INDEX denial_table_id_idx ON dp_rdr.denial (table_id, pg_catalog.hashtextextended(query, 0));
COMMENT ON TABLE dp_rdr.denial IS 'queries that were denied, and why; analysts see "query denied" only';

-- Days in UTC. rho: of the noise drawn; what a step or a measurement under zcdp costs is in it alone. What a join has carried was spent before.
CREATE VIEW dp_rdr.spending WITH (security_barrier) AS
SELECT l.relation, l.view, pg_catalog.timezone('UTC', l.at)::pg_catalog.date AS day, l.role_name, l.account,
       pg_catalog.count(*) FILTER (WHERE l.kind OPERATOR(pg_catalog.<>)
                                   ALL ('{selection,increment,suspension,closing,join}'::pg_catalog.text[])) AS releases,
       pg_catalog.sum(l.epsilon) AS epsilon, pg_catalog.sum(l.delta) AS delta, pg_catalog.sum(l.rho) AS rho
FROM dp_rdr.ledger l WHERE l.kind OPERATOR(pg_catalog.<>) ALL ('{suspension,join}'::pg_catalog.text[]) GROUP BY 1, 2, 3, 4, 5;
COMMENT ON VIEW dp_rdr.spending IS 'who spent what on the tables of the current user, by day (UTC), role and account';

-- Of tables that are protected now.
CREATE VIEW dp_rdr.denials WITH (security_barrier) AS
SELECT d.relation, d.view, d.role_name, d.session_role, d.query, d.reason, d.account, d.times, d.first, d.last
FROM dp_rdr.denial d CROSS JOIN (SELECT) AS once
WHERE EXISTS (SELECT FROM dp_rdr.protected_table t
              JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.relation::pg_catalog.oid
              WHERE t.domain OPERATOR(pg_catalog.=) d.table_id
                AND ((SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER)
                     OR pg_catalog.pg_has_role(c.relowner, 'USAGE')))
  -- Asked once, before any row is read, as in dp_rdr.ledger.
  AND ((SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER)
       OR EXISTS (SELECT FROM dp_rdr.protected_table p
                  JOIN pg_catalog.pg_class o ON o.oid OPERATOR(pg_catalog.=) p.relation::pg_catalog.oid
                  WHERE pg_catalog.pg_has_role(o.relowner, 'USAGE')));
COMMENT ON VIEW dp_rdr.denials IS 'queries on the tables of the current user that were denied, and why; the latest 1,000 of a table';

CREATE FUNCTION dp_rdr.budget(relation oid, OUT name text, OUT used numeric, OUT total numeric)
    RETURNS SETOF record LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 3 AS 'MODULE_PATHNAME', 'dp_budget';
COMMENT ON FUNCTION dp_rdr.budget(oid) IS 'what public charges have used of each total of a protected table';

CREATE FUNCTION dp_settings(relation regclass, OUT item text, OUT name text, OUT value text, OUT call text)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 30 AS 'MODULE_PATHNAME', 'dp_settings';
COMMENT ON FUNCTION dp_settings(regclass)
    IS 'all that is set for a protected table, what is spent, who reads it; the calls, run in order, set it up again';

CREATE FUNCTION dp_about(view regclass, OUT item text, OUT name text, OUT value text)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 30 AS 'MODULE_PATHNAME', 'dp_about';
COMMENT ON FUNCTION dp_about(regclass)
    IS 'what the current user may ask of a restricted view, at which price and accuracy, and how often';

CREATE FUNCTION dp_remaining(query text, OUT answers bigint, OUT reason text)
    RETURNS record LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_remaining';
COMMENT ON FUNCTION dp_remaining(text) IS 'how often a query would be answered now, and what ends it';
REVOKE ALL ON dp_rdr.denial, dp_rdr.spending, dp_rdr.denials FROM PUBLIC;
REVOKE ALL ON FUNCTION dp_rdr.budget(oid) FROM PUBLIC;
GRANT SELECT ON dp_rdr.spending, dp_rdr.denials TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dp_rdr.denial',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname::pg_catalog.text OPERATOR(pg_catalog.=) role_name)');

-- Marks of an aggregate there: an end of its 95 percent interval, in its place.
CREATE FUNCTION dp_low(aggregate anyelement) RETURNS anyelement
    LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_low';
COMMENT ON FUNCTION dp_low(anyelement)
    IS 'lower end of the 95 percent interval of one count, sum or avg of a restricted view';
CREATE FUNCTION dp_high(aggregate anyelement) RETURNS anyelement
    LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dp_high';
COMMENT ON FUNCTION dp_high(anyelement)
    IS 'upper end of the 95 percent interval of one count, sum or avg of a restricted view';

-- Units that are no rows.
DROP FUNCTION dp_protect(regclass, text, text, text[], text);
CREATE FUNCTION dp_protect(relation regclass, view text, unit text = NULL, columns text[] = NULL, filter text = NULL,
                           max_rows integer = NULL, max_groups integer = NULL, max_rows_per_group integer = NULL)
    RETURNS regclass LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_protect';
COMMENT ON FUNCTION dp_protect(regclass, text, text, text[], text, integer, integer, integer)
    IS 'protects a table and creates a restricted view over it';

CREATE FUNCTION dp_set_unit(relation regclass, unit text, max_rows integer = NULL, max_groups integer = NULL,
                            max_rows_per_group integer = NULL)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_unit';
COMMENT ON FUNCTION dp_set_unit(regclass, text, integer, integer, integer)
    IS 'says whose rows a protected table has, as long as nothing was asked about it';

CREATE FUNCTION dp_set_contribution(relation regclass, max_rows integer = NULL, max_groups integer = NULL,
                                    max_rows_per_group integer = NULL)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_contribution';
COMMENT ON FUNCTION dp_set_contribution(regclass, integer, integer, integer)
    IS 'limits how many rows and groups of one unit count in an answer';

CREATE PROCEDURE dp_choose_contribution(relation regclass, epsilon numeric, share numeric = 0.99,
                                        INOUT max_rows integer = NULL)
    LANGUAGE C AS 'MODULE_PATHNAME', 'dp_choose_contribution';
COMMENT ON PROCEDURE dp_choose_contribution(regclass, numeric, numeric, integer)
    IS 'chooses under differential privacy how many rows of one unit shall count, and sets it: charged epsilon, free for every later query';

CREATE FUNCTION dp_join_domains(relation regclass, "into" regclass)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_join_domains';
COMMENT ON FUNCTION dp_join_domains(regclass, regclass)
    IS 'joins the domain of a protected table into that of another with rows of the same people: one odometer for both, at once and for good';

CREATE FUNCTION dp_set_public(relation regclass, protected regclass)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_public';
COMMENT ON FUNCTION dp_set_public(regclass, regclass)
    IS 'declares a table public: it may be joined with a protected table and all others with data of the same people';

CREATE FUNCTION dp_unset_public(relation regclass, protected regclass)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_unset_public';
COMMENT ON FUNCTION dp_unset_public(regclass, regclass) IS 'takes back that a table is public for a protected table';

CREATE FUNCTION dp_rdr.public_fault(relation oid, protected oid) RETURNS text
    LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_public_fault';
COMMENT ON FUNCTION dp_rdr.public_fault(oid, oid) IS 'why no query that reads a public table can be answered, and below it a hint; NULL if it can';
REVOKE ALL ON FUNCTION dp_rdr.public_fault(oid, oid) FROM PUBLIC;

CREATE FUNCTION dp_domain(relation regclass, OUT relation regclass, OUT unit text, OUT path text, OUT max_rows integer,
                          OUT max_groups integer, OUT views bigint, OUT public regclass[],
                          OUT max_rows_per_group integer)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 4 AS 'MODULE_PATHNAME', 'dp_domain';
COMMENT ON FUNCTION dp_domain(regclass)
    IS 'the protected tables with data of the same people, and how a row of each finds the person that it belongs to';

-- Where foreign keys show that rows of one person may be many: what to do about it has changed.
CREATE OR REPLACE FUNCTION dp_rdr.people_hints(relation oid, OUT severity text, OUT finding text, OUT remedy text) RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL UNSAFE ROWS 2
BEGIN ATOMIC
    WITH key AS (
      SELECT k.conname, k.conrelid, k.confrelid,
             format('%I (%s)', k.conname, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY x.place)
                                           FROM unnest(k.conkey) WITH ORDINALITY x (attnum, place) JOIN pg_attribute a
                                           ON a.attrelid = k.conrelid AND a.attnum = x.attnum)) AS name,
             NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.conrelid AND i.indisunique AND i.indisvalid
                         AND i.indpred IS NULL AND i.indexprs IS NULL
                         AND (i.indkey::int2[])[0:i.indnkeyatts - 1] <@ k.conkey) AS many,
             (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY x.place)
              FROM unnest(k.conkey) WITH ORDINALITY x (attnum, place) JOIN pg_attribute a
              ON a.attrelid = k.conrelid AND a.attnum = x.attnum) AS columns,
             t.relation IS NOT NULL AS protected, mine.unit IS NOT NULL AS units, t.domain = mine.domain AS together,
             EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
                     AND a.attname <> ALL (mine.unit)) AS beside
      FROM pg_constraint k
      LEFT JOIN dp_rdr.protected_table t ON t.relation = CASE k.conrelid WHEN $1 THEN k.confrelid ELSE k.conrelid END
      LEFT JOIN dp_rdr.protected_table mine ON mine.relation = $1
      WHERE k.contype = 'f' AND k.conparentid = 0 AND $1 IN (k.conrelid, k.confrelid)
        AND (k.conrelid <> k.confrelid OR mine.unit IS NOT NULL))
    SELECT 'warning',
           format('rows of one person may be many, as the foreign key %s to %s, which is protected, is not unique',
                  k.name, k.confrelid::regclass),
           format('Noise hides one row, not a person with several. As long as nothing was asked, dp_set_unit(%L, %L, '
                  'max_rows => ...) says whose rows they are.', $1::regclass, k.columns)
    FROM key k WHERE k.conrelid = $1 AND k.protected AND k.many AND NOT k.units
    UNION ALL
    SELECT 'info', format('if a row of %s is a person, rows of one may be many, as the foreign key %s is not unique',
                          k.confrelid::regclass, k.name),
           format('Then, as long as nothing was asked, dp_set_unit(%L, %L, max_rows => ...) says whose rows they are: '
                  'noise hides one row.', $1::regclass, k.columns || ' -> ' || $1::regclass)
    FROM key k WHERE k.conrelid = $1 AND NOT k.protected AND k.many AND NOT k.units
    UNION ALL
    SELECT 'info', format('a person may be in %s as well, which is protected too (foreign key %s)',
                          CASE k.conrelid WHEN $1 THEN k.confrelid ELSE k.conrelid END::regclass, k.name),
           'Each table has totals of its own: what is told about one person is the sum of both.'
    FROM key k WHERE k.protected AND (k.confrelid = $1 OR NOT k.many) AND NOT k.together
    UNION ALL
    SELECT 'warning', format('rows of others may tell of a person, as the foreign key %s to %s is not on the columns of the unit',
                             k.name, k.confrelid::regclass),
           'Such rows stay as they are when that person is left out: leave their columns out, columns => ''{...}''.'
    FROM key k WHERE k.conrelid = $1 AND k.together AND k.beside
    ORDER BY 1 DESC, 2;
END;

-- Bounds of dates.
CREATE FUNCTION dp_set_bounds(relation regclass, column_name text, lower date, upper date)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_bounds_date';
COMMENT ON FUNCTION dp_set_bounds(regclass, text, date, date)
    IS 'declares public bounds of a column of dates or timestamps: expressions of it have bounds, and groups';

CREATE FUNCTION dp_set_bounds(relation regclass, column_name text, lower timestamp, upper timestamp)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_bounds_timestamp';
COMMENT ON FUNCTION dp_set_bounds(regclass, text, timestamp, timestamp)
    IS 'declares public bounds of a column of timestamps: expressions of it have bounds, and groups';

CREATE FUNCTION dp_set_bounds(relation regclass, column_name text, lower text, upper text)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_bounds_text';
COMMENT ON FUNCTION dp_set_bounds(regclass, text, text, text)
    IS 'declares public bounds of a column, read as values of its type';

-- Functions of dates and documents that may be applied to columns.
CREATE FUNCTION dp_rdr.age(timestamp, timestamp) RETURNS interval LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_timestamp_age';
COMMENT ON FUNCTION dp_rdr.age(timestamp, timestamp) IS 'age(timestamp, timestamp), NULL instead of an error';
CREATE FUNCTION dp_rdr.age(timestamp with time zone, timestamp with time zone) RETURNS interval LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_timestamptz_age';
COMMENT ON FUNCTION dp_rdr.age(timestamp with time zone, timestamp with time zone) IS 'age(timestamp with time zone, timestamp with time zone), NULL instead of an error';
CREATE FUNCTION dp_rdr.date_bin(interval, timestamp, timestamp) RETURNS timestamp LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_timestamp_bin';
COMMENT ON FUNCTION dp_rdr.date_bin(interval, timestamp, timestamp) IS 'date_bin(interval, timestamp, timestamp), NULL instead of an error';
CREATE FUNCTION dp_rdr.date_bin(interval, timestamp with time zone, timestamp with time zone) RETURNS timestamp with time zone LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_timestamptz_bin';
COMMENT ON FUNCTION dp_rdr.date_bin(interval, timestamp with time zone, timestamp with time zone) IS 'date_bin(interval, timestamp with time zone, timestamp with time zone), NULL instead of an error';
CREATE FUNCTION dp_rdr.to_char(timestamp, text) RETURNS text LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_timestamp_to_char';
COMMENT ON FUNCTION dp_rdr.to_char(timestamp, text) IS 'to_char(timestamp, text), NULL instead of an error';
CREATE FUNCTION dp_rdr.to_char(timestamp with time zone, text) RETURNS text LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_timestamptz_to_char';
COMMENT ON FUNCTION dp_rdr.to_char(timestamp with time zone, text) IS 'to_char(timestamp with time zone, text), NULL instead of an error';
CREATE FUNCTION dp_rdr.jsonb_object_field_text(jsonb, text) RETURNS text LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_jsonb_object_field_text';
COMMENT ON FUNCTION dp_rdr.jsonb_object_field_text(jsonb, text) IS 'jsonb_object_field_text(jsonb, text), NULL instead of an error';
CREATE FUNCTION dp_rdr.jsonb_array_element_text(jsonb, integer) RETURNS text LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_jsonb_array_element_text';
COMMENT ON FUNCTION dp_rdr.jsonb_array_element_text(jsonb, integer) IS 'jsonb_array_element_text(jsonb, integer), NULL instead of an error';
REVOKE ALL ON FUNCTION
    dp_rdr.age(timestamp, timestamp), dp_rdr.age(timestamp with time zone, timestamp with time zone),
    dp_rdr.date_bin(interval, timestamp, timestamp), dp_rdr.date_bin(interval, timestamp with time zone,
    timestamp with time zone), dp_rdr.to_char(timestamp, text), dp_rdr.to_char(timestamp with time zone, text),
    dp_rdr.jsonb_object_field_text(jsonb, text), dp_rdr.jsonb_array_element_text(jsonb, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    dp_rdr.age(timestamp, timestamp), dp_rdr.age(timestamp with time zone, timestamp with time zone),
    dp_rdr.date_bin(interval, timestamp, timestamp), dp_rdr.date_bin(interval, timestamp with time zone,
    timestamp with time zone), dp_rdr.to_char(timestamp, text), dp_rdr.to_char(timestamp with time zone, text),
    dp_rdr.jsonb_object_field_text(jsonb, text), dp_rdr.jsonb_array_element_text(jsonb, integer) TO PUBLIC;

-- Requests.
-- Who decides on requests without having seen a row.
CREATE TABLE dp_rdr.reviewer (
    relation regclass NOT NULL,
    reviewer regrole NOT NULL,
    PRIMARY KEY (relation, reviewer)
);
COMMENT ON TABLE dp_rdr.reviewer IS 'roles that decide on requests about a protected table and cannot read its rows';

-- Questions that somebody else permits. Asked, withdrawn, rejected and released in their callers' transactions; charged and answered
-- by keepers. It keeps names, types and rows of the answer, as declarations may change meanwhile.
CREATE TABLE dp_rdr.request (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_id       uuid NOT NULL,                 -- privacy_domain.id
    kind           text NOT NULL DEFAULT 'query',
    parent         bigint,                        -- the request that it goes on from
    requester      regrole NOT NULL,
    session_role   regrole NOT NULL,
    decider        text NOT NULL CHECK (decider OPERATOR(pg_catalog.=) ANY ('{owner,review}'::text[])),
    at             timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    view           regclass NOT NULL,
    query          text NOT NULL,                 -- one leaf, as release() gets it
    parameters     jsonb NOT NULL,                -- of the leaf; the time zone; which of its columns come in which order
    purpose        text NOT NULL,
    epsilon_wanted numeric,                       -- asks for less
    task           jsonb,
    state          text NOT NULL DEFAULT 'pending' CHECK (state OPERATOR(pg_catalog.=) ANY
                   ('{pending,charged,answered,held,rejected,withdrawn,denied}'::text[])),
    terms          jsonb,                         -- the price: in advance, then what was decided and charged
    basis          text CHECK (basis OPERATOR(pg_catalog.=) ANY ('{public,rows}'::text[])),
    approver       text,                          -- who decided, by name
    looked_at      timestamptz,                   -- when somebody was shown the rows for it
    decided_at     timestamptz,
    reason         text,
    ledger_id      bigint,                        -- the charge that pays for it
    names          text[],                        -- of the columns of the answer
    types          text[],
    rows           text[],                        -- row by row
    coordinates    numeric[],                     -- noisy numbers, group by group
    error95        float8[]                       -- of each column
);
CREATE INDEX request_table_id_idx ON dp_rdr.request (table_id, requester);
COMMENT ON TABLE dp_rdr.request IS 'questions that somebody else permits, and their answers';

REVOKE ALL ON dp_rdr.reviewer, dp_rdr.request FROM PUBLIC;
REVOKE ALL ON SEQUENCE dp_rdr.request_id_seq FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dp_rdr.reviewer',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) relation)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) reviewer)');
SELECT pg_catalog.pg_extension_config_dump('dp_rdr.request',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) view)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) requester)'
    ' AND EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) session_role)');
SELECT pg_catalog.pg_extension_config_dump('dp_rdr.request_id_seq', '');
CREATE FUNCTION dp_request(query text, purpose text, epsilon numeric = NULL, decider text = NULL,
                           expires interval = '30 days', max_rows integer = NULL, max_groups integer = NULL,
                           max_rows_per_group integer = NULL)
    RETURNS bigint LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_request';
COMMENT ON FUNCTION dp_request(text, text, numeric, text, interval, integer, integer, integer)
    IS 'asks that a query on a restricted view be permitted; returns the number of the request';

CREATE FUNCTION dp_requests(state text = 'pending', OUT request bigint, OUT at timestamptz, OUT requester text, OUT view text,
                            OUT kind text, OUT query text, OUT purpose text, OUT state text, OUT epsilon numeric,
                            OUT error95 float8[], OUT approved_by text, OUT expires_at timestamptz, OUT basis text,
                            OUT reason text)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'dp_requests';
COMMENT ON FUNCTION dp_requests(text) IS 'requests: one''s own, those about one''s tables, those that one may review';

CREATE FUNCTION dp_fetch(request bigint)
    RETURNS SETOF record LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_fetch';
COMMENT ON FUNCTION dp_fetch(bigint) IS 'the answer to a request, as often as wanted';

CREATE FUNCTION dp_answer(request bigint)
    RETURNS jsonb LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_answer';
COMMENT ON FUNCTION dp_answer(bigint) IS 'the answer to a request as one value';

CREATE FUNCTION dp_approve(request bigint, tau float8 = NULL, tau_var float8 = NULL, epsilon numeric = NULL,
                           selection text = NULL, basis text = NULL, hold boolean = false, OUT state text,
                           OUT epsilon numeric, OUT account text)
    RETURNS record LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_approve';
COMMENT ON FUNCTION dp_approve(bigint, float8, float8, numeric, text, text, boolean)
    IS 'permits a request: it is charged and answered, whatever becomes of the calling transaction';

CREATE FUNCTION dp_release(request bigint)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_release';
COMMENT ON FUNCTION dp_release(bigint) IS 'hands an answer that was held back to its requester';

CREATE FUNCTION dp_reject(request bigint, reason text = NULL)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_reject';
COMMENT ON FUNCTION dp_reject(bigint, text) IS 'rejects a request, or withdraws one''s own';

CREATE FUNCTION dp_redraw(request bigint, draws integer = 100)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_redraw';
COMMENT ON FUNCTION dp_redraw(bigint, integer)
    IS 'the answer to a request with more noise of the same kind, as often as wanted: what such noise does to whatever is computed from it';

CREATE FUNCTION dp_request_signal(request bigint, task text, value text, purpose text, reference text = NULL,
                                  k integer = NULL, lower float8 = 0, upper float8 = 1, epsilon numeric = NULL,
                                  expires interval = '30 days')
    RETURNS bigint LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_request_signal';
COMMENT ON FUNCTION dp_request_signal(bigint, text, text, text, text, integer, float8, float8, numeric, interval)
    IS 'asks what a task on an answer would give on the exact one, with noise; returns the number of the request';

CREATE FUNCTION dp_inspect_signal(request bigint, OUT dp float8, OUT exact float8)
    RETURNS record LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_inspect_signal';
COMMENT ON FUNCTION dp_inspect_signal(bigint)
    IS 'for the owner: what a signal is without noise; the request remembers that it was looked at';

CREATE FUNCTION dp_set_review(relation regclass, reviewers regrole[])
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_review';
COMMENT ON FUNCTION dp_set_review(regclass, regrole[])
    IS 'says who decides on requests about a protected table without having seen a row';
