// Steps that the controller's functions share: whose table it is, which one is meant, and acting as its owner.
#pragma once

#include "catalog/settings.hpp"
#include "catalog/parameters.hpp"

namespace dp::sql {

// 42501 unless the caller owns the relation; 42P01 when there is none.
void check_owner(Oid relation);
// 42P01 when there is no such relation.
void check_exists(Oid relation);
// The protected table that is meant: itself, or the table behind a restricted view. 42501, 55000 "... is not protected".
Oid protected_relation(Oid relation);
// 42501 unless the caller owns the table behind the view; 55000 "... is not a restricted view".
catalog::Settings *settings_of_view(Oid view);
// Setters of one table wait here for each other, so that none undoes what another has just set. 55000 where the table has gone to
// another domain meanwhile.
void lock_declarations(const catalog::Visit &visit, Oid relation);
[[noreturn]] void refuse_moving(Oid relation);
// 42501 unless the role owns all tables of the domain, whose totals they share.
void check_owns_domain(const catalog::Visit &visit, Oid relation, Oid role);
// Returns the number of a column. 42703 where there is none of that name.
AttrNumber checked_column(Oid relation, const char *name, const char *remedy = nullptr);
// Runs a utility statement with the rights of a role.
void run_as(Oid role, const char *sql);

// Returns the statement that makes a restricted view: `head` (CREATE VIEW name), then its columns; null: all of the table's.
const char *facade_statement(const char *head, Oid relation, ArrayType *columns);
// Says where foreign keys show that rows of one person may be many, or in two protected tables.
void warn_of_many_rows(Oid relation);
// Says that a role lacks USAGE on the schema of a relation, which is of this kind in the message.
void warn_of_schema(Oid role, Oid relation, const char *kind);
// 55000 when a role's share would count twice: in epsilon for one of its policies on the table, in rho for another.
void check_shares(const catalog::Visit &visit, Oid relation);
// 55000 when answers to a role whose policy has a risk profile are not all of pure epsilon.
void check_profiles(const catalog::Visit &visit, Oid relation, Oid profiled);
// 55000 while the domain of the table has a partition.
void check_no_partition(const catalog::Visit &visit, Oid relation);
// 22023 for a total of epsilon that is negative or not a number.
void check_epsilon_total(Datum total);

// ---- statements over the extension's own tables ---------------------------------------------------------------------

using catalog::if_given;
using catalog::Typed;

// Raises the first row, which begins with sqlstate, message, detail and hint, unless there is none or it has no sqlstate. Rows are
// found by the keys of tables: the ledger has those of others as well.
void refuse_row(const catalog::Visit &visit, uint64 rows);
template <class... T> void refuse_first(const catalog::Visit &visit, const char *sql, const T &...values) {
    catalog::Visit keyed = visit;
    keyed.spi.by_keys = true;
    refuse_row(keyed, run(keyed, sql, values...));
}

// Does so in a visit of its own.
template <class... T> void refuse_by(const char *sql, const T &...values) {
    const catalog::Visit visit = catalog::Visit::read();
    refuse_first(visit, sql, values...);
    visit.leave();
}

// Holds messages that are kept until a visit is over, under whose settings none is sent.
struct Reports {
    uint64 n;
    char **texts; // four of each
};
// Returns the rows of a statement: severity ('warning' or 'notice'), message, detail and hint.
Reports kept_reports(const catalog::Visit &visit, uint64 rows);
template <class... T> Reports reports_of(const catalog::Visit &visit, const char *sql, const T &...values) {
    return kept_reports(visit, run(visit, sql, values...));
}
void tell(const Reports &reports);
// Does both, in a visit of its own.
template <class... T> void tell_by(const char *sql, const T &...values) {
    const catalog::Visit visit = catalog::Visit::read();
    const Reports reports = reports_of(visit, sql, values...);
    visit.leave();
    tell(reports);
}

} // namespace dp::sql
