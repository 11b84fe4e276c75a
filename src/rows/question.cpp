#include "rows/question.hpp"

#include "privacy/contribution.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "query/constants.hpp"
#include "query/cost.hpp"
#include "query/limits.hpp"
#include "query/shape.hpp"
#include "query/total.hpp"
#include "rows/arguments.hpp"
#include "rows/asked_units.hpp"
#include "rows/canonical.hpp"
#include "rows/contribution.hpp"
#include "rows/derived.hpp"
#include "rows/distinct_values.hpp"
#include "rows/groups.hpp"
#include "rows/nodes.hpp"
#include "rows/quantiles.hpp"
#include "rows/shown.hpp"
#include "rows/sources.hpp"
#include "rows/units.hpp"

namespace dp::rows {

constexpr int max_coordinates = 10000; // formulas.md, 8.5: a public check

// ---- columns -------------------------------------------------------------------------------------------------------

// Vars of the facade become Vars of the table, by name; the types are known to agree.
static Node *map_vars(Node *node, void *context) {
    auto *map = static_cast<AttrNumber *>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Var)) {
        auto *var = copyObject(castNode(Var, node));
        if (var->varattno <= 0 || map[var->varattno] <= 0)
            elog(ERROR, "a column of a restricted view has no column of the table");
        var->varattno = var->varattnosyn = map[var->varattno];
        var->varnosyn = 1;
        return reinterpret_cast<Node *>(var);
    }
    return border::mutate_expression(node, map_vars, context);
}

Node *map_to_table(Node *expression, const AttrNumber *map) {
    return map_vars(expression, const_cast<AttrNumber *>(map));
}

Var *table_column(const Question *question, AttrNumber attno) {
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(question->settings->relation, attno, &type, &typmod, &collation);
    return makeVar(1, attno, type, typmod, collation, 0);
}

RangeTblEntry *table_entry(const Question *question) {
    return relation_entry(question->settings->relation, true);
}

Node *table_condition(const catalog::Settings *settings, const char *text) {
    border::SettingsScope scope = border::SettingsScope::enter();
    Node *condition = query::check_table_condition(text, settings->relation, "condition");
    scope.leave();
    // It has a limit of its own: whom it selects must not change with the question.
    query::RowCost cost = {};
    condition = query::make_total(condition, nullptr, &cost);
    query::set_size_limit(condition, query::size_limit(&cost));
    return condition;
}

Node *view_condition(const catalog::Settings *settings) {
    return settings->filter == nullptr ? nullptr : table_condition(settings, settings->filter);
}

static Node *map_expression(Node *expression, const AttrNumber *map, ParamListInfo parameters, query::RowCost *cost) {
    return map_to_table(query::make_total(expression, parameters, cost), map);
}

static void map_conditions(Question *question, const AttrNumber *map, ParamListInfo parameters, query::RowCost *cost) {
    question->where = map_expression(question->leaf->where, map, parameters, cost);
    ListCell *cell;
    foreach (cell, question->leaf->filters)
        question->filters =
            lappend(question->filters, map_expression(static_cast<Node *>(lfirst(cell)), map, parameters, cost));
}

// What one row may cost is known when all expressions are; the view's filter comes behind, with its own.
static void limit_cost(Question *question, const query::RowCost *cost) {
    int limit = query::size_limit(cost);
    query::set_size_limit(question->where, limit);
    query::set_size_limit(reinterpret_cast<Node *>(question->filters), limit);
    for (int i = 0; i < question->leaf->nkeys; i++)
        query::set_size_limit(question->keys[i], limit);
    for (int i = 0; i < list_length(question->leaf->arguments); i++)
        query::set_size_limit(question->expressions[i].node, limit);
}

