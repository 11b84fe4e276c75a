#include "sql/set_odometer.hpp"

#include "catalog/settings.hpp"
#include "privacy/standing.hpp"
#include "sql/call_arguments.hpp"

using dp::catalog::Visit;

namespace dp::sql {

privacy::Odometer entered(const BoundState &state) {
    privacy::Odometer odometer = state.odometer;
    border::core([&] { privacy::enter_epoch(&odometer, state.epoch); });
    return odometer;
}

// ---- totals that are spent already ---------------------------------------------------------------------------------

// Warns of a total that is less than what is spent, or used up. Decisions of DP modes read the public account, those of others the sum of
// both (formulas.md 5.2). Every charge has an epsilon, so nothing fits a total of it that is just used up; one of 0 closes the table on
// purpose. in_period: the sums count as 0 when the period turns. kept: by a rule that stands beside the total.
template <class Number>
static void warn_of_sum(const char *relation, const char *name, const char *setting, Number total, Number of_public,
                        Number of_conditional, bool in_period = false, bool public_kept = false,
                        bool both_kept = false) {
    const bool used_up = std::is_same_v<Number, privacy::Epsilon> && of_public == total && total.units() > 0;
    const bool both_exceed = of_public + of_conditional > total && !both_kept;
    if (!both_exceed && !used_up)
        return;
    const char *const what = (of_public > total && !public_kept) || used_up
                                 ? "no query will be answered"
                                 : "no query whose epsilon is chosen from the data will be answered";
    ereport(WARNING,
            (errmsg("%s %s of %s is %s%s: %s%s", name, printed(total), relation,
                    both_exceed ? "less than what is spent" : "used up", in_period ? " in this period" : "", what,
                    in_period ? " until it turns" : ""),
             errdetail("The public account has spent %s, the conditional one %s.", printed(of_public),
                       printed(of_conditional)),
             errhint("Raise it with dp_set_odometer(%s, %s => ...).", quote_literal_cstr(relation), setting)));
}

// The basic rule stands beside the cap.
static void warn_of_zcdp(const char *relation, const privacy::BoundSettings &bound, const privacy::Totals &totals) {
    const privacy::Spent &open = totals.of_public, &closed = totals.of_conditional;
    const auto basic = [&](const privacy::Spent &spent) {
        return bound.keeps_basic_rule(spent) && spent.pure <= *bound.epsilon_total;
    };
    if (bound.epsilon_total)
        warn_of_sum(relation, "rho_total", "epsilon_total", bound.rho_total, open.rho, closed.rho, false, basic(open),
                    basic(open + closed));
    if (bound.splits_pure())
        warn_of_sum(relation, "epsilon_pure", "epsilon_pure", bound.epsilon_pure, open.epsilon_of_epoch(),
                    closed.epsilon_of_epoch());
    const privacy::Delta groups = open.delta_of_epoch(), more_groups = closed.delta_of_epoch();
    if (groups.units() + more_groups.units() > 0)
        warn_of_sum(relation, "the delta for groups", "delta_total", bound.delta_mechanisms(), groups, more_groups);
}

static void warn_of_spent(const char *relation, const privacy::BoundSettings &bound, const privacy::Totals &totals) {
    if (bound.bound == privacy::Bound::none)
        return;
    if (bound.bound == privacy::Bound::zcdp)
        return warn_of_zcdp(relation, bound, totals);
    const bool periods = bound.period.has_value();
    const auto now = [=](const privacy::Spent &spent) {
        return periods ? privacy::Loss{spent.period.epsilon, spent.period.delta}
                       : privacy::Loss{spent.epsilon, spent.delta};
    };
    const privacy::Spent &ever = totals.of_public, &ever_closed = totals.of_conditional;
    const privacy::Loss open = now(ever), closed = now(ever_closed);
    if (bound.epsilon_total)
        warn_of_sum(relation, "epsilon_total", "epsilon_total", *bound.epsilon_total, open.epsilon, closed.epsilon,
                    periods);
    warn_of_sum(relation, "delta_total", "delta_total", bound.delta_total, open.delta, closed.delta, periods);
    if (periods && bound.epsilon_lifetime)
        warn_of_sum(relation, "epsilon_lifetime", "epsilon_lifetime", *bound.epsilon_lifetime, ever.epsilon,
                    ever_closed.epsilon);
    if (periods && bound.delta_lifetime)
        warn_of_sum(relation, "delta_lifetime", "delta_lifetime", *bound.delta_lifetime, ever.delta, ever_closed.delta);
}

// ---- policies whose delta no answer can pay any more; their queries that need none go on ---------------------------

// $2: what is left for all, $3: what of it the conditional account has, $4: only groups need a delta, and there is some for them
const char *const policies_sql = R"sql(
SELECT string_agg(format('%s on %s has delta %s', p.grantee, p.view, p.delta), '; ' ORDER BY p.view::oid, p.grantee::oid)
FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = t.domain
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
WHERE t.relation::oid = $1
  AND CASE WHEN $4 AND p.mechanism = 'gaussian' THEN p.delta - trunc(p.delta * 0.5, 30) ELSE p.delta END
      > $2 - CASE p.selection WHEN 'within_data' THEN $3 ELSE 0 END
  AND (p.delta > 0 OR NOT $4) AND NOT ($5 AND p.mechanism = 'gaussian')
HAVING count(*) > 0)sql";

