#include "rows/joined_sources.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/walk.hpp"
#include "catalog/co_located.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/public_table.hpp"
#include "query/exists.hpp"
#include "query/from.hpp"
#include "query/leaf_rows.hpp"
#include "query/limits.hpp"
#include "rows/nodes.hpp"
#include "rows/public_values.hpp"
#include "rows/people_sources.hpp"
#include "rows/texts.hpp"
#include "rows/unit_windows.hpp"
#include "rows/unit_links.hpp"

namespace dp::rows {

// ---- checks --------------------------------------------------------------------------------------------------------

void check_one_domain(const catalog::Settings *first, const catalog::Settings *other) {
    if (memcmp(&first->id, &other->id, UUID_LEN) != 0)
        refuse_form(psprintf("a join of %s and %s is not supported: their people have different odometers",
                             first->view_name, other->view_name),
                    "Tables of the same people are joined where the controller has said so, by dp_protect(.., unit "
                    "=> ..), dp_set_unit() or dp_join_domains(). Else ask each by itself, and join the answers.");
    if (first->unit == nullptr || other->unit == nullptr)
        refuse_form(psprintf("a join of %s with %s is not supported: each row of it is a person of its own",
                             first->view_name, first->view == other->view ? "itself" : other->view_name),
                    psprintf("The controller declares whose rows they are with dp_set_unit(%s, 'key column'); where no "
                             "unique index covers that column, with max_rows => ... as well.",
                             quote_literal_cstr(first->unit == nullptr ? first->relation_name : other->relation_name)));
}

void check_declared(const catalog::Reading &reading, const catalog::Settings *settings, const query::Source &source) {
    const Oid relation = source.relation;
    const char *name = query::name_of_source(relation, source.rows);
    if (source.rows == nullptr && !catalog::is_public_table(reading, relation, settings->id))
        refuse_state(psprintf("%s is not a public table for %s", name, settings->view_name),
                     psprintf("The controller declares it with dp_set_public(%s, %s).", quote_literal_cstr(name),
                              quote_literal_cstr(settings->relation_name)));
    if (settings->unit == nullptr)
        refuse_form(
            psprintf("a join of %s with %s%s is not supported: each row of it is a person of its own", settings->view_name,
                     source.rows == nullptr ? "public table " : "the rows of ", name),
            psprintf("The controller declares whose rows they are with dp_set_unit(%s, 'key column'); where no "
                     "unique index covers that column, with max_rows => ... as well.",
                     quote_literal_cstr(settings->relation_name)));
}

static void check_public_source(const Question *question, Oid relation) {
    if (catalog::distribution_of(relation).copied)
        return;
    const char *name = catalog::qualified_name(relation);
    refuse_form(psprintf("a join of %s with public table %s is not supported: other nodes do not have its rows",
                         question->settings->view_name, name),
                psprintf("SELECT create_reference_table(%s) gives them to each node.", quote_literal_cstr(name)));
}

namespace {
// Where Citus keeps the rows: what all tables of a question have in common, once one of them was met.
struct Together {
    uint32 group; // of co-located tables; 0: none was met
    int column;   // of the unit
};
} // namespace

// Either this server has all rows; or Citus has those of a unit together, in each table by the same column of the unit, and the public
// ones on each node. Rows that are passed are a part of the statement. elsewhere: a table whose rows others have.
static void check_together(const Question *question, const List *checked, Oid elsewhere, Together *together) {
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr) {
            check_together(source.people, checked, elsewhere, together);
            continue;
        }
        if (source.settings == nullptr) {
            if (source.source->rows == nullptr)
                check_public_source(question, source.relation);
            continue;
        }
        const bool first = together->group == 0;
        const int column = catalog::has_foreign_table(checked)
                               ? -1
                               : catalog::unit_column_of_shards(source.settings->unit, &together->group);
        if (column < 0 || (!first && column != together->column))
            refuse_form(psprintf("a join with %s is not supported: other servers keep %s", source.settings->view_name,
                                 catalog::qualified_name(elsewhere)),
                        catalog::has_foreign_table(checked) ? "Join restricted views of tables that this server keeps."
                                                            : catalog::remedy_of_shards(source.relation));
        together->column = column;
    }
}

static Oid table_elsewhere(const List *checked) {
    Oid elsewhere = InvalidOid;
    for (Oid table : border::each_oid(checked))
        if (catalog::is_foreign_table(table) || catalog::is_on_other_nodes(table))
            elsewhere = table;
    return elsewhere;
}

