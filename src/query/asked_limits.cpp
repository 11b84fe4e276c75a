#include "query/asked_limits.hpp"

#include "border/each.hpp"
#include "border/listed.hpp"
#include "border/refuse.hpp"
#include "catalog/access.hpp"
#include "catalog/facade.hpp"
#include "query/make.hpp"

namespace dp::query {

// ---- limits --------------------------------------------------------------------------------------------------------

int checked_limit(int value, const char *name) {
    if (value < 1 || value > catalog::max_declared_rows)
        refuse_value(psprintf("%s must be between 1 and %d, not %d", name, catalog::max_declared_rows, value),
                     psprintf("It is how many of one person's %s count in full: %s => 20, for instance.",
                              strcmp(name, "max_groups") == 0           ? "groups"
                              : strcmp(name, "max_rows_per_group") == 0 ? "rows in each group"
                                                                        : "rows",
                              name));
    return value;
}

void check_limits(const Limits &limits) {
    const struct {
        int value;
        const char *name, *why;
    } asked[] = {{limits.max_rows, "max_rows", ""},
                 {limits.max_groups, "max_groups", "is in no more groups than rows"},
                 {limits.max_rows_per_group, "max_rows_per_group", "has no more rows in a group than in all"}};
    for (const auto &one : asked) {
        if (one.value != 0)
            (void)checked_limit(one.value, one.name);
        if (limits.max_rows != 0 && one.value > limits.max_rows)
            refuse_value(psprintf("%s of %d is more than max_rows of %d", one.name, one.value, limits.max_rows),
                         psprintf("A person %s: leave %s out, or pass less.", one.why, one.name));
    }
}

static int set_max_rows, set_max_groups;

void define_limit_settings() {
    const char *const where =
        "Of a person who may have several rows, as the argument of dp_query; 0: what is declared.";
    DefineCustomIntVariable("dp_rdr.max_rows", "How many rows of one person count in an answer.", where, &set_max_rows,
                            0, 0, catalog::max_declared_rows, PGC_USERSET, 0, nullptr, nullptr, nullptr);
    DefineCustomIntVariable("dp_rdr.max_groups", "In how many groups of an answer one person counts.", where,
                            &set_max_groups, 0, 0, catalog::max_declared_rows, PGC_USERSET, 0, nullptr, nullptr,
                            nullptr);
}

Limits or_as_set(Limits limits) {
    limits.by_setting = limits.max_rows == 0 && limits.max_groups == 0 && limits.max_rows_per_group == 0;
    const int asked = limits.max_rows;
    if (asked == 0)
        limits.max_rows = set_max_rows;
    if (limits.max_groups == 0)
        limits.max_groups = asked == 0 ? set_max_groups : Min(set_max_groups, asked);
    return limits;
}

// ---- counting units ------------------------------------------------------------------------------------------------

// COLLATE is a node of its own until constants are folded. Under a deterministic collation only equal texts are equal.
static Node *without_collate(Node *node) {
    if (!IsA(node, CollateExpr) || !get_collation_isdeterministic(castNode(CollateExpr, node)->collOid))
        return node;
    auto *argument = reinterpret_cast<Node *>(castNode(CollateExpr, node)->arg);
    const Oid collation = exprCollation(argument);
    return OidIsValid(collation) && get_collation_isdeterministic(collation) ? argument : node;
}

static bool add_column(Node *node, List **columns) {
    node = without_equal_relabelings(without_collate(node));
    if (!IsA(node, Var) || castNode(Var, node)->varattno <= 0 || castNode(Var, node)->varlevelsup != 0)
        return false;
    *columns = list_append_unique_int(*columns, column_number(castNode(Var, node)));
    return true;
}

List *counted_columns(const Aggref *call) {
    if (call->aggfnoid != F_COUNT_ANY || call->aggdistinct == NIL || list_length(call->args) != 1)
        return NIL;
    List *columns = NIL;
    Node *argument = without_equal_relabelings(reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr));
    if (!IsA(argument, RowExpr))
        return add_column(argument, &columns) ? columns : NIL;
    for (auto *part : border::each<Node>(castNode(RowExpr, argument)->args))
        if (!add_column(part, &columns))
            return NIL;
    return columns;
}

