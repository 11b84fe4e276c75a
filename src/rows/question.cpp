#include "rows/question.hpp"

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "catalog/ledger.hpp"
#include "query/constants.hpp"
#include "query/cost.hpp"
#include "query/limits.hpp"
#include "query/semi.hpp"
#include "query/shape.hpp"
#include "query/total.hpp"
#include "rows/arguments.hpp"
#include "rows/asked_units.hpp"
#include "rows/canonical.hpp"
#include "rows/contribution.hpp"
#include "rows/derived.hpp"
#include "rows/distinct_values.hpp"
#include "rows/groups.hpp"
#include "rows/joint.hpp"
#include "rows/narrowed.hpp"
#include "rows/nodes.hpp"
#include "rows/per_unit.hpp"
#include "rows/public_rows.hpp"
#include "rows/public_values.hpp"
#include "rows/quantiles.hpp"
#include "rows/shown.hpp"
#include "rows/sources.hpp"
#include "rows/tests.hpp"
#include "rows/totals.hpp"
#include "rows/units.hpp"

namespace dp::rows {

// ---- columns -------------------------------------------------------------------------------------------------------

static const Source *source_at(const Question *question, int varno) {
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
            return reinterpret_cast<Node *>(var);
        const Source *source = source_at(question, var->varno);
        if (source == nullptr || var->varattno <= 0 || source->map[var->varattno] <= 0)
            elog(ERROR, "a column of a restricted view has no column of the table");
        var->varattno = var->varattnosyn = source->map[var->varattno];
        var->varnosyn = var->varno;
        return reinterpret_cast<Node *>(var);
    }
    return border::mutate_expression(node, map_vars, context);
}

Node *map_to_tables(Node *expression, const Question *question) {
    return map_vars(expression, const_cast<Question *>(question));
}

// The number of a facade's column becomes that of the table's; 0 stays 0.
static AttrNumber map_number(const Question *question, AttrNumber column) {
    if (column <= 0)
        return InvalidAttrNumber;
    const int varno = query::varno_of(column);
    return query::column_number(varno, source_at(question, varno)->map[query::attno_of(column)]);
}

Oid relation_of(const Question *question, AttrNumber column) {
    const Source *source = source_at(question, query::varno_of(column));
    return source == nullptr ? question->settings->relation : source->relation;
}

const char *column_name(const Question *question, AttrNumber column) {
    return get_attname(relation_of(question, column), query::attno_of(column), false);
}

Var *table_column(const Question *question, AttrNumber column) {
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation_of(question, column), query::attno_of(column), &type, &typmod, &collation);
    return makeVar(query::varno_of(column), query::attno_of(column), type, typmod, collation, 0);
}

// (Nobody enforces what is declared of a foreign table.)
bool is_nullable(const Question *question, AttrNumber column) {
    const Source *source = source_at(question, query::varno_of(column));
    return source->source->nullable || (question->remote && source->settings != nullptr) ||
           is_nullable_column(source->relation, query::attno_of(column));
}

Node *expressions_of(const Question *question) {
    List *all = list_make2(question->where, query::conditions_of(question->from));
    all = lappend(all, question->filters);
    for (int i = 0; i < question->leaf->nkeys; i++)
        all = lappend(all, question->keys[i]);
    for (int i = 0; i < question->leaf->naggregates; i++)
        all = lappend(all, question->arguments[i]);
    for (int i = 0; i < list_length(question->leaf->arguments); i++)
        all = lappend(all, question->expressions[i].node);
    if (question->per_unit != nullptr)
        all = list_concat(all, list_make2(question->per_unit->columns, question->per_unit->where));
    ListCell *cell;
    foreach (cell, question->semi_joins) {
        auto *semi = static_cast<const query::SemiJoin *>(lfirst(cell));
        all = list_concat(all, list_make2(semi->condition, semi->unless));
    }
    return reinterpret_cast<Node *>(all);
}

// ---- texts ---------------------------------------------------------------------------------------------------------

// In the place of a join: nothing names its columns.
static RangeTblEntry *no_entry() {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_RESULT;
    entry->eref = makeAlias("joined", NIL);
    return entry;
}

