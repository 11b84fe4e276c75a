// What a controller declares: protected tables, bounds, groups, the odometer's bound, policies (README.md).
#include "catalog/decimals.hpp"
#include "border/scope.hpp"
#include "catalog/access.hpp"
#include "catalog/facade.hpp"
#include "catalog/ledger.hpp"
#include "query/shape.hpp"
#include "rows/groups.hpp"
#include "sql/arguments.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- who and what --------------------------------------------------------------------------------------------------

static void check_owner(Oid relation) {
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
    if (!pg_class_ownercheck(relation, GetUserId()))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of %s", catalog::qualified_name(relation)),
                        errhint("The controller of a table is its owner.")));
}

static uint64 run_with_oid(const Visit &visit, const char *sql, Oid oid) {
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
static Oid protected_relation(Oid relation) {
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
static catalog::Settings *settings_of_view(Oid view) {
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

// Runs a utility statement with the rights of a role.
static void run_as(Oid role, const char *sql) {
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
    RangeVar *range = makeRangeVarFromNameList(stringToQualifiedNameList(name));
    Oid in = RangeVarGetCreationNamespace(range);
    *schema = get_namespace_name(in);
    *view = range->relname;
    return quote_qualified_identifier(*schema, *view);
}

static void append_column(StringInfo sql, const Form_pg_attribute column) {
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

static const char *facade_statement(const char *view_name, Oid relation, ArrayType *columns) {
    StringInfoData sql;
    initStringInfo(&sql);
    // Names are written for the search_path that the statement runs under, not for the caller's.
    border::SettingsScope settings = border::SettingsScope::enter();
    appendStringInfo(&sql, "CREATE VIEW %s AS SELECT * FROM dp_rdr.deny(%s::pg_catalog.regclass) AS (", view_name,
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
    visit.run(
        "DELETE FROM dp_rdr.protected_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation)");
}

// A view over this table that calls deny(): it was protected before, by a catalog that is lost.
static bool has_facade(const Visit &visit, Oid relation) {
    uint64 rows = run_with_oid(visit,
                               "SELECT DISTINCT r.ev_class FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid "
                               "WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass "
                               "AND d.refobjid = $1 AND r.ev_class <> $1",
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
    uint64 rows =
        visit.run("SELECT x.id, x.odometer, x.used FROM ("
                  "SELECT o.id, true AS odometer, o.public_epsilon + o.conditional_epsilon + o.public_denials "
                  "+ o.conditional_denials > 0 AS used "
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
    if (!identity.known)
        visit.run("INSERT INTO dp_rdr.protected_table (relation, id) VALUES ($1::regclass, $2::uuid)", 2, types,
                  values);
}

static void register_view(const Visit &visit, Oid view, Oid relation, const char *filter) {
    Oid types[3] = {OIDOID, OIDOID, TEXTOID};
    Datum values[3] = {ObjectIdGetDatum(view), ObjectIdGetDatum(relation),
                       filter ? CStringGetTextDatum(filter) : Datum(0)};
    visit.run("INSERT INTO dp_rdr.restricted_view (view, relation, filter) VALUES ($1::regclass, $2::regclass, $3)", 3,
              types, values, filter ? "   " : "  n");
}

// Totals that were lost are not to be spent again: the bound closes at what is known to be consumed on the public account.
// Public charges are held against that account alone; a total that had the conditional charges in it would leave them room.
static void freeze(Oid relation) {
    Visit visit = Visit::write();
    run_with_oid(visit,
                 "UPDATE dp_rdr.protected_table t SET bound = 'filter', "
                 "epsilon_total = o.public_epsilon, delta_total = o.public_delta "
                 "FROM dp_rdr.odometer o WHERE o.id = t.id AND t.relation::oid = $1",
                 relation);
    visit.leave();
    ereport(WARNING, (errmsg("%s was protected before, and its totals are lost: no query will be answered",
                             catalog::qualified_name(relation)),
                      errhint("When you know what has been spent, lift the bound with dp_set_odometer('%s', ...).",
                              catalog::qualified_name(relation))));
}

static void grant_ledger(Oid owner) {
    Oid ledger = get_relname_relid("ledger", border::extension_schema());
    if (pg_class_aclcheck(ledger, owner, ACL_SELECT) != ACLCHECK_OK)
        run_as(border::extension_owner(),
               psprintf("GRANT SELECT ON dp_rdr.ledger TO %s", quote_identifier(GetUserNameFromId(owner, false))));
}

static Oid protect(Oid relation, const char *name, ArrayType *columns, const char *filter) {
    const char *schema, *view;
    const char *view_name = resolve_view_name(name, &schema, &view);
    Visit visit = Visit::write();
    forget_dangling(visit);
    Identity identity = find_identity(visit, relation);
    register_table(visit, relation, identity);
    visit.leave();

    run_as(catalog::relation_owner(relation), facade_statement(view_name, relation, columns));
    Oid facade = get_relname_relid(view, get_namespace_oid(schema, false));
    visit = Visit::write();
    register_view(visit, facade, relation, filter);
    visit.leave();

    if (!identity.odometer)
        catalog::create_odometer(identity.id, catalog::qualified_name(relation),
                                 GetUserNameFromId(catalog::relation_owner(relation), false));
    if (identity.history && !identity.odometer)
        freeze(relation);
    else if (identity.history && !identity.known)
        ereport(WARNING, (errmsg("%s goes on with the ledger and the totals of an earlier table of this name",
                                 catalog::qualified_name(relation))));
    grant_ledger(catalog::relation_owner(relation));
    return facade;
}

DP_FUNCTION(dp_protect) {
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

DP_FUNCTION(dp_unprotect) {
    require(fcinfo, 0, "view");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    Visit visit = Visit::write();
    run_with_oid(visit, "DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1", settings->view);
    run_with_oid(visit, "DELETE FROM dp_rdr.suspension s WHERE s.view::oid = $1", settings->view);
    run_with_oid(visit, "DELETE FROM dp_rdr.restricted_view v WHERE v.view::oid = $1", settings->view);
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
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("column \"%s\" is of type %s, which cannot have bounds", name, format_type_be(type)),
                        errhint("Bounds are for smallint, integer, bigint, real, double precision and numeric.")));
    return integer;
}

DP_FUNCTION(dp_set_bounds) {
    const char *const names[] = {"relation", "column_name", "lower", "upper"};
    for (int i = 0; i < 4; i++)
        require(fcinfo, i, names[i]);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *column = text_argument(fcinfo, 1);
    bool integer = is_integer_column(relation, column);
    const char *lower = catalog::numeric_text(PG_GETARG_DATUM(2)), *upper = catalog::numeric_text(PG_GETARG_DATUM(3));
    border::core([&] { privacy::make_bounds(lower, upper, integer); }); // 22023
    Oid types[4] = {OIDOID, TEXTOID, NUMERICOID, NUMERICOID};
    Datum values[4] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column), PG_GETARG_DATUM(2), PG_GETARG_DATUM(3)};
    Visit visit = Visit::write();
    visit.run(
        "INSERT INTO dp_rdr.column_bounds AS b (relation, column_name, lower, upper) VALUES ($1::regclass, $2, $3, $4) "
        "ON CONFLICT (relation, column_name) DO UPDATE SET lower = excluded.lower, upper = excluded.upper",
        4, types, values);
    visit.leave();
    PG_RETURN_VOID();
}

DP_FUNCTION(dp_set_groups) {
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
    visit.run("INSERT INTO dp_rdr.column_groups AS g (relation, column_name, groups) VALUES ($1::regclass, $2, $3) "
              "ON CONFLICT (relation, column_name) DO UPDATE SET groups = excluded.groups",
              3, types, values);
    visit.leave();
    PG_RETURN_VOID();
}

// ---- odometer ------------------------------------------------------------------------------------------------------

static void check_epsilon_total(Datum total) {
    privacy::Epsilon value = catalog::to_epsilon(total, "epsilon_total");
    if (value.units() < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon_total must not be negative"),
                        errhint("0 closes the table, 1 is the default.")));
}

DP_FUNCTION(dp_set_odometer) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "bound");
    require(fcinfo, 3, "delta_total");
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *bound = text_argument(fcinfo, 1);
    bool known = border::core([&] { return privacy::bound_from_name(bound).has_value(); });
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown bound: \"%s\"", bound),
                        errhint("Use 'filter', 'dynamic' or 'none'.")));
    if (PG_ARGISNULL(2) && strcmp(bound, "filter") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bound filter needs an epsilon_total"),
                        errhint("Pass epsilon_total => 1, or use the bound 'none'.")));
    if (!PG_ARGISNULL(2))
        check_epsilon_total(PG_GETARG_DATUM(2));
    catalog::checked_delta(PG_GETARG_DATUM(3), "delta_total");
    // Under `none` no total binds, and none is shown.
    bool no_total = PG_ARGISNULL(2) || strcmp(bound, "none") == 0;
    Oid types[4] = {OIDOID, TEXTOID, NUMERICOID, NUMERICOID};
    Datum values[4] = {ObjectIdGetDatum(relation), CStringGetTextDatum(bound), no_total ? Datum(0) : PG_GETARG_DATUM(2),
                       PG_GETARG_DATUM(3)};
    Visit visit = Visit::write();
    visit.run("UPDATE dp_rdr.protected_table t SET bound = $2, epsilon_total = $3, delta_total = $4 "
              "WHERE t.relation::oid = $1",
              4, types, values, no_total ? "  n " : "    ");
    visit.leave();
    PG_RETURN_VOID();
}

