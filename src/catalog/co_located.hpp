// Tables that Citus distributes by the unit: all rows of a unit are in one shard, which answers one statement under one snapshot.
#pragma once

#include "catalog/unit_path.hpp"

namespace dp::catalog {

// Returns which column of the unit decides, in all tables of the path, about the shard of a row (Citus): all rows of a unit are in
// one shard then, with those that they lead to. -1: none does. group: of co-located tables, 0 for any; receives theirs.
int unit_column_of_shards(const UnitPath *path, uint32 *group);
// Says what helps where none does.
const char *remedy_of_shards(Oid relation);
// 0A000 where other servers keep some of these tables, which are those of the path and their parts, unless all rows of a unit are
// together there.
void check_whole(const UnitPath *path, const List *parts);

} // namespace dp::catalog
