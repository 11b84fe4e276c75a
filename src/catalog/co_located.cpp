#include "catalog/co_located.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "catalog/relations.hpp"
#include "catalog/foreign_part.hpp"

namespace dp::catalog {

int unit_column_of_shards(const UnitPath *path, uint32 *group) {
    const Distribution laid_out = distribution_of(path->relation);
    if (laid_out.method != by_hash || laid_out.group == 0 || (*group != 0 && *group != laid_out.group))
        return -1;
    *group = laid_out.group;
    for (int i = 0; i < path->ncolumns; i++)
        if (path->columns[i] == laid_out.column) {
            if (path->direct)
                return i;
            const bool leads_on =
                path->parent != nullptr && distribution_of(path->parent_relation).column == path->parent_key[i];
            return leads_on ? unit_column_of_shards(path->parent, group) : -1;
        }
    return -1;
}

const char *remedy_of_shards(Oid relation) {
    const char *name = qualified_name(relation);
    return psprintf("Distribute %s by the unit's column and co-locate it with the other tables of these units: SELECT "
                    "alter_distributed_table(%s, distribution_column => ..., colocate_with => ...), then dp_refresh(). "
                    "Or keep a summary table with one row for each unit, distributed likewise, and protect that.",
                    name, quote_literal_cstr(name));
}

void check_whole(const UnitPath *path, const List *parts) {
    uint32 group = 0;
    if (!has_foreign_table(parts) && is_on_other_nodes(path->relation) && unit_column_of_shards(path, &group) >= 0)
        return;
    for (Oid part : border::each_oid(parts)) {
        const bool distributed = is_on_other_nodes(part);
        if (!is_foreign_table(part) && !distributed)
            continue;
        refuse_form(psprintf("a unit with several rows of %s is not supported: other servers keep %s",
                             qualified_name(path->relation),
                             part == path->relation ? "its rows" : qualified_name(part)),
                    distributed ? remedy_of_shards(path->relation)
                                : "Keep a summary table with one row for each unit on those servers, make foreign partitions "
                                  "of it, and protect that without a unit. Or move the rows to this server, or to nodes of Citus.");
    }
}

} // namespace dp::catalog
