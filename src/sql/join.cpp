// dp_join_domains: two domains of the same people become one (formulas.md 9.13). What is looked at here is looked at again by the keeper
// that does it, under the locks.
#include "border/versions.hpp"
#include "catalog/decimals.hpp"
#include "catalog/ledger.hpp"
#include "catalog/ledger_join.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

using catalog::qualified_name;

namespace {
// One of the two, as it is declared.
struct Side {
    Oid relation;
    const char *name, *id;
    const char *types; // of its units; null: a row is a unit
    const char *bound;
    const char *epsilon_total; // null: none
    const char *period;        // or null
    const char *profiled;      // what has a risk profile; null: nothing
    const char *people;        // about how many; null: nobody said
};
} // namespace

template <class Number> static const char *printed(Number number) {
    return catalog::numeric_text(catalog::to_numeric(number));
}

[[noreturn]] static void refuse(int code, const char *message, const char *detail, const char *hint) {
    ereport(ERROR, (errcode(code), errmsg("%s", message), detail == nullptr ? 0 : errdetail("%s", detail),
                    errhint("%s", hint)));
    pg_unreachable();
}

static Side read_side(const Visit &visit, Oid relation) {
    if (run_with_oid(visit,
                     "SELECT d.id, d.unit_types::text, d.bound, d.epsilon_total, d.period, "
                     "CASE WHEN d.profile IS NOT NULL THEN format('%s has a risk profile', t.relation) "
                     "ELSE (SELECT format('role %s has a risk profile on %s', p.grantee, p.view) "
                     "FROM dp_rdr.protected_table o JOIN dp_rdr.restricted_view v ON v.relation = o.relation "
                     "JOIN dp_rdr.policy p ON p.view = v.view WHERE o.domain = d.id AND p.profile IS NOT NULL "
                     "ORDER BY 1 LIMIT 1) END, d.people "
                     "FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain "
                     "WHERE t.relation::oid = $1",
                     relation) != 1)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("the domain of %s is gone", qualified_name(relation)),
                 errhint("Protect the table again with dp_protect(), for a further view: its totals are rebuilt.")));
    Side side = {};
    side.relation = relation;
    side.name = qualified_name(relation);
    side.id = visit.spi.text(0, 1);
    side.types = visit.spi.text(0, 2);
    side.bound = visit.spi.text(0, 3);
    side.epsilon_total = visit.spi.text(0, 4);
    side.period = visit.spi.text(0, 5);
    side.profiled = visit.spi.text(0, 6);
    side.people = visit.spi.text(0, 7);
    return side;
}

// ---- what is refused -----------------------------------------------------------------------------------------------

// Tables that are gone have none.
static void check_one_owner(const Visit &visit, const Side &from, const Side &into) {
    if (run_with_oid(
            visit,
            psprintf("SELECT o.relation::oid FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = "
                     "t.domain "
                     "JOIN pg_class c ON c.oid = o.relation WHERE t.relation::oid IN ($1, %u) AND c.relowner <> "
                     "(SELECT p.relowner FROM pg_class p WHERE p.oid = $1) ORDER BY 1 LIMIT 1",
                     from.relation),
            into.relation) == 0)
        return;
    bool isnull;
    Oid other = DatumGetObjectId(border::Spi::value(0, 1, &isnull));
    const char *owner = quote_identifier(GetUserNameFromId(catalog::relation_owner(into.relation), false));
    refuse(ERRCODE_INSUFFICIENT_PRIVILEGE,
           psprintf("%s belongs to another role than %s", qualified_name(other), into.name),
           "All tables with data of the same people have one owner.",
           psprintf("ALTER TABLE %s OWNER TO %s;", qualified_name(other), owner));
}

static void check_units(const Side &from, const Side &into) {
    for (const Side *side : {&from, &into})
        if (side->types == nullptr)
            refuse(
                ERRCODE_FEATURE_NOT_SUPPORTED,
                psprintf("a row of %s is a unit: its domain is joined with none", side->name),
                "Nothing says whose row it is. What was told of rows was not told of people who may have several.",
                psprintf("As long as nothing has named it dp_set_unit('%s', ...) gives it a unit, in the other domain "
                         "at once.",
                         side->name));
    if (strcmp(from.types, into.types) != 0)
        refuse(ERRCODE_FEATURE_NOT_SUPPORTED,
               psprintf("the units of %s are of the types %s, and those of %s of %s", from.name, from.types, into.name,
                        into.types),
               "The same person has the same values of the same types, in the same order, in all tables of a domain.",
               "Protect tables with a column of the other's type, before anything is asked.");
}