static privacy::Delta delta_left(const privacy::BoundSettings &bound, const privacy::Spent &spent) {
    if (bound.bound == privacy::Bound::zcdp)
        return bound.delta_mechanisms() - spent.delta_of_epoch();
    if (!bound.period)
        return bound.delta_total - spent.delta;
    const privacy::Delta left = bound.delta_total - spent.period.delta;
    return bound.delta_lifetime ? Min(left, *bound.delta_lifetime - spent.delta) : left;
}

static void warn_of_policies(Oid relation, const char *name, const privacy::BoundSettings &bound,
                             const privacy::Totals &totals) {
    if (bound.bound == privacy::Bound::none)
        return;
    const bool zcdp = bound.bound == privacy::Bound::zcdp;
    const privacy::Spent &of_public = totals.of_public, &of_conditional = totals.of_conditional;
    const privacy::Delta left = delta_left(bound, of_public);
    const privacy::Delta conditional = zcdp           ? of_conditional.delta_of_epoch()
                                       : bound.period ? of_conditional.period.delta
                                                      : of_conditional.delta;
    Visit visit = Visit::write();
    const char *policies =
        run(visit, policies_sql, relation, left, conditional, zcdp, zcdp && bound.delta_mechanisms().units() == 0) == 1
            ? visit.spi.text(0, 1)
            : nullptr;
    visit.leave();
    if (policies == nullptr)
        return;
    ereport(WARNING, (errmsg("delta_total %s of %s leaves %s, less than the delta of a policy",
                             printed(bound.delta_total), name, printed(left.units() > 0 ? left : privacy::Delta())),
                      errdetail("Queries that need it will be denied: role %s.", policies),
                      errhint("Raise it with dp_set_odometer(%s, delta_total => ...), or lower the policy's with "
                              "dp_grant(view, grantee, delta => ...).",
                              quote_literal_cstr(name))));
}

// ---- epochs --------------------------------------------------------------------------------------------------------

// Tells the loss of the epoch before, which the next charge writes down.
static void tell_about_end(const char *relation, const privacy::Odometer &odometer) {
    privacy::Loss loss = {};
    bool charged = border::core([&] {
        const std::optional<privacy::Loss> closing = privacy::closing(odometer, privacy::Account::public_account);
        loss = closing.value_or(privacy::Loss());
        return closing.has_value();
    });
    if (charged)
        ereport(NOTICE,
                (errmsg("what %s has spent under zcdp so far counts as epsilon %s and delta %s more", relation,
                        printed(loss.epsilon), printed(loss.delta)),
                 errdetail("It is what was promised, less what is in the sums already; the next charge writes it into "
                           "the ledger.")));
}

static void tell_about_begin(const char *relation, const privacy::BoundSettings &bound, const privacy::Spent &before) {
    if (!bound.epsilon_total)
        ereport(NOTICE,
                (errmsg("nothing bounds the loss of %s, which is counted only", relation),
                 errdetail("There is no epsilon_total: what is asked is answered, and dp_odometer() shows what it "
                           "has come to."),
                 errhint("Pass epsilon_total => 1 for a bound.")));
    if (before.epsilon_before.units() == 0 && before.delta_before.units() == 0)
        return;
    if (!bound.epsilon_total)
        ereport(NOTICE, (errmsg("the sums of %s begin anew, behind epsilon %s and delta %s that are spent", relation,
                                printed(before.epsilon_before), printed(before.delta_before))));
    else
        ereport(
            NOTICE,
            (errmsg("the totals of %s begin anew: with what was spent before they bound epsilon by %s and delta by %s",
                    relation, printed(before.epsilon_before + *bound.epsilon_total),
                    printed(before.delta_before + bound.delta_total))));
}

static bool same_totals(const privacy::BoundSettings &a, const privacy::BoundSettings &b) {
    return a.epsilon_total == b.epsilon_total && a.delta_total == b.delta_total &&
           a.delta_conversion == b.delta_conversion && a.cap == b.cap;
}