// The keys that are expressions, over the table with their constants folded; null for columns.
static List *folded_keys(const Question *question, const AttrNumber *map, ParamListInfo parameters) {
    List *keys = NIL;
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const query::Key &key = question->leaf->keys[i];
        keys = lappend(keys, key.attno != InvalidAttrNumber
                                 ? nullptr
                                 : map_to_table(query::fold_constants(key.expression, parameters), map));
    }
    return keys;
}

// Returns what is derived from: folded_keys.
static List *map_leaf(Question *question, ColumnRanges *columns, ParamListInfo parameters) {
    query::Leaf *leaf = question->leaf;
    AttrNumber *map = catalog::map_columns(leaf->view, question->settings->relation);
    query::RowCost cost = {};
    map_conditions(question, map, parameters, &cost);
    question->keys = static_cast<Node **>(palloc0(sizeof(Node *) * (leaf->nkeys + 1)));
    question->key_columns = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * (leaf->nkeys + 1)));
    for (int i = 0; i < leaf->nkeys; i++) {
        question->keys[i] = map_expression(leaf->keys[i].expression, map, parameters, &cost);
        question->key_columns[i] = map[leaf->keys[i].attno]; // map[0] is 0
    }
    resolve_arguments(columns, question, map, parameters, &cost);
    limit_cost(question, &cost);
    if (question->settings->filter != nullptr)
        question->where = make_and_qual(view_condition(question->settings), question->where);
    question->argument_columns = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * (leaf->naggregates + 1)));
    for (int i = 0; i < leaf->naggregates; i++)
        if (leaf->aggregates[i].attno > 0)
            question->argument_columns[i] = map[leaf->aggregates[i].attno];
    return folded_keys(question, map, parameters);
}

// ---- groups --------------------------------------------------------------------------------------------------------

// The texts were stored under pinned settings and are read under the same ones: what they mean is not the caller's to choose.
static KeyDomain stored_domain(ArrayType *declared, const query::Key *spec, const char *name) {
    border::SettingsScope scope = border::SettingsScope::enter();
    KeyDomain domain = declared_domain(declared, spec->type, spec->typmod, spec->collation, name);
    scope.leave();
    return domain;
}

// False when nobody declared the groups of a key; those of an expression may follow from what was.
static bool read_domain(const catalog::Reading &reading, Question *question, int key, ColumnRanges *columns,
                        Node *folded) {
    Oid relation = question->settings->relation;
    const query::Key *spec = &question->leaf->keys[key];
    if (question->key_columns[key] == InvalidAttrNumber)
        return derive_domain(columns, question, key, folded, &question->domains[key]);
    const char *name = get_attname(relation, question->key_columns[key], false);
    ArrayType *declared = catalog::column_groups(reading, relation, name);
    if (declared != nullptr)
        question->domains[key] = stored_domain(declared, spec, name);
    else if (has_type_domain(spec->type))
        question->domains[key] =
            type_domain(spec->type, spec->collation, is_nullable(relation, question->key_columns[key]));
    else
        return false;
    return true;
}

// One key that nobody declared, or more derived groups than an answer may have: the whole tuple is discovered (8.5).
static void discover_groups(Question *question, AttrNumber undeclared) {
    question->thresholded = true;
    question->undeclared = undeclared;
    question->ngroups = 0;
}

static void read_groups(const catalog::Reading &reading, Question *question, ColumnRanges *columns,
                        const List *folded) {
    int nkeys = question->leaf->nkeys;
    bool derived = false;
    question->domains = static_cast<KeyDomain *>(palloc0(sizeof(KeyDomain) * (nkeys + 1)));
    int64 ngroups = 1;
    for (int i = 0; i < nkeys; i++) {
        if (!read_domain(reading, question, i, columns, static_cast<Node *>(list_nth(folded, i))))
            return discover_groups(question, question->key_columns[i]);
        derived = derived || question->key_columns[i] == InvalidAttrNumber;
        // Cut before the product could overflow; check_coordinates refuses it.
        ngroups = Min(ngroups * question->domains[i].count, int64{max_coordinates} + 1);
        if (derived && ngroups > max_coordinates)
            return discover_groups(question, InvalidAttrNumber);
    }
    question->ngroups = static_cast<int>(ngroups);
}

