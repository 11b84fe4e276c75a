#include "rows/touched.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/walk.hpp"
#include "catalog/domain.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/odometer.hpp"
#include "query/leaf_rows.hpp"
#include "query/limits.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/cells_where.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"
#include "rows/rising.hpp"

namespace dp::rows {

using catalog::Partition;

// ---- keys and filters ----------------------------------------------------------------------------------------------

// The listed values among the groups that are shown. Whoever has another value is in none of them.
static Bitmapset *cells_of_groups(Cells *cells, const KeyDomain &domain) {
    if (cells->values == nullptr)
        read_values(cells);
    Bitmapset *found = nullptr;
    for (int j = 0; j + 1 < cells->n; j++)
        if (domain.find(cells->values[j], cells->nulls[j]) >= 0)
            found = bms_add_member(found, j + 1);
    return bms_num_members(found) == domain.count ? found : bms_add_member(found, 0);
}

// Returns those from the first group that is shown to the last one. An expression may be NULL of values that are too large for it.
static Bitmapset *cells_between_groups(Cells *cells, Node *key, const query::Key &spec, const KeyDomain &domain) {
    const int n = domain.nulls[domain.count - 1] ? domain.count - 1 : domain.count;
    int16 length;
    bool by_value;
    get_typlenbyval(spec.type, &length, &by_value);
    Bitmapset *found = n == 0 ? nullptr : cells->all();
    if (n < domain.count && !equal(key, cells->column))
        return cells->all();
    for (int end = 0; end < 2 && n > 0; end++) {
        Const *group = makeConst(spec.type, -1, spec.collation, length, domain.values[end == 0 ? 0 : n - 1], false, by_value);
        const Comparison comparison = {key, group, end == 0 ? BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber, false,
                                       spec.collation};
        found = bms_int_members(found, cells_of_rising(*cells, comparison, true));
    }
    return n == domain.count ? found : bms_add_member(found, 0);
}

// A key that follows from the column shows groups that are declared or follow, and no others. folded: the keys over the tables.
static Bitmapset *cells_of_keys(Cells *cells, const Question *question, const List *folded) {
    Bitmapset *found = cells->all();
    for (int i = 0; i < question->leaf->nkeys && !question->thresholded; i++) {
        Node *key = as_column(static_cast<Node *>(list_nth(folded, i)), cells);
        const KeyDomain &domain = question->domains[i];
        if (domain.count == 0)
            continue;
        if (cells->partition->values != nullptr && equal(key, cells->column))
            found = bms_int_members(found, cells_of_groups(cells, domain));
        else if (cells->partition->values == nullptr && is_rising(key, cells->column))
            found = bms_int_members(found, cells_between_groups(cells, key, question->leaf->keys[i], domain));
    }
    return found;
}

// Rows that no FILTER lets in add to no aggregate. Discovered groups have a count of rows without it.
static Bitmapset *cells_of_filters(Cells *cells, const Question *question) {
    Bitmapset *found = nullptr;
    if (question->thresholded || question->per_unit != nullptr)
        return cells->all();
    for (int i = 0; i < question->leaf->naggregates; i++) {
        const int filter = question->leaf->aggregates[i].filter;
        if (filter < 0)
            return cells->all();
        found = bms_join(found, cells_where(cells, map_to_tables(static_cast<Node *>(list_nth(question->leaf->filters, filter)), question), true));
    }
    return found;
}

// ---- the question --------------------------------------------------------------------------------------------------

// How many places of the range table stand before what leads to units.
static int entries_of(const Question *question) {
    return is_joined(question) ? list_length(question->leaf->query->rtable) : 1;
}

// Returns the table that stands at a place of the range table: a source, or what leads to units behind them.
static Oid relation_at(const Question *question, int varno) {
    const Source *source = source_at(question, varno);
    return source != nullptr ? source->relation
                             : list_nth_oid(question->units->ancestors, varno - entries_of(question) - 1);
}

// Whether each joined row of a unit has a row of the source, and that unit's.
static bool is_of_each_row(const Source &source) {
    return source.settings != nullptr && !source.source->nullable && !source.source->tested;
}

// The column is a part of what names the unit, which all rows have. NIL: only a sub-SELECT with rows of units shows it.
static List *columns_of_unit(const Question *question, int place) {
    const auto *named = list_nth_node(Var, question->units->values, place - 1);
    const Source *source_of_name = source_at(question, static_cast<int>(named->varno));
    if (source_of_name != nullptr && source_of_name->people != nullptr)
        return NIL;
    List *columns = list_make1(const_cast<Var *>(named));
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (is_of_each_row(source) && source.people == nullptr && source.settings->unit->direct)
            columns = lappend(columns, query::column_of(source.source->varno, source.relation, nullptr,
                                                        source.settings->unit->columns[place - 1]));
    }
    return columns;
}

