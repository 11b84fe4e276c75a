// A check of dp_audit: a SELECT of (object, finding, remedy) over the names that catalog/ways gives it.
#pragma once

namespace dp::sql {

struct Check {
    const char *severity;
    const char *sql;
};

// Where Citus is installed: one name more for its checks, and these, none where it keeps no protected table.
extern const char *const citus_subject_sql;
extern const Check citus_checks[];
extern const int ncitus_checks;

// Who comes in, and what is encrypted.
extern const char *const transport_subject_sql;
extern const Check transport_checks[];
extern const int ntransport_checks;

} // namespace dp::sql
