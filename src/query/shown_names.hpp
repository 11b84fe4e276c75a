// Names that a statement gives to the columns of an answer.
#pragma once

#include "query/distinct.hpp"

namespace dp::query {

// Holds the first name that targets give to each aggregate, or column of the answer. A target may show it as it is, as an interval,
// or in an array: then its number there is part of the name.
struct ShownNames {
    Distinct nodes;
    List *names; // char *: of each node

    // unnamed: also of a target that has no name of its own ("?column?").
    static ShownNames of(const List *targets, bool unnamed);
    // null: no target shows the node.
    const char *name_of(Node *node) const;

  private:
    void add(Node *shown, char *name);
};

} // namespace dp::query
