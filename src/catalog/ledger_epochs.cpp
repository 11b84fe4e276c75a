#include "catalog/ledger_epochs.hpp"

#include <algorithm>

#include "privacy/rho_bound.hpp"

#include "border/each.hpp"

namespace dp::catalog {

using border::Spi;

// ---- what an epoch promises ----

template <int Places> static void say(StringInfo json, const char *name, privacy::Decimal<Places> value) {
    char text[64];
    border::core([&] { strlcpy(text, value.text().c_str(), sizeof text); });
    appendStringInfo(json, "\"%s\": %s, ", name, text);
}

// Describes the totals in every row that raises what its epoch promises: so that follows from the rows alone.
static Datum describe_totals(const privacy::BoundSettings &bound) {
    StringInfo json = makeStringInfo();
    appendStringInfoString(json, "{\"totals\": {");
    if (bound.epsilon_total) {
        say(json, "epsilon_total", *bound.epsilon_total);
        say(json, "rho_total", bound.rho_total);
    }
    say(json, "rho_target", border::core([&] { return privacy::anytime_target(bound); }));
    say(json, "epsilon_pure", bound.epsilon_pure);
    say(json, "delta_conversion", bound.delta_conversion);
    say(json, "delta_mechanisms", bound.delta_mechanisms());
    appendStringInfo(json, "\"cap\": \"%s\"}}", privacy::name_of(bound.cap));
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json->data));
}

Datum raise_claim(privacy::Account account, const privacy::BoundSettings &bound, OpenOdometer *odometer) {
    privacy::Claim &claim = odometer->state.claim;
    std::optional<privacy::Delta> &conversion = odometer->state.conditional_conversion;
    const privacy::Claim claimed = claim;
    const std::optional<privacy::Delta> converted = conversion;
    if (account == privacy::Account::public_account)
        border::core([&] { claim.raise(bound); });
    else
        conversion = std::max(conversion.value_or(privacy::Delta()), bound.delta_conversion);
    return conversion != converted || !(claim == claimed) ? describe_totals(bound) : Datum{0};
}

// ---- the end of one ----

// No release, and nobody's charge but the owner's, who has begun another epoch: the table's own name stands for a view.
static void write_closing(const Spi &spi, const Settings &settings, privacy::Account account, privacy::Loss loss,
                          OpenOdometer *odometer) {
    auto *closed = static_cast<Settings *>(palloc(sizeof(Settings)));
    *closed = settings;
    closed->view = settings.relation;
    closed->view_name = settings.relation_name;
    Charge what = {};
    what.settings = closed;
    what.asker.role = what.asker.session_role = settings.owner;
    what.query = psprintf("end of epoch %d", odometer->state.epoch);
    what.algorithm = "none";
    what.guarantee = "what the epoch promised, less what its charges have added";
    what.kind = "closing";
    what.account = account;
    what.parameters = "{}";
    Entry entry = entry_for(what);
    Price price = {};
    price.cost.epsilon = price.worst = loss.epsilon;
    price.cost.delta = loss.delta;
    price.epoch = odometer->state.epoch;
    price.at = GetCurrentTimestamp();
    write(spi, entry, price, nullptr, odometer);
}

// Writes what this batch has added to shares with the number of the epoch that ends.
static void end_shares(const Spi &spi, OpenOdometer *odometer) {
    move_shares(spi, odometer);
    for (auto *share : border::each<OpenShare>(odometer->shares)) {
        share->totals.of_public.begin_epoch();
        share->totals.of_conditional.begin_epoch();
    }
}

void enter_epoch(const Spi &spi, const Settings &settings, int epoch, OpenOdometer *odometer) {
    for (privacy::Account account : {privacy::Account::public_account, privacy::Account::conditional}) {
        privacy::Loss loss = {};
        bool charged = border::core([&] {
            const std::optional<privacy::Loss> closing = privacy::closing(odometer->state, account);
            loss = closing.value_or(privacy::Loss());
            return closing.has_value();
        });
        if (charged)
            write_closing(spi, settings, account, loss, odometer);
    }
    end_shares(spi, odometer);
    privacy::begin_epoch(&odometer->state, epoch);
    odometer->has_turned = true;
}

} // namespace dp::catalog