// 55000: the table has no longer one row for each unit.
static void check_one_row(const catalog::UnitPath *path, Oid relation) {
    if (path->relation != relation || !path->direct || !catalog::covers_key(relation, path->ncolumns, path->columns))
        refuse_state(psprintf("%s has a partition, and no key says any more that a unit has one row", catalog::qualified_name(relation)),
                     psprintf("SELECT dp_unset_partition(%s);", quote_literal_cstr(catalog::qualified_name(relation))));
}

// The column is one of a table with one row for each unit. NIL: no joined row shows that row, or not each.
static List *columns_of_table(const Question *question, Oid relation, AttrNumber column) {
    List *columns = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr || source.relation != relation || !is_of_each_row(source))
            continue;
        check_one_row(source.settings->unit, relation);
        columns = lappend(columns, query::column_of(source.source->varno, relation, nullptr, column));
    }
    const int hidden = list_length(question->units->ancestors);
    if (columns == NIL && hidden > 0 && llast_oid(question->units->ancestors) == relation) {
        const catalog::UnitPath *last = question->units->path;
        while (last->parent != nullptr && !last->direct)
            last = last->parent;
        check_one_row(last, relation);
        columns = list_make1(query::column_of(entries_of(question) + hidden, relation, nullptr, column));
    }
    return columns;
}

// The columns that have the cell's value in each joined row, as it was declared. NIL: there is none. 55000: it is another one.
static List *columns_of(const Question *question, const Partition &partition) {
    const char *name = question->settings->relation_name, *quoted = quote_literal_cstr(name);
    const bool by_rows = question->units == nullptr;
    if (by_rows && (partition.place > 0 || question->settings->relation != partition.relation))
        refuse_state(psprintf("%s has a partition, and its units are others now", name),
                     psprintf("SELECT dp_unset_partition(%s);", quoted));
    if (catalog::is_on_other_nodes(question->settings->relation))
        refuse_form(psprintf("%s has a partition, and Citus keeps rows of it on other nodes", name),
                    psprintf("SELECT dp_unset_partition(%s);", quoted));
    const AttrNumber column = partition.place > 0 ? InvalidAttrNumber : get_attnum(partition.relation, partition.column);
    List *columns = partition.place > 0            ? columns_of_unit(question, partition.place)
                    : column == InvalidAttrNumber ? NIL
                    : by_rows                     ? list_make1(query::column_of(1, partition.relation, nullptr, column))
                                                  : columns_of_table(question, partition.relation, column);
    if (columns == NIL && partition.place > 0)
        return NIL;
    const Oid type = partition.place > 0 ? linitial_node(Var, columns)->vartype : get_atttype(partition.relation, column);
    if (!OidIsValid(type) || strcmp(format_type_be(type), partition.type) != 0)
        refuse_state(psprintf("column %s, by which %s has a partition, is gone or of another type",
                              quote_identifier(partition.column), name),
                     psprintf("SELECT dp_unset_partition(%s); and declare it anew.", quoted));
    return columns;
}

static catalog::Touched *ranges_of(const Cells &cells, Bitmapset *found) {
    if (bms_is_member(cells.n, found))
        found = bms_add_member(bms_del_member(found, cells.n), 0);
    auto *touched = zeroed<catalog::Touched>();
    touched->partition = cells.partition->version;
    touched->others = cells.partition->others();
    touched->begun = touched->others + cells.n - 1;
    touched->n = bms_num_members(found) == cells.n ? 1 : 0; // most questions touch all
    touched->first[0] = touched->others;
    touched->last[0] = touched->begun;
    if (touched->n == 1)
        return touched;
    for (int member = -1; (member = bms_next_member(found, member)) >= 0;) {
        const int64 cell = touched->others + member;
        if (touched->n == 0 || touched->last[touched->n - 1] != cell - 1) {
            if (touched->n == catalog::most_ranges)
                return ranges_of(cells, cells.all());
            touched->first[touched->n++] = cell;
        }
        touched->last[touched->n - 1] = cell;
    }
    return touched;
}

