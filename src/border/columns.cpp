#include "border/columns.hpp"

namespace dp::border {

static char *name_at(TupleDesc desc, int column) {
    return NameStr(TupleDescAttr(desc, column)->attname);
}

static bool is_other_name(TupleDesc desc, int column, const char *name) {
    for (int i = 0; i < desc->natts; i++)
        if (i != column && strcmp(name_at(desc, i), name) == 0)
            return true;
    return false;
}

// Cut off to leave room for the number, at the end of a character.
static char *numbered(const char *name, int number) {
    char *suffix = psprintf("_%d", number);
    int length = static_cast<int>(strlen(name)), room = NAMEDATALEN - 1 - static_cast<int>(strlen(suffix));
    return psprintf("%.*s%s", pg_mbcliplen(name, length, room), name, suffix);
}

// Returns the last column in front of this one that has its name; -1: none has.
static int last_namesake(TupleDesc before, int column) {
    int at = column - 1;
    while (at >= 0 && strcmp(name_at(before, at), name_at(before, column)) != 0)
        at--;
    return at;
}

void tell_columns_apart(TupleDesc desc) {
    TupleDesc before = CreateTupleDescCopy(desc); // with the names that they have by themselves
    int *numbers = static_cast<int *>(palloc(sizeof(int) * (desc->natts + 1)));
    for (int i = 0; i < desc->natts; i++) {
        int namesake = last_namesake(before, i);
        numbers[i] = namesake < 0 ? 1 : numbers[namesake] + 1;
        if (namesake < 0)
            continue;
        char *name = numbered(name_at(before, i), numbers[i]);
        while (is_other_name(before, i, name) || is_other_name(desc, i, name))
            name = numbered(name_at(before, i), ++numbers[i]);
        namestrcpy(&TupleDescAttr(desc, i)->attname, name);
    }
    FreeTupleDesc(before);
}

} // namespace dp::border