// As the one target of a SELECT over these relations: what stands before and behind it is cut off.
static const char *text_over(const Question *question, Node *node, bool views) {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    ListCell *cell;
    foreach (cell, question->leaf->query->rtable) {
        const Source *source = source_at(question, foreach_current_index(cell) + 1);
        auto *entry = lfirst_node(RangeTblEntry, cell);
        query->rtable = lappend(query->rtable, source == nullptr ? no_entry()
                                               : views           ? copyObject(entry)
                                                                 : relation_entry(source->relation, true));
    }
    query->jointree = makeFromExpr(NIL, nullptr);
    query->targetList = list_make1(makeTargetEntry(reinterpret_cast<Expr *>(copyObject(node)), 1, nullptr, false));
    constexpr char select[] = "SELECT", space[] = " \n";
    const char *text = pg_get_querydef(query, false);
    text += strspn(text, space);
    if (strncmp(text, select, strlen(select)) != 0)
        elog(ERROR, "an expression was deparsed as something else");
    text += strlen(select);
    return text + strspn(text, space);
}

const char *text_over_tables(const Question *question, Node *node) {
    if (question->per_unit != nullptr)
        node = with_aggregates(question, node, false);
    if (is_joined(question))
        return text_over(question, query::with_tests_written(question->leaf, node), false);
    List *context = deparse_context_for(get_rel_name(question->settings->relation), question->settings->relation);
    return deparse_expression(node, context, false, false);
}

const char *text_over_views(const Question *question, Node *node) {
    if (question->per_unit != nullptr)
        node = with_aggregates(question, node, true);
    if (is_joined(question))
        return text_over(question, query::with_tests_written(question->leaf, node), true);
    Oid view = question->leaf->view;
    return deparse_expression(node, deparse_context_for(get_rel_name(view), view), false, false);
}

// ---- conditions ----------------------------------------------------------------------------------------------------

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

Node *view_condition(const catalog::Settings *settings, int varno) {
    if (settings->filter == nullptr)
        return nullptr;
    Node *condition = table_condition(settings, settings->filter);
    if (varno != 1)
        ChangeVarNodes(condition, 1, varno, 0);
    return condition;
}

namespace {
// What the expressions of a leaf are made into.
struct Mapping {
    Question *question;
    ParamListInfo parameters;
    query::RowCost *cost;
};
} // namespace

static Node *map_expression(Node *expression, const Mapping &mapping) {
    return map_to_tables(query::make_total(expression, mapping.parameters, mapping.cost), mapping.question);
}

// Returns WHERE with its constants folded; that is what is made total, too.
static Node *map_conditions(const Mapping &mapping) {
    Question *question = mapping.question;
    Node *folded = map_to_tables(query::fold_constants(question->leaf->where, mapping.parameters), question);
    question->where = query::make_total(another(folded), nullptr, &question->where_cost);
    mapping.cost->calls += question->where_cost.calls;
    mapping.cost->linear += question->where_cost.linear;
    mapping.cost->quadratic += question->where_cost.quadratic;
    question->from = static_cast<List *>(copyObject(question->leaf->from));
    ListCell *cell;
    foreach (cell, query::joins_of(question->from)) {
        auto *join = lfirst_node(JoinExpr, cell);
        join->quals = map_expression(join->quals, mapping);
    }
    foreach (cell, question->leaf->filters)
        question->filters = lappend(question->filters, map_expression(static_cast<Node *>(lfirst(cell)), mapping));
    foreach (cell, question->leaf->semi_joins) {
        auto *semi = static_cast<query::SemiJoin *>(palloc(sizeof(query::SemiJoin)));
        *semi = *static_cast<const query::SemiJoin *>(lfirst(cell));
        semi->condition = map_expression(semi->condition, mapping);
        semi->unless = map_expression(semi->unless, mapping);
        question->semi_joins = lappend(question->semi_joins, semi);
    }
    return folded;
}

