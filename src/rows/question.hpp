// A question: a checked leaf, bound to the settings that it will be charged and evaluated under. Everything in it is public.
#pragma once

#include <vector>

#include "privacy/contribution.hpp"
#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"

#include "border/guard.hpp"
#include "catalog/domain.hpp"
#include "catalog/settings.hpp"
#include "query/cost.hpp"
#include "query/join.hpp"
#include "query/leaf.hpp"
#include "rows/arrays.hpp"

namespace dp::privacy {
struct Grid;
}

namespace dp::query {
struct Range;
}

namespace dp::plan {
struct Plan;
}

namespace dp::rows {

// The declared or derived values of one key, in canonical order (default btree order, NULL last).
struct KeyDomain {
    int count;
    Datum *values;
    bool *nulls;
    FmgrInfo *compare; // btree comparison of the column's type
    Oid collation;
    bool derived; // nobody declared them
    bool named;    // by the conditions
    bool narrowed; // by conditions on what they follow from
    // Index of a value, -1 if it is not declared.
    int find(Datum value, bool isnull) const;
};

constexpr int max_coordinates = 10000; // of an answer (formulas.md, 8.5): a public check

// An argument of sum or avg that is no column.
struct Expression {
    Node *node;                    // over the table; total
    const privacy::Bounds *bounds; // that follow from those of its columns; null: none do
    const privacy::Bounds *second; // of two columns those of x
    int decimals;                  // of a numeric, if they are known; else -1
    Node *folded;                  // as it was written, with its constants evaluated; null: of two columns
    bool narrowed;                 // its bounds, by conditions
};

struct ColumnRanges;
struct Question;

// A source of the leaf, with what is declared of it.
struct Source {
    const query::Source *source;
    catalog::Settings *settings; // null for a public table
    Oid relation;                // the table itself
    AttrNumber *map;             // by column of the view that of the table; map[0] is 0
    Question *people;            // of a sub-SELECT with rows of units; null: a table. Its settings are those of what it reads, by its unit
};

// Describes what one unit may bring to a leaf (formulas.md, 9).
struct Units {
    const catalog::UnitPath *path; // of the source that the unit is found from
    List *values;                  // Node *: Vars, the unit's columns over the sources
    List *
        ancestors; // oid: tables that are read beside the leaf's to find the unit, behind the entries of the leaf's range table
    Node
        *links; // the unit is there (not NULL, not too long), and the rows of the ancestors are the table's; never null
    int max_rows;           // R: of the leaf; what a unit has beyond it is clipped. 1 where not `clipped`
    int max_groups;         // kappa
    int max_rows_per_group; // C, at most R; 0: neither declared nor asked for
    bool clipped;   // false: keys say that a unit has one row at most: the statement is that of rows, with the links
    bool one_group; // a unit is in one group at most, whatever it brings
    bool single;    // clipped, but keys say that a unit brings one joined row at most
    const query::Joined *joined; // null where there is one source
};

// The declared total of the sizes of what one unit adds to a sum (rows/totals).
struct UnitTotal {
    const char *text; // as it was declared; null: none counts
    uint64 points;    // of the sum's lattice, rounded up
};

// Rows of units below the leaf: one for each, or for each of its groups (rows/unit_rows), or as many as there are (rows/unit_windows).
struct PerUnit {
    List *columns;        // Node *: aggregates, or functions over windows, over the tables, total
    List *windows;        // query::Window *: likewise; NIL: the rows are grouped
    bool one_row;         // a unit has one of them at most
    query::Range *ranges; // where they lie
    Var **extreme_of;     // the column whose least or greatest value one is, unclamped; else null
    int64 kept;           // bytes that a unit's texts may take among their states
    List *carried;        // Var *: of the tables; keys, arguments, filters and `where` are over these as well
    List *read;           // Var *: beside windows all columns of the tables that are read, in their order
    List *of_unit;        // Var *: those of them that are the unit's
    List *grouped;        // Node *: of the tables, total: keys of which a unit may have several values (rows/people_statement)
    List *grouped_keys;   // Node *: the same, of the views
    Node *where;          // over unit_varno, total; or null
    int max_rows;         // counts are at most this, and sums those of as many rows
};

// Keeps what sources are linked by, as it was parsed: constants that are folded may leave no equality.
struct ParsedLinks {
    List *from;
    Node *where;
    List *conditions; // Node *, of the semi-joins
};

struct Question {
    query::Leaf *leaf;
    ParsedLinks links;
    catalog::Settings *settings; // of the first private source; its versions are those of all
    int nsources;
    Source *sources; // as in the leaf
    List *
        from; // what is joined, over the tables: Leaf::from with the conditions of the sources' views; several sources alone
    bool remote;      // partitions are kept by other servers
    const plan::Plan *plan;   // what is asked, by names
    const int *measure_order; // the plan's measures, as places among those of the question (rows/plan_of)
    const char *text;         // what the ledger shows: the plan, printed
    const char *time_zone; // that the answer may depend on; null: it depends on none
    Node *where;      // over the tables, with the views' filters; or null
    const catalog::Touched *touched; // the cells of a partition that are read and charged; null: there is none
    Node *in_touched; // that a row is in one of them, total (rows/touched); null: every row is
    query::RowCost where_cost; // of the leaf's part of it, for one row
    List *semi_joins; // query::SemiJoin *, over the tables, with the conditions of the views
    List *filters;    // Node *, over the tables
    Node **keys;      // over the tables, per key; like the conditions total, their constants folded
    AttrNumber *
        key_columns; // query::column_number of the tables', per key; 0 for an expression, also one that we have made of a column
    Node **arguments;                 // Var *: per aggregate; null for count(*) and expressions
    const privacy::Bounds **narrowed; // per aggregate, of a column whose bounds WHERE narrows or gives; else null
    Expression *expressions;      // per argument of the leaf that is no column
    bool thresholded;
    bool groups_only; // declared ones, without an aggregate: nothing private is asked for
    AttrNumber
        undeclared; // a column of a table: the first key whose groups nobody declared, when thresholded; 0: an expression
    int undeclared_key; // its number; -1: together they have too many
    bool has_ends; // of it: its columns lie between bounds, and have too many values there
    const char *beyond; // text_of_beyond(), of rows/narrowed
    KeyDomain *domains; // per key, when not thresholded
    int ngroups;        // of the answer: 1 without keys; 0 when thresholded
    bool tupled;   // the groups are tuples of public tables or of keys of one column, with all values of the other keys (rows/public_values)
    int64 *places; // of each group in the product of the domains, ascending (rows/key_domains); null: all are groups
    const Units *units;   // null: a row is a unit
    PerUnit *per_unit;    // keys, arguments and filters are over its columns, and what it carries; or null
    ColumnRanges *ranges; // of one that is a source: where its columns lie
    const List *folded;   // Node *: likewise, its columns over the tables, before they are made total
    const char *place;    // of one that is a source, within the outermost one; else empty
    const List *checked;  // oid: the tables and their parts, as they were when the question was resolved
    catalog::Asker asker; // whose it is
    const char *grantee;  // of the policy that it is asked under; null: the controller's own call
    Oid grantee_oid;
    uint64 looked_up;     // a hash of what follows from the rows of public tables, as they were; 0: it reads none
    Datum identity;       // of all that it was resolved to (release/replay), as bytea; 0: a controller's own call

