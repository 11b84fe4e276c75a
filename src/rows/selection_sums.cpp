#include "rows/selection_sums.hpp"

#include <cmath>

#include "rows/sums.hpp"

namespace dp::rows {

namespace {

// The facts as bytes: a header, the measures, the candidates. All of it are words of 64 bits, in network order: they may be
// read on another node.
struct Header {
    int64 gaussian;
    int64 measures;
    int64 candidates;
};

struct MeasureFacts {
    int64 is_sum;     // otherwise a row contributes 1
    int64 counts_nan; // COUNT(x) counts NaN; a pair does not
    privacy::SumLattice lattice;
    double sensitivity; // lattice units
};

struct CandidateFacts {
    double noise_term;
    int64 least;
};

static_assert(sizeof(Header) == 3 * sizeof(uint64) && sizeof(MeasureFacts) == 6 * sizeof(uint64) &&
                  sizeof(CandidateFacts) == 2 * sizeof(uint64),
              "words, and nothing between them");

// Partial sums of some rows.
struct Sums128 {
    privacy::int128 s1, s2;
};
struct State {
    int64 rows;
    int64 width;
    Sums128 sums[FLEXIBLE_ARRAY_MEMBER];
};

// What is known of a call before its first row.
struct Site {
    bool gaussian;
    int first; // argument that is a contribution; the facts come before it
    int nmeasures, width;
    MeasureFacts *measures;
    ValueKind *kinds;
    privacy::SvtCandidate *candidates;
};

Size state_size(int64 width) {
    return offsetof(State, sums) + sizeof(Sums128) * width;
}

State *make_state(MemoryContext context, int64 width) {
    auto *state = static_cast<State *>(MemoryContextAllocZero(context, state_size(width)));
    state->width = width;
    return state;
}

State *state_at(FunctionCallInfo fcinfo, int i) {
    return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<State *>(PG_GETARG_POINTER(i));
}

[[noreturn]] void refuse_facts() {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("selection_sums is an internal function of dp_rdr")));
    pg_unreachable();
}

// From the order of this machine to that of the network, or back.
void turn_words(char *bytes, Size size) {
    for (Size i = 0; i < size; i += sizeof(uint64)) {
        uint64 word;
        memcpy(&word, bytes + i, sizeof word);
        word = pg_hton64(word);
        memcpy(bytes + i, &word, sizeof word);
    }
}

} // namespace

int selection_width(privacy::Mechanism mechanism, int tested) {
    return mechanism == privacy::Mechanism::laplace ? 1 : tested;
}

static MeasureFacts facts_of_measure(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    MeasureFacts facts = {};
    facts.is_sum = measure.kind == privacy::MeasureKind::sum;
    facts.counts_nan = measure.kind == privacy::MeasureKind::count;
    facts.sensitivity = static_cast<double>((*question->sensitivities)[j]);
    facts.lattice.scale = 1;
    if (facts.is_sum)
        facts.lattice = border::core([&] { return privacy::sum_lattice(*question->bounds[j]); });
    return facts;
}

void check_selection_measures(const Question *question) {
    if (question->nmeasures > max_selection_measures)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("more than %d measures under a preference with tau_var", max_selection_measures),
                        errhint("Ask for fewer aggregates in one query.")));
}

Datum selection_facts(const Question *question, const privacy::SvtCandidate *tested, int ntested) {
    Header header = {};
    header.gaussian = tested->mechanism == privacy::Mechanism::gaussian;
    header.measures = question->nmeasures;
    header.candidates = selection_width(tested->mechanism, ntested);
    StringInfoData bytes;
    initStringInfo(&bytes);
    appendStringInfoSpaces(&bytes, VARHDRSZ);
    appendBinaryStringInfo(&bytes, reinterpret_cast<const char *>(&header), sizeof header);
    for (int j = 0; j < question->nmeasures; j++) {
        MeasureFacts facts = facts_of_measure(question, j);
        appendBinaryStringInfo(&bytes, reinterpret_cast<const char *>(&facts), sizeof facts);
    }
    for (int j = 0; j < header.candidates; j++) {
        CandidateFacts facts = {tested[j].noise_term, static_cast<int64>(tested[j].least)};
        appendBinaryStringInfo(&bytes, reinterpret_cast<const char *>(&facts), sizeof facts);
    }
    turn_words(bytes.data + VARHDRSZ, bytes.len - VARHDRSZ);
    SET_VARSIZE(bytes.data, bytes.len);
    return PointerGetDatum(bytes.data);
}

// ---- the point of a row -------------------------------------------------------------------------------------------------

