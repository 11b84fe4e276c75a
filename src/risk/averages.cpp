#include "risk/averages.hpp"

#include "risk/leave_one_out.hpp"

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
    double least; // of all that were computed
};

// A group whose error was computed.
struct Node {
    int64 at;
    double position;
    privacy::PrintedAverage::Parts parts;
};
} // namespace

static privacy::PairTotals look_at(Search *search, int64 at) {
    CHECK_FOR_INTERRUPTS();
    const privacy::PairTotals totals = *search->averages->totals.at(at);
    search->least = Min(search->least, search->term(search->context, totals));
    return totals;
}

static Node node_at(Search *search, int64 at) {
    const privacy::PairTotals totals = look_at(search, at);
    return border::core([&] {
        return Node{at, totals.count > 0 ? totals.difference / totals.count : 0,
                    privacy::PrintedAverage(search->error->noise, totals).parts()};
    });
}

// Far more than what integrals are wrong by; as a part of their size.
constexpr double imprecision = 1e-10;

using Parts = privacy::PrintedAverage::Parts;

static double slope(const Node &a, const Node &b, double Parts::*part) {
    return (b.parts.*part - a.parts.*part) / (b.position - a.position);
}

static double error_of(const Node &node) {
    return node.parts.uncut - node.parts.cut - 2 * (1 - node.position) * node.parts.above -
           2 * (1 + node.position) * node.parts.below;
}

// How fast what the ends take off grows at `at`, one of the two nodes, with the chords between them in the place of what is
// convex. That lies above it, and its products with 1 - p and 1 + p are concave: they lie below their tangents.
static double growth(const Node &a, const Node &b, const Node &at) {
    return slope(a, b, &Parts::cut) + 2 * (1 - at.position) * slope(a, b, &Parts::above) - 2 * at.parts.above +
           2 * (1 + at.position) * slope(a, b, &Parts::below) + 2 * at.parts.below;
}

// No average between a and b is off by less. `uncut` is convex: beyond two nodes of one side it lies above the line through
// them. left, right: neighbours further out, or null.
static double lower_bound(const Node *left, const Node &a, const Node &b, const Node *right) {
    double width = b.position - a.position, worst = 1, from = error_of(a), to = error_of(b);
    double down = get_float8_infinity(), up = get_float8_infinity(); // how steeply it may fall from a, and from b
    if (left != nullptr) {
        down = growth(a, b, a) - slope(*left, a, &Parts::uncut);
        worst += 4 * width / (a.position - left->position);
    }
    if (right != nullptr) {
        up = slope(b, *right, &Parts::uncut) - growth(a, b, b);
        worst += 4 * width / (right->position - b.position);
    }
    double bound = Min(from, to);
    if (down > 0 && up > 0) { // two lines meet in between; one is enough for a bound
        double meet = std::isinf(down) ? 0 : std::isinf(up) ? width : (from - to + up * width) / (down + up);
        meet = Min(Max(meet, 0.0), width);
        bound = std::isinf(down) ? to - up * width : from - down * meet;
    }
    return bound - imprecision * (a.parts.uncut + b.parts.uncut) * worst;
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
    if (left != nullptr || right != nullptr) {
        double least = search->error->others + search->error->weight * lower_bound(left, a, b, right);
        if (least > search->least * (1 + imprecision))
            return;
    }
    Node middle = node_at(search, a.at + (b.at - a.at) / 2);
    search_between(search, left, a, middle, &b);
    search_between(search, &a, middle, b, right);
}

double least_term(const Averages *averages, const PairError &error, TermOf term, void *context) {
    constexpr int64 few = 16;
    Search search = {averages, &error, term, context, get_float8_infinity()};
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
