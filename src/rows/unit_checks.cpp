#include "rows/unit_checks.hpp"

#include "border/each.hpp"
#include "border/listed.hpp"
#include "border/refuse.hpp"
#include "catalog/domain.hpp"
#include "catalog/ledger.hpp"
#include "query/asked_limits.hpp"
#include "rows/nodes.hpp"
#include "rows/compared.hpp"
#include "rows/people_sources.hpp"
#include "rows/texts.hpp"
#include "rows/undeclared_keys.hpp"

namespace dp::rows {

void check_asked_limits(const Question *question) {
    const query::Limits &limits = question->leaf->limits;
    query::check_limits(limits);
    if (question->settings->unit != nullptr || limits.by_setting ||
        (limits.max_rows == 0 && limits.max_groups == 0 && limits.max_rows_per_group == 0))
        return;
    refuse_value(psprintf("%s has no unit: each row is a person of its own", question->settings->view_name),
                 "Leave them out. The controller declares who has several rows with dp_set_unit().",
                 "max_rows, max_groups and max_rows_per_group say how much counts of a person who has several rows.");
}

// ---- units as groups -----------------------------------------------------------------------------------------------

// Returns what casts, and arithmetic with constants, keep apart: the part of the expression that is not constant. Null: there are several.
static Node *below_arithmetic(const OpExpr *call) {
    const char *name = get_opname(call->opno);
    auto *first = static_cast<Node *>(linitial(call->args)), *last = static_cast<Node *>(llast(call->args));
    if (strcmp(name, "+") != 0 && strcmp(name, "-") != 0 && strcmp(name, "||") != 0)
        return nullptr;
    if (!contain_var_clause(last))
        return first;
    return list_length(call->args) == 1 || !contain_var_clause(first) ? last : nullptr;
}

// The column whose values a key tells apart, seen through casts of whole numbers and texts; null: none.
static const Var *told_apart(Node *node) {
    while (node != nullptr && !IsA(node, Var)) {
        if (IsA(node, RelabelType))
            node = as_node(castNode(RelabelType, node)->arg);
        else if (IsA(node, CoerceViaIO))
            node = as_node(castNode(CoerceViaIO, node)->arg);
        else if (IsA(node, OpExpr))
            node = below_arithmetic(castNode(OpExpr, node));
        else if (IsA(node, FuncExpr) && castNode(FuncExpr, node)->funcformat != COERCE_EXPLICIT_CALL) {
            auto *argument = static_cast<Node *>(linitial(castNode(FuncExpr, node)->args));
            const Oid type = getBaseType(exprType(argument));
            node = is_integer(type) || type == TEXTOID ? argument : nullptr;
        } else
            return nullptr;
    }
    return reinterpret_cast<const Var *>(node);
}

// Returns the column (query::column_number of the view's) that a key tells apart; 0: none.
static AttrNumber grouped_column(const Question *question, Node *key) {
    const Var *column = told_apart(key);
    return column == nullptr || column->varattno <= 0 || column->varno == query::unit_varno ||
                   query::source_of(question->leaf, static_cast<int>(column->varno)) == nullptr
               ? InvalidAttrNumber
               : query::column_number(column);
}

static List *grouped_columns(const Question *question, const List *keys) {
    List *columns = NIL;
    for (auto *key : border::each<Node>(keys))
        if (grouped_column(question, key) > 0)
            columns = list_append_unique_int(columns, grouped_column(question, key));
    return columns;
}

// Whether columns of a step hold the unit's values: those that refer to the columns of the parent which are the unit.
static bool hold_unit(const Source &source, const List *grouped) {
    const catalog::UnitPath *path = source.settings->unit;
    if (path->direct || path->parent == nullptr || !path->parent->direct)
        return false;
    int found = 0;
    for (int i = 0; i < path->ncolumns; i++) {
        const AttrNumber attno = get_attnum(source.source->relation, path->names[i]);
        for (int j = 0; j < path->parent->ncolumns; j++)
            if (strcmp(path->key_names[i], path->parent->names[j]) == 0 &&
                list_member_int(grouped, query::column_number(source.source->varno, attno)))
                found++;
    }
    return found == path->parent->ncolumns;
}

// Whether the keys tell a unit from all others, or lead to one: the columns that it is found by are among them.
static bool groups_are_units(const Question *question, const List *keys, const Source &source) {
    const catalog::UnitPath *path = source.settings == nullptr ? nullptr : source.settings->unit;
    if (path == nullptr)
        return false;
    List *grouped = grouped_columns(question, keys), *of_unit = NIL;
    for (int i = 0; i < path->ncolumns; i++) {
        const AttrNumber attno =
            source.people != nullptr ? path->columns[i] : get_attnum(source.source->relation, path->names[i]);
        of_unit = list_append_unique_int(of_unit, query::column_number(source.source->varno, attno));
    }
    return list_difference_int(of_unit, grouped) == NIL || (source.people == nullptr && hold_unit(source, grouped));
}

// Whether the keys are a key of the table: of one row each, and so of one person. Where a column is NULL there may be many.
static bool groups_are_rows(const Question *question, const List *keys, const Source &source) {
    if (source.settings == nullptr || source.people != nullptr)
        return false;
    auto *columns = array_of<AttrNumber>(list_length(keys) + 1);
    int n = 0;
    ListCell *cell;
    foreach (cell, grouped_columns(question, keys)) {
        const auto of_view = static_cast<AttrNumber>(lfirst_int(cell));
        if (query::varno_of(of_view) != source.source->varno)
            continue;
        const AttrNumber attno = source.map[query::attno_of(of_view)];
        if (!is_nullable(question, query::column_number(source.source->varno, attno)))
            columns[n++] = attno;
    }
    return n > 0 && catalog::covers_key(source.relation, n, columns);
}

static bool has_unit(const Source &source) {
    return source.settings != nullptr && source.settings->unit != nullptr && source.settings->unit->direct;
}

// Returns how the statement counts people: by the column of a source that has one, under its alias where several are joined.
static const char *count_of_people(const Question *question, const Source *source) {
    for (int i = 0; !has_unit(*source) && i < question->nsources; i++)
        source = has_unit(question->sources[i]) ? &question->sources[i] : source;
    if (!has_unit(*source))
        return nullptr;
    const catalog::UnitPath *unit = source->settings->unit;
    if (source->people != nullptr && unit->columns[0] > source->people->leaf->nkeys) // it is not shown
        return nullptr;
    if (source->people != nullptr && unit->ncolumns == 1) {
        Var *column = source_column(question, InvalidOid, source->source->varno, unit->columns[0]);
        return psprintf("count(DISTINCT %s)", written_text(question, list_make1(column)));
    }
    return query::count_of_units(source->settings->unit, query::alias_of(question->leaf, *source->source));
}

// Says what can be asked of people instead of a group for each of them.
static const char *form_for_people(const Question *question, const Source &source) {
    const catalog::UnitPath *path = source.settings->unit, *last = path;
    if (path == nullptr)
        return "Each row is a person: count(*) counts them, with FILTER (WHERE ...) those of whom it holds.";
    while (!last->direct && last->parent != nullptr)
        last = last->parent;
    const char *people = count_of_people(question, &source);
    if (people == nullptr && last->direct && source.people == nullptr)
        return psprintf("Join the views of the tables that lead to a person (%s), and count people by %s. Per group on "
                        "average: count(*)::numeric / count(DISTINCT %s).",
                        unit_text(path), query::count_of_units(last, ""), quote_identifier(path->names[0]));
    if (people == nullptr)
        return "Group by what many people share.";
    if (path->keyed && question->nsources == 1)
        return psprintf("Count people by %s, with FILTER (WHERE ...) those of whom it holds.", people);
    return psprintf("Count people by %s, with FILTER (WHERE ...) those who have such a row; count(*)::numeric / %s is "
                    "how many rows they have on average.",
                    people, people);
}

static void refuse_rows_as_groups(const Question *question, const Source &source) {
    refuse_form(
        psprintf("GROUP BY a key of %s is not supported in a query on a restricted view", source.settings->view_name),
        form_for_people(question, source),
        psprintf("Each group would be one row of %s, and none large enough to be shown.", source.settings->view_name));
}

static void refuse_units_as_groups(const Question *question, const Source &source) {
    const bool names = source.settings->unit->direct;
    refuse_form(psprintf("GROUP BY the columns that %s a person is not supported in a query on a restricted view",
                         names ? "name" : "lead to"),
                form_for_people(question, source),
                psprintf(names ? "Each group would be one person of %s, and none large enough to be shown."
                               : "The rows of each group of %s would be of one person, and none be large enough to be "
                                 "shown.",
                         source.settings->view_name));
}

// Returns whether these columns of one source are its unit (query/grammar).
static bool are_unit(const Question *question, const List *columns) {
    const int varno = query::varno_of(static_cast<AttrNumber>(linitial_int(columns)));
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.source->varno == varno && source.people != nullptr)
            return true; // of its own key, which was looked at
        if (source.source->varno == varno && source.settings != nullptr)
            return query::are_unit(source.settings->unit, source.source->relation, columns);
    }
    return false;
}