// ---- policies ------------------------------------------------------------------------------------------------------

namespace {
// Arguments of dp_grant, by position.
enum GrantArgument {
    arg_view,
    arg_grantee,
    arg_tau,
    arg_tau_var,
    arg_selection,
    arg_mechanism,
    arg_delta,
    arg_epsilon_max,
    arg_epsilon_total,
    arg_epsilon_svt,
    arg_candidates,
    arg_weight_min,
    arg_weight_max,
    arg_group_a,
    arg_group_b
};
} // namespace

static const char *checked_selection(FunctionCallInfo fcinfo) {
    if (PG_ARGISNULL(arg_tau) == PG_ARGISNULL(arg_tau_var))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("exactly one of tau and tau_var must be given"),
                 errhint("Pass tau => 0.95, for instance.")));
    const char *selection = text_argument(fcinfo, arg_selection);
    if (PG_ARGISNULL(arg_tau)) {
        checked_tau_var(PG_GETARG_FLOAT8(arg_tau_var));
        if (selection != nullptr && strcmp(selection, "released") != 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("selection \"%s\" does not go with tau_var", selection),
                            errhint("Leave it out: with tau_var epsilon is selected by the sparse vector technique.")));
        return "released";
    }
    checked_tau(PG_GETARG_FLOAT8(arg_tau));
    if (selection == nullptr)
        return "within_domain";
    if (strcmp(selection, "within_domain") != 0 && strcmp(selection, "within_data") != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("selection \"%s\" does not go with tau", selection),
                 errhint("Use 'within_domain' (differentially private) or 'within_data' (not).")));
    return selection;
}

