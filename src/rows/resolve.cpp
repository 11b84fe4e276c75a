#include "rows/resolve.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "catalog/facade.hpp"
#include "query/cost.hpp"
#include "query/date_format.hpp"
#include "query/limits.hpp"
#include "query/exists.hpp"
#include "query/from.hpp"
#include "query/grammar.hpp"
#include "query/total.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/unit_checks.hpp"
#include "rows/canonical.hpp"
#include "rows/unit_contribution.hpp"
#include "rows/expression_groups.hpp"
#include "rows/counted_values.hpp"
#include "rows/engine.hpp"
#include "rows/folded.hpp"
#include "rows/groups.hpp"
#include "rows/measures.hpp"
#include "rows/narrowed.hpp"
#include "rows/nodes.hpp"
#include "rows/unit_rows.hpp"
#include "rows/public_rows.hpp"
#include "rows/public_values.hpp"
#include "rows/quantiles.hpp"
#include "rows/plan_of.hpp"
#include "rows/question_plan.hpp"
#include "rows/joined_sources.hpp"
#include "rows/key_domains.hpp"
#include "rows/people_sources.hpp"
#include "rows/sources.hpp"
#include "rows/touched.hpp"
#include "rows/unit_limits.hpp"
#include "rows/units.hpp"

namespace dp::rows {

// ---- conditions, keys and arguments --------------------------------------------------------------------------------

namespace {
// Holds where the expressions of a leaf go.
struct Mapping {
    Question *question;
    query::RowCost *cost;
};
} // namespace

static Node *map_expression(Node *expression, const Mapping &mapping) {
    return map_to_tables(query::make_total(expression, nullptr, mapping.cost), mapping.question);
}

// Returns WHERE over the tables, before it is made total.
static Node *map_conditions(const Mapping &mapping) {
    Question *question = mapping.question;
    Node *folded = map_to_tables(question->leaf->where, question);
    question->where = query::make_total(another(folded), nullptr, &question->where_cost);
    mapping.cost->calls += question->where_cost.calls;
    mapping.cost->linear += question->where_cost.linear;
    mapping.cost->quadratic += question->where_cost.quadratic;
    question->from = static_cast<List *>(copyObject(question->leaf->from));
    for (auto *join : border::each<JoinExpr>(query::joins_of(question->from)))
        join->quals = map_expression(join->quals, mapping);
    for (auto *one : border::each<Node>(question->leaf->filters))
        question->filters = lappend(question->filters, map_expression(one, mapping));
    for (auto *one : border::each<const query::SemiJoin>(question->leaf->semi_joins)) {
        auto *semi = array_of<query::SemiJoin>(1);
        *semi = *one;
        semi->condition = map_expression(semi->condition, mapping);
        semi->unless = map_expression(semi->unless, mapping);
        question->semi_joins = lappend(question->semi_joins, semi);
    }
    return folded;
}

// Lists the keys over the tables, before they are made total.
static List *folded_keys(const Question *question) {
    List *keys = NIL;
    for (int i = 0; i < question->leaf->nkeys; i++)
        keys = lappend(keys, map_to_tables(question->leaf->keys[i].expression, question));
    return keys;
}

static void add_to_semi_joins(const Question *question, int source, Node *condition) {
    for (auto *semi : border::each<query::SemiJoin>(question->semi_joins))
        if (source >= semi->source && source < semi->source + semi->nsources)
            semi->condition = make_and_qual(another(condition), semi->condition);
}

// Lists the condition of each source's view; null: it shows all rows.
static List *view_conditions(const Question *question) {
    List *conditions = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        conditions = lappend(
            conditions, source.settings == nullptr ? nullptr : view_condition(source.settings, source.source->varno));
    }
    return conditions;
}

// Lists what holds for all rows that are counted: not what the ON of an outer join asks, or a sub-SELECT.
static List *conditions_above_joins(const Question *question, Node *where, const List *views) {
    List *conditions = list_make1(where);
    for (int i = 0; i < question->nsources; i++)
        if (!question->sources[i].source->tested && !question->sources[i].source->nullable)
            conditions = lappend(conditions, list_nth(views, i));
    return conditions;
}

// Which rows a view shows is asked where its rows enter: in WHERE, or in the ON of the outer join on whose nullable side it stands.
static void add_view_conditions(Question *question, const List *conditions) {
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        auto *condition = static_cast<Node *>(list_nth(conditions, i));
        if (condition != nullptr && source.source->tested)
            add_to_semi_joins(question, i, condition);
        else if (condition != nullptr && query::add_condition(question->from, source.source->varno, condition))
            question->where = make_and_qual(condition, question->where);
    }
}