// Lists what keys are in a source that is a sub-SELECT.
static List *keys_below(const Source &source, const List *keys) {
    List *below = NIL;
    for (auto *key : border::each<Node>(keys)) {
        const Var *column = told_apart(key);
        if (column != nullptr && static_cast<int>(column->varno) == source.source->varno && column->varattno > 0 &&
            column->varattno <= source.people->leaf->nkeys)
            below = lappend(below, source.people->leaf->keys[column->varattno - 1].expression);
    }
    return below;
}

// Refuses groups of one person, or of one row, of a question that is read at any depth. of: the source of the asked one that it is in; null: it is that.
static void check_groups(const Question *asked, const Question *question, const Source *of, const List *keys) {
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i], &named = of == nullptr ? source : *of;
        if (groups_are_units(question, keys, source))
            refuse_units_as_groups(asked, named);
        if (groups_are_rows(question, keys, source))
            refuse_rows_as_groups(asked, named);
        if (source.people != nullptr)
            check_groups(asked, source.people, &named, keys_below(source, keys));
    }
}

void check_asked_units(const Question *question) {
    for (auto *one : border::each<List>(question->leaf->counted))
        if (!are_unit(question, one))
            catalog::refuse_changing(*question->settings);
    List *keys = NIL;
    for (int i = 0; i < question->leaf->nkeys; i++)
        keys = lappend(keys, question->leaf->keys[i].expression);
    if (question->thresholded)
        check_groups(question, question, nullptr, keys);
}

