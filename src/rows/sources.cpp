#include "rows/sources.hpp"

#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/public_table.hpp"
#include "border/walk.hpp"
#include "query/limits.hpp"
#include "rows/canonical.hpp"
#include "rows/from_clause.hpp"
#include "rows/nodes.hpp"
#include "rows/unit_rows.hpp"
#include "rows/public_values.hpp"

namespace dp::rows {

// ---- links ---------------------------------------------------------------------------------------------------------

static Var *column_of(Oid relation, int varno, AttrNumber attno) {
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, attno, &type, &typmod, &collation);
    return makeVar(varno, attno, type, typmod, collation, 0);
}

// Returns the column as the operators of its default btree class take it.
static Node *as_compared(const Var *column, const TypeCacheEntry *type) {
    Node *node = reinterpret_cast<Node *>(copyObject(const_cast<Var *>(column)));
    if (column->vartype == type->btree_opintype)
        return node;
    return reinterpret_cast<Node *>(makeRelabelType(reinterpret_cast<Expr *>(node), type->btree_opintype, -1,
                                                    column->varcollid, COERCE_IMPLICIT_CAST));
}

// Of one type, or of two of one family: so equalities with constants, and with each other, are transitive. What the planner
// concludes from a link and from what an analyst compares with its columns is what the link says (architecture.md, 3.6).
static Node *equality(const Var *left, const Var *right) {
    TypeCacheEntry *of_left = lookup_type_cache(left->vartype, TYPECACHE_BTREE_OPFAMILY);
    TypeCacheEntry *of_right = lookup_type_cache(right->vartype, TYPECACHE_BTREE_OPFAMILY);
    Oid equals = of_left->btree_opf != of_right->btree_opf
                     ? InvalidOid
                     : get_opfamily_member(of_left->btree_opf, of_left->btree_opintype, of_right->btree_opintype,
                                           BTEqualStrategyNumber);
    if (!OidIsValid(equals))
        elog(ERROR, "columns of a path to a unit cannot be compared");
    auto *link = reinterpret_cast<OpExpr *>(
        make_opclause(equals, BOOLOID, false, reinterpret_cast<Expr *>(as_compared(left, of_left)),
                      reinterpret_cast<Expr *>(as_compared(right, of_right)), InvalidOid, left->varcollid));
    set_opfuncid(link);
    return reinterpret_cast<Node *>(link);
}

static Node *is_there(const Var *column) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(copyObject(const_cast<Var *>(column)));
    test->nulltesttype = IS_NOT_NULL;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

// Long texts are never fetched: each scan leaves them out before its rows are joined, hashed or sorted.
static List *with_short(List *conditions, const Var *column) {
    Node *condition = short_key_condition(reinterpret_cast<Node *>(const_cast<Var *>(column)));
    return condition == nullptr ? conditions : lappend(conditions, condition);
}

static List *step_conditions(const catalog::UnitPath *at, int varno, int of_parent) {
    List *conditions = NIL;
    for (int i = 0; i < at->ncolumns; i++) {
        Var *from = column_of(at->relation, varno, at->columns[i]);
        Var *to = column_of(at->parent->relation, of_parent, at->parent_key[i]);
        conditions = with_short(with_short(lappend(conditions, equality(from, to)), from), to);
    }
    return conditions;
}

// The parent of a row, if it is a source on no nullable side that WHERE links to it; 0: it is none, or not linked.
static int joined_parent(const Question *question, const query::Joined *joined, const catalog::UnitPath *at,
                         int varno) {
    for (int i = 0; joined != nullptr && i < question->nsources; i++) {
        const query::Source *source = question->sources[i].source;
        if (question->sources[i].relation == at->parent_relation && !source->nullable && source->varno != varno &&
            query::are_equated(joined->equalities, nullptr, at->ncolumns, varno, at->columns, source->varno,
                               at->parent_key))
            return source->varno;
    }
    return 0;
}

