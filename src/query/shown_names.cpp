#include "query/shown_names.hpp"

#include "border/each.hpp"
#include "query/intervals.hpp"

namespace dp::query {

void ShownNames::add(Node *shown, char *name) {
    if (nodes.add(before_interval(shown)) > list_length(names))
        names = lappend(names, name);
}

// A name that is too long would be cut off with a notice.
static char *name_of_element(const TargetEntry *target, int number) {
    char *name = psprintf("%s_%d", target->resname, number);
    return strlen(name) < NAMEDATALEN ? name : nullptr;
}

ShownNames ShownNames::of(const List *targets, bool unnamed) {
    ShownNames shown = {Distinct::none(), NIL};
    ListCell *element;
    for (auto *target : border::each<TargetEntry>(targets)) {
        if (target->resjunk || target->resname == nullptr || (!unnamed && strcmp(target->resname, "?column?") == 0))
            continue;
        shown.add(reinterpret_cast<Node *>(target->expr), target->resname);
        foreach (element, IsA(target->expr, ArrayExpr) ? castNode(ArrayExpr, target->expr)->elements : NIL)
            if (char *name = name_of_element(target, foreach_current_index(element) + 1))
                shown.add(static_cast<Node *>(lfirst(element)), name);
    }
    return shown;
}

const char *ShownNames::name_of(Node *node) const {
    const int place = nodes.place_of(node);
    return place == 0 ? nullptr : static_cast<const char *>(list_nth(names, place - 1));
}

} // namespace dp::query
