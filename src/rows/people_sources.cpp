#include "rows/people_sources.hpp"

#include "border/each.hpp"
#include "query/aggregate_table.hpp"
#include "query/leaf_rows.hpp"
#include "query/windows.hpp"

namespace dp::rows {

const char *name_of_source(const Question *question, const Source &source) {
    return source.people == nullptr
               ? query::name_of_source(source.source->relation, source.source->rows)
               : psprintf("sub-SELECT %s", quote_identifier(rt_fetch(source.source->varno, question->leaf->query->rtable)
                                                                ->eref->aliasname));
}

List *tables_of(const Question *question) {
    List *tables = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr)
            tables = list_concat(tables, tables_of(source.people));
        else if (source.source->rows == nullptr)
            tables = lappend_oid(tables, source.relation);
    }
    return tables;
}

const Question *only_people(const Question *question) {
    const Question *people = question->nsources > 1 ? nullptr : question->sources[0].people;
    return people == nullptr || !people->per_unit->one_row || people->per_unit->windows != NIL ? nullptr : people;
}

int rows_below(const Question *question) {
    int most = question->per_unit == nullptr ? 0 : question->per_unit->max_rows;
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].people != nullptr)
            most = Max(most, rows_below(question->sources[i].people));
    return most;
}

bool may_exceed_limit(const Question *question) {
    const int most = question->per_unit == nullptr ? question->units->max_rows : question->per_unit->max_rows;
    const query::Joined *joined = question->units->joined;
    if (joined != nullptr ? most < joined->max_rows : has_branches(question) && question->leaf->limits.max_rows > 0)
        return true;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (!source.source->tested && source.settings != nullptr && !source.settings->unit->keyed &&
            (source.people == nullptr || may_exceed_limit(source.people)))
            return true;
    }
    return false;
}

// Whether it counts or adds up rows of one person: in groups, or over a whole window.
static bool adds_up(const query::PerUnit *rows) {
    for (auto *column : border::each<Node>(query::computes_columns(rows) ? rows->columns : NIL)) {
        const auto *over = IsA(column, WindowFunc) ? castNode(WindowFunc, column) : nullptr;
        if (over != nullptr && !over->winagg)
            continue;
        switch (query::unit_aggregate(over != nullptr ? query::call_of(over) : castNode(Aggref, column))) {
        case query::UnitAggregate::count_rows:
        case query::UnitAggregate::count:
        case query::UnitAggregate::count_values:
        case query::UnitAggregate::sum:
            return true;
        default:
            break;
        }
    }
    return false;
}

const Question *stopped_below(const Question *question) {
    for (int i = 0; i < question->nsources; i++) {
        const Question *people = question->sources[i].people;
        if (people != nullptr && !(adds_up(people->leaf->per_unit) && may_exceed_limit(people)))
            people = stopped_below(people);
        if (people != nullptr)
            return people;
    }
    return nullptr;
}

} // namespace dp::rows