static void check_weights(FunctionCallInfo fcinfo) {
    require(fcinfo, arg_weight_min, "weight_min");
    require(fcinfo, arg_weight_max, "weight_max");
    double least = checked_weight(PG_GETARG_FLOAT8(arg_weight_min), "weight_min");
    double most = checked_weight(PG_GETARG_FLOAT8(arg_weight_max), "weight_max");
    if (least > most)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("weight_min %s is larger than weight_max %s", float8out_internal(least),
                               float8out_internal(most)),
                        errhint("Pass weight_min => 0.25, weight_max => 4, for instance.")));
}

// A delta that no answer could ever pay is a mistake of the policy, not of the analyst.
static void check_delta_left(const catalog::Settings *settings, Datum delta, bool conditional) {
    Oid types[3] = {TEXTOID, NUMERICOID, BOOLOID};
    Datum values[3] = {CStringGetTextDatum(settings->id_text), delta, BoolGetDatum(conditional)};
    Visit visit = Visit::read();
    uint64 rows = visit.run("SELECT 1 FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.id "
                            "WHERE t.id = $1::uuid AND t.bound <> 'none' AND $2 > t.delta_total - o.public_delta - "
                            "CASE WHEN $3 THEN o.conditional_delta ELSE 0 END",
                            3, types, values);
    visit.leave();
    if (rows == 1)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("delta exceeds what is left of the table's delta_total"),
                        errhint("Raise it with dp_set_odometer('%s', delta_total => ...), or grant a smaller delta.",
                                settings->relation_name)));
}

