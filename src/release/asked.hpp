// Writes and reads questions of requests, as they are stored beside the text of their leaf (architecture.md, 3.11).
#pragma once

#include "catalog/requests.hpp"
#include "release/ask.hpp"

namespace dp::release {

// Appends what is stored of a question beside its text, as JSON: its parameters' values, its time zone, and whether the answer may
// depend on that, and which columns of the leaf (from 0) come in which order. Under pinned settings: texts that mean the same in another process.
void write_parameters(StringInfo json, const Ask &ask, bool zoned, const int *columns, int ncolumns);
// Returns the question as its requester asked it. As him.
Ask ask_of(const catalog::Requested &request, const Decision *decision);

// Returns the columns of its answer among the outputs of the leaf, from 0.
int *columns_of(const catalog::Requested &request, const query::Leaf *leaf, int *n);
// 55000 where the question is not the one that was shown, or the columns of its answer have other types than the requester was told.
void check_same(const catalog::Requested &request, const rows::Question *question);
Oid type_of(const query::Leaf *leaf, const query::Output &output);
// Returns how a type of a column is written down, under pinned settings.
const char *type_text(Oid type);

} // namespace dp::release
