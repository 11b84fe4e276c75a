-- dp_rdr 0.2.0: differentially private answers over protected tables, at a price set by relative disclosure risk.
\echo Use "CREATE EXTENSION dp_rdr" to load this file. \quit

-- No IF NOT EXISTS: a schema that somebody planted in advance makes the installation fail.
CREATE SCHEMA dp_rdr;
COMMENT ON SCHEMA dp_rdr IS 'catalog and internals of dp_rdr; use the dp_* functions';

-- Runs statements that this script makes of a list; it is gone at the end.
CREATE FUNCTION dp_rdr.run(statement text) RETURNS void LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'dp_run_statement';

-- A role, a table or a view by its oid, as a name in a dump. Where a dump is restored and there is none of that name, it becomes a number
-- from 4026531840 on, which is that of nothing: the row stays, and matches nobody.
SELECT dp_rdr.run(format($$
CREATE TYPE dp_rdr.%1$s;
CREATE FUNCTION dp_rdr.%1$s_in(cstring) RETURNS dp_rdr.%1$s AS 'MODULE_PATHNAME', 'dp_%1$s_in' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.%1$s_in(cstring) IS 'input of the type %1$s';
CREATE FUNCTION dp_rdr.%1$s_out(dp_rdr.%1$s) RETURNS cstring AS 'MODULE_PATHNAME', 'dp_%1$s_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_rdr.%1$s_out(dp_rdr.%1$s) IS 'output of the type %1$s';
CREATE TYPE dp_rdr.%1$s (INPUT = dp_rdr.%1$s_in, OUTPUT = dp_rdr.%1$s_out, LIKE = pg_catalog.oid, CATEGORY = 'N');
COMMENT ON TYPE dp_rdr.%1$s IS '%3$s in the catalog of dp_rdr, which need not exist';
CREATE CAST (dp_rdr.%1$s AS oid) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (oid AS dp_rdr.%1$s) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (%2$s AS dp_rdr.%1$s) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (dp_rdr.%1$s AS oid) IS 'the oid itself';
COMMENT ON CAST (oid AS dp_rdr.%1$s) IS 'the oid itself';
COMMENT ON CAST (%2$s AS dp_rdr.%1$s) IS 'the oid itself'$$, t.name, t.of, t.what))
FROM (VALUES ('role', 'regrole', 'a role'), ('relation', 'regclass', 'a table or a view')) t (name, of, what);
CREATE CAST (dp_rdr.relation AS regclass) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (dp_rdr.relation AS regclass) IS 'the oid itself';

-- ---------------------------------------------------------------------------------------------------------------------
-- Catalog: what controllers declare. Written by the dp_* functions only, which check that the caller owns the table.
-- Columns are kept by name: attribute numbers shift when a dump is restored.
-- ---------------------------------------------------------------------------------------------------------------------

-- People and the account of what is told about them. Its tables have rows of the same people.
CREATE TABLE dp_rdr.privacy_domain (
    id            uuid PRIMARY KEY,               -- names the domain, and its odometer, for ever
    unit_table    dp_rdr.relation,                -- whose keys are the people; NULL: a row of the domain's one table is one
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
    joined_into      uuid,                        -- the domain that its tables and its totals went to; NULL: it is one of its own
    people           bigint CHECK (people OPERATOR(pg_catalog.>=) 1) -- about how many there are, of one digit; NULL: nobody said
);
COMMENT ON TABLE dp_rdr.privacy_domain IS 'whose data protected tables have, and the bound of their odometer';

-- Cells of a domain's units, each with the totals for itself. A row stays when the partition is taken away: its version only rises.
CREATE TABLE dp_rdr.partition (
    domain      uuid PRIMARY KEY,                 -- privacy_domain.id
    version     integer NOT NULL,
    relation    dp_rdr.relation NOT NULL,
    column_name text,                             -- NULL: it was taken away
    column_type text,                             -- by name, as it was
    period      text CHECK (period OPERATOR(pg_catalog.=) ANY ('{day,week,month,quarter,year}'::text[])),
    width       bigint,                           -- of stretches of an integer
    first       bigint,                           -- number of the first cell; that before it has everything else
    last        bigint,                           -- of the last one; NULL: the clock's
    cells       text[],                           -- of a list: its values, in the order of their numbers
    fresh       boolean NOT NULL DEFAULT false,   -- cells to come begin with nothing
    place       integer,                          -- of the column among those that name a unit; NULL: it is none of them
    base        integer NOT NULL DEFAULT 1        -- version since which its list has only grown
);
COMMENT ON TABLE dp_rdr.partition IS 'cells of protected tables, which have the totals of the table each';

CREATE TABLE dp_rdr.protected_table (
    relation   dp_rdr.relation PRIMARY KEY,
    domain     uuid NOT NULL,                     -- privacy_domain.id
    unit       text[],                            -- columns that hold the unit, or refer to parent_key; NULL: a row is a unit
    parent     dp_rdr.relation,                   -- protected table of the domain that the columns refer to
    parent_key text[],                            -- its columns
    max_rows   integer CHECK (max_rows OPERATOR(pg_catalog.>=) 1 AND max_rows OPERATOR(pg_catalog.<=) 1048576),
    max_groups integer CHECK (max_groups OPERATOR(pg_catalog.>=) 1 AND max_groups OPERATOR(pg_catalog.<=) max_rows),
    max_rows_per_group integer
        CHECK (max_rows_per_group OPERATOR(pg_catalog.>=) 1 AND max_rows_per_group OPERATOR(pg_catalog.<=) max_rows),
    name       text                               -- qualified, as of dp_protect or the last dp_refresh
);
CREATE INDEX protected_table_domain_idx ON dp_rdr.protected_table (domain);
COMMENT ON TABLE dp_rdr.protected_table IS 'protected tables, and how their rows find the unit that they belong to';

-- What is no secret, and may be joined with a domain's tables. Nothing in its rows comes from private ones.
CREATE TABLE dp_rdr.public_table (
    domain   uuid NOT NULL,                       -- privacy_domain.id
    relation dp_rdr.relation NOT NULL,
    PRIMARY KEY (domain, relation)
);
CREATE INDEX public_table_relation_idx ON dp_rdr.public_table (relation);
COMMENT ON TABLE dp_rdr.public_table IS 'public tables, which may be joined with the protected tables of a domain';

CREATE TABLE dp_rdr.restricted_view (
    view        dp_rdr.relation PRIMARY KEY,
    relation    dp_rdr.relation NOT NULL,
    filter      text,                             -- condition on the rows of the table, NULL = all rows
    columns     text[],                           -- that were listed for it, NULL = all of the table
    name        text                              -- qualified, as of dp_protect or the last dp_refresh
);
COMMENT ON TABLE dp_rdr.restricted_view IS 'restricted views (facades) over protected tables';

CREATE TABLE dp_rdr.column_bounds (
    relation    dp_rdr.relation NOT NULL,
    column_name text NOT NULL,
    lower       numeric NOT NULL,
    upper       numeric NOT NULL,
    PRIMARY KEY (relation, column_name)
);
COMMENT ON TABLE dp_rdr.column_bounds IS 'public bounds of numeric columns: values are clamped to them';

CREATE TABLE dp_rdr.column_groups (
    relation    dp_rdr.relation NOT NULL,
    column_name text NOT NULL,
    groups      text[] NOT NULL,                  -- a NULL element: the NULL group
    PRIMARY KEY (relation, column_name)
);
COMMENT ON TABLE dp_rdr.column_groups IS 'public sets of group keys';

CREATE TABLE dp_rdr.unit_limit (
    relation   dp_rdr.relation NOT NULL,
    expression text NOT NULL,                     -- over the table, as the server prints it
    total      numeric NOT NULL CHECK (total OPERATOR(pg_catalog.>) 0::numeric),
    PRIMARY KEY (relation, expression)
);
COMMENT ON TABLE dp_rdr.unit_limit IS 'public totals: the sizes of one unit''s values count to this in a sum';

CREATE TABLE dp_rdr.policy (
    view          dp_rdr.relation NOT NULL,
    grantee       dp_rdr.role NOT NULL,
    tau           float8,
    tau_var       float8,
    selection     text NOT NULL,
    mechanism     text NOT NULL,
    delta         numeric NOT NULL,
    epsilon_max   numeric NOT NULL,
    epsilon_total numeric,
    epsilon_svt   numeric NOT NULL,
    candidates    numeric[],
    weight_min    float8 NOT NULL,
    weight_max    float8 NOT NULL,
    group_a       text,
    group_b       text,
    epsilon_min   numeric,                        -- NULL: the smallest candidate
    profile       jsonb,                          -- risk profile and its epsilon: the share is at most that
    replay        interval,                       -- for how long the same question gets the same answer; NULL: not at all
    on_request    boolean NOT NULL DEFAULT false, -- asks by requests alone
    PRIMARY KEY (view, grantee)
);
COMMENT ON TABLE dp_rdr.policy IS 'who may query a restricted view, under which privacy preference';

-- Written by keepers, lifted by the owner. A role that is renamed stays suspended.
CREATE TABLE dp_rdr.suspension (
    view         dp_rdr.relation NOT NULL,
    grantee      dp_rdr.role NOT NULL,                -- of the policy that was asked under
    role         dp_rdr.role NOT NULL,
    session_role dp_rdr.role NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (view, grantee, role, session_role)
);
COMMENT ON TABLE dp_rdr.suspension IS 'whose queries failed while they read rows, and who asks no more until dp_resume()';

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

