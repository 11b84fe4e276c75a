// The odometer of one table while a batch of charges is written: its sums, and those of its roles, as the rows written so far leave
// them. Nobody else charges the table meanwhile.
#pragma once

#include "catalog/batch_cells.hpp"
#include "catalog/denials.hpp"
#include "catalog/ledger_row.hpp"
#include "catalog/odometer.hpp"

namespace dp::catalog {

// Under one policy: its sums as they stand, and what of them this batch has added.
struct OpenShare {
    const char *grantee;
    privacy::Totals totals, added;
    bool known; // totals are those of its row
    bool moved;
    bool turned; // what its row says of periods is not what it is now
    privacy::Spread spread, spread_added; // of the public sums over cells (ledger_cells)
};

struct OpenOdometer {
    const char *id;
    privacy::Odometer state; // as the rows written so far leave it
    privacy::Totals added;   // to the sums that go on for ever
    int found_epoch;         // before this batch
    bool has_turned;         // into another epoch, or to other cells
    int partition;           // version of the one whose cells it has
    int64 begun, founded;    // the last cell that has begun, and that had when the partition came into force
    privacy::Spread spread;  // of the public sums over cells (ledger_cells)
    Counts counts;           // what of them this batch has added
    Denials denials;         // of this batch
    Datum head;              // of the chain, as the rows written so far leave it
    const Settings *names;   // of the last row written; null: none was
    List *bases;             // of the writer: what the requests rest on
    List *shares;            // OpenShare *
    List *charges;           // const Charge *, of this batch
    BatchCells cells;
    Counted &counted(privacy::Account account) {
        return account == privacy::Account::public_account ? counts.of_public : counts.of_conditional;
    }
};

enum class Lock { held, busy, missing };

// From here on this process is the only one that charges this table.
Lock lock_odometer(const border::Spi &spi, OpenOdometer *odometer);
// Reads it as it stands, while others may charge. False: there is none.
bool look_at_odometer(const border::Spi &spi, OpenOdometer *odometer);

OpenShare *share_of(OpenOdometer *odometer, const char *grantee);
// Returns a share with what its row has, which is not what this batch has added.
OpenShare *known_share(OpenOdometer *odometer, const char *grantee, const privacy::Totals &stored,
                       const privacy::Spread &spread = {});

// Returns the sums on which a charge is decided now, in the periods that the clock and they themselves say.
privacy::Standing standing_of(const OpenOdometer &odometer, const OpenShare *share, const privacy::BoundSettings &bound,
                              TimestampTz at);
// Puts what is to be charged into the period in which it was decided.
void enter_period(const privacy::Standing &standing, privacy::Account account, OpenShare *share,
                  OpenOdometer *odometer);

// The row at once, the sums in memory: those that come after it in the batch are decided on them.
void write(const border::Spi &spi, const Entry &entry, const Price &price, OpenShare *share, OpenOdometer *odometer);
// Says what a row is that only moves sums.
struct Carrying {
    const char *kind, *query, *guarantee;
};
// Writes such a row, on the basis epsilon and under nobody's policy.
void write_carried(const border::Spi &spi, const Settings &settings, privacy::Account account, const Carrying &carrying,
                   Price price, OpenOdometer *odometer);
// Writes what this batch has added to shares into their rows, before the batch goes on.
void move_shares(const border::Spi &spi, OpenOdometer *odometer);
// At the end of the batch: the rows of the odometer and of its shares.
void move(const border::Spi &spi, OpenOdometer *odometer);

} // namespace dp::catalog
