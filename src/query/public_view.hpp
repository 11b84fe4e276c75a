// Views that project a public table and are no restricted ones: a leaf names them, and its sources are the tables.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Opens such views of a parsed leaf, which is copied, at all its levels. 42501: the current role may not read the view, or not the
// table where the view asks with its rights (security_invoker), or the view's owner may not.
Query *with_public_views_open(const Query *leaf);

} // namespace dp::query
