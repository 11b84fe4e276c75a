#include "rows/undeclared_keys.hpp"

#include "border/each.hpp"
#include "border/walk.hpp"
#include "catalog/domain.hpp"
#include "query/stretches.hpp"
#include "query/total_table.hpp"
#include "rows/canonical.hpp"
#include "rows/compared.hpp"
#include "rows/texts.hpp"

namespace dp::rows {

// Returns the call that the controller declares groups of a column by; null: each of them would be of one person.
static const char *ask_for_groups(const Question *question, AttrNumber column) {
    const AttrNumber attno = query::attno_of(column);
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        const catalog::UnitPath *path = source.settings == nullptr ? nullptr : source.settings->unit;
        if (source.source->varno == query::varno_of(column) && path != nullptr && path->ncolumns == 1 &&
            path->columns[0] == attno)
            return nullptr;
    }
    const Oid relation = relation_of(question, column);
    if (catalog::covers_key(relation, 1, &attno))
        return nullptr;
    return psprintf("dp_set_groups(%s, %s, GROUPS), where GROUPS is an array of all that may be asked for",
                    quote_literal_cstr(catalog::qualified_name(relation)),
                    quote_literal_cstr(column_name(question, column)));
}

// ---- in WHERE ------------------------------------------------------------------------------------------------------

// Whether names of groups are asked for: not of a public table's columns, nor of those that tell people apart.
static bool is_named(const Question *question) {
    if (question->undeclared == InvalidAttrNumber)
        return true;
    return !source_at(question, query::varno_of(question->undeclared))->source->is_public &&
           ask_for_groups(question, question->undeclared) != nullptr;
}

const char *key_in_where(const Question *question) {
    const int key = question->undeclared_key;
    constexpr std::size_t longest = 300;
    if (key < 0 || !has_spelling(question->leaf->keys[key].type) || !is_named(question))
        return nullptr;
    const char *text = written_text(question, list_make1(question->leaf->keys[key].expression));
    return strlen(text) <= longest ? text : nullptr;
}

static bool is_whole(Oid type) {
    type = getBaseType(type);
    return is_integer(type) || type == DATEOID;
}

static bool has_step(Node *node, void *) {
    if (node == nullptr)
        return false;
    switch (query::rule_of(node)) {
    case query::Rule::floor:
    case query::Rule::ceiling:
    case query::Rule::round:
    case query::Rule::trunc:
    case query::Rule::round_to:
    case query::Rule::trunc_to:
    case query::Rule::bucket:
        return true;
    default:
        return is_whole(exprType(node)) || border::walk_expression(node, has_step, nullptr);
    }
}

// Whether a list of groups follows where a column of the key has two ends: of whole numbers and days, of periods, and of steps.
static bool follows_from_bounds(Node *key, Var *column) {
    const Oid type = getBaseType(column->vartype);
    if (is_moment(type))
        return query::stretch_of(key, column) != 0;
    const bool number = type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID;
    return is_whole(type) || (number && has_step(key, nullptr));
}

// Returns a column in the key whose bounds give its groups; null: there is none.
static const char *bounded_part(const Question *question, int key) {
    Node *expression = question->leaf->keys[key].expression;
    for (auto *column : border::each<Var>(pull_var_clause(expression, 0)))
        if (follows_from_bounds(expression, column))
            return written_text(question, list_make1(column));
    return nullptr;
}