static void check_numbers(FunctionCallInfo fcinfo, const catalog::Settings *settings, const char *selection) {
    for (int i : {arg_mechanism, arg_delta, arg_epsilon_max, arg_epsilon_svt})
        require(fcinfo, i, "mechanism, delta, epsilon_max and epsilon_svt");
    privacy::Mechanism mechanism = mechanism_named(text_argument(fcinfo, arg_mechanism));
    privacy::Delta delta = catalog::checked_delta(PG_GETARG_DATUM(arg_delta), "delta");
    if (mechanism == privacy::Mechanism::gaussian && delta.units() == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("mechanism gaussian needs a delta above 0"),
                        errhint("Pass delta => 1e-6, for instance.")));
    catalog::checked_epsilon(PG_GETARG_DATUM(arg_epsilon_max), "epsilon_max");
    checked_epsilon_svt(PG_GETARG_DATUM(arg_epsilon_svt));
    if (!PG_ARGISNULL(arg_epsilon_total))
        check_epsilon_total(PG_GETARG_DATUM(arg_epsilon_total));
    catalog::candidates_from_array(array_argument(fcinfo, arg_candidates));
    check_weights(fcinfo);
    check_delta_left(settings, PG_GETARG_DATUM(arg_delta), strcmp(selection, "within_data") == 0);
}

// Whose medians an epsilon from the data compares; a price from public facts has nobody in it.
static void check_groups(FunctionCallInfo fcinfo, const char *selection) {
    if (PG_ARGISNULL(arg_group_a) != PG_ARGISNULL(arg_group_b))
        refuse_half_of_groups();
    if (!PG_ARGISNULL(arg_group_a) && strcmp(selection, "within_data") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("group_a and group_b do not go with the selection \"%s\"", selection),
                        errhint("Leave them out, or use 'within_data', which is not differentially private.")));
}

