// dp_draft: a psql script that protects the tables of a schema, from what its catalogs say. It reads neither rows nor what
// PostgreSQL knows of them (reltuples, statistics): what is drafted becomes public.
#include "catalog/facade.hpp"
#include "catalog/foreign_code.hpp"
#include "query/from.hpp"
#include "rows/compared.hpp"
#include "sql/call_arguments.hpp"
#include "sql/draft.hpp"
#include "sql/refusal.hpp"
#include "sql/result_rows.hpp"
#include "sql/setter.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- what a CHECK says of a column ---------------------------------------------------------------------------------

namespace {

struct Check {
    List *groups; // text; NIL: none are said
    const char *lower, *upper;
};

} // namespace

// The constraint is on one column: each Var is that column.
static bool is_subject(const Node *node) {
    return IsA(node, Var) || IsA(node, CoerceToDomainValue);
}

static char *printed(const Const *constant) {
    Oid output;
    bool varlena;
    getTypeOutputInfo(constant->consttype, &output, &varlena);
    return OidOutputFunctionCall(output, constant->constvalue);
}

// Infinite ends and NaN bound nothing.
static bool bounds_something(const char *text) {
    for (const char *other : {"infinity", "-infinity", "nan"})
        if (pg_strcasecmp(text, other) == 0)
            return false;
    return true;
}

static void read_comparison(Check *check, const rows::Comparison &comparison) {
    List *texts = NIL;
    for (auto *constant : border::each<const Const>(rows::constants_of(comparison)))
        texts = lappend(texts, printed(constant));
    if (comparison.strategy == BTEqualStrategyNumber)
        check->groups = texts;
    else if (auto *text = static_cast<const char *>(linitial(texts)); bounds_something(text))
        (comparison.strategy > BTEqualStrategyNumber ? check->lower : check->upper) = text;
}

// Reads conjuncts; x = a OR x = b is a list as well.
static void read_check(Check *check, Node *condition) {
    check_stack_depth();
    for (auto *node : border::each<Node>(query::conjuncts_of(condition))) {
        rows::Comparison comparison;
        if (rows::read_comparison(node, &comparison) && is_subject(comparison.expression))
            read_comparison(check, comparison);
        if (!is_orclause(node))
            continue;
        List *groups = NIL;
        for (auto *item : border::each<Node>(castNode(BoolExpr, node)->args)) {
            Check one = {};
            read_check(&one, item);
            groups = one.groups == NIL ? NIL : list_concat(groups, one.groups);
            if (groups == NIL)
                break;
        }
        check->groups = groups == NIL ? check->groups : groups;
    }
}

// Nothing of a user's runs: the caller may be a superuser. A constant that cannot be computed says nothing.
static Check check_of(Oid constraint) {
    Check check = {};
    HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
    if (!HeapTupleIsValid(tuple))
        return check;
    bool isnull;
    Datum nodes = SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_conbin, &isnull);
    auto *node = isnull ? nullptr : static_cast<Node *>(stringToNode(TextDatumGetCString(nodes)));
    ReleaseSysCache(tuple);
    if (node != nullptr && !catalog::has_foreign_code(node))
        (void)refusal_by([&] { read_check(&check, eval_const_expressions(nullptr, node)); });
    return check;
}

DP_FUNCTION(dp_draft_check) {
    const Check check = check_of(PG_GETARG_OID(0));
    auto *groups = static_cast<Datum *>(palloc(sizeof(Datum) * (list_length(check.groups) + 1)));
    int n = 0;
    for (auto *group : border::each<const char>(check.groups))
        groups[n++] = CStringGetTextDatum(group);
    ArrayType *array = n == 0 ? nullptr : construct_array(groups, n, TEXTOID, -1, false, TYPALIGN_INT);
    return record(fcinfo, Typed::array(TEXTARRAYOID, array), check.lower, check.upper);
}

// ---- what cannot be protected --------------------------------------------------------------------------------------