static void tell_about_change(const char *relation, const BoundState &was, const BoundState &now) {
    if (same_totals(was.bound, now.bound) || !entered(was).claim.charged)
        return;
    ereport(NOTICE, (errmsg("the totals of %s changed, and what was spent under the old ones goes on", relation),
                     errdetail("The guarantee is the larger total if you decided this without a look at answers; "
                               "otherwise it is the sum of both.")));
}

// ---- promises about attacks ------------------------------------------------------------------------------------------

// Says nothing of a promise that is broken already: what is spent is above the total, of which a WARNING tells.
void tell_about_attacks(Oid relation, const Profile &profile, const BoundState &now) {
    const privacy::BoundSettings &bound = now.bound;
    const bool zcdp = bound.bound == privacy::Bound::zcdp;
    const privacy::Spent spent = now.has_odometer ? entered(now).totals.of_public : privacy::Spent();
    if (zcdp ? spent.rho > bound.rho_total || spent.delta_of_epoch() > bound.delta_mechanisms()
             : spent.epsilon > *bound.epsilon_total || spent.delta > bound.delta_total)
        return;
    const privacy::AttackTarget &target = profile.risk->target;
    const char *promise =
        target.advantage > 0
            ? psprintf(
                  "no attack recognizes more than %g %% of people beyond the share of others that it is wrong about",
                  100 * target.advantage)
            : psprintf("no attack that is wrong about %g %% of the others recognizes more than %g %%", 100 * target.fpr,
                       100 * target.tpr);
    const bool before = zcdp && (spent.epsilon_before.units() > 0 || spent.delta_before.units() > 0);
    ereport(NOTICE, (errmsg("%s%s: %s of %s is %s", before ? "from now on, " : "", promise,
                            zcdp ? "rho_total" : "epsilon_total", catalog::qualified_name(relation),
                            zcdp ? printed(bound.rho_total) : printed(*bound.epsilon_total)),
                     zcdp ? errdetail("In other respects it promises no more than epsilon %s does at delta %s.%s",
                                      printed(*bound.epsilon_total), printed(bound.delta_total),
                                      before ? " Answers of before are not counted in it." : "")
                          : 0));
}

// ---- periods -------------------------------------------------------------------------------------------------------

static void warn_of_no_lifetime(const char *relation, const privacy::BoundSettings &bound) {
    const bool epsilon = !bound.epsilon_lifetime, delta = !bound.delta_lifetime && bound.delta_total.units() > 0;
    if (!epsilon && !delta)
        return;
    const char *what = epsilon ? "epsilon" : "delta";
    ereport(WARNING, (errmsg("nothing bounds the %s of %s over all periods",
                             epsilon && delta ? "epsilon and delta" : what, relation),
                      errdetail("What %s bounds is spent in every period anew, and what answers tell adds up.",
                                epsilon && delta ? "each total"
                                : epsilon        ? "epsilon_total"
                                                 : "delta_total"),
                      errhint("Pass %s_lifetime with dp_set_odometer(%s, %s_lifetime => ...).", what,
                              quote_literal_cstr(relation), what)));
}

// Setting a period gives nothing back that was spent under another one, or none.
static void tell_about_carried(const char *relation, const BoundState &was, const BoundState &now,
                               const privacy::PeriodSums &sums) {
    const bool same = was.bound.period && was.bound.period->kind == now.bound.period->kind;
    if (same || (sums.epsilon.units() == 0 && sums.delta.units() == 0))
        return;
    ereport(NOTICE, (errmsg("epsilon %s and delta %s that %s has spent count until the %s turns", printed(sums.epsilon),
                            printed(sums.delta), relation, privacy::name_of(now.bound.period->kind)),
                     errdetail("Setting a period gives nothing back before.")));
}

void tell_about_totals(Oid relation, const BoundState &was, const BoundState &now) {
    if (!now.has_odometer)
        return; // whoever asks is told
    const char *name = catalog::qualified_name(relation);
    privacy::Odometer odometer = entered(now);
    odometer.totals = privacy::standing(odometer.totals, privacy::Totals(), now.bound, catalog::today()).table;
    const bool zcdp = now.bound.bound == privacy::Bound::zcdp;
    if (was.epoch != now.epoch) {
        tell_about_end(name, entered(was));
        if (zcdp)
            tell_about_begin(name, now.bound, odometer.totals.of_public);
    } else if (zcdp)
        tell_about_change(name, was, now);
    if (now.bound.period) {
        warn_of_no_lifetime(name, now.bound);
        tell_about_carried(name, was, now, odometer.totals.of_public.period);
    }
    warn_of_spent(name, now.bound, odometer.totals);
    warn_of_policies(relation, name, now.bound, odometer.totals);
}

} // namespace dp::sql
