-- From dp_rdr 0.1.0 to 0.2.0. What this file makes of 0.1.0 is what dp_rdr--0.2.0.sql makes from nothing.
\echo Use "ALTER EXTENSION dp_rdr UPDATE TO '0.2.0'" to load this file. \quit
