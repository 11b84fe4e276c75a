// What `unit` of dp_protect() and dp_set_unit() says.
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "sql/arguments.hpp"
#include "sql/domain.hpp"

extern "C" {
#include <parser/scansup.h>
}

namespace dp::sql {

using catalog::qualified_name;
using catalog::UnitPath;

// ---- its form ------------------------------------------------------------------------------------------------------

namespace {

// unit := column {, column} [ '->' table [ '(' column {, column} ')' ] ]
struct Words {
    List *columns; // char *
    List *table;   // String *, its parts; NIL: none
    List *key;     // char *; NIL: none
};

struct Reader {
    const char *text;
    const char *next;
};

} // namespace

[[noreturn]] static void refuse_form(const Reader &reader) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unit \"%s\" is not understood", reader.text),
                    errhint("Write the column that holds the unit, unit => 'patient_id', or the way to it, unit => "
                            "'order_id -> orders (id)'.")));
    pg_unreachable();
}

static void skip_blanks(Reader *reader) {
    while (*reader->next != '\0' && strchr(" \t\n\r\f", *reader->next) != nullptr)
        reader->next++;
}

static bool takes(Reader *reader, const char *symbol) {
    skip_blanks(reader);
    if (strncmp(reader->next, symbol, strlen(symbol)) != 0)
        return false;
    reader->next += strlen(symbol);
    return true;
}

// As SQL reads it: folded unless it is in double quotes.
static char *read_name(Reader *reader) {
    skip_blanks(reader);
    StringInfoData name;
    initStringInfo(&name);
    if (*reader->next == '"') {
        for (reader->next++; *reader->next != '"' || reader->next[1] == '"'; reader->next++) {
            if (*reader->next == '\0')
                refuse_form(*reader);
            if (*reader->next == '"')
                reader->next++;
            appendStringInfoChar(&name, *reader->next);
        }
        reader->next++;
        if (name.len == 0)
            refuse_form(*reader);
        truncate_identifier(name.data, name.len, false);
        return name.data;
    }
    const char *begin = reader->next;
    auto is_part = [](unsigned char c, bool first) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80 ||
               (!first && ((c >= '0' && c <= '9') || c == '$'));
    };
    while (is_part(static_cast<unsigned char>(*reader->next), reader->next == begin))
        reader->next++;
    if (reader->next == begin)
        refuse_form(*reader);
    return downcase_truncate_identifier(begin, static_cast<int>(reader->next - begin), false);
}

static List *read_names(Reader *reader) {
    List *names = NIL;
    do
        names = lappend(names, read_name(reader));
    while (takes(reader, ","));
    return names;
}

static Words read_words(const char *text) {
    Reader reader = {text, text};
    Words words = {};
    words.columns = read_names(&reader);
    if (takes(&reader, "->")) {
        do
            words.table = lappend(words.table, makeString(read_name(&reader)));
        while (takes(&reader, "."));
        if (takes(&reader, "(")) {
            words.key = read_names(&reader);
            if (!takes(&reader, ")"))
                refuse_form(reader);
        }
    }
    skip_blanks(&reader);
    if (*reader.next != '\0')
        refuse_form(reader);
    return words;
}

// ---- columns -------------------------------------------------------------------------------------------------------

static AttrNumber *find_columns(Oid relation, const List *names) {
    if (list_length(names) > catalog::max_unit_columns)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("a unit has at most %d columns", catalog::max_unit_columns),
                        errhint("Add a generated column that stands for several.")));
    auto *columns = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * list_length(names)));
    for (int i = 0; i < list_length(names); i++) {
        auto *name = static_cast<const char *>(list_nth(names, i));
        columns[i] = get_attnum(relation, name);
        if (columns[i] <= 0)
            ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                            errmsg("column \"%s\" of %s does not exist", name, qualified_name(relation))));
        for (int j = 0; j < i; j++)
            if (columns[j] == columns[i])
                ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                                errmsg("column \"%s\" is twice in the unit", name), errhint("Name it once.")));
        catalog::check_unit_column(relation, columns[i]);
    }
    return columns;
}

static const char *column_list(Oid relation, int ncolumns, const AttrNumber *columns) {
    StringInfoData list;
    initStringInfo(&list);
    for (int i = 0; i < ncolumns; i++)
        appendStringInfo(&list, "%s%s", i == 0 ? "" : ", ", quote_identifier(get_attname(relation, columns[i], false)));
    return list.data;
}

// ---- the table that they refer to ----------------------------------------------------------------------------------

namespace {
// A foreign key on exactly the columns of a unit, in their order.
struct Reference {
    Oid table;
    AttrNumber *key;
};
} // namespace

// Null unless it is on exactly these columns.
static Reference *reference_of(const ForeignKeyCacheInfo *info, const Unit &unit) {
    if (info->nkeys != unit.ncolumns || info->confrelid == info->conrelid)
        return nullptr;
    auto *reference = static_cast<Reference *>(palloc(sizeof(Reference)));
    reference->table = info->confrelid;
    reference->key = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * unit.ncolumns));
    for (int i = 0; i < unit.ncolumns; i++) {
        int j = 0;
        while (j < info->nkeys && info->conkey[j] != unit.columns[i])
            j++;
        if (j == info->nkeys)
            return nullptr;
        reference->key[i] = info->confkey[j];
    }
    return reference;
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

