// The parts of dp_report: from the rows, and from the catalog. All texts go to the page in UTF-8.
#pragma once

#include "picture/page.hpp"
#include "privacy/risk.hpp"

#include "border/guard.hpp"

namespace dp::sql {

// What dp_report is called with, checked.
struct ReportCall {
    Oid relation; // the protected table
    const char *query;
    double tau;
    privacy::Mechanism mechanism;
    bool has_delta;
    privacy::Delta delta;
    const std::vector<privacy::Epsilon> *candidates;
    int records;
    Oid function; // dp_report: in the schema of all functions that the extension has for everybody
};

// A text of the server's for the page, in the current memory.
const char *page_text(const char *text);
// The same, no longer than that: what is stored may be of any length.
const char *page_text(const char *text, int characters);

// Reads the rows, once. Errors: those of dp_risk_records; 22023 for a query on another table.
void add_query_part(picture::Report *report, const ReportCall &call);

// Settings, spending, denials, audit.
void add_tables(picture::Report *report, const ReportCall &call);

} // namespace dp::sql