const List *lock_and_check_joined(const Question *question) {
    List *relations = NIL, *checked = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr || source.source->rows != nullptr)
            continue;
        relations = lappend_oid(relations, source.relation);
        if (source.settings != nullptr)
            relations = list_concat(relations, catalog::hidden_ancestors(source.settings->unit));
    }
    lock_in_order(relations);
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.source->rows != nullptr)
            continue;
        if (source.people != nullptr) {
            checked = list_concat_unique_oid(checked, check_sources(source.people));
            continue;
        }
        if (source.settings == nullptr) {
            checked =
                list_concat_unique_oid(checked, catalog::check_public(source.relation, question->settings->owner));
            continue;
        }
        checked = list_concat_unique_oid(checked, lock_and_check(source.settings));
    }
    const Oid elsewhere = table_elsewhere(checked);
    Together together = {};
    if (OidIsValid(elsewhere))
        check_together(question, checked, elsewhere, &together);
    return checked;
}

// ---- links ---------------------------------------------------------------------------------------------------------

// Holds counts that were made already.
namespace {
struct Count {
    const query::Source *source;
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
    for (auto *count : border::each<const Count>(counts->known)) {
        if (count->source == source.source && bms_equal(count->columns, of))
            return count->rows;
    }
    auto *distinct = array_of<AttrNumber>(n);
    int ndistinct = 0;
    for (int column = -1; (column = bms_next_member(of, column)) >= 0;)
        distinct[ndistinct++] = static_cast<AttrNumber>(column);
    auto *count = array_of<Count>(1);
    *count = Count{source.source, of,
                   largest_multiplicity(counts->reading, *source.source, ndistinct, distinct, false)};
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
    auto *all = array_of<query::Linked>(n);
    memcpy(all, linked, sizeof(query::Linked) * leaf->njoined);
    memcpy(all + leaf->njoined, linked + semi->source, sizeof(query::Linked) * semi->nsources);
    for (int i = 0; i < n; i++)
        all[i].multiplicity = all[i].source->rows == nullptr ? nullptr : all[i].multiplicity;
    auto *join = makeNode(JoinExpr);
    join->jointype = JOIN_LEFT;
    join->larg = query::one_item(list_copy(from));
    join->rarg = one_item_of(linked + semi->source, semi->nsources);
    join->quals = map_to_tables(static_cast<Node *>(list_nth(question->links.conditions, number)), question);
    List *items = list_make1(join), *by = query::find_equalities(leaf, items, nullptr);
    (void)query::join_sources(all, n, leaf->njoined, items, list_concat_copy(equalities, by));
}

static void check_semi_joins(const Question *question, const query::Linked *linked, const List *from,
                             const List *equalities) {
    for (int i = 0; i < list_length(question->leaf->semi_joins); i++)
        check_semi_join(question, i, linked, from, equalities);
}

Units *joined_units(const Question *question, const catalog::Reading *reading) {
    auto *counts = zeroed<Counts>();
    counts->reading = reading;
    const query::Leaf *leaf = question->leaf;
    const int n = leaf->njoined;
    auto *linked = zeroed<query::Linked>(question->nsources);
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        linked[i].source = source.source;
        linked[i].relation = source.relation;
        linked[i].path = source.settings == nullptr ? nullptr : source.settings->unit;
        linked[i].name = name_of_source(question, source);
        linked[i].key = source.people == nullptr ? NIL : key_of_people(source);
        linked[i].entry = rt_fetch(source.source->varno, leaf->query->rtable);
        linked[i].multiplicity = reading == nullptr && source.source->rows == nullptr ? nullptr : count_equal;
        linked[i].context = counts;
    }
    List *from = static_cast<List *>(copyObject(question->links.from));
    for (auto *join : border::each<JoinExpr>(query::joins_of(from))) {
        join->quals = map_to_tables(join->quals, question);
    }
    List *equalities = query::find_equalities(leaf, from, map_to_tables(question->links.where, question));
    const query::Joined *joined = query::join_sources(linked, n, n, from, equalities);
    check_semi_joins(question, linked, from, equalities);
    const Source &anchor = question->sources[joined->anchor];
    return units_of(question, anchor.settings->unit, anchor.source->varno, list_length(leaf->query->rtable), joined);
}

// ---- how many rows -------------------------------------------------------------------------------------------------

// The sources that a key's value follows from: those of its columns, and of what its tests compare with.
static Bitmapset *sources_of_key(const Question *question, Node *key) {
    Bitmapset *varnos = pull_varnos_of(key), *all = bms_copy(varnos);
    for (auto *semi : border::each<const query::SemiJoin>(question->leaf->semi_joins)) {
        if (semi->test == 0 || !bms_is_member(semi->test, varnos))
            continue;
        Bitmapset *inner = query::varnos_of_semi_join(question->leaf, semi);
        Bitmapset *outer = bms_difference(pull_varnos_of(semi->condition), inner);
        all = bms_del_members(all, inner); // from 16 on the join that brings the test is named by one of these
        all = bms_add_members(all, outer);
    }
    return all;
}