static bool names_column(Oid view, const List *columns, const char *name) {
    ListCell *cell;
    foreach (cell, columns)
        if (strcmp(get_attname(view, attno_of(static_cast<AttrNumber>(lfirst_int(cell))), false), name) == 0)
            return true;
    return false;
}

bool are_unit(const catalog::UnitPath *path, Oid view, const List *columns) {
    if (path == nullptr || !path->direct || list_length(columns) != path->ncolumns)
        return false;
    for (int i = 0; i < path->ncolumns; i++)
        if (!names_column(view, columns, path->names[i]))
            return false;
    return true;
}

static const catalog::UnitPath *path_now(Oid view) {
    StringInfo versions = makeStringInfo();
    catalog::Reading reading = catalog::Reading::open();
    const catalog::UnitPath *path = catalog::read_unit_path(reading, catalog::table_of_facade(view), versions);
    reading.close();
    return path;
}

bool count_units_now(Oid view, const List *columns) {
    return columns != NIL && are_unit(path_now(view), view, columns);
}

bool has_unit_now(Oid view) {
    return path_now(view) != nullptr;
}

UnitColumns unit_columns_now(Oid view) {
    const catalog::UnitPath *path = path_now(view);
    UnitColumns found = {NIL, path != nullptr && path->direct, path == nullptr ? 0 : path->ntypes};
    for (int i = 0; path != nullptr && i < path->ncolumns; i++) {
        const AttrNumber attno = get_attnum(view, path->names[i]);
        if (attno == InvalidAttrNumber)
            return UnitColumns{};
        found.columns = lappend_int(found.columns, attno);
    }
    return found;
}

const char *count_of_units(const catalog::UnitPath *path, const char *source) {
    if (path == nullptr || !path->direct)
        return nullptr;
    const char *columns = border::listed(
        0, path->ncolumns, [&](int i) { return psprintf("%s%s", source, quote_identifier(path->names[i])); });
    return psprintf(path->ncolumns > 1 ? "count(DISTINCT (%s))" : "count(DISTINCT %s)", columns);
}

const char *count_of_units_now(Oid view, const char *source) {
    return count_of_units(path_now(view), source);
}

const char *alias_of(const Leaf *leaf, const Source &source) {
    const auto *entry = rt_fetch(source.varno, leaf->query->rtable);
    return leaf->nsources > 1 ? psprintf("%s.", quote_identifier(entry->eref->aliasname)) : "";
}

List *numbers_of(const Source &source, const List *columns) {
    List *numbers = NIL;
    ListCell *cell;
    foreach (cell, columns)
        numbers = lappend_int(numbers, column_number(source.varno, static_cast<AttrNumber>(lfirst_int(cell))));
    return numbers;
}

bool are_unit_of_people(const Source &source, const List *columns) {
    const List *numbers = numbers_of(source, source.people->per_unit->unit);
    return columns != NIL && list_difference_int(numbers, columns) == NIL &&
           list_difference_int(columns, numbers) == NIL;
}

// ---- columns of tables ----------------------------------------------------------------------------------------------

bool is_table_column(const Leaf *leaf, Node *node) {
    const Source *source = IsA(node, Var) ? source_of(leaf, static_cast<int>(castNode(Var, node)->varno)) : nullptr;
    return IsA(node, Var) && castNode(Var, node)->varno != unit_varno &&
           (source == nullptr || source->people == nullptr);
}

Var *argument_column(const Leaf *leaf, Node *argument) {
    argument = without_equal_relabelings(argument);
    return is_table_column(leaf, argument) ? castNode(Var, argument) : nullptr;
}

} // namespace dp::query
