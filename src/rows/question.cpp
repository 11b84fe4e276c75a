#include "rows/question.hpp"

#include <algorithm>

#include "border/each.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "border/varnos.hpp"
#include "query/range.hpp"
#include "query/exists.hpp"
#include "query/from.hpp"
#include "query/grammar.hpp"
#include "query/leaf_rows.hpp"
#include "query/total.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"

namespace dp::rows {

bool is_nullable_column(Oid relation, AttrNumber attno) {
    Relation table = table_open(relation, NoLock);
    bool nullable = !border::is_never_null(RelationGetDescr(table), attno - 1);
    table_close(table, NoLock);
    return nullable;
}

// ---- columns -------------------------------------------------------------------------------------------------------

const Source *source_at(const Question *question, int varno) {
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].source->varno == varno)
            return &question->sources[i];
    return nullptr;
}

// Vars of the facades become Vars of the tables, by name; the types are known to agree.
static Node *map_vars(Node *node, void *context) {
    auto *question = static_cast<const Question *>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Var)) {
        auto *var = copyObject(castNode(Var, node));
        if (var->varno == query::unit_varno || query::test_of(question->leaf, var) != nullptr)
            return as_node(var);
        const Source *source = source_at(question, var->varno);
        if (source == nullptr || var->varattno <= 0 || source->map[var->varattno] <= 0)
            elog(ERROR, "a column of a restricted view has no column of the table");
        var->varattno = var->varattnosyn = source->map[var->varattno];
        var->varnosyn = var->varno;
        return as_node(var);
    }
    return border::mutate_expression(node, map_vars, context);
}

Node *map_to_tables(Node *expression, const Question *question) {
    return map_vars(expression, const_cast<Question *>(question));
}

// The number of a facade's column becomes that of the table's; 0 stays 0.
AttrNumber map_number(const Question *question, AttrNumber column) {
    if (column <= 0)
        return InvalidAttrNumber;
    const int varno = query::varno_of(column);
    return query::column_number(varno, source_at(question, varno)->map[query::attno_of(column)]);
}

Oid relation_of(const Question *question, AttrNumber column) {
    const Source *source = source_at(question, query::varno_of(column));
    return source == nullptr ? question->settings->relation : source->relation;
}

static const RangeTblEntry *rows_of(const Question *question, AttrNumber column) {
    const Source *source = source_at(question, query::varno_of(column));
    return source == nullptr ? nullptr : source->source->rows;
}

// Names a column of a sub-SELECT; one of the unit as its table does.
static const char *name_of_people_column(const Question *question, const Source &source, int number) {
    ListCell *cell;
    foreach (cell, source.people->leaf->per_unit->unit)
        if (lfirst_int(cell) == number)
            return source.settings->unit->names[foreach_current_index(cell)];
    return strVal(list_nth(rt_fetch(source.source->varno, question->leaf->query->rtable)->eref->colnames, number - 1));
}

const char *column_name(const Question *question, AttrNumber column) {
    const Source *source = source_at(question, query::varno_of(column));
    if (source != nullptr && source->people != nullptr)
        return name_of_people_column(question, *source, query::attno_of(column));
    return query::name_of_column(relation_of(question, column), rows_of(question, column), query::attno_of(column));
}

Var *source_column(const Question *question, Oid relation, int varno, AttrNumber attno) {
    const Source *source = source_at(question, varno);
    if (source != nullptr && source->people != nullptr) {
        const Question *people = source->people;
        const int n = people->leaf->nkeys;
        Node *column = attno <= n ? people->leaf->keys[attno - 1].expression
                                  : static_cast<Node *>(list_nth(people->units->values, attno - n - 1));
        return column_like(column, varno, attno);
    }
    return query::column_of(varno, relation, source == nullptr ? nullptr : source->source->rows, attno);
}

Var *table_column(const Question *question, AttrNumber column) {
    return source_column(question, relation_of(question, column), query::varno_of(column), query::attno_of(column));
}

// (Nobody enforces what is declared of a foreign table.)
bool is_nullable(const Question *question, AttrNumber column) {
    const Source *source = source_at(question, query::varno_of(column));
    return source->source->nullable || source->source->rows != nullptr || (question->remote && source->settings != nullptr) ||
           is_nullable_column(source->relation, query::attno_of(column));
}

