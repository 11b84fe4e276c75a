#include "query/grammar.hpp"

#include "privacy/joint.hpp"
#include "privacy/quantile.hpp"

#include "border/each.hpp"
#include "border/grouping.hpp"
#include "border/refuse.hpp"
#include "border/versions.hpp"
#include "catalog/settings.hpp"
#include "query/aggregate_table.hpp"
#include "query/distinct.hpp"
#include "query/from.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"
#include "query/interval_marks.hpp"
#include "query/percentile.hpp"
#include "query/public_view.hpp"
#include "query/hints.hpp"
#include "query/exists.hpp"
#include "query/total_table.hpp"
#include "query/asked_limits.hpp"

namespace dp::query {

// ---- aggregates ----------------------------------------------------------------------------------------------------

static bool identify(const Aggref *call, privacy::Aggregate *fn) {
    const std::optional<privacy::Aggregate> measure = measure_of(plain_aggregate(call));
    if (measure)
        *fn = *measure;
    return measure.has_value();
}

// percentile_cont takes double precision, and the parser casts other numbers to it, which keeps their order: the grid is that of
// what was written.
static Node *argument_of(const Aggref *call) {
    auto *argument = reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr);
    if (takes_two_columns(call))
        return joint_argument(argument, reinterpret_cast<Node *>(lsecond_node(TargetEntry, call->args)->expr));
    return call->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8 ? before_cast_to_double(argument) : argument;
}

// count(1) is what some tools write for count(*).
static bool counts_rows(const Aggref *call) {
    return value_in(reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr)) != nullptr;
}

// count(expression) is count(*) of the rows where it is there: one person is one row of it, whatever the expression.
static Expr *and_present(Expr *filter, Node *argument) {
    auto *present = reinterpret_cast<Expr *>(null_test(argument, IS_NOT_NULL));
    auto *all = reinterpret_cast<BoolExpr *>(filter);
    if (equal(filter, present) ||
        (filter != nullptr && IsA(all, BoolExpr) && all->boolop == AND_EXPR && equal(llast(all->args), present)))
        return filter;
    return filter == nullptr ? present : makeBoolExpr(AND_EXPR, list_make2(filter, present), -1);
}

namespace {
// Collects the distinct aggregates, arguments and filters of a leaf, whose lists they become.
struct Met {
    Distinct aggregates; // Aggref *
    Distinct arguments, filters;
};
} // namespace

static int filter_index(Met *met, Expr *filter, ParseState *source) {
    if (filter == nullptr)
        return -1;
    check_condition(reinterpret_cast<Node *>(filter), source);
    return met->filters.add(reinterpret_cast<Node *>(filter)) - 1;
}

// The source of all of these columns; null: of several, or none.
static const Source *source_of_columns(const Leaf *leaf, const List *columns) {
    const Source *source = nullptr;
    ListCell *cell;
    foreach (cell, columns) {
        const Source *found = source_of(leaf, varno_of(static_cast<AttrNumber>(lfirst_int(cell))));
        if (source != nullptr && found != source)
            return nullptr;
        source = found;
    }
    return source;
}

static const char *count_of_any_units(const Leaf *leaf) {
    for (int i = 0; i < leaf->nsources; i++) {
        const Source &source = leaf->sources[i];
        const char *people = source.is_public || source.tested || source.people != nullptr
                                 ? nullptr
                                 : count_of_units_now(source.relation, alias_of(leaf, source));
        if (people != nullptr)
            return people;
    }
    return nullptr;
}

// The source whose units these columns are; null: of none.
static const Source *source_of_units(const Leaf *leaf, const List *columns) {
    const Source *source = source_of_columns(leaf, columns);
    if (source == nullptr || source->is_public)
        return nullptr;
    return source->people != nullptr                    ? (are_unit_of_people(*source, columns) ? source : nullptr)
           : count_units_now(source->relation, columns) ? source
                                                        : nullptr;
}

// count(DISTINCT x) of anything but the columns that are the unit.
static bool counts_values(const Leaf *leaf, const Aggref *call) {
    return call->aggdistinct != NIL && call->aggfnoid == F_COUNT_ANY &&
           source_of_units(leaf, counted_columns(call)) == nullptr;
}

