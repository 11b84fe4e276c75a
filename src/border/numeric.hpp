// The digits of a numeric as they are stored. The server offers them only as a message for clients (numeric_send), which
// takes longer than all the rest of a row. The layout is that of every table on disk since 9.1; sql/numbers.sql compares
// what is read here with what the server says.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// A finite number: the digits to the base 10000, the first of which counts 10000^weight.
struct NumericDigits {
    const char *bytes; // int16 each, of any alignment
    int count;
    int weight;
    int scale; // decimals that it is printed with
    bool negative;

    int digit(int i) const {
        int16 value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        return value;
    }
};

// False: NaN or an infinity.
inline bool read_numeric(Datum value, NumericDigits *digits) {
    // Fetches a value that is out of line or compressed into the memory of the row.
    const auto *stored = reinterpret_cast<const struct varlena *>(PG_DETOAST_DATUM_PACKED(value));
    const char *bytes = VARDATA_ANY(stored);
    uint16 header;
    memcpy(&header, bytes, sizeof header);
    if ((header & 0xC000) == 0xC000)
        return false;
    Size header_size = sizeof header;
    if ((header & 0x8000) != 0) { // short: sign and weight stand in the header
        digits->negative = (header & 0x2000) != 0;
        digits->weight = ((header & 0x0040) != 0 ? ~0x003F : 0) | (header & 0x003F);
        digits->scale = (header & 0x1F80) >> 7;
    } else {
        int16 weight;
        memcpy(&weight, bytes + sizeof header, sizeof weight);
        header_size += sizeof weight;
        digits->negative = (header & 0x4000) != 0;
        digits->weight = weight;
        digits->scale = header & 0x3FFF;
    }
    digits->bytes = bytes + header_size;
    digits->count = static_cast<int>((VARSIZE_ANY_EXHDR(stored) - header_size) / sizeof(int16));
    return true;
}

} // namespace dp::border