// Returns what is derived from: folded_keys.
static List *map_leaf(Question *question, ColumnRanges *columns) {
    const query::Leaf *leaf = question->leaf;
    query::RowCost cost = {};
    const Mapping mapping = {question, &cost};
    Node *where = map_conditions(mapping);
    const List *views = view_conditions(question);
    List *conditions = conditions_above_joins(question, where, views);
    columns->narrowed = read_conditions(conditions);
    if (question->per_unit != nullptr) {
        resolve_per_unit(columns, question, &cost);
        columns->narrowed = read_conditions(lappend(conditions, map_to_tables(leaf->per_unit->where, question)));
    }
    check_counts(columns, question);
    question->beyond = text_of_beyond(columns, question);
    question->keys = zeroed<Node *>(leaf->nkeys + 1);
    question->key_columns = zeroed<AttrNumber>(leaf->nkeys + 1);
    for (int i = 0; i < leaf->nkeys; i++) {
        question->keys[i] = map_expression(leaf->keys[i].expression, mapping);
        question->key_columns[i] = map_number(question, leaf->keys[i].attno);
    }
    resolve_arguments(columns, question, &cost);
    question->arguments = zeroed<Node *>(leaf->naggregates + 1);
    for (int i = 0; i < leaf->naggregates; i++)
        question->arguments[i] = map_to_tables(as_node(leaf->aggregates[i].column), question);
    // What one row may cost is limited once all expressions are known. The view's filter comes later, with a limit of its own.
    query::set_size_limit(expressions_of(question), query::size_limit(&cost));
    add_view_conditions(question, views);
    narrow_columns(columns, question);
    return folded_keys(question);
}

// ---- groups --------------------------------------------------------------------------------------------------------

// One key that nobody declared, or more derived groups than an answer may have: the whole tuple is discovered (8.5).
static void discover_groups(Question *question, int key) {
    question->thresholded = true;
    question->undeclared_key = key;
    question->undeclared = key < 0 ? InvalidAttrNumber : question->key_columns[key];
    question->ngroups = 0;
    question->tupled = false;
    question->places = nullptr;
}

constexpr int too_many_groups = max_coordinates + 1; // for any answer; check_coordinates refuses them

// Chooses the tuples that WHERE leaves, which have to fit an answer.
static void choose_tuples(const catalog::Reading &reading, Question *question, ColumnRanges *columns,
                          const List *folded) {
    question->tupled = find_tuples(reading, question, derive_tuples(columns, question, folded));
    if (question->tupled)
        choose_shown(question);
    else
        question->ngroups = too_many_groups;
}

static bool has_ends(ColumnRanges *columns, Node *key) {
    for (auto *column : border::each<Node>(pull_var_clause(key, 0)))
        if (!range_over_columns(column, columns).span.bounded())
            return false;
    return true;
}

static void read_groups(const catalog::Reading &reading, Question *question, ColumnRanges *columns,
                        const List *folded) {
    int nkeys = question->leaf->nkeys;
    bool derived = false;
    const bool tuples = has_public_tuples(question) || share_columns(question, folded);
    const int64 most = tuples ? most_places : max_coordinates;
    question->domains = zeroed<KeyDomain>(nkeys + 1);
    int64 ngroups = 1;
    for (int i = 0; i < nkeys; i++) {
        auto *key = static_cast<Node *>(list_nth(folded, i));
        if (!read_domain(reading, question, i, columns, key)) {
            question->has_ends = has_ends(columns, key);
            return discover_groups(question, i);
        }
        derived = derived || question->domains[i].derived;
        if (pg_mul_s64_overflow(ngroups, question->domains[i].count, &ngroups) || ngroups > most)
            ngroups = most + 1;
        if (derived && ngroups > most)
            return discover_groups(question, -1);
    }
    question->ngroups = static_cast<int>(Min(ngroups, too_many_groups));
    if (tuples && ngroups > 0 && ngroups <= most)
        choose_tuples(reading, question, columns, folded);
}

static bool has_too_many(const Question *question) {
    return static_cast<int64>(question->ngroups) * Max(question->ncoordinates, 1) > max_coordinates;
}

static bool has_derived_key(const Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (question->domains[i].derived)
            return true;
    return false;
}

static void check_coordinates(const Question *question) {
    if (has_too_many(question))
        refuse_size(psprintf("the declared groups of the query make more than %d coordinates", max_coordinates),
                    "Group by fewer columns, or declare fewer groups.");
}

// One that is made of a column is none any more.
static void replace_key(Question *question, int i, Node *key) {
    if (key != question->keys[i])
        question->key_columns[i] = InvalidAttrNumber;
    question->keys[i] = key;
}

// Discovered groups show what the rows hold: in one spelling, which is what groups, risks and answers agree on.
static void make_keys_canonical(Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++)
        replace_key(question, i, canonical_key(question->keys[i], question->leaf->keys[i]));
}

