// Messages between clients and keepers. A request is a leaf's text with what it is asked for; an answer is public facts
// and rows of noisy values, or an error that says the same whatever the rows are.
#pragma once

#include "border/record.hpp"
#include "release/approve.hpp"
#include "release/ask.hpp"
#include "release/last.hpp"
#include "release/choose_row_limit.hpp"

namespace dp::keeper {

// Begins what comes back.
enum class Reply : char { lost = 0, answer = 'a', error = 'e', done = 'd' };
// Stands where the length of a row would be: no row, but another reply.
constexpr uint32 another_reply = PG_UINT32_MAX;

// Writes an Ask, an Approval, a LimitWish, or Facts: what a client learns of an answer besides its rows.
template <class Message> void write(border::Writer *writer, const Message &message);
// Reads an Approval, a LimitWish or Facts.
template <class Message> Message read(border::Reader *reader);
// Reads an Ask. Its roles are not in the bytes: they come from the slot.
release::Ask read_ask(border::Reader *reader, const catalog::Asker &asker);

void write_error(border::Writer *writer, const ErrorData *error);
[[noreturn]] void raise_error(border::Reader *reader);

} // namespace dp::keeper
