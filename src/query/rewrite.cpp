#include "query/rewrite.hpp"

#include "catalog/decimals.hpp"
#include "border/each.hpp"
#include "border/grouping.hpp"
#include "border/permissions.hpp"
#include "border/scope.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "catalog/settings.hpp"
#include "query/asked_limits.hpp"
#include "query/branches.hpp"
#include "query/constants.hpp"
#include "query/dependent.hpp"
#include "query/distinct.hpp"
#include "query/estimates.hpp"
#include "query/flatten_subselects.hpp"
#include "query/percentile_arrays.hpp"
#include "query/in_people.hpp"
#include "query/intervals.hpp"
#include "query/leaf_from.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"
#include "query/interval_marks.hpp"
#include "query/hints.hpp"
#include "query/leaf_rows.hpp"
#include "query/passed_rows.hpp"
#include "query/outer_query.hpp"
#include "query/grouping_sets.hpp"
#include "query/grammar.hpp"
#include "query/shown_names.hpp"
#include "query/styled_casts.hpp"

extern "C" {
#include <jit/jit.h>
}

namespace dp::query {

namespace {

planner_hook_type previous_planner = nullptr;
TimestampTz loaded_during = 0; // when the statement started that was running when the library was loaded

// One statement being rewritten.
struct Rewrite {
    ParseState *source;
    const Request *request;
    List *views;        // of the leaves, the first of each
    const Level *level; // that the walk is in
};

// One level being split into leaf and rest.
struct Split {
    List *keys;          // group key expressions
    List *clauses;       // SortGroupClause *, of the keys
    Distinct aggregates; // Aggref *, or a mark around one (query/interval_marks)
    Distinct groupings;  // GroupingFunc *
    bool marked;         // the keys have been looked for already (mark_keys)
    KeyPlaces places;
    List *arguments; // expressions that the statement computes for the leaf, distinct, in order of first use
    ParseState *source;
};

} // namespace

// ---- aggregates ----------------------------------------------------------------------------------------------------

static Node *seen_from_level(Node *node, Index level) {
    Node *outermost = copyObject(node);
    IncrementVarSublevelsUp(outermost, -static_cast<int>(level), static_cast<int>(level));
    return outermost;
}

// An aggregate of the level that is split, marked or not, as it stands in the leaf; null: the node is none.
static Node *own_aggregate(Node *node, Index level) {
    Node *call = below_mark(node);
    return IsA(call, Aggref) && castNode(Aggref, call)->agglevelsup == level ? seen_from_level(node, level) : nullptr;
}

// GROUPING of the level that is split; null: the node is none.
static Node *own_grouping(Node *node, Index level) {
    return IsA(node, GroupingFunc) && castNode(GroupingFunc, node)->agglevelsup == level ? seen_from_level(node, level)
                                                                                         : nullptr;
}

// A mark around anything else of this level.
static void refuse_own_mark(Node *node, Index level, ParseState *source) {
    Node *inner = marked(node);
    const int up = static_cast<int>(level);
    if (inner != nullptr && (up == 0 || contain_aggs_of_level(inner, up) || contain_vars_of_level(inner, up)))
        refuse_mark(node, source);
}

// Aggregates of this level, wherever they stand (target list, HAVING, ORDER BY, inside sublinks of the rest).
static void collect_aggregates(Node *expression, Split *split) {
    border::visit(expression, [=](Node *node, Index level) {
        Node *grouping = own_grouping(node, level), *aggregate = own_aggregate(node, level);
        if (grouping != nullptr)
            split->groupings.add(grouping);
        else if (aggregate != nullptr)
            split->aggregates.add(aggregate);
        else if (!IsA(node, Aggref)) {
            refuse_own_mark(node, level, split->source);
            return border::Step::in;
        }
        check_outputs(list_length(split->keys) + split->aggregates.count() + split->groupings.count());
        return border::Step::past;
    });
}

// ---- arguments of the leaf -----------------------------------------------------------------------------------------

static bool is_user_defined(Oid function, void *) {
    return function >= FirstUnpinnedObjectId;
}

// Columns, and whatever else has a meaning only at its place; what the closed grammar has to judge where it stands.
static bool belongs_to_leaf(Node *node, void *) {
    check_stack_depth();
    if (node == nullptr)
        return false;
    switch (nodeTag(node)) {
    case T_Var:
    case T_Aggref:
    case T_GroupingFunc:
    case T_WindowFunc:
    case T_SubLink:
    case T_Query:
    case T_CaseTestExpr:
    case T_CoerceToDomain:
    case T_CoerceToDomainValue:
    case T_RowExpr:
        return true;
    case T_Param:
        return castNode(Param, node)->paramkind != PARAM_EXTERN;
    case T_ArrayCoerceExpr: // the expression for one element stands on a CaseTestExpr
        return belongs_to_leaf(reinterpret_cast<Node *>(castNode(ArrayCoerceExpr, node)->arg), nullptr);
    default:
        return check_functions_in_node(node, is_user_defined, nullptr) ||
               border::walk_expression(node, belongs_to_leaf, nullptr);
    }
}

// An expression that is the same for all rows and that the leaf's text cannot hold: it has parameters, or depends on
// settings or the clock (a time zone, now()), which are the caller's. The statement computes it and passes the value.
static bool is_argument(Node *node) {
    if (is_own_value(node))
        return true;
    if (!IsA(node, Param) && !is_computed(node))
        return false;
    return (contains_parameter(node) || contain_mutable_functions(node)) && !belongs_to_leaf(node, nullptr) &&
           !contain_volatile_functions(node) && !expression_returns_set(node) &&
           get_typtype(exprType(node)) != TYPTYPE_PSEUDO;
}

// The parameter of the leaf that stands for an argument of release().
static Node *leaf_parameter(Node *argument, Split *split) {
    const int number = place_in(&split->arguments, copied(argument));
    check_leaf_arguments(list_length(split->arguments));
    // A variable of plpgsql, for instance, may have a collation of its own.
    return make_parameter(number, exprType(argument), exprTypmod(argument), exprCollation(argument), exprLocation(argument));
}

static Query *extract_arguments(Query *leaf, Split *split) {
    return castNode(Query,
                    border::change(reinterpret_cast<Node *>(leaf), QTW_IGNORE_JOINALIASES, [=](Node *node, Index) {
                        return is_argument(node) ? leaf_parameter(node, split) : nullptr;
                    }));
}

// ---- leaf ----------------------------------------------------------------------------------------------------------

// Returns the name that the statement shows a column by: the ledger and dp_last_release use it as well.
static char *column_name(const ShownNames &shown, Node *expression, int number) {
    const char *name = shown.name_of(expression);
    return name == nullptr ? psprintf("c%d", number) : pstrdup(name);
}

static void add_key_or_aggregate(Query *leaf, const ShownNames &shown, const Node *expression,
                                 SortGroupClause *clause) {
    Node *own = copied(expression);
    TargetEntry *target = add_target(leaf, own, column_name(shown, own, list_length(leaf->targetList) + 1));
    if (clause == nullptr)
        return;
    auto *copy = copyObject(clause);
    copy->tleSortGroupRef = target->ressortgroupref = target->resno;
    leaf->groupClause = lappend(leaf->groupClause, copy);
}

// Keys first, then the distinct aggregates, over what FROM was folded to.
static Query *build_leaf(const Query *query, const Folded *folded, Split *split) {
    Query *leaf = make_select();
    add_from(leaf, folded, query);
    leaf->hasAggs = split->aggregates.nodes != NIL;
    const auto shown = ShownNames::of(query->targetList, false);
    ListCell *cell;
    foreach (cell, split->clauses)
        add_key_or_aggregate(leaf, shown, static_cast<Node *>(list_nth(split->keys, foreach_current_index(cell))),
                             lfirst_node(SortGroupClause, cell));
    for (auto *part : border::each<Node>(split->aggregates.nodes))
        add_key_or_aggregate(leaf, shown, part, nullptr);
    forget_unused_columns(leaf);
    check_parts(leaf);
    return extract_arguments(leaf, split);
}

// ---- rest ----------------------------------------------------------------------------------------------------------

static Node *released_column(const Node *expression, int number, Index level) {
    return reinterpret_cast<Node *>(column_showing(1, number, expression, level));
}

// The key that a mark stands for; 0: the node is none.
static int marked_key(Node *node, const Split *split) {
    return split->marked ? split->places.of(reference_of_mark(node)) : 0;
}

// Returns the number of the key, aggregate or GROUPING() that stands at a level, as it would in the leaf; 0: the node is none.
static int number_of_column(Node *node, Index level, const Split *split) {
    Node *here = node, *aggregate = own_aggregate(node, level);
    const int keys = list_length(split->keys);
    if (aggregate != nullptr)
        here = aggregate;
    else if (level > 0)
        here = IsA(node, Var) && castNode(Var, node)->varlevelsup == level ? seen_from_level(node, level) : nullptr;
    for (int i = 0; i < keys && here != nullptr && !split->marked; i++)
        if (equal(list_nth(split->keys, i), here))
            return i + 1;
    if (const int place = aggregate == nullptr ? 0 : split->aggregates.place_of(aggregate))
        return keys + place;
    if (const int key = marked_key(node, split))
        return key;
    Node *grouping = own_grouping(node, level);
    return grouping == nullptr ? 0 : keys + split->aggregates.count() + split->groupings.place_of(grouping);
}

// Keys and aggregates become columns of the release, also where a sublink of the rest refers to them.
static Node *to_rest(Node *expression, const Split *split) {
    return border::change(expression, [=](Node *node, Index level) -> Node * {
        if (const int number = number_of_column(node, level, split))
            return released_column(node, number, level);
        // A part of a key that stands elsewhere: the server takes it for the key's, where it is written differently.
        if (IsA(node, Var) && castNode(Var, node)->varlevelsup == level)
            refuse_part("a column outside of what is grouped by and aggregated",
                        "Add it to GROUP BY; or write the key as it stands there.", split->source, exprLocation(node));
        return nullptr;
    });
}

// One line for the ledger and EXPLAIN: white space outside quotes is folded. Quotes inside literals and identifiers are
// doubled by the deparser, so counting them tells inside from outside.
static char *on_one_line(const char *text) {
    StringInfo line = makeStringInfo();
    char quote = '\0';
    for (const char *c = text; *c != '\0'; c++) {
        if (quote == '\0' && isspace(static_cast<unsigned char>(*c))) {
            if (line->len > 0 && line->data[line->len - 1] != ' ')
                appendStringInfoChar(line, ' ');
            continue;
        }
        if (quote == '\0' && (*c == '\'' || *c == '"'))
            quote = *c;
        else if (*c == quote)
            quote = '\0';
        appendStringInfoChar(line, *c);
    }
    return line->data;
}

const char *text_of_leaf(const Query *leaf) {
    border::SettingsScope settings = border::SettingsScope::enter();
    char *text = pg_get_querydef(copyObject(const_cast<Query *>(leaf)), false);
    settings.leave();
    return on_one_line(text);
}

static const char *deparse(const Query *leaf) {
    const char *text = text_of_leaf(leaf);
    check_text(text);
    return text;
}

static Const *float_constant(double value, bool isnull) {
    return makeConst(FLOAT8OID, -1, InvalidOid, sizeof(double), Float8GetDatum(value), isnull, FLOAT8PASSBYVAL);
}

static Const *float_constant(const std::optional<double> &value) {
    return float_constant(value.value_or(0), !value);
}

static Const *limit_constant(int limit) {
    return int_constant(limit, limit == 0);
}

static FuncExpr *release_call(const char *leaf, const Split *split, const Request *request) {
    auto *call = makeNode(FuncExpr);
    call->funcid = release_function(split->arguments != NIL);
    call->funcresulttype = RECORDOID;
    call->funcretset = true;
    call->funcformat = COERCE_EXPLICIT_CALL;
    call->inputcollid = DEFAULT_COLLATION_OID;
    bool less = request != nullptr && request->has_epsilon;
    Datum epsilon = less ? catalog::to_numeric(request->epsilon) : Datum(0);
    double weight = request != nullptr ? request->weight : 1;
    privacy::Wanted wanted = request != nullptr ? request->wanted : privacy::Wanted{};
    call->args = list_make3(text_constant(leaf), makeConst(NUMERICOID, -1, InvalidOid, -1, epsilon, !less, false),
                            float_constant(weight, false));
    call->args = list_concat(call->args, list_make3(float_constant(wanted.within), float_constant(wanted.error95),
                                                    float_constant(wanted.deviations, false)));
    bool replay = request == nullptr || !request->anew;
    call->args =
        lappend(call->args, makeConst(BOOLOID, -1, InvalidOid, sizeof(bool), BoolGetDatum(replay), false, true));
    Limits limits = request != nullptr ? request->limits : Limits{};
    call->args = list_concat(call->args, list_make3(limit_constant(limits.max_rows), limit_constant(limits.max_groups),
                                                    limit_constant(limits.max_rows_per_group)));
    call->args = list_concat(call->args, static_cast<List *>(copyObject(split->arguments)));
    return call;
}

// Two columns of one name get different ones: EXPLAIN would look for such names, in a time of the third power of their number.
static List *different(const List *names) {
    Distinct taken = Distinct::none();
    List *all = NIL;
    ListCell *cell;
    foreach (cell, names) {
        auto *name = static_cast<Node *>(lfirst(cell));
        const int number = foreach_current_index(cell) + 1;
        while (taken.add(name) < number)
            name = reinterpret_cast<Node *>(makeString(psprintf("%s_%d", strVal(name), number)));
        all = lappend(all, name);
    }
    return all;
}

// The answer has the name of the view in plans, of several the first one's.
static RangeTblEntry *release_entry(const Query *leaf, Oid view, FuncExpr *call) {
    expect_rows(call, leaf);
    auto *function = makeNode(RangeTblFunction);
    function->funcexpr = reinterpret_cast<Node *>(call);
    function->funccolcount = list_length(leaf->targetList);
    for (auto *target : border::each<TargetEntry>(leaf->targetList)) {
        auto *expression = reinterpret_cast<Node *>(target->expr);
        function->funccolnames = lappend(function->funccolnames, makeString(target->resname));
        function->funccoltypes = lappend_oid(function->funccoltypes, exprType(expression));
        function->funccoltypmods = lappend_int(function->funccoltypmods, exprTypmod(expression));
        function->funccolcollations = lappend_oid(function->funccolcollations, exprCollation(expression));
    }
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_FUNCTION;
    entry->functions = list_make1(function);
    function->funccolnames = different(function->funccolnames);
    entry->alias = makeAlias(get_rel_name(view), static_cast<List *>(copyObject(function->funccolnames)));
    entry->eref = copyObject(entry->alias);
    entry->inFromCl = true;
    return entry;
}

// Where keys are marked, those that a target is.
static void mark_targets(Query *query, Split *split) {
    for (auto *target : border::each<TargetEntry>(split->marked ? query->targetList : NIL)) {
        if (split->places.of(target->ressortgroupref) != 0)
            target->expr = reinterpret_cast<Expr *>(mark_of_key(target));
    }
}

// Replaces the aggregation by a scan of the answer. The facade's expanded entry leaves the range table; the views that led
// to it stay in it without being read.
static void replace_by(Query *query, RangeTblEntry *answer, const Folded *folded, Split *split) {
    mark_targets(query, split);
    query->targetList = reinterpret_cast<List *>(to_rest(reinterpret_cast<Node *>(query->targetList), split));
    Node *having = to_rest(query->havingQual, split);
    query->havingQual = nullptr;
    query->groupClause = query->groupingSets = NIL;
    query->groupDistinct = false;
    query->hasAggs = false;
    query->hasSubLinks = query->hasSubLinks || checkExprHasSubLink(reinterpret_cast<Node *>(answer->functions));
    query->cteList = list_concat(query->cteList, folded->with);
    folded->views.keep(query, answer);
    query->jointree = makeFromExpr(list_make1(reference_to(1)), having);
}

static Oid first_view(const Query *leaf) {
    for (auto *entry : border::each<RangeTblEntry>(leaf->rtable)) {
        if (entry->rtekind == RTE_RELATION && OidIsValid(catalog::table_of_facade(entry->relid)))
            return entry->relid;
        if (entry->rtekind == RTE_SUBQUERY)
            return first_view(entry->subquery);
    }
    elog(ERROR, "a leaf has no restricted view");
}

// A key that is named twice is one: the product of its groups with themselves would be shown otherwise.
static void find_keys(Query *query, Split *split) {
    split->places = KeyPlaces::none(query);
    Distinct keys = Distinct::none();
    for (auto *clause : border::each<SortGroupClause>(query->groupClause)) {
        Node *expression = get_sortgroupclause_expr(clause, query->targetList);
        keys.add(static_cast<Node *>(copyObject(expression)));
        split->places.places[clause->tleSortGroupRef] = keys.place_of(expression);
        if (keys.count() > list_length(split->clauses))
            split->clauses = lappend(split->clauses, clause);
    }
    split->keys = keys.nodes;
    query->groupClause = split->clauses;
}

static void find_parts(Query *query, Split *split) {
    find_keys(query, split);
    collect_aggregates(reinterpret_cast<Node *>(query->targetList), split);
    collect_aggregates(query->havingQual, split);
}

static RangeTblEntry *make_release(const Query *query, const Folded *folded, Split *split, Rewrite *rewrite) {
    check_leaves(list_length(rewrite->views) + 1);
    Query *leaf = build_leaf(query, folded, split);
    if (has_people(folded))
        refuse_outer(leaf, rewrite->source);
    leaf = with_date_style(leaf);
    // An early error with a position; release() decides.
    const Leaf *checked = check_leaf(leaf, rewrite->source);
    const Oid view = first_view(leaf);
    for (int i = 0; i < checked->nsources; i++)
        if (checked->sources[i].rows != nullptr && !has_unit_now(view)) // before an answer in them is charged
            refuse_part("a join where each row is a person of its own", person_rows_remedy, rewrite->source, -1);
    rewrite->views = lappend_oid(rewrite->views, view);
    return release_entry(leaf, view, release_call(deparse(leaf), split, rewrite->request));
}

// The keys of one grouping set, with what is aggregated.
static Split part_of(const Split *split, const Bitmapset *set) {
    Split part = {};
    part.aggregates = split->aggregates;
    part.groupings = split->groupings;
    part.source = split->source;
    for (int key = -1; (key = bms_next_member(set, key)) >= 0;) {
        part.keys = lappend(part.keys, list_nth(split->keys, key));
        part.clauses = lappend(part.clauses, list_nth(split->clauses, key));
    }
    return part;
}

// Named as in a leaf that has all keys.
static SetColumns columns_of(const Query *query, const Split *split) {
    SetColumns columns = {split->keys, split->aggregates.nodes, split->groupings.nodes, NIL, split->places};
    const auto shown = ShownNames::of(query->targetList, false);
    List *names = NIL;
    for (const List *part : {columns.keys, columns.aggregates, columns.groupings}) {
        for (auto *node : border::each<Node>(part))
            names = lappend(names, makeString(column_name(shown, node, list_length(names) + 1)));
    }
    columns.names = names;
    return columns;
}

// A grouped answer for each set. Where nothing is asked about all rows together, their one row is there without an answer.
static RangeTblEntry *make_releases(const Query *query, const Folded *folded, const List *sets, const Split *split,
                                    Rewrite *rewrite) {
    const SetColumns columns = columns_of(query, split);
    List *answers = NIL;
    for (auto *set : border::each<Bitmapset>(sets)) {
        Split part = part_of(split, set);
        RangeTblEntry *release = nullptr;
        if (part.keys != NIL || split->aggregates.nodes != NIL)
            release = make_release(query, folded, &part, rewrite);
        answers = lappend(answers, answer_of_set(release, set, columns));
    }
    return all_answers(answers);
}

static void split_query(Query *query, const Folded *folded, Rewrite *rewrite) {
    Split split = {};
    split.aggregates = Distinct::none();
    split.groupings = Distinct::none();
    split.marked = query->groupingSets != NIL;
    split.source = rewrite->source;
    ask_each_fraction(query, rewrite->source);
    check_opened_people(query, folded, rewrite->source);
    ask_seconds(query, folded->people);
    find_parts(query, &split);
    const List *sets = grouping_sets(query, split.places, list_length(split.keys), rewrite->source);
    const bool plain = query->groupingSets == NIL && split.groupings.nodes == NIL;
    RangeTblEntry *answer =
        plain ? make_release(query, folded, &split, rewrite) : make_releases(query, folded, sets, &split, rewrite);
    replace_by(query, answer, folded, &split);
}

// ---- the walk ------------------------------------------------------------------------------------------------------

// A level that aggregates over rows is split or refused. Rows that nothing aggregates are left to deny(), so that tools may
// ask for none of them to learn the columns; but a window function over those of several people is a question of another shape.
static void rewrite_level(const Level *level, Rewrite *rewrite) {
    Query *query = level->query;
    if (query->commandType != CMD_SELECT)
        return;
    if (!reads_rows(level))
        return;
    if (!aggregates(query)) {
        if (query->hasWindowFuncs && !has_rows_of_units(level))
            refuse_window(query, rewrite->source);
        return;
    }
    check_outputs(list_length(query->groupClause)); // before what is in it is compared
    border::flatten_grouping(query);                // before columns are renamed
    group_dependent(query);
    mark_keys(query);
    const Folded folded = fold_level(level, rewrite->source);
    split_query(query, &folded, rewrite);
}

// SELECT DISTINCT of rows is GROUP BY of all its columns, without an aggregate: so a tool asks for the values of a filter. A GROUP BY of
// more columns changes nothing. What stands below comes first: over rows that are grouped already it is ordinary SQL.
static void group_distinct(const Level *level, Rewrite *rewrite) {
    Query *query = level->query;
    group_union(level, rewrite->source);
    if (query->commandType != CMD_SELECT || query->distinctClause == NIL || query->hasDistinctOn || query->hasAggs ||
        query->groupingSets != NIL || query->hasWindowFuncs || query->hasTargetSRFs || query->havingQual != nullptr ||
        query->setOperations != nullptr || !reads_rows(level))
        return;
    query->groupClause = query->distinctClause;
    query->distinctClause = NIL;
}

static void leave_as_it_is(const Level *, Rewrite *) {}

static void join_people_of_level(const Level *level, Rewrite *rewrite) {
    join_people(level, rewrite->source);
}

// Meets each level, with those around it, before and after what stands in it.
template <void (*before)(const Level *, Rewrite *), void (*after)(const Level *, Rewrite *)>
static bool walk_levels(Node *node, void *context) {
    auto *rewrite = static_cast<Rewrite *>(context);
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return border::walk_expression(node, walk_levels<before, after>, context);
    Level level = {castNode(Query, node), rewrite->level};
    before(&level, rewrite);
    rewrite->level = &level;
    border::walk_query(level.query, walk_levels<before, after>, context, 0);
    rewrite->level = level.outer;
    after(&level, rewrite);
    return false;
}

// A restricted view whose rule somebody has replaced would show the rows that it was made to hide (X06).
static void refuse_replaced(const RangeTblEntry *entry) {
    if (entry->relkind != RELKIND_VIEW || entry->relid < FirstNormalObjectId ||
        OidIsValid(catalog::table_of_facade(entry->relid)) || !catalog::is_registered_view(entry->relid))
        return;
    refuse_state(psprintf("restricted view %s was replaced by another view", catalog::qualified_name(entry->relid)),
                 "The controller can drop it with dp_unprotect() and make it again with dp_protect().");
}

// The cheap exit: most statements have no facade in them. Before 16 a view is seen as the OLD entry of its expanded rule.
static bool mentions_facade(Query *query) {
    bool found = false;
    border::visit(reinterpret_cast<Node *>(query), [&](Node *node, Index) {
        for (auto *entry : border::each<RangeTblEntry>(IsA(node, Query) ? castNode(Query, node)->rtable : NIL)) {
            if (OidIsValid(catalog::expanded_facade(entry)))
                found = true;
            else {
                refuse_replaced(entry);
                check_protected(castNode(Query, node), entry);
            }
        }
        return border::Step::in;
    });
    return found;
}

// Under `dynamic` an answer must cost more than all before it: the second leaf of a statement would be denied after the
// first was charged.
static void check_dynamic(const Rewrite *rewrite) {
    if (list_length(rewrite->views) < 2 || IsInParallelMode()) // there no release is answered
        return;
    for (Oid oid : border::each_oid(rewrite->views))
        if (catalog::has_dynamic_bound(oid))
            refuse_form("several queries in one statement are not supported under the bound \"dynamic\"",
                        "Ask one query on a restricted view at a time.");
}

// Says what becomes of answers in a materialized view: the server makes and refreshes one, and nothing else that asks, as a
// security-restricted operation.
static void warn_of_refresh() {
    if (InSecurityRestrictedOperation())
        ereport(WARNING, (errmsg("a materialized view asks again, and is charged again but for a replay, at each "
                                 "refresh and when a dump "
                                 "is restored"),
                          errhint("CREATE TABLE ... AS keeps the answers that were charged.")));
}

// Which of its scans a statement begins with is up to the server: the answers might be charged before deny() ends it.
static void refuse_rows_beside(Query *query) {
    if (shows_rows(query))
        refuse_right(private_rows, rows_remedy, "The statement asks for answers as well; none was charged.");
}

int rewrite_statement(Query *query, const char *text, const Request *request) {
    if (!OidIsValid(catalog::deny_function()))
        return 0;
    if (!mentions_facade(query))
        return 0;
    border::check_version(); // the call of release() that is built below is that of this version
    ParseState *source = make_parsestate(nullptr);
    source->p_sourcetext = text;
    Rewrite rewrite = {source, request, NIL, nullptr};
    walk_levels<join_people_of_level, group_distinct>(reinterpret_cast<Node *>(query), &rewrite);
    walk_levels<rewrite_level, leave_as_it_is>(reinterpret_cast<Node *>(query), &rewrite);
    refuse_marks(query, source); // they would raise an error when the releases have been charged
    check_dynamic(&rewrite);
    if (rewrite.views != NIL) {
        refuse_rows_beside(query);
        mark_used_groups(query);
        warn_of_refresh();
    }
    return list_length(rewrite.views);
}

PlannedStmt *compile_nothing(PlannedStmt *plan) {
    plan->jitFlags = PGJIT_NONE;
    return plan;
}

static PlannedStmt *plan(Query *query, const char *text, int options, ParamListInfo parameters) {
    const int releases = IsTransactionState() ? rewrite_statement(query, text, nullptr) : 0;
    PlannedStmt *plan = previous_planner != nullptr ? previous_planner(query, text, options, parameters)
                                                    : standard_planner(query, text, options, parameters);
    return releases > 0 ? compile_nothing(plan) : plan;
}

static PlannedStmt *planner_hook_face(Query *query, const char *text, int options, ParamListInfo parameters) {
    return border::core([&] { return plan(query, text, options, parameters); });
}

bool loaded_by_this_statement() {
    return loaded_during != 0 && loaded_during == GetCurrentStatementStartTimestamp();
}

void install_planner_hook() {
    if (!IsParallelWorker()) // has its leader's statement, which had the library before
        loaded_during = GetCurrentStatementStartTimestamp();
    previous_planner = planner_hook;
    planner_hook = planner_hook_face;
}

} // namespace dp::query