// Returns how the rows of one source find their units. entries: how many places the range table has; tables that are read beside
// them stand behind. joined: null where the source stands alone.
static Units *units_of(const Question *question, const catalog::UnitPath *path, int varno, int entries,
                       const query::Joined *joined) {
    auto *units = static_cast<Units *>(palloc0(sizeof(Units)));
    units->path = path;
    units->joined = joined;
    List *conditions = NIL;
    const catalog::UnitPath *at = path;
    for (; !at->direct; at = at->parent) {
        int parent = joined_parent(question, joined, at, varno);
        if (parent == 0) {
            units->ancestors = lappend_oid(units->ancestors, at->parent->relation);
            parent = entries + list_length(units->ancestors);
        }
        conditions = list_concat(conditions, step_conditions(at, varno, parent));
        varno = parent;
    }
    for (int i = 0; i < at->ncolumns; i++) {
        Var *column = column_of(at->relation, varno, at->columns[i]);
        units->values = lappend(units->values, column);
        conditions = with_short(lappend(conditions, is_there(column)), column);
    }
    units->links = reinterpret_cast<Node *>(make_ands_explicit(conditions));
    units->clipped = !path->keyed || joined != nullptr;
    return units;
}

// ---- opening -------------------------------------------------------------------------------------------------------

static int compare_oids(const ListCell *a, const ListCell *b) {
    return lfirst_oid(a) < lfirst_oid(b) ? -1 : lfirst_oid(a) > lfirst_oid(b) ? 1 : 0;
}

// In one order for all. Held to the end of the transaction: what was checked is what is read.
static void lock_in_order(List *relations) {
    list_sort(relations, compare_oids);
    Oid last = InvalidOid;
    ListCell *cell;
    foreach (cell, relations) {
        if (lfirst_oid(cell) != last)
            LockRelationOid(lfirst_oid(cell), AccessShareLock);
        last = lfirst_oid(cell);
    }
}

static catalog::Settings *open_settings(const catalog::Reading &reading, Oid view, Oid relation) {
    catalog::Settings *settings = catalog::read_settings(reading, view);
    if (settings == nullptr || settings->relation != relation)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not a registered restricted view", catalog::qualified_name(view)),
                        errhint("Restricted views are made with dp_protect().")));
    return settings;
}

static void check_one_domain(const catalog::Settings *first, const catalog::Settings *other) {
    if (memcmp(&first->id, &other->id, UUID_LEN) != 0)
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("a join of %s and %s is not supported: their people have different odometers", first->view_name,
                    other->view_name),
             errhint("Tables of the same people are joined where the controller has said so, by dp_protect(.., unit "
                     "=> ..), dp_set_unit() or dp_join_domains(). Else ask each by itself, and join the answers.")));
    if (first->unit == nullptr || other->unit == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("a join of %s with %s is not supported: each row of it is a person of its own",
                        first->view_name, first->view == other->view ? "itself" : other->view_name),
                 errhint("The controller declares whose rows they are with dp_set_unit(%s, 'key column'); where no "
                         "unique index covers that column, with max_rows => ... as well.",
                         quote_literal_cstr(first->unit == nullptr ? first->relation_name : other->relation_name))));
}

static void check_declared(const catalog::Reading &reading, const catalog::Settings *settings, Oid relation) {
    const char *name = catalog::qualified_name(relation);
    if (!catalog::is_public_table(reading, relation, settings->id))
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("%s is not a public table for %s", name, settings->view_name),
                 errhint("The controller declares it with dp_set_public(%s, %s).", quote_literal_cstr(name),
                         quote_literal_cstr(settings->relation_name))));
    if (settings->unit == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("a join of %s with public table %s is not supported: each row of it is a person of its own",
                        settings->view_name, name),
                 errhint("The controller declares whose rows they are with dp_set_unit(%s, 'key column'); where no "
                         "unique index covers that column, with max_rows => ... as well.",
                         quote_literal_cstr(settings->relation_name))));
}