// What one row may cost is known when all expressions are; the view's filter comes behind, with its own.
static void limit_cost(Question *question, const query::RowCost *cost) {
    int limit = query::size_limit(cost);
    query::set_size_limit(question->where, limit);
    query::set_size_limit(reinterpret_cast<Node *>(query::conditions_of(question->from)), limit);
    query::set_size_limit(reinterpret_cast<Node *>(question->filters), limit);
    ListCell *cell;
    foreach (cell, question->semi_joins) {
        query::set_size_limit(static_cast<const query::SemiJoin *>(lfirst(cell))->condition, limit);
        query::set_size_limit(static_cast<const query::SemiJoin *>(lfirst(cell))->unless, limit);
    }
    for (int i = 0; i < question->leaf->nkeys; i++)
        query::set_size_limit(question->keys[i], limit);
    if (question->per_unit != nullptr) {
        query::set_size_limit(reinterpret_cast<Node *>(question->per_unit->columns), limit);
        query::set_size_limit(question->per_unit->where, limit);
    }
    for (int i = 0; i < list_length(question->leaf->arguments); i++)
        query::set_size_limit(question->expressions[i].node, limit);
}

// The keys over the tables with their constants folded.
static List *folded_keys(const Question *question, ParamListInfo parameters) {
    List *keys = NIL;
    for (int i = 0; i < question->leaf->nkeys; i++)
        keys = lappend(keys, map_to_tables(query::fold_constants(question->leaf->keys[i].expression, parameters), question));
    return keys;
}

static void add_to_semi_joins(const Question *question, int source, Node *condition) {
    ListCell *cell;
    foreach (cell, question->semi_joins) {
        auto *semi = static_cast<query::SemiJoin *>(lfirst(cell));
        if (source >= semi->source && source < semi->source + semi->nsources)
            semi->condition = make_and_qual(another(condition), semi->condition);
    }
}

// Lists the condition of each source's view; null: it shows all rows.
static List *view_conditions(const Question *question) {
    List *conditions = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        conditions = lappend(conditions, source.settings == nullptr
                                             ? nullptr
                                             : view_condition(source.settings, source.source->varno));
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
static List *map_leaf(Question *question, ColumnRanges *columns, ParamListInfo parameters) {
    const query::Leaf *leaf = question->leaf;
    query::RowCost cost = {};
    const Mapping mapping = {question, parameters, &cost};
    Node *where = map_conditions(mapping);
    const List *views = view_conditions(question);
    List *conditions = conditions_above_joins(question, where, views);
    columns->narrowed = read_conditions(conditions);
    if (question->per_unit != nullptr) {
        resolve_per_unit(columns, question, parameters, &cost);
        columns->narrowed = read_conditions(lappend(conditions, question->per_unit->where));
    }
    question->keys = static_cast<Node **>(palloc0(sizeof(Node *) * (leaf->nkeys + 1)));
    question->key_columns = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * (leaf->nkeys + 1)));
    for (int i = 0; i < leaf->nkeys; i++) {
        question->keys[i] = map_expression(leaf->keys[i].expression, mapping);
        question->key_columns[i] = map_number(question, leaf->keys[i].attno);
    }
    resolve_arguments(columns, question, parameters, &cost);
    limit_cost(question, &cost);
    add_view_conditions(question, views);
    question->argument_columns = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * (leaf->naggregates + 1)));
    question->arguments = static_cast<Node **>(palloc0(sizeof(Node *) * (leaf->naggregates + 1)));
    for (int i = 0; i < leaf->naggregates; i++) {
        question->argument_columns[i] = map_number(question, leaf->aggregates[i].attno);
        if (question->argument_columns[i] > 0)
            question->arguments[i] =
                map_to_tables(reinterpret_cast<Node *>(query::column_of_argument(leaf->aggregates[i].node)), question);
    }
    narrow_columns(columns, question);
    return folded_keys(question, parameters);
}

// ---- groups --------------------------------------------------------------------------------------------------------

// The texts were stored under pinned settings and are read under the same ones: what they mean is not the caller's to choose.
static KeyDomain stored_domain(ArrayType *declared, const query::Key *spec, const char *name) {
    border::SettingsScope scope = border::SettingsScope::enter();
    KeyDomain domain = declared_domain(declared, spec->type, spec->typmod, spec->collation, name);
    scope.leave();
    return domain;
}

// Its values are nobody's secret. More than an answer may have groups are discovered, like those that nobody declared.
static bool read_public_domain(const catalog::Reading &reading, const Question *question, AttrNumber column,
                               KeyDomain *domain) {
    const Source *source = source_at(question, query::varno_of(column));
    return public_domain(reading, source->relation, source->source->reader, query::attno_of(column),
                         source->source->nullable, max_coordinates, domain);
}

