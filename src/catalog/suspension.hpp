// The second wall: whose queries failed while they read rows asks no more, until the owner has looked (formulas.md, 4.1).
// An error that only some rows cause is a bit about them; this makes it the only one.
#pragma once

#include "catalog/asker.hpp"
#include "catalog/settings.hpp"

namespace dp::catalog {

// Failures under one policy after which nobody asks under it.
constexpr int suspended_members = 3;

// 55000 when the asker's role, that of his session, or the whole policy is suspended on the view.
void check_not_suspended(const Reading &reading, const Settings &settings, const Policy &policy, const Asker &asker);

} // namespace dp::catalog