UnitPath *declared_unit(Oid relation) {
    catalog::Reading reading = catalog::Reading::open();
    StringInfoData versions;
    initStringInfo(&versions);
    UnitPath *path = catalog::read_unit_path(reading, relation, &versions);
    reading.close();
    return path;
}

static void refuse_parent(Oid parent, Oid relation, const char *columns) {
    const char *name = qualified_name(parent);
    bool is_protected = catalog::is_protected_table(parent);
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             is_protected ? errmsg("%s, which (%s) refers to, is protected with a row as its unit", name, columns)
                          : errmsg("%s, which (%s) refers to, is not protected", name, columns),
             is_protected
                 ? errhint("Give it a unit first, dp_set_unit('%s', ...), or write unit => '%s -> %s' if the values of "
                           "these columns are the units.",
                           name, columns, qualified_name(relation))
                 : errhint("Protect it first, with a unit, or write unit => '%s -> %s' if the values of these columns "
                           "are the units.",
                           columns, qualified_name(relation))));
}

static void check_one_owner(Oid parent, Oid relation) {
    if (catalog::relation_owner(parent) == catalog::relation_owner(relation))
        return;
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("%s belongs to another role than %s", qualified_name(parent), qualified_name(relation)),
                    errdetail("All tables with data of the same people have one owner."),
                    errhint("ALTER TABLE %s OWNER TO %s;", qualified_name(relation),
                            quote_identifier(GetUserNameFromId(catalog::relation_owner(parent), false)))));
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
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("(%s) of %s refers to several protected tables, %s and %s",
                                   column_list(relation, unit.ncolumns, unit.columns), qualified_name(relation),
                                   qualified_name(found->table), qualified_name(reference->table)),
                            errhint("Say which: unit => '%s -> %s'.",
                                    column_list(relation, unit.ncolumns, unit.columns), qualified_name(found->table))));
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
            reference = static_cast<Reference *>(palloc(sizeof(Reference)));
            reference->table = table;
            reference->key = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * ncolumns));
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
    auto *reference = static_cast<Reference *>(palloc0(sizeof(Reference)));
    reference->table = table;
    if (key != NIL) {
        if (list_length(key) != unit.ncolumns)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("the unit has %d columns and refers to %d", unit.ncolumns, list_length(key)),
                            errhint("Name as many columns of %s as of %s, in the same order.", qualified_name(table),
                                    qualified_name(relation))));
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
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("it is not clear which columns of %s the unit refers to", qualified_name(table)),
                        errhint("Write them: '... -> %s (column, ...)'.", qualified_name(table))));
    return found;
}

// ---- where it leads ------------------------------------------------------------------------------------------------

// Whether the reference is to the parent's own unit; puts the columns into the order that this has there.
static bool order_as_units(const UnitPath *parent, const Reference &reference, Unit *unit) {
    if (!parent->direct || parent->ncolumns != unit->ncolumns)
        return false;
    auto *columns = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * unit->ncolumns));
    for (int i = 0; i < parent->ncolumns; i++) {
        int j = 0;
        while (j < unit->ncolumns && reference.key[j] != parent->columns[i])
            j++;
        if (j == unit->ncolumns)
            return false;
        columns[i] = unit->columns[j];
    }
    unit->columns = columns;
    return true;
}

static void check_same_type(Oid relation, AttrNumber column, const char *what, Oid type) {
    if (get_atttype(relation, column) != type)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("column \"%s\" of %s is of type %s, and %s of type %s",
                               get_attname(relation, column, false), qualified_name(relation),
                               format_type_be(get_atttype(relation, column)), what, format_type_be(type)),
                        errhint("ALTER TABLE %s ALTER COLUMN %s TYPE %s;", qualified_name(relation),
                                quote_identifier(get_attname(relation, column, false)), format_type_be(type))));
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
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the way from %s to its unit comes back to it", qualified_name(relation)),
                        errhint("Choose a table that does not refer to it.")));
    if (unit.parent_key != nullptr && length_of(parent) + 1 > catalog::max_unit_steps)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the way from %s to its unit has more than %d tables", qualified_name(relation),
                               catalog::max_unit_steps),
                        errhint("Add a column that holds the unit, or refers to a nearer table.")));
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
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("(%s) is no key of %s: a row could belong to several units", key,
                               qualified_name(reference.table)),
                        errhint("CREATE UNIQUE INDEX ON %s (%s); or refer to the columns of its unit.",
                                qualified_name(reference.table), key)));
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
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("a table whose columns are the units refers to no other columns of itself"),
                            errhint("Write unit => '%s -> %s'.", column_list(relation, unit->ncolumns, unit->columns),
                                    qualified_name(relation))));
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