void open_sources(const catalog::Reading &reading, Question *question) {
    const query::Leaf *leaf = question->leaf;
    List *relations = NIL;
    question->nsources = leaf->nsources;
    question->sources = static_cast<Source *>(palloc0(sizeof(Source) * leaf->nsources));
    for (int i = 0; i < leaf->nsources; i++) {
        Source *source = &question->sources[i];
        source->source = &leaf->sources[i];
        source->relation = leaf->sources[i].is_public ? leaf->sources[i].relation
                                                      : catalog::table_of_facade(leaf->sources[i].relation);
        relations = lappend_oid(relations, source->relation);
    }
    lock_in_order(relations);
    for (int i = 0; i < leaf->nsources; i++) {
        Source *source = &question->sources[i];
        if (source->source->is_public)
            continue;
        source->settings = open_settings(reading, source->source->relation, source->relation);
        if (question->settings == nullptr) {
            // Its versions become those of all.
            question->settings = static_cast<catalog::Settings *>(palloc(sizeof(catalog::Settings)));
            *question->settings = *source->settings;
        } else {
            check_one_domain(question->settings, source->settings);
            catalog::join_settings(question->settings, source->settings);
        }
    }
    for (int i = 0; i < leaf->nsources; i++)
        if (leaf->sources[i].is_public)
            check_declared(reading, question->settings, question->sources[i].relation);
}

// ---- checks --------------------------------------------------------------------------------------------------------

static const List *lock_and_check(catalog::Settings *settings) {
    catalog::UnitPath *path = settings->unit;
    if (path == nullptr)
        return catalog::check_protectable(settings->relation);
    List *checked = catalog::check_protectable(settings->relation);
    return list_concat_unique_oid(checked, catalog::check_unit_path(path));
}

static void check_here(const Source &source, const List *checked) {
    ListCell *cell;
    foreach (cell, checked)
        if (catalog::is_foreign_table(lfirst_oid(cell)) || catalog::is_on_other_nodes(lfirst_oid(cell)))
            ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                            errmsg("a join with %s is not supported: other servers keep %s", source.settings->view_name,
                                   catalog::qualified_name(lfirst_oid(cell))),
                            errhint("Join restricted views of tables that this server keeps.")));
}

// All of them, and all ancestors, are locked before any is looked at.
static const List *lock_and_check_all(const Question *question) {
    if (!is_joined(question))
        return lock_and_check(question->sources[0].settings);
    List *relations = NIL, *checked = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        relations = lappend_oid(relations, source.relation);
        if (source.settings != nullptr)
            relations = list_concat(relations, catalog::hidden_ancestors(source.settings->unit));
    }
    lock_in_order(relations);
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.settings == nullptr) {
            checked =
                list_concat_unique_oid(checked, catalog::check_public(source.relation, question->settings->owner));
            continue;
        }
        const List *of_source = lock_and_check(source.settings);
        check_here(source, of_source);
        checked = list_concat_unique_oid(checked, of_source);
    }
    return checked;
}

// Holds counts that were made already.
namespace {
struct Count {
    Oid relation;
    Bitmapset *columns;
    int64 rows;
};
struct Counts {
    const catalog::Reading *reading;
    List *known; // Count *
};
} // namespace

static int64 count_equal(const query::Linked &source, int n, const AttrNumber *columns) {
    auto *counts = static_cast<Counts *>(source.context);
    Bitmapset *of = nullptr;
    for (int i = 0; i < n; i++)
        of = bms_add_member(of, columns[i]);
    ListCell *cell;
    foreach (cell, counts->known) {
        auto *count = static_cast<const Count *>(lfirst(cell));
        if (count->relation == source.relation && bms_equal(count->columns, of))
            return count->rows;
    }
    auto *distinct = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * n));
    int ndistinct = 0;
    for (int column = -1; (column = bms_next_member(of, column)) >= 0;)
        distinct[ndistinct++] = static_cast<AttrNumber>(column);
    auto *count = static_cast<Count *>(palloc(sizeof(Count)));
    *count = Count{source.relation, of,
                   largest_multiplicity(*counts->reading, source.relation, source.source->reader, ndistinct, distinct, false)};
    counts->known = lappend(counts->known, count);
    return count->rows;
}

