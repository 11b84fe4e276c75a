// What a controller declares of a table: that it is protected, its bounds and groups (doc/reference.md).
#include "catalog/decimals.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "catalog/access.hpp"
#include "catalog/facade.hpp"
#include "catalog/ledger.hpp"
#include "query/shape.hpp"
#include "rows/groups.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- who and what --------------------------------------------------------------------------------------------------

void check_owner(Oid relation) {
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
    if (!border::owns_relation(relation, GetUserId()))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of %s", catalog::qualified_name(relation)),
                        errhint("The controller of a table is its owner.")));
}

uint64 run_with_oid(const Visit &visit, const char *sql, Oid oid) {
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(oid)};
    return visit.run(sql, 1, types, values);
}

static bool is_protected(Oid relation) {
    Visit visit = Visit::read();
    uint64 rows = run_with_oid(visit, "SELECT 1 FROM dp_rdr.protected_table t WHERE t.relation::oid = $1", relation);
    visit.leave();
    return rows == 1;
}

// The protected table that is meant: itself, or the table behind a restricted view.
Oid protected_relation(Oid relation) {
    check_owner(relation);
    Oid table = catalog::table_of_facade(relation);
    if (OidIsValid(table)) {
        check_owner(table);
        relation = table;
    }
    if (!is_protected(relation))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not protected", catalog::qualified_name(relation)),
                        errhint("Protect it first with dp_protect().")));
    return relation;
}

// Who owns the table controls its views, also when they are still another's (ALTER TABLE ... OWNER TO).
catalog::Settings *settings_of_view(Oid view) {
    catalog::Reading reading = catalog::Reading::open();
    catalog::Settings *settings = catalog::read_settings(reading, view);
    reading.close();
    check_owner(settings == nullptr ? view : settings->relation);
    if (settings == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not a restricted view", catalog::qualified_name(view)),
                        errhint("Restricted views are made with dp_protect().")));
    return settings;
}

void lock_declarations(const Visit &visit, Oid relation) {
    run_with_oid(visit, "SELECT 1 FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 FOR UPDATE", relation);
}

// Behind the end of a view, whose answers nobody is given again: those of roles that have no other policy with a replay on the table.
// (dp_revoke() leaves them, since what is granted anew would be drawn and charged anew; they expire.)
static void drop_stored(const Visit &visit, Oid relation) {
    run_with_oid(visit,
                 "DELETE FROM dp_rdr.stored_answer a USING dp_rdr.protected_table t "
                 "WHERE t.id = a.table_id AND t.relation::oid = $1 AND NOT EXISTS "
                 "(SELECT FROM dp_rdr.policy p JOIN dp_rdr.restricted_view v ON v.view::oid = p.view::oid "
                 "WHERE v.relation::oid = $1 AND p.grantee::oid = a.grantee AND p.replay IS NOT NULL)",
                 relation);
}

// Runs a utility statement with the rights of a role.
void run_as(Oid role, const char *sql) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope scope = border::RoleScope::enter(role);
    border::Spi spi = border::Spi::connect();
    spi.run(sql, false);
    spi.finish();
    scope.leave();
    settings.leave();
}

// ---- dp_protect ----------------------------------------------------------------------------------------------------

// "schema.view" as the caller means it: his search_path decides where an unqualified view goes.
static const char *resolve_view_name(const char *name, const char **schema, const char **view) {
    RangeVar *range = makeRangeVarFromNameList(border::qualified_name_list(name));
    Oid in = RangeVarGetCreationNamespace(range);
    *schema = get_namespace_name(in);
    *view = range->relname;
    return quote_qualified_identifier(*schema, *view);
}

static void append_column(StringInfo sql, const Form_pg_attribute column) {
    catalog::check_column_type(NameStr(column->attname), column->atttypid);
    if (sql->data[sql->len - 1] != '(')
        appendStringInfoString(sql, ", ");
    appendStringInfo(sql, "%s %s", quote_identifier(NameStr(column->attname)),
                     format_type_extended(column->atttypid, column->atttypmod,
                                          FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
    if (OidIsValid(column->attcollation) && column->attcollation != get_typcollation(column->atttypid))
        appendStringInfo(sql, " COLLATE %s", generate_collation_name(column->attcollation));
}

static void append_named_columns(StringInfo sql, Relation table, ArrayType *names) {
    Datum *elements;
    bool *nulls;
    int n;
    deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
    if (n == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the list of columns is empty"),
                        errhint("Leave columns at NULL for all columns.")));
    for (int i = 0; i < n; i++) {
        const char *name = nulls[i] ? "" : TextDatumGetCString(elements[i]);
        AttrNumber attno = get_attnum(RelationGetRelid(table), name);
        if (attno <= 0)
            ereport(ERROR,
                    (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column \"%s\" of %s does not exist", name,
                                                               catalog::qualified_name(RelationGetRelid(table)))));
        append_column(sql, TupleDescAttr(RelationGetDescr(table), attno - 1));
    }
}

