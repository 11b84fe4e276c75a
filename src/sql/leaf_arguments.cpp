#include "sql/leaf_arguments.hpp"

#include "border/each.hpp"
#include "border/visit.hpp"
#include "query/outer_query.hpp"
#include "query/parse.hpp"
#include "rows/nodes.hpp"
#include "rows/run_plan.hpp"
#include "sql/analyst.hpp"

namespace dp::sql {

// Returns whether something holds for an entry of a range table, or a call; level: of queries around it.
template <class Holds> static bool has_part(Node *node, Holds holds) {
    return border::visit(node, QTW_EXAMINE_RTES_BEFORE, [&](Node *part, Index level) {
        return holds(part, level)           ? border::Step::stop
               : IsA(part, RangeTblEntry) ? border::Step::past
                                          : border::Step::in;
    });
}

static const RangeTblEntry *as_with(const Node *part) {
    const auto *entry = reinterpret_cast<const RangeTblEntry *>(part);
    return IsA(part, RangeTblEntry) && entry->rtekind == RTE_CTE ? entry : nullptr;
}

static bool reads_elsewhere(Node *node) {
    return has_part(node, [](const Node *part, Index level) {
        return (IsA(part, FuncExpr) && query::is_release(reinterpret_cast<const FuncExpr *>(part)->funcid)) ||
               (as_with(part) != nullptr && as_with(part)->ctelevelsup > level);
    });
}

// SELECT arguments, with the queries of WITH around them if they read one; null where they read what is elsewhere.
static Query *select_arguments(const Query *around, const List *arguments) {
    auto *all = reinterpret_cast<Node *>(const_cast<List *>(arguments));
    Query *query = rows::make_query();
    query->hasSubLinks = true;
    if (has_part(all, [](const Node *part, Index) { return as_with(part) != nullptr; })) {
        query->cteList = static_cast<List *>(copyObject(around->cteList));
        query->hasRecursive = around->hasRecursive;
    }
    if (reads_elsewhere(all))
        return nullptr;
    for (auto *with : border::each<CommonTableExpr>(query->cteList))
        if (reads_elsewhere(with->ctequery))
            return nullptr;
    for (auto *argument : border::each<Node>(arguments))
        rows::add_target(query, rows::another(argument));
    return query;
}

static void take_argument(const TupleTableSlot *row, int i, release::Ask *ask) {
    const Form_pg_attribute column = TupleDescAttr(row->tts_tupleDescriptor, i);
    ParamExternData &parameter = ask->parameters->params[i];
    parameter.isnull = row->tts_isnull[i];
    if (!parameter.isnull)
        parameter.value = column->attlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(row->tts_values[i]))
                                               : datumCopy(row->tts_values[i], column->attbyval, column->attlen);
    parameter.pflags = PARAM_FLAG_CONST;
    parameter.ptype = ask->parameter_types[i] = query::parameter_type(column->atttypid);
}

bool evaluate_arguments(const Query *around, const List *arguments, release::Ask *ask) {
    const int n = list_length(arguments);
    ask->parameters = makeParamList(n);
    ask->parameter_types = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    Query *query = n == 0 ? nullptr : select_arguments(around, arguments);
    if (query == nullptr)
        return n == 0;
    MemoryContext memory = CurrentMemoryContext;
    auto take = [&](const TupleTableSlot *row) {
        MemoryContext old = MemoryContextSwitchTo(memory);
        for (int i = 0; i < n; i++)
            take_argument(row, i, ask);
        MemoryContextSwitchTo(old);
    };
    const char *text = debug_query_string == nullptr ? "" : debug_query_string;
    const rows::TakeRow call = [](void *context, TupleTableSlot *row) { (*static_cast<decltype(take) *>(context))(row); };
    run_as_asked(query, text, rows::taker_of(call, &take));
    return true;
}

} // namespace dp::sql
