// What `unit` of dp_protect() and dp_set_unit() says.
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "sql/arguments.hpp"
#include "sql/domain.hpp"
#include "sql/setter.hpp"

namespace dp::sql {

using catalog::qualified_name;
using catalog::UnitPath;

// ---- its form ------------------------------------------------------------------------------------------------------

namespace {
// Holds unit := column {, column} [ '->' table [ '(' column {, column} ')' ] ]
struct Words {
    List *columns; // char *
    List *table;   // String *, its parts; NIL: none
    List *key;     // char *; NIL: none
};
} // namespace

[[noreturn]] static void refuse_words(const char *text) {
    refuse_value(psprintf("unit \"%s\" is not understood", text),
                 "Write the column that holds the unit, unit => 'patient_id', or the way to it, unit => "
                 "'order_id -> orders (id)'.");
}

// Ends the text at a symbol outside quoted names. Returns what is behind it; null where it is not there.
static char *cut_at(char *text, const char *symbol) {
    bool quoted = false;
    for (; *text != '\0'; text++) {
        quoted ^= *text == '"';
        if (quoted || strncmp(text, symbol, strlen(symbol)) != 0)
            continue;
        *text = '\0';
        return text + strlen(symbol);
    }
    return nullptr;
}

// Reads names as SQL does: folded unless they are in double quotes.
static List *read_names(char *list, char separator, const char *text) {
    List *names = NIL;
    if (!SplitIdentifierString(list, separator, &names) || names == NIL)
        refuse_words(text);
    return names;
}

static Words read_words(const char *text) {
    char *columns = pstrdup(text), *table = cut_at(columns, "->");
    char *key = table == nullptr ? nullptr : cut_at(table, "("), *rest = key == nullptr ? nullptr : cut_at(key, ")");
    if (key != nullptr && (rest == nullptr || rest[strspn(rest, " \t\n\r\f")] != '\0'))
        refuse_words(text);
    Words words = {read_names(columns, ',', text), NIL, key == nullptr ? NIL : read_names(key, ',', text)};
    ListCell *cell;
    foreach (cell, table == nullptr ? NIL : read_names(table, '.', text))
        words.table = lappend(words.table, makeString(static_cast<char *>(lfirst(cell))));
    return words;
}

// ---- columns -------------------------------------------------------------------------------------------------------

static AttrNumber *find_columns(Oid relation, const List *names) {
    if (list_length(names) > catalog::max_unit_columns)
        refuse_form(psprintf("a unit has at most %d columns", catalog::max_unit_columns),
                    "Add a generated column that stands for several.");
    auto *columns = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * list_length(names)));
    for (int i = 0; i < list_length(names); i++) {
        auto *name = static_cast<const char *>(list_nth(names, i));
        columns[i] = get_attnum(relation, name);
        if (columns[i] <= 0)
            refuse_as(ERRCODE_UNDEFINED_COLUMN,
                      psprintf("column \"%s\" of %s does not exist", name, qualified_name(relation)), nullptr, nullptr);
        for (int j = 0; j < i; j++)
            if (columns[j] == columns[i])
                refuse_value(psprintf("column \"%s\" is twice in the unit", name), "Name it once.");
        catalog::check_unit_column(relation, columns[i]);
    }
    return columns;
}

static const char *list_of_names(const char *const *names, int n) {
    StringInfoData list;
    initStringInfo(&list);
    for (int i = 0; i < n; i++)
        appendStringInfo(&list, "%s%s", i == 0 ? "" : ", ", quote_identifier(names[i]));
    return list.data;
}

static const char *column_list(Oid relation, int ncolumns, const AttrNumber *columns) {
    const char *names[catalog::max_unit_columns];
    for (int i = 0; i < ncolumns; i++)
        names[i] = get_attname(relation, columns[i], false);
    return list_of_names(names, ncolumns);
}

// ---- the table that they refer to ----------------------------------------------------------------------------------

namespace {
// Holds a foreign key on exactly the columns of a unit, in their order.
struct Reference {
    Oid table;
    AttrNumber *key;
};
} // namespace

static Reference *new_reference(Oid table, int ncolumns) {
    auto *reference = static_cast<Reference *>(palloc(sizeof(Reference)));
    *reference = Reference{table, static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * ncolumns))};
    return reference;
}