static bool has_too_many(const Question *question) {
    return static_cast<int64>(question->ngroups) * Max(question->k1, 1) > max_coordinates;
}

static bool has_derived_key(const Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (question->leaf->keys[i].attno == InvalidAttrNumber)
            return true;
    return false;
}

static void check_coordinates(const Question *question) {
    if (has_too_many(question))
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the declared groups of the query make more than %d coordinates", max_coordinates),
                        errhint("Group by fewer columns, or declare fewer groups.")));
}

// Discovered groups show what the rows hold: in one spelling, which is what groups, risks and answers agree on.
static void make_keys_canonical(Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        Node *key = canonical_key(question->keys[i], question->leaf->keys[i]);
        if (key != question->keys[i])
            question->key_columns[i] = InvalidAttrNumber;
        question->keys[i] = key;
    }
}

// Rows with a key that is longer than any declared group are in no group. They go before they are grouped: two long keys
// would not fit into one record of the internal statement.
static void leave_out_long_keys(Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        Node *condition = short_key_condition(question->keys[i]);
        if (condition != nullptr)
            question->where = make_and_qual(condition, question->where);
        Node *key = compact_key(question->keys[i]);
        if (key != question->keys[i])
            question->key_columns[i] = InvalidAttrNumber;
        question->keys[i] = key;
    }
}

// ---- measures ------------------------------------------------------------------------------------------------------

// What counts a unit, rather than its rows, is compared with a threshold as it is. Elsewhere what is left of a count that is
// clipped in several groups is no whole number of rows.
static void set_grains(const Question *question, std::vector<privacy::Measure> *measures) {
    for (privacy::Measure &measure : *measures) {
        bool compared = question->thresholded && &measure == &measures->front();
        measure.one_group = question->units->one_group;
        bool parted = measure.kind == privacy::MeasureKind::quantile || // by cells
                      (measure.kind == privacy::MeasureKind::count && !measure.one_group && !measure.of_values);
        if (parted && !compared)
            measure.grain = privacy::fine_grain;
    }
}

static void find_measures(Question *question, const int64 *fractions) {
    const query::Leaf *leaf = question->leaf;
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        std::vector<privacy::AggregateCall> calls;
        for (int i = 0; i < leaf->naggregates; i++) {
            const query::Aggregate &aggregate = leaf->aggregates[i];
            calls.push_back({aggregate.fn, query::argument_number(aggregate), aggregate.filter, fractions[i]});
        }
        *measures = privacy::leaf_measures(calls, question->thresholded, is_clipped(question));
        if (is_clipped(question))
            set_grains(question, measures);
        question->k1 = privacy::coordinates_of_one_group(*measures);
        question->nmeasures = static_cast<int>(measures->size());
    });
    question->measures = measures;
    question->ncoordinates = question->k1;
}

static uint64 sum_sensitivity_of(const Question *question, int j) {
    const uint64 of_row = question->bounds[j]->sensitivity();
    const int max_rows = question->units->max_rows;
    if (of_row > privacy::largest_sensitivity / max_rows)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the sum of %s over %d rows of a person may be too large",
                               argument_text(question, (*question->measures)[j].calls.front()), max_rows),
                        errdetail("Its bounds times max_rows are more than 2^50."),
                        errhint("Sum a smaller range, such as least(greatest(x, 0), 1000000), or ask with a smaller "
                                "max_rows.")));
    return privacy::sum_sensitivity(max_rows, of_row);
}

