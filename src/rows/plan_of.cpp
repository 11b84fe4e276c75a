#include "rows/plan_of.hpp"

#include <algorithm>
#include <numeric>

#include "border/each.hpp"
#include "border/guard.hpp"
#include "border/scope.hpp"
#include "border/visit.hpp"
#include "query/constants.hpp"
#include "query/aggregate_table.hpp"
#include "query/grammar.hpp"
#include "query/asked_limits.hpp"
#include "query/windows.hpp"
#include "rows/compared.hpp"
#include "rows/nodes.hpp"
#include "rows/arrays.hpp"
#include "rows/plan_expression.hpp"

namespace dp::rows {

namespace {
struct Builder {
    const query::Leaf *leaf;
    plan::Plan *plan;
};
} // namespace

// A new one at the end of a list.
template <class T> static T *appended(std::vector<T> *list) {
    return border::core([&] { return &list->emplace_back(); });
}

// ---- sources -------------------------------------------------------------------------------------------------------

static void add_people(const query::Leaf *leaf, plan::Source *source);

static void add_source(const Builder &builder, const query::Source &source) {
    if (source.people != nullptr)
        return add_people(source.people, appended(&builder.plan->sources));
    if (source.rows == nullptr) {
        const NameText name = name_of_relation(source.relation);
        return border::core([&] { builder.plan->sources.push_back({name.made(), source.is_public, {}, {}}); });
    }
    plan::Source *rows = appended(&builder.plan->sources);
    rows->is_public = true;
    for (auto *function : border::each<RangeTblFunction>(source.rows->functions))
        add_expression(builder.leaf, static_cast<Node *>(linitial(castNode(FuncExpr, function->funcexpr)->args)), appended(&rows->columns));
}

static void add_item(const Builder &builder, Node *item) {
    plan::Item *added = nullptr;
    if (IsA(item, RangeTblRef)) {
        added = appended(&builder.plan->from);
        added->number = source_number(builder.leaf, castNode(RangeTblRef, item)->rtindex);
        return;
    }
    auto *join = castNode(JoinExpr, item);
    add_item(builder, join->larg);
    add_item(builder, join->rarg);
    added = appended(&builder.plan->from);
    added->kind = join->jointype == JOIN_LEFT ? plan::Item::left : plan::Item::inner;
    add_or_nothing(builder.leaf, join->quals, &added->on);
}

static void add_exists(const Builder &builder, const query::SemiJoin *semi) {
    plan::Exists *exists = appended(&builder.plan->exists);
    exists->first = static_cast<uint32>(semi->source);
    exists->count = static_cast<uint32>(semi->nsources);
    exists->is_value = semi->test != 0;
    exists->negated = semi->negated;
    add_or_nothing(builder.leaf, semi->condition, &exists->condition);
    add_or_nothing(builder.leaf, semi->unless, &exists->unless);
}

// ---- the order of sub-SELECTs ----------------------------------------------------------------------------------------

namespace {
struct Placed {
    query::SemiJoin *semi;
    const query::Leaf *alone; // FROM, then its sources
    std::string *bytes;       // of a plan of that
};
} // namespace

static Placed placed(const query::Leaf *leaf, query::SemiJoin *semi, ParamListInfo parameters) {
    auto *alone = array_of<query::Leaf>(1);
    *alone = *leaf;
    alone->nsources = leaf->njoined + semi->nsources;
    memcpy(alone->sources + leaf->njoined, leaf->sources + semi->source, sizeof(query::Source) * semi->nsources);
    query::SemiJoin folded = *semi;
    folded.source = leaf->njoined;
    folded.condition = query::fold_constants(static_cast<Node *>(copyObject(semi->condition)), parameters);
    folded.unless = query::fold_constants(static_cast<Node *>(copyObject(semi->unless)), parameters);
    const Builder builder = {alone, border::context_new<plan::Plan>()};
    for (int i = leaf->njoined; i < alone->nsources; i++)
        add_source(builder, alone->sources[i]);
    add_exists(builder, &folded);
    auto *bytes = border::context_new<std::string>();
    border::core([&] { *bytes = plan::encode(*builder.plan); });
    return {semi, alone, bytes};
}

void order_exists(query::Leaf *leaf, ParamListInfo parameters) {
    const int n = list_length(leaf->semi_joins);
    if (n < 2)
        return;
    border::SettingsScope settings = border::SettingsScope::enter();
    auto *all = array_of<Placed>(n);
    for (int i = 0; i < n; i++)
        all[i] = placed(leaf, static_cast<query::SemiJoin *>(list_nth(leaf->semi_joins, i)), parameters);
    settings.leave();
    border::core([&] {
        std::stable_sort(all, all + n, [](const Placed &a, const Placed &b) { return *a.bytes < *b.bytes; });
    });
    int next = leaf->njoined, place_of[query::max_sources] = {}; // NOT IN is several over the same sources
    for (int i = 0; i < n; i++) {
        query::SemiJoin *semi = all[i].semi;
        int *place = &place_of[semi->source];
        if (*place == 0) {
            *place = next;
            memcpy(leaf->sources + next, all[i].alone->sources + leaf->njoined, sizeof(query::Source) * semi->nsources);
            next += semi->nsources;
        }
        semi->source = *place;
        lfirst(list_nth_cell(leaf->semi_joins, i)) = semi;
    }
}

// ---- what is grouped and counted -------------------------------------------------------------------------------------

// columns: list of int, query::column_number.
static void add_columns(const query::Leaf *leaf, const List *columns, std::vector<plan::Column> *into) {
    ListCell *cell;
    foreach (cell, columns) {
        const auto column = static_cast<AttrNumber>(lfirst_int(cell));
        const uint32 source = source_number(leaf, query::varno_of(column));
        const char *name = column_text(leaf, query::varno_of(column), query::attno_of(column));
        border::core([&] { into->push_back({source, name}); });
    }
}

// Core region.
static void sort_columns(std::vector<plan::Column> *columns) {
    std::sort(columns->begin(), columns->end(), [](const plan::Column &a, const plan::Column &b) {
        return plan::encode(a) < plan::encode(b);
    });
    columns->erase(std::unique(columns->begin(), columns->end(),
                               [](const plan::Column &a, const plan::Column &b) {
                                   return a.source == b.source && a.name == b.name;
                               }),
                   columns->end());
}

// Keys of which a set is meant, in the order of their bytes. Core region.
static void sort_keys(std::vector<plan::Expression> *keys) {
    const auto bytes_of = [](const plan::Expression &key) {
        plan::Aggregate alone;
        alone.argument = key;
        return plan::encode(alone);
    };
    std::sort(keys->begin(), keys->end(),
              [&](const plan::Expression &a, const plan::Expression &b) { return bytes_of(a) < bytes_of(b); });
}

static void add_over(const query::Leaf *leaf, const WindowFunc *call, plan::Aggregate *into) {
    const auto *window = static_cast<const query::Window *>(list_nth(leaf->per_unit->windows, static_cast<int>(call->winref) - 1));
    plan::Over *over = border::core([&] { return &into->over.emplace(); });
    ListCell *cell, *clause;
    foreach (cell, call->args)
        if (foreach_current_index(cell) > 0)
            add_expression(leaf, static_cast<Node *>(lfirst(cell)), appended(&over->arguments));
    foreach (cell, window->partition)
        add_expression(leaf, static_cast<Node *>(lfirst(cell)), appended(&over->partition));
    border::core([&] { sort_keys(&over->partition); });
    forboth(cell, window->order, clause, window->clauses) {
        plan::Order *order = appended(&over->order);
        auto *by = static_cast<Node *>(lfirst(cell));
        order->descending = strategy_of(lfirst_node(SortGroupClause, clause)->sortop, exprType(by)) == BTGreaterStrategyNumber;
        order->nulls_first = lfirst_node(SortGroupClause, clause)->nulls_first;
        add_expression(leaf, by, &order->by);
    }
}

static void add_aggregate(const query::Leaf *leaf, Node *column, plan::Aggregate *into) {
    const Aggref *call = IsA(column, Aggref) ? castNode(Aggref, column) : query::call_of(castNode(WindowFunc, column));
    if (!IsA(column, Aggref))
        add_over(leaf, castNode(WindowFunc, column), into);
    const NameText function = name_of_function(call->aggfnoid), collation = name_of_collation(call->inputcollid);
    border::core([&] {
        into->function = function.made();
        into->collation = collation.made();
    });
    into->distinct = call->aggdistinct != NIL;
    if (call->args != NIL)
        add_expression(leaf, as_node(linitial_node(TargetEntry, call->args)->expr), &into->argument);
    add_or_nothing(leaf, as_node(call->aggfilter), &into->filter);
}

// Adds columns that are no part of a key beside them.
static void find_carried(const List *keys, Node *expression, List **columns) {
    border::visit(expression, [&](Node *node, Index) {
        if (!IsA(node, Var))
            return list_member(keys, node) ? border::Step::past : border::Step::in;
        if (castNode(Var, node)->varno != query::unit_varno)
            *columns = list_append_unique_int(*columns, query::column_number(castNode(Var, node)));
        return border::Step::in;
    });
}

static void add_per_person(const Builder &builder) {
    const query::PerUnit *per_unit = builder.leaf->per_unit;
    plan::PerPerson *person = border::core([&] { return &builder.plan->per_person.emplace(); });
    if (builder.leaf->counted != NIL)
        add_columns(builder.leaf, static_cast<const List *>(linitial(builder.leaf->counted)), &person->person);
    List *carried = NIL;
    for (int i = 0; i < builder.leaf->nkeys && per_unit->windows == NIL; i++)
        find_carried(per_unit->keys, builder.leaf->keys[i].expression, &carried);
    find_carried(per_unit->keys, per_unit->where, &carried);
    ListCell *cell;
    foreach (cell, per_unit->keys)
        if (IsA(lfirst(cell), Var))
            find_carried(per_unit->keys, static_cast<Node *>(lfirst(cell)), &carried);
    add_columns(builder.leaf, carried, &person->carried);
    border::core([&] {
        sort_columns(&person->person);
        sort_columns(&person->carried);
    });
    for (auto *one : border::each<Node>(per_unit->columns))
        add_aggregate(builder.leaf, one, appended(&person->aggregates));
    add_or_nothing(builder.leaf, per_unit->where, &person->where);
    foreach (cell, per_unit->keys)
        if (!IsA(lfirst(cell), Var))
            add_expression(builder.leaf, static_cast<Node *>(lfirst(cell)), appended(&person->keys));
    border::core([&] { sort_keys(&person->keys); });
}

// ---- measures ------------------------------------------------------------------------------------------------------

// Returns whether people are asked for: not where count(*) is, which is the same number then.
static bool asks_people(const query::Leaf *leaf, const privacy::Measure &measure) {
    bool rows = false;
    for (int call : measure.calls)
        rows = rows || leaf->aggregates[call].fn == privacy::Aggregate::count_star;
    return measure.of_units && !rows;
}

static plan::Kind kind_of(const query::Leaf *leaf, const privacy::Measure &measure) {
    switch (measure.kind) {
    case privacy::MeasureKind::count:
        return measure.of_values            ? plan::Kind::values
               : measure.argument >= 0      ? plan::Kind::present
               : asks_people(leaf, measure) ? plan::Kind::people
                                            : plan::Kind::rows;
    case privacy::MeasureKind::sum:
        return plan::Kind::sum;
    case privacy::MeasureKind::pair:
        return plan::Kind::pair;
    case privacy::MeasureKind::triple:
        return plan::Kind::triple;
    case privacy::MeasureKind::products:
        return plan::Kind::products;
    case privacy::MeasureKind::moments:
        return plan::Kind::moments;
    case privacy::MeasureKind::quantile:
        return plan::Kind::quantile;
    }
    pg_unreachable();
}

static void add_argument(const query::Leaf *leaf, const query::Aggregate &aggregate, plan::Measure *into) {
    if (aggregate.argument < 0)
        return add_column(leaf, aggregate.column, appended(&into->arguments));
    auto *argument = static_cast<Node *>(list_nth(leaf->arguments, aggregate.argument));
    const List *parts = query::joint_parts(argument);
    for (auto *one : border::each<Node>(parts == NIL ? list_make1(argument) : parts))
        add_expression(leaf, one, appended(&into->arguments));
}

static void add_measure(const query::Leaf *leaf, const privacy::Measure &measure, plan::Measure *into) {
    const query::Aggregate &aggregate = leaf->aggregates[measure.calls.front()];
    into->kind = kind_of(leaf, measure);
    into->fraction = Max(measure.fraction, 0);
    if (into->kind == plan::Kind::people)
        add_columns(leaf, query::counted_columns(aggregate.node), &into->person);
    else if (into->kind != plan::Kind::rows)
        add_argument(leaf, aggregate, into);
    if (measure.filter >= 0)
        add_expression(leaf, static_cast<Node *>(list_nth(leaf->filters, measure.filter)), &into->filter);
}

// Returns the places of elements in the order of their bytes. Core region.
template <class T> static std::vector<std::uint32_t> places_by_bytes(const std::vector<T> &elements) {
    std::vector<std::string> bytes;
    for (const T &element : elements)
        bytes.push_back(plan::encode(element));
    std::vector<std::uint32_t> places(elements.size());
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return bytes[a] < bytes[b]; });
    return places;
}

