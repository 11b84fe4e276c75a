-- From this version to a made-up older one, for test/t/020_update.pl: a function and a column less, and a function with other
-- arguments behind the symbol of today.
DROP FUNCTION dp_refresh(regclass, text[]);

DROP FUNCTION dp_unset_public(regclass, regclass);
CREATE FUNCTION dp_unset_public(relation regclass)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_unset_public';

ALTER TABLE dp_rdr.restricted_view DROP COLUMN name;
