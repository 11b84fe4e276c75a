// Aggregates for owners of the data, who bring their own epsilon and keep their own accounts:
// dp_count(value, epsilon), dp_sum(value, lower, upper, epsilon), dp_avg(value, lower, upper, epsilon).
//
// Neighbours differ in one row. Each call is epsilon-DP: the noise depends on bounds and epsilon alone, which are read
// from the call itself, so that the empty set is answered like any other. ORDER BY inside does not matter, since sums of
// integers do not depend on the order. DISTINCT is sound as well: one row more or less changes the set of distinct values
// by at most one value, and values that count as equal have the same lattice point; so count, sum and pair move by no
// more than one value's share. FILTER and GROUP BY: a row is in one group at most (with several grouping sets it is in a
// group of each, and each set is an answer of its own, as two calls are two answers).
//
// The forms without epsilon are marks for queries over restricted views, where the extension replaces them.
#include <cstdint>
#include <cstring>
#include <optional>

#include "privacy/lattice.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/pair_release.hpp"

#include "catalog/decimals.hpp"
#include "border/guard.hpp"
#include "release/random.hpp"
#include "release/trace.hpp"
#include "border/walk.hpp"

#include "release/convert.hpp"
#include "rows/sums.hpp"

namespace dp::sql {

namespace {

using privacy::int128;
using rows::ValueKind;

// Lattice points added up.
struct LatticeState {
    int128 sum;
    int64 rows; // that contributed
};
static_assert(alignof(LatticeState) <= MAXIMUM_ALIGNOF, "palloc gives no more");

LatticeState *state_argument(FunctionCallInfo fcinfo, int i) {
    return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<LatticeState *>(PG_GETARG_POINTER(i));
}

// Adds a point to the first argument, a state, which is made when the first one comes.
Datum add_point(FunctionCallInfo fcinfo, const std::optional<std::int64_t> &point) {
    LatticeState *state = state_argument(fcinfo, 0);
    if (point) {
        if (state == nullptr)
            state = static_cast<LatticeState *>(
                MemoryContextAllocZero(rows::aggregate_context(fcinfo), sizeof(LatticeState)));
        state->sum += *point;
        state->rows++;
    }
    fcinfo->isnull = state == nullptr;
    return PointerGetDatum(state);
}

// What the arguments of a call say, apart from the values: the same for every row and group of one execution.
struct Call {
    privacy::Epsilon epsilon;
    Oid result_type;
    ValueKind kind;
    privacy::Bounds *bounds; // null: a count
    privacy::SumLattice sum;
    privacy::PairLattice pair;
};
static_assert(alignof(Call) <= MAXIMUM_ALIGNOF, "palloc gives no more");

// True if something in the expression is not a constant, an external parameter, or an ordinary function of such.
bool depends_on_rows(Node *node, void *context) {
    if (node == nullptr)
        return false;
    switch (nodeTag(node)) {
    case T_Const:
        return false;
    case T_Param:
        return castNode(Param, node)->paramkind != PARAM_EXTERN;
    case T_FuncExpr:
    case T_OpExpr:
    case T_RelabelType:
    case T_CoerceViaIO:
        return border::walk_expression(node, depends_on_rows, context);
    default:
        return true;
    }
}

// The value of an argument that all rows share. A row's own value must not choose noise or bounds: it would be no
// constant of the mechanism, and the empty set has none.
Datum constant_argument(FunctionCallInfo fcinfo, const Aggref *aggref, int position, const char *what) {
    Expr *expr = list_nth_node(TargetEntry, aggref->args, position)->expr;
    if (depends_on_rows(reinterpret_cast<Node *>(expr), nullptr) ||
        contain_mutable_functions(reinterpret_cast<Node *>(expr)))
        refuse_form(psprintf("%s of %s must be a constant or a parameter", what, get_func_name(aggref->aggfnoid)));
    auto *aggregation = castNode(AggState, fcinfo->context);
    ExprContext *context = CreateExprContext(aggregation->ss.ps.state);
    bool isnull;
    Datum value = ExecEvalExpr(ExecInitExpr(expr, &aggregation->ss.ps), context, &isnull);
    FreeExprContext(context, true);
    if (isnull)
        refuse_value(psprintf("%s must not be null", what));
    return value;
}

void read_bounds(FunctionCallInfo fcinfo, const Aggref *aggref, Call &call) {
    call.kind = rows::value_kind(linitial_oid(aggref->aggargtypes));
    const char *lower = catalog::numeric_text(constant_argument(fcinfo, aggref, 1, "lower bound"));
    const char *upper = catalog::numeric_text(constant_argument(fcinfo, aggref, 2, "upper bound"));
    MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
    call.bounds = border::context_new<privacy::Bounds>();
    MemoryContextSwitchTo(caller);
    border::core([&] {
        *call.bounds = privacy::make_bounds(lower, upper, rows::is_integer(call.kind));
        call.sum = privacy::sum_lattice(*call.bounds);
        call.pair = privacy::pair_lattice(*call.bounds);
    });
}

// Reads the call once per function and execution, from the plan: from the first row on, or at the end if there is none.
const Call &call_of(FunctionCallInfo fcinfo) {
    FmgrInfo *function = fcinfo->flinfo;
    if (function->fn_extra == nullptr) {
        rows::aggregate_context(fcinfo);
        const Aggref *aggref = AggGetAggref(fcinfo);
        Call call{};
        call.result_type = aggref->aggtype;
        const bool bounded = list_length(aggref->aggargtypes) == 4;
        if (bounded)
            read_bounds(fcinfo, aggref, call);
        Datum epsilon = constant_argument(fcinfo, aggref, bounded ? 3 : 1, "epsilon");
        call.epsilon = catalog::checked_epsilon(epsilon, "epsilon");
        auto *kept = static_cast<Call *>(MemoryContextAlloc(function->fn_mcxt, sizeof(Call)));
        *kept = call;
        function->fn_extra = kept;
    }
    return *static_cast<Call *>(function->fn_extra);
}

struct Coordinates {
    int128 first, second;
};
static_assert(sizeof(Coordinates) == 2 * sizeof(int128), "read as an array");

// Laplace noise on the coordinates of one measure (a pair has two) at the whole epsilon of the call. Core region.
Coordinates with_noise(const Call &call, privacy::MeasureKind kind, std::uint64_t sensitivity, Coordinates exact) {
    privacy::Measure measure;
    measure.kind = kind;
    measure.sensitivity = sensitivity;
    const privacy::ReleasePlan plan =
        privacy::plan_release(privacy::Mechanism::laplace, {measure}, false, call.epsilon, privacy::Delta{});
    release::StrongBits bits;
    exact.first += privacy::draw(bits, plan.noise.front());
    if (kind == privacy::MeasureKind::pair)
        exact.second += privacy::draw(bits, plan.noise.front());
    release::trace::planned(plan);
    release::trace::released(&exact.first, measure.coordinates());
    return exact;
}

} // namespace

// ---------------------------------------------------------------------------------------------------------------------
// With an epsilon
// ---------------------------------------------------------------------------------------------------------------------

// NaN counts, as it does in count(x).
DP_FUNCTION(dp_noisy_count_step) {
    call_of(fcinfo);
    return add_point(fcinfo, PG_ARGISNULL(1) ? std::nullopt : std::optional<std::int64_t>(0));
}

DP_FUNCTION(dp_noisy_sum_step) {
    const Call &call = call_of(fcinfo);
    return add_point(fcinfo, PG_ARGISNULL(1) ? std::nullopt : rows::sum_point(call.sum, call.kind, PG_GETARG_DATUM(1)));
}

DP_FUNCTION(dp_noisy_avg_step) {
    const Call &call = call_of(fcinfo);
    return add_point(fcinfo,
                     PG_ARGISNULL(1) ? std::nullopt : rows::pair_point(call.pair, call.kind, PG_GETARG_DATUM(1)));
}

// The final functions leave the state alone, draw anew for each group, and never return NULL.

DP_FUNCTION(dp_noisy_count) {
    rows::aggregate_context(fcinfo);
    const Call &call = call_of(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    const int128 rows = state == nullptr ? 0 : state->rows;
    return release::count_result(border::core([&] {
                                     return with_noise(call, privacy::MeasureKind::count, 1, {rows, 0}).first;
                                 }),
                                 0);
}

DP_FUNCTION(dp_noisy_sum) {
    rows::aggregate_context(fcinfo);
    const Call &call = call_of(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    const int128 sum = state == nullptr ? 0 : state->sum;
    const int128 noisy = border::core([&] {
        return with_noise(call, privacy::MeasureKind::sum, call.bounds->sensitivity(), {sum, 0}).first;
    });
    return release::sum_result(call.result_type, noisy, call.bounds->exponent);
}

DP_FUNCTION(dp_noisy_avg) {
    rows::aggregate_context(fcinfo);
    const Call &call = call_of(fcinfo);
    const LatticeState *state = state_argument(fcinfo, 0);
    const int128 rows = state == nullptr ? 0 : state->rows;
    const int128 s1 = state == nullptr ? 0 : state->sum;
    const double mean = border::core([&] {
        const Coordinates noisy =
            with_noise(call, privacy::MeasureKind::pair, privacy::pair_one, {s1, rows * privacy::pair_one - s1});
        return privacy::release_pair(noisy.first, noisy.second, *call.bounds).avg;
    });
    return release::avg_result(call.result_type, mean, call.bounds);
}

// ---------------------------------------------------------------------------------------------------------------------
// Without: only a restricted view can answer
// ---------------------------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_marker_step) {
    rows::aggregate_context(fcinfo);
    PG_RETURN_NULL();
}

DP_FUNCTION(dp_marker) {
    rows::aggregate_context(fcinfo);
    const Aggref *aggref = AggGetAggref(fcinfo);
    const char *name = get_func_name(aggref->aggfnoid);
    const bool count = strcmp(name, "dp_count") == 0;
    refuse_state(
        psprintf("%s(%s) needs a restricted view", name, aggref->aggstar ? "*" : "value"),
        psprintf("Read from a view that dp_protect created, or give an epsilon of your own: %s(value, %sepsilon).",
                 name, count ? "" : "lower, upper, "));
}

// dp_low and dp_high mark an aggregate that reads a restricted view, and are gone when the statement is executed.
static Datum refuse_unread(const char *name) {
    refuse_state(psprintf("%s(aggregate) needs a restricted view", name),
                 psprintf("Write it around count, sum or avg where these read a view that dp_protect created: SELECT "
                          "%s(count(*)) FROM view.",
                          name));
    return Datum(0);
}

DP_FUNCTION(dp_low) {
    return refuse_unread("dp_low");
}

DP_FUNCTION(dp_high) {
    return refuse_unread("dp_high");
}

} // namespace dp::sql