// Sorts the aggregates of one person's rows by their bytes, and numbers what stands above by their new places. What nothing shows, since
// folding has left a constant in its place, is left out; what folding has made equal is one. Core region.
static void sort_aggregates(plan::Plan *plan) {
    std::vector<plan::Node *> columns;
    const auto find = [&](plan::Expression &expression) {
        for (plan::Node &node : expression)
            if (node.op == plan::Op::person_column)
                columns.push_back(&node);
    };
    find(plan->per_person->where);
    std::for_each(plan->keys.begin(), plan->keys.end(), find);
    std::vector<plan::Aggregate> sorted;
    std::vector<std::uint32_t> numbers(columns.size());
    for (std::uint32_t place : places_by_bytes(plan->per_person->aggregates)) {
        if (std::none_of(columns.begin(), columns.end(), [&](const plan::Node *column) { return column->number == place; }))
            continue;
        plan::Aggregate &one = plan->per_person->aggregates[place];
        if (sorted.empty() || plan::encode(one) != plan::encode(sorted.back()))
            sorted.push_back(std::move(one));
        for (std::size_t i = 0; i < columns.size(); i++)
            if (columns[i]->number == place)
                numbers[i] = static_cast<std::uint32_t>(sorted.size() - 1);
    }
    for (std::size_t i = 0; i < columns.size(); i++)
        columns[i]->number = numbers[i];
    plan->per_person->aggregates = std::move(sorted);
}

