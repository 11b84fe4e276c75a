#include <limits>

#include "core/query_plan.hpp"

namespace dp::plan {
namespace {

// ---- fields --------------------------------------------------------------------------------------------------------

template <class V> void fields(V &v, Name &name) {
    v.text(name.schema);
    v.text(name.name);
}

template <class V> void fields(V &v, Type &type) {
    fields(v, type.name);
    v.flag(type.is_array);
    v.whole(type.modifier);
}

// Visits the fields that the node's kind has. The others keep their defaults, so each node has one encoding.
template <class V> void fields(V &v, Node &node) {
    v.choice(node.op, last_op);
    switch (node.op) {
    case Op::column:
        v.number(node.number);
        return v.text(node.text);
    case Op::constant:
        fields(v, node.type);
        v.flag(node.flag);
        if (!node.flag)
            v.text(node.text);
        return;
    case Op::call:
        v.flag(node.flag);
        [[fallthrough]];
    case Op::infix:
        v.number(node.number);
        fields(v, node.name);
        return fields(v, node.collation);
    case Op::cast:
        return fields(v, node.type);
    case Op::collate:
        return fields(v, node.name);
    case Op::choice:
        v.flag(node.flag);
        return v.number(node.number);
    case Op::greatest:
    case Op::least:
        v.number(node.number);
        return fields(v, node.collation);
    case Op::any_of:
    case Op::all_of:
        fields(v, node.name);
        return fields(v, node.collation);
    case Op::nullif:
    case Op::distinct:
        return fields(v, node.collation);
    case Op::person_column:
    case Op::exists:
    case Op::conjunction:
    case Op::disjunction:
    case Op::test:
    case Op::coalesce:
        return v.number(node.number);
    case Op::operand:
    case Op::negation:
        return;
    }
}

template <class V> void fields(V &v, Expression &expression) {
    v.list(expression);
}

template <class V> void fields(V &v, Source &source) {
    fields(v, source.name);
    v.flag(source.is_public);
    v.list(source.columns);
    v.list(source.people);
}

template <class V> void fields(V &v, Column &column) {
    v.number(column.source);
    v.text(column.name);
}

template <class V> void fields(V &v, Item &item) {
    v.choice(item.kind, Item::left);
    if (item.kind == Item::source)
        v.number(item.number);
    else
        v.list(item.on);
}

template <class V> void fields(V &v, Exists &exists) {
    v.number(exists.first);
    v.number(exists.count);
    v.flag(exists.is_value);
    v.flag(exists.negated);
    v.list(exists.condition);
    v.list(exists.unless);
}

template <class V> void fields(V &v, Aggregate &aggregate) {
    fields(v, aggregate.function);
    fields(v, aggregate.collation);
    v.flag(aggregate.distinct);
    v.list(aggregate.argument);
    v.list(aggregate.filter);
}

template <class V> void fields(V &v, PerPerson &per_person) {
    v.list(per_person.person);
    v.list(per_person.carried);
    v.list(per_person.aggregates);
    v.list(per_person.where);
    v.list(per_person.keys);
}

template <class V> void fields(V &v, Measure &measure) {
    v.choice(measure.kind, last_kind);
    v.list(measure.arguments);
    v.list(measure.person);
    if (measure.kind == Kind::quantile)
        v.whole(measure.fraction);
    v.list(measure.filter);
}

template <class V> void fields(V &v, Plan &plan) {
    v.list(plan.sources);
    v.list(plan.from);
    v.list(plan.where);
    v.list(plan.exists);
    v.maybe(plan.per_person);
    v.list(plan.keys);
    v.list(plan.measures);
}

// ---- bytes ---------------------------------------------------------------------------------------------------------

constexpr std::string_view head("DPP\1", 4);
constexpr std::size_t most_bytes = 1 << 20; // a text of 64 kB is a fraction of it

struct Encoder {
    std::string bytes;