-- Who decides on requests without having seen a row.
CREATE TABLE dp_rdr.reviewer (
    relation dp_rdr.relation NOT NULL,
    reviewer dp_rdr.role NOT NULL,
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
    requester      dp_rdr.role NOT NULL,
    session_role   dp_rdr.role NOT NULL,
    decider        text NOT NULL CHECK (decider OPERATOR(pg_catalog.=) ANY ('{owner,review}'::text[])),
    at             timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    view           dp_rdr.relation NOT NULL,
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
    error95        float8[],                      -- of each column
    shown          text NOT NULL                  -- what is asked, as the ledger shows it
);
CREATE INDEX request_table_id_idx ON dp_rdr.request (table_id, requester);
COMMENT ON TABLE dp_rdr.request IS 'questions that somebody else permits, and their answers';
COMMENT ON SEQUENCE dp_rdr.request_id_seq IS 'numbers of requests';

-- ---------------------------------------------------------------------------------------------------------------------
-- Ledger: written by background workers alone, so that no open transaction of anybody blocks or undoes a charge.
-- Plain text names and oids, and dp_rdr.role: one name that does not resolve would empty a table of reg* types when a dump is restored.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE dp_rdr.odometer (
    id                    uuid PRIMARY KEY,       -- privacy_domain.id
    relation_name         text NOT NULL,          -- qualified, as of the last charge
    owner                 dp_rdr.role NOT NULL,   -- the controller, as of the last charge or dp_protect
    public_releases          bigint NOT NULL DEFAULT 0,
    public_denials           bigint NOT NULL DEFAULT 0,
    public_delta_before      numeric NOT NULL DEFAULT 0,   -- the sum of delta when the epoch began
    conditional_releases     bigint NOT NULL DEFAULT 0,
    conditional_denials      bigint NOT NULL DEFAULT 0,
    conditional_delta_before numeric NOT NULL DEFAULT 0,
    head                  bytea NOT NULL DEFAULT '\x', -- hash of the last ledger row
    -- The largest totals in force at any public charge of an epoch under zcdp; NULL before the first.
    claim_epsilon          numeric,               -- NULL as well where there is no total
    claim_conversion       numeric,
    claim_mechanisms       numeric,
    claim_target           numeric,
    conditional_conversion numeric,               -- the same of conditional charges
    partition             integer NOT NULL DEFAULT 0, -- version of the partition that the cells belong to
    begun                 bigint NOT NULL DEFAULT 0,  -- the last cell that has begun,
    founded               bigint NOT NULL DEFAULT 0   -- and that had when the partition came into force
);
COMMENT ON TABLE dp_rdr.odometer IS 'running totals of every protected table';

-- Charges under one policy, whoever of the grantee's members asked.
CREATE TABLE dp_rdr.odometer_share (
    id      uuid NOT NULL,                        -- privacy_domain.id
    grantee text NOT NULL,                        -- role name
    PRIMARY KEY (id, grantee)
);
COMMENT ON TABLE dp_rdr.odometer_share IS 'running totals of every protected table by the grantee of the policy';

-- Sums of both, by account: of all charges; of the epoch, charges in rho, what the pure ones among them are in epsilon, whether there is
-- another; the sum of epsilon when it began. Then which period the sums belong to, and what of them is charged in it; NULL: the last
-- charge was in none.
SELECT dp_rdr.run(format($$
ALTER TABLE dp_rdr.%1$s
    ADD %2$s_epsilon        numeric NOT NULL DEFAULT 0,
    ADD %2$s_delta          numeric NOT NULL DEFAULT 0,
    ADD %2$s_rho            numeric NOT NULL DEFAULT 0,
    ADD %2$s_pure           numeric NOT NULL DEFAULT 0,
    ADD %2$s_rho_only       boolean NOT NULL DEFAULT false,
    ADD %2$s_epsilon_before numeric NOT NULL DEFAULT 0,
    ADD %2$s_period_kind    text,
    ADD %2$s_period_start   timestamptz,
    ADD %2$s_period_epsilon numeric NOT NULL DEFAULT 0,
    ADD %2$s_period_delta   numeric NOT NULL DEFAULT 0$$, t.name, a.name))
FROM unnest('{odometer,odometer_share}'::text[]) t (name), unnest('{public,conditional}'::text[]) a (name);
-- Where the table has a partition the sums of the public account are those of the cell that has most, of each by itself. `most`: how
-- much of them was not charged to all cells; the rest was, and of what has no column above it is `all`.
SELECT dp_rdr.run(format($$
ALTER TABLE dp_rdr.%1$s
    ADD epoch              integer NOT NULL DEFAULT 0,
    ADD most_epsilon       numeric NOT NULL DEFAULT 0,
    ADD most_delta         numeric NOT NULL DEFAULT 0,
    ADD most_epsilon_epoch numeric NOT NULL DEFAULT 0,
    ADD most_delta_epoch   numeric NOT NULL DEFAULT 0,
    ADD most_rho           numeric NOT NULL DEFAULT 0,
    ADD most_pure          numeric NOT NULL DEFAULT 0,
    ADD most_rho_only      bigint NOT NULL DEFAULT 0,
    ADD all_epsilon_epoch  numeric NOT NULL DEFAULT 0,
    ADD all_delta_epoch    numeric NOT NULL DEFAULT 0,
    ADD all_rho_only       bigint NOT NULL DEFAULT 0$$, t.name))
FROM unnest('{odometer,odometer_share}'::text[]) t (name);

-- Sums beside what was charged to all cells: of a cell and those behind it, up to the next row; before the first row there are none. The row
-- with the largest number is for cells to come: with all that was charged to them. Those of an epoch are 0 when another begins.
CREATE TABLE dp_rdr.odometer_cell (
    id            uuid NOT NULL,                  -- privacy_domain.id
    grantee       text NOT NULL,                  -- role name; '': of the table
    first         bigint NOT NULL,
    epsilon       numeric NOT NULL,
    delta         numeric NOT NULL,
    epsilon_epoch numeric NOT NULL,
    delta_epoch   numeric NOT NULL,
    rho           numeric NOT NULL,
    pure          numeric NOT NULL,
    rho_only      bigint NOT NULL,                -- charges
    PRIMARY KEY (id, grantee, first)
) WITH (fillfactor = 50);
COMMENT ON TABLE dp_rdr.odometer_cell IS 'running totals of the cells of a table with a partition';

-- No index has the id first: whatever is looked for is of one table, and would be led through the rows of others.
CREATE TABLE dp_rdr.ledger_row (
    id              bigint GENERATED ALWAYS AS IDENTITY,
    table_id        uuid NOT NULL,                -- privacy_domain.id
    at              timestamptz NOT NULL,
    relation        text NOT NULL,
    relation_oid    oid NOT NULL,
    view            text NOT NULL,
    view_oid        oid NOT NULL,
    grantee         text,                         -- of the policy; NULL: the controller's own call
    role_name       text NOT NULL,
    role_oid        oid NOT NULL,
    session_role    text NOT NULL,
    query           text NOT NULL,
    account         text NOT NULL,
    kind            text NOT NULL,
    algorithm       text NOT NULL,
    mechanism       text NOT NULL,
    epsilon         numeric NOT NULL,
    epsilon_svt     numeric NOT NULL,
    epsilon_worst   numeric NOT NULL,
    delta           numeric NOT NULL,
    delta_noise     numeric NOT NULL,
    delta_groups    numeric NOT NULL,
    rho             numeric NOT NULL,
    parameters      jsonb NOT NULL,
    guarantee       text NOT NULL,
    outcome         text NOT NULL,
    content_version integer NOT NULL,
    content         bytea NOT NULL,
    previous_hash   bytea NOT NULL,
    hash            bytea NOT NULL,
    basis           text NOT NULL DEFAULT 'epsilon', -- or rho: which sum the charge has moved
    epoch           integer NOT NULL DEFAULT 0,      -- of the odometer
    grantee_oid     oid NOT NULL DEFAULT 0,          -- as numbers: a role that is renamed has had what it had
    session_oid     oid NOT NULL DEFAULT 0,
    PRIMARY KEY (table_id, id)
);
CREATE INDEX ledger_row_relation_idx ON dp_rdr.ledger_row (relation, table_id);
CREATE INDEX ledger_row_join_idx ON dp_rdr.ledger_row (table_id, id) WHERE kind OPERATOR(pg_catalog.=) 'join';
COMMENT ON TABLE dp_rdr.ledger_row IS 'every charge, append-only, hash-chained per protected table';
COMMENT ON SEQUENCE dp_rdr.ledger_row_id_seq IS 'numbers of rows of the ledger, of all tables together';

