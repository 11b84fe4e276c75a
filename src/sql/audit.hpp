// The checks of dp_audit. Each is a small SELECT of (object, finding, remedy) over the names that `subject_sql` (catalog/row_access_paths) gives it.
#pragma once

namespace dp::sql {

struct Check {
    const char *severity;
    const char *sql;
};

// A list of checks in one file, in the order in which those of one severity are shown.
struct Chapter {
    const char *subject; // names of its own, behind those of catalog/row_access_paths
    const Check *checks;
    int nchecks;
};

extern const Chapter rights_chapter, server_chapter;

} // namespace dp::sql
