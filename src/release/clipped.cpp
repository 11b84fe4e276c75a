#include "release/clipped.hpp"

#include <cmath>

#include "privacy/pair_release.hpp"

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

// So many rows of one unit count.
static int most_rows(const rows::Question *question) {
    return question->per_unit == nullptr ? question->units->max_rows : question->per_unit->max_rows;
}

// Finds the tables, at any depth, that bring several rows of a unit, and returns how many they are.
static int find_several(const rows::Question *question, const rows::Source **found) {
    int n = 0;
    for (int i = 0; i < question->nsources; i++) {
        const rows::Source &source = question->sources[i];
        if (source.source->tested || source.settings == nullptr || source.settings->unit->keyed)
            continue;
        if (source.people != nullptr) {
            n += find_several(source.people, found);
            continue;
        }
        *found = &source;
        n++;
    }
    return n;
}

// Returns the query that counts who has more rows than count in the only view with several of a person, and for that reads more of them;
// and that view. Empty, and InvalidOid, where it does not show the unit, or there are several.
static const char *query_of_clipped(const rows::Question *question, Oid *view) {
    const rows::Source *source = nullptr;
    *view = InvalidOid;
    if (find_several(question, &source) != 1)
        return "";
    const catalog::UnitPath *path = source->settings->unit;
    const char *column = path->direct && path->ncolumns == 1 && path->columns[0] > 0
                             ? get_attname(source->relation, path->columns[0], true)
                             : nullptr;
    if (column == nullptr || get_attnum(source->source->relation, column) == InvalidAttrNumber)
        return "";
    *view = source->source->relation;
    column = quote_identifier(column);
    const bool alone = question->nsources == 1 && source == question->sources;
    const int most = alone || path->max_rows == 0 ? most_rows(question) : Min(most_rows(question), path->max_rows);
    const char *query = psprintf("SELECT count(*) FROM (SELECT %s, count(*) AS n FROM %s GROUP BY %s) t WHERE n > %d",
                                 column, source->settings->view_name, column, most);
    return psprintf(": SELECT * FROM dp_query(%s, max_rows => %d) AS (people bigint)", quote_literal_cstr(query),
                    Min(most, catalog::max_declared_rows / 2) * 2);
}

const char *clipped_text(const rows::Question *question, int output) {
    const rows::Units *units = question->units;
    const query::Output &column = question->leaf->outputs[output];
    const int j = question->measure_of[column.index];
    const privacy::Measure &measure = (*question->measures)[j];
    const char *unit = rows::unit_text(units->path);
    Oid view;
    if (measure.kind == privacy::MeasureKind::sum)
        return psprintf("clipped: of each unit (%s) sizes of up to %s count in %s, and many may have more", unit,
                        about(std::ldexp(static_cast<double>(measure.sensitivity),
                                         privacy::unit_exponent(measure, question->bounds[j]))),
                        label(question, output));
    if (measure.norm == privacy::Norm::groups && question->rows_per_group < units->max_rows)
        return psprintf("clipped: of each unit (%s) %d rows count at most, and fewer of many in one group (%d); many may "
                        "have more%s",
                        unit, units->max_rows, question->rows_per_group, query_of_clipped(question, &view));
    return psprintf("clipped: of each unit (%s) %d rows count at most, and many may have more%s", unit, units->max_rows,
                    query_of_clipped(question, &view));
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

const char *limit_text(const rows::Question *question, Oid *view) {
    const rows::Units *units = question->units;
    const query::Limits &asked = question->leaf->limits;
    *view = InvalidOid;
    if (units == nullptr || (!asked.by_setting && (asked.max_rows > 0 || asked.max_groups > 0)))
        return nullptr;
    bool limits = false;
    for (int i = 0; i < question->leaf->noutputs && !has_exact_limit(question); i++)
        limits = limits || (units->clipped && !units->single && has_limit(question, i));
    const rows::Question *of = limits ? question : rows::stopped_below(question);
    return of == nullptr ? nullptr
                         : psprintf("perhaps clipped: of each unit (%s) %d rows count at most, and whether many have "
                                    "more does not follow from the answer%s",
                                    rows::unit_text(of->units->path), most_rows(of), query_of_clipped(of, view));
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