// False when nobody declared the groups of a key; those of an expression may follow from what was.
static bool read_domain(const catalog::Reading &reading, Question *question, int key, ColumnRanges *columns,
                        Node *folded) {
    const query::Key *spec = &question->leaf->keys[key];
    const AttrNumber column = question->key_columns[key];
    const bool is_public =
        column != InvalidAttrNumber && source_at(question, query::varno_of(column))->source->is_public;
    if (!is_public && named_groups(columns->narrowed, question, key, folded, &question->domains[key]))
        return true;
    if (column == InvalidAttrNumber)
        return derive_domain(columns, question, key, folded, &question->domains[key]);
    if (is_public)
        return read_public_domain(reading, question, column, &question->domains[key]);
    const char *name = column_name(question, column);
    ArrayType *declared = catalog::column_groups(reading, relation_of(question, column), name);
    if (declared != nullptr)
        question->domains[key] = stored_domain(declared, spec, name);
    else if (has_type_domain(spec->type))
        question->domains[key] = type_domain(spec->type, spec->collation, is_nullable(question, column));
    else
        return derive_domain(columns, question, key, folded, &question->domains[key]);
    return true;
}

// One key that nobody declared, or more derived groups than an answer may have: the whole tuple is discovered (8.5).
static void discover_groups(Question *question, AttrNumber undeclared) {
    question->thresholded = true;
    question->undeclared = undeclared;
    question->ngroups = 0;
    question->tupled = false;
    question->places = nullptr;
}

constexpr int too_many_groups = max_coordinates + 1; // for any answer; check_coordinates refuses them

// What WHERE leaves of them has to fit an answer.
static void choose_tuples(const catalog::Reading &reading, Question *question, ColumnRanges *columns,
                          const List *folded) {
    question->tupled = find_tuples(reading, question, derive_tuples(columns, question, folded));
    if (question->tupled)
        choose_shown(question);
    else
        question->ngroups = too_many_groups;
}

static void read_groups(const catalog::Reading &reading, Question *question, ColumnRanges *columns,
                        const List *folded) {
    int nkeys = question->leaf->nkeys;
    bool derived = false;
    const bool tuples = has_public_tuples(question) || share_columns(question, folded);
    const int64 most = tuples ? most_places : max_coordinates;
    question->domains = static_cast<KeyDomain *>(palloc0(sizeof(KeyDomain) * (nkeys + 1)));
    int64 ngroups = 1;
    for (int i = 0; i < nkeys; i++) {
        if (!read_domain(reading, question, i, columns, static_cast<Node *>(list_nth(folded, i))))
            return discover_groups(question, question->key_columns[i]);
        derived = derived || question->domains[i].derived;
        if (pg_mul_s64_overflow(ngroups, question->domains[i].count, &ngroups) || ngroups > most)
            ngroups = most + 1;
        if (derived && ngroups > most)
            return discover_groups(question, InvalidAttrNumber);
    }
    question->ngroups = static_cast<int>(Min(ngroups, too_many_groups));
    if (tuples && ngroups > 0 && ngroups <= most)
        choose_tuples(reading, question, columns, folded);
}

static bool has_too_many(const Question *question) {
    return static_cast<int64>(question->ngroups) * Max(question->k1, 1) > max_coordinates;
}