// Checks DISTINCT: it may stand for units, and in a count.
static void check_distinct(const Leaf *leaf, const Aggref *call, ParseState *source) {
    privacy::Aggregate fn;
    const bool known = call->aggtype == INTERVALOID || identify(call, &fn);
    if (call->aggdistinct == NIL || !known) // not answered without DISTINCT either: refused as it is
        return;
    refuse_if(call->aggfnoid != F_COUNT_ANY, "DISTINCT in an aggregate other than count", other_distinct_remedy, source,
              call->location);
    List *columns = counted_columns(call);
    if (const Source *counted = source_of_units(leaf, columns)) {
        // A row of NULLs is a value of its own: nobody's.
        refuse_if(counted->nullable && list_length(columns) > 1,
                  "DISTINCT over several columns of the nullable side of an outer join",
                  "Count people by the columns of the preserved side, with FILTER (WHERE column IS NOT NULL).", source,
                  call->location);
        return;
    }
    if (!IsA(linitial_node(TargetEntry, call->args)->expr, RowExpr))
        return;
    const char *of_units = count_of_any_units(leaf);
    refuse_part("count(DISTINCT ...) of several columns",
                of_units == nullptr ? row_remedy : psprintf("People are counted by %s. %s", of_units, row_remedy),
                source, call->location);
}

static void check_clauses(const Leaf *leaf, const Aggref *call, ParseState *source) {
    int at = call->location;
    bool percentile = is_percentile(call);
    refuse_if(call->aggkind != AGGKIND_NORMAL && !percentile, psprintf("aggregate %s", get_func_name(call->aggfnoid)),
              aggregate_remedy(call), source, at);
    check_distinct(leaf, call, source);
    refuse_if(call->aggorder != NIL && !percentile, "ORDER BY in an aggregate", "Leave it out.", source, at);
    refuse_if(call->agglevelsup > 0, "an aggregate of an outer query", "Aggregate in the query that reads the view.",
              source, at);
}

// Returns the place of an argument, or -1 for a point of two columns that somebody wrote: only aggregates of two columns take one.
static int place_of_argument(const Met *met, Node *argument, privacy::Aggregate fn) {
    return joint_parts(argument) != NIL && !privacy::is_joint(fn) ? -1 : met->arguments.place_of(argument) - 1;
}

// The argument of an aggregate: a column, or an expression. count(expression) has one where the same is summed as well, so that
// both are of one measure; of its own it counts the rows where it is there.
static void set_argument(const Leaf *leaf, const Met *met, Aggregate *aggregate, const Aggref *call, Expr **filter,
                         ParseState *source) {
    Node *argument = argument_of(call);
    if (Var *column = argument_column(leaf, argument)) {
        check_condition(reinterpret_cast<Node *>(column), source);
        aggregate->column = column;
        return;
    }
    aggregate->argument = place_of_argument(met, argument, aggregate->fn);
    if (aggregate->argument < 0) {
        aggregate->fn = privacy::Aggregate::count_star;
        *filter = and_present(*filter, argument);
    }
}

// Adds the argument that is summed, or counted by its values, before any aggregate is looked at.
static void add_argument(const Leaf *leaf, Met *met, const Aggref *call, ParseState *source) {
    privacy::Aggregate fn;
    if (!identify(call, &fn) || fn == privacy::Aggregate::count_star ||
        (fn == privacy::Aggregate::count && !counts_values(leaf, call)))
        return;
    Node *argument = argument_of(call);
    if (argument_column(leaf, argument) != nullptr || place_of_argument(met, argument, fn) >= 0)
        return;
    check_clauses(leaf, call, source);
    check_condition(privacy::is_joint(fn) ? reinterpret_cast<Node *>(joint_parts(argument)) : argument, source);
    met->arguments.add(argument);
}

