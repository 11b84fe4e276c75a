#include "query/windows.hpp"

#include <algorithm>

#include "border/each.hpp"
#include "border/visit.hpp"
#include "query/condition.hpp"
#include "query/hints.hpp"
#include "query/make.hpp"
#include "query/total_table.hpp"

namespace dp::query {

static bool is_window(Node *node) {
    return IsA(node, WindowFunc);
}

bool shows_window(const Query *level) {
    for (auto *target : border::each<TargetEntry>(level->targetList))
        if (!target->resjunk && border::any(reinterpret_cast<Node *>(target->expr), is_window))
            return true;
    return false;
}

Aggref *call_of(const WindowFunc *call) {
    auto *aggregate = makeNode(Aggref);
    aggregate->aggfnoid = call->winfnoid;
    aggregate->aggtype = call->wintype;
    aggregate->aggcollid = call->wincollid;
    aggregate->inputcollid = call->inputcollid;
    aggregate->aggstar = call->winstar;
    aggregate->aggkind = AGGKIND_NORMAL;
    aggregate->aggno = aggregate->aggtransno = -1;
    aggregate->aggfilter = reinterpret_cast<Expr *>(copied(reinterpret_cast<const Node *>(call->aggfilter)));
    aggregate->location = call->location;
    ListCell *cell;
    foreach (cell, call->args) {
        Node *argument = copied(static_cast<const Node *>(lfirst(cell)));
        const auto number = static_cast<AttrNumber>(foreach_current_index(cell) + 1);
        aggregate->aggargtypes = lappend_oid(aggregate->aggargtypes, exprType(argument));
        aggregate->args =
            lappend(aggregate->args, makeTargetEntry(reinterpret_cast<Expr *>(argument), number, nullptr, false));
    }
    return aggregate;
}

const WindowClause *window_of(const Query *query, const WindowFunc *call) {
    for (auto *window : border::each<const WindowClause>(query->windowClause))
        if (window->winref == call->winref)
            return window;
    elog(ERROR, "a function has no window");
}

// ---- what is refused -----------------------------------------------------------------------------------------------

static constexpr Oid answered[] = {F_ROW_NUMBER,
                                   F_LAG_ANYELEMENT,
                                   F_LAG_ANYELEMENT_INT4,
                                   F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE,
                                   F_LEAD_ANYELEMENT,
                                   F_LEAD_ANYELEMENT_INT4,
                                   F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE,
                                   F_FIRST_VALUE};

static const char *remedy_of(Oid function) {
    switch (function) {
    case F_RANK_:
    case F_DENSE_RANK_:
        return "Use row_number(), which tells rows that tie apart by their other columns.";
    case F_LAST_VALUE:
        return "Use first_value(x) in the opposite order: OVER (PARTITION BY person ORDER BY t DESC).";
    case F_NTH_VALUE:
        return "Number the rows by row_number() AS n, and filter above: WHERE n = 2.";
    default:
        return "Compute it above from row_number(), which row it is, and count(*) OVER (PARTITION BY person), of how "
               "many.";
    }
}

// An aggregate is over all rows of the partition; other functions see it from its first row on.
static void check_frame(const WindowFunc *call, const WindowClause *window, ParseState *source) {
    const int frame = window->frameOptions;
    const bool from_first = (frame & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0 &&
                            (frame & FRAMEOPTION_EXCLUSION) == 0 && window->endOffset == nullptr;
    const bool peers_to_last = window->orderClause == NIL && (frame & FRAMEOPTION_ROWS) == 0;
    const bool whole = from_first && ((frame & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) != 0 || peers_to_last);
    refuse_if(call->winagg && !whole, "a running aggregate of one person's rows",
              "Leave ORDER BY and the frame out: OVER (PARTITION BY person) is over all rows of a person.", source,
              call->location);
    refuse_if(!from_first, "a frame of one person's rows",
              "Leave the frame out: row_number, lag, lead and first_value need none.", source, call->location);
}

void check_window(const WindowFunc *call, const WindowClause *window, ParseState *source) {
    refuse_if(!call->winagg && std::find(std::begin(answered), std::end(answered), call->winfnoid) == std::end(answered),
              psprintf("window function %s of one person's rows", get_func_name(call->winfnoid)),
              remedy_of(call->winfnoid), source, call->location);
    check_frame(call, window, source);
    if (call->winagg) // is looked at as an aggregate
        return;
    check_condition(reinterpret_cast<Node *>(call->args), source);
    refuse_if(list_length(call->args) > 1 && contains_column(static_cast<Node *>(lsecond(call->args))),
              "a number of rows that is computed from columns", "Write a constant: lag(x, 1).", source,
              call->location);
}

} // namespace dp::query
