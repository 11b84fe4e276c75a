#include "query/distinct.hpp"

#include "border/visit.hpp"

namespace dp::query {

namespace {
struct Entry {
    uint32 hash;
    List *places;
};
} // namespace

static uint32 hash_constant(const Const *constant) {
    if (constant->constisnull)
        return 1;
    if (constant->constbyval)
        return hash_bytes_uint32(static_cast<uint32>(constant->constvalue));
    Size size = datumGetSize(constant->constvalue, constant->constbyval, constant->constlen);
    return hash_bytes(reinterpret_cast<const unsigned char *>(DatumGetPointer(constant->constvalue)),
                      static_cast<int>(Min(size, Size{1024})));
}

// Hashes the fields that tell most expressions of one kind apart, of those that equal() looks at.
static uint32 hash_fields(const Node *node) {
    switch (nodeTag(node)) {
    case T_Var:
        return static_cast<uint32>(reinterpret_cast<const Var *>(node)->varattno);
    case T_Const:
        return hash_constant(reinterpret_cast<const Const *>(node));
    case T_Param:
        return static_cast<uint32>(reinterpret_cast<const Param *>(node)->paramid);
    case T_Aggref:
        return reinterpret_cast<const Aggref *>(node)->aggfnoid;
    case T_FuncExpr:
        return reinterpret_cast<const FuncExpr *>(node)->funcid;
    case T_OpExpr:
        return reinterpret_cast<const OpExpr *>(node)->opno;
    case T_BoolExpr:
        return reinterpret_cast<const BoolExpr *>(node)->boolop;
    case T_String:
        return string_hash(reinterpret_cast<const String *>(node)->sval, NAMEDATALEN);
    default:
        return 0;
    }
}

static uint32 hash_of(Node *expression) {
    uint32 hash = 0;
    border::visit(expression, [&](Node *node, Index) {
        hash = hash_combine(hash, hash_combine(static_cast<uint32>(nodeTag(node)), hash_fields(node)));
        return IsA(node, Query) || IsA(node, String) ? border::Step::past : border::Step::in;
    });
    return hash;
}

Distinct Distinct::none() {
    return Distinct{NIL, nullptr};
}

static HTAB *new_table() {
    HASHCTL control = {};
    control.keysize = sizeof(uint32);
    control.entrysize = sizeof(Entry);
    control.hcxt = CurrentMemoryContext;
    return hash_create("dp_rdr expressions", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

int Distinct::place_of(Node *node) const {
    const uint32 hash = hash_of(node);
    const auto *entry =
        places == nullptr ? nullptr : static_cast<Entry *>(hash_search(places, &hash, HASH_FIND, nullptr));
    ListCell *cell;
    foreach (cell, entry == nullptr ? NIL : entry->places) {
        CHECK_FOR_INTERRUPTS(); // whoever writes a statement can give many expressions one hash
        if (equal(list_nth(nodes, lfirst_int(cell) - 1), node))
            return lfirst_int(cell);
    }
    return 0;
}

int Distinct::add(Node *node) {
    if (const int place = place_of(node))
        return place;
    const uint32 hash = hash_of(node);
    bool found;
    places = places == nullptr ? new_table() : places;
    nodes = lappend(nodes, node);
    auto *entry = static_cast<Entry *>(hash_search(places, &hash, HASH_ENTER, &found));
    entry->places = lappend_int(found ? entry->places : NIL, count());
    return count();
}

} // namespace dp::query
