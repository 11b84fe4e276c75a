// What clients and keepers say to each other. A request is a leaf's text with what it is asked for; an answer is public facts
// and rows of noisy values, or an error that says the same whatever the rows are.
#pragma once

#include "border/bytes.hpp"
#include "release/approve.hpp"
#include "release/ask.hpp"
#include "release/last.hpp"
#include "release/row_limit.hpp"

namespace dp::keeper {

// The first byte of what comes back.
enum class Reply : char { lost = 0, answer = 'a', error = 'e', done = 'd' };
// Where the length of a row would be: no row, but another reply.
constexpr uint32 another_reply = PG_UINT32_MAX;

void write_ask(border::Writer *writer, const release::Ask &ask);
// The role oids are not in the bytes: they come from the slot.
release::Ask read_ask(border::Reader *reader, const catalog::Asker &asker);

void write_approval(border::Writer *writer, const release::Approval &approval);
release::Approval read_approval(border::Reader *reader);

void write_wish(border::Writer *writer, const release::LimitWish &wish);
release::LimitWish read_wish(border::Reader *reader);

void write_error(border::Writer *writer, const ErrorData *error);
[[noreturn]] void raise_error(border::Reader *reader);

// What a client learns of an answer besides its rows.
void write_facts(border::Writer *writer, const release::Facts &facts);
release::Facts read_facts(border::Reader *reader);

} // namespace dp::keeper