void check_unmoved(Oid relation, const char *text, const Unit *unit) {
    if (unit == nullptr || !OidIsValid(unit->parent))
        return;
    const Unit *now = resolve_unit(relation, text);
    bool same = now->parent == unit->parent && strcmp(now->domain, unit->domain) == 0 &&
                (now->parent_key == nullptr) == (unit->parent_key == nullptr);
    for (int i = 0; same && i < unit->ncolumns; i++)
        same = now->columns[i] == unit->columns[i];
    if (!same)
        ereport(ERROR,
                (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                 errmsg("%s is being changed by another call", qualified_name(unit->parent)), errhint("Try again.")));
}

// ---- limits --------------------------------------------------------------------------------------------------------

static int limit_argument(FunctionCallInfo fcinfo, int argument, const char *name) {
    if (PG_ARGISNULL(argument))
        return 0;
    int limit = PG_GETARG_INT32(argument);
    if (limit < 1 || limit > catalog::max_declared_rows)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("%s is %d, and must be from 1 to %d", name, limit, catalog::max_declared_rows),
                        errhint("Choose what most people do not exceed, without looking at the rows.")));
    return limit;
}

Limits limit_arguments(FunctionCallInfo fcinfo, int first) {
    Limits limits;
    limits.max_rows = limit_argument(fcinfo, first, "max_rows");
    limits.max_groups = limit_argument(fcinfo, first + 1, "max_groups");
    limits.max_rows_per_group = limit_argument(fcinfo, first + 2, "max_rows_per_group");
    return limits;
}

void check_limits(Oid relation, const Unit *unit, const Limits &limits) {
    if (unit == nullptr) {
        if (limits.max_rows > 0 || limits.max_groups > 0 || limits.max_rows_per_group > 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("max_rows, max_groups and max_rows_per_group go with a unit, and a row of %s is one",
                                   qualified_name(relation)),
                            errhint("Pass unit => 'column' as well.")));
        return;
    }
    if (!unit->keyed && limits.max_rows == 0)
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("max_rows must not be null: no key of %s says that a unit has one row",
                               qualified_name(relation)),
                        errhint("Pass how many rows of one unit shall count, max_rows => 20, chosen without looking at "
                                "the rows.")));
    if (limits.max_groups > Max(limits.max_rows, 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("max_groups is %d, above max_rows, %d", limits.max_groups, Max(limits.max_rows, 1)),
                        errhint("A unit is in no more groups than it has rows.")));
    if (limits.max_rows_per_group > Max(limits.max_rows, 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("max_rows_per_group is %d, above max_rows, %d", limits.max_rows_per_group,
                               Max(limits.max_rows, 1)),
                        errhint("A unit has no more rows in a group than in all.")));
    if (!unit->keyed)
        catalog::check_whole(relation, find_all_inheritors(relation, AccessShareLock, nullptr));
}

// ---- as it is stored -----------------------------------------------------------------------------------------------

Datum unit_array(Oid relation, int ncolumns, const AttrNumber *columns) {
    Datum names[catalog::max_unit_columns];
    for (int i = 0; i < ncolumns; i++)
        names[i] = CStringGetTextDatum(get_attname(relation, columns[i], false));
    return PointerGetDatum(construct_array(names, ncolumns, TEXTOID, -1, false, TYPALIGN_INT));
}

Datum type_array(const Unit &unit) {
    Datum types[catalog::max_unit_columns];
    for (int i = 0; i < unit.ncolumns; i++)
        types[i] = ObjectIdGetDatum(unit.types[i]);
    return PointerGetDatum(construct_array(types, unit.ncolumns, REGTYPEOID, sizeof(Oid), true, TYPALIGN_INT));
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

static void append_names(StringInfo text, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        appendStringInfo(text, "%s%s", i == 0 ? "" : ", ", quote_identifier(names[i]));
}

// Whether a foreign key would be followed if the table itself were not named.
static bool refers(const UnitPath *path) {
    Unit unit = {};
    unit.ncolumns = path->ncolumns;
    unit.columns = path->columns;
    return references_of(path->relation, unit) != NIL;
}

const char *unit_text(const UnitPath *path) {
    StringInfoData text;
    initStringInfo(&text);
    append_names(&text, path->names, path->ncolumns);
    bool there = OidIsValid(path->parent_relation) && get_rel_name(path->parent_relation) != nullptr;
    const UnitPath *parent = !there                    ? nullptr
                             : path->parent != nullptr ? path->parent
                                                       : declared_unit(path->parent_relation);
    const char *const *key = !path->direct ? path->key_names : parent == nullptr ? nullptr : parent->names;
    if (parent != nullptr && key != nullptr) {
        appendStringInfo(&text, " -> %s (", qualified_name(path->parent_relation));
        append_names(&text, key, path->ncolumns);
        appendStringInfoChar(&text, ')');
    } else if (!OidIsValid(path->parent_relation) && refers(path))
        appendStringInfo(&text, " -> %s", qualified_name(path->relation));
    return text.data;
}

} // namespace dp::sql
