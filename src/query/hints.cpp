#include "query/hints.hpp"

namespace dp::query {

void refuse_part(const char *part, const char *remedy, ParseState *source, int location) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s is not supported in a query on a restricted view", part), errhint("%s", remedy),
                    source ? parser_errposition(source, location) : 0));
    pg_unreachable();
}

constexpr char plain_remedy[] =
    "Use count(*), count(x), sum(x), avg(x), var_pop(x), var_samp(x), stddev_pop(x) or stddev_samp(x).";
constexpr char percentile_remedy[] = "Ask for percentiles one by one: percentile_cont(0.25) WITHIN GROUP (ORDER BY x), "
                                     "percentile_cont(0.75) WITHIN GROUP (ORDER BY x), of numbers.";
const char quantile_remedy[] = "min, max and percentile_disc take numbers, dates and timestamps that have "
                               "bounds; otherwise count over ranges: count(*) FILTER (WHERE x < HIGH).";
constexpr char list_remedy[] = "Values of rows are private: ask for SELECT x, count(*) ... GROUP BY x.";
constexpr char condition_remedy[] = "Count the rows: count(*) FILTER (WHERE x).";
const char interval_remedy[] =
    "Of intervals those are aggregated that are differences of timestamps: avg(ended - started), which have no months. "
    "Others, and all of them in dp_risk and the like, are asked in seconds: avg(least(greatest(extract(epoch FROM x), "
    "LOW), HIGH)), "
    "or counted over ranges: count(*) FILTER (WHERE x > LOW).";

constexpr char pairs_remedy[] =
    "Of two columns covar_pop, covar_samp, corr, regr_slope, regr_intercept and regr_r2 are answered. The others are "
    "made of "
    "count(*), avg(y), var_pop(y) and covar_pop(y, x) ... WHERE x IS NOT NULL AND y IS NOT NULL.";

namespace {
struct Remedy {
    const char *name; // of functions of pg_catalog
    const char *text;
};
} // namespace

static const Remedy aggregate_remedies[] = {
    {"percentile_cont", percentile_remedy},
    {"percentile_disc", percentile_remedy},
    {"max", quantile_remedy},
    {"min", quantile_remedy},
    {"mode", "Take the largest group: SELECT x, count(*) ... GROUP BY x ORDER BY 2 DESC LIMIT 1."},
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
    {"regr_avgx", pairs_remedy},
    {"regr_avgy", pairs_remedy},
    {"regr_count", pairs_remedy},
    {"regr_sxx", pairs_remedy},
    {"regr_sxy", pairs_remedy},
    {"regr_syy", pairs_remedy},
};

constexpr char power_remedy[] = "Compare the column itself with a computed constant: x > LOW * LOW.";
constexpr char json_remedy[] =
    "Ask the controller for a column of type jsonb: stored texts of type json are parsed anew "
    "for every row.";
constexpr char path_remedy[] = "Go step by step: x -> 'a' -> 0 ->> 'b'.";
constexpr char pattern_remedy[] = "Use LIKE or ILIKE with constant patterns, or starts_with().";

static const Remedy function_remedies[] = {
    {"to_char", "Of a date or timestamp. Otherwise group by the value, and format the answer."},
    {"json_object_field_text", json_remedy},
    {"json_array_element_text", json_remedy},
    {"json_object_field", json_remedy},
    {"json_array_element", json_remedy},
    {"jsonb_extract_path_text", path_remedy},
    {"jsonb_extract_path", path_remedy},
    {"jsonb_path_query_first", path_remedy},
    {"jsonb_path_exists", path_remedy},
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
    return find(function_remedies, function, total_hint);
}

const char *aggregate_remedy(const Aggref *call) {
    const bool builtin = call->aggfnoid < FirstUnpinnedObjectId;
    if (builtin && call->aggtype == INTERVALOID)
        return interval_remedy;
    return find(aggregate_remedies, call->aggfnoid, plain_remedy);
}

} // namespace dp::query
