#include "query/parse.hpp"

#include "border/refuse.hpp"
#include "query/limits.hpp"
#include "query/names.hpp"

namespace dp::query {

static RawStmt *only_statement(const char *text) {
    check_text(text);
    List *statements = raw_parser(text, RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
                        statements == NIL ? errmsg("the query is empty") : errmsg("the query has several statements"),
                        errhint("Pass exactly one SELECT.")));
    auto *raw = linitial_node(RawStmt, statements);
    if (!IsA(raw->stmt, SelectStmt))
        refuse_form("the query is not a SELECT", "Pass exactly one SELECT.");
    return raw;
}

static Parsed analyse(RawStmt *raw, const char *text, const Oid *types, int ntypes) {
    ParseState *source = make_parsestate(nullptr);
    source->p_sourcetext = text;
    if (ntypes > 0)
        setup_parse_fixed_parameters(source, types, ntypes);
    Query *query = transformTopLevelStmt(source, raw);
    if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
        refuse_form("the query is not a plain SELECT", "Pass a SELECT without INTO and without data-modifying WITH.");
    return Parsed{query, source};
}

Parsed parse_select(const char *text, const Oid *types, int ntypes) {
    return analyse(only_statement(text), text, types, ntypes);
}

Parsed parse_leaf(const char *text, const Oid *types, int ntypes, Oid only_view) {
    RawStmt *raw = only_statement(text);
    check_names(raw);
    if (OidIsValid(only_view))
        check_reads_only(raw, only_view);
    return analyse(raw, text, types, ntypes);
}

static void report_position(void *text) {
    int position = geterrposition();
    if (position > 0) {
        errposition(0);
        internalerrposition(position);
        internalerrquery(static_cast<const char *>(text));
    }
}

void TextScope::enter(const char *text) {
    callback.previous = error_context_stack;
    callback.callback = report_position;
    callback.arg = const_cast<char *>(text);
    error_context_stack = &callback;
}

void TextScope::leave() const {
    error_context_stack = callback.previous;
}

// Parsed as the only target of a SELECT: a text that is more than one expression shows in the other clauses.
RawStmt *only_expression(const char *text) {
    check_text(text);
    List *statements = raw_parser(psprintf("SELECT %s", text), RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        return nullptr;
    auto *select = castNode(SelectStmt, linitial_node(RawStmt, statements)->stmt);
    bool more = select->op != SETOP_NONE || list_length(select->targetList) != 1 ||
                linitial_node(ResTarget, select->targetList)->name || select->fromClause || select->whereClause ||
                select->groupClause || select->havingClause || select->sortClause || select->distinctClause ||
                select->intoClause || select->limitCount || select->limitOffset || select->windowClause ||
                select->withClause || select->lockingClause || select->valuesLists;
    return more ? nullptr : linitial_node(RawStmt, statements);
}

} // namespace dp::query
