#include "query/levels.hpp"

#include "border/each.hpp"
#include "catalog/facade.hpp"
#include "catalog/public_table.hpp"
#include "query/hints.hpp"
#include "query/limits.hpp"

namespace dp::query {

bool aggregates(const Query *query) {
    return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL;
}

bool keeps_rows(const Query *query) {
    return query->hasWindowFuncs && !aggregates(query);
}

CommonTableExpr *find_cte(const RangeTblEntry *entry, const Level *level, const Level **owner) {
    for (Index up = entry->ctelevelsup; up > 0 && level != nullptr; up--)
        level = level->outer;
    if (level == nullptr)
        return nullptr;
    *owner = level;
    for (auto *cte : border::each<CommonTableExpr>(level->query->cteList))
        if (strcmp(cte->ctename, entry->ctename) == 0)
            return cte;
    return nullptr;
}

Level query_of(const RangeTblEntry *entry, const Level *level) {
    if (entry->rtekind == RTE_SUBQUERY)
        return Level{entry->subquery, level};
    const Level *owner = nullptr;
    CommonTableExpr *cte =
        entry->rtekind == RTE_CTE && !entry->self_reference ? find_cte(entry, level, &owner) : nullptr;
    if (cte == nullptr || castNode(Query, cte->ctequery)->commandType != CMD_SELECT)
        return Level{nullptr, nullptr};
    return Level{castNode(Query, cte->ctequery), owner};
}

// `seen`: queries of CTEs that are known to read none. Each is looked at once, however many refer to it. The depth is limited before
// anything that takes time or memory for each level is done.
static bool reads_rows_of(const Level *level, int depth, List **seen) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    for (auto *entry : border::each<RangeTblEntry>(level->query->rtable)) {
        if (OidIsValid(catalog::expanded_facade(entry))) {
            check_depth(depth);
            return true;
        }
        Level below = query_of(entry, level);
        if (below.query == nullptr || list_member_ptr(*seen, below.query))
            continue;
        // HAVING without an aggregate makes one row of whatever stands below.
        const bool grouped = aggregates(below.query) || below.query->havingQual != nullptr;
        if (reads_rows_of(&below, depth + 1, seen) && (!grouped || (!entry->lateral && has_rows_of_units(&below))))
            return true;
        if (entry->rtekind == RTE_CTE)
            *seen = lappend(*seen, below.query);
    }
    return false;
}

bool reads_rows(const Level *level) {
    List *seen = NIL;
    return reads_rows_of(level, 1, &seen);
}

// NULL, or 0 as the parser leaves it: an integer that is made a bigint.
static bool leaves_all(Node *count, bool zero) {
    if (count != nullptr && IsA(count, FuncExpr) && castNode(FuncExpr, count)->funcid == F_INT8_INT4)
        count = static_cast<Node *>(linitial(castNode(FuncExpr, count)->args));
    if (count == nullptr || !IsA(count, Const))
        return count == nullptr;
    const auto *value = castNode(Const, count);
    return value->constisnull || (zero && value->consttype == INT4OID && DatumGetInt32(value->constvalue) == 0);
}

bool is_cut(const Query *query) {
    return !leaves_all(query->limitCount, false) || !leaves_all(query->limitOffset, true);
}

// ---- what an entry is ----------------------------------------------------------------------------------------------

// A public table is read with its parts: the leaf says so of all.
static bool is_public_source(const RangeTblEntry *entry) {
    if (entry->rtekind != RTE_RELATION || entry->tablesample != nullptr || !catalog::is_public_table(entry->relid))
        return false;
    refuse_if(!entry->inh, "ONLY", only_remedy, nullptr, -1);
    return true;
}

// Stands in a leaf under its own name: whoever may read it need not read the table (query/public_view).
static Oid expanded_public_view(const RangeTblEntry *entry) {
    Oid view = catalog::expanded_view(entry);
    return OidIsValid(view) && catalog::public_view(view) != nullptr ? view : InvalidOid;
}

Oid source_of_entry(const RangeTblEntry *entry) {
    Oid source = catalog::expanded_facade(entry);
    if (!OidIsValid(source))
        source = expanded_public_view(entry);
    return OidIsValid(source) ? source : is_public_source(entry) ? entry->relid : InvalidOid;
}

} // namespace dp::query
