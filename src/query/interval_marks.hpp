// dp_low and dp_high around an aggregate: which part of its answer a column of the leaf is (architecture.md, 3.2).
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Tells how to write a mark.
inline constexpr char mark_remedy[] = "Write it around an aggregate as it stands, where that reads the view: "
                                      "dp_low(count(*)), dp_high(avg(x)); compute with the result.";

// Part::value: the function is none of them.
Part part_of_mark(Oid function);
// The argument of a call of one of them; null: the node is something else. `part`: null, or where to say which.
Node *marked(Node *node, Part *part = nullptr);

// Returns the node below a mark, which may be an aggregate; without a mark the node itself.
inline Node *below_mark(Node *node, Part *part = nullptr) {
    Node *inner = marked(node, part);
    return inner == nullptr ? node : inner;
}

// 0A000 for a call that marks anything but an aggregate as it stands.
[[noreturn]] void refuse_mark(Node *call, ParseState *source);
// Refuses the first mark that is left in a statement.
void refuse_marks(Query *query, ParseState *source);

} // namespace dp::query
