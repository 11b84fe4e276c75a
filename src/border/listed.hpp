// Lists texts with commas between them.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// text_of(i) returns text i of those from `first` on, before n.
template <class Text> const char *listed(int first, int n, Text &&text_of) {
    StringInfo list = makeStringInfo();
    for (int i = first; i < n; i++)
        appendStringInfo(list, "%s%s", i == first ? "" : ", ", text_of(i));
    return list->data;
}

// Lists names, quoted.
inline const char *listed_names(const char *const *names, int n) {
    return listed(0, n, [names](int i) { return quote_identifier(names[i]); });
}

} // namespace dp::border