// What sums of epsilon and delta say under one rule, they do not say under another.
static void check_bounds(const Side &from, const Side &into) {
    if (strcmp(from.bound, into.bound) != 0)
        refuse(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
               psprintf("%s has the bound %s, and %s the bound %s", from.name, from.bound, into.name, into.bound),
               nullptr, "Give both the same one with dp_set_odometer(), 'filter' for instance.");
    if (strcmp(from.bound, "zcdp") == 0)
        refuse(
            ERRCODE_FEATURE_NOT_SUPPORTED, "domains with the bound zcdp are not joined",
            "Sums in rho would begin anew, and what they had come to would not count in the total.",
            psprintf("Set the bound 'filter' for both with dp_set_odometer(), which ends their epochs, join them, and "
                     "set 'zcdp' for %s again.",
                     into.name));
}

// Under none one is kept, and does not bind.
static void check_totals(const Side &from, const Side &into) {
    if (strcmp(from.bound, "none") == 0 || (from.epsilon_total == nullptr) == (into.epsilon_total == nullptr))
        return;
    const bool lacks = from.epsilon_total == nullptr;
    refuse(
        ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        psprintf("%s has an epsilon_total, and %s has none", lacks ? into.name : from.name,
                 lacks ? from.name : into.name),
        nullptr,
        psprintf("dp_set_odometer(..., epsilon_total => ...) sets one; 'Infinity' takes it away. That of %s binds when "
                 "they are joined.",
                 into.name));
}

static void check_periods_and_profiles(const Side &side) {
    if (side.period != nullptr)
        refuse(
            ERRCODE_FEATURE_NOT_SUPPORTED,
            psprintf("%s has a period: what was charged in one is not added to what was charged in another", side.name),
            nullptr,
            psprintf("Take it away, dp_set_odometer('%s', period => ''), and set it for both when they are joined: "
                     "what was spent until then counts until it turns.",
                     side.name));
    if (side.profiled != nullptr)
        refuse(ERRCODE_FEATURE_NOT_SUPPORTED, side.profiled, "What it allows was computed for one domain.",
               "Take it away with profile => '{}', join, and set it again: what was told before is looked at then.");
}

// What is told from here on is told under the rule of the domain that stays; what was told before, under both.
static void check_rules(const Side &from, const Side &into, const char *versions) {
    if (catalog::is_untold(versions))
        return;
    check_bounds(from, into);
    check_totals(from, into);
    for (const Side *side : {&from, &into})
        check_periods_and_profiles(*side);
}

// Sums that do not follow from the rows would count for ever in another ledger.
static void check_whole(const Side &side) {
    Visit visit = Visit::read();
    Oid types[1] = {TEXTOID};
    Datum values[1] = {CStringGetTextDatum(side.id)};
    visit.run("SELECT dp_rdr.ledger_fault($1::uuid, true)", 1, types, values);
    const char *fault = visit.spi.text(0, 1);
    visit.leave();
    if (fault != nullptr)
        refuse(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
               psprintf("the ledger of %s is not whole: %s", side.name, fault), nullptr,
               "Look at dp_audit() first: what is joined is joined for good.");
}

// ---- what became of it ---------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_beyond(const Side &from, const Side &into, const catalog::Reason &reason) {
    const bool delta = reason.denial == privacy::Denial::delta_total;
    const char *name = delta ? "delta_total" : "epsilon_total";
    const char *total = delta ? printed(reason.delta_total) : printed(reason.total);
    const char *of_from = delta ? printed(reason.delta_asked) : printed(reason.asked);
    const char *of_into = delta ? printed(reason.delta_spent) : printed(reason.spent);
    const char *both = delta ? printed(reason.delta_asked + reason.delta_spent) : printed(reason.asked + reason.spent);
    refuse(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
           psprintf("%s %s of %s is less than the %s that both domains have spent", name, total, into.name, both),
           psprintf("That of %s has spent %s, that of %s %s. The same people were told of in both.", from.name, of_from,
                    into.name, of_into),
           psprintf("dp_set_odometer('%s', %s => %s), or more, admits that; nothing takes back what was told.",
                    into.name, name, both));
}

[[noreturn]] static void refuse_outcome(const Side &from, const Side &into, const catalog::Verdict &verdict,
                                        const char *hint) {
    switch (verdict.outcome) {
    case catalog::Outcome::denied:
        refuse_beyond(from, into, verdict.reason);
    case catalog::Outcome::busy:
    case catalog::Outcome::changing:
        refuse(verdict.outcome == catalog::Outcome::busy ? ERRCODE_LOCK_NOT_AVAILABLE
                                                         : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
               psprintf("the settings or the odometer of %s or %s are being changed", from.name, into.name),
               "Nothing was joined.",
               "Try again after the transaction that changes them has ended; if it is this one, commit it first.");
    case catalog::Outcome::ahead:
        refuse(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
               psprintf("the odometer of %s or %s is ahead of its domain", from.name, into.name),
               "Its totals are of a later epoch than its settings, as after a restore of a part. Nothing was joined.",
               "dp_audit() says which; SELECT dp_set_odometer('...') begins an epoch behind both.");
    case catalog::Outcome::lost:
        refuse(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN,
               psprintf("it is not known whether %s and %s were joined", from.name, into.name), nullptr,
               psprintf("dp_domain('%s') shows it. %s", into.name, hint));
    default:
        refuse(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, psprintf("%s and %s were not joined", from.name, into.name),
               nullptr, hint);
    }
}