const char *facade_statement(const char *head, Oid relation, ArrayType *columns) {
    StringInfoData sql;
    initStringInfo(&sql);
    // Names are written for the search_path that the statement runs under, not for the caller's.
    border::SettingsScope settings = border::SettingsScope::enter();
    appendStringInfo(&sql, "%s AS SELECT * FROM dp_rdr.deny(%s::pg_catalog.regclass) AS (", head,
                     quote_literal_cstr(catalog::qualified_name(relation)));
    Relation table = table_open(relation, AccessShareLock);
    if (columns != nullptr)
        append_named_columns(&sql, table, columns);
    else
        for (int i = 0; i < RelationGetDescr(table)->natts; i++)
            if (!TupleDescAttr(RelationGetDescr(table), i)->attisdropped)
                append_column(&sql, TupleDescAttr(RelationGetDescr(table), i));
    table_close(table, NoLock);
    appendStringInfoChar(&sql, ')');
    settings.leave();
    return sql.data;
}

// Rows whose table or view is gone: their oid may be used again some day.
static void forget_dangling(const Visit &visit) {
    visit.run("DELETE FROM dp_rdr.policy p WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = p.view)");
    visit.run("DELETE FROM dp_rdr.suspension s WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = s.view)");
    visit.run("DELETE FROM dp_rdr.restricted_view v WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.view) "
              "OR NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.relation)");
    visit.run("DELETE FROM dp_rdr.column_bounds b WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = b.relation)");
    visit.run("DELETE FROM dp_rdr.column_groups g WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = g.relation)");
    visit.run("DELETE FROM dp_rdr.reviewer r WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.relation)");
    visit.run(
        "DELETE FROM dp_rdr.protected_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation)");
}

// A view of the owner's over this table that calls deny(): it was protected before, by a catalog that is lost. Anybody can
// make such a view: another's, or a temporary one, says nothing.
static bool has_facade(const Visit &visit, Oid relation) {
    uint64 rows = run_with_oid(visit,
                               "SELECT DISTINCT r.ev_class FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid "
                               "WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass "
                               "AND d.refobjid = $1 AND EXISTS (SELECT FROM pg_class v JOIN pg_class t ON t.oid = $1 "
                               "WHERE v.oid = r.ev_class AND v.oid <> t.oid AND v.relowner = t.relowner "
                               "AND v.relpersistence <> 't')",
                               relation);
    for (uint64 i = 0; i < rows; i++) {
        bool isnull;
        if (catalog::table_of_facade(DatumGetObjectId(border::Spi::value(i, 1, &isnull))) == relation)
            return true;
    }
    return false;
}

namespace {
// Where the totals of a table come from.
struct Identity {
    const char *id;
    bool known;    // already in protected_table
    bool odometer; // has its odometer row
    bool history;  // had charges or a facade before
};
} // namespace

static Identity find_identity(const Visit &visit, Oid relation) {
    Identity identity = {};
    if (run_with_oid(visit,
                     "SELECT t.id, EXISTS (SELECT FROM dp_rdr.odometer o WHERE o.id = t.id) "
                     "FROM dp_rdr.protected_table t WHERE t.relation::oid = $1",
                     relation) == 1) {
        bool isnull;
        identity.id = visit.spi.text(0, 1);
        identity.known = identity.history = true;
        identity.odometer = DatumGetBool(border::Spi::value(0, 2, &isnull));
        return identity;
    }
    // A table that was dropped and made again by the same owner goes on with its totals, unless they belong to a living
    // table that was renamed; so does one whose ledger was restored without its odometer.
    Oid types[2] = {TEXTOID, TEXTOID};
    Datum values[2] = {CStringGetTextDatum(catalog::qualified_name(relation)),
                       CStringGetTextDatum(GetUserNameFromId(catalog::relation_owner(relation), false))};
    uint64 rows = visit.run("SELECT x.id, x.odometer, x.used FROM ("
                            "SELECT o.id, true AS odometer, o.public_epsilon + o.conditional_epsilon + o.public_rho "
                            "+ o.conditional_rho + o.public_denials + o.conditional_denials > 0 AS used "
                            "FROM dp_rdr.odometer o WHERE o.relation_name = $1 AND o.owner = $2 "
                            "UNION ALL SELECT l.table_id, false, true FROM dp_rdr.ledger_row l WHERE l.relation = $1 "
                            "AND NOT EXISTS (SELECT FROM dp_rdr.odometer o WHERE o.id = l.table_id)) x "
                            "WHERE NOT EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.id = x.id) "
                            "ORDER BY x.odometer DESC, x.used DESC, x.id LIMIT 1",
                            2, types, values);
    if (rows == 1) {
        bool isnull;
        identity.id = visit.spi.text(0, 1);
        identity.odometer = DatumGetBool(border::Spi::value(0, 2, &isnull));
        // Not after a dp_protect that was rolled back: its odometer was never used.
        identity.history = DatumGetBool(border::Spi::value(0, 3, &isnull));
        return identity;
    }
    identity.history = has_facade(visit, relation);
    visit.run("SELECT gen_random_uuid()");
    identity.id = visit.spi.text(0, 1);
    return identity;
}