// ---- in words ------------------------------------------------------------------------------------------------------

const char *unit_text(const catalog::UnitPath *path) {
    StringInfoData text;
    initStringInfo(&text);
    for (; path != nullptr; path = path->parent) {
        appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", border::listed_names(path->names, path->ncolumns));
        if (!OidIsValid(path->parent_relation) || get_rel_name(path->parent_relation) == nullptr)
            continue;
        appendStringInfo(&text, " -> %s", catalog::qualified_name(path->parent_relation));
        if (!path->direct) // else its values are the units
            appendStringInfo(&text, "(%s)", border::listed_names(path->key_names, path->ncolumns));
    }
    return text.data;
}

const char *joined_text(const Question *question) {
    return border::listed(0, question->nsources, [=](int i) { return name_of_source(question, question->sources[i]); });
}

static const char *rows_text(const Question *question, const Units *units) {
    if (units->single)
        return psprintf("joined (%s): keys say that a person has one row", joined_text(question));
    const char *rows = is_joined(question) ? psprintf("joined rows (%s)", joined_text(question)) : "rows";
    if (!is_spread(question))
        return psprintf("a person's %s beyond max_rows are scaled down to %d", rows, units->max_rows);
    const int per_group = question->rows_per_group;
    const char *of = units->max_rows_per_group > 0 ? "max_rows times max_rows_per_group"
                     : per_group == units->max_rows
                         ? "the square of max_rows"
                         : psprintf("max_rows times the %d that keys leave in one group", per_group);
    const bool known = units->max_rows_per_group > 0 || per_group < units->max_rows || per_group == 1;
    return psprintf("a person's %s are scaled down where the squares of how many are in each group add up to more than "
                    "%s, " INT64_FORMAT "%s",
                    rows, of, int64{units->max_rows} * per_group,
                    known ? "" : "; a smaller max_rows_per_group makes noise smaller");
}