// Core region: measures ascend by their bytes, so the order of columns does not matter.
static void sort_measures(std::vector<plan::Measure> *measures, int *order, int n) {
    std::vector<plan::Measure> sorted;
    std::vector<int> numbers;
    for (std::uint32_t place : places_by_bytes(*measures)) {
        sorted.push_back(std::move((*measures)[place]));
        numbers.push_back(order[n + place]);
    }
    *measures = std::move(sorted);
    std::copy(numbers.begin(), numbers.end(), order + n);
}

// Returns for each measure its place among those of the question: first those that nobody asks for.
static const int *add_measures(const Builder &builder, const std::vector<privacy::Measure> &measures) {
    const int n = static_cast<int>(measures.size());
    auto *order = zeroed<int>(n + 1);
    int unasked = 0, asked = 0;
    for (int j = 0; j < n; j++)
        if (measures[j].calls.empty())
            order[unasked++] = j;
    for (int j = 0; j < n; j++) {
        if (measures[j].calls.empty())
            continue;
        add_measure(builder.leaf, measures[j], appended(&builder.plan->measures));
        order[unasked + asked++] = j;
    }
    border::core([&] {
        sort_measures(&builder.plan->measures, order, unasked);
    });
    return order;
}

// ---- what is read and grouped ----------------------------------------------------------------------------------------