-- Remembers up to which row a ledger was verified, and what the rows up to there add up to. It is not dumped: a restored ledger
-- is verified as a whole.
CREATE TABLE dp_rdr.verified_ledger (
    table_id uuid PRIMARY KEY,                    -- privacy_domain.id
    row_id   bigint NOT NULL,                     -- ledger_row.id of the last row that was verified
    hash     bytea NOT NULL,                      -- of that row
    at       timestamptz NOT NULL,                -- of the verification
    whole_at timestamptz NOT NULL,                -- of the last one that began with the first row
    charges  jsonb NOT NULL                       -- rows of dp_rdr.charges()
);
COMMENT ON TABLE dp_rdr.verified_ledger IS 'up to which row a ledger was verified, and what its rows came to';

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
    relation     text NOT NULL,                   -- behind the view, by its name at the time
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY -- publications want a replica identity
);
CREATE INDEX denial_table_id_idx ON dp_rdr.denial (table_id, pg_catalog.hashtextextended(query, 0));
COMMENT ON TABLE dp_rdr.denial IS 'queries that were denied, and why; analysts see "query denied" only';
COMMENT ON SEQUENCE dp_rdr.denial_id_seq IS 'numbers of denials';

-- ---------------------------------------------------------------------------------------------------------------------
-- Ledger: what a row says, and how rows are chained. This is what dp_verify_ledger recomputes; the writer makes the same bytes.
-- RETURN bodies: parsed once, here, so that nobody's search_path reads them again.
-- ---------------------------------------------------------------------------------------------------------------------

