#include <type_traits>

#include "core/query_plan.hpp"

namespace dp::plan {
namespace {

constexpr std::string_view head("DPP\1", 4);

// Lengths stand before what has any, so no bytes are those of two plans.
struct Encoder {
    std::string bytes;

    void put_number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7)
            bytes += static_cast<char>(0x80 | (value & 0x7f));
        bytes += static_cast<char>(value);
    }
    void put(bool value) { bytes += value ? '\1' : '\0'; }
    void put(std::uint32_t value) { put_number(value); }
    void put(std::int64_t value) {
        put_number(value < 0 ? 2 * static_cast<std::uint64_t>(-(value + 1)) + 1 : 2 * static_cast<std::uint64_t>(value));
    }
    void put(std::int32_t value) { put(std::int64_t{value}); }
    template <class E> std::enable_if_t<std::is_enum_v<E>> put(E value) { bytes += static_cast<char>(value); }
    void put(const std::string &value) {
        put_number(value.size());
        bytes += value;
    }
    template <class T> void put(const std::vector<T> &values) {
        put_number(values.size());
        for (const T &value : values)
            put(value);
    }
    template <class T> void put(const std::optional<T> &value) {
        put(value.has_value());
        if (value)
            put(*value);
    }
    template <class... T> void put_all(const T &...values) { (put(values), ...); }

    void put(const Name &name) { put_all(name.schema, name.name); }
    void put(const Type &type) { put_all(type.name, type.is_array, type.modifier); }
    void put(const Column &column) { put_all(column.source, column.name); }
    void put(const Source &source) { put_all(source.name, source.is_public, source.columns, source.people); }
    void put(const Exists &exists) {
        put_all(exists.first, exists.count, exists.is_value, exists.negated, exists.condition, exists.unless);
    }
    void put(const Order &order) { put_all(order.by, order.descending, order.nulls_first); }
    void put(const Over &over) { put_all(over.arguments, over.partition, over.order); }
    void put(const Aggregate &aggregate) {
        put_all(aggregate.function, aggregate.collation, aggregate.distinct, aggregate.argument, aggregate.filter,
                aggregate.over);
    }
    void put(const PerPerson &rows) { put_all(rows.person, rows.carried, rows.aggregates, rows.where, rows.keys); }
    void put(const Plan &plan) {
        put_all(plan.sources, plan.from, plan.where, plan.exists, plan.per_person, plan.keys, plan.measures);
    }
    void put(const Item &item) {
        put(item.kind);
        if (item.kind == Item::source)
            put(item.number);
        else
            put(item.on);
    }
    void put(const Measure &measure) {
        put_all(measure.kind, measure.arguments, measure.person);
        if (measure.kind == Kind::quantile)
            put(measure.fraction);
        put(measure.filter);
    }
    void put(const Node &node);
};

// The fields that the node's kind has. The others keep their defaults.
void Encoder::put(const Node &node) {
    put(node.op);
    switch (node.op) {
    case Op::column:
        return put_all(node.number, node.text);
    case Op::constant:
        put_all(node.type, node.flag);
        return node.flag ? void() : put(node.text);
    case Op::call:
        return put_all(node.flag, node.number, node.name, node.collation);
    case Op::infix:
        return put_all(node.number, node.name, node.collation);
    case Op::cast:
        return put(node.type);
    case Op::collate:
        return put(node.name);
    case Op::choice:
        return put_all(node.flag, node.number);
    case Op::greatest:
    case Op::least:
        return put_all(node.number, node.collation);
    case Op::any_of:
    case Op::all_of:
        return put_all(node.name, node.collation);
    case Op::nullif:
    case Op::distinct:
        return put(node.collation);
    case Op::person_column:
    case Op::exists:
    case Op::conjunction:
    case Op::disjunction:
    case Op::test:
    case Op::coalesce:
        return put(node.number);
    case Op::operand:
    case Op::negation:
        return;
    }
}

template <class T> std::string bytes_of(const T &value) {
    Encoder encoder;
    encoder.put(value);
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

} // namespace dp::plan