// Policies whose share is less than what their role has spent by now.
static void warn_of_shares(const Side &into) {
    Visit visit = Visit::read();
    uint64 n = run_with_oid(
        visit,
        "SELECT p.grantee, p.view, trim_scale(p.epsilon_total), s.public_epsilon FROM dp_rdr.protected_table t "
        "JOIN dp_rdr.protected_table o ON o.domain = t.domain JOIN dp_rdr.restricted_view v ON v.relation = o.relation "
        "JOIN dp_rdr.policy p ON p.view = v.view "
        "JOIN dp_rdr.odometer_share s ON s.id = t.domain AND s.grantee = pg_get_userbyid(p.grantee) "
        "WHERE t.relation::oid = $1 AND p.epsilon_total < s.public_epsilon ORDER BY p.grantee::text, p.view::text",
        into.relation);
    auto **texts = static_cast<char **>(MemoryContextAlloc(visit.spi.caller, sizeof(char *) * (4 * n + 1)));
    for (uint64 i = 0; i < 4 * n; i++)
        texts[i] = visit.spi.text(i / 4, static_cast<int>(i % 4) + 1);
    visit.leave(); // whose settings keep messages back
    for (char **row = texts; row < texts + 4 * n; row += 4)
        ereport(
            WARNING,
            (errmsg("role %s has spent epsilon %s, more than its share %s on %s: no query of it will be answered there",
                    row[0], row[3], row[2], row[1]),
             errhint("Its charges in both domains count. dp_grant('%s', '%s', epsilon_total => ...) sets the share.",
                     row[1], row[0])));
}

// The number of people that stays, where one was said.
static const char *people_that_stay(const Side &from, const Side &into) {
    const Side &side = into.people != nullptr ? into : from;
    return side.people == nullptr ? "" : psprintf(" The number of people is that of %s: about %s.", side.name, side.people);
}

static void tell(const Side &from, const Side &into, bool untold, const catalog::Reason &reason) {
    const char *people = people_that_stay(from, into);
    ereport(
        NOTICE,
        (errmsg("the people of %s are those of %s from here on", from.name, into.name),
         untold ? errdetail("Nothing was told of those of %s: nothing is added.%s", from.name, people)
                : errdetail("Epsilon %s and delta %s are added to epsilon %s and delta %s.%s", printed(reason.asked),
                            printed(reason.delta_asked), printed(reason.spent), printed(reason.delta_spent), people),
         errhint("No rollback takes it back. dp_odometer('%s') shows the totals of both, and the bound.", into.name)));
    warn_of_shares(into);
}

DP_CALL(dp_join_domains) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "into");
    Oid relations[2] = {protected_relation(PG_GETARG_OID(0)), protected_relation(PG_GETARG_OID(1))};
    Oid caller = GetUserId();
    catalog::check_writable(); // a keeper would do it all the same
    catalog::check_can_ask();
    Visit visit = Visit::read();
    Side from = read_side(visit, relations[0]), into = read_side(visit, relations[1]);
    if (strcmp(from.id, into.id) == 0)
        refuse(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
               psprintf("%s and %s have one domain already", from.name, into.name), nullptr,
               psprintf("dp_domain('%s') shows its tables.", into.name));
    for (const Side *side : {&from, &into})
        check_owns_domain(visit, side->relation, caller);
    check_one_owner(visit, from, into);
    check_units(from, into);
    // Under the snapshot of all of this: what is different when the keeper looks is not what was looked at here.
    const catalog::Joining joining = {into.relation, into.id, into.name,
                                      catalog::versions_of_domains(visit.spi, true, from.id, into.id)};
    check_rules(from, into, joining.versions);
    visit.leave();
    for (const Side *side : {&from, &into})
        check_whole(*side);
    catalog::Settings settings = {};
    settings.id_text = from.id;
    settings.relation = from.relation;
    settings.relation_name = from.name;
    settings.owner = catalog::relation_owner(from.relation);
    const char *query =
        psprintf("dp_join_domains(%s, %s)", quote_literal_cstr(from.name), quote_literal_cstr(into.name));
    const char *hint;
    const catalog::Verdict verdict = catalog::join_domains(settings, joining, query, &hint);
    if (verdict.outcome != catalog::Outcome::committed)
        refuse_outcome(from, into, verdict, hint);
    tell(from, into, catalog::is_untold(joining.versions), verdict.reason);
    PG_RETURN_VOID();
}

} // namespace dp::sql
