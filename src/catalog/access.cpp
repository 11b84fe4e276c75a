#include "catalog/access.hpp"

namespace dp::catalog {

static Visit enter(bool reading) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(border::extension_owner());
    if (reading)
        PushActiveSnapshot(GetLatestSnapshot());
    return Visit{settings, role, border::Spi::connect(), reading};
}

Visit Visit::read() {
    return enter(true);
}

Visit Visit::write() {
    return enter(false);
}

void Visit::leave() const {
    spi.finish();
    if (reading)
        PopActiveSnapshot();
    role.leave();
    settings.leave();
}

} // namespace dp::catalog
