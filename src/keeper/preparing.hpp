// Prepares requests: what a keeper does before a charge looks at public facts alone.
#pragma once

#include "keeper/one_request.hpp"

namespace dp::keeper {

// Limits the preparation of a request in a batch, in milliseconds, as the others of the batch wait for it. A request that is alone
// has a longer limit, as it holds a keeper. (query/constants bounds functions that look at no timer.)
constexpr int batch_ms = 200;

// Tells whether it may take long to find the price: a search in the rows, a calibration of Gaussian noise for each candidate, other
// servers that are asked whether they are there; with many measures also the price of an accuracy.
bool takes_long(const Request *request);
// Prepares a question. False: not in a batch, or not yet. An answer that costs nothing and whose client may take his time to take it
// comes back alone as well.
bool prepare_answer(Request *request);
// Returns a request that can be charged; null: it is through with already, or comes again alone.
Request *prepare(int slot);

// Tells whether this keeper has asked other servers, and so has connections to them.
bool has_asked_elsewhere();

} // namespace dp::keeper