// Anybody may call the aggregate on rows of his own: what it is told is checked as if he had.
static bool plausible(const MeasureFacts &facts) {
    return std::isfinite(facts.lattice.scale) && facts.lattice.scale > 0 && facts.sensitivity >= 1 &&
           std::isfinite(facts.sensitivity) && facts.lattice.z_lower <= facts.lattice.z_upper;
}

static bool plausible(const CandidateFacts &facts) {
    return std::isfinite(facts.noise_term) && facts.noise_term > 0 && facts.least >= 0 &&
           facts.least <= privacy::pair_one;
}

static void read_measures(FunctionCallInfo fcinfo, Site *site, const char *bytes) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    site->measures = static_cast<MeasureFacts *>(MemoryContextAlloc(context, sizeof(MeasureFacts) * site->nmeasures));
    site->kinds = static_cast<ValueKind *>(MemoryContextAlloc(context, sizeof(ValueKind) * site->nmeasures));
    memcpy(site->measures, bytes, sizeof(MeasureFacts) * site->nmeasures);
    for (int j = 0; j < site->nmeasures; j++) {
        if (!plausible(site->measures[j]))
            refuse_facts();
        // Of a count any type will do.
        site->kinds[j] = site->measures[j].counts_nan && !site->measures[j].is_sum
                             ? ValueKind::int4
                             : value_kind(get_fn_expr_argtype(fcinfo->flinfo, site->first + j));
    }
}

static void read_candidates(FunctionCallInfo fcinfo, Site *site, const char *bytes) {
    site->candidates = static_cast<privacy::SvtCandidate *>(
        MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(privacy::SvtCandidate) * site->width));
    for (int j = 0; j < site->width; j++) {
        CandidateFacts facts;
        memcpy(&facts, bytes + sizeof facts * j, sizeof facts);
        if (!plausible(facts))
            refuse_facts();
        privacy::SvtCandidate *candidate = &site->candidates[j];
        candidate->mechanism = site->gaussian ? privacy::Mechanism::gaussian : privacy::Mechanism::laplace;
        candidate->m = site->nmeasures;
        candidate->noise_term = facts.noise_term;
        candidate->least = facts.least;
    }
}

// facts_at: the argument that has the facts.
static Site *read_site(FunctionCallInfo fcinfo, int facts_at) {
    if (PG_ARGISNULL(facts_at))
        refuse_facts();
    const bytea *facts = PG_GETARG_BYTEA_PP(facts_at);
    Size size = VARSIZE_ANY_EXHDR(facts);
    Header header;
    if (size < sizeof header || size % sizeof(uint64) != 0)
        refuse_facts();
    auto *bytes = static_cast<char *>(palloc(size));
    memcpy(bytes, VARDATA_ANY(facts), size);
    turn_words(bytes, size);
    memcpy(&header, bytes, sizeof header);
    if (header.measures != PG_NARGS() - facts_at - 1 || header.measures < 1 || header.candidates < 1 ||
        header.candidates > 64 ||
        size != sizeof header + sizeof(MeasureFacts) * header.measures + sizeof(CandidateFacts) * header.candidates)
        refuse_facts();
    auto *site = static_cast<Site *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site)));
    site->gaussian = header.gaussian != 0;
    site->first = facts_at + 1;
    site->nmeasures = static_cast<int>(header.measures);
    site->width = static_cast<int>(header.candidates);
    const char *measures = bytes + sizeof header;
    read_measures(fcinfo, site, measures);
    read_candidates(fcinfo, site, measures + sizeof(MeasureFacts) * header.measures);
    fcinfo->flinfo->fn_extra = site;
    return site;
}

// The part of one measure in a record's scaled PIS, in [0, 1].
static double part_of(const MeasureFacts &facts, ValueKind kind, Datum value) {
    if (!facts.is_sum)
        return facts.counts_nan || !std::isnan(double_value(kind, value)) ? 1 : 0;
    double point;
    if (is_integer(kind) && facts.lattice.scale == 1)
        point = static_cast<double>(privacy::to_sum_point_integer(facts.lattice, integer_value(kind, value)));
    else {
        const auto z = privacy::to_sum_point(facts.lattice, double_value(kind, value));
        point = z ? static_cast<double>(*z) : 0;
    }
    return Min(std::fabs(point) / facts.sensitivity, 1.0);
}

static double pis_of(FunctionCallInfo fcinfo, const Site *site) {
    double sum = 0;
    for (int j = 0; j < site->nmeasures; j++) {
        if (PG_ARGISNULL(site->first + j))
            continue;
        double part = part_of(site->measures[j], site->kinds[j], PG_GETARG_DATUM(site->first + j));
        sum += site->gaussian ? part * part : part;
    }
    return site->gaussian ? std::sqrt(sum) : sum;
}