// D_j: of a row, or of a unit (9.2).
static uint64 sensitivity_of(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    const Units *units = is_clipped(question) ? question->units : nullptr;
    switch (measure.kind) {
    case privacy::MeasureKind::count:
        return units == nullptr   ? 1
               : measure.of_units ? privacy::units_sensitivity(units->max_groups, measure.grain)
                                  : privacy::count_sensitivity(units->max_rows, measure.grain);
    case privacy::MeasureKind::sum:
        return units == nullptr ? question->bounds[j]->sensitivity() : sum_sensitivity_of(question, j);
    case privacy::MeasureKind::pair:
    case privacy::MeasureKind::triple:
        return units == nullptr ? privacy::pair_one : privacy::pair_sensitivity(units->max_rows);
    case privacy::MeasureKind::quantile:
        return units == nullptr ? 1 : privacy::count_sensitivity(units->max_rows, measure.grain);
    }
    pg_unreachable();
}

// A sum of whole numbers over a unit that is in several groups loses up to one in each to the floors of the clip: on a lattice as
// fine as that of other numbers it does not show (9.2).
static const privacy::Bounds *bounds_of_parts(const privacy::Bounds *of_row) {
    auto *fine = border::context_new<privacy::Bounds>();
    border::core([&] { *fine = privacy::make_bounds(of_row->lower, of_row->upper, false); });
    return fine->exponent < of_row->exponent ? fine : of_row;
}

static void find_sensitivities(const catalog::Reading &reading, Question *question) {
    auto *sensitivities = border::context_new<std::vector<uint64>>();
    question->bounds =
        static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *) * (question->nmeasures + 1)));
    question->measure_of = static_cast<int *>(palloc0(sizeof(int) * (question->leaf->naggregates + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        for (int call : measure.calls)
            question->measure_of[call] = j;
        if (measure.kind != privacy::MeasureKind::count)
            question->bounds[j] = argument_bounds(reading, question, measure.calls.front());
        if (measure.kind == privacy::MeasureKind::sum && !measure.one_group)
            question->bounds[j] = bounds_of_parts(question->bounds[j]);
        uint64 sensitivity = sensitivity_of(question, j);
        border::core([&] { sensitivities->push_back(sensitivity); });
    }
    question->sensitivities = sensitivities;
}

static int places(const char *decimal) {
    const char *point = strchr(decimal, '.');
    return point == nullptr ? 0 : static_cast<int>(strlen(point + 1));
}

// -1 unless it is known how many decimals the values have, as those of numeric(p, s): clamped ones have no more than this.
static int decimals_of(const Question *question, int aggregate) {
    const privacy::Bounds *bounds = question->bounds[question->measure_of[aggregate]];
    const query::Aggregate &call = question->leaf->aggregates[aggregate];
    if (bounds == nullptr ||
        (call.fn != privacy::Aggregate::sum && call.fn != privacy::Aggregate::avg && !privacy::is_quantile(call.fn)))
        return -1;
    int scale = argument_decimals(question, aggregate);
    return scale < 0 ? -1 : Max(scale, Max(places(bounds->lower.c_str()), places(bounds->upper.c_str())));
}

static void find_decimals(Question *question) {
    int n = question->leaf->naggregates;
    question->decimals = static_cast<int *>(palloc0(sizeof(int) * (n + 1)));
    for (int i = 0; i < n; i++)
        question->decimals[i] = decimals_of(question, i);
}

// Keys that nobody declared are an answer in themselves; declared ones are public.
void check_asks_something(const Question *question) {
    if (question->groups_only)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("the query asks for declared groups only: nothing private would be answered"),
                        errhint("Add count(*).")));
}

// ---- units ---------------------------------------------------------------------------------------------------------

static void limit_rows(const Question *question, Units *units) {
    int asked = question->leaf->limits.max_rows;
    units->one_group = !units->clipped || question->leaf->nkeys == 0;
    units->max_rows = !units->clipped ? 1 : asked > 0 ? asked : units->path->max_rows;
}

