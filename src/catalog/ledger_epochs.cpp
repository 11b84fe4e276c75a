#include "catalog/ledger_epochs.hpp"

#include <algorithm>

#include "privacy/rho_bound.hpp"

#include "border/each.hpp"
#include "catalog/ledger_cells.hpp"

namespace dp::catalog {

using border::Spi;

// Describes the totals in every row that raises what its epoch promises: so that follows from the rows alone.
static Datum describe_totals(const privacy::BoundSettings &bound) {
    const JsonText json = JsonText::object();
    json.open("totals", '{');
    if (bound.epsilon_total) {
        json("epsilon_total", *bound.epsilon_total);
        json("rho_total", bound.rho_total);
    }
    json("rho_target", border::core([&] { return privacy::anytime_target(bound); }));
    json("epsilon_pure", bound.epsilon_pure);
    json("delta_conversion", bound.delta_conversion);
    json("delta_mechanisms", bound.delta_mechanisms());
    json("cap", privacy::name_of(bound.cap));
    json.close('}');
    return jsonb_of(json.closed());
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

// Writes what this batch has added to shares with the number of the epoch that ends.
static void end_shares(const Spi &spi, OpenOdometer *odometer) {
    move_shares(spi, odometer);
    for (auto *share : border::each<OpenShare>(odometer->shares)) {
        share->totals.of_public.begin_epoch();
        share->totals.of_conditional.begin_epoch();
        share->spread.begin_epoch();
    }
}

static Price price_of_closing(const privacy::Loss &loss) {
    Price price = {};
    price.cost.epsilon = loss.epsilon;
    price.cost.delta = loss.delta;
    return price;
}

// Charges the largest closing of a cell to all that have begun, and their own to those to come.
static void close(const Spi &spi, const Settings &settings, privacy::Account account, OpenOdometer *odometer) {
    const Carrying closing = {"closing", psprintf("end of epoch %d", odometer->state.epoch),
                              "what the epoch promised, less what its charges have added"};
    const Closings losses =
        find_closings({&spi, nullptr, odometer->id, ""}, account, odometer->state, odometer->spread);
    if (!losses.charged)
        return;
    Price price = price_of_closing(losses.all);
    if (losses.by_cells)
        price.cells = describe_all(*odometer);
    write_carried(spi, settings, account, closing, price, odometer);
    if (losses.coming.epsilon.units() == 0 && losses.coming.delta.units() == 0)
        return;
    price = price_of_closing(losses.coming);
    charge_coming(spi, *odometer, &price);
    write_carried(spi, settings, account, closing, price, odometer);
}

void enter_epoch(const Spi &spi, const Settings &settings, int epoch, OpenOdometer *odometer) {
    odometer->cells.leave(spi, odometer->id);
    for (privacy::Account account : {privacy::Account::public_account, privacy::Account::conditional})
        close(spi, settings, account, odometer);
    end_shares(spi, odometer);
    begin_epoch_of_cells(spi, odometer);
    privacy::begin_epoch(&odometer->state, epoch);
    odometer->has_turned = true;
}

} // namespace dp::catalog