static bool has_derived_key(const Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (question->domains[i].derived)
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
    Node **where = question->per_unit != nullptr ? &question->per_unit->where : &question->where; // what a key is over
    for (int i = 0; i < question->leaf->nkeys; i++) {
        Node *condition = short_key_condition(question->keys[i]);
        if (condition != nullptr)
            *where = make_and_qual(condition, *where);
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
        // Where a unit has one row its rows are counted, as everywhere.
        *measures =
            privacy::leaf_measures(calls, question->thresholded, is_clipped(question) && !question->units->single);
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
    if (question->totals[j].text != nullptr)
        return question->totals[j].points;
    if (of_row > privacy::largest_sensitivity / max_rows)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the sum of %s over %d rows of a person may be too large",
                               argument_text(question, (*question->measures)[j].calls.front()), max_rows),
                        errdetail("Its bounds times max_rows are more than 2^50."),
                        errhint("Sum a smaller range, such as least(greatest(x, LOW), HIGH), or ask with a smaller "
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
    case privacy::MeasureKind::products:
    case privacy::MeasureKind::moments:
        return privacy::joint_sensitivity(measure.kind) * (units == nullptr ? 1 : static_cast<uint64>(units->max_rows));
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

// Where a row adds to one group only, in which a unit is known to have so much at most. Of different values that is not known.
static bool is_in_groups(const privacy::Measure &measure) {
    return measure.kind != privacy::MeasureKind::quantile && !measure.of_values;
}

// What a row adds at most, to one group: in l1 norm, for all coordinates together.
static uint64 row_sensitivity_of(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == privacy::MeasureKind::count)
        return measure.grain;
    if (privacy::is_joint(measure.kind))
        return privacy::joint_sensitivity(measure.kind);
    return measure.kind == privacy::MeasureKind::sum ? question->bounds[j]->sensitivity() : privacy::pair_one;
}

// Whether the unit's columns and keys that are plain, never NULL columns cover a unique key of the only table that is asked.
static bool has_keyed_groups(const Question *question) {
    const catalog::UnitPath *path = question->units->path;
    const int nkeys = question->leaf->nkeys;
    if (question->nsources > 1 || question->per_unit != nullptr || !path->direct)
        return false;
    auto *columns = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * (path->ncolumns + nkeys)));
    int n = path->ncolumns;
    memcpy(columns, path->columns, sizeof(AttrNumber) * n);
    for (int i = 0; i < nkeys; i++) {
        const auto *column = reinterpret_cast<const Var *>(question->leaf->keys[i].expression);
        if (!IsA(column, Var))
            continue;
        const AttrNumber attribute = question->sources[0].map[column->varattno];
        HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(path->relation), Int16GetDatum(attribute));
        if (!HeapTupleIsValid(tuple))
            continue;
        if (reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attnotnull)
            columns[n++] = attribute;
        ReleaseSysCache(tuple);
    }
    return catalog::covers_key(path->relation, n, columns);
}

// C, which nobody has to declare: at R the clip takes less than that of 9.2, and D is the same. By keys it is 1.
static int rows_per_group(const Question *question) {
    const Units *units = question->units;
    return units->max_rows_per_group > 0 ? units->max_rows_per_group : has_keyed_groups(question) ? 1 : units->max_rows;
}

// A count of units has one in each of kappa groups. Core region.
static uint64 spread_sensitivity_of(const Question *question, int j) {
    const Units *units = question->units;
    const uint64 of_row = row_sensitivity_of(question, j);
    if ((*question->measures)[j].of_units)
        return privacy::spread_sensitivity(units->max_groups, 1, of_row);
    const uint64 of_rows = privacy::spread_sensitivity(units->max_rows, question->rows_per_group, of_row);
    const UnitTotal &total = question->totals[j];
    return total.text == nullptr ? of_rows
                                 : Min(of_rows, privacy::spread_of_total(total.points, question->rows_per_group, of_row));
}

void set_mechanism(Question *question, privacy::Mechanism mechanism) {
    const Units *units = question->units;
    if (mechanism == privacy::Mechanism::laplace || units == nullptr || !units->clipped || units->one_group)
        return;
    question->rows_per_group = rows_per_group(question);
    auto *sensitivities = border::context_new<std::vector<uint64>>();
    auto *norms = border::context_new<std::vector<privacy::Norm>>();
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        *sensitivities = *question->sensitivities;
        *norms = *question->norms;
        *measures = *question->measures;
        for (int j = 0; j < question->nmeasures; j++)
            if (is_in_groups((*measures)[j])) {
                (*norms)[j] = privacy::Norm::groups;
                (*sensitivities)[j] = spread_sensitivity_of(question, j);
            }
        if (question->thresholded)
            measures->front().opened = units->max_groups;
    });
    question->measures = measures;
    question->sensitivities = sensitivities;
    question->norms = norms;
}

bool is_spread(const Question *question) {
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->norms)[j] == privacy::Norm::groups)
            return true;
    return false;
}