static Node *one_item_of(const query::Linked *sources, int n) {
    List *items = NIL;
    for (int i = 0; i < n; i++) {
        auto *ref = makeNode(RangeTblRef);
        ref->rtindex = sources[i].source->varno;
        items = lappend(items, ref);
    }
    return query::one_item(items);
}

// Private sources of a sub-SELECT are linked to those of FROM as if these were kept by an outer join with them: whether it has a row is
// a matter of one unit's. So are several of any kind, each of which something must lead to.
static void check_semi_join(const Question *question, int number, const query::Linked *linked, const List *from,
                            const List *equalities) {
    auto *semi = static_cast<const query::SemiJoin *>(list_nth(question->leaf->semi_joins, number));
    const query::Leaf *leaf = question->leaf;
    if (semi->nsources == 1 && linked[semi->source].path == nullptr)
        return;
    const int n = leaf->njoined + semi->nsources;
    auto *all = static_cast<query::Linked *>(palloc(sizeof(query::Linked) * n));
    memcpy(all, linked, sizeof(query::Linked) * leaf->njoined);
    memcpy(all + leaf->njoined, linked + semi->source, sizeof(query::Linked) * semi->nsources);
    for (int i = 0; i < n; i++)
        all[i].multiplicity = nullptr;
    auto *join = makeNode(JoinExpr);
    join->jointype = JOIN_LEFT;
    join->larg = query::one_item(list_copy(from));
    join->rarg = one_item_of(linked + semi->source, semi->nsources);
    join->quals = map_to_tables(static_cast<Node *>(list_nth(question->links.conditions, number)), question);
    List *items = list_make1(join), *by = query::find_equalities(leaf, items, nullptr);
    (void)query::join_sources(all, n, items, list_concat_copy(equalities, by));
}

static void check_semi_joins(const Question *question, const query::Linked *linked, const List *from,
                             const List *equalities) {
    for (int i = 0; i < list_length(question->leaf->semi_joins); i++)
        check_semi_join(question, i, linked, from, equalities);
}

// reading: where rows of public tables are counted; null where it does not matter how many.
static Units *joined_units(const Question *question, const catalog::Reading *reading) {
    auto *counts = static_cast<Counts *>(palloc0(sizeof(Counts)));
    counts->reading = reading;
    const query::Leaf *leaf = question->leaf;
    const int n = leaf->njoined;
    auto *linked = static_cast<query::Linked *>(palloc0(sizeof(query::Linked) * question->nsources));
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        linked[i].source = source.source;
        linked[i].relation = source.relation;
        linked[i].path = source.settings == nullptr ? nullptr : source.settings->unit;
        linked[i].name = catalog::qualified_name(source.source->relation);
        linked[i].multiplicity = reading == nullptr ? nullptr : count_equal;
        linked[i].context = counts;
    }
    List *from = static_cast<List *>(copyObject(question->links.from));
    ListCell *cell;
    foreach (cell, query::joins_of(from)) {
        auto *join = lfirst_node(JoinExpr, cell);
        join->quals = map_to_tables(join->quals, question);
    }
    List *equalities = query::find_equalities(leaf, from, map_to_tables(question->links.where, question));
    const query::Joined *joined = query::join_sources(linked, n, from, equalities);
    check_semi_joins(question, linked, from, equalities);
    const Source &anchor = question->sources[joined->anchor];
    return units_of(question, anchor.settings->unit, anchor.source->varno, list_length(leaf->query->rtable), joined);
}

static Units *units_of_all(const Question *question, const catalog::Reading *reading) {
    if (is_joined(question))
        return joined_units(question, reading);
    const catalog::UnitPath *path = question->sources[0].settings->unit;
    return path == nullptr ? nullptr : units_of(question, path, 1, 1, nullptr);
}

