// Reads `unit` of dp_protect() and dp_set_unit().
#include "border/listed.hpp"
#include "border/versions.hpp"
#include "catalog/relations.hpp"
#include "sql/domain_members.hpp"

using dp::catalog::Visit;

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

constexpr char names_remedy[] = "Names in a unit are read as in SQL: one with capitals or spaces needs double quotes, unit => "
                                "'\"Member No\"'.";

[[noreturn]] static void refuse_words(const char *text) {
    refuse_value(psprintf("unit \"%s\" is not understood", text),
                 psprintf("Write the column that holds the unit, unit => 'patient_id', or the way to it, unit => "
                          "'order_id -> orders (id)'. %s",
                          names_remedy));
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
    for (auto *name : border::each<char>(table == nullptr ? NIL : read_names(table, '.', text)))
        words.table = lappend(words.table, makeString(name));
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
        columns[i] = checked_column(relation, name, names_remedy);
        for (int j = 0; j < i; j++)
            if (columns[j] == columns[i])
                refuse_value(psprintf("column \"%s\" is twice in the unit", name), "Name it once.");
        catalog::check_unit_column(relation, columns[i]);
    }
    return columns;
}

static const char *column_list(Oid relation, int ncolumns, const AttrNumber *columns) {
    return border::listed(0, ncolumns,
                          [=](int i) { return quote_identifier(get_attname(relation, columns[i], false)); });
}

// ---- the table that they refer to ----------------------------------------------------------------------------------

namespace {
// Holds a table that the columns of a unit refer to, and its columns in their order.
struct Reference {
    Oid table;
    AttrNumber *key;
};
} // namespace

// $1: the table, $2: its columns, $3: the table that they refer to, or 0. Foreign keys on exactly these columns, or else the primary key
// of that table. A key to a partitioned table has one to each partition beside it.
static constexpr char references_sql[] = R"sql(
WITH key AS (
  SELECT k.confrelid AS oid, k.conname AS name,
    ARRAY(SELECT k.confkey[array_position(k.conkey, u.attnum)] FROM unnest($2) WITH ORDINALITY u (attnum, place) ORDER BY u.place) AS columns
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.confrelid
  WHERE k.conrelid = $1 AND k.contype = 'f' AND k.confrelid <> k.conrelid AND NOT c.relispartition
    AND cardinality(k.conkey) = cardinality($2) AND k.conkey @> $2 AND ($3 = 0 OR k.confrelid = $3))
SELECT k.oid, k.columns, k.name FROM key k
UNION ALL
SELECT i.indrelid, (i.indkey::int2[])[0:i.indnkeyatts - 1], NULL FROM pg_index i
WHERE i.indrelid = $3 AND i.indisprimary AND i.indisvalid AND i.indnkeyatts = cardinality($2) AND NOT EXISTS (SELECT FROM key)
ORDER BY 3)sql";

static List *references_of(Oid relation, int ncolumns, const AttrNumber *columns, Oid table) {
    Datum elements[catalog::max_unit_columns];
    for (int i = 0; i < ncolumns; i++)
        elements[i] = Int16GetDatum(columns[i]);
    ArrayType *array = construct_array(elements, ncolumns, INT2OID, sizeof(int16), true, TYPALIGN_SHORT);
    Visit visit = Visit::read();
    const uint64 n = run(visit, references_sql, relation, Typed{INT2ARRAYOID, PointerGetDatum(array)}, table);
    MemoryContextSwitchTo(visit.spi.caller);
    List *references = NIL;
    for (uint64 i = 0; i < n; i++) {
        bool isnull;
        auto *reference = static_cast<Reference *>(palloc(sizeof(Reference)));
        reference->table = catalog::value_at<Oid>(i, 1);
        reference->key =
            reinterpret_cast<AttrNumber *>(ARR_DATA_PTR(DatumGetArrayTypePCopy(border::Spi::value(i, 2, &isnull))));
        references = lappend(references, reference);
    }
    visit.leave();
    return references;
}

[[noreturn]] static void refuse_parent(Oid parent, Oid relation, const char *columns) {
    const char *name = qualified_name(parent);
    const char *or_else = psprintf("write unit => '%s -> %s' if the values of these columns are the units.", columns,
                                   qualified_name(relation));
    if (catalog::is_protected_table(parent))
        refuse_state(psprintf("%s, which (%s) refers to, is protected with a row as its unit", name, columns),
                     psprintf("Give it a unit first, dp_set_unit(%s, ...), or %s", quote_literal_cstr(name), or_else));
    refuse_state(psprintf("%s, which (%s) refers to, is not protected", name, columns),
                 psprintf("Protect it first, with a unit, or %s", or_else));
}

static void check_one_owner(Oid parent, Oid relation) {
    if (catalog::relation_owner(parent) == catalog::relation_owner(relation))
        return;
    refuse_right(psprintf("%s belongs to another role than %s", qualified_name(parent), qualified_name(relation)),
                 psprintf("ALTER TABLE %s OWNER TO %s;", qualified_name(relation),
                          quote_identifier(GetUserNameFromId(catalog::relation_owner(parent), false))),
                 "All tables with data of the same people have one owner.");
}