// Returns each of `values` that stands where `from` has one of `wanted`, in their order; null where one is not there.
static AttrNumber *reordered(int n, const AttrNumber *wanted, const AttrNumber *from, const AttrNumber *values) {
    auto *found = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * n));
    for (int i = 0; i < n; i++) {
        int j = 0;
        while (j < n && from[j] != wanted[i])
            j++;
        if (j == n)
            return nullptr;
        found[i] = values[j];
    }
    return found;
}

// Null unless it is on exactly these columns.
static Reference *reference_of(const ForeignKeyCacheInfo *info, const Unit &unit) {
    if (info->nkeys != unit.ncolumns || info->confrelid == info->conrelid)
        return nullptr;
    Reference *reference = new_reference(info->confrelid, unit.ncolumns);
    reference->key = reordered(unit.ncolumns, unit.columns, info->conkey, info->confkey);
    return reference->key == nullptr ? nullptr : reference;
}

static bool is_partition(Oid relation) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    bool partition = HeapTupleIsValid(tuple) && ((Form_pg_class)GETSTRUCT(tuple))->relispartition;
    if (HeapTupleIsValid(tuple))
        ReleaseSysCache(tuple);
    return partition;
}

// Those of a partitioned table have one for each partition that they refer to as well: only the first is one.
static List *references_of(Oid relation, const Unit &unit) {
    List *references = NIL;
    Relation table = table_open(relation, AccessShareLock);
    ListCell *cell;
    foreach (cell, RelationGetFKeyList(table)) {
        Reference *reference = reference_of(lfirst_node(ForeignKeyCacheInfo, cell), unit);
        if (reference != nullptr && !is_partition(reference->table))
            references = lappend(references, reference);
    }
    table_close(table, NoLock);
    return references;
}

[[noreturn]] static void refuse_parent(Oid parent, Oid relation, const char *columns) {
    const char *name = qualified_name(parent);
    const char *or_else = psprintf("write unit => '%s -> %s' if the values of these columns are the units.", columns,
                                   qualified_name(relation));
    if (catalog::is_protected_table(parent))
        refuse_state(psprintf("%s, which (%s) refers to, is protected with a row as its unit", name, columns),
                     psprintf("Give it a unit first, dp_set_unit('%s', ...), or %s", name, or_else));
    refuse_state(psprintf("%s, which (%s) refers to, is not protected", name, columns),
                 psprintf("Protect it first, with a unit, or %s", or_else));
}

static void check_one_owner(Oid parent, Oid relation) {
    if (catalog::relation_owner(parent) == catalog::relation_owner(relation))
        return;
    refuse_as(ERRCODE_INSUFFICIENT_PRIVILEGE,
              psprintf("%s belongs to another role than %s", qualified_name(parent), qualified_name(relation)),
              "All tables with data of the same people have one owner.",
              psprintf("ALTER TABLE %s OWNER TO %s;", qualified_name(relation),
                       quote_identifier(GetUserNameFromId(catalog::relation_owner(parent), false))));
}

// Without a table: a foreign key says which. With one that has units it is a step, else a mistake unless it is said.
static Reference *guess_reference(Oid relation, const Unit &unit) {
    List *references = references_of(relation, unit);
    Reference *found = nullptr;
    ListCell *cell;
    foreach (cell, references) {
        auto *reference = static_cast<Reference *>(lfirst(cell));
        if (declared_unit(reference->table) == nullptr)
            continue;
        if (found != nullptr)
            refuse_state(psprintf("(%s) of %s refers to several protected tables, %s and %s",
                                  column_list(relation, unit.ncolumns, unit.columns), qualified_name(relation),
                                  qualified_name(found->table), qualified_name(reference->table)),
                         psprintf("Say which: unit => '%s -> %s'.", column_list(relation, unit.ncolumns, unit.columns),
                                  qualified_name(found->table)));
        found = reference;
    }
    if (found == nullptr && references != NIL)
        refuse_parent(static_cast<Reference *>(linitial(references))->table, relation,
                      column_list(relation, unit.ncolumns, unit.columns));
    return found;
}

static Reference *primary_key_of(Oid table, int ncolumns) {
    Relation relation = table_open(table, AccessShareLock);
    Oid index = border::primary_key_index(relation);
    Reference *reference = nullptr;
    if (OidIsValid(index)) {
        Relation key = index_open(index, AccessShareLock);
        if (key->rd_index->indnkeyatts == ncolumns) {
            reference = new_reference(table, ncolumns);
            for (int i = 0; i < ncolumns; i++)
                reference->key[i] = key->rd_index->indkey.values[i];
        }
        index_close(key, NoLock);
    }
    table_close(relation, NoLock);
    return reference;
}

