#include "rows/unit_windows.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/visit.hpp"
#include "query/constants.hpp"
#include "query/from.hpp"
#include "query/make.hpp"
#include "query/total.hpp"
#include "rows/canonical.hpp"
#include "rows/compared.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

// ---- functions -----------------------------------------------------------------------------------------------------

// A neighbour's value, or the default where there is none.
static query::Range range_of_neighbour(ColumnRanges *columns, const List *arguments, bool edge) {
    auto *value = static_cast<Node *>(linitial(arguments));
    query::Range range = range_over_columns(value, columns);
    range.nullable = range.nullable || edge;
    if (list_length(arguments) < 3)
        return range;
    auto *otherwise = static_cast<Node *>(lthird(arguments));
    auto *either = makeNode(CoalesceExpr);
    either->coalescetype = exprType(value);
    either->coalescecollid = exprCollation(value);
    either->args = list_make2(another(value), another(otherwise));
    either->location = -1;
    return {range_over_columns(as_node(either), columns).span,
            range.nullable || range_over_columns(otherwise, columns).nullable};
}

Node *resolve_numbered(ColumnRanges *columns, const WindowFunc *asked, query::Range *range, Var **of,
                       query::RowCost *cost) {
    auto *call = castNode(WindowFunc, map_to_tables(another(as_node(const_cast<WindowFunc *>(asked))), columns->question));
    *range = {{1, static_cast<double>(columns->question->per_unit->max_rows), 0}, false};
    if (call->args == NIL)
        return as_node(call);
    const bool edge = call->winfnoid != F_FIRST_VALUE && list_length(call->args) < 3;
    *range = range_of_neighbour(columns, call->args, edge);
    auto *value = query::without_relabelings(static_cast<Node *>(linitial(call->args)));
    *of = IsA(value, Var) && list_length(call->args) < 3 ? castNode(Var, another(value)) : nullptr;
    if (list_length(call->args) > 1 && !IsA(lsecond(call->args), Const))
        elog(ERROR, "a number of rows is no constant");
    ListCell *cell;
    foreach (cell, call->args)
        lfirst(cell) = query::make_total(static_cast<Node *>(lfirst(cell)), nullptr, cost);
    return as_node(call);
}

Node *over_window(Node *aggregate, Index window) {
    return border::change(aggregate, [=](Node *node, Index) -> Node * {
        if (!IsA(node, Aggref))
            return nullptr;
        const auto *call = castNode(Aggref, node);
        auto *over = makeNode(WindowFunc);
        over->winfnoid = call->aggfnoid;
        over->wintype = call->aggtype;
        over->wincollid = call->aggcollid;
        over->inputcollid = call->inputcollid;
        for (auto *argument : border::each<TargetEntry>(call->args))
            over->args = lappend(over->args, argument->expr);
        over->aggfilter = call->aggfilter;
        over->winref = window;
        over->winstar = call->aggstar;
        over->winagg = true;
        over->location = -1;
        return as_node(over);
    });
}

// ---- windows -------------------------------------------------------------------------------------------------------

static List *resolve_all(const Question *question, const List *expressions, query::RowCost *cost) {
    List *resolved = NIL;
    for (auto *one : border::each<Node>(expressions))
        resolved = lappend(resolved, map_to_tables(query::make_total(another(one), nullptr, cost), question));
    return resolved;
}

static int compare_columns(const ListCell *a, const ListCell *b) {
    const int one = query::column_number(lfirst_node(Var, a)), other = query::column_number(lfirst_node(Var, b));
    return one < other ? -1 : one > other ? 1 : 0;
}

static List *find_columns(Node *expressions, List *found) {
    border::visit(expressions, [&](Node *node, Index) {
        if (IsA(node, Var))
            found = list_append_unique(found, node);
        return border::Step::in;
    });
    return found;
}

void resolve_windows(Question *question, query::RowCost *cost) {
    PerUnit *own = question->per_unit;
    for (auto *one : border::each<const query::Window>(question->leaf->per_unit->windows)) {
        auto *window = array_of<query::Window>(1);
        *window = {resolve_all(question, one->partition, cost), resolve_all(question, one->order, cost), one->clauses,
                   one->numbered};
        own->windows = lappend(own->windows, window);
        own->read = find_columns(as_node(window->partition), find_columns(as_node(window->order), own->read));
    }
    if (own->windows == NIL)
        return;
    own->read = find_columns(as_node(own->columns), find_columns(as_node(own->carried), own->read));
    list_sort(own->read, compare_columns);
}

void check_read_columns(const Question *people) {
    for (auto *column : border::each<Var>(people->per_unit->read)) {
        const query::Key spec = {as_node(column), 0, column->vartype, column->vartypmod, column->varcollid, nullptr};
        if (!has_canonical(spec))
            refuse_form(psprintf("column %s of type %s beside a window function is not supported in a query on a restricted view",
                                 quote_identifier(column_name(people, query::column_number(column))), format_type_be(column->vartype)),
                        "Leave it out of this sub-SELECT, and of what it shows.",
                        "Rows of a person that tie are told apart by all columns, and equal values of this one may look different.");
    }
}

// ---- how many rows there are -----------------------------------------------------------------------------------------

