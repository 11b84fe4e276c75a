#include "keeper/stream.hpp"

#include "keeper/queue.hpp"

namespace dp::keeper {

Stream open_stream(int slot) {
    Size capacity = pool()->slots[slot].capacity;
    return Stream{slot, nullptr, static_cast<char *>(palloc(capacity)), 0, capacity, true, false};
}

Stream open_message() {
    return Stream{-1, makeStringInfo(), nullptr, 0, 0, true, false};
}

static void flush(Stream *stream, bool last) {
    stream->taken = send_part(stream->slot, stream->bytes, stream->filled, last) && stream->taken;
    stream->filled = 0;
    stream->begun = true;
}

void put_bytes(Stream *stream, const void *data, Size size) {
    auto *from = static_cast<const char *>(data);
    if (stream->whole != nullptr) {
        appendBinaryStringInfo(stream->whole, from, static_cast<int>(size));
        return;
    }
    while (size > 0 && stream->taken) {
        if (stream->filled == stream->capacity)
            flush(stream, false);
        Size room = Min(size, stream->capacity - stream->filled);
        memcpy(stream->bytes + stream->filled, from, room);
        stream->filled += room;
        from += room;
        size -= room;
    }
}

template <class T> static void put(Stream *stream, T value) {
    put_bytes(stream, &value, sizeof value);
}

void put_reply(Stream *stream, Reply reply, const StringInfoData &block) {
    put(stream, reply);
    put(stream, static_cast<uint32>(block.len));
    put_bytes(stream, block.data, block.len);
}

void put_row(Stream *stream, MinimalTuple row) {
    put(stream, static_cast<uint32>(row->t_len));
    put_bytes(stream, row, row->t_len);
}

void end_rows(Stream *stream) {
    put(stream, uint32{0});
}

void close_stream(Stream *stream) {
    if (stream->taken)
        flush(stream, true);
    if (!stream->taken)
        give_up(stream->slot);
}

} // namespace dp::keeper