// The columns of the table that was named: written, of the one foreign key to it, or its primary key.
static Reference *named_reference(Oid relation, Oid table, const List *key, const Unit &unit) {
    Reference *reference = new_reference(table, unit.ncolumns);
    if (key != NIL) {
        if (list_length(key) != unit.ncolumns)
            refuse_value(psprintf("the unit has %d columns and refers to %d", unit.ncolumns, list_length(key)),
                         psprintf("Name as many columns of %s as of %s, in the same order.", qualified_name(table),
                                  qualified_name(relation)));
        reference->key = find_columns(table, key);
        return reference;
    }
    Reference *found = nullptr;
    int n = 0;
    ListCell *cell;
    foreach (cell, references_of(relation, unit))
        if (static_cast<Reference *>(lfirst(cell))->table == table) {
            found = static_cast<Reference *>(lfirst(cell));
            n++;
        }
    if (n == 0)
        found = primary_key_of(table, unit.ncolumns);
    if (found == nullptr || n > 1)
        refuse_state(psprintf("it is not clear which columns of %s the unit refers to", qualified_name(table)),
                     psprintf("Write them: '... -> %s (column, ...)'.", qualified_name(table)));
    return found;
}

// ---- where it leads ------------------------------------------------------------------------------------------------

// Whether the reference is to the parent's own unit; puts the columns into the order that this has there.
static bool order_as_units(const UnitPath *parent, const Reference &reference, Unit *unit) {
    if (!parent->direct || parent->ncolumns != unit->ncolumns)
        return false;
    AttrNumber *columns = reordered(unit->ncolumns, parent->columns, reference.key, unit->columns);
    if (columns == nullptr)
        return false;
    unit->columns = columns;
    return true;
}

static void check_same_type(Oid relation, AttrNumber column, const char *what, Oid type) {
    if (get_atttype(relation, column) != type)
        refuse_state(psprintf("column \"%s\" of %s is of type %s, and %s of type %s",
                              get_attname(relation, column, false), qualified_name(relation),
                              format_type_be(get_atttype(relation, column)), what, format_type_be(type)),
                     psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s;", qualified_name(relation),
                              quote_identifier(get_attname(relation, column, false)), format_type_be(type)));
}

static int length_of(const UnitPath *path) {
    int steps = 1;
    for (; !path->direct && path->parent != nullptr; path = path->parent)
        steps++;
    return steps;
}

static bool leads_to(const UnitPath *path, Oid relation) {
    for (; path != nullptr; path = path->parent)
        if (path->relation == relation)
            return true;
    return false;
}

static void check_way(Oid relation, const UnitPath *parent, const Unit &unit) {
    if (leads_to(parent, relation))
        refuse_state(psprintf("the way from %s to its unit comes back to it", qualified_name(relation)),
                     "Choose a table that does not refer to it.");
    if (unit.parent_key != nullptr && length_of(parent) + 1 > catalog::max_unit_steps)
        refuse_as(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                  psprintf("the way from %s to its unit has more than %d tables", qualified_name(relation),
                           catalog::max_unit_steps),
                  nullptr, "Add a column that holds the unit, or refers to a nearer table.");
}

static void follow(Oid relation, const Reference &reference, Unit *unit) {
    LockRelationOid(reference.table, AccessShareLock);
    check_one_owner(reference.table, relation);
    UnitPath *parent = declared_unit(reference.table);
    if (parent == nullptr)
        refuse_parent(reference.table, relation, column_list(relation, unit->ncolumns, unit->columns));
    catalog::check_unit_path(parent);
    unit->parent = reference.table;
    unit->domain = DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&parent->domain)));
    bool direct = order_as_units(parent, reference, unit);
    if (!direct)
        unit->parent_key = reference.key;
    check_way(relation, parent, *unit);
    for (int i = 0; i < unit->ncolumns; i++)
        check_same_type(relation, unit->columns[i],
                        direct ? psprintf("the unit of %s", qualified_name(reference.table))
                               : psprintf("column \"%s\" of %s", get_attname(reference.table, reference.key[i], false),
                                          qualified_name(reference.table)),
                        direct ? parent->types[i] : get_atttype(reference.table, reference.key[i]));
    if (!direct && !catalog::covers_key(reference.table, unit->ncolumns, reference.key)) {
        const char *key = column_list(reference.table, unit->ncolumns, reference.key);
        refuse_state(
            psprintf("(%s) is no key of %s: a row could belong to several units", key, qualified_name(reference.table)),
            psprintf("CREATE UNIQUE INDEX ON %s (%s); or refer to the columns of its unit.",
                     qualified_name(reference.table), key));
    }
}