DP_FUNCTION(dp_draft_fault) {
    Oid relation = PG_GETARG_OID(0), owner = PG_GETARG_OID(1);
    if (catalog::relation_owner(relation) != owner)
        return CStringGetTextDatum(psprintf(
            "it belongs to %s: ALTER TABLE %s OWNER TO %s", GetUserNameFromId(catalog::relation_owner(relation), false),
            catalog::qualified_name(relation), quote_identifier(GetUserNameFromId(owner, false))));
    const ErrorData *refusal = refusal_by([&] { (void)catalog::check_protectable(relation); });
    return text_of_fault(fcinfo, refusal, "%s. %s");
}

DP_FUNCTION(dp_draft_shown) {
    PG_RETURN_BOOL(!catalog::input_runs_code(PG_GETARG_OID(0)));
}

// ---- dp_draft ------------------------------------------------------------------------------------------------------

namespace {
// Numbers the arguments of dp_draft; those of the statements stand in the same order, and the caller's role behind them.
enum DraftArgument { draft_schema, draft_unit, draft_people, draft_preset };
// Numbers the columns of the statements' rows.
enum Line { line_part = 1, line_comment, line_text, line_open };
} // namespace

static void check_preset(Datum preset) {
    refuse_by("SELECT '22023', format('preset \"%s\" does not exist', $1), NULL, 'dp_plan() shows which there are.' "
              "WHERE NOT EXISTS (SELECT FROM dp_plan() WHERE preset = $1)",
              Typed{TEXTOID, preset});
}

static void check_owns_some(Oid schema) {
    refuse_by("SELECT '42501', format('none of the tables of schema %I is yours', n.nspname), NULL, "
              "'The controller of a table is its owner: he calls dp_draft().' FROM pg_namespace n WHERE n.oid = $1 "
              "AND NOT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = $1 AND c.relkind IN ('r', 'p') "
              "AND pg_has_role($2, c.relowner, 'USAGE'))",
              schema, GetUserId());
}

static void check_arguments(FunctionCallInfo fcinfo) {
    require(fcinfo, {draft_schema, draft_preset});
    Oid schema = PG_GETARG_OID(draft_schema);
    if (get_namespace_name(schema) == nullptr)
        refuse_value(psprintf("schema with OID %u does not exist", schema), nullptr);
    check_preset(PG_GETARG_DATUM(draft_preset));
    if (!PG_ARGISNULL(draft_people) && PG_GETARG_INT64(draft_people) < 1)
        refuse_value(psprintf("people is " INT64_FORMAT ", and must be at least 1", PG_GETARG_INT64(draft_people)),
                     "Say about how many there are, as far as that may be published.");
    if (PG_ARGISNULL(draft_unit)) {
        check_owns_some(schema);
        return;
    }
    Oid unit = PG_GETARG_OID(draft_unit);
    check_owner(unit);
    (void)catalog::check_protectable(unit);
}

// A name may hold an end of line, and behind that a comment would be a statement.
static char *comment_of(const char *text) {
    char *comment = psprintf("-- %s", text);
    for (char *c = comment; *c != '\0'; c++)
        if (static_cast<unsigned char>(*c) < ' ' || *c == 127)
            *c = ' ';
    return comment;
}

static void put_lines(const Visit &visit, uint64 n, const ResultRows &rows) {
    for (uint64 i = 0; i < n; i++) {
        const char *text = visit.spi.text(i, line_text);
        rows.put(visit.spi.text(i, line_part), catalog::value_at<bool>(i, line_comment) ? comment_of(text) : text,
                 visit.spi.text(i, line_open));
    }
}

DP_CALL(dp_draft) {
    check_arguments(fcinfo);
    const ResultRows rows(fcinfo);
    Visit visit = Visit::read();
    const uint64 n = run(visit, PG_ARGISNULL(draft_unit) ? units_sql : draft_sql, PG_GETARG_OID(draft_schema),
                         if_given(!PG_ARGISNULL(draft_unit), PG_GETARG_OID(draft_unit)),
                         if_given(!PG_ARGISNULL(draft_people), PG_GETARG_INT64(draft_people)),
                         Typed{TEXTOID, PG_GETARG_DATUM(draft_preset)}, visit.role.saved_role);
    put_lines(visit, n, rows);
    visit.leave();
    return Datum(0);
}

} // namespace dp::sql
