// Shares what requests and signals have in common.
#pragma once

#include "catalog/requests.hpp"

namespace dp::sql {

// 54000 for a purpose or a reason that is too long.
void check_length(const char *text, const char *name);
// When a request of now expires. 22023 for no time, or too long a one.
TimestampTz expiry(Datum expires, TimestampTz now);
// Begins to store a request. Until the end of the transaction, two of one requester about one table come one after the other, and no more
// wait for a decision than may: 54000. The oldest that were withdrawn or have expired go.
catalog::Visit begin_request(const catalog::Settings &settings, Oid requester);
// Ends it: returns the number that the last statement gave, and tells it, alone, to those who listen to the table's channel.
Datum end_request(const catalog::Visit &visit, const catalog::Settings &settings);
// NOTIFY on the table's channel, with the number alone.
void tell_listeners(const catalog::Settings &settings, int64 request);

// With its answer: the requester's once it is released, its table's owner's once it is drawn. 42501, 55000.
const catalog::Requested *answered_request(int64 id);
// 42804 where the caller has declared other columns. first: the name of an integer before them; null: none.
void check_fetched_columns(const catalog::Requested &request, TupleDesc expected, const char *first);

// Finds a request that the caller made, owns the table of, or reviews. 42501: any other, as one that is not there.
const catalog::Requested *seen_request(int64 id, catalog::Access *access);

} // namespace dp::sql