Unit *resolve_unit(Oid relation, const char *text) {
    Words words = read_words(text);
    auto *unit = static_cast<Unit *>(palloc0(sizeof(Unit)));
    unit->columns = find_columns(relation, words.columns);
    unit->ncolumns = list_length(words.columns);
    Reference *reference;
    if (words.table == NIL)
        reference = guess_reference(relation, *unit);
    else {
        Oid table = RangeVarGetRelid(makeRangeVarFromNameList(words.table), AccessShareLock, false);
        reference = table == relation ? nullptr : named_reference(relation, table, words.key, *unit);
        if (table == relation && words.key != NIL)
            refuse_value("a table whose columns are the units refers to no other columns of itself",
                         psprintf("Write unit => '%s -> %s'.", column_list(relation, unit->ncolumns, unit->columns),
                                  qualified_name(relation)));
    }
    if (reference != nullptr)
        follow(relation, *reference, unit);
    else {
        unit->types = static_cast<Oid *>(palloc(sizeof(Oid) * unit->ncolumns));
        for (int i = 0; i < unit->ncolumns; i++)
            unit->types[i] = get_atttype(relation, unit->columns[i]);
    }
    unit->keyed = unit->parent_key == nullptr && catalog::covers_key(relation, unit->ncolumns, unit->columns);
    return unit;
}

// ---- as it is stored -----------------------------------------------------------------------------------------------

Datum unit_array(Oid relation, int ncolumns, const AttrNumber *columns) {
    Datum names[catalog::max_unit_columns];
    for (int i = 0; i < ncolumns; i++)
        names[i] = CStringGetTextDatum(get_attname(relation, columns[i], false));
    return PointerGetDatum(construct_array(names, ncolumns, TEXTOID, -1, false, TYPALIGN_INT));
}

Parameter types_of_unit(const Unit *unit) {
    if (unit == nullptr)
        return {REGTYPEARRAYOID, Datum{0}, true};
    Datum types[catalog::max_unit_columns];
    for (int i = 0; i < unit->ncolumns; i++)
        types[i] = ObjectIdGetDatum(unit->types[i]);
    return {REGTYPEARRAYOID,
            PointerGetDatum(construct_array(types, unit->ncolumns, REGTYPEOID, sizeof(Oid), true, TYPALIGN_INT))};
}

bool is_declared_unit(const UnitPath *path, const Unit &unit) {
    if (path == nullptr || path->ncolumns != unit.ncolumns || path->direct != (unit.parent_key == nullptr) ||
        path->parent_relation != unit.parent)
        return false;
    for (int i = 0; i < unit.ncolumns; i++)
        if (path->columns[i] != unit.columns[i] || (!path->direct && path->parent_key[i] != unit.parent_key[i]))
            return false;
    return true;
}

// Whether a foreign key would be followed if the table itself were not named.
static bool refers(const UnitPath *path) {
    Unit unit = {};
    unit.ncolumns = path->ncolumns;
    unit.columns = path->columns;
    return references_of(path->relation, unit) != NIL;
}

const char *unit_text(const UnitPath *path) {
    const char *names = list_of_names(path->names, path->ncolumns);
    bool there = OidIsValid(path->parent_relation) && get_rel_name(path->parent_relation) != nullptr;
    const UnitPath *parent = !there                    ? nullptr
                             : path->parent != nullptr ? path->parent
                                                       : declared_unit(path->parent_relation);
    const char *const *key = !path->direct ? path->key_names : parent == nullptr ? nullptr : parent->names;
    if (parent != nullptr && key != nullptr)
        return psprintf("%s -> %s (%s)", names, qualified_name(path->parent_relation),
                        list_of_names(key, path->ncolumns));
    if (!OidIsValid(path->parent_relation) && refers(path))
        return psprintf("%s -> %s", names, qualified_name(path->relation));
    return names;
}

} // namespace dp::sql
