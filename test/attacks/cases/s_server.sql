-- The server stays up and listens, whatever a statement's size; and nothing of the planner's is shown of a table that one
-- may not read.

-- A SQL function that the planner inlines: its body is seen by the planner alone.
-- C04 REFUSE 42501 @shared
CREATE FUNCTION pg_temp.inlined() RETURNS SETOF integer LANGUAGE sql STABLE AS 'SELECT age FROM person WHERE mood = ''high'''
  SET debug_print_plan = on
  SET client_min_messages = log
  SELECT count(*) FROM pg_temp.inlined()