static void register_table(const Visit &visit, Oid relation, const Identity &identity) {
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(identity.id)};
    // Totals of an earlier table go on, but not an epoch that its settings had begun.
    if (!identity.known)
        visit.run("INSERT INTO dp_rdr.protected_table (relation, id, epoch) VALUES ($1::regclass, $2::uuid, "
                  "coalesce((SELECT o.epoch + 1 FROM dp_rdr.odometer o WHERE o.id = $2::uuid), 0))",
                  2, types, values);
}

static void register_view(const Visit &visit, Oid view, Oid relation, const char *filter, bool all_columns) {
    Oid types[4] = {OIDOID, OIDOID, TEXTOID, BOOLOID};
    Datum values[4] = {ObjectIdGetDatum(view), ObjectIdGetDatum(relation),
                       filter ? CStringGetTextDatum(filter) : Datum(0), BoolGetDatum(all_columns)};
    visit.run("INSERT INTO dp_rdr.restricted_view (view, relation, filter, all_columns) "
              "VALUES ($1::regclass, $2::regclass, $3, $4)",
              4, types, values, filter ? "    " : "  n ");
}

// Totals that were lost are not to be spent again: the bound closes at what is known to be consumed on the public account.
// Public charges are held against that account alone; a total that had the conditional charges in it would leave them room. An
// epoch under zcdp ends with it: its claim comes on top, when the next request is denied.
static void freeze(Oid relation) {
    Visit visit = Visit::write();
    run_with_oid(visit,
                 "UPDATE dp_rdr.protected_table t SET bound = 'filter', "
                 "epsilon_total = o.public_epsilon, delta_total = o.public_delta, delta_conversion = NULL, "
                 "cap = 'tight', epsilon_pure = 0, rho_target = NULL, rho_total = NULL, period = NULL, "
                 "period_since = NULL, epsilon_lifetime = NULL, delta_lifetime = NULL, "
                 "epoch = greatest(t.epoch, o.epoch) + 1 "
                 "FROM dp_rdr.odometer o WHERE o.id = t.id AND t.relation::oid = $1",
                 relation);
    visit.leave();
    ereport(WARNING, (errmsg("%s was protected before, and its totals are lost: no query will be answered",
                             catalog::qualified_name(relation)),
                      errhint("When you know what has been spent, lift the bound with dp_set_odometer('%s', "
                              "epsilon_total => ..., delta_total => ...).",
                              catalog::qualified_name(relation))));
}

static Oid protect(Oid relation, const char *name, ArrayType *columns, const char *filter) {
    const char *schema, *view;
    const char *view_name = resolve_view_name(name, &schema, &view);
    Visit visit = Visit::write();
    forget_dangling(visit);
    Identity identity = find_identity(visit, relation);
    register_table(visit, relation, identity);
    visit.leave();

    run_as(catalog::relation_owner(relation),
           facade_statement(psprintf("CREATE VIEW %s", view_name), relation, columns));
    Oid facade = get_relname_relid(view, get_namespace_oid(schema, false));
    visit = Visit::write();
    register_view(visit, facade, relation, filter, columns == nullptr);
    visit.leave();

    if (!identity.odometer)
        catalog::create_odometer(identity.id, catalog::qualified_name(relation),
                                 GetUserNameFromId(catalog::relation_owner(relation), false));
    if (identity.history && !identity.odometer)
        freeze(relation);
    else if (identity.history && !identity.known)
        ereport(WARNING, (errmsg("%s goes on with the ledger and the totals of an earlier table of this name",
                                 catalog::qualified_name(relation))));
    warn_of_many_rows(relation);
    return facade;
}