// All but the measures.
static void add_rows(const Builder &builder) {
    const query::Leaf *leaf = builder.leaf;
    for (int i = 0; i < leaf->nsources; i++)
        add_source(builder, leaf->sources[i]);
    for (auto *one : border::each<Node>(leaf->from))
        add_item(builder, one);
    add_where(leaf, leaf->where, &builder.plan->where);
    for (auto *one : border::each<const query::SemiJoin>(leaf->semi_joins))
        add_exists(builder, one);
    if (leaf->per_unit != nullptr && query::computes_columns(leaf->per_unit))
        add_per_person(builder);
    for (int i = 0; i < leaf->nkeys; i++)
        add_expression(leaf, leaf->keys[i].expression, appended(&builder.plan->keys));
}

static void add_people(const query::Leaf *leaf, plan::Source *source) {
    auto *people = border::context_new<plan::Plan>();
    add_rows({leaf, people});
    border::core([&] {
        if (people->per_person)
            sort_aggregates(people);
        source->people.push_back(*people);
    });
}

// ---- the plan ------------------------------------------------------------------------------------------------------

const plan::Plan *plan_of(const query::Leaf *leaf, const std::vector<privacy::Measure> &measures, const int **order) {
    const Builder builder = {leaf, border::context_new<plan::Plan>()};
    add_rows(builder);
    *order = add_measures(builder, measures);
    return builder.plan;
}

} // namespace dp::rows
