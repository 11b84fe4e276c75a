#include "border/bytes.hpp"

namespace dp::border {

constexpr uint32 no_text = PG_UINT32_MAX;

Writer Writer::begin() {
    Writer writer;
    initStringInfo(&writer.bytes);
    return writer;
}

void Writer::put_bytes(const void *data, Size size) {
    appendBinaryStringInfo(&bytes, static_cast<const char *>(data), static_cast<int>(size));
}

void Writer::put_text(const char *text) {
    if (text == nullptr) {
        put(no_text);
        return;
    }
    auto size = static_cast<uint32>(strlen(text) + 1);
    put(size);
    put_bytes(text, size);
}

// A value is sent whole: what lies out of line or is compressed here need not be there for who reads.
void Writer::put_datum(Datum value, bool isnull, Oid type) {
    put(isnull);
    if (isnull)
        return;
    int16 length;
    bool by_value;
    get_typlenbyval(type, &length, &by_value);
    if (by_value) {
        put(value);
        return;
    }
    if (length == -1)
        value = PointerGetDatum(PG_DETOAST_DATUM(value));
    Size size = datumGetSize(value, by_value, length);
    put(size);
    put_bytes(DatumGetPointer(value), size);
}

const char *Reader::take_bytes(Size size) {
    if (size > static_cast<Size>(end - at))
        elog(ERROR, "a message of dp_rdr is cut short");
    const char *taken = at;
    at += size;
    return taken;
}

int Reader::checked_count(int n) const {
    if (n < 0 || n > end - at)
        elog(ERROR, "a message of dp_rdr is cut short");
    return n;
}

const char *Reader::take_text() {
    auto size = take<uint32>();
    if (size == no_text)
        return nullptr;
    const char *text = take_bytes(size);
    if (size == 0 || text[size - 1] != '\0')
        elog(ERROR, "a text in a message of dp_rdr has no end");
    return pstrdup(text);
}

Datum Reader::take_datum(bool *isnull, Oid type) {
    *isnull = take<bool>();
    if (*isnull)
        return Datum(0);
    int16 length;
    bool by_value;
    get_typlenbyval(type, &length, &by_value);
    if (by_value)
        return take<Datum>();
    auto size = take<Size>();
    auto *copy = static_cast<char *>(palloc(size));
    memcpy(copy, take_bytes(size), size);
    if (datumGetSize(PointerGetDatum(copy), by_value, length) != size)
        elog(ERROR, "a value in a message of dp_rdr has another size than its type says");
    return PointerGetDatum(copy);
}

} // namespace dp::border