static void store_policy(FunctionCallInfo fcinfo, const char *selection, Oid relation) {
    constexpr int n = 15;
    Oid types[n] = {OIDOID,     OIDOID,     FLOAT8OID,       FLOAT8OID, TEXTOID,   TEXTOID, NUMERICOID, NUMERICOID,
                    NUMERICOID, NUMERICOID, NUMERICARRAYOID, FLOAT8OID, FLOAT8OID, TEXTOID, TEXTOID};
    Datum values[n];
    char nulls[n + 1] = {};
    for (int i = 0; i < n; i++) {
        values[i] = fcinfo->args[i].value;
        nulls[i] = PG_ARGISNULL(i) ? 'n' : ' ';
    }
    values[arg_selection] = CStringGetTextDatum(selection);
    nulls[arg_selection] = ' ';
    if (!PG_ARGISNULL(arg_group_a)) {
        values[arg_group_a] =
            CStringGetTextDatum(query::canonical_condition(text_argument(fcinfo, arg_group_a), relation, "group_a"));
        values[arg_group_b] =
            CStringGetTextDatum(query::canonical_condition(text_argument(fcinfo, arg_group_b), relation, "group_b"));
    }
    Visit visit = Visit::write();
    visit.run("DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1 AND p.grantee::oid = $2", 2, types, values);
    visit.run("INSERT INTO dp_rdr.policy (view, grantee, tau, tau_var, selection, mechanism, delta, epsilon_max, "
              "epsilon_total, epsilon_svt, candidates, weight_min, weight_max, group_a, group_b) "
              "VALUES ($1::regclass, $2::regrole, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
              n, types, values, nulls);
    visit.leave();
}

DP_FUNCTION(dp_grant) {
    require(fcinfo, arg_view, "view");
    require(fcinfo, arg_grantee, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(arg_view));
    const char *grantee = quote_identifier(GetUserNameFromId(PG_GETARG_OID(arg_grantee), false));
    const char *selection = checked_selection(fcinfo);
    check_numbers(fcinfo, settings, selection);
    check_groups(fcinfo, selection);
    store_policy(fcinfo, selection, settings->relation);
    run_as(catalog::relation_owner(settings->view), psprintf("GRANT SELECT ON %s TO %s", settings->view_name, grantee));
    if (strcmp(selection, "within_data") == 0)
        ereport(
            WARNING,
            (errmsg("answers to role %s will not be differentially private", grantee),
             errdetail("Under within_data epsilon is chosen from the private rows: an answer, its noise and a denial "
                       "can tell whether one person is there. What is shown to %s is outside the guarantee that "
                       "other roles' answers carry.",
                       grantee),
             errhint("selection => 'within_domain' is differentially private.")));
    PG_RETURN_VOID();
}

DP_FUNCTION(dp_revoke) {
    require(fcinfo, 0, "view");
    require(fcinfo, 1, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    const char *grantee = quote_identifier(GetUserNameFromId(PG_GETARG_OID(1), false));
    Oid types[2] = {OIDOID, OIDOID};
    Datum values[2] = {ObjectIdGetDatum(settings->view), PG_GETARG_DATUM(1)};
    Visit visit = Visit::write();
    uint64 rows =
        visit.run("DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1 AND p.grantee::oid = $2", 2, types, values);
    visit.leave();
    run_as(catalog::relation_owner(settings->view),
           psprintf("REVOKE SELECT ON %s FROM %s", settings->view_name, grantee));
    if (rows == 0)
        ereport(WARNING, (errmsg("role %s had no policy on %s", grantee, settings->view_name)));
    PG_RETURN_VOID();
}

// ---- suspensions ---------------------------------------------------------------------------------------------------

// Lifts all suspensions under the policy of a role, and those of the role itself under whichever policy.
DP_FUNCTION(dp_resume) {
    require(fcinfo, 0, "view");
    require(fcinfo, 1, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    const char *name = GetUserNameFromId(PG_GETARG_OID(1), false);
    Oid types[3] = {OIDOID, OIDOID, TEXTOID};
    Datum values[3] = {ObjectIdGetDatum(settings->view), PG_GETARG_DATUM(1), CStringGetTextDatum(name)};
    Visit visit = Visit::write();
    uint64 rows = visit.run("DELETE FROM dp_rdr.suspension s WHERE s.view::oid = $1 AND "
                            "(s.grantee::oid = $2 OR $3 IN (s.role_name, s.session_role))",
                            3, types, values);
    visit.leave();
    if (rows == 0)
        ereport(WARNING,
                (errmsg("nobody was suspended on %s as role %s", settings->view_name, quote_identifier(name))));
    PG_RETURN_VOID();
}

} // namespace dp::sql