static void add_aggregate(Leaf *leaf, Met *met, Aggref *call, ParseState *source) {
    check_clauses(leaf, call, source);
    privacy::Aggregate fn;
    refuse_if(!identify(call, &fn), psprintf("aggregate %s", get_func_name(call->aggfnoid)), aggregate_remedy(call),
              source, call->location);
    Aggregate *aggregate = &leaf->aggregates[leaf->naggregates++];
    aggregate->fn = fn;
    aggregate->node = call;
    aggregate->result_type = call->aggtype;
    aggregate->column = nullptr;
    aggregate->argument = -1;
    if (is_percentile(call))
        set_percentile(aggregate, call, source);
    Expr *filter = call->aggfilter;
    if (counts_values(leaf, call)) {
        aggregate->fn = privacy::Aggregate::count_values;
        set_argument(leaf, met, aggregate, call, &filter, source);
    } else if (call->aggdistinct != NIL) {
        List *counted = counted_columns(call);
        leaf->counted = list_append_unique(leaf->counted, counted);
        aggregate->fn = privacy::Aggregate::count_units;
        if (source_of_columns(leaf, counted)->nullable) // of one column
            filter = and_present(filter, argument_of(call));
    } else if (fn == privacy::Aggregate::count && counts_rows(call))
        aggregate->fn = privacy::Aggregate::count_star;
    else if (fn != privacy::Aggregate::count_star)
        set_argument(leaf, met, aggregate, call, &filter, source);
    aggregate->filter = filter_index(met, filter, source);
}

// ---- the query level -----------------------------------------------------------------------------------------------

static void check_level(const Query *query, ParseState *source) {
    refuse_if(query->setOperations != nullptr, "UNION, INTERSECT or EXCEPT", "Ask one SELECT.", source, -1);
    refuse_if(query->cteList != NIL, "WITH", "Write the query without it.", source, -1);
    refuse_if(query->hasWindowFuncs, "a window function", "Aggregate with GROUP BY.", source, -1);
    refuse_if(query->hasTargetSRFs, "a set-returning function", "Select group keys and aggregates.", source, -1);
    refuse_if(query->groupingSets != NIL, "GROUPING SETS, ROLLUP or CUBE", sets_remedy, source, -1);
    refuse_if(query->havingQual != nullptr, "HAVING", "Filter the answer.", source, -1);
    refuse_if(query->distinctClause != NIL, "DISTINCT", "Use SELECT x, count(*) ... GROUP BY x.", source, -1);
    refuse_if(query->limitCount != nullptr || query->limitOffset != nullptr, "LIMIT or OFFSET", "Cut the answer.",
              source, -1);
    refuse_if(query->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", source, -1);
    refuse_if(query->jointree->fromlist == NIL, "a join, or a query without FROM", "Select from one restricted view.",
              source, -1);
}

void open_from(Leaf *leaf, Query *query, bool of_unit, ParseState *source) {
    leaf->query = query;
    if (list_length(query->rtable) > 1) {
        query->targetList =
            reinterpret_cast<List *>(border::columns_of_joined(query, reinterpret_cast<Node *>(query->targetList)));
        query->havingQual = border::columns_of_joined(query, query->havingQual);
    }
    read_sources(leaf, query, source);
    read_semi_joins(leaf, query, source);
    read_tests(leaf, query, of_unit, source);
}

void check_conditions(const Leaf *leaf, ParseState *source) {
    check_condition(leaf->where, source);
    check_condition(reinterpret_cast<Node *>(conditions_of(leaf->from)), source);
    for (auto *semi : border::each<const SemiJoin>(leaf->semi_joins)) {
        check_condition(semi->condition, source);
        check_condition(semi->unless, source);
    }
    if (leaf->per_unit != nullptr)
        check_condition(leaf->per_unit->where, source);
}

// For an expression, where the analyst chose the type, its operators must be total; rows/groups refuses those of a column that are not
// compiled.
void check_key_type(Node *key, ParseState *source) {
    Oid type = exprType(key);
    Oid compare = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC)->cmp_proc;
    bool fine = IsA(key, Var) ? OidIsValid(compare) : OidIsValid(compare) && find_total(compare) != nullptr;
    refuse_if(!fine, psprintf("GROUP BY a value of type %s", format_type_be(type)),
              "Group by values of a type with an order.", source, exprLocation(key));
    check_collation(exprCollation(key), list_make1(key), source, exprLocation(key));
}

Key key_of(const Leaf *leaf, Node *expression, SortGroupClause *clause) {
    const AttrNumber attno = is_table_column(leaf, expression) ? column_number(castNode(Var, expression)) : 0;
    return Key{expression, attno, exprType(expression), exprTypmod(expression), exprCollation(expression), clause};
}