static int64 begun_at_charge;

void resolve_at(int64 begun) {
    begun_at_charge = begun;
}

static Cells cells_of(const Partition &partition) {
    constexpr int64 most = 100000;
    Cells cells = {};
    cells.partition = &partition;
    const int64 begun = begun_at_charge != 0 ? begun_at_charge : catalog::last_cell(partition, catalog::today());
    const int64 n = begun - partition.others() + 1;
    if (n > most)
        refuse_state(psprintf("%s has more than " INT64_FORMAT " cells by the clock",
                              catalog::qualified_name(partition.relation), most),
                     "Set the clock, or declare longer ones with dp_set_partition().");
    cells.n = static_cast<int>(n);
    return cells;
}

// ---- what is read below --------------------------------------------------------------------------------------------

namespace {
// A part of a question: reads tables, which show the cell.
struct Part {
    Question *question;
    List *columns;    // Var *: as columns_of() gives them
    List *conditions; // Node *: over its tables; rows of which one is not true matter to no answer
};
} // namespace

// Puts in the place of a column of the sub-SELECT what it is there. context: the question of the sub-SELECT.
static Node *below_columns(Node *node, void *context) {
    const auto *people = static_cast<const Question *>(context);
    if (node == nullptr || !IsA(node, Var))
        return node == nullptr ? nullptr : border::mutate_expression(node, below_columns, context);
    return another(static_cast<Node *>(list_nth(people->folded, castNode(Var, node)->varattno - 1)));
}

// Whether it reads columns of the sub-SELECT alone, and not what is computed of a unit, or what only links.
static bool shows(const Question *people, Node *condition) {
    for (auto *column : border::each<const Var>(pull_var_clause(condition, 0)))
        if (column->varno == query::unit_varno || column->varattno < 1 || column->varattno > list_length(people->folded))
            return false;
    return true;
}

// Lists the conditions on the rows that a sub-SELECT reads: its own, and those above it on what it shows.
static List *conditions_below(const List *above, const Question *people) {
    List *conditions = list_copy(people->ranges->narrowed->conjuncts);
    for (auto *one : border::each<Node>(above))
        if (shows(people, one))
            conditions = lappend(conditions, below_columns(another(one), const_cast<Question *>(people)));
    return conditions;
}

// Adds the parts (Part *) that a question reads: itself, or what stands below its one sub-SELECT, or below each SELECT of UNION ALL.
// conditions: over its sources.
static List *add_parts(Question *question, List *conditions, List *parts) {
    check_stack_depth();
    if (!has_branches(question) && (question->nsources > 1 || question->sources[0].people == nullptr)) {
        auto *part = zeroed<Part>();
        part->question = question;
        part->columns = columns_of(question, *question->settings->partition);
        part->conditions = conditions;
        return lappend(parts, part);
    }
    for (int i = 0; i < question->nsources; i++) {
        Question *people = question->sources[i].people;
        parts = add_parts(people, conditions_below(conditions, people), parts);
    }
    return parts;
}

// Returns the parts of a question with a partition; NIL: the tables of some part do not show the cell.
static List *parts_of(const Question *question, List *conditions) {
    List *parts = add_parts(const_cast<Question *>(question), conditions, NIL);
    ListCell *cell;
    foreach (cell, parts)
        if (static_cast<const Part *>(lfirst(cell))->columns == NIL)
            return NIL;
    return parts;
}

static Bitmapset *find_cells(const Question *question, const List *folded, const List *parts, Cells *cells) {
    Bitmapset *found = nullptr;
    ListCell *cell;
    foreach (cell, parts) {
        const auto *part = static_cast<const Part *>(lfirst(cell));
        cells->column = linitial_node(Var, part->columns);
        cells->same = part->columns;
        Bitmapset *of_part = cells_where_all(cells, part->conditions);
        if (part->question == question) {
            of_part = bms_int_members(of_part, cells_of_keys(cells, question, folded));
            of_part = bms_int_members(of_part, cells_of_filters(cells, question));
        }
        found = bms_join(found, of_part);
    }
    return found;
}

