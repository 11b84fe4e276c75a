#include "catalog/access.hpp"

namespace dp::catalog {

Reading Reading::open() {
    return Reading{RegisterSnapshot(GetLatestSnapshot())};
}

void Reading::close() const {
    UnregisterSnapshot(snapshot);
}

// A null snapshot: for writing.
static Visit enter(Snapshot snapshot) {
    border::UsageScope usage = border::UsageScope::enter();
    border::SettingsScope settings = border::SettingsScope::enter_for_catalog();
    border::RoleScope role = border::RoleScope::enter(border::extension_owner());
    if (snapshot != nullptr)
        PushActiveSnapshot(snapshot);
    return Visit{usage, settings, role, border::Spi::connect(), snapshot != nullptr};
}

Visit Visit::read() {
    return enter(GetLatestSnapshot());
}

Visit Visit::read(const Reading &reading) {
    return enter(reading.snapshot);
}

void check_writable() {
    if (XactReadOnly)
        refuse_with(ERRCODE_READ_ONLY_SQL_TRANSACTION,
                    "the catalog of dp_rdr cannot be changed in a read-only transaction",
                    RecoveryInProgress() ? "This server is a standby. Call it on the primary." : nullptr);
}

Visit Visit::write() {
    check_writable();
    return enter(nullptr);
}

void Visit::leave() const {
    spi.finish();
    if (reading)
        PopActiveSnapshot();
    role.leave();
    settings.leave();
    usage.leave();
}

} // namespace dp::catalog