// Says what whoever asks can write without the controller.
static const char *own_remedy(const Question *question) {
    const int key = question->undeclared_key;
    const char *named = key_in_where(question);
    if (named == nullptr)
        return key < 0 ? psprintf("The keys have more than %d groups together: leave fewer by WHERE. ", max_coordinates)
                       : "";
    if (const char *part = bounded_part(question, key))
        return psprintf("%s WHERE %s BETWEEN LOW AND HIGH; or name the groups: WHERE %s IN (VALUE, ...). ",
                        question->has_ends ? "Between its bounds there are too many groups: leave fewer by" : "Bound it:",
                        part, named);
    const Oid type = getBaseType(question->leaf->keys[key].type);
    const char *part = !IsA(question->leaf->keys[key].expression, Var)                ? nullptr
                       : is_moment(type)                                              ? "date_trunc('month', %s)"
                       : type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID ? "floor(%s)"
                                                                                      : nullptr;
    if (part == nullptr)
        return psprintf("Name the groups: WHERE %s IN (VALUE, ...). ", named);
    return psprintf(
        "Group by %s, bounded by WHERE %s BETWEEN LOW AND HIGH; or name the groups: WHERE %s IN (VALUE, ...). ",
        psprintf(part, named), named, named);
}

// Begins what comes behind a remedy of one's own, or alone.
static const char *remedy_of_others(const char *own, const char *text) {
    return *own == '\0' ? text : psprintf("Or %c%s", pg_ascii_tolower(*text), text + 1);
}

// of: the question that the column is in, or a sub-SELECT of it.
static const char *remedy_of_column(const Question *question, const Question *of, const char *or_delta) {
    const bool asks = question->grantee != nullptr;
    const char *column = quote_identifier(column_name(of, of->undeclared));
    const char *call = ask_for_groups(of, of->undeclared);
    if (call == nullptr)
        return psprintf(
            "Each group of %s would be of one person: count(DISTINCT %s) counts them, with FILTER (WHERE ...) "
            "those of whom it holds; or group by what many people share.",
            column, column);
    const char *own = own_remedy(question);
    return psprintf("%s%s %s, unless its values name people, whom count(DISTINCT %s) counts%s.", own,
                    remedy_of_others(own, asks ? "Ask the controller for" : "Declare them with"), call, column,
                    or_delta);
}

// Returns the sub-SELECT of which the undeclared key shows a column as it is, with that as its undeclared one; null: it shows none.
static const Question *shown_below(const Question *question) {
    const int key = question->undeclared_key;
    const auto *column = key < 0 ? nullptr : reinterpret_cast<const Var *>(question->leaf->keys[key].expression);
    if (column == nullptr || !IsA(column, Var))
        return nullptr;
    const Source *source = source_at(question, static_cast<int>(column->varno));
    if (source == nullptr || source->people == nullptr || column->varattno > source->people->leaf->nkeys ||
        source->people->key_columns[column->varattno - 1] == InvalidAttrNumber)
        return nullptr;
    auto *below = array_of<Question>(1);
    *below = *source->people;
    below->undeclared = below->key_columns[column->varattno - 1];
    return source_at(below, query::varno_of(below->undeclared))->source->is_public ? nullptr : below;
}

const char *groups_remedy(const Question *question, bool delta) {
    const bool asks = question->grantee != nullptr;
    const Source *source = question->undeclared == InvalidAttrNumber
                               ? nullptr
                               : source_at(question, query::varno_of(question->undeclared));
    const char *or_delta = !delta ? "" : asks ? "; or for a delta above 0 in dp_grant()" : "; or pass a delta above 0";
    if (source != nullptr && source->source->is_public)
        return psprintf("Column %s of the public table has more than %d values: group by one with fewer%s.",
                        column_name(question, question->undeclared), max_coordinates,
                        !delta ? "" : ", or ask for a delta above 0 in dp_grant()");
    if (question->undeclared != InvalidAttrNumber)
        return remedy_of_column(question, question, or_delta);
    if (const Question *below = shown_below(question))
        return remedy_of_column(question, below, or_delta);
    const char *own = own_remedy(question);
    return psprintf("%s%s %sa generated column with declared groups%s.", own,
                    remedy_of_others(own, asks ? "Ask the controller for" : "Declare"),
                    question->has_ends ? "" : "bounds or groups of the columns in it, or ", or_delta);
}

} // namespace dp::rows
