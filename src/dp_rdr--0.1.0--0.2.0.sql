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