static void find_sensitivities(const catalog::Reading &reading, Question *question) {
    auto *sensitivities = border::context_new<std::vector<uint64>>();
    question->bounds =
        static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *) * (question->nmeasures + 1)));
    question->second_bounds =
        static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *) * (question->nmeasures + 1)));
    question->totals = static_cast<UnitTotal *>(palloc0(sizeof(UnitTotal) * (question->nmeasures + 1)));
    question->measure_of = static_cast<int *>(palloc0(sizeof(int) * (question->leaf->naggregates + 1)));
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        for (int call : measure.calls)
            question->measure_of[call] = j;
        if (measure.kind != privacy::MeasureKind::count)
            question->bounds[j] = argument_bounds(reading, question, measure.calls.front());
        if (privacy::is_joint(measure.kind))
            question->second_bounds[j] = second_bounds(reading, question, measure.calls.front());
        if (measure.kind == privacy::MeasureKind::sum && !measure.one_group)
            question->bounds[j] = bounds_of_parts(question->bounds[j]);
        question->totals[j] = total_of(reading, question, j);
        uint64 sensitivity = sensitivity_of(question, j);
        border::core([&] { sensitivities->push_back(sensitivity); });
    }
    question->sensitivities = sensitivities;
    auto *norms = border::context_new<std::vector<privacy::Norm>>();
    border::core([&] { norms->assign(sensitivities->size(), privacy::Norm::l1); });
    question->norms = norms;
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

// The sources that a key's value follows from: those of its columns, and of what its tests compare with.
static Bitmapset *sources_of_key(const Question *question, Node *key) {
    Bitmapset *varnos = pull_varnos_of(key), *all = bms_copy(varnos);
    ListCell *cell;
    foreach (cell, question->leaf->semi_joins) {
        auto *semi = static_cast<const query::SemiJoin *>(lfirst(cell));
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

static void limit_joined(const Question *question, Units *units) {
    const query::Joined *joined = units->joined;
    if (joined->max_rows > catalog::max_declared_rows)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a person may have more than %d joined rows in the query", catalog::max_declared_rows),
                        errdetail("max_rows of the tables that no key of another one determines are multiplied."),
                        errhint("Join by more columns, down to a key; or aggregate with fewer tables.")));
    const int asked = question->leaf->limits.max_rows;
    units->single = joined->keyed;
    units->one_group = joined->keyed || are_of_one_row(question, joined);
    units->max_rows = joined->keyed ? 1 : asked > 0 ? asked : static_cast<int>(joined->max_rows);
}

static void limit_rows(const Question *question, Units *units) {
    if (units->joined != nullptr)
        return limit_joined(question, units);
    int asked = question->leaf->limits.max_rows;
    units->one_group = !units->clipped || question->leaf->nkeys == 0;
    units->max_rows = !units->clipped ? 1 : asked > 0 ? asked : units->path->max_rows;
}

// Of the only table that a unit may have several rows of; 0: not declared.
static int declared_groups(const Question *question, const Units *units) {
    if (units->joined == nullptr)
        return units->path->max_groups;
    const int several = units->joined->several;
    return several < 0 ? 0 : question->sources[several].settings->unit->max_groups;
}

// Likewise.
static int declared_rows_per_group(const Question *question, const Units *units) {
    if (units->joined == nullptr)
        return units->path->max_rows_per_group;
    const int several = units->joined->several;
    return several < 0 ? 0 : question->sources[several].settings->unit->max_rows_per_group;
}

static void limit_rows_per_group(const Question *question, Units *units) {
    const int asked = question->leaf->limits.max_rows_per_group;
    const int wanted = asked == 0 ? declared_rows_per_group(question, units) : asked;
    units->max_rows_per_group = Min(wanted, units->max_rows);
}

static void limit_groups(Question *question, Units *units) {
    if (!units->clipped) { // units are rows: those without a unit are nobody's
        question->where = make_and_qual(static_cast<Node *>(copyObject(units->links)), question->where);
        units->max_groups = 1;
        return;
    }
    int asked = question->leaf->limits.max_groups, wanted = asked == 0 ? declared_groups(question, units) : asked;
    units->max_groups = wanted == 0 ? units->max_rows : Min(wanted, units->max_rows);
    if (!question->thresholded)
        units->max_groups = Max(Min(units->max_groups, question->ngroups), 1);
    if (units->one_group)
        units->max_groups = 1;
    limit_rows_per_group(question, units);
}

