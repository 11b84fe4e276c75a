#include "rows/folded.hpp"

#include "border/each.hpp"
#include "query/constants.hpp"
#include "query/from.hpp"
#include "query/asked_limits.hpp"
#include "query/aggregate_table.hpp"

namespace dp::rows {

static void fold(Node **expression, ParamListInfo parameters) {
    *expression = query::fold_constants(*expression, parameters);
}

static void fold_all(const List *expressions, ParamListInfo parameters) {
    ListCell *cell;
    foreach (cell, expressions)
        lfirst(cell) = query::fold_constants(static_cast<Node *>(lfirst(cell)), parameters);
}

// The point of two constants is none, so each part is folded by itself.
static void fold_arguments(const query::Leaf *leaf, ParamListInfo parameters) {
    ListCell *cell;
    foreach (cell, leaf->arguments) {
        if (const List *parts = query::joint_parts(static_cast<Node *>(lfirst(cell))))
            fold_all(parts, parameters);
        else
            lfirst(cell) = query::fold_constants(static_cast<Node *>(lfirst(cell)), parameters);
    }
}

// Returns the number of the first element that is equal to that of this number; -1 stays.
static int first_equal(const List *list, int number) {
    int first = Min(number, 0);
    while (first < number && !equal(list_nth(list, first), list_nth(list, number)))
        first++;
    return first;
}

static bool is_always_true(Node *filter) {
    return IsA(filter, Const) && !castNode(Const, filter)->constisnull &&
           DatumGetBool(castNode(Const, filter)->constvalue);
}

// Makes one measure, charged once, of aggregates that folding has made equal: of one expression, or of one column.
static void merge_equal(const query::Leaf *leaf, query::Aggregate *aggregate) {
    if (aggregate->argument >= 0)
        aggregate->column = query::argument_column(leaf, static_cast<Node *>(list_nth(leaf->arguments, aggregate->argument)));
    aggregate->argument = aggregate->column != nullptr ? -1 : first_equal(leaf->arguments, aggregate->argument);
    aggregate->filter = first_equal(leaf->filters, aggregate->filter);
    if (aggregate->filter >= 0 && is_always_true(static_cast<Node *>(list_nth(leaf->filters, aggregate->filter))))
        aggregate->filter = -1;
}

void fold_passed_rows(query::Leaf *leaf, ParamListInfo parameters) {
    for (int i = 0; i < leaf->nsources; i++) {
        if (leaf->sources[i].rows == nullptr)
            continue;
        auto *rows = copyObject(const_cast<RangeTblEntry *>(leaf->sources[i].rows));
        for (auto *column : border::each<RangeTblFunction>(rows->functions)) {
            List *arrays = castNode(FuncExpr, column->funcexpr)->args;
            linitial(arrays) = query::fold_constants(static_cast<Node *>(linitial(arrays)), parameters);
        }
        leaf->sources[i].rows = rows;
    }
}

void fold_leaf(query::Leaf *leaf, ParamListInfo parameters) {
    fold(&leaf->where, parameters);
    for (auto *one : border::each<JoinExpr>(query::joins_of(leaf->from)))
        fold(&one->quals, parameters);
    fold_all(leaf->filters, parameters);
    for (auto *semi : border::each<query::SemiJoin>(leaf->semi_joins)) {
        fold(&semi->condition, parameters);
        fold(&semi->unless, parameters);
        fold_all(semi->present, parameters);
    }
    if (leaf->per_unit != nullptr) {
        fold_all(leaf->per_unit->columns, parameters);
        fold_all(leaf->per_unit->keys, parameters);
        for (auto *window : border::each<const query::Window>(leaf->per_unit->windows)) {
            fold_all(window->partition, parameters);
            fold_all(window->order, parameters);
        }
        fold(&leaf->per_unit->where, parameters);
    }
    for (int i = 0; i < leaf->nkeys; i++)
        fold(&leaf->keys[i].expression, parameters);
    fold_arguments(leaf, parameters);
    for (int i = 0; i < leaf->naggregates; i++) {
        fold(&leaf->aggregates[i].fraction, parameters);
        merge_equal(leaf, &leaf->aggregates[i]);
    }
}

} // namespace dp::rows