// The column of a table that shows the cell of its rows; 0: none does.
static AttrNumber column_with_cell(const Source &source, const Partition &partition) {
    if (partition.place == 0)
        return source.relation == partition.relation ? get_attnum(source.relation, partition.column) : InvalidAttrNumber;
    const catalog::UnitPath *unit = source.settings->unit;
    return unit != nullptr && unit->direct ? unit->columns[partition.place - 1] : InvalidAttrNumber;
}

// Whether some view that is read has the column under the name that denials tell.
static bool is_shown(const Question *question, const Partition &partition) {
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr && is_shown(source.people, partition))
            return true;
        if (source.people != nullptr || source.settings == nullptr)
            continue;
        const AttrNumber shown = get_attnum(source.source->relation, partition.column);
        if (shown != InvalidAttrNumber && source.map[shown] != InvalidAttrNumber &&
            source.map[shown] == column_with_cell(source, partition))
            return true;
    }
    return false;
}

static Node *make_condition(const Part &part, const Partition &partition, const catalog::Touched &touched) {
    const auto *column = linitial_node(Var, part.columns);
    const auto varno = static_cast<int>(column->varno);
    const Oid relation = relation_at(part.question, varno);
    const char *text = catalog::condition_on(partition, touched, get_attname(relation, column->varattno, false));
    if (text == nullptr)
        return nullptr;
    if (strlen(text) > query::max_text)
        return as_node(makeBoolConst(false, true));
    Node *condition = table_condition(relation, text);
    if (varno != 1)
        ChangeVarNodes(condition, 1, varno, 0);
    return condition;
}

// Gives each part the condition on its rows, the same cells for all. False: they are too many to name in one of them, which reads nothing.
static bool keep_parts(const List *parts, const Partition &partition, const catalog::Touched &touched) {
    bool named = true;
    ListCell *cell;
    foreach (cell, parts) {
        const auto *part = static_cast<const Part *>(lfirst(cell));
        Node *condition = make_condition(*part, partition, touched);
        part->question->in_touched = condition;
        named = named && (condition == nullptr || !IsA(condition, Const));
    }
    return named;
}

static void read_all(Question *question) {
    question->in_touched = nullptr;
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].people != nullptr)
            read_all(question->sources[i].people);
}

void keep_to_cells(const catalog::Touched *touched, Question *question) {
    read_all(question);
    if (touched != nullptr && !keep_parts(parts_of(question, NIL), *question->settings->partition, *touched))
        read_all(question);
}

void check_cells(const Question *question) {
    if (question->touched != nullptr)
        (void)parts_of(question, NIL);
}

void find_touched(const Narrowed *narrowed, const List *folded, Question *question) {
    const Partition *partition = question->settings->partition;
    const List *parts = partition == nullptr ? NIL : parts_of(question, narrowed->conjuncts);
    if (parts == NIL) // of a partition: whom it reads nobody can tell, so it is charged to all cells and those to come
        return;
    Cells cells = cells_of(*partition);
    Bitmapset *found =
        pinned_as(question->settings->owner, [&] { return find_cells(question, folded, parts, &cells); });
    if (bms_is_empty(found))
        refuse_value("the conditions exclude every cell that has begun: nothing private would be answered",
                     psprintf("%s has a partition by %s.", catalog::qualified_name(partition->relation),
                              quote_identifier(partition->column)));
    if (partition->values != nullptr && bms_num_members(found) + 1 == cells.n && !bms_is_member(0, found))
        found = cells.all(); // to all is one charge, and to each of them many
    catalog::Touched *touched = ranges_of(cells, found);
    if (!keep_parts(parts, *partition, *touched)) {
        touched = ranges_of(cells, cells.all());
        (void)keep_parts(parts, *partition, *touched);
    }
    touched->shown = is_shown(question, *partition);
    question->touched = touched;
}

const catalog::Touched *charged_cells(const Question *question) {
    const Partition *partition = question->settings->partition;
    if (question->touched != nullptr || partition == nullptr || question->groups_only)
        return question->touched;
    auto *all = zeroed<catalog::Touched>();
    all->shown = is_shown(question, *partition);
    return all;
}

} // namespace dp::rows