static void add_key(Leaf *leaf, const Query *query, SortGroupClause *clause, ParseState *source) {
    Node *expression = get_sortgroupclause_expr(clause, query->targetList);
    check_condition(expression, source);
    check_key_type(expression, source);
    leaf->keys[leaf->nkeys++] = key_of(leaf, expression, clause);
}

static Output output_of(const Leaf *leaf, const Met &met, const TargetEntry *target, ParseState *source) {
    const char *name = target->resname ? target->resname : "?column?";
    auto *node = reinterpret_cast<Node *>(target->expr);
    for (int i = 0; i < leaf->nkeys; i++)
        if (equal(node, leaf->keys[i].expression))
            return Output{true, i, name, Part::value};
    Part part = Part::value;
    Node *call = below_mark(node, &part);
    if (const int place = met.aggregates.place_of(call)) {
        check_part(leaf->aggregates[place - 1], part, source);
        return Output{false, place - 1, name, part};
    }
    if (contains_column(node) || contain_aggs_of_level(node, 0))
        refuse_part("an expression over aggregates or keys", "Select group keys and aggregates as they are.", source,
                    exprLocation(node));
    refuse_part("a constant in the SELECT list", "Select group keys and aggregates.", source, exprLocation(node));
}

// Target list: the group keys and the aggregates. The same aggregate twice is one, and so are its value and the ends of its
// interval: one measure, one price, one draw.
static void add_outputs(Leaf *leaf, const Query *query, ParseState *source) {
    Met met = {Distinct::none(), Distinct::none(), Distinct::none()};
    for (auto *target : border::each<TargetEntry>(query->targetList)) {
        Part part;
        Node *call = below_mark(reinterpret_cast<Node *>(target->expr), &part);
        if (IsA(call, Aggref))
            add_argument(leaf, &met, castNode(Aggref, call), source);
    }
    for (auto *target : border::each<TargetEntry>(query->targetList)) {
        auto *node = reinterpret_cast<Node *>(target->expr);
        Part part = Part::value;
        Node *call = below_mark(node, &part);
        if (part != Part::value && !IsA(call, Aggref))
            refuse_mark(node, source);
        if (IsA(call, Aggref) && met.aggregates.add(call) > leaf->naggregates)
            add_aggregate(leaf, &met, castNode(Aggref, call), source);
    }
    leaf->arguments = met.arguments.nodes;
    leaf->filters = met.filters.nodes;
    for (auto *target : border::each<TargetEntry>(query->targetList)) {
        if (!target->resjunk)
            leaf->outputs[leaf->noutputs++] = output_of(leaf, met, target, source);
    }
}

static bool asks(const Leaf *leaf, bool (*is)(privacy::Aggregate)) {
    for (int i = 0; i < leaf->naggregates; i++)
        if (is(leaf->aggregates[i].fn))
            return true;
    return false;
}

bool asks_joint(const Leaf *leaf) {
    return asks(leaf, privacy::is_joint);
}

bool asks_quantile(const Leaf *leaf) {
    return asks(leaf, privacy::is_quantile);
}

Leaf *check_leaf(const Query *written, ParseState *source) {
    auto *leaf = static_cast<Leaf *>(palloc0(sizeof(Leaf)));
    check_people(const_cast<Query *>(written));
    Query *query = with_public_views_open(written);
    border::flatten_grouping(query);
    check_level(query, source);
    open_from(leaf, query, false, source);
    check_outputs(list_length(query->targetList)); // the keys are among them
    int size = list_length(query->targetList) + list_length(query->groupClause);
    leaf->keys = static_cast<Key *>(palloc0(sizeof(Key) * (size + 1)));
    leaf->aggregates = static_cast<Aggregate *>(palloc0(sizeof(Aggregate) * (size + 1)));
    leaf->outputs = static_cast<Output *>(palloc0(sizeof(Output) * (size + 1)));
    if (!query->hasAggs && query->groupClause == NIL)
        refuse_right(private_rows, rows_remedy);
    check_conditions(leaf, source);
    for (auto *clause : border::each<SortGroupClause>(query->groupClause))
        add_key(leaf, query, clause, source);
    add_outputs(leaf, query, source);
    refuse_if(query->sortClause != NIL, "ORDER BY", "Sort the answer.", source, -1);
    return leaf;
}

} // namespace dp::query
