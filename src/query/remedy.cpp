#include "query/remedy.hpp"

#include "query/marks.hpp"
#include "query/total.hpp"

namespace dp::query {

constexpr char plain_remedy[] = "Use count(*), count(x), sum(x) or avg(x).";
constexpr char ranges_remedy[] = "Count over ranges: count(*) FILTER (WHERE x < 10), or GROUP BY width_bucket(x, 0, "
                                 "100, 10) with a policy that has a "
                                 "delta.";
constexpr char spread_remedy[] = "Count over ranges, count(*) FILTER (WHERE x < 10), or ask the controller for a "
                                 "generated column x * x with bounds: "
                                 "avg(x_squared) - avg(x) * avg(x).";
constexpr char list_remedy[] = "Values of rows are private: ask for SELECT x, count(*) ... GROUP BY x.";
constexpr char condition_remedy[] = "Count the rows: count(*) FILTER (WHERE x).";
constexpr char interval_remedy[] = "sum and avg take columns of a number type: ask the controller for a generated "
                                   "column in seconds or days, with bounds, "
                                   "or count over ranges: count(*) FILTER (WHERE x > interval '3 days').";

namespace {
struct Remedy {
    const char *name; // of functions of pg_catalog
    const char *text;
};
} // namespace

static const Remedy aggregate_remedies[] = {
    {"percentile_cont", ranges_remedy},
    {"percentile_disc", ranges_remedy},
    {"max", ranges_remedy},
    {"min", ranges_remedy},
    {"mode", "Take the largest group: SELECT x, count(*) ... GROUP BY x ORDER BY 2 DESC LIMIT 1."},
    {"stddev", spread_remedy},
    {"stddev_samp", spread_remedy},
    {"stddev_pop", spread_remedy},
    {"variance", spread_remedy},
    {"var_samp", spread_remedy},
    {"var_pop", spread_remedy},
    {"array_agg", list_remedy},
    {"string_agg", list_remedy},
    {"json_agg", list_remedy},
    {"jsonb_agg", list_remedy},
    {"json_object_agg", list_remedy},
    {"jsonb_object_agg", list_remedy},
    {"xmlagg", list_remedy},
    {"bool_or", condition_remedy},
    {"bool_and", condition_remedy},
    {"every", condition_remedy},
};

constexpr char power_remedy[] = "Compare the column itself with a computed constant: x > 10 * 10.";
constexpr char pattern_remedy[] = "Use LIKE or ILIKE with constant patterns, or starts_with().";

static const Remedy function_remedies[] = {
    {"to_char", "Use date_trunc('month', x) or extract(month FROM x), and format the answer."},
    {"age", "Compare the column with a computed constant: x < current_date - interval '65 years'."},
    {"textregexeq", pattern_remedy},
    {"textregexne", pattern_remedy},
    {"texticregexeq", pattern_remedy},
    {"texticregexne", pattern_remedy},
    {"regexp_like", pattern_remedy},
    {"regexp_match", pattern_remedy},
    {"regexp_replace", pattern_remedy},
    {"sqrt", power_remedy},
    {"power", power_remedy},
    {"pow", power_remedy},
    {"exp", power_remedy},
    {"ln", power_remedy},
    {"log", power_remedy},
};

template <std::size_t n> static const char *find(const Remedy (&table)[n], Oid function, const char *otherwise) {
    const char *name = function < FirstUnpinnedObjectId ? get_func_name(function) : nullptr;
    for (const Remedy &remedy : table)
        if (name != nullptr && strcmp(name, remedy.name) == 0)
            return remedy.text;
    return otherwise;
}

const char *function_remedy(Oid function) {
    if (part_of_mark(function) != Part::value)
        return mark_remedy;
    return find(function_remedies, function, total_hint);
}

const char *aggregate_remedy(const Aggref *call) {
    const char *name = get_func_name(call->aggfnoid);
    bool sums = name != nullptr && (strcmp(name, "sum") == 0 || strcmp(name, "avg") == 0);
    if (sums && list_length(call->aggargtypes) == 1 && linitial_oid(call->aggargtypes) == INTERVALOID)
        return interval_remedy;
    return find(aggregate_remedies, call->aggfnoid, plain_remedy);
}

static bool is_cast(Node *node) {
    if (!IsA(node, FuncExpr) || castNode(FuncExpr, node)->args == NIL)
        return false;
    CoercionForm form = castNode(FuncExpr, node)->funcformat;
    return form == COERCE_EXPLICIT_CAST || form == COERCE_IMPLICIT_CAST;
}

static Node *below_casts(Node *node) {
    for (;;) {
        if (IsA(node, RelabelType))
            node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
        else if (IsA(node, CoerceViaIO))
            node = reinterpret_cast<Node *>(castNode(CoerceViaIO, node)->arg);
        else if (is_cast(node))
            node = static_cast<Node *>(linitial(castNode(FuncExpr, node)->args));
        else
            return node;
    }
}

const char *argument_remedy(Node *argument) {
    Node *node = below_casts(argument);
    if (IsA(node, Const))
        return "Use count(*), and multiply the answer.";
    if (marked(node) != nullptr)
        return mark_remedy;
    if (exprType(node) == BOOLOID)
        return condition_remedy;
    if (IsA(node, Var))
        return "Leave the cast out, and cast the answer; the controller declares bounds of columns of a number type.";
    if (IsA(node, CaseExpr))
        return "Use FILTER: count(*) FILTER (WHERE condition), sum(x) FILTER (WHERE condition).";
    if (IsA(node, CoalesceExpr))
        return "NULL adds nothing to sum(x); divide by count(*) to count it as 0.";
    return "Aggregate a column, and compute with the answer: 2 * sum(x), sum(x) + sum(y). For another expression ask "
           "the "
           "controller for a generated column with bounds.";
}

} // namespace dp::query
