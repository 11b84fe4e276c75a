#include "release/clipped.hpp"

#include <cmath>

#include "privacy/pair_release.hpp"

#include "border/each.hpp"
#include "query/aggregate_table.hpp"
#include "rows/people_sources.hpp"
#include "rows/texts.hpp"
#include "rows/unit_checks.hpp"

namespace dp::release {

const char *about(double number) {
    if (!(number > 0))
        return "0";
    const double place = std::pow(10, std::floor(std::log10(number)) - 1);
    return psprintf("%.10g", std::round(number / place) * place);
}

const char *label(const rows::Question *question, int output) {
    const query::Output &column = question->leaf->outputs[output];
    if (strcmp(column.name, psprintf("c%d", output + 1)) != 0)
        return quote_identifier(column.name);
    return rows::expression_text(question, list_make1(question->leaf->aggregates[column.index].node));
}

// So many rows of one unit count, also below the aggregation that is asked for.
static int rows_of_unit(const rows::Question *question) {
    return rows::only_people(question) == nullptr ? question->units->max_rows : rows::rows_below(question);
}

// Returns the query that counts who has more rows in the view than count, and for that reads more of them. Empty where the view does not
// show the unit, or several are read.
static const char *query_of_clipped(const rows::Question *question) {
    const rows::Question *below = rows::only_people(question) == nullptr ? question : rows::only_people(question);
    const auto *unit = linitial_node(Var, below->units->values);
    if (below->nsources > 1 || list_length(below->units->values) > 1 || below->sources[0].people != nullptr ||
        unit->varno != below->leaf->sources[0].varno)
        return "";
    const char *column = rows::column_name(below, query::column_number(unit));
    if (get_attnum(question->leaf->view, column) == InvalidAttrNumber)
        return "";
    column = quote_identifier(column);
    const int most = rows_of_unit(question);
    const char *query = psprintf("SELECT count(*) FROM (SELECT %s, count(*) AS n FROM %s GROUP BY %s) t WHERE n > %d",
                                 column, question->settings->view_name, column, most);
    return psprintf(": SELECT * FROM dp_query(%s, max_rows => %d) AS (people bigint)", quote_literal_cstr(query),
                    Min(most, catalog::max_declared_rows / 2) * 2);
}

const char *clipped_text(const rows::Question *question, int output) {
    const rows::Units *units = question->units;
    const query::Output &column = question->leaf->outputs[output];
    const int j = question->measure_of[column.index];
    const privacy::Measure &measure = (*question->measures)[j];
    const char *unit = rows::unit_text(units->path);
    if (measure.kind == privacy::MeasureKind::sum)
        return psprintf("clipped: of each unit (%s) sizes of up to %s count in %s, and many may have more", unit,
                        about(std::ldexp(static_cast<double>(measure.sensitivity),
                                         privacy::unit_exponent(measure, question->bounds[j]))),
                        label(question, output));
    if (measure.norm == privacy::Norm::groups && question->rows_per_group < units->max_rows)
        return psprintf("clipped: of each unit (%s) %d rows count at most, and fewer of many in one group (%d); many may "
                        "have more%s",
                        unit, units->max_rows, question->rows_per_group, query_of_clipped(question));
    return psprintf("clipped: of each unit (%s) %d rows count at most, and many may have more%s", unit, units->max_rows,
                    query_of_clipped(question));
}

// Whether an output would be another one if more of a unit counted: all but people who are in few groups.
static bool has_limit(const rows::Question *question, int output) {
    const query::Output &column = question->leaf->outputs[output];
    if (column.is_key || column.part != query::Part::value)
        return false;
    const rows::Units *units = question->units;
    return !(*question->measures)[question->measure_of[column.index]].of_units ||
           (!units->one_group && !question->thresholded && units->max_groups < question->ngroups);
}

// Whether the rows of one person are counted or added up below the aggregation.
static bool counts_below(const rows::Question *question) {
    for (auto *call : border::each<Aggref>(rows::only_people(question)->leaf->per_unit->columns)) {
        const query::UnitAggregate fn = query::unit_aggregate(call);
        if (fn == query::UnitAggregate::count_rows || fn == query::UnitAggregate::count ||
            fn == query::UnitAggregate::count_values || fn == query::UnitAggregate::sum)
            return true;
    }
    return false;
}

bool has_exact_limit(const rows::Question *question) {
    const rows::Units *units = question->units;
    if (units == nullptr || units->joined == nullptr || units->max_rows < units->joined->max_rows ||
        question->leaf->limits.max_groups > 0 || question->leaf->limits.max_rows_per_group > 0)
        return false;
    for (int i = 0; i < question->nsources; i++)
        if (!question->sources[i].source->tested &&
            (question->sources[i].people != nullptr ||
             (question->sources[i].settings != nullptr && !question->sources[i].settings->unit->keyed)))
            return false;
    for (int j = 0; j < question->nmeasures; j++)
        if (question->totals != nullptr && question->totals[j].text != nullptr)
            return false;
    return true;
}

const char *limit_text(const rows::Question *question) {
    const rows::Units *units = question->units;
    const query::Limits &asked = question->leaf->limits;
    if (units == nullptr || has_exact_limit(question) ||
        (!asked.by_setting && (asked.max_rows > 0 || asked.max_groups > 0)))
        return nullptr;
    const bool people = rows::only_people(question) != nullptr;
    const bool several = units->joined == nullptr ? !units->path->keyed : rows_of_unit(question) > 1;
    bool limits = people && several && counts_below(question);
    for (int i = 0; i < question->leaf->noutputs && !people; i++)
        limits = limits || (units->clipped && !units->single && has_limit(question, i));
    return limits
               ? psprintf("perhaps clipped: of each unit (%s) %d rows count at most, and whether many have more does "
                          "not follow from the answer%s",
                          rows::unit_text(units->path), rows_of_unit(question), query_of_clipped(question))
               : nullptr;
}

const char *quotient_text(const rows::Question *question) {
    if (!rows::is_clipped(question) || question->units->single || has_exact_limit(question))
        return nullptr;
    int found = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        found += measure.kind == privacy::MeasureKind::sum ||
                 (measure.kind == privacy::MeasureKind::count && !measure.of_units && !measure.of_values);
    }
    return found < 2
               ? nullptr
               : "counts and sums are clipped each by itself, so a quotient of two may be far off: ask avg(x), and for "
                 "a share avg(CASE WHEN ... THEN 1.0 ELSE 0 END)";
}

} // namespace dp::release