-- The columns from table_id to outcome, then basis, epoch and oids, as one JSON array of texts (parameters: as JSON). No
-- setting reaches it: numerics are printed with their own scale, the time in UTC, and all that looks the same after a dump and
-- a restore elsewhere.
CREATE FUNCTION dp_rdr.ledger_content(entry dp_rdr.ledger_row) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN convert_to(json_build_array(
        entry.table_id::text, to_char(timezone('UTC', entry.at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        entry.relation, entry.relation_oid::text, entry.view, entry.view_oid::text,
        entry.grantee, entry.role_name, entry.role_oid::text, entry.session_role, entry.query,
        entry.account, entry.kind, entry.algorithm, entry.mechanism,
        entry.epsilon::text, entry.epsilon_svt::text, entry.epsilon_worst::text,
        entry.delta::text, entry.delta_noise::text, entry.delta_groups::text, entry.rho::text,
        entry.parameters, entry.guarantee, entry.outcome, entry.basis, entry.epoch::text, entry.grantee_oid::text,
        entry.session_oid::text)::text, 'UTF8');
COMMENT ON FUNCTION dp_rdr.ledger_content IS 'canonical text of a ledger row';

CREATE FUNCTION dp_rdr.ledger_hash(content_version integer, previous_hash bytea, content bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN sha256(convert_to(content_version::text, 'UTF8') || '\x7c'::bytea || previous_hash || '\x7c'::bytea || content);
COMMENT ON FUNCTION dp_rdr.ledger_hash IS 'SHA-256 of content version, previous hash and content, with a vertical bar between them';

-- Returns the charges of a domain, oldest first by their smallest row. Rows that were verified count as one charge where all that
-- sums are made of is alike and nothing else stands between them; from the first row on each is a charge of its own with `whole`.
-- row_count: how many rows it stands for; carried: answers of a domain that was joined into this one; totals: those in force at a
-- charge under zcdp that raised what its epoch promises; raised: by how much a charge on some cells of a partition raised the largest sums of
-- the table, then of the role, in the order of odometer_cell; cells: on which it was.
CREATE TYPE dp_rdr.charge AS (
    id bigint, row_count bigint, account text, grantee text, role_name text, role_oid oid, session_role text, kind text,
    algorithm text, epsilon numeric, delta numeric, delta_groups numeric, rho numeric, basis text, epoch integer, totals jsonb,
    carried bigint, at timestamp, period text, start date, since date, raised numeric[], cells jsonb);
COMMENT ON TYPE dp_rdr.charge IS 'a charge of a domain, or several that are alike';
CREATE FUNCTION dp_rdr.charges(id uuid, whole boolean) RETURNS SETOF dp_rdr.charge LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.* FROM dp_rdr.verified_ledger v CROSS JOIN LATERAL jsonb_populate_recordset(NULL::dp_rdr.charge, v.charges) c
    WHERE v.table_id = $1 AND NOT $2
    UNION ALL
    SELECT l.id, 1, l.account, l.grantee, l.role_name, l.role_oid, l.session_role, l.kind, l.algorithm, l.epsilon, l.delta,
           l.delta_groups, l.rho, l.basis, l.epoch, l.parameters -> 'totals',
           CASE l.kind WHEN 'join' THEN (l.parameters ->> 'releases')::bigint END, timezone('UTC', l.at), p.kind, p.start, p.since,
           r.raised, l.parameters -> 'cells'
    FROM dp_rdr.ledger_row l LEFT JOIN LATERAL (
        SELECT q.raised FROM jsonb_to_record(l.parameters) q (raised numeric[]) WHERE l.parameters ? 'raised') r ON true
    LEFT JOIN LATERAL (
        SELECT q.kind, q.start, q.since FROM jsonb_to_record(l.parameters -> 'period') q (kind text, start date, since date)
        WHERE q.kind = ANY ('{day,week,month,quarter,year}'::text[])) p ON true
    WHERE l.table_id = $1
      AND l.id > CASE WHEN $2 THEN 0 ELSE coalesce((SELECT v.row_id FROM dp_rdr.verified_ledger v WHERE v.table_id = $1), 0) END;
    END;
COMMENT ON FUNCTION dp_rdr.charges IS 'the charges of a domain; those that were verified are added up where they are alike';

-- Returns the ledger's rows of the caller's own tables; own_denials(), below, does so for denials. A view's condition would not do:
-- it is planned with statistics of all rows, and EXPLAIN ANALYZE counts rows that it hides (architecture.md, 7.1).
CREATE FUNCTION dp_rdr.own_ledger(OUT id bigint, OUT at timestamptz, OUT relation text, OUT view text, OUT role_name text,
                                  OUT session_role text, OUT query text, OUT account text, OUT kind text, OUT algorithm text,
                                  OUT mechanism text, OUT epsilon numeric, OUT epsilon_svt numeric, OUT epsilon_worst numeric,
                                  OUT delta numeric, OUT delta_noise numeric, OUT delta_groups numeric, OUT rho numeric,
                                  OUT parameters jsonb, OUT guarantee text, OUT outcome text, OUT content_version integer,
                                  OUT content bytea, OUT previous_hash bytea, OUT hash bytea, OUT basis text, OUT epoch integer)
    RETURNS SETOF record LANGUAGE C STABLE ROWS 1000 AS 'MODULE_PATHNAME', 'dp_own_ledger';
COMMENT ON FUNCTION dp_rdr.own_ledger IS 'the rows of dp_rdr.ledger';
CREATE VIEW dp_rdr.ledger AS SELECT l.* FROM dp_rdr.own_ledger() l;
COMMENT ON VIEW dp_rdr.ledger IS 'every charge on the tables of the current user, append-only';
-- No condition reaches own_ledger(), which returns a whole ledger. These arguments are found by an index.
CREATE FUNCTION dp_ledger(relation regclass DEFAULT NULL, id bigint DEFAULT NULL)
    RETURNS SETOF dp_rdr.ledger LANGUAGE C STABLE ROWS 1000 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_ledger IS 'rows of dp_rdr.ledger: those of the odometer of a protected table, or the one with a number';

-- Sums up charges by day in UTC. rho: of the noise drawn; a step or a measurement under zcdp is charged there alone. Joins and ends of epochs are left out: their amounts were spent before.
CREATE FUNCTION dp_spending(relation regclass DEFAULT NULL, OUT relation text, OUT view text, OUT day date, OUT role_name text,
                            OUT account text, OUT releases bigint, OUT epsilon numeric, OUT delta numeric, OUT rho numeric)
    RETURNS SETOF record LANGUAGE sql STABLE
    BEGIN ATOMIC
    SELECT l.relation, l.view, timezone('UTC', l.at)::date, l.role_name, l.account,
           count(*) FILTER (WHERE l.kind <> ALL ('{selection,increment,suspension,closing,join}'::text[])), sum(l.epsilon), sum(l.delta),
           sum(l.rho)
    FROM dp_ledger($1) l WHERE l.kind <> ALL ('{suspension,join,closing}'::text[]) GROUP BY 1, 2, 3, 4, 5;
    END;
COMMENT ON FUNCTION dp_spending IS 'who spent what by day (UTC), role and account: on a protected table, or on all of the current user';
CREATE VIEW dp_rdr.spending AS SELECT s.* FROM dp_spending() s;
COMMENT ON VIEW dp_rdr.spending IS 'who spent what on the tables of the current user, by day (UTC), role and account';

CREATE FUNCTION dp_rdr.own_denials(OUT relation text, OUT view text, OUT role_name text, OUT session_role text, OUT query text,
                                   OUT reason text, OUT account text, OUT times bigint, OUT first timestamptz,
                                   OUT last timestamptz)
    RETURNS SETOF record LANGUAGE C STABLE ROWS 1000 AS 'MODULE_PATHNAME', 'dp_own_denials';
COMMENT ON FUNCTION dp_rdr.own_denials IS 'the rows of dp_rdr.denials';
CREATE VIEW dp_rdr.denials AS SELECT d.* FROM dp_rdr.own_denials() d;
COMMENT ON VIEW dp_rdr.denials IS 'queries on the tables of the current user that were denied, and why; the latest 1,000 of a table';

-- Both read as the extension's owner and under settings of their own, and check that the caller owns the table.
CREATE FUNCTION dp_odometer(relation regclass, OUT account text, OUT epsilon numeric, OUT delta numeric, OUT releases bigint,
                            OUT denials bigint, OUT bound text, OUT epsilon_total numeric, OUT delta_total numeric,
                            OUT rho numeric, OUT rho_total numeric, OUT epsilon_anytime float8, OUT epsilon_claim numeric,
                            OUT delta_claim numeric, OUT period_epsilon numeric, OUT period_delta numeric,
                            OUT period_end timestamptz, OUT epsilon_lifetime numeric, OUT delta_lifetime numeric)
    RETURNS SETOF record LANGUAGE C STRICT ROWS 2 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_odometer IS 'total privacy loss of a protected table and its bound, by account';

CREATE FUNCTION dp_verify_ledger(relation regclass, "full" boolean DEFAULT false)
    RETURNS boolean LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_verify_ledger IS
    'whether the ledger of a protected table goes on whole from the row that was verified last, with full from the first one, and adds up '
    'to its totals; a warning names the first misfit';

-- ---------------------------------------------------------------------------------------------------------------------
-- Functions that statements of the extension's own call.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TYPE dp_rdr.part AS (part bytea, amount bigint);
COMMENT ON TYPE dp_rdr.part IS 'what a unit adds to one coordinate of a group';
SELECT dp_rdr.run(format('CREATE FUNCTION dp_rdr.%1$s%2$s LANGUAGE C %3$s AS ''MODULE_PATHNAME'', ''dp_%1$s'';'
                         'COMMENT ON FUNCTION dp_rdr.%1$s IS %4$L', f.name, f.signature, f.attributes, f.comment))
FROM (VALUES
    -- Steps of the aggregate cells.
    ('cells_step', '(internal, bytea, VARIADIC "any") RETURNS internal', 'IMMUTABLE PARALLEL SAFE', 'transition function of cells'),
    ('cells_combine', '(internal, internal) RETURNS internal', 'IMMUTABLE PARALLEL SAFE', 'combine function of cells'),
    ('cells_serialize', '(internal) RETURNS bytea', 'IMMUTABLE STRICT PARALLEL SAFE', 'serialization function of cells'),
    ('cells_deserialize', '(bytea, internal) RETURNS internal', 'IMMUTABLE STRICT PARALLEL SAFE', 'deserialization function of cells'),
    ('cells_final', '(internal) RETURNS bytea', 'IMMUTABLE PARALLEL SAFE', 'final function of cells'),
    -- Where the rows of each unit are in one shard of Citus, sum(bigint) adds up their parts.
    ('cell', '(spec bytea, value "any") RETURNS integer', 'IMMUTABLE STRICT PARALLEL SAFE', 'the cell of a grid that a value is in'),
    ('parts', '(spec bytea, brought bytea) RETURNS SETOF dp_rdr.part', 'IMMUTABLE STRICT PARALLEL SAFE ROWS 2',
     'what a unit brings, as cells has added it up, clipped'),
    -- Nodes of Citus are asked whether they are there and fit, before a charge.
    ('is_other_node', '(facts text) RETURNS boolean', 'IMMUTABLE PARALLEL SAFE',
     'false, or an error if this server has another dp_rdr or encoding than the one that asks'),
    -- Keys of groups, before they are hashed, compared and shown; what a unit brings that may have several rows.
    ('canonical', '(key anyelement, typmod integer) RETURNS anyelement', 'IMMUTABLE STRICT PARALLEL SAFE',
     'the one spelling of a group key that is shown; NULL for one of more than 1,000 bytes'),
    ('is_short', '(key anyelement) RETURNS boolean', 'IMMUTABLE STRICT PARALLEL SAFE', 'whether a group key has at most 1,000 bytes'),
    ('value_digest', '(value anyelement) RETURNS uuid', 'IMMUTABLE STRICT PARALLEL SAFE',
     '128 bits that equal values have in common, for count(DISTINCT x)'),
    ('only_value_step', '(anyelement, anyelement) RETURNS anyelement', 'IMMUTABLE STRICT PARALLEL SAFE',
     'transition and combine function of only_value'),
    -- For answers.
    ('release_support', '(internal) RETURNS internal', '', 'planner support of release: how many rows it has'),
    ('as_interval', '(seconds numeric) RETURNS interval', 'IMMUTABLE STRICT PARALLEL SAFE',
     'days of 24 hours and the rest: what an answer in seconds shows of an average or sum of intervals'),
    ('recognised', '(epsilon float8, rho float8, delta float8) RETURNS float8', 'IMMUTABLE STRICT PARALLEL SAFE',
     'of 100 people, how many the best attack recognises by answers of this loss, if it is wrong about 1 of 100 others'),
    -- For dp_audit, dp_settings and dp_draft.
    ('is_facade', '(view oid, relation oid) RETURNS boolean', 'STABLE STRICT', 'whether a view has the rule of a restricted view over the table'),
    ('facade_fault', '(view oid, relation oid) RETURNS text', 'STRICT',
     'why no query on a restricted view can be answered, and below it a hint; NULL if it can'),
    ('public_fault', '(relation oid, protected oid) RETURNS text', 'STRICT',
     'why no query that reads a public table can be answered, and below it a hint; NULL if it can'),
    ('ledger_fault', '(id uuid, "full" boolean DEFAULT false) RETURNS text', 'STRICT',
     'the first misfit of a ledger behind the row that was verified last, or of its totals; NULL if there is none'),
    ('budget', '(relation oid, OUT name text, OUT used numeric, OUT total numeric, OUT percent integer, OUT period_end text) RETURNS SETOF record', 'STRICT ROWS 3',
     'what public charges have used of each total of a protected table; without a total, what the conditional account has spent'),
    ('draft_check', '("constraint" oid, OUT groups text[], OUT lower text, OUT upper text) RETURNS record', 'STABLE STRICT',
     'which values, or which bounds of them, a CHECK on one column permits'),
    ('draft_fault', '(relation oid, owner oid) RETURNS text', 'STRICT',
     'why a table cannot be protected beside others of that owner; NULL if it can'),
    ('draft_shown', '(type oid) RETURNS boolean', 'STABLE STRICT', 'whether a restricted view can show columns of the type')) f (name, signature, attributes, comment);

-- ---------------------------------------------------------------------------------------------------------------------
-- Aggregates of the internal statement. Transition states are internal: nobody can read one, or build an aggregate of
-- his own on these functions.
-- ---------------------------------------------------------------------------------------------------------------------

-- FINALFUNC_MODIFY keeps it from being used as a window function, where every row would be an answer of its own. SSPACE: of three
-- sums, or of a unit with one group.
CREATE AGGREGATE dp_rdr.cells(spec bytea, VARIADIC arguments "any") (
    SFUNC = dp_rdr.cells_step, STYPE = internal, SSPACE = 96,
    FINALFUNC = dp_rdr.cells_final, FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dp_rdr.cells_combine, SERIALFUNC = dp_rdr.cells_serialize,
    DESERIALFUNC = dp_rdr.cells_deserialize, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.cells(bytea, "any") IS
    'exact sums of what rows add to the coordinates of a specification; of one unit by group, as they are before they are clipped';

CREATE AGGREGATE dp_rdr.only_value(value anyelement) (
    SFUNC = dp_rdr.only_value_step, STYPE = anyelement, COMBINEFUNC = dp_rdr.only_value_step, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_rdr.only_value(anyelement) IS 'of a column that is the same in all rows of one unit, its value as it is stored';

-- ---------------------------------------------------------------------------------------------------------------------
-- Total replacements of partial built-ins. They take their place in the internal statement, where an analyst has written
-- a / b; each has the name and the arguments of the built-in, or of the cast. All return NULL instead of an error.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION dp_rdr.make_total_functions(library text) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME', 'dp_make_total_functions';
SELECT dp_rdr.make_total_functions('MODULE_PATHNAME');
DROP FUNCTION dp_rdr.make_total_functions(text);

CREATE FUNCTION dp_rdr.up_to_size(anyelement, integer)
    RETURNS anyelement LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dp_total_up_to_size';
COMMENT ON FUNCTION dp_rdr.up_to_size IS 'the value, NULL if it has more bytes';

CREATE FUNCTION dp_rdr.total_functions(OUT call text, OUT function regprocedure, OUT replacement regprocedure,
                                       OUT constants integer[], OUT reason text)
    RETURNS SETOF record LANGUAGE C STABLE PARALLEL SAFE ROWS 560 AS 'MODULE_PATHNAME', 'dp_total_functions';
COMMENT ON FUNCTION dp_rdr.total_functions IS
    'functions and casts that may be applied to the columns of a restricted view; which arguments must be constants, and why no row can make them fail';

-- The processes that read rows for analysts, for an administrator to look at (doc/operations.md).
CREATE FUNCTION dp_rdr.keepers(OUT pid integer, OUT state text, OUT charges bigint, OUT commits bigint)
    RETURNS SETOF record LANGUAGE C PARALLEL RESTRICTED ROWS 3 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_rdr.keepers IS
    'background workers that charge and answer the queries of this database, with the charges and commits of each';
CREATE FUNCTION dp_rdr.queue(OUT client_pid integer, OUT login regrole, OUT relation regclass, OUT state text,
                             OUT keeper_pid integer, OUT since timestamptz)
    RETURNS SETOF record LANGUAGE C PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'dp_queue';
COMMENT ON FUNCTION dp_rdr.queue IS
    'queries of this database that wait for a background worker or are with one: who asks, about what, since when';
CREATE FUNCTION dp_rdr.charge_times(OUT microseconds double precision, OUT charges bigint)
    RETURNS SETOF record LANGUAGE C PARALLEL RESTRICTED ROWS 50 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_rdr.charge_times IS
    'how many charges took so long at most, and longer than the row before says, since the server started';

-- ---------------------------------------------------------------------------------------------------------------------
-- Aggregates for owners of the data, with an epsilon of their own. Serial: the final function reads the call's arguments.
-- PARALLEL RESTRICTED: a worker may scan, the noise is drawn once, by the session itself.
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_rdr.run(format('CREATE FUNCTION dp_rdr.%1$s RETURNS %2$s AS ''MODULE_PATHNAME'', %3$L LANGUAGE C VOLATILE PARALLEL RESTRICTED;'
                         'COMMENT ON FUNCTION dp_rdr.%1$s IS %4$L', f.signature, f.result, f.symbol,
                         CASE f.result WHEN 'internal' THEN 'transition' ELSE 'final' END || ' function of ' || f.aggregate))
FROM (VALUES
    ('noisy_count_step(internal, "any", numeric)', 'internal', 'dp_noisy_count_step', 'dp_count with an epsilon'),
    ('noisy_sum_step(internal, "any", numeric, numeric, numeric)', 'internal', 'dp_noisy_sum_step', 'dp_sum with an epsilon'),
    ('noisy_avg_step(internal, "any", numeric, numeric, numeric)', 'internal', 'dp_noisy_avg_step', 'dp_avg with an epsilon'),
    ('noisy_count(internal)', 'bigint', 'dp_noisy_count', 'dp_count with an epsilon'),
    ('noisy_sum_bigint(internal)', 'bigint', 'dp_noisy_sum', 'dp_sum with an epsilon'),
    ('noisy_sum_numeric(internal)', 'numeric', 'dp_noisy_sum', 'dp_sum with an epsilon'),
    ('noisy_sum_real(internal)', 'real', 'dp_noisy_sum', 'dp_sum with an epsilon'),
    ('noisy_sum_double(internal)', 'double precision', 'dp_noisy_sum', 'dp_sum with an epsilon'),
    ('noisy_avg_numeric(internal)', 'numeric', 'dp_noisy_avg', 'dp_avg with an epsilon'),
    ('noisy_avg_double(internal)', 'double precision', 'dp_noisy_avg', 'dp_avg with an epsilon'),
    ('marker_step(internal)', 'internal', 'dp_marker_step', 'aggregates without an epsilon'),
    ('marker_step(internal, "any")', 'internal', 'dp_marker_step', 'aggregates without an epsilon'),
    ('marker_bigint(internal)', 'bigint', 'dp_marker', 'aggregates without an epsilon'),
    ('marker_numeric(internal)', 'numeric', 'dp_marker', 'aggregates without an epsilon'),
    ('marker_real(internal)', 'real', 'dp_marker', 'aggregates without an epsilon'),
    ('marker_double(internal)', 'double precision', 'dp_marker', 'aggregates without an epsilon')) f (signature, result, symbol, aggregate);

CREATE AGGREGATE dp_count(value "any", epsilon numeric) (
    SFUNC = dp_rdr.noisy_count_step, STYPE = internal, SSPACE = 48,
    FINALFUNC = dp_rdr.noisy_count, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = RESTRICTED);
COMMENT ON AGGREGATE dp_count("any", numeric) IS 'epsilon-DP number of non-null values, for owners of the data';

-- Those without an epsilon are marks that the extension replaces where a query reads a restricted view.
SELECT dp_rdr.run(format('CREATE AGGREGATE dp_count(%1$s) (SFUNC = dp_rdr.marker_step, STYPE = internal, SSPACE = 8, '
                         'FINALFUNC = dp_rdr.marker_bigint, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = RESTRICTED);'
                         'COMMENT ON AGGREGATE dp_count(%1$s) IS ''DP number of %2$s of a restricted view, at the price of the policy''',
                         c.argument, c.counted)) FROM (VALUES ('*', 'rows'), ('"any"', 'non-null values')) c (argument, counted);

-- Sums and averages of each type, with the ending of their final functions.
SELECT dp_rdr.run(format('CREATE AGGREGATE dp_%1$s(value %2$s, lower numeric, upper numeric, epsilon numeric) ('
                         'SFUNC = dp_rdr.noisy_%1$s_step, STYPE = internal, SSPACE = 48, FINALFUNC = dp_rdr.noisy_%1$s_%3$s, '
                         'FINALFUNC_MODIFY = READ_WRITE, PARALLEL = RESTRICTED);'
                         'COMMENT ON AGGREGATE dp_%1$s(%2$s, numeric, numeric, numeric) '
                         'IS ''epsilon-DP %4$s of values clamped to the bounds, for owners of the data'';'
                         'CREATE AGGREGATE dp_%1$s(%2$s) (SFUNC = dp_rdr.marker_step, STYPE = internal, SSPACE = 8, '
                         'FINALFUNC = dp_rdr.marker_%3$s, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = RESTRICTED);'
                         'COMMENT ON AGGREGATE dp_%1$s(%2$s) IS ''DP %4$s of a restricted view, at the price of the policy''',
                         a.name, t.type, CASE a.name WHEN 'sum' THEN t.sum ELSE t.avg END, a.word))
FROM (VALUES ('sum', 'sum'), ('avg', 'average')) a (name, word),
     (VALUES ('smallint', 'bigint', 'numeric'), ('integer', 'bigint', 'numeric'), ('bigint', 'numeric', 'numeric'),
             ('real', 'real', 'double'), ('double precision', 'double', 'double'), ('numeric', 'numeric', 'numeric')) t (type, sum, avg);

-- Marks of an aggregate there: an end of its 95 percent interval, in its place.
CREATE FUNCTION dp_low(aggregate anyelement) RETURNS anyelement LANGUAGE C PARALLEL RESTRICTED AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_low IS 'lower end of the 95 percent interval of one count, sum or avg of a restricted view';
CREATE FUNCTION dp_high(aggregate anyelement) RETURNS anyelement LANGUAGE C PARALLEL RESTRICTED AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_high IS 'upper end of the 95 percent interval of one count, sum or avg of a restricted view';

-- ---------------------------------------------------------------------------------------------------------------------
-- Controller: protect and permit
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION dp_protect(relation regclass, view text, unit text = NULL, columns text[] = NULL, filter text = NULL,
                           max_rows integer = NULL, max_groups integer = NULL, max_rows_per_group integer = NULL)
    RETURNS regclass LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_protect IS 'protects a table and creates a restricted view over it';

CREATE FUNCTION dp_set_unit(relation regclass, unit text, max_rows integer = NULL, max_groups integer = NULL,
                            max_rows_per_group integer = NULL) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_unit IS 'says whose rows a protected table has, as long as nothing was asked about it';

CREATE FUNCTION dp_set_contribution(relation regclass, max_rows integer = NULL, max_groups integer = NULL,
                                    max_rows_per_group integer = NULL) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_contribution IS 'limits how many rows and groups of one unit count in an answer';

CREATE PROCEDURE dp_choose_contribution(relation regclass, epsilon numeric, most integer = NULL, tau float8 = NULL,
                                        value text = NULL, INOUT "limit" numeric = NULL, INOUT error95_before float8 = NULL,
                                        INOUT error95_after float8 = NULL) LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON PROCEDURE dp_choose_contribution IS
    'chooses under differential privacy how many rows of one unit shall count, or how much of its sizes in sum(value), and sets it: charged epsilon, free for every later query';

CREATE FUNCTION dp_set_total(relation regclass, expression text, total numeric) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_total IS 'limits the sizes of one unit''s values of an expression in its sum; ''Infinity'' takes it back';

CREATE FUNCTION dp_set_people(relation regclass, n bigint) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_people IS
    'says about how many people there are, rounded to one digit, to be seen by everybody: warnings rest on it, and no answer; 0 takes it back';

CREATE FUNCTION dp_join_domains(relation regclass, "into" regclass) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_join_domains IS
    'joins the domain of a protected table into that of another with rows of the same people: one odometer for both, at once and for good';

CREATE FUNCTION dp_set_public(relation regclass, protected regclass) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_public IS
    'declares a table public: it may be joined with a protected table and all others with data of the same people';

CREATE FUNCTION dp_unset_public(relation regclass, protected regclass) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_unset_public IS 'takes back that a table is public for a protected table';

CREATE FUNCTION dp_domain(relation regclass, OUT relation regclass, OUT unit text, OUT path text, OUT max_rows integer,
                          OUT max_groups integer, OUT views bigint, OUT public regclass[], OUT max_rows_per_group integer)
    RETURNS SETOF record LANGUAGE C ROWS 4 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_domain IS
    'the protected tables with data of the same people, and how a row of each finds the person that it belongs to';

CREATE FUNCTION dp_refresh(view regclass, columns text[] = NULL) RETURNS regclass LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_refresh IS
    'makes a restricted view anew after its table has changed, or was made anew with it; policies, rights and the ledger stay';

CREATE FUNCTION dp_unprotect(view regclass) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_unprotect IS 'drops a restricted view and its policies; the ledger stays';

SELECT dp_rdr.run(format('CREATE FUNCTION dp_set_bounds(relation regclass, column_name text, lower %1$s, upper %1$s) '
                         'RETURNS void LANGUAGE C AS ''MODULE_PATHNAME'', ''dp_set_bounds'';'
                         'COMMENT ON FUNCTION dp_set_bounds(regclass, text, %1$s, %1$s) IS ''declares public bounds of a %2$s''',
                         b.type, b.what))
FROM (VALUES
    ('numeric', 'numeric column: values are clamped to them'),
    ('date', 'column of dates or timestamps: expressions of it have bounds, and groups'),
    ('timestamp', 'column of timestamps: expressions of it have bounds, and groups'),
    ('timestamptz', 'column of timestamps with time zone: expressions of it have bounds, and groups'),
    ('text', 'column, read as values of its type')) b (type, what);

CREATE FUNCTION dp_set_groups(relation regclass, column_name text, groups text[]) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_groups IS 'declares the public group keys of a column';

CREATE FUNCTION dp_unset_bounds(relation regclass, column_name text) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_unset_bounds IS 'takes the public bounds of a column back';

CREATE FUNCTION dp_unset_groups(relation regclass, column_name text) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_unset_groups IS 'takes the public group keys of a column back';

CREATE FUNCTION dp_set_partition(relation regclass, column_name text, by text = NULL, since text = NULL, until text = NULL,
                                 fresh boolean = false, guard boolean = true)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_set_partition';
COMMENT ON FUNCTION dp_set_partition(regclass, text, text, text, text, boolean, boolean)
    IS 'gives each cell of a protected table, such as a month or a ward, the totals of the table for itself';

CREATE FUNCTION dp_unset_partition(relation regclass)
    RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_unset_partition';
COMMENT ON FUNCTION dp_unset_partition(regclass) IS 'takes the partition of a protected table away: all charges count for all rows';

CREATE FUNCTION dp_cells(relation regclass, OUT cells text, OUT epsilon numeric, OUT delta numeric, OUT "left" numeric,
    OUT rho numeric, OUT rho_left numeric)
    RETURNS SETOF record LANGUAGE C STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_cells';
COMMENT ON FUNCTION dp_cells(regclass) IS 'what the cells of a protected table have been charged, and what is left of each';

CREATE FUNCTION dp_rdr.keep_cell() RETURNS trigger LANGUAGE C AS 'MODULE_PATHNAME', 'dp_keep_cell';
COMMENT ON FUNCTION dp_rdr.keep_cell() IS 'refuses updates that move a row to another cell of the partition';

-- NULL keeps what is set; 'Infinity' takes a total or a lifetime away, '{}' the profile, '' the period.
CREATE FUNCTION dp_set_odometer(relation regclass, bound text = NULL, epsilon_total numeric = NULL, delta_total numeric = NULL,
                                delta_conversion numeric = NULL, cap text = NULL, epsilon_pure numeric = NULL,
                                rho_target numeric = NULL, profile jsonb = NULL, period text = NULL,
                                epsilon_lifetime numeric = NULL, delta_lifetime numeric = NULL)
    RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_odometer IS 'sets how the total privacy loss of a protected table is bounded';

-- NULL keeps what is set. A new policy has laplace, delta 0, epsilon_max 1, epsilon_svt 0.1, weights 1, the papers'
-- candidates, and the smallest candidate as epsilon_min.
CREATE FUNCTION dp_grant(view regclass, grantee regrole, tau float8 = NULL, tau_var float8 = NULL, selection text = NULL,
                         mechanism text = NULL, delta numeric = NULL, epsilon_max numeric = NULL, epsilon_total numeric = NULL,
                         epsilon_svt numeric = NULL, candidates numeric[] = NULL, weight_min float8 = NULL,
                         weight_max float8 = NULL, group_a text = NULL, group_b text = NULL, epsilon_min numeric = NULL,
                         profile jsonb = NULL, replay interval = NULL, on_request boolean = NULL)
    RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_grant IS 'permits a role to query a restricted view under a privacy preference';

CREATE FUNCTION dp_revoke(view regclass, grantee regrole) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_revoke IS 'takes a policy and SELECT on the restricted view back';

CREATE FUNCTION dp_resume(view regclass, grantee regrole) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_resume IS 'lifts the suspensions under the policy of a role, or of the role itself, on a restricted view';

CREATE FUNCTION dp_forget(relation regclass) RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_forget IS
    'deletes the stored answers about a protected table: who asks again pays for a new one; returns how many there were';

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests: questions that somebody else permits
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION dp_request(query text, purpose text, epsilon numeric = NULL, decider text = NULL, expires interval = '30 days',
                           max_rows integer = NULL, max_groups integer = NULL, max_rows_per_group integer = NULL,
                           weight float8 = 1)
    RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_request IS 'asks that a query on a restricted view be permitted; returns the number of the request';

CREATE FUNCTION dp_requests(state text = 'pending', OUT request bigint, OUT at timestamptz, OUT requester text, OUT view text,
                            OUT kind text, OUT query text, OUT purpose text, OUT state text, OUT epsilon numeric,
                            OUT error95 float8[], OUT approved_by text, OUT expires_at timestamptz, OUT basis text,
                            OUT reason text, OUT time_zone text) RETURNS SETOF record LANGUAGE C ROWS 100 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_requests IS 'requests: one''s own, those about one''s tables, those that one may review';

CREATE FUNCTION dp_fetch(request bigint) RETURNS SETOF record LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_fetch IS 'the answer to a request, as often as wanted';

CREATE FUNCTION dp_answer(request bigint) RETURNS jsonb LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_answer IS 'the answer to a request as one value';

CREATE FUNCTION dp_approve(request bigint, tau float8 = NULL, tau_var float8 = NULL, epsilon numeric = NULL,
                           selection text = NULL, basis text = NULL, hold boolean = false, OUT state text, OUT epsilon numeric,
                           OUT account text) RETURNS record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_approve IS 'permits a request: it is charged and answered, whatever becomes of the calling transaction';

CREATE FUNCTION dp_release(request bigint) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_release IS 'hands an answer that was held back to its requester';

CREATE FUNCTION dp_reject(request bigint, reason text = NULL) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_reject IS 'rejects a request, or withdraws one''s own';

CREATE FUNCTION dp_redraw(request bigint, draws integer = 100) RETURNS SETOF record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_redraw IS
    'the answer to a request with more noise of the same kind, as often as wanted: what such noise does to whatever is computed from it';

CREATE FUNCTION dp_request_signal(request bigint, task text, value text, purpose text, reference text = NULL, k integer = NULL,
                                  lower float8 = 0, upper float8 = 1, epsilon numeric = NULL, expires interval = '30 days')
    RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_request_signal IS
    'asks what a task on an answer would give on the exact one, with noise; returns the number of the request';

CREATE FUNCTION dp_inspect_signal(request bigint, OUT dp float8, OUT exact float8)
    RETURNS record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_inspect_signal IS 'for the owner: what a signal is without noise; the request remembers that it was looked at';

CREATE FUNCTION dp_set_review(relation regclass, reviewers regrole[]) RETURNS void LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_set_review IS 'says who decides on requests about a protected table without having seen a row';

CREATE FUNCTION dp_requests_channel(relation regclass) RETURNS text LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_requests_channel IS
    'for who decides on requests about a protected table: the channel to LISTEN to, where the number of each new one is told';

-- ---------------------------------------------------------------------------------------------------------------------
-- Controller: what weakens the protection
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION dp_audit(OUT severity text, OUT object text, OUT finding text, OUT remedy text)
    RETURNS SETOF record LANGUAGE C ROWS 20 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_audit IS 'what in this database weakens the protection of the tables of the current user, and how to mend it';

-- What the keys of the tables tell about persons with many rows, or in two protected tables. A unique index over some of
-- the referencing columns says that no row is referenced twice; a reference to the table itself says nothing.
CREATE FUNCTION dp_rdr.people_hints(relation oid, OUT severity text, OUT finding text, OUT remedy text) RETURNS SETOF record
    LANGUAGE sql STABLE STRICT PARALLEL UNSAFE ROWS 2
BEGIN ATOMIC
    WITH key AS (
      SELECT k.conname, k.conrelid, k.confrelid, format('%I (%s)', k.conname, c.columns) AS name, c.columns,
             NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.conrelid AND i.indisunique AND i.indisvalid
                         AND i.indpred IS NULL AND i.indexprs IS NULL
                         AND (i.indkey::int2[])[0:i.indnkeyatts - 1] <@ k.conkey) AS many,
             t.relation IS NOT NULL AS protected, mine.unit IS NOT NULL AS units, t.domain = mine.domain AS together,
             EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
                     AND a.attname <> ALL (mine.unit)
                     AND EXISTS (SELECT FROM dp_rdr.restricted_view v JOIN pg_attribute s ON s.attrelid = v.view
                                 WHERE v.relation = $1 AND s.attname = a.attname)) AS beside
      FROM pg_constraint k CROSS JOIN LATERAL (
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY x.place) AS columns FROM unnest(k.conkey) WITH ORDINALITY x (attnum, place)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = x.attnum) c
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
COMMENT ON FUNCTION dp_rdr.people_hints IS 'where foreign keys show that rows of one person may be many';

-- ---------------------------------------------------------------------------------------------------------------------
-- Controller: look at the risk, choose epsilon
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION dp_risk(query text, epsilons numeric[] = NULL, mechanism text = 'laplace', delta numeric = NULL,
                        calibration text = 'sound', exact boolean = false, sensitivity numeric = NULL, tau_var float8 = NULL,
                        epsilon_svt numeric = 0.1, group_a text = NULL, group_b text = NULL, OUT epsilon numeric,
                        OUT rdr_min float8, OUT rdr_max float8, OUT ratio float8, OUT variance float8, OUT noise_stddev float8,
                        OUT error95 float8, OUT svt_statistic float8, OUT svt_sensitivity float8, OUT svt_accept float8,
                        OUT noise float8, OUT rho numeric, OUT leaf integer, OUT error float8, OUT median_a float8,
                        OUT median_b float8) RETURNS SETOF record LANGUAGE C ROWS 37 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_risk IS
    'what each epsilon would mean for the people in the table, for each question of the statement; spends nothing';

CREATE FUNCTION dp_risk_records(query text, epsilon numeric, mechanism text = 'laplace', delta numeric = NULL,
                                calibration text = 'sound', exact boolean = false, sensitivity numeric = NULL, leaf integer = 1,
                                OUT record jsonb, OUT individuals bigint, OUT pis float8, OUT rdr float8)
    RETURNS SETOF record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_risk_records IS 'the risk of every distinct record, riskiest first; spends nothing';

CREATE FUNCTION dp_risk_output(query text, output float8[], mechanism text = 'laplace', epsilon numeric = NULL,
                               delta numeric = NULL, leaf integer = 1, OUT record jsonb, OUT individuals bigint, OUT rdr float8,
                               OUT loss float8) RETURNS SETOF record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_risk_output IS
    'what one concrete answer (its numbers row by row, aggregates left to right) says about every distinct record';

CREATE FUNCTION dp_risk_summary(query text, mechanism text = 'laplace', delta numeric = NULL, epsilons numeric[] = NULL,
                                OUT epsilon numeric, OUT risk text, OUT error95 float8, OUT answer_range text, OUT ratio float8,
                                OUT leaf integer) RETURNS SETOF record LANGUAGE C ROWS 37 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_risk_summary IS
    'the range of the risks at each epsilon, drawn on one logarithmic scale, beside the error and the exact answer with it';

CREATE FUNCTION dp_report(relation regclass, query text = NULL, request bigint = NULL, tau float8 = NULL, mechanism text = NULL,
                          delta numeric = NULL, epsilons numeric[] = NULL, records integer = 20, losses boolean = false)
    RETURNS text LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_report IS
    'a page of HTML for the controller alone: the risk of a query or a request, what is set, who spent what; spends nothing';

CREATE PROCEDURE dp_find_epsilon(query text, tau float8, INOUT epsilon numeric = NULL, INOUT answer jsonb = NULL,
                                 mechanism text = 'laplace', delta numeric = NULL, candidates numeric[] = NULL,
                                 indicator text = 'expected', exact boolean = false, group_a text = NULL, group_b text = NULL,
                                 sensitivity numeric = NULL) LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON PROCEDURE dp_find_epsilon IS
    'finds the largest epsilon that meets tau on the data, charges it, and answers once, to the controller';

CREATE PROCEDURE dp_find_and_release_epsilon(query text, tau_var float8, epsilon_svt numeric = 0.1,
                                             INOUT epsilon numeric = NULL, INOUT answer jsonb = NULL,
                                             mechanism text = 'laplace', delta numeric = NULL, candidates numeric[] = NULL)
    LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON PROCEDURE dp_find_and_release_epsilon IS
    'selects under differential privacy the largest epsilon that meets tau_var, charges it, and answers once';

-- Risk profiles: what a total of epsilon means to somebody with prior beliefs, and which total a limit on that allows.
CREATE FUNCTION dp_profile(kind text, relative float8 = NULL, absolute float8 = NULL, prior float8 = NULL, p float8[] = NULL,
                           q float8[] = NULL, r float8[] = NULL, advantage float8 = NULL, tpr float8 = NULL, fpr float8 = NULL)
    RETURNS jsonb LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_profile IS
    'a risk profile: how much more than before somebody may know of a person after all answers, or how good an attack on them may be';

CREATE FUNCTION dp_profile_epsilon(profile jsonb) RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_profile_epsilon IS 'the largest total of epsilon that keeps a risk profile';

CREATE FUNCTION dp_risk_profile(profile jsonb, priors float8[] = '{0.001,0.01,0.05,0.1,0.25,0.5,0.75,0.9,1}', OUT p float8,
                                OUT q float8, OUT relative float8, OUT posterior float8, OUT epsilon float8,
                                OUT posterior_at float8, OUT binding boolean)
    RETURNS SETOF record LANGUAGE C ROWS 81 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_risk_profile IS
    'what a risk profile allows against each adversary, and what its epsilon comes to; the one who binds among them';

CREATE FUNCTION dp_profile_utility(profiles jsonb[], query text = NULL, distances float8[] = '{1}', OUT profile jsonb,
                                   OUT epsilon numeric, OUT noise_stddev float8, OUT error95 float8, OUT p_exact float8,
                                   OUT distance float8, OUT p_switch float8)
    RETURNS SETOF record LANGUAGE C ROWS 4 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_profile_utility IS 'how accurate one answer is that is given all that a risk profile allows';

CREATE FUNCTION dp_epsilon_meaning(epsilon float8, p float8[] = '{0.001,0.01,0.1,0.5,0.9}', q float8[] = '{1}', OUT p float8,
                                   OUT q float8, OUT prior float8, OUT posterior_min float8, OUT posterior_max float8,
                                   OUT relative_max float8)
    RETURNS SETOF record LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 5 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_epsilon_meaning IS 'what somebody with a prior belief can come to believe after answers of this total epsilon';

CREATE FUNCTION dp_attack_risk(relation regclass, role regrole = NULL, cell text = NULL, OUT fpr float8, OUT tpr_max float8,
                               OUT advantage_max float8, OUT prior float8, OUT posterior_max float8)
    RETURNS SETOF record LANGUAGE C ROWS 18 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_attack_risk IS
    'how often at most an attack on all answers so far, or on one role''s or about one cell, is right that somebody is in the table';

-- What the answers so far can have told about each person: for the owner of the table alone.
CREATE FUNCTION dp_loss(relation regclass, epsilon_total numeric = NULL, delta numeric = NULL, OUT people float8,
                        OUT epsilon float8, OUT rho float8, OUT delta numeric, OUT posterior50 float8, OUT at_total float8)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'dp_loss';
COMMENT ON FUNCTION dp_loss(regclass, numeric, numeric)
    IS 'what all answers so far came to for half of the people, nine tenths .. all of them, at most; for the owner alone';

CREATE FUNCTION dp_loss_records(relation regclass, records integer = 1000, delta numeric = NULL, OUT record jsonb,
                                OUT individuals bigint, OUT epsilon float8, OUT rho float8, OUT delta numeric,
                                OUT answers bigint, OUT conditional float8)
    RETURNS SETOF record LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dp_loss_records';
COMMENT ON FUNCTION dp_loss_records(regclass, integer, numeric)
    IS 'what all answers so far came to for each person, at most, the largest first; for the owner alone';

-- Not immutable: the presets are those of this version.
CREATE FUNCTION dp_plan(delta_total numeric = 1e-6, max_rows integer = 1, OUT preset text, OUT epsilon_total numeric,
                        OUT tau float8, OUT counts bigint, OUT averages bigint, OUT error95 float8, OUT error95_rows float8,
                        OUT posterior10 float8, OUT recognised float8)
    RETURNS SETOF record LANGUAGE C STABLE PARALLEL SAFE ROWS 3 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_plan IS 'what three totals of the bound zcdp buy, and what they mean for one person; reads nothing';

-- ---------------------------------------------------------------------------------------------------------------------
-- Analyst
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION dp_query(query text, epsilon numeric = NULL, weight float8 = 1, within float8 = NULL, error95 float8 = NULL,
                         deviations float8 = 1, replay boolean = true, max_rows integer = NULL, max_groups integer = NULL,
                         max_rows_per_group integer = NULL) RETURNS SETOF record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_query IS 'answers an aggregate query on a restricted view with DP noise; needs a column list: AS (n bigint)';

CREATE FUNCTION dp_refine(within float8 = NULL, error95 float8 = NULL, deviations float8 = 1)
    RETURNS SETOF record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_refine IS
    'makes the last answer in this connection more accurate, if it was the current role''s; needs the column list of that answer';

CREATE FUNCTION dp_explain(query text, within float8 = NULL, error95 float8 = NULL, deviations float8 = 1,
                           magnitude float8 = NULL, max_rows integer = NULL, max_groups integer = NULL,
                           max_rows_per_group integer = NULL, epsilon numeric = NULL, weight float8 = 1, OUT leaf integer,
                           OUT column_name text, OUT accepted boolean, OUT reason text, OUT epsilon numeric, OUT delta numeric,
                           OUT mechanism text, OUT error95 float8, OUT threshold bigint, OUT rho numeric,
                           OUT posterior50 float8, OUT advantage_max float8, OUT unit text, OUT max_rows integer,
                           OUT max_groups integer, OUT max_rows_per_group integer, OUT cells text)
    RETURNS SETOF record LANGUAGE C ROWS 4 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_explain IS
    'whether a query would be answered, what each leaf would cost and how accurate it would be; nothing is charged';

CREATE FUNCTION dp_last_release(OUT column_name text, OUT epsilon numeric, OUT epsilon_svt numeric, OUT delta numeric,
                                OUT mechanism text, OUT error95 float8, OUT reason text, OUT rho numeric, OUT steps integer,
                                OUT reached boolean, OUT posterior50 float8, OUT numbers bigint, OUT noise bigint,
                                OUT rows_hidden bigint, OUT coarse bigint)
    RETURNS SETOF record LANGUAGE C ROWS 4 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_last_release IS
    'what the last answer in this connection was charged, if it was the current role''s, how accurate its columns are, and how many of their numbers are noise; '
    'behind a pool of connections it may have been another client''s: ask in the same transaction';

-- Dearer than any answer: a server that may choose asks for the answer, not for the rows.
CREATE FUNCTION dp_rdr.deny(relation regclass)
    RETURNS SETOF record LANGUAGE C PARALLEL RESTRICTED COST 10000000 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_rdr.deny IS 'the rows of a restricted view: always an error';

CREATE FUNCTION dp_rdr.release(leaf text, epsilon numeric, weight float8, within float8, error95 float8, deviations float8,
                               replay boolean, max_rows integer, max_groups integer, max_rows_per_group integer)
    RETURNS SETOF record LANGUAGE C COST 100000 SUPPORT dp_rdr.release_support AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer) IS
    'checks, charges, evaluates and answers one leaf of a query';
CREATE FUNCTION dp_rdr.release(leaf text, epsilon numeric, weight float8, within float8, error95 float8, deviations float8,
                               replay boolean, max_rows integer, max_groups integer, max_rows_per_group integer,
                               VARIADIC parameters "any")
    RETURNS SETOF record LANGUAGE C COST 100000 SUPPORT dp_rdr.release_support AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer, "any") IS
    'checks, charges, evaluates and answers one leaf of a query with parameters';

-- ---------------------------------------------------------------------------------------------------------------------
-- Pages: all on one
-- ---------------------------------------------------------------------------------------------------------------------

-- Returns a bound of a column of this type: days of a date, microseconds of a timestamp. Exact, also where these are no doubles. The
-- column may have had another type when it was declared, and a domain may be over another one.
CREATE FUNCTION dp_rdr.bound_text(bound numeric, type oid, literal boolean) RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    BEGIN ATOMIC
    WITH RECURSIVE t (oid, base, name) AS (
        SELECT p.oid, p.typbasetype, p.typname FROM pg_type p WHERE p.oid = $2
        UNION ALL SELECT p.oid, p.typbasetype, p.typname FROM t JOIN pg_type p ON p.oid = t.base),
    moment (name, of_day, at) AS (
        SELECT t.name, CASE WHEN t.oid = 'date'::regtype AND $1 BETWEEN -2451545 AND 2145031948 THEN date '2000-01-01' + $1::integer END,
               CASE WHEN t.oid IN ('timestamp'::regtype, 'timestamptz'::regtype) AND $1 BETWEEN -211813488000000000 AND 9223371331199999999
               THEN timestamp '2000-01-01' + div($1, 86400000000)::integer * interval '1 day'
                    + mod($1, 86400000000)::float8 * interval '1 microsecond' END
        FROM t WHERE t.base = 0),
    shown (name, text) AS (
        SELECT m.name, coalesce(m.of_day::text, CASE WHEN m.name = 'timestamp' THEN m.at::text
                                                     WHEN $3 THEN m.at::text || ' UTC' ELSE timezone('UTC', m.at)::text END)
        FROM moment m)
    SELECT coalesce((SELECT CASE WHEN $3 THEN format('%s %L', s.name, s.text) ELSE s.text END FROM shown s WHERE s.text IS NOT NULL),
                    $1::text);
    END;
COMMENT ON FUNCTION dp_rdr.bound_text IS 'a bound of a column as a value of its type, or as a constant of it';

CREATE FUNCTION dp_draft(schema regnamespace, unit_table regclass = NULL, people bigint = NULL, preset text = 'team',
                         OUT part text, OUT statement text, OUT open text)
    RETURNS SETOF record LANGUAGE C ROWS 200 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_draft IS
    'a psql script that protects the tables of a schema, from its catalogs alone: what it leaves open is yours to decide';

CREATE FUNCTION dp_settings(relation regclass, OUT item text, OUT name text, OUT value text, OUT call text)
    RETURNS SETOF record LANGUAGE C ROWS 30 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_settings IS
    'all that is set for a protected table, what is spent, who reads it; the calls, run in order, set it up again';

CREATE FUNCTION dp_about(view regclass, OUT item text, OUT name text, OUT value text)
    RETURNS SETOF record LANGUAGE C ROWS 30 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_about IS 'what the current user may ask of a restricted view, at which price and accuracy, and how often';

CREATE FUNCTION dp_remaining(query text, OUT answers bigint, OUT reason text) RETURNS record LANGUAGE C AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION dp_remaining IS 'how often a query would be answered now, and what ends it';

-- ---------------------------------------------------------------------------------------------------------------------
-- Rights: nothing in dp_rdr is for PUBLIC but what a restricted view needs. The dp_* functions check their caller.
-- ---------------------------------------------------------------------------------------------------------------------

-- Nor is anything for a role that ALTER DEFAULT PRIVILEGES names.
SELECT dp_rdr.run(format('REVOKE ALL ON %s %s FROM %s', o.kind, o.name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END))
FROM (SELECT 'SCHEMA', 'dp_rdr', nspacl, nspowner FROM pg_namespace WHERE nspname = 'dp_rdr'
      UNION ALL SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass::text, relacl, relowner
      FROM pg_class WHERE relnamespace = 'dp_rdr'::regnamespace AND relkind IN ('r', 'v', 'S')
      UNION ALL SELECT 'ROUTINE', oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner)), proowner
      FROM pg_proc WHERE pronamespace = 'dp_rdr'::regnamespace) o (kind, name, acl, owner),
  LATERAL (SELECT DISTINCT grantee FROM aclexplode(o.acl)) a WHERE a.grantee <> o.owner;