// Of the first candidate.
static int64 point_of(FunctionCallInfo fcinfo) {
    auto *site = static_cast<const Site *>(fcinfo->flinfo->fn_extra);
    if (site == nullptr)
        site = read_site(fcinfo, 0);
    return privacy::svt_point(site->candidates[0], pis_of(fcinfo, site));
}

DP_ROW_FUNCTION(dp_selection_point) {
    PG_RETURN_INT64(point_of(fcinfo));
}

DP_ROW_FUNCTION(dp_selection_square) {
    const int64 point = point_of(fcinfo);
    PG_RETURN_INT64(point * point);
}

// ---- the aggregate -------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_selection_sums_step) {
    MemoryContext context = aggregate_context(fcinfo);
    auto *site = static_cast<Site *>(fcinfo->flinfo->fn_extra);
    if (site == nullptr)
        site = read_site(fcinfo, 1);
    State *state = state_at(fcinfo, 0);
    if (state == nullptr)
        state = make_state(context, site->width);
    double pis = pis_of(fcinfo, site);
    for (int j = 0; j < site->width; j++) {
        const privacy::int128 point = privacy::svt_point(site->candidates[j], pis);
        state->sums[j].s1 += point;
        state->sums[j].s2 += point * point;
    }
    state->rows++;
    PG_RETURN_POINTER(state);
}

DP_FUNCTION(dp_selection_sums_combine) {
    MemoryContext context = aggregate_context(fcinfo);
    State *state = state_at(fcinfo, 0);
    const State *other = state_at(fcinfo, 1);
    if (other != nullptr) {
        if (state == nullptr) // a worker's state does not live as long as the aggregation
            state = make_state(context, other->width);
        state->rows += other->rows;
        for (int64 j = 0; j < Min(state->width, other->width); j++) {
            state->sums[j].s1 += other->sums[j].s1;
            state->sums[j].s2 += other->sums[j].s2;
        }
    }
    if (state == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

static Datum state_bytes(const State *state) {
    Size size = state_size(state->width);
    auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + size));
    SET_VARSIZE(bytes, VARHDRSZ + size);
    memcpy(VARDATA(bytes), state, size);
    return PointerGetDatum(bytes);
}

// A copy: bytes are not aligned. `size`: what is there, of which the state takes its part.
static State *state_from(const char *bytes, Size size, MemoryContext context) {
    State head;
    if (size < offsetof(State, sums))
        elog(ERROR, "unexpected size of a transition state");
    memcpy(&head, bytes, offsetof(State, sums));
    if (head.width < 0 || head.width > 64 || size < state_size(head.width))
        elog(ERROR, "unexpected size of a transition state");
    State *state = make_state(context, head.width);
    memcpy(state, bytes, state_size(head.width));
    return state;
}

DP_FUNCTION(dp_selection_sums_serialize) {
    aggregate_context(fcinfo);
    return state_bytes(state_at(fcinfo, 0));
}

DP_FUNCTION(dp_selection_sums_deserialize) {
    aggregate_context(fcinfo);
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    PG_RETURN_POINTER(state_from(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), CurrentMemoryContext));
}

// NULL without rows.
DP_FUNCTION(dp_selection_sums_final) {
    aggregate_context(fcinfo);
    const State *state = state_at(fcinfo, 0);
    if (state == nullptr)
        PG_RETURN_NULL();
    return state_bytes(state);
}

static void add_state(const State *state, privacy::SelectionSums *sums, int width) {
    if (state->width != width)
        elog(ERROR, "unexpected result of an internal aggregate");
    for (int j = 0; j < width; j++) {
        sums[j].n += state->rows;
        sums[j].s1 += state->sums[j].s1;
        sums[j].s2 += state->sums[j].s2;
    }
}

void add_selection_sums(Datum result, privacy::SelectionSums *sums, int width) {
    const bytea *bytes = DatumGetByteaPP(result);
    Size size = VARSIZE_ANY_EXHDR(bytes);
    for (Size at = 0; at < size; at += state_size(width))
        add_state(state_from(VARDATA_ANY(bytes) + at, size - at, CurrentMemoryContext), sums, width);
}

void add_selection_columns(const Datum *columns, privacy::SelectionSums *sums, int width) {
    int64 rows = DatumGetInt64(*columns++);
    for (int j = 0; j < width; j++) {
        sums[j].n += rows;
        sums[j].s1 += sum_of(*columns++);
        sums[j].s2 += sum_of(*columns++);
    }
}

} // namespace dp::rows
