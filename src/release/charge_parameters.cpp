#include "release/charge_parameters.hpp"

#include "privacy/quantile.hpp"

#include "catalog/decimals.hpp"
#include "query/leaf_rows.hpp"
#include "release/fields.hpp"
#include "release/identity.hpp"
#include "rows/people_sources.hpp"
#include "rows/plan_of.hpp"
#include "rows/question_plan.hpp"
#include "rows/unit_checks.hpp"

namespace dp::release {

static const char *name_of(privacy::MeasureKind kind) {
    static const char *const names[] = {"count", "sum", "pair", "triple", "quantile", "products", "moments"};
    static_assert(std::size(names) == static_cast<int>(privacy::MeasureKind::moments) + 1);
    return names[static_cast<int>(kind)];
}

// Adds the arguments of a measure, as the text of the question has them. They are cut where they are long.
static void describe_arguments(StringInfo json, const rows::Question *question, int j) {
    constexpr int most = 200;
    const char *text = rows::text_of_arguments(question->plan, rows::place_in_plan(question, j));
    const int length = static_cast<int>(strlen(text));
    escape_json(json, length <= most ? text : psprintf("%.*s...", pg_mbcliplen(text, length, most), text));
}

static void describe_measure(StringInfo json, const rows::Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    appendStringInfo(json, "{\"kind\": \"%s\"", name_of(measure.kind));
    if (measure.of_units)
        appendStringInfoString(json, ", \"of\": \"units\"");
    if (measure.of_values)
        appendStringInfoString(json, ", \"of\": \"values\"");
    if (measure.grain != 1)
        appendStringInfo(json, ", \"grain\": " UINT64_FORMAT, measure.grain);
    if (measure.fraction >= 0)
        appendStringInfo(json, ", \"fraction\": %s, \"cells\": %d",
                         float8out_internal(static_cast<double>(measure.fraction) / privacy::fraction_one),
                         question->grids[j]->cells);
    if (measure.argument >= 0) {
        const bool is_column = question->leaf->aggregates[measure.calls.front()].column != nullptr;
        appendStringInfoString(json, is_column ? ", \"column\": " : ", \"expression\": ");
        describe_arguments(json, question, j);
    }
    if (const privacy::Bounds *second = rows::bounds_of_x(question, j))
        appendStringInfo(json, ", \"lower_x\": %s, \"upper_x\": %s", second->lower.c_str(), second->upper.c_str());
    if (question->bounds[j] != nullptr)
        appendStringInfo(json, ", \"lower\": %s, \"upper\": %s", question->bounds[j]->lower.c_str(),
                         question->bounds[j]->upper.c_str());
    appendStringInfo(json, ", \"sensitivity\": " UINT64_FORMAT "}", measure.sensitivity);
}

// Adds what a preference says about the rows themselves.
static void describe_rows(StringInfo json, const Terms &terms) {
    if (terms.exact)
        appendStringInfoString(json, ", \"exact\": true");
    if (terms.group_a == nullptr)
        return;
    appendStringInfoString(json, ", \"group_a\": ");
    escape_json(json, terms.group_a);
    appendStringInfoString(json, ", \"group_b\": ");
    escape_json(json, terms.group_b);
}

// Adds the accuracy that is asked for.
static void describe_wanted(StringInfo json, const privacy::Wanted &wanted) {
    if (wanted.within)
        appendStringInfo(json, ", \"within\": %s, \"deviations\": %s", float8out_internal(*wanted.within),
                         float8out_internal(wanted.deviations));
    if (wanted.error95)
        appendStringInfo(json, ", \"error95\": %s", float8out_internal(*wanted.error95));
}

// The ledger names the first measures; how many there are follows from k1 and from the text.
constexpr int described_bytes = 6 * 1024;

static void describe_measures(StringInfo json, const rows::Question *question) {
    int j = 0;
    appendStringInfoString(json, "\"measures\": [");
    for (; j < question->nmeasures && json->len < described_bytes; j++) {
        if (j > 0)
            appendStringInfoString(json, ", ");
        describe_measure(json, question, j);
    }
    appendStringInfoChar(json, ']');
    if (j < question->nmeasures)
        appendStringInfo(json, ", \"measures_left_out\": %d", question->nmeasures - j);
}

static void describe_preference(StringInfo json, const Terms &terms) {
    if (is_selected(terms.algorithm))
        appendStringInfo(json, "\"tau_var\": %s, ", float8out_internal(terms.tau_var));
    else if (terms.algorithm != Algorithm::profile && terms.algorithm != Algorithm::approved)
        appendStringInfo(json, "\"tau\": %s, ", float8out_internal(terms.tau));
    if (terms.caps.profile)
        appendStringInfo(json, "\"profile\": %s, ", decimal_text(*terms.caps.profile));
}

const char *describe_terms(const Terms &terms) {
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfoChar(&json, '{');
    describe_preference(&json, terms);
    appendStringInfo(&json, "\"weight\": %s", float8out_internal(terms.weight));
    describe_rows(&json, terms);
    describe_wanted(&json, terms.wanted);
    appendStringInfoChar(&json, '}');
    return json.data;
}

// Adds the role that has permitted it: the hash chain covers that as well.
static void describe_decision(StringInfo json, const Decision *decision) {
    if (decision == nullptr)
        return;
    appendStringInfo(json, ", \"request\": " INT64_FORMAT ", \"approved_by\": ", decision->request);
    escape_json(json, decision->approver);
    appendStringInfo(json, ", \"basis\": \"%s\"", basis_name(decision->sighted));
    if (decision->parent != 0)
        appendStringInfo(json, ", \"task\": \"%s\", \"parent\": " INT64_FORMAT, decision->task, decision->parent);
}

// Sums whose sizes are limited for one person, and to how much.
static void describe_totals(StringInfo json, const rows::Question *question) {
    bool any = false;
    for (int j = 0; j < question->nmeasures; j++) {
        if (question->totals[j].text == nullptr)
            continue;
        appendStringInfoString(json, any ? ", " : ", \"totals\": {");
        describe_arguments(json, question, j);
        appendStringInfo(json, ": %s", question->totals[j].text);
        any = true;
    }
    if (any)
        appendStringInfoChar(json, '}');
}

// Adds how much one person may bring, where a person may have several rows.
// Names what is read, at any depth.
static List *names_of_sources(const rows::Question *question) {
    List *names = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const rows::Source &source = question->sources[i];
        if (source.people != nullptr)
            names = list_concat(names, names_of_sources(source.people));
        else
            names = lappend(names, makeString(
                const_cast<char *>(query::name_of_source(source.relation, source.source->rows))));
    }
    return names;
}

