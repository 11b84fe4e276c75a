// Says which sources of a join its conditions link to one unit (formulas.md, 9.7).
#pragma once

#include "catalog/domain.hpp"
#include "query/leaf.hpp"

namespace dp::query {

// A source as it is declared. Conditions are over the tables, with the leaf's varnos.
struct Linked {
    const Source *source;
    Oid relation;                  // the table
    const catalog::UnitPath *path; // checked; null for a public table
    const char *name;              // the view, where people look
    const List *key;               // int: of a sub-SELECT with rows of units, the columns that tell its rows apart; NIL: it is a table
    const RangeTblEntry *entry;    // of the leaf
    // Returns the largest number of rows of a public table that are equal in these columns, as counted before the charge. Null: it does
    // not matter here.
    int64 (*multiplicity)(const Linked &source, int n, const AttrNumber *columns);
    void *context; // of that
};

// Says that a column equals another one, wherever neither is NULL for an outer join: a conjunct of WHERE, or of an ON. Of a public source
// it may equal an expression over others.
struct Equality {
    AttrNumber left, right; // column_number over the tables; right: 0 where it is an expression
    const JoinExpr *on;     // the outer join; null: WHERE
    Bitmapset *by;          // varnos of that expression; else null
};

struct Links {
    const Linked *sources;
    int n;
    const List *equalities;
    int label[max_sources]; // sources of one label have one unit wherever they are there
};

// Holds a bit for each source.
using SourceSet = uint32;

inline SourceSet set_of(int i) {
    return SourceSet{1} << i;
}
inline bool is_private(const Links *links, int i, SourceSet set) {
    return (set & set_of(i)) != 0 && links->sources[i].path != nullptr;
}

// Equality *: conjuncts that are equalities of plain columns of two sources, by an operator of the one btree family of both types. A column
// of a public source may stand below a cast that keeps different values apart, and equal an expression over others.
List *find_equalities(const Leaf *leaf, const List *items, Node *where);

// Whether these columns of one source are equated with those of another, one by one.
bool are_equated(const List *equalities, const JoinExpr *on, int n, int varno, const AttrNumber *columns, int other,
                 const AttrNumber *others);

// Fills the labels of sources where a condition holds: its links make one of two. on: null for WHERE.
void apply_links(const Links *links, const JoinExpr *on, SourceSet among, int *label);

// 0A000: names what would link the source to one of `to`. nullable: it is on that side of an outer join.
[[noreturn]] void refuse_unlinked(const Links *links, int unlinked, SourceSet to, bool nullable);

} // namespace dp::query