// Without a table: a foreign key says which. With one that has units it is a step, else a mistake unless it is said.
static Reference *guess_reference(Oid relation, const Unit &unit) {
    List *references = references_of(relation, unit.ncolumns, unit.columns, InvalidOid);
    Reference *found = nullptr;
    for (auto *reference : border::each<Reference>(references)) {
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

// Returns the columns of the table that was named: written, of the one foreign key to it, or its primary key.
static Reference *named_reference(Oid relation, Oid table, const List *key, const Unit &unit) {
    if (key != NIL) {
        if (list_length(key) != unit.ncolumns)
            refuse_value(psprintf("the unit has %d columns and refers to %d", unit.ncolumns, list_length(key)),
                         psprintf("Name as many columns of %s as of %s, in the same order.", qualified_name(table),
                                  qualified_name(relation)));
        auto *reference = static_cast<Reference *>(palloc(sizeof(Reference)));
        *reference = Reference{table, find_columns(table, key)};
        return reference;
    }
    List *references = references_of(relation, unit.ncolumns, unit.columns, table);
    if (list_length(references) != 1)
        refuse_state(psprintf("it is not clear which columns of %s the unit refers to", qualified_name(table)),
                     psprintf("Write them: '... -> %s (column, ...)'.", qualified_name(table)));
    return static_cast<Reference *>(linitial(references));
}

// ---- where it leads ------------------------------------------------------------------------------------------------

// Returns whether the reference is to the parent's own unit; puts the columns into the order that this has there.
static bool order_as_units(const UnitPath *parent, const Reference &reference, Unit *unit) {
    if (!parent->direct || parent->ncolumns != unit->ncolumns)
        return false;
    auto *columns = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * unit->ncolumns));
    for (int i = 0; i < unit->ncolumns; i++) {
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
    if (!unit.direct && length_of(parent) + 1 > catalog::max_unit_steps)
        refuse_size(psprintf("the way from %s to its unit has more than %d tables", qualified_name(relation),
                             catalog::max_unit_steps),
                    "Add a column that holds the unit, or refers to a nearer table.");
}

static void follow(Oid relation, const Reference &reference, Unit *unit) {
    LockRelationOid(reference.table, AccessShareLock);
    check_one_owner(reference.table, relation);
    UnitPath *parent = declared_unit(reference.table);
    if (parent == nullptr)
        refuse_parent(reference.table, relation, column_list(relation, unit->ncolumns, unit->columns));
    catalog::check_unit_path(parent);
    unit->parent_relation = reference.table;
    unit->parent = parent;
    const bool direct = unit->direct = order_as_units(parent, reference, unit);
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
    unit->relation = relation;
    unit->direct = true;
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
    else
        unit->types = types_of_columns(relation, unit->ncolumns, unit->columns);
    unit->keyed = unit->direct && catalog::covers_key(relation, unit->ncolumns, unit->columns);
    return unit;
}

// ---- as it is stored -----------------------------------------------------------------------------------------------

Datum unit_array(Oid relation, int ncolumns, const AttrNumber *columns) {
    Datum names[catalog::max_unit_columns];
    for (int i = 0; i < ncolumns; i++)
        names[i] = CStringGetTextDatum(get_attname(relation, columns[i], false));
    return PointerGetDatum(construct_array(names, ncolumns, TEXTOID, -1, false, TYPALIGN_INT));
}

Typed types_of_unit(const Unit *unit) {
    if (unit == nullptr)
        return {REGTYPEARRAYOID, Datum{0}};
    Datum types[catalog::max_unit_columns];
    for (int i = 0; i < unit->ncolumns; i++)
        types[i] = ObjectIdGetDatum(unit->types[i]);
    return {REGTYPEARRAYOID,
            PointerGetDatum(construct_array(types, unit->ncolumns, REGTYPEOID, sizeof(Oid), true, TYPALIGN_INT))};
}

Oid *types_of_columns(Oid relation, int ncolumns, const AttrNumber *columns) {
    auto *types = static_cast<Oid *>(palloc(sizeof(Oid) * ncolumns));
    for (int i = 0; i < ncolumns; i++)
        types[i] = get_atttype(relation, columns[i]);
    return types;
}

bool is_same_way(const Unit &a, const Unit &b) {
    const Size size = sizeof(AttrNumber) * a.ncolumns;
    return a.ncolumns == b.ncolumns && a.direct == b.direct && a.parent_relation == b.parent_relation &&
           memcmp(a.columns, b.columns, size) == 0 && (a.direct || memcmp(a.parent_key, b.parent_key, size) == 0);
}

bool is_same_domain(const Unit &a, const Unit &b) {
    return memcmp(&a.domain, &b.domain, sizeof a.domain) == 0;
}

const char *domain_of_parent(const Unit *unit) {
    return unit == nullptr || unit->parent == nullptr
               ? nullptr
               : DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&unit->parent->domain)));
}

// Returns whether a foreign key would be followed if the table itself were not named.
static bool refers(const UnitPath *path) {
    return references_of(path->relation, path->ncolumns, path->columns, InvalidOid) != NIL;
}

const char *unit_text(const UnitPath *path) {
    const char *names = border::listed_names(path->names, path->ncolumns);
    bool there = OidIsValid(path->parent_relation) && get_rel_name(path->parent_relation) != nullptr;
    const UnitPath *parent = !there                    ? nullptr
                             : path->parent != nullptr ? path->parent
                                                       : declared_unit(path->parent_relation);
    const char *const *key = !path->direct ? path->key_names : parent == nullptr ? nullptr : parent->names;
    if (parent != nullptr && key != nullptr)
        return psprintf("%s -> %s (%s)", names, qualified_name(path->parent_relation),
                        border::listed_names(key, path->ncolumns));
    if (!OidIsValid(path->parent_relation) && refers(path))
        return psprintf("%s -> %s", names, qualified_name(path->relation));
    return names;
}

} // namespace dp::sql