static void describe_units(StringInfo json, const rows::Question *question) {
    const rows::Units *units = question->units;
    if (units == nullptr || !units->clipped)
        return;
    appendStringInfoString(json, ", \"unit\": ");
    escape_json(json, rows::unit_text(units->path));
    appendStringInfo(json, ", \"max_rows\": %d, \"max_groups\": %d", units->max_rows, units->max_groups);
    if (rows::is_spread(question))
        appendStringInfo(json, ", \"max_rows_per_group\": %d", question->rows_per_group);
    describe_totals(json, question);
    if (rows::rows_below(question) > 0)
        appendStringInfo(json, ", \"rows_of_unit\": %d", rows::rows_below(question));
    const List *names = names_of_sources(question);
    if (list_length(names) < 2)
        return;
    appendStringInfoString(json, ", \"tables\": [");
    ListCell *cell;
    foreach (cell, names) {
        appendStringInfoString(json, foreach_current_index(cell) > 0 ? ", " : "");
        escape_json(json, strVal(lfirst(cell)));
    }
    appendStringInfoChar(json, ']');
}

const char *describe_charge(const rows::Question *question, const Terms &terms) {
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfoChar(&json, '{');
    describe_preference(&json, terms);
    appendStringInfo(&json, "\"weight\": %s, \"k1\": %d, \"groups\": \"%s\", ", float8out_internal(terms.weight),
                     question->ncoordinates,
                     question->leaf->nkeys == 0 ? "none"
                     : question->thresholded    ? "thresholded"
                                                : "declared");
    describe_measures(&json, question);
    describe_units(&json, question);
    describe_rows(&json, terms);
    describe_wanted(&json, terms.wanted);
    describe_decision(&json, terms.decision);
    appendStringInfo(&json, ", \"declared\": \"%s\"", hash_of_declarations(question));
    if (question->touched != nullptr && is_public(terms)) {
        appendStringInfoString(&json, ", ");
        catalog::describe_cells(&json, *question->settings->partition, *question->touched);
    }
    if (question->time_zone != nullptr) {
        appendStringInfoString(&json, ", \"time_zone\": ");
        escape_json(&json, question->time_zone);
    }
    appendStringInfoChar(&json, '}');
    return json.data;
}

} // namespace dp::release