static void limit_groups(Question *question, Units *units) {
    if (!units->clipped) { // units are rows: those without a unit are nobody's
        question->where = make_and_qual(static_cast<Node *>(copyObject(units->links)), question->where);
        units->max_groups = 1;
        return;
    }
    int asked = question->leaf->limits.max_groups, wanted = asked == 0 ? units->path->max_groups : asked;
    units->max_groups = wanted == 0 ? units->max_rows : Min(wanted, units->max_rows);
    if (!question->thresholded)
        units->max_groups = Max(Min(units->max_groups, question->ngroups), 1);
    if (units->one_group)
        units->max_groups = 1;
}

// ---- preparing -----------------------------------------------------------------------------------------------------

Question *prepare(const catalog::Reading &reading, query::Leaf *leaf, const char *text, ParamListInfo parameters) {
    auto *question = static_cast<Question *>(palloc0(sizeof(Question)));
    question->leaf = leaf;
    question->text = text;
    Oid relation = catalog::table_of_facade(leaf->view);
    // Held to the end of the transaction: what was checked is what is read.
    LockRelationOid(relation, AccessShareLock);
    question->settings = catalog::read_settings(reading, leaf->view);
    if (question->settings == nullptr || question->settings->relation != relation)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not a registered restricted view", catalog::qualified_name(leaf->view)),
                        errhint("Restricted views are made with dp_protect().")));
    check_asked_limits(question);
    Units *units = resolve_sources(question);
    question->units = units;
    if (units != nullptr)
        limit_rows(question, units);
    ColumnRanges columns = column_ranges(reading, relation);
    const List *folded = map_leaf(question, &columns, parameters);
    read_groups(reading, question, &columns, folded);
    question->groups_only = leaf->naggregates == 0 && !question->thresholded;
    const int64 *fractions = resolve_fractions(leaf, parameters);
    find_measures(question, fractions);
    if (has_too_many(question) && has_derived_key(question)) { // of its groups nobody said that they are all wanted
        discover_groups(question, InvalidAttrNumber);
        find_measures(question, fractions);
    }
    check_quantiles(question);
    check_coordinates(question);
    check_asked_units(question);
    check_counted_values(question);
    query::check_sums(leaf->nkeys + question->k1 + 1); // one more, of a selection
    if (question->thresholded)
        make_keys_canonical(question);
    else {
        choose_shown(question);
        leave_out_long_keys(question);
    }
    if (units != nullptr)
        limit_groups(question, units);
    find_sensitivities(reading, question);
    find_grids(question);
    find_decimals(question);
    if (is_clipped(question)) // before a charge: all of it is public
        check_contribution_size(question);
    return question;
}

// What to ask the controller for, or what he can do himself.
static const char *groups_remedy(const Question *question) {
    bool asks = question->grantee != nullptr;
    if (question->undeclared == InvalidAttrNumber)
        return asks ? "The groups of this expression do not follow from what is declared of its columns: ask the "
                      "controller for their bounds or groups, for a generated column with declared groups, or for a "
                      "delta above 0 in dp_grant()."
                    : "The groups of this expression do not follow from what is declared of its columns: declare their "
                      "bounds or groups, add a generated column with declared groups, or pass delta => 1e-6, for "
                      "instance.";
    return psprintf(asks ? "Ask the controller for dp_set_groups('%s', '%s', '{...}'), or for a delta above 0 in "
                           "dp_grant()."
                         : "Declare them with dp_set_groups('%s', '%s', '{...}'), or pass delta => 1e-6, for instance.",
                    question->settings->relation_name,
                    get_attname(question->settings->relation, question->undeclared, false));
}

void check_delta(const Question *question, privacy::Mechanism mechanism, privacy::Delta delta) {
    if (delta.units() > 0)
        return;
    if (question->thresholded)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("a key of GROUP BY has no declared groups, and delta is 0"),
                        errhint("%s", groups_remedy(question))));
    if (mechanism == privacy::Mechanism::gaussian)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("Gaussian noise needs a delta above 0"),
                        errhint("Pass delta => 1e-6, for instance.")));
}

} // namespace dp::rows
