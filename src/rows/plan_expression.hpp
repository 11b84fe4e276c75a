// Expressions of a leaf as nodes of its plan, and the names of what they refer to. Under pinned settings.
#pragma once

#include "core/query_plan.hpp"

#include "query/leaf.hpp"

namespace dp::rows {

// A name as plain data: what is read from catalogs may raise an error.
struct NameText {
    const char *schema = "", *name = "";
    plan::Name made() const { return {schema, name}; }
};

NameText name_of_relation(Oid relation);
NameText name_of_function(Oid function);
NameText name_of_collation(Oid collation); // empty for none

// Returns the number of a source by its varno, and the name of one of its columns.
uint32 source_number(const query::Leaf *leaf, int varno);
const char *column_text(const query::Leaf *leaf, int varno, AttrNumber attno);

// Adds an expression that the shape's checks have let through, and folding has made (query/grammar, query/total).
void add_expression(const query::Leaf *leaf, Node *node, plan::Expression *into);
void add_or_nothing(const query::Leaf *leaf, Node *node, plan::Expression *into);
void add_column(const query::Leaf *leaf, const Var *column, plan::Expression *into);
// Adds WHERE, or nothing.
void add_where(const query::Leaf *leaf, Node *where, plan::Expression *into);

} // namespace dp::rows
