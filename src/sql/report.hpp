// Makes the parts of dp_report: from the rows, and from the catalog. All texts go to the page in UTF-8.
#pragma once

#include "picture/page.hpp"
#include "privacy/risk.hpp"

#include "border/guard.hpp"
#include "risk/memo.hpp"
#include "release/estimate.hpp"
#include "release/approve.hpp"

namespace dp::sql {

// A request that is looked at, and what it would be charged if it were permitted now.
struct RequestLook {
    const catalog::Requested *request;
    release::Ask ask;
    bool decides;        // it is pending, and its owner decides on it
    bool reviewed;       // it is pending, and for reviewers
    const char *refusal; // why it could not be permitted now; or null, and then:
    bool profiled; // a risk profile, of its requester or of the table, rules out a decision in sight of the rows
    release::Terms terms;
    release::Price price;
};

// Holds the arguments of dp_report, checked.
struct ReportCall {
    Oid relation; // the protected table
    const char *query;
    const RequestLook *look; // of the request that supplies the query; or null
    double tau;
    privacy::Mechanism mechanism;
    bool has_delta;
    privacy::Delta delta;
    const std::vector<privacy::Epsilon> *candidates;
    int records;
    bool losses; // what was told of each person is wanted: it takes a look at all rows and charges
    Oid function; // dp_report: in the schema of all functions that the extension has for everybody
};

// Returns a text of the server's for the page, in the current memory.
const char *page_text(const char *text);
// Returns its first characters: a text that is stored may be of any length.
const char *page_text(const char *text, int characters);

// Returns a value as the page shows it, cut where it is long.
const char *value_text(Oid type, Datum value);
struct View;
// Adds a table of the groups, if there are few and they have several numbers. epsilon: of the candidate that the ranges are of.
void add_groups(picture::QueryPart *part, const View &view, const risk::Memo *memo, privacy::Epsilon epsilon);

// Adds each question of the query, or the one of the request. Reads the rows of each once. Errors: those of dp_risk_records; 22023 for a query
// on other tables alone.
void add_query_parts(picture::Report *report, const ReportCall &call);

// Finds the request, writes down that it is looked at, and finds the terms on which it would be answered now. Errors: 42501 for
// one about a table of another's; 22023 for one about another table than `relation`, and for a signal.
const RequestLook *look_at_request(Oid relation, int64 id);
// Adds who asks, what for, and what may be decided. Precondition: add_query_parts.
void add_request_part(picture::Report *report, const RequestLook &look);

// Settings, spending, denials, requests, audit.
void add_tables(picture::Report *report, const ReportCall &call);

} // namespace dp::sql