DP_CALL(dp_protect) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "view");
    Oid relation = PG_GETARG_OID(0);
    check_owner(relation);
    refuse_unless_null(fcinfo, 2, "a unit column");
    LockRelationOid(relation, AccessShareLock);
    catalog::check_protectable(relation);
    catalog::check_can_charge();
    const char *filter = text_argument(fcinfo, 4);
    if (filter != nullptr)
        filter = query::canonical_condition(filter, relation, "filter");
    PG_RETURN_OID(protect(relation, text_argument(fcinfo, 1), array_argument(fcinfo, 3), filter));
}

DP_CALL(dp_unprotect) {
    require(fcinfo, 0, "view");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    Visit visit = Visit::write();
    lock_declarations(visit, settings->relation);
    run_with_oid(visit, "DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1", settings->view);
    run_with_oid(visit, "DELETE FROM dp_rdr.suspension s WHERE s.view::oid = $1", settings->view);
    run_with_oid(visit, "DELETE FROM dp_rdr.restricted_view v WHERE v.view::oid = $1", settings->view);
    drop_stored(visit, settings->relation);
    visit.leave();
    run_as(catalog::relation_owner(settings->view), psprintf("DROP VIEW %s", settings->view_name));
    PG_RETURN_VOID();
}

// ---- bounds and groups ---------------------------------------------------------------------------------------------

static AttrNumber checked_column(Oid relation, const char *name) {
    AttrNumber attno = get_attnum(relation, name);
    if (attno <= 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("column \"%s\" of %s does not exist", name, catalog::qualified_name(relation))));
    return attno;
}

static bool is_integer_column(Oid relation, const char *name) {
    Oid type = getBaseType(get_atttype(relation, checked_column(relation, name)));
    bool integer = type == INT2OID || type == INT4OID || type == INT8OID;
    if (!integer && type != FLOAT4OID && type != FLOAT8OID && type != NUMERICOID)
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg(type == DATEOID || type == TIMESTAMPOID ? "column \"%s\" is of type %s, whose bounds are dates"
                                                            : "column \"%s\" is of type %s, which cannot have bounds",
                    name, format_type_be(type)),
             type == DATEOID || type == TIMESTAMPOID
                 ? errhint("Write them as dates: date '2020-01-01', date '2029-12-31'.")
                 : errhint("Bounds are for smallint, integer, bigint, real, double precision, numeric, date and "
                           "timestamp.")));
    return integer;
}

static Oid relation_of_bounds(FunctionCallInfo fcinfo) {
    const char *const names[] = {"relation", "column_name", "lower", "upper"};
    for (int i = 0; i < 4; i++)
        require(fcinfo, i, names[i]);
    return protected_relation(PG_GETARG_OID(0));
}

static void store_bounds(Oid relation, const char *column, Datum lower, Datum upper) {
    Oid types[4] = {OIDOID, TEXTOID, NUMERICOID, NUMERICOID};
    Datum values[4] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column), lower, upper};
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    visit.run(
        "INSERT INTO dp_rdr.column_bounds AS b (relation, column_name, lower, upper) VALUES ($1::regclass, $2, $3, $4) "
        "ON CONFLICT (relation, column_name) DO UPDATE SET lower = excluded.lower, upper = excluded.upper",
        4, types, values);
    visit.leave();
}

static void set_numbers(Oid relation, const char *column, Datum lower, Datum upper) {
    bool integer = is_integer_column(relation, column);
    const char *low = catalog::numeric_text(lower), *high = catalog::numeric_text(upper);
    border::core([&] { privacy::make_bounds(low, high, integer); }); // 22023
    store_bounds(relation, column, lower, upper);
}

DP_CALL(dp_set_bounds) {
    Oid relation = relation_of_bounds(fcinfo);
    set_numbers(relation, text_argument(fcinfo, 1), PG_GETARG_DATUM(2), PG_GETARG_DATUM(3));
    PG_RETURN_VOID();
}

// Between two moments, stored as days or microseconds from 2000-01-01 on.
static void set_moments(Oid relation, const char *column, int64 lower, int64 upper, bool finite) {
    if (!finite || lower >= upper)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        finite ? errmsg("the lower bound must be before the upper bound")
                               : errmsg("bounds must not be infinite")));
    store_bounds(relation, column, NumericGetDatum(int64_to_numeric(lower)), NumericGetDatum(int64_to_numeric(upper)));
}

