// The keeper's end of an answer: bytes go into the slot's buffer, and on to the client whenever it is full.
#pragma once

#include "keeper/message.hpp"

namespace dp::keeper {

struct Stream {
    int slot;
    StringInfo whole; // all of it stays here; null: it goes to the slot's client
    char *bytes;
    Size filled, capacity;
    bool taken; // false: the client has gone; what is written is dropped
    bool begun; // some of it is out already
};

Stream open_stream(int slot);
// Begins a message that is kept as a whole.
Stream open_message();
void put_bytes(Stream *stream, const void *data, Size size);
// A reply: its first byte, then one block.
void put_reply(Stream *stream, Reply reply, const StringInfoData &block);
void put_row(Stream *stream, MinimalTuple row);
void end_rows(Stream *stream);
// The last part. Nothing is written behind it; the slot is its client's again.
void close_stream(Stream *stream);

} // namespace dp::keeper
