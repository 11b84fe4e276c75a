// dp_set_total: how much the sizes of one person's values come to in a sum (formulas.md, 9.16). No row is read.
#include "query/condition.hpp"
#include "query/constants.hpp"
#include "rows/totals.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"

using dp::catalog::Visit;

namespace dp::sql {

static void check_has_several(Oid relation) {
    const catalog::UnitPath *path = declared_unit(relation);
    const char *name = catalog::qualified_name(relation);
    if (path == nullptr || (path->direct && catalog::covers_key(relation, path->ncolumns, path->columns)))
        refuse_state(psprintf(path == nullptr
                                  ? "a row of %s is a unit: its bounds are the limit of a sum"
                                  : "a key of %s says that a unit has one row: its bounds are the limit of a sum",
                              name),
                     psprintf("dp_set_bounds(%s, ...) declares them.", quote_literal_cstr(name)));
}

const char *summed_text(Oid relation, const char *expression) {
    Node *folded = query::fold_constants(query::check_table_expression(expression, relation), nullptr);
    const Oid type = getBaseType(exprType(folded));
    if (type != INT2OID && type != INT4OID && type != INT8OID && type != FLOAT4OID && type != FLOAT8OID &&
        type != NUMERICOID)
        refuse_value(psprintf("%s is of type %s, which has no sum", expression, format_type_be(exprType(folded))),
                     "Write what you would write between the parentheses of sum().");
    const char *text = rows::text_of_summed(folded, relation);
    if (strlen(text) > catalog::longest_total_text)
        refuse_size(psprintf("the expression of a total has more than %zu bytes", catalog::longest_total_text));
    return text;
}

// Returns the total; null: it is taken back.
static const char *checked_total(Datum value) {
    if (takes_away(value))
        return nullptr;
    const char *total = catalog::numeric_text(value);
    if (numeric_is_nan(DatumGetNumeric(value)) || numeric_is_inf(DatumGetNumeric(value)) || total[0] == '-' ||
        strspn(total, "0.") == strlen(total))
        refuse_value(psprintf("total must be above 0, not %s", total),
                     "It is how much the sizes of one unit's values come to; 'Infinity' takes it back.");
    border::core([&] { (void)privacy::points_up(total, 0); }); // 22023
    return total;
}

void store_total(const Visit &visit, Oid relation, const char *text, Datum total) {
    run(visit,
        "INSERT INTO dp_rdr.unit_limit (relation, expression, total) VALUES ($1::regclass, $2, $3) "
        "ON CONFLICT (relation, expression) DO UPDATE SET total = excluded.total",
        relation, text, Typed{NUMERICOID, total});
}

// Takes back what was declared, also of columns that there are no more.
static bool take_back(const Visit &visit, Oid relation, const char *expression) {
    return run(visit, "DELETE FROM dp_rdr.unit_limit l WHERE l.relation::oid = $1 AND l.expression = $2", relation,
               expression) == 1;
}

DP_CALL(dp_set_total) {
    require_first(fcinfo, 3);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    LockRelationOid(relation, AccessShareLock);
    const char *expression = text_argument(fcinfo, 1), *total = checked_total(PG_GETARG_DATUM(2));
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    const bool gone = total == nullptr && take_back(visit, relation, expression);
    visit.leave();
    if (gone)
        PG_RETURN_VOID();
    const char *text = summed_text(relation, expression);
    check_has_several(relation);
    const Visit writing = Visit::write();
    lock_declarations(writing, relation);
    if (total == nullptr)
        (void)take_back(writing, relation, text);
    else
        store_total(writing, relation, text, PG_GETARG_DATUM(2));
    writing.leave();
    PG_RETURN_VOID();
}

} // namespace dp::sql