static Oid moment_type(Oid relation, const char *column) {
    Oid type = getBaseType(get_atttype(relation, checked_column(relation, column)));
    if (type != DATEOID && type != TIMESTAMPOID)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("column \"%s\" is of type %s, whose bounds are no dates", column, format_type_be(type)),
                        errhint("Dates and timestamps are bounds of columns of type date and timestamp.")));
    return type;
}

static void set_dates(Oid relation, const char *column, DateADT lower, DateADT upper) {
    bool finite = !DATE_NOT_FINITE(lower) && !DATE_NOT_FINITE(upper);
    if (moment_type(relation, column) == DATEOID || !finite)
        set_moments(relation, column, lower, upper, finite);
    else
        set_moments(relation, column, date2timestamp_opt_overflow(lower, nullptr),
                    date2timestamp_opt_overflow(upper, nullptr), true);
}

static void set_timestamps(Oid relation, const char *column, Timestamp lower, Timestamp upper) {
    if (moment_type(relation, column) == DATEOID)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("column \"%s\" is of type date, and its bounds are timestamps", column),
                        errhint("Write dates: date '2020-01-01'.")));
    set_moments(relation, column, lower, upper, !TIMESTAMP_NOT_FINITE(lower) && !TIMESTAMP_NOT_FINITE(upper));
}

DP_CALL(dp_set_bounds_date) {
    Oid relation = relation_of_bounds(fcinfo);
    set_dates(relation, text_argument(fcinfo, 1), PG_GETARG_DATEADT(2), PG_GETARG_DATEADT(3));
    PG_RETURN_VOID();
}

DP_CALL(dp_set_bounds_timestamp) {
    Oid relation = relation_of_bounds(fcinfo);
    set_timestamps(relation, text_argument(fcinfo, 1), PG_GETARG_TIMESTAMP(2), PG_GETARG_TIMESTAMP(3));
    PG_RETURN_VOID();
}

// Literals without a type are read as what the column has.
DP_CALL(dp_set_bounds_text) {
    Oid relation = relation_of_bounds(fcinfo);
    const char *column = text_argument(fcinfo, 1), *lower = text_argument(fcinfo, 2), *upper = text_argument(fcinfo, 3);
    switch (getBaseType(get_atttype(relation, checked_column(relation, column)))) {
    case DATEOID: {
        Datum from = DirectFunctionCall1(date_in, CStringGetDatum(lower));
        set_dates(relation, column, DatumGetDateADT(from),
                  DatumGetDateADT(DirectFunctionCall1(date_in, CStringGetDatum(upper))));
        break;
    }
    case TIMESTAMPOID: {
        Datum from = OidInputFunctionCall(F_TIMESTAMP_IN, const_cast<char *>(lower), InvalidOid, -1);
        Datum to = OidInputFunctionCall(F_TIMESTAMP_IN, const_cast<char *>(upper), InvalidOid, -1);
        set_timestamps(relation, column, DatumGetTimestamp(from), DatumGetTimestamp(to));
        break;
    }
    default: {
        Datum from = catalog::text_numeric(lower);
        set_numbers(relation, column, from, catalog::text_numeric(upper));
    }
    }
    PG_RETURN_VOID();
}

DP_CALL(dp_set_groups) {
    const char *const names[] = {"relation", "column_name", "groups"};
    for (int i = 0; i < 3; i++)
        require(fcinfo, i, names[i]);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *column = text_argument(fcinfo, 1);
    ArrayType *groups = PG_GETARG_ARRAYTYPE_P(2);
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, checked_column(relation, column), &type, &typmod, &collation);
    if (ArrayGetNItems(ARR_NDIM(groups), ARR_DIMS(groups)) == 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the groups of column \"%s\" are empty", column),
                 errhint("List every group key that may be asked for.")));
    // Cast once, as the controller reads them; stored as the values that this gave.
    groups = rows::canonical_groups(rows::declared_domain(groups, type, typmod, collation, column), type);
    Oid types[3] = {OIDOID, TEXTOID, TEXTARRAYOID};
    Datum values[3] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column), PointerGetDatum(groups)};
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    visit.run("INSERT INTO dp_rdr.column_groups AS g (relation, column_name, groups) VALUES ($1::regclass, $2, $3) "
              "ON CONFLICT (relation, column_name) DO UPDATE SET groups = excluded.groups",
              3, types, values);
    visit.leave();
    PG_RETURN_VOID();
}

} // namespace dp::sql
