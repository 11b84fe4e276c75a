// Which charges a role can have had the answers of.
#pragma once

// Begins a statement with the relation `had`: by number and name, the role $2 and all roles that it is in. Where one of them asked,
// or its policy was used, the role can have asked itself, been given the answer again (formulas.md 4.3) or fetched it (4.4).
#define DP_HAD                                                                                                         \
    "WITH had AS (SELECT array_agg(r.oid) AS oids, array_agg(r.rolname::text) AS names FROM pg_roles r "               \
    "WHERE pg_has_role($2, r.oid, 'MEMBER'))"
// Whether that goes for l, a row of the ledger. Names, as numbers are others where a dump was restored; numbers, as a role that was
// renamed has had what it had.
#define DP_HAS_HAD                                                                                                     \
    "(ARRAY[l.grantee_oid, l.role_oid, l.session_oid] && (SELECT oids FROM had) "                                      \
    "OR ARRAY[l.grantee, l.role_name, l.session_role] && (SELECT names FROM had))"