// Whether all keys are columns of sources of which a unit has one row in all that is joined.
static bool are_of_one_row(const Question *question, const query::Joined *joined) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        Bitmapset *varnos = sources_of_key(question, question->leaf->keys[i].expression);
        for (int j = 0; j < question->nsources; j++)
            if (bms_is_member(question->sources[j].source->varno, varnos) && !joined->one_row[j])
                return false;
    }
    return true;
}

void limit_joined_rows(const Question *question, Units *units) {
    const query::Joined *joined = units->joined;
    if (joined->max_rows > catalog::max_declared_rows)
        refuse_size(psprintf("a person may have more than %d joined rows in the query", catalog::max_declared_rows),
                    "Join by more columns, down to a key; or aggregate with fewer tables.",
                    "max_rows of the tables that no key of another one determines are multiplied.");
    const int asked = question->leaf->limits.max_rows;
    units->single = joined->keyed;
    units->one_group = joined->keyed || are_of_one_row(question, joined);
    units->max_rows = joined->keyed ? 1 : asked > 0 ? asked : static_cast<int>(joined->max_rows);
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
    for (auto *one : border::each<Node>(IsA(condition, List) ? reinterpret_cast<List *>(condition)
                                                             : castNode(BoolExpr, condition)->args))
        n += count_comparisons(one);
    return n;
}

static int count_all_comparisons(const Question *question) {
    int n = count_comparisons(question->where) + count_comparisons(as_node(query::conditions_of(question->from)));
    for (auto *one : border::each<const query::SemiJoin>(question->semi_joins))
        n += count_comparisons(one->condition);
    return n;
}

// Groups are sorted by the keys that are computed, beside the columns that aggregates read.
static int count_computed(const Question *question) {
    int n = 0;
    for (int i = 0; i < question->leaf->nkeys; i++)
        n += IsA(question->keys[i], Var) ? 0 : 1;
    const PerUnit *own = question->per_unit;
    for (auto *window : border::each<const query::Window>(own == nullptr ? NIL : own->windows))
        n += list_length(window->partition) + list_length(window->order);
    if (own == nullptr)
        return n;
    n += list_length(own->read);
    return n + list_length(own->columns) + list_length(own->carried) + list_length(own->grouped);
}

// A row that is sorted, or put into a file, has as many columns as PostgreSQL's records at most, and is made where a row is found: the joins
// carry all columns that are named somewhere, those of the unit, and what they are sorted by.
void check_carried_columns(const Question *question) {
    Bitmapset *columns = nullptr;
    (void)collect_columns(expressions_of(question), &columns);
    // With the unit, which may stand in a table behind all that have numbers.
    constexpr int of_path = 2 * catalog::max_unit_columns * catalog::max_unit_steps;
    query::check_carried(bms_num_members(columns) + of_path + count_all_comparisons(question) + count_computed(question));
}

// ---- EXISTS as a column ----------------------------------------------------------------------------------------------

static bool is_of_source(const Source &source, const Var *column) {
    return source.source->varno == static_cast<int>(column->varno);
}

// A row without it is nobody's, and in no answer.
static bool names_unit(const Question *question, Node *node) {
    while (IsA(node, RelabelType))
        node = as_node(castNode(RelabelType, node)->arg);
    for (int i = 0; IsA(node, Var) && i < question->nsources; i++) {
        const Source &source = question->sources[i];
        const catalog::UnitPath *path = source.settings == nullptr ? nullptr : source.settings->unit;
        if (path == nullptr || source.source->nullable || !is_of_source(source, castNode(Var, node)))
            continue;
        for (int j = 0; j < path->ncolumns; j++)
            if (path->columns[j] == castNode(Var, node)->varattno)
                return true;
    }
    return false;
}

static void check_present(ColumnRanges *columns, const Question *question, Node *side) {
    Node *node = map_to_tables(side, question);
    if (names_unit(question, node) || !range_over_columns(node, columns).nullable)
        return;
    const char *name = text_over_views(question, side);
    refuse_form("IN (SELECT ...) that may be NULL is not supported outside of WHERE in a query on a restricted view",
                "Write EXISTS (SELECT FROM ... WHERE inner.column = outer.column), which is true or false. IN may be "
                "NULL in FILTER and in the condition of a CASE, but not below NOT.",
                psprintf("It is NULL, rather than false, where %s is.", name));
}

void check_tests(ColumnRanges *columns, const Question *question) {
    for (auto *semi : border::each<const query::SemiJoin>(question->semi_joins)) {
        query::TestParts parts;
        if (semi->test == 0)
            continue;
        if (!query::split_test(semi->condition, query::varnos_of_semi_join(question->leaf, semi), &parts))
            refuse_form("a sub-SELECT outside of WHERE whose constants leave no equality with what is outside of "
                        "it is not supported in a query on a restricted view",
                        "Ask for what it would say by itself: whether it has a row is the same for all.");
        for (auto *one : border::each<Node>(semi->present))
            check_present(columns, question, one);
    }
}

} // namespace dp::rows