    void wide(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7)
            bytes += static_cast<char>(0x80 | (value & 0x7f));
        bytes += static_cast<char>(value);
    }
    void number(std::uint32_t &value) { wide(value); }
    template <class T> void whole(T &value) {
        wide(value < 0 ? 2 * static_cast<std::uint64_t>(-(value + 1)) + 1 : 2 * static_cast<std::uint64_t>(value));
    }
    template <class E> void choice(E &value, E) { bytes += static_cast<char>(value); }
    void flag(bool &value) { bytes += value ? '\1' : '\0'; }
    void text(std::string &value) {
        wide(value.size());
        bytes += value;
    }
    template <class T> void list(std::vector<T> &values) {
        wide(values.size());
        for (T &value : values)
            fields(*this, value);
    }
    template <class T> void maybe(std::optional<T> &value) {
        bytes += value ? '\1' : '\0';
        if (value)
            fields(*this, *value);
    }
};

[[noreturn]] void refuse(const char *what) {
    throw InvalidPlan(std::string("the bytes are no plan: ") + what);
}

struct Decoder {
    std::string_view bytes;

    std::uint8_t byte() {
        if (bytes.empty())
            refuse("they end too early");
        const auto value = static_cast<std::uint8_t>(bytes.front());
        bytes.remove_prefix(1);
        return value;
    }
    std::uint64_t wide() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::uint8_t next = byte();
            if (shift == 63 && next > 1)
                break;
            value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
            if (next < 0x80) {
                if (next == 0 && shift > 0)
                    refuse("a number is longer than it needs to be");
                return value;
            }
        }
        refuse("a number is too large");
    }
    void number(std::uint32_t &value) {
        const std::uint64_t read = wide();
        if (read > std::numeric_limits<std::uint32_t>::max())
            refuse("a number is too large");
        value = static_cast<std::uint32_t>(read);
    }
    template <class T> void whole(T &value) {
        const std::uint64_t read = wide();
        if (read / 2 > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
            refuse("a number is too large");
        const auto half = static_cast<T>(read / 2);
        value = read % 2 == 0 ? half : static_cast<T>(-half - 1);
    }
    template <class E> void choice(E &value, E last) {
        const std::uint8_t read = byte();
        if (read > static_cast<std::uint8_t>(last))
            refuse("a kind is unknown");
        value = static_cast<E>(read);
    }
    void flag(bool &value) {
        const std::uint8_t read = byte();
        if (read > 1)
            refuse("a truth value is neither");
        value = read == 1;
    }
    // Each element takes a byte at least.
    std::size_t count() {
        const std::uint64_t read = wide();
        if (read > bytes.size())
            refuse("a list is longer than they are");
        return static_cast<std::size_t>(read);
    }
    void text(std::string &value) {
        value = bytes.substr(0, count());
        bytes.remove_prefix(value.size());
    }
    template <class T> void list(std::vector<T> &values) {
        for (std::size_t left = count(); left > 0; left--)
            fields(*this, values.emplace_back());
    }
    template <class T> void maybe(std::optional<T> &value) {
        bool there = false;
        flag(there);
        if (there)
            fields(*this, value.emplace());
    }
};

template <class T> std::string bytes_of(const T &value) {
    Encoder encoder;
    fields(encoder, const_cast<T &>(value)); // which it only reads
    return std::move(encoder.bytes);
}

} // namespace

std::string encode(const Measure &measure) {
    return bytes_of(measure);
}

std::string encode(const Aggregate &aggregate) {
    return bytes_of(aggregate);
}

std::string encode(const Column &column) {
    return bytes_of(column);
}

std::string encode(const Plan &plan) {
    return std::string(head) + bytes_of(plan);
}

Plan decode(std::string_view bytes) {
    if (bytes.substr(0, head.size()) != head || bytes.size() > most_bytes)
        refuse("they are of another kind or version, or too many");
    Decoder decoder{bytes.substr(head.size())};
    Plan plan;
    fields(decoder, plan);
    if (!decoder.bytes.empty())
        refuse("something follows them");
    check(plan);
    return plan;
}

} // namespace dp::plan
