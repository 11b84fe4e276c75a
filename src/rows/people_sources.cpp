#include "rows/people_sources.hpp"

#include "border/each.hpp"
#include "query/leaf_rows.hpp"

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

} // namespace dp::rows