// Rows with a key that is longer than any declared group are in no group. They go before they are grouped: two long keys
// would not fit into one record of the internal statement.
static void leave_out_long_keys(Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        Node *condition = short_key_condition(question->keys[i]);
        if (condition != nullptr)
            question->where = make_and_qual(condition, question->where);
        replace_key(question, i, compact_key(question->keys[i]));
    }
}

// ---- preparing -----------------------------------------------------------------------------------------------------

// Whether something in it depends on a setting.
static bool is_mutable(const Question *question) {
    bool found = contain_mutable_functions(expressions_of(question));
    for (int i = 0; i < question->nsources; i++)
        found = found || (question->sources[i].people != nullptr && is_mutable(question->sources[i].people));
    return found;
}

static const char *zone_of_asker() {
    const char *name = pstrdup(GetConfigOption("TimeZone", false, false));
    if (!query::is_calm(session_timezone))
        refuse_state(psprintf("the query depends on the time zone, and no country has the clocks of \"%s\"", name),
                     "SET TimeZone = 'ZONE', to a name of pg_timezone_names.");
    return name;
}

static ParsedLinks links_of(const query::Leaf *leaf) {
    ParsedLinks links = {static_cast<List *>(copyObject(leaf->from)), leaf->where, NIL};
    for (auto *one : border::each<const query::SemiJoin>(leaf->semi_joins))
        links.conditions = lappend(links.conditions, one->condition);
    return links;
}

// Resolves sources, conditions and keys. Returns the keys over the tables, before they are made total.
static const List *begin(const catalog::Reading &reading, Question *question, ParamListInfo parameters,
                         ColumnRanges *columns) {
    query::Leaf *leaf = question->leaf;
    fold_passed_rows(leaf, parameters);
    order_exists(leaf, parameters);
    question->links = links_of(leaf);
    open_sources(reading, question, parameters);
    check_asked_limits(question);
    Units *units = resolve_sources(reading, question);
    question->units = units;
    if (leaf->per_unit != nullptr)
        begin_per_unit(question, units);
    else if (units != nullptr)
        limit_rows(question, units);
    *columns = column_ranges(reading, question);
    fold_leaf(leaf, parameters);
    const List *folded = map_leaf(question, columns);
    check_tests(columns, question);
    return folded;
}

static void check_all_columns(const Question *question) {
    check_carried_columns(question);
    if (is_joined(question))
        check_public_columns(question);
}

Question *prepare_people(const catalog::Reading &reading, query::Leaf *leaf, ParamListInfo parameters, const char *place) {
    auto *question = zeroed<Question>();
    question->leaf = leaf;
    question->place = place;
    question->ranges = array_of<ColumnRanges>(1);
    question->folded = begin(reading, question, parameters, question->ranges);
    question->domains = zeroed<KeyDomain>(leaf->nkeys + 1);
    check_all_columns(question);
    check_columns(question);
    return question;
}

Question *prepare(const catalog::Reading &reading, query::Leaf *leaf, ParamListInfo parameters) {
    auto *question = zeroed<Question>();
    question->leaf = leaf;
    question->place = "";
    ColumnRanges columns;
    const List *folded = begin(reading, question, parameters, &columns);
    Units *units = const_cast<Units *>(question->units);
    read_groups(reading, question, &columns, folded);
    question->groups_only = leaf->naggregates == 0 && !question->thresholded;
    const int64 *fractions = resolve_fractions(leaf, nullptr);
    find_measures(reading, question, fractions);
    if (has_too_many(question) && has_derived_key(question)) { // of its groups nobody said that they are all wanted
        discover_groups(question, -1);
        find_measures(reading, question, fractions);
    }
    find_plan(question);
    check_quantiles(question);
    check_coordinates(question);
    check_asked_units(question);
    check_counted_values(question);
    query::check_sums(leaf->nkeys + question->ncoordinates + 1); // one more, of a selection
    if (question->thresholded)
        make_keys_canonical(question);
    else {
        if (!question->tupled)
            choose_shown(question);
        leave_out_long_keys(question);
    }
    if (!question->groups_only)
        find_touched(columns.narrowed, folded, question);
    if (units != nullptr)
        limit_groups(question, units);
    find_sensitivities(reading, question);
    find_grids(question);
    question->by_points = is_elsewhere(question);
    find_decimals(question);
    if (is_clipped(question)) // before a charge: all of it is public
        check_contribution_size(question);
    check_all_columns(question);
    question->looked_up = hash_of_looked_up(question);
    // Whatever depends on a setting is not immutable; the others are pinned.
    if (is_mutable(question))
        question->time_zone = zone_of_asker();
    return question;
}

} // namespace dp::rows
