#include "query/limits.hpp"

#include "border/refuse.hpp"
#include "border/visit.hpp"
#include "query/leaf.hpp"
#include "query/make.hpp"

namespace dp::query {

static void refuse_limit(const char *what, int limit, const char *unit, const char *remedy) {
    refuse_size(what, remedy, psprintf("The limit for a query on a restricted view is %d %s.", limit, unit));
}

static void check_size(int n, int most, const char *what, const char *unit, const char *remedy) {
    if (n > most)
        refuse_limit(what, most, unit, remedy);
}

static void refuse_text() {
    refuse_limit("the query is too long", max_text, "bytes", "Ask in several queries, or write shorter constants.");
}

// The ledger is in UTF-8, and any other encoding can be converted.
static void check_encoding(const char *text) {
    if (GetDatabaseEncoding() == PG_SQL_ASCII && !pg_verify_mbstr(PG_UTF8, text, static_cast<int>(strlen(text)), true))
        refuse_value(
            "the query is not in UTF-8, and the encoding of the database, SQL_ASCII, does not say in which it is",
            "Send its text in UTF-8.", "The ledger keeps queries in UTF-8. Nothing was charged.");
}

void check_text(const char *text) {
    if (strnlen(text, max_text + 1) > max_text)
        refuse_text();
    check_encoding(text);
}

void check_outputs(int outputs) {
    check_size(outputs, max_outputs, "the query has too many group keys and aggregates", "of them together",
               "Ask for fewer at a time; GROUP BY gives many counts for the price of one.");
}

void check_unit_columns(int columns) {
    check_size(columns, max_outputs, "the query has too many aggregates and columns of one person's rows", "of them",
               "Ask for fewer at a time.");
}

void check_compared(int columns) {
    if (columns > max_compared)
        refuse_size("a sub-SELECT compares too many columns with those outside of it", "Compare the columns of a key.",
                    psprintf("It has %d equalities, and at most %d are supported.", columns, max_compared));
}

void check_sources(int sources) {
    check_size(sources, max_sources, "the query joins too many tables", "of them", "Join fewer at a time.");
}

void check_people(int people) {
    check_size(people, max_people, "the query opens too many sub-SELECTs with rows of one person",
               "of them, at all depths, each as often as it is named", "Nest fewer, or name a query of WITH fewer times.");
}

void check_people(Query *leaf) {
    int people = 0, windows = 0;
    border::visit_query(leaf, QTW_EXAMINE_RTES_BEFORE, [&](Node *node, Index) {
        windows += IsA(node, Query) ? list_length(castNode(Query, node)->windowClause) : 0;
        check_size(windows, max_windows, "the query has too many windows over one person's rows",
                   "of them, at all depths", "Ask for fewer at a time.");
        if (!IsA(node, RangeTblEntry))
            return border::Step::in;
        people += castNode(RangeTblEntry, node)->rtekind == RTE_SUBQUERY ? 1 : 0;
        check_people(people);
        return border::Step::past;
    });
}

void check_depth(int depth) {
    check_size(depth, max_depth, "a restricted view is too deep in the query", "queries, one below the other",
               "Write fewer sub-SELECTs, views and queries of WITH below one another.");
}

void check_carried(int columns) {
    check_size(columns, max_columns, "the query names too many columns of its tables, and keys that are computed",
               "of all of them", "Name fewer columns and keys at a time.");
}

void check_public_columns(int columns) {
    check_size(columns, max_public_columns, "the query names too many columns of public tables that may be long",
               "of them", "Name fewer columns at a time.");
}

void check_columns(int columns) {
    check_size(columns, max_columns, "the risk of the query takes too many columns",
               "columns of keys, arguments and filters", "Ask for fewer aggregates at a time.");
}

void check_sums(int columns) {
    check_size(columns, max_columns, "the query has too many group keys and aggregates",
               "sums and keys: an average takes two sums, a variance three, a covariance four, a correlation six",
               "Ask for fewer at a time.");
}

void check_leaves(int leaves) {
    check_size(leaves, max_leaves, "the statement asks too many queries on restricted views", "in one statement",
               "Ask them in several statements.");
}

void check_leaf_arguments(int arguments) {
    check_size(arguments, max_leaf_arguments, "the query has too many parameters", "parameters",
               "Write constants, or pass an array: = ANY ($1).");
}

// Lists are no parts; nearly all else is written with a character at least.
void check_parts(Query *leaf) {
    int parts = 0;
    border::visit_query(leaf, QTW_IGNORE_JOINALIASES, [&](Node *node, Index) {
        if (!IsA(node, List) && ++parts > max_text)
            refuse_text();
        return IsA(node, Query) ? border::Step::past : border::Step::in;
    });
}

void check_references(Query *leaf, ParamListInfo parameters) {
    int64 bytes = 0;
    border::visit_query(leaf, QTW_IGNORE_JOINALIASES, [&](Node *node, Index) {
        auto *param = reinterpret_cast<const Param *>(node);
        if (!IsA(node, Param) || param->paramkind != PARAM_EXTERN)
            return border::Step::in;
        const ParamExternData &value = parameters->params[param->paramid - 1];
        if (!value.isnull && get_typlen(value.ptype) == -1)
            bytes += static_cast<int64>(toast_raw_datum_size(value.value));
        if (bytes > max_referenced)
            refuse_limit("the query names long parameters too often", max_referenced, "bytes of them",
                         "Name each at fewer places, or write shorter ones.");
        return border::Step::in;
    });
}

// A constant of any length is one node: 64 bytes of it are a part.
static int64 parts_of_node(Node *node) {
    constexpr int bytes_of_part = 64;
    const Const *value = value_in(node);
    return value == nullptr || value->constlen != -1
               ? 1
               : 1 + static_cast<int64>(toast_raw_datum_size(value->constvalue)) / bytes_of_part;
}

// Sub-SELECTs too: they will be refused, but are copied first.
void check_copies(Node *node, int copies, int *parts) {
    int64 of_one = 0;
    border::visit(node, [&](Node *part, Index) {
        of_one += parts_of_node(part);
        if (of_one > max_text)
            refuse_text();
        return border::Step::in;
    });
    const int64 of_all = *parts + of_one * copies;
    if (of_all > max_text)
        refuse_text();
    *parts = static_cast<int>(of_all);
}

} // namespace dp::query
