// Units of protected tables as dp_protect and dp_set_unit are told them, and the domains that they lead to (formulas.md, 9).
#pragma once

#include "privacy/row_limit.hpp"

#include "catalog/domain.hpp"
#include "sql/setter.hpp"

namespace dp::sql {

// Holds what `unit` says, resolved against the catalogs: what read_unit_path() will read once it is written. Other than there the parent is
// set of a direct step, too, and null where the columns are the unit by declaration: then they found a domain, and types are theirs.
using Unit = catalog::UnitPath;

// Limits of what one unit may bring, as arguments: 0 for NULL.
struct Limits {
    int max_rows, max_groups, max_rows_per_group;
};

// Errors: 22023 (not of the form), 42703, 42P01, 42501, 55000, 0A000, 54000, each with its remedy. The caller holds a lock on
// the relation.
Unit *resolve_unit(Oid relation, const char *text);
// 55000 where it leads elsewhere by now: another call has moved a table on its way before we had the lock.
void check_unmoved(Oid relation, const char *text, const Unit *unit);
// 22023 and 22004 for limits that are none, or needed; 0A000 where the table's rows are on several servers.
void check_limits(Oid relation, const Unit *unit, const Limits &limits);
// takes_away: 0 is no_limit.
constexpr int no_limit = -1;
Limits limit_arguments(FunctionCallInfo fcinfo, int first, bool takes_away = false);

// Columns as they are stored, and what a protected table has.
Datum unit_array(Oid relation, int ncolumns, const AttrNumber *columns);
// Returns the types of the columns; NULL where a row is a unit.
Typed types_of_unit(const Unit *unit);
Oid *types_of_columns(Oid relation, int ncolumns, const AttrNumber *columns);
// Returns whether both are ways by the same columns to the same ones of the same table.
bool is_same_way(const Unit &a, const Unit &b);
bool is_same_domain(const Unit &a, const Unit &b);
// Returns the domain that a unit leads to, or null.
const char *domain_of_parent(const Unit *unit);
// Prints a unit as dp_protect() takes it: column, ... [-> table (column, ...)].
const char *unit_text(const catalog::UnitPath *path);

// Returns the declared unit; null: a row is one.
catalog::UnitPath *declared_unit(Oid relation);

// Returns what the least accurate count of people that is granted on the table's views follows from; with none that is permitted, Laplace
// noise at the tau of the documentation.
const privacy::CountTerms *strictest_terms(Oid relation);
// Warns of policies on the domain of the table, or of a role's on a view, under which one count costs more than the whole total.
void warn_of_price(Oid relation, Oid view = InvalidOid, Oid role = InvalidOid);
// Returns those of Laplace noise at a tau, by the candidates that a policy has without others.
const privacy::CountTerms *terms_at(double tau);
// Says in a NOTICE how right counts of people and of rows will be, where a person may have several.
void tell_accuracy(Oid relation);
// Says how right a sum of a column will be that is limited by these numbers.
void tell_accuracy_of_sum(Oid relation, const char *column, Datum lower, Datum upper);
// Returns the text by which a total of an expression over the table is kept. 22023 where it has no sum; 54000 where it is too long; and
// those of query::check_table_expression.
const char *summed_text(Oid relation, const char *expression);
// Sets a total of the sizes in a unit's sum. Under lock_declarations.
void store_total(const catalog::Visit &visit, Oid relation, const char *text, Datum total);
// Sets the limits of a table that has a unit, 0 where there is none. Under lock_declarations.
void store_limits(const catalog::Visit &visit, Oid relation, const catalog::UnitPath *path, const Limits &limits);

// ---- in the catalog ------------------------------------------------------------------------------------------------

// Under its lock from here on. Made if it is not there.
void register_domain(const catalog::Visit &visit, const char *id, Oid relation, const Unit *unit);
// The table's columns are the people of the domain: under this name it comes back to it.
void remember_name(const catalog::Visit &visit, const char *id, Oid relation);
void register_unit(const catalog::Visit &visit, const char *id, Oid relation, const Unit *unit, const Limits &limits);

bool has_odometer(const catalog::Visit &visit, const char *id);

} // namespace dp::sql
