#include "query/percentile.hpp"

#include "privacy/quantile.hpp"

#include "query/condition.hpp"
#include "query/hints.hpp"
#include "query/total_table.hpp"

namespace dp::query {

Node *before_cast_to_double(Node *number) {
    const Rule rule = exprType(number) == FLOAT8OID && IsA(number, FuncExpr) ? rule_of(number) : Rule::none;
    return rule != Rule::kept && rule != Rule::cast ? number
                                                    : static_cast<Node *>(linitial(castNode(FuncExpr, number)->args));
}

// Returns true for types that a grid may lie over.
static bool has_points(Oid type) {
    return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID || type == FLOAT8OID ||
           type == NUMERICOID || type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

void set_percentile(Aggregate *aggregate, const Aggref *call, ParseState *source) {
    int at = call->location;
    Oid type = exprType(reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr));
    refuse_if(!has_points(type) || call->aggtype != type,
              psprintf("%s of values of type %s", get_func_name(call->aggfnoid), format_type_be(type)),
              type == INTERVALOID ? interval_remedy : quantile_remedy, source, at);
    aggregate->fraction = static_cast<Node *>(linitial(call->aggdirectargs));
    refuse_if(contains_column(aggregate->fraction), "a column as the fraction of a percentile",
              "Write a constant there, 0.5 for the median.", source, at);
    check_condition(aggregate->fraction, source);
    Oid sort = linitial_node(SortGroupClause, call->aggorder)->sortop;
    const TypeCacheEntry *order = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
    refuse_if(sort != order->lt_opr && sort != order->gt_opr, "ORDER BY with an operator of its own",
              "Write ORDER BY x, or ORDER BY x DESC.", source, at);
    aggregate->descending = sort == order->gt_opr;
}

void check_part(const Aggregate &aggregate, Part part, ParseState *source) {
    refuse_if(part != Part::value && privacy::is_quantile(aggregate.fn),
              "dp_low or dp_high of min, max or a percentile",
              "Ask for percentiles on both sides: those of 0.45 and 0.55 enclose the median unless their ranks are off "
              "by more than dp_explain() says.",
              source, aggregate.node->location);
}

} // namespace dp::query
