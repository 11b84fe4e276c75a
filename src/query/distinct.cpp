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

// So many are compared one by one; most statements have fewer.
constexpr int few = 16;

static int find_among(const List *places, const List *nodes, const Node *node) {
    ListCell *cell;
    foreach (cell, places) {
        CHECK_FOR_INTERRUPTS(); // whoever writes a statement can give many expressions one hash
        if (equal(list_nth(nodes, lfirst_int(cell) - 1), node))
            return lfirst_int(cell);
    }
    return 0;
}

static int find_in(const List *nodes, const Node *node) {
    ListCell *cell;
    foreach (cell, nodes)
        if (equal(lfirst(cell), node))
            return foreach_current_index(cell) + 1;
    return 0;
}

static void enter(HTAB *places, Node *node, int place) {
    uint32 hash = hash_of(node);
    bool found;
    auto *entry = static_cast<Entry *>(hash_search(places, &hash, HASH_ENTER, &found));
    entry->places = lappend_int(found ? entry->places : NIL, place);
}

static HTAB *table_of(const List *nodes) {
    HASHCTL control = {};
    control.keysize = sizeof(uint32);
    control.entrysize = sizeof(Entry);
    control.hcxt = CurrentMemoryContext;
    HTAB *places = hash_create("dp_rdr expressions", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    ListCell *cell;
    foreach (cell, nodes)
        enter(places, static_cast<Node *>(lfirst(cell)), foreach_current_index(cell) + 1);
    return places;
}

int Distinct::place_of(Node *node) const {
    if (places == nullptr)
        return find_in(nodes, node);
    uint32 hash = hash_of(node);
    auto *entry = static_cast<Entry *>(hash_search(places, &hash, HASH_FIND, nullptr));
    return entry == nullptr ? 0 : find_among(entry->places, nodes, node);
}

int Distinct::add(Node *node) {
    if (const int place = place_of(node))
        return place;
    nodes = lappend(nodes, node);
    if (places != nullptr)
        enter(places, node, count());
    else if (count() > few)
        places = table_of(nodes);
    return count();
}

} // namespace dp::query
