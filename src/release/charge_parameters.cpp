#include "release/charge_parameters.hpp"

#include "privacy/quantile.hpp"

#include "border/each.hpp"
#include "catalog/json_text.hpp"
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

// Returns the arguments of a measure, as the text of the question has them. They are cut where they are long.
static const char *text_of_arguments(const rows::Question *question, int j) {
    constexpr int most = 200;
    const char *text = rows::text_of_arguments(question->plan, rows::place_in_plan(question, j));
    const int length = static_cast<int>(strlen(text));
    return length <= most ? text : psprintf("%.*s...", pg_mbcliplen(text, length, most), text);
}

static void describe_measure(const catalog::JsonText &json, const rows::Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    json.open(nullptr, '{');
    json("kind", name_of(measure.kind));
    if (measure.of_units)
        json("of", "units");
    if (measure.of_values)
        json("of", "values");
    if (measure.grain != 1)
        json("grain", uint64{measure.grain});
    if (measure.fraction >= 0) {
        json("fraction", static_cast<double>(measure.fraction) / privacy::fraction_one);
        json("cells", question->grids[j]->cells);
    }
    if (measure.argument >= 0)
        json(question->leaf->aggregates[measure.calls.front()].column != nullptr ? "column" : "expression",
             text_of_arguments(question, j));
    if (const privacy::Bounds *second = rows::bounds_of_x(question, j)) {
        json.raw("lower_x", second->lower.c_str());
        json.raw("upper_x", second->upper.c_str());
    }
    if (const privacy::Bounds *bounds = question->bounds[j]) {
        json.raw("lower", bounds->lower.c_str());
        json.raw("upper", bounds->upper.c_str());
    }
    json("sensitivity", uint64{measure.sensitivity});
    json.close('}');
}

// The ledger names the first measures; how many there are follows from k1 and from the text.
constexpr int described_bytes = 6 * 1024;

static void describe_measures(const catalog::JsonText &json, const rows::Question *question) {
    int j = 0;
    json.open("measures", '[');
    for (; j < question->nmeasures && json.text->len < described_bytes; j++)
        describe_measure(json, question, j);
    json.close(']');
    if (j < question->nmeasures)
        json("measures_left_out", question->nmeasures - j);
}

static void describe_preference(const catalog::JsonText &json, const Terms &terms) {
    if (is_selected(terms.algorithm))
        json("tau_var", terms.tau_var);
    else if (terms.algorithm != Algorithm::profile && terms.algorithm != Algorithm::approved)
        json("tau", terms.tau);
    if (terms.caps.profile)
        json("profile", *terms.caps.profile);
    json("weight", terms.weight);
}

// Adds what a preference says about the rows themselves, and the accuracy that is asked for.
static void describe_wishes(const catalog::JsonText &json, const Terms &terms) {
    if (terms.exact)
        json("exact", true);
    if (terms.group_a != nullptr) {
        json("group_a", terms.group_a);
        json("group_b", terms.group_b);
    }
    if (terms.wanted.within) {
        json("within", *terms.wanted.within);
        json("deviations", terms.wanted.deviations);
    }
    if (terms.wanted.error95)
        json("error95", *terms.wanted.error95);
}

const char *describe_terms(const Terms &terms) {
    const catalog::JsonText json = catalog::JsonText::object();
    describe_preference(json, terms);
    describe_wishes(json, terms);
    return json.closed();
}

// Adds the role that has permitted it: the hash chain covers that as well.
static void describe_decision(const catalog::JsonText &json, const Decision *decision) {
    if (decision == nullptr)
        return;
    json("request", decision->request);
    json("approved_by", decision->approver);
    json("basis", basis_name(decision->sighted));
    if (decision->parent != 0) {
        json("task", decision->task);
        json("parent", decision->parent);
    }
}

// Adds sums whose sizes are limited for one person, and to how much.
static void describe_totals(const catalog::JsonText &json, const rows::Question *question) {
    bool any = false;
    for (int j = 0; j < question->nmeasures; j++) {
        if (question->totals[j].text == nullptr)
            continue;
        if (!any)
            json.open("totals", '{');
        json.raw(text_of_arguments(question, j), question->totals[j].text);
        any = true;
    }
    if (any)
        json.close('}');
}

// Names what is read, at any depth.
static List *names_of_sources(const rows::Question *question) {
    List *names = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const rows::Source &source = question->sources[i];
        if (source.people != nullptr)
            names = list_concat(names, names_of_sources(source.people));
        else
            names = lappend(names, const_cast<char *>(query::name_of_source(source.relation, source.source->rows)));
    }
    return names;
}

// Adds how much one person may bring, where a person may have several rows.
static void describe_units(const catalog::JsonText &json, const rows::Question *question) {
    const rows::Units *units = question->units;
    if (units == nullptr || !units->clipped)
        return;
    json("unit", rows::unit_text(units->path));
    json("max_rows", units->max_rows);
    json("max_groups", units->max_groups);
    if (rows::is_spread(question))
        json("max_rows_per_group", question->rows_per_group);
    describe_totals(json, question);
    if (rows::rows_below(question) > 0)
        json("rows_of_unit", rows::rows_below(question));
    const List *names = names_of_sources(question);
    if (list_length(names) < 2)
        return;
    json.open("tables", '[');
    for (auto *name : border::each<const char>(names))
        json(nullptr, name);
    json.close(']');
}

const char *describe_charge(const rows::Question *question, const Terms &terms) {
    const catalog::JsonText json = catalog::JsonText::object();
    describe_preference(json, terms);
    json("k1", question->ncoordinates);
    json("groups", question->leaf->nkeys == 0 ? "none" : question->thresholded ? "thresholded" : "declared");
    describe_measures(json, question);
    describe_units(json, question);
    describe_wishes(json, terms);
    describe_decision(json, terms.decision);
    json("declared", hash_of_declarations(question));
    if (question->touched != nullptr && is_public(terms))
        catalog::describe_cells(json, *question->settings->partition, *question->touched);
    if (question->time_zone != nullptr)
        json("time_zone", question->time_zone);
    return json.closed();
}

} // namespace dp::release