int number_of_key(const query::Leaf *leaf, Node *key) {
    for (int i = 0; i < leaf->nkeys; i++)
        if (equal(leaf->keys[i].expression, key))
            return i + 1;
    return 0;
}

int number_of_rows(const Question *people) {
    ListCell *cell;
    foreach (cell, people->leaf->per_unit->columns) {
        const auto *call = reinterpret_cast<const WindowFunc *>(lfirst(cell));
        const auto *window = static_cast<const query::Window *>(
            list_nth(people->leaf->per_unit->windows, static_cast<int>(call->winref) - 1));
        auto *column = query::column_showing(query::unit_varno, foreach_current_index(cell) + 1, static_cast<Node *>(lfirst(cell)));
        const int number = number_of_key(people->leaf, as_node(column));
        if (call->winfnoid == F_ROW_NUMBER && window->partition == NIL && number > 0)
            return number;
    }
    return 0;
}

// Lists what holds in all joined rows that show one of a source: WHERE, and the ON of outer joins on whose nullable side it stands.
static List *conditions_on(const Question *question, const query::Source *source) {
    List *conditions = list_make1(question->leaf->where);
    for (auto *join : border::each<JoinExpr>(query::joins_of(question->leaf->from))) {
        List *varnos = NIL, *joins = NIL;
        query::find_sources(join->rarg, &varnos, &joins);
        if (join->jointype == JOIN_LEFT && list_member_int(varnos, source->varno))
            conditions = lappend(conditions, join->quals);
    }
    return conditions;
}

int most_numbered(const Question *question, const Source &source, ParamListInfo parameters) {
    const Question *people = source.people;
    const int number = people->per_unit->windows == NIL ? 0 : number_of_rows(people);
    if (number == 0)
        return INT_MAX;
    List *folded = NIL;
    for (auto *condition : border::each<Node>(conditions_on(question, source.source)))
        folded = lappend(folded, query::fold_constants(another(condition), parameters));
    Var *column = source_column(question, InvalidOid, source.source->varno, static_cast<AttrNumber>(number));
    query::Range range = {{1, INT_MAX, 0}, false};
    narrow(read_conditions(folded), as_node(column), &range);
    return range.span.high == INT_MAX ? INT_MAX : static_cast<int>(range.span.high - range.span.low) + 1;
}

// ---- the statement -------------------------------------------------------------------------------------------------

static Node *spelled(Node *expression, bool cut) {
    return border::change(expression, [=](Node *node, Index) -> Node * {
        const bool column = IsA(node, Var) && (cut || !has_one_spelling(exprType(node)));
        return column ? canonical_node(another(node), exprTypmod(node)) : nullptr;
    });
}

Node *in_one_spelling(Node *expression) {
    return spelled(expression, false);
}

Node *in_short_spelling(Node *expression) {
    return spelled(expression, true);
}

// Returns the clause for an expression, which becomes a target that is not shown unless it is one already. how: null: by the default order.
static SortGroupClause *clause_for(Query *query, Node *expression, const SortGroupClause *how) {
    TargetEntry *target = nullptr;
    for (auto *one : border::each<TargetEntry>(query->targetList))
        if (equal(one->expr, expression))
            target = one;
    if (target == nullptr) {
        add_target(query, expression);
        target = llast_node(TargetEntry, query->targetList);
        target->resjunk = true;
    }
    auto *clause = how == nullptr ? makeNode(SortGroupClause) : copyObject(const_cast<SortGroupClause *>(how));
    if (how == nullptr)
        get_sort_group_operators(exprType(expression), true, true, false, &clause->sortop, &clause->eqop, nullptr,
                                 &clause->hashable);
    clause->tleSortGroupRef = target->ressortgroupref = static_cast<Index>(target->resno);
    return clause;
}

static WindowClause *make_window(Query *query, const Question *people, const query::Window &window, const List *values) {
    auto *clause = makeNode(WindowClause);
    clause->winref = static_cast<Index>(list_length(query->windowClause) + 1);
    clause->frameOptions = FRAMEOPTION_DEFAULTS;
    for (auto *value : border::each<Node>(values))
        clause->partitionClause = lappend(clause->partitionClause, clause_for(query, in_one_spelling(value), nullptr));
    for (auto *key : border::each<Node>(window.partition))
        clause->partitionClause =
            lappend(clause->partitionClause, clause_for(query, in_short_spelling(key), nullptr));
    if (!window.numbered)
        return clause;
    ListCell *order, *how;
    forboth(order, window.order, how, window.clauses)
        clause->orderClause =
            lappend(clause->orderClause, clause_for(query, in_short_spelling(static_cast<Node *>(lfirst(order))),
                                                    lfirst_node(SortGroupClause, how)));
    for (auto *column : border::each<Node>(people->per_unit->read)) // rows that still tie are equal in all that is read
        clause->orderClause = lappend(clause->orderClause, clause_for(query, in_short_spelling(column), nullptr));
    return clause;
}

void add_windows(Query *query, const Question *people, const List *values) {
    query->hasAggs = false;
    query->hasWindowFuncs = true;
    for (auto *window : border::each<const query::Window>(people->per_unit->windows))
        query->windowClause = lappend(query->windowClause, make_window(query, people, *window, values));
}

} // namespace dp::rows
