// Writes texts of JSON, member by member.
#pragma once

#include "catalog/decimals.hpp"

namespace dp::catalog {

// Appends members, with commas between them. One of an array has no name (null).
struct JsonText {
    StringInfo text;

    static JsonText object() {
        JsonText json{makeStringInfo()};
        json.open(nullptr, '{');
        return json;
    }
    void open(const char *name, char bracket) const {
        if (text->len > 0 && strchr("{[", text->data[text->len - 1]) == nullptr)
            appendStringInfoString(text, ", ");
        if (name != nullptr) {
            escape_json(text, name);
            appendStringInfoString(text, ": ");
        }
        if (bracket != '\0')
            appendStringInfoChar(text, bracket);
    }
    void close(char bracket) const { appendStringInfoChar(text, bracket); }
    const char *closed() const {
        close('}');
        return text->data;
    }

    // Appends what is JSON already.
    void raw(const char *name, const char *value) const {
        open(name, '\0');
        appendStringInfoString(text, value);
    }
    void operator()(const char *name, const char *value) const {
        if (value == nullptr)
            return raw(name, "null");
        open(name, '\0');
        escape_json(text, value);
    }
    void operator()(const char *name, bool value) const { raw(name, value ? "true" : "false"); }
    void operator()(const char *name, int32 value) const { raw(name, psprintf("%d", value)); }
    void operator()(const char *name, int64 value) const { raw(name, psprintf(INT64_FORMAT, value)); }
    void operator()(const char *name, uint64 value) const { raw(name, psprintf(UINT64_FORMAT, value)); }
    void operator()(const char *name, double value) const { raw(name, float8out_internal(value)); }
    template <int Places> void operator()(const char *name, privacy::Decimal<Places> value) const {
        raw(name, numeric_text(to_numeric(value)));
    }
    // It would be taken for a bool.
    template <class T> void operator()(const char *name, const T *value) const = delete;
};

inline Datum jsonb_of(const char *text) {
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
}

} // namespace dp::catalog
