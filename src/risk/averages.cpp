#include "risk/averages.hpp"

#include "border/guard.hpp"
#include "risk/memory.hpp"

namespace dp::risk {

// ---- the totals in order -------------------------------------------------------------------------------------------

Averages *begin_averages() {
    auto *averages = static_cast<Averages *>(palloc0(sizeof(Averages)));
    TupleDesc desc = CreateTemplateTupleDesc(2);
    TupleDescInitEntry(desc, 1, "count", FLOAT8OID, -1, 0);
    TupleDescInitEntry(desc, 2, "difference", FLOAT8OID, -1, 0);
    AttrNumber columns[2] = {1, 2};
    TypeCacheEntry *type = lookup_type_cache(FLOAT8OID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
    Oid operators[2] = {type->gt_opr, type->lt_opr}, collations[2] = {InvalidOid, InvalidOid};
    bool nulls_first[2] = {false, false};
    averages->sort =
        tuplesort_begin_heap(desc, 2, columns, operators, collations, nulls_first, work_mem, nullptr, TUPLESORT_NONE);
    averages->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    return averages;
}

void add_average(Averages *averages, const privacy::PairTotals &totals) {
    TupleTableSlot *slot = averages->slot;
    ExecClearTuple(slot);
    slot->tts_values[0] = Float8GetDatum(totals.count);
    slot->tts_values[1] = Float8GetDatum(totals.difference);
    slot->tts_isnull[0] = slot->tts_isnull[1] = false;
    ExecStoreVirtualTuple(slot);
    tuplesort_puttupleslot(averages->sort, slot);
}

static privacy::PairTotals totals_in(TupleTableSlot *slot) {
    slot_getallattrs(slot);
    return {DatumGetFloat8(slot->tts_values[0]), DatumGetFloat8(slot->tts_values[1])};
}

void finish_averages(Averages *averages) {
    tuplesort_performsort(averages->sort);
    averages->totals = border::Spill<privacy::PairTotals>::make(1, share_of_memory());
    averages->counts = border::Spill<SameCount>::make(1, share_of_memory());
    TupleTableSlot *slot = MakeSingleTupleTableSlot(averages->slot->tts_tupleDescriptor, &TTSOpsMinimalTuple);
    privacy::PairTotals last = {-1, 0};
    while (tuplesort_gettupleslot(averages->sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        privacy::PairTotals totals = totals_in(slot);
        if (totals.count == last.count && totals.difference == last.difference)
            continue;
        int64 at = averages->totals.count();
        if (totals.count != last.count)
            *averages->counts.append() = SameCount{at, at};
        averages->counts.change(averages->counts.count() - 1)->to = at + 1;
        *averages->totals.append() = last = totals;
    }
    ExecDropSingleTupleTableSlot(slot);
    ExecDropSingleTupleTableSlot(averages->slot);
    tuplesort_end(averages->sort);
    averages->sort = nullptr;
    averages->slot = nullptr;
}

// ---- the least -----------------------------------------------------------------------------------------------------

namespace {
struct Search {
    const Averages *averages;
    const PairError *error;
    TermOf term;
    void *context;
    double least;       // of all that were computed
    double imprecision; // of parts and bounds, as a part of their size
};

// A group whose error was computed.
struct Node {
    int64 at;
    privacy::PairTotals totals;
    privacy::PrintedAverage::Parts parts;
    // The ways from its position p, difference / count, to the ends of the range. (A position would be rounded, and the
    // totals are not: near an end much depends on how far it is.)
    double to_high() const { return (totals.count - totals.difference) / totals.count; }
    double to_low() const { return (totals.count + totals.difference) / totals.count; }
};
} // namespace

static privacy::PairTotals look_at(Search *search, int64 at) {
    CHECK_FOR_INTERRUPTS();
    const privacy::PairTotals totals = *search->averages->totals.at(at);
    search->least = Min(search->least, search->term(search->context, totals));
    return totals;
}

using Parts = privacy::PrintedAverage::Parts;

// Returns how far apart two nodes of one count are.
static double width_of(const Node &a, const Node &b) {
    return (b.totals.difference - a.totals.difference) / a.totals.count;
}

static double slope(const Node &a, const Node &b, double Parts::*part) {
    return (b.parts.*part - a.parts.*part) / width_of(a, b);
}

static double error_of(const Node &node) {
    return node.parts.uncut - node.parts.cut - 2 * node.to_high() * node.parts.above -
           2 * node.to_low() * node.parts.below;
}

// Whether no error as small as this can make a term that is less than all that were computed.
static bool is_too_large(const Search *search, double error) {
    constexpr double rounding = 1e-12; // of adding up
    return search->error->others + search->error->weight * error > search->least * (1 + rounding);
}

// Returns the size of the numbers that rounding is a part of.
static double size_of(const Node &node) {
    return node.parts.uncut + 4 * (node.parts.above + node.parts.below);
}

// Where its parts show that it cannot be the least, its term is not computed.
static Node node_at(Search *search, int64 at) {
    const privacy::PairTotals totals = *search->averages->totals.at(at);
    Node node = border::core([&] {
        return Node{at, totals, privacy::PrintedAverage(search->error->noise, totals).parts()};
    });
    if (!is_too_large(search, error_of(node) - search->imprecision * size_of(node)))
        (void)look_at(search, at);
    return node;
}

// How fast what the ends take off grows at `at`, one of the two nodes, with the chords between them in the place of what is
// convex. That lies above it, and its products with 1 - p and 1 + p are concave: they lie below their tangents.
static double growth(const Node &a, const Node &b, const Node &at) {
    return slope(a, b, &Parts::cut) + 2 * at.to_high() * slope(a, b, &Parts::above) - 2 * at.parts.above +
           2 * at.to_low() * slope(a, b, &Parts::below) + 2 * at.parts.below;
}

// No average between a and b is off by less. `uncut` is convex: beyond two nodes of one side it lies above the line through
// them. left, right: neighbours further out, or null.
static double lower_bound(const Node *left, const Node &a, const Node &b, const Node *right, double imprecision) {
    double width = width_of(a, b), worst = 1, from = error_of(a), to = error_of(b);
    double down = get_float8_infinity(), up = get_float8_infinity(); // how steeply it may fall from a, and from b
    if (left != nullptr) {
        down = growth(a, b, a) - slope(*left, a, &Parts::uncut);
        worst += 4 * width / width_of(*left, a);
    }
    if (right != nullptr) {
        up = slope(b, *right, &Parts::uncut) - growth(a, b, b);
        worst += 4 * width / width_of(b, *right);
    }
    double bound = Min(from, to);
    if (down > 0 && up > 0) { // two lines meet in between; one is enough for a bound
        double meet = std::isinf(down) ? 0 : std::isinf(up) ? width : (from - to + up * width) / (down + up);
        meet = Min(Max(meet, 0.0), width);
        bound = std::isinf(down) ? to - up * width : from - down * meet;
    }
    return bound - imprecision * (size_of(a) + size_of(b)) * worst;
}

// Between two nodes of one count.
static void search_between(Search *search, const Node *left, const Node &a, const Node &b, const Node *right) {
    constexpr int64 few = 3;
    check_stack_depth();
    if (b.at - a.at <= few) {
        for (int64 at = a.at + 1; at < b.at; at++)
            (void)look_at(search, at);
        return;
    }
    if ((left != nullptr || right != nullptr) &&
        is_too_large(search, lower_bound(left, a, b, right, search->imprecision)))
        return;
    Node middle = node_at(search, a.at + (b.at - a.at) / 2);
    search_between(search, left, a, middle, &b);
    search_between(search, &a, middle, b, right);
}

double least_term(const Averages *averages, const PairError &error, TermOf term, void *context) {
    constexpr int64 few = 16;
    Search search = {averages,
                     &error,
                     term,
                     context,
                     get_float8_infinity(),
                     privacy::PrintedAverage::imprecision(error.noise.mechanism)};
    for (int64 c = 0; c < averages->counts.count(); c++) {
        const SameCount run = *averages->counts.at(c);
        if (run.to - run.from <= few) {
            for (int64 at = run.from; at < run.to; at++)
                (void)look_at(&search, at);
            continue;
        }
        Node first = node_at(&search, run.from), last = node_at(&search, run.to - 1);
        search_between(&search, nullptr, first, last, nullptr);
    }
    return search.least;
}

} // namespace dp::risk