// Why a limit of the rows in each group changes nothing; null: there is none, or it does.
static const char *useless_limit(const Question *question, privacy::Mechanism mechanism) {
    const Units *units = question->units;
    if (units->max_rows_per_group == 0 || is_spread(question))
        return nullptr;
    if (units->one_group)
        return "max_rows_per_group changes nothing where a person is in one group";
    if (mechanism == privacy::Mechanism::laplace)
        return "max_rows_per_group changes nothing with Laplace noise";
    return "max_rows_per_group changes nothing where different values alone are counted";
}

static const char *clipped_rows(const Question *question) {
    const Units *units = question->units;
    if (!is_clipped(question))
        return nullptr;
    if (only_people(question) != nullptr)
        return psprintf("one row for each person; counts and sums of a person's rows stop at those of %d rows",
                        rows_below(question));
    const char *rows = rows_text(question, units);
    if (units->one_group || units->max_groups >= units->max_rows)
        return rows;
    if (is_spread(question) && !question->thresholded)
        return psprintf("%s; count(DISTINCT ..) counts one in full in %d group%s", rows, units->max_groups,
                        units->max_groups == 1 ? "" : "s");
    return question->thresholded
               ? psprintf("%s, in %d group%s at most", rows, units->max_groups, units->max_groups == 1 ? "" : "s")
               : psprintf("%s; count(DISTINCT ..) counts one %d time%s over all groups", rows, units->max_groups,
                          units->max_groups == 1 ? "" : "s");
}

// Sums that are scaled down where the sizes of a person's values come to more than was declared.
static const char *clipped_totals(const Question *question, const char *clipped) {
    for (int j = 0; j < question->nmeasures; j++)
        if (question->totals[j].text != nullptr)
            clipped =
                psprintf("%s; a person's %s where their sizes come to more than %s", clipped,
                         argument_text(question, (*question->measures)[j].calls.front()), question->totals[j].text);
    return clipped;
}

const char *clipping_text(const Question *question, privacy::Mechanism mechanism) {
    const char *rows = clipped_rows(question);
    const char *clipped = rows == nullptr ? nullptr : clipped_totals(question, rows);
    const char *useless =
        clipped == nullptr || only_people(question) != nullptr ? nullptr : useless_limit(question, mechanism);
    if (useless != nullptr)
        clipped = psprintf("%s; %s", clipped, useless);
    const Question *below = only_people(question) != nullptr ? nullptr : stopped_below(question);
    return below == nullptr ? clipped
                            : psprintf("%s%scounts and sums of a person's rows in a sub-SELECT stop at those of %d rows",
                                       clipped == nullptr ? "" : clipped, clipped == nullptr ? "" : "; ",
                                       below->per_unit->max_rows);
}

// Keys that nobody declared are an answer in themselves; declared ones are public.
void check_asks_something(const Question *question) {
    if (question->groups_only)
        refuse_form("the query asks for declared groups only: nothing private would be answered", "Add count(*).");
}

void check_delta(const Question *question, privacy::Mechanism mechanism, privacy::Delta delta) {
    if (delta.units() > 0)
        return;
    if (question->thresholded) {
        const char *named = key_in_where(question);
        refuse_state(psprintf("a key of GROUP BY has no declared groups, and delta is 0%s",
                              named == nullptr ? "" : psprintf(": ask for some, WHERE %s IN (VALUE, ...)", named)),
                     groups_remedy(question, true));
    }
    if (mechanism == privacy::Mechanism::gaussian)
        refuse_value("Gaussian noise needs a delta above 0", "Pass delta => 1e-6, for instance.");
}

} // namespace dp::rows