static AttrNumber *same_columns(Oid relation) {
    const int n = natts_of(relation);
    auto *map = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * (n + 1)));
    for (int i = 1; i <= n; i++)
        map[i] = static_cast<AttrNumber>(i);
    return map;
}

static void map_columns(Question *question) {
    for (int i = 0; i < question->nsources; i++) {
        Source *source = &question->sources[i];
        source->map = source->settings != nullptr ? catalog::map_columns(source->source->relation, source->relation)
                                                  : same_columns(source->relation);
    }
}

static Units *resolve(Question *question, const catalog::Reading *reading) {
    question->checked = lock_and_check_all(question);
    question->remote = catalog::has_foreign_table(question->checked);
    map_columns(question);
    return units_of_all(question, reading);
}

Units *resolve_sources(const catalog::Reading &reading, Question *question) {
    return resolve(question, &reading);
}

Units *resolve_table(Question *question) {
    auto *source = static_cast<query::Source *>(palloc0(sizeof(query::Source)));
    source->relation = question->settings->view;
    source->varno = 1;
    question->nsources = 1;
    question->sources = static_cast<Source *>(palloc(sizeof(Source)));
    *question->sources = Source{source, question->settings, question->settings->relation, nullptr};
    return resolve(question, nullptr);
}

const List *check_sources(const Question *question) {
    const List *checked = lock_and_check_all(question);
    if (question->units == nullptr)
        return checked;
    // A limit of rows that was charged for holds, also where a key has come since.
    const Units *now = units_of_all(question, nullptr);
    if (!equal(now->links, question->units->links) || !equal(now->values, question->units->values) ||
        !equal(now->ancestors, question->units->ancestors) || (now->clipped && !question->units->clipped) ||
        has_lost_carried(question, now))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the unit of a row of %s changed while it was asked", question->settings->relation_name),
                        errhint("Its charge stays. Ask again.")));
    return checked;
}

Query *select_from_source(const Question *question, int source, List **values) {
    const Source &alone = question->sources[source];
    const Units *units = units_of(question, alone.settings->unit, 1, 1, nullptr);
    Query *query = make_aggregation(relation_entry(alone.relation, true), units->links);
    add_ancestors(query, units->ancestors);
    *values = units->values;
    return query;
}

// ---- columns of joined rows ----------------------------------------------------------------------------------------

static bool collect_columns(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Var))
        return border::walk_expression(node, collect_columns, context);
    auto **columns = static_cast<Bitmapset **>(context);
    *columns = bms_add_member(*columns, query::column_number(castNode(Var, node)));
    return false;
}

// Conditions on several sources, of which each may be sorted by what it compares: that is a column more.
static int count_comparisons(Node *condition) {
    check_stack_depth();
    if (condition == nullptr)
        return 0;
    if (!IsA(condition, List) && !is_andclause(condition))
        return bms_membership(pull_varnos_of(condition)) == BMS_MULTIPLE ? 1 : 0;
    int n = 0;
    ListCell *cell;
    foreach (cell, IsA(condition, List) ? reinterpret_cast<List *>(condition) : castNode(BoolExpr, condition)->args)
        n += count_comparisons(static_cast<Node *>(lfirst(cell)));
    return n;
}

static int count_all_comparisons(const Question *question) {
    int n = count_comparisons(question->where) +
            count_comparisons(reinterpret_cast<Node *>(query::conditions_of(question->from)));
    ListCell *cell;
    foreach (cell, question->semi_joins)
        n += count_comparisons(static_cast<const query::SemiJoin *>(lfirst(cell))->condition);
    return n;
}

// The joins carry what stands above them: all columns that are named somewhere, those of the unit, and what they are sorted by.
void check_joined_columns(const Question *question) {
    Bitmapset *columns = nullptr;
    (void)collect_columns(expressions_of(question), &columns);
    // With the unit, which may stand in a table behind all that have numbers.
    constexpr int of_path = 2 * catalog::max_unit_columns * catalog::max_unit_steps;
    query::check_joined(bms_num_members(columns) + of_path + count_all_comparisons(question));
}

} // namespace dp::rows