List *keys_of(const Question *question) {
    List *keys = NIL;
    for (int i = 0; i < question->leaf->nkeys; i++)
        keys = lappend(keys, question->keys[i]);
    return keys;
}

Node *expressions_of(const Question *question) {
    List *all = list_concat(list_make3(question->where, query::conditions_of(question->from), question->filters),
                            keys_of(question));
    for (int i = 0; i < question->leaf->naggregates; i++)
        all = lappend(all, question->arguments[i]);
    for (int i = 0; i < list_length(question->leaf->arguments); i++)
        all = lappend(all, question->expressions[i].node);
    if (question->per_unit != nullptr)
        all = list_concat(
            all, list_make3(question->per_unit->columns, question->per_unit->grouped, question->per_unit->where));
    for (auto *window : border::each<const query::Window>(question->per_unit == nullptr ? NIL : question->per_unit->windows))
        all = list_concat(all, list_make2(window->partition, window->order));
    for (auto *semi : border::each<const query::SemiJoin>(question->semi_joins))
        all = list_concat(all, list_make2(semi->condition, semi->unless));
    return as_node(all);
}

bool is_spread(const Question *question) {
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].norm == privacy::Norm::groups)
            return true;
    return false;
}

// ---- arguments and groups --------------------------------------------------------------------------------------------

const Expression *expression_of(const Question *question, int aggregate) {
    int argument = question->leaf->aggregates[aggregate].argument;
    return argument < 0 ? nullptr : &question->expressions[argument];
}

Node *argument_node(const Question *question, int aggregate) {
    if (const Expression *expression = expression_of(question, aggregate))
        return another(expression->node);
    return another(question->arguments[aggregate]);
}

Node *folded_argument_node(const Question *question, int aggregate) {
    const Expression *expression = expression_of(question, aggregate);
    return another(expression != nullptr ? expression->folded : question->arguments[aggregate]);
}

AttrNumber argument_column(const Question *question, int aggregate) {
    Node *column = question->arguments[aggregate];
    return column == nullptr ? InvalidAttrNumber : query::column_number(castNode(Var, column));
}

int argument_decimals(const Question *question, int aggregate) {
    if (const Expression *expression = expression_of(question, aggregate))
        return expression->decimals;
    Node *column = question->arguments[aggregate];
    if (column == nullptr)
        return -1;
    Oid type = exprType(column);
    return getBaseType(type) == NUMERICOID ? query::decimals_of_type(type, exprTypmod(column)) : -1;
}

int64 place_of_group(const Question *question, int group) {
    return question->places == nullptr ? group : question->places[group];
}

int group_at_place(const Question *question, int64 place) {
    if (question->places == nullptr)
        return static_cast<int>(place);
    const int64 *end = question->places + question->ngroups;
    const int64 *found = std::lower_bound(static_cast<const int64 *>(question->places), end, place);
    return found == end || *found != place ? -1 : static_cast<int>(found - question->places);
}

int declared_group(const Question *question, const Datum *keys, const bool *nulls) {
    int64 place = 0;
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const int at = question->domains[i].find(keys[i], nulls[i]);
        if (at < 0)
            return -1;
        place = place * question->domains[i].count + at;
    }
    return group_at_place(question, place);
}

bool counts_values(const Question *question) {
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].of_values)
            return true;
    return false;
}

Bitmapset *pull_varnos_of(Node *expression) {
    return border::varnos_of(expression);
}

// ---- conditions ----------------------------------------------------------------------------------------------------

RangeTblEntry *table_entry(const Question *question) {
    return relation_entry(question->settings->relation, true);
}

Node *table_condition(Oid relation, const char *text) {
    Node *condition = pinned([=] { return query::check_table_condition(text, relation, "condition"); });
    // It has a limit of its own: whom it selects must not change with the question.
    query::RowCost cost = {};
    condition = query::make_total(condition, nullptr, &cost);
    query::set_size_limit(condition, query::size_limit(&cost));
    return condition;
}

Node *view_condition(const catalog::Settings *settings, int varno) {
    if (settings->filter == nullptr)
        return nullptr;
    Node *condition = table_condition(settings->relation, settings->filter);
    if (varno != 1)
        ChangeVarNodes(condition, 1, varno, 0);
    return condition;
}

} // namespace dp::rows