// The leaf was read as one over units: if there are none now, something has changed.
static void begin_per_unit(Question *question, Units *units) {
    if (units == nullptr)
        catalog::refuse_changing(*question->settings);
    check_carried(question, units);
    question->per_unit = static_cast<PerUnit *>(palloc0(sizeof(PerUnit)));
    limit_per_unit(question, units);
}

// ---- preparing -----------------------------------------------------------------------------------------------------

Question *prepare(const catalog::Reading &reading, query::Leaf *leaf, const char *text, ParamListInfo parameters) {
    auto *question = static_cast<Question *>(palloc0(sizeof(Question)));
    question->leaf = leaf;
    question->text = text;
    open_sources(reading, question);
    check_asked_limits(question);
    Units *units = resolve_sources(reading, question);
    question->units = units;
    if (leaf->per_unit != nullptr)
        begin_per_unit(question, units);
    else if (units != nullptr)
        limit_rows(question, units);
    ColumnRanges columns = column_ranges(reading, question);
    const List *folded = map_leaf(question, &columns, parameters);
    check_tests(&columns, question, parameters);
    read_groups(reading, question, &columns, folded);
    question->groups_only = leaf->naggregates == 0 && !question->thresholded;
    const int64 *fractions = resolve_fractions(leaf, parameters);
    find_measures(question, fractions);
    if (has_too_many(question) && has_derived_key(question)) { // of its groups nobody said that they are all wanted
        discover_groups(question, InvalidAttrNumber);
        find_measures(question, fractions);
    }
    check_quantiles(question);
    check_joint(question);
    check_coordinates(question);
    check_asked_units(question);
    check_counted_values(question);
    query::check_sums(leaf->nkeys + question->k1 + 1); // one more, of a selection
    if (question->thresholded)
        make_keys_canonical(question);
    else {
        if (!question->tupled)
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
    if (is_joined(question)) {
        check_joined_columns(question);
        check_public_columns(question);
    }
    question->looked_up = hash_of_looked_up(question);
    return question;
}

// What to ask the controller for, or what he can do himself.
const char *groups_remedy(const Question *question, bool delta) {
    bool asks = question->grantee != nullptr;
    const Source *source = question->undeclared == InvalidAttrNumber
                               ? nullptr
                               : source_at(question, query::varno_of(question->undeclared));
    const char *or_delta = !delta ? "" : asks ? "; or for a delta above 0 in dp_grant()" : "; or pass a delta above 0";
    if (source != nullptr && source->source->is_public)
        return psprintf("Column %s of the public table has more than %d values: group by one with fewer%s.",
                        column_name(question, question->undeclared), max_coordinates,
                        !delta ? "" : ", or ask for a delta above 0 in dp_grant()");
    if (question->undeclared == InvalidAttrNumber)
        return psprintf(asks ? "The groups of this expression do not follow from what is declared of its columns: ask the "
                               "controller for their bounds or groups, %sfor a generated column with declared groups%s."
                             : "The groups of this expression do not follow from what is declared of its columns: declare "
                               "their bounds or groups, %sadd a generated column with declared groups%s.",
                        delta ? "" : "or ", or_delta);
    const char *call = ask_for_groups(question, question->undeclared);
    if (call == nullptr)
        return psprintf("Each group of %s would be of one person: group by what many people share.",
                        quote_identifier(column_name(question, question->undeclared)));
    return psprintf(asks ? "Ask the controller for %s%s." : "Declare them with %s%s.", call, or_delta);
}

void check_delta(const Question *question, privacy::Mechanism mechanism, privacy::Delta delta) {
    if (delta.units() > 0)
        return;
    if (question->thresholded)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("a key of GROUP BY has no declared groups, and delta is 0"),
                        errhint("%s", groups_remedy(question, true))));
    if (mechanism == privacy::Mechanism::gaussian)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("Gaussian noise needs a delta above 0"),
                        errhint("Pass delta => 1e-6, for instance.")));
}

} // namespace dp::rows
