// Partitions that are foreign tables: of postgres_fdw, on a server that the table's owner may connect to. All of it stands in public
// catalogs.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

bool is_foreign_table(Oid relation);
// Tells whether a list of tables has a foreign one.
bool has_foreign_table(const List *relations);

// Why a foreign table cannot be a part of a protected table of the owner's, and what to do about it; null: it can be.
const char *fault_of_foreign_part(Oid part, Oid owner, const char **remedy);

// The first foreign table of the list that names the same remote table of the same server as another one, so that each row
// would be counted twice; InvalidOid: none does. Two servers that are one cannot be told apart.
Oid repeated_foreign_part(const List *parts);

// Reads a column of the first row of one of Citus's catalogs that meets the keys. False: there is no such row, or no Citus.
bool read_citus(const char *name, ScanKeyData *keys, int nkeys, AttrNumber column, Datum *value);

// Says how Citus lays out a table. method: as in pg_dist_partition; 0: Citus does not know it.
struct Distribution {
    char method;
    AttrNumber column; // whose value decides about a row's shard; InvalidAttrNumber: none does
    uint32 group;      // of co-located tables, whose equal values are on one node
    bool copied;       // a reference table: each node has all rows
};
constexpr char by_hash = 'h', by_nothing = 'n';
Distribution distribution_of(Oid table);

// Whether it is one of Citus's tables: distributed, a reference table, or one that it only knows of.
bool is_known_to_citus(Oid table);
// Returns the shard of one of Citus's tables that has a single one, with a placement on this node: a reference table, or one that
// Citus only knows of. InvalidOid: none, or it has another one.
Oid shard_here(Oid table);
// Appends the table's shard here to its parts, locked: plans that Citus makes name it in the table's place.
List *with_shard(List *parts, Oid table);
// Whether Citus keeps the table's rows on other nodes.
bool is_on_other_nodes(Oid table);

// As in pg_foreign_server.
const char *server_name(Oid foreign_table);

} // namespace dp::catalog
