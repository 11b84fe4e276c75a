// The client's side: hands a request to a keeper and waits. It holds no private value, and no lock on a protected table.
#pragma once

#include "keeper/message.hpp"

namespace dp::keeper {

// A row of an answer goes into `rows`, which is of the leaf's columns. Returns the public facts. Errors: those that the
// keeper raised (release::resolve, catalog::charge, "the query failed"); 55000 when no keeper could be started, or one was
// lost; cancel and timeouts of the caller's own, which leave a charge standing that was under way.
// sent: what the keeper was asked, for read_ask().
release::Facts ask(const release::Ask &ask, Tuplestorestate *rows, TupleDesc desc, StringInfo sent);

// Has a keeper charge and answer a request, as the approver says. Errors: those that the keeper raised (release::decide, as
// above).
release::Settled approve(const release::Approval &approval, const catalog::Asker &approver);

// Has a keeper charge for, and choose, how many rows of one unit shall count. Errors: those that the keeper raised
// (release::resolve_limit, as above).
int choose_limit(const release::LimitWish &wish, const catalog::Asker &asker);

// Has a keeper commit an entry of the ledger: charges of the owner's own calls, new odometers (catalog::deliver_by).
void deliver(catalog::Entry *entry);

} // namespace dp::keeper