GRANT USAGE ON SCHEMA dp_rdr TO PUBLIC;
-- They show everybody the charges on his own tables: a grant to each controller would be DDL with our rights in his session.
GRANT SELECT ON dp_rdr.ledger, dp_rdr.spending, dp_rdr.denials TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.own_ledger(), dp_rdr.own_denials() TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.keepers(), dp_rdr.queue(), dp_rdr.charge_times() TO pg_monitor;
GRANT EXECUTE ON FUNCTION dp_rdr.deny(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.keep_cell() TO PUBLIC; -- the owner of a table makes a trigger of it
GRANT EXECUTE ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.release(text, numeric, float8, float8, float8, float8, boolean, integer, integer, integer, "any") TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.as_interval(numeric) TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.recognised(float8, float8, float8) TO PUBLIC;

-- The internal statement runs as the owner of the protected table, and the executor checks EXECUTE on every aggregate.
-- They tell a caller nothing about rows that he cannot read himself.
GRANT EXECUTE ON FUNCTION dp_rdr.cells(bytea, "any"), dp_rdr.cell(bytea, "any"), dp_rdr.parts(bytea, bytea) TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.is_other_node(text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION dp_rdr.value_digest(anyelement), dp_rdr.only_value(anyelement), dp_rdr.canonical(anyelement, integer),
    dp_rdr.is_short(anyelement) TO PUBLIC;
-- So do the total replacements, and the list that explains them.
SELECT dp_rdr.run(format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', f.replacement))
FROM (SELECT DISTINCT t.replacement FROM dp_rdr.total_functions() t WHERE t.replacement IS NOT NULL) f;
GRANT EXECUTE ON FUNCTION dp_rdr.up_to_size(anyelement, integer), dp_rdr.total_functions() TO PUBLIC;

-- Dumps these tables with the database. Rows of relations that are gone get numbers of nothing; where a role
-- was dropped they are left out. Suspensions stay without their role, and so do all rows of a role that was missing at a restore.
SELECT dp_rdr.run(format('SELECT pg_catalog.pg_extension_config_dump(%L, '''')', 'dp_rdr.' || t.name))
FROM unnest('{privacy_domain,partition,protected_table,public_table,restricted_view,column_bounds,column_groups,unit_limit,suspension,request_id_seq,'
            'odometer,odometer_share,odometer_cell,ledger_row,ledger_row_id_seq,denial_id_seq}'::text[]) t (name);
SELECT dp_rdr.run(format('SELECT pg_catalog.pg_extension_config_dump(%L, %L)', 'dp_rdr.' || t.name, format(
    'WHERE %1$s OPERATOR(pg_catalog.>=) 4026531840::pg_catalog.oid'
    ' OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid OPERATOR(pg_catalog.=) %1$s)', t.role)))
FROM (VALUES ('policy', 'grantee'), ('reviewer', 'reviewer'), ('request', 'requester')) t (name, role);
SELECT pg_catalog.pg_extension_config_dump('dp_rdr.denial',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname::pg_catalog.text OPERATOR(pg_catalog.=) role_name)');

DROP FUNCTION dp_rdr.run(text);
