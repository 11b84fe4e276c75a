#include "query/cost.hpp"

#include <cmath>

#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/visit.hpp"
#include "query/make.hpp"

namespace dp::query {

// One row may take five milliseconds longer than another: two of them are for calls, three for the bytes of its values.
constexpr double most_for_calls = 2e6, most_for_bytes = 3e6;
constexpr int largest_limit = 1024 * 1024, smallest_limit = 256;
constexpr int known_size = 1024; // a column declared to be no longer needs no limit

// ---- sizes ---------------------------------------------------------------------------------------------------------

int size_of(Node *argument) {
    Node *node = without_relabelings(argument);
    if (IsA(node, Const)) {
        auto *value = castNode(Const, node);
        return value->constisnull || value->constlen != -1 ? 0
                                                           : static_cast<int>(toast_raw_datum_size(value->constvalue));
    }
    int32 typmod = exprTypmod(node);
    Oid type = getBaseTypeAndTypmod(exprType(node), &typmod);
    if (get_typlen(type) != -1 || type == INETOID || type == CIDROID)
        return 0;
    int32 most = IsA(node, Var) ? type_maximum_size(type, typmod) : -1;
    return most >= 0 && most <= known_size ? most : -1;
}

// ---- what a byte costs ---------------------------------------------------------------------------------------------

static const char *constant_text(List *arguments) {
    if (list_length(arguments) < 2)
        return "";
    const Const *value = value_in(static_cast<Node *>(lsecond(arguments)));
    return value == nullptr ? "" : TextDatumGetCString(value->constvalue);
}

// After the first % every place of the text may be tried against the piece up to the next one, but no piece twice: a text that
// ends before a later piece is found ends the search (MatchText).
static int longest_piece(const char *pattern) {
    int longest = 0, piece = 0;
    bool behind = false;
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c == '%') {
            behind = true;
            piece = 0;
            continue;
        }
        if (*c == '\\' && c[1] != '\0')
            c++;
        piece++;
        longest = behind ? Max(longest, piece) : longest;
    }
    return longest;
}

static RowCost cost_of_byte(const TotalFunction *entry, Oid collation, List *arguments) {
    constexpr double libraries_order = 40, libraries_order_squared = 0.1, libraries_case = 45;
    constexpr double of_set = 8, of_piece = 5;
    RowCost byte = {0, static_cast<double>(entry->why.per_byte), 0};
    switch (entry->why.work) {
    case Work::flat:
    case Work::bytes:
        break;
    case Work::order:
        if (!border::orders_by_bytes(collation))
            byte = RowCost{0, libraries_order, libraries_order_squared};
        break;
    case Work::cases:
        if (!border::maps_bytes(collation))
            byte.linear = libraries_case;
        break;
    case Work::trim:
        if (list_length(arguments) > 1)
            byte.linear += of_set * static_cast<double>(strlen(constant_text(arguments)));
        break;
    case Work::ilike:
        byte.linear += libraries_case;
        [[fallthrough]];
    case Work::like:
        byte.linear += of_piece * longest_piece(constant_text(arguments));
        break;
    }
    return byte;
}

void add_cost(RowCost *cost, const TotalFunction *entry, Oid collation, List *arguments, double times) {
    cost->calls += times * entry->why.per_call;
    if (entry->why.per_byte == 0)
        return;
    RowCost byte = cost_of_byte(entry, collation, arguments);
    ListCell *cell;
    foreach (cell, arguments) {
        if (entry->wants_constant(foreach_current_index(cell)))
            continue;
        double size = size_of(static_cast<Node *>(lfirst(cell)));
        if (size >= 0)
            cost->calls += times * size * (byte.linear + byte.quadratic * size);
        else {
            cost->linear += times * byte.linear;
            cost->quadratic += times * byte.quadratic;
        }
    }
}

// ---- the limit -----------------------------------------------------------------------------------------------------

static Oid limiter() {
    Oid types[2] = {ANYELEMENTOID, INT4OID};
    return border::internal_function("up_to_size", 2, types);
}

void limit_arguments(List *arguments) {
    ListCell *cell;
    foreach (cell, arguments) {
        auto *argument = static_cast<Node *>(lfirst(cell));
        if (size_of(argument) >= 0)
            continue;
        lfirst(cell) =
            makeFuncExpr(limiter(), exprType(argument), list_make2(argument, int_constant(largest_limit)),
                         exprCollation(argument), exprCollation(argument), COERCE_EXPLICIT_CALL);
    }
}

Node *without_limit(Node *argument) {
    const bool limited = IsA(argument, FuncExpr) && castNode(FuncExpr, argument)->funcid >= FirstUnpinnedObjectId &&
                         castNode(FuncExpr, argument)->funcid == limiter();
    return limited ? static_cast<Node *>(linitial(castNode(FuncExpr, argument)->args)) : argument;
}

int size_limit(const RowCost *cost) {
    // The root of linear L + quadratic L^2 = most, in the form that needs no quadratic part.
    double root = std::sqrt(cost->linear * cost->linear + 4 * cost->quadratic * most_for_bytes);
    double limit = cost->linear + root > 0 ? 2 * most_for_bytes / (cost->linear + root) : largest_limit;
    if (cost->calls > most_for_calls || limit < smallest_limit)
        refuse_size(
            "the query could take more than 5 ms on a single row",
            "Use fewer or shorter patterns, fewer comparisons of texts, or COLLATE \"C\"; or ask several "
            "queries.",
            psprintf("Its functions may cost %.1f ms for their calls, and %.0f microseconds for texts of %d bytes.",
                     cost->calls / 1e6, (cost->linear + cost->quadratic * smallest_limit) * smallest_limit / 1e3,
                     smallest_limit));
    return static_cast<int>(Min(limit, largest_limit));
}

void set_size_limit(Node *expression, int limit) {
    border::any(expression, [=](Node *node) {
        if (without_limit(node) != node)
            castNode(Const, lsecond(castNode(FuncExpr, node)->args))->constvalue = Int32GetDatum(limit);
        return false;
    });
}

double time_of_group(const RowCost &cost) {
    constexpr double longest = 1000; // bytes
    return cost.calls + longest * (cost.linear + longest * cost.quadratic);
}

} // namespace dp::query