    // Core objects owned by the memory context.
    const std::vector<privacy::Measure> *measures;
    int rows_per_group;                       // C, where a norm is an l2 norm (9.14): declared, by keys, or R
    const privacy::Bounds **bounds;           // per measure; null for counts
    UnitTotal *totals;                        // per measure
    const privacy::Bounds **second_bounds;    // per measure of two columns those of x; null where there is none
    int nmeasures;
    int ncoordinates; // of one group: k1 of the formulas
    // Measure of each aggregate.
    int *measure_of;
    // Decimal places that the column's type and its bounds have, of each sum or average of numeric(p, s); else -1.
    int *decimals;
    // Grids of the measures that are quantiles, else null; ncells: cells of one group over all of them (rows/quantiles).
    const privacy::Grid **grids;
    int ncells;
    bool by_points; // other servers keep the rows: their points are added up one by one (rows/cell_calls); those of units rows/shard_parts
};

// Returns whether some measure's sensitivity is an l2 norm over the groups of a unit (9.14): under Gaussian noise, where a unit
// may be in several groups and the measure is not of different values.
bool is_spread(const Question *question);

// A stored condition over the columns of the table (a view's filter, a group of people), made total. Its text is canonical: it
// means the same whatever search_path the caller has, as long as it is read without his.
Node *table_condition(Oid relation, const char *text);

// Lists the keys, over the tables.
List *keys_of(const Question *question);
// All that a question computes from columns, over the tables: conditions, filters, keys, arguments. A list of its own nodes.
Node *expressions_of(const Question *question);
// Returns the source that stands at a place of the range table; null: none does.
const Source *source_at(const Question *question, int varno);
// Returns the number of the table's column for that of a view's; 0 stays 0.
AttrNumber map_number(const Question *question, AttrNumber column);
// Columns of the views become those of the tables.
Node *map_to_tables(Node *expression, const Question *question);
// By its number (query::column_number) the table that a column is of, its name, and itself.
Oid relation_of(const Question *question, AttrNumber column);
const char *column_name(const Question *question, AttrNumber column);
Var *table_column(const Question *question, AttrNumber column);
// Returns a column of the relation that stands at a place of the range table, or of the sub-SELECT that does.
Var *source_column(const Question *question, Oid relation, int varno, AttrNumber attno);
// Whether some row that is asked about may have NULL in it: for the table's sake, or for that of an outer join.
bool is_nullable(const Question *question, AttrNumber column);
// Returns the bounds of x of a measure of two columns; null: it is of one.
inline const privacy::Bounds *bounds_of_x(const Question *question, int measure) {
    return question->second_bounds == nullptr ? nullptr : question->second_bounds[measure];
}
// Says whether a question is answered by units that may have several rows. One whose units have one row at most is answered by rows
// (rows/evaluate), with the links in its WHERE.
inline bool is_clipped(const Question *question) {
    return question->units != nullptr && question->units->clipped;
}
// Says whether a question is UNION ALL of its sources (query/branches).
inline bool has_branches(const Question *question) {
    return question->leaf->per_unit != nullptr && question->leaf->per_unit->form == query::PeopleForm::branches;
}
inline bool is_joined(const Question *question) {
    return question->nsources > 1 || question->sources[0].people != nullptr;
}
// For a query that needs no permission on it (border/permissions): whoever asks was checked.
RangeTblEntry *table_entry(const Question *question);
// Returns the condition on the table's rows that the view shows; null: it shows all.
Node *view_condition(const catalog::Settings *settings, int varno = 1);

// Columns of the table, dropped ones included; it must be locked.
// Whether the table may hold NULL there.
bool is_nullable_column(Oid relation, AttrNumber attno);
// Over the tables, total; a copy. Null: count(*).
Node *argument_node(const Question *question, int aggregate);
// Over the tables, as it was written, with its constants evaluated; a copy.
Node *folded_argument_node(const Question *question, int aggregate);
// Returns the number of the column that an aggregate is of; 0: it is of none.
AttrNumber argument_column(const Question *question, int aggregate);
// Returns how many decimals values within the bounds have at most; -1: nobody knows.
int argument_decimals(const Question *question, int aggregate);
// Returns an argument that is no column; null: it is one, or there is none.
const Expression *expression_of(const Question *question, int aggregate);
// Place of a group in the product of the declared keys, from its number in the answer; and the reverse, -1: not shown. The product may
// be far larger than the list of its places.
int64 place_of_group(const Question *question, int group);
int group_at_place(const Question *question, int64 place);
// Returns the number of the declared group with these keys; -1: nobody declared them, or WHERE excludes them.
int declared_group(const Question *question, const Datum *keys, const bool *nulls);
// Whether some measure counts different values.
bool counts_values(const Question *question);
// The sources of one key, as varnos.
Bitmapset *pull_varnos_of(Node *expression);

} // namespace dp::rows
