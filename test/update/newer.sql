-- From the made-up older version to this one, as an upgrade script of a release would be written: what it makes of the older
-- one is what the script of this version makes from nothing.
ALTER TABLE dp_rdr.restricted_view ADD COLUMN name text;

DROP FUNCTION dp_unset_public(regclass);
CREATE FUNCTION dp_unset_public(relation regclass, protected regclass)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_unset_public';
COMMENT ON FUNCTION dp_unset_public(regclass, regclass) IS 'takes back that a table is public for a protected table';

CREATE FUNCTION dp_refresh(view regclass, columns text[] = NULL)
    RETURNS regclass LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_refresh';
COMMENT ON FUNCTION dp_refresh(regclass, text[])
    IS 'makes a restricted view anew after its table has changed, or was made anew with it; policies, rights and the ledger stay';
