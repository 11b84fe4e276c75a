#include "release/identity.hpp"

#include "border/scope.hpp"
#include "border/walk.hpp"
#include "rows/measures.hpp"
#include "rows/unit_checks.hpp"
#include "rows/groups.hpp"
#include "rows/plan_of.hpp"
#include "rows/question_plan.hpp"
#include "rows/quantiles.hpp"

namespace dp::release {

void add_piece(StringInfo text, const char *name, const char *piece) {
    appendStringInfo(text, "%s %d:%s\n", name, piece == nullptr ? -1 : static_cast<int>(strlen(piece)),
                     piece == nullptr ? "" : piece);
}

void add_number(StringInfo text, const char *name, int64 number) {
    add_piece(text, name, psprintf(INT64_FORMAT, number));
}

// A label that is another value now is another question, in a condition as well as in a key that was stored.
static void add_labels(StringInfo text, Oid type) {
    add_piece(text, "labels of", format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY));
    const rows::KeyDomain domain = rows::type_domain(type, InvalidOid, false);
    add_piece(text, "labels",
              OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(rows::canonical_groups(domain, type))));
}

// Adds the type to the list if its values are labels, or arrays of them.
static void note_enum(List **enums, Oid type) {
    const Oid element = get_base_element_type(type), base = getBaseType(OidIsValid(element) ? element : type);
    if (type_is_enum(base))
        *enums = list_append_unique_oid(*enums, base);
}

static bool note_constants(Node *node, void *enums) {
    if (node == nullptr)
        return false;
    if (IsA(node, Const))
        note_enum(static_cast<List **>(enums), castNode(Const, node)->consttype);
    return border::walk_expression(node, note_constants, enums);
}

static const char *type_text(Oid type, int32 typmod, Oid collation) {
    return psprintf("%s %s",
                    format_type_extended(type, typmod, FORMAT_TYPE_FORCE_QUALIFY | FORMAT_TYPE_TYPEMOD_GIVEN),
                    OidIsValid(collation) ? generate_collation_name(collation) : "");
}

// A column under its name that is another one now, or of another type, is another question.
static void add_columns_of(StringInfo text, Node *expressions, const rows::Source &source, List **enums) {
    Bitmapset *columns = nullptr;
    pull_varattnos(expressions, source.source->varno, &columns);
    for (int member = -1; (member = bms_next_member(columns, member)) >= 0;) {
        AttrNumber attno = static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber);
        Oid type, collation;
        int32 typmod;
        get_atttypetypmodcoll(source.relation, attno, &type, &typmod, &collation);
        add_piece(text, get_attname(source.relation, attno, false),
                  psprintf("%d %s", attno, type_text(type, typmod, collation)));
        note_enum(enums, type);
    }
}

static void add_sources(StringInfo text, const rows::Question *question) {
    Node *expressions = rows::expressions_of(question);
    List *enums = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const rows::Source &source = question->sources[i];
        if (source.people != nullptr) {
            add_sources(text, source.people);
            add_number(text, "rows of a unit", source.people->per_unit->max_rows);
            continue;
        }
        const bool is_private = source.settings != nullptr;
        if (source.source->rows != nullptr) // they are in the plan
            continue;
        add_piece(text, "table", catalog::qualified_name(source.relation));
        add_piece(text, "filter", is_private ? source.settings->filter : nullptr);
        add_piece(text, "unit",
                  is_private && source.settings->unit != nullptr ? rows::unit_text(source.settings->unit) : nullptr);
        add_columns_of(text, expressions, source, &enums);
    }
    (void)note_constants(expressions, &enums);
    ListCell *cell;
    foreach (cell, enums)
        add_labels(text, lfirst_oid(cell));
}

static void add_groups(StringInfo text, const rows::Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const query::Key &key = question->leaf->keys[i];
        add_piece(text, "type", type_text(key.type, key.typmod, key.collation));
        if (question->thresholded)
            continue;
        ArrayType *groups = rows::canonical_groups(question->domains[i], key.type);
        add_piece(text, "groups", OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(groups)));
    }
    for (int i = 0; question->tupled && i < question->ngroups; i++) // the rest follows from conditions
        add_number(text, "place", rows::place_of_group(question, i));
}

static void add_units(StringInfo text, const rows::Question *question) {
    const rows::Units *units = question->units;
    if (units == nullptr)
        return;
    add_piece(text, "unit", rows::unit_text(units->path));
    add_number(text, "clipped", units->clipped ? 1 : 0);
    add_number(text, "one group", units->one_group ? 1 : 0);
    add_number(text, "max_rows", units->max_rows);
    add_number(text, "max_groups", units->max_groups);
    add_number(text, "max_rows_per_group", rows::is_spread(question) ? question->rows_per_group : 0);
}

static void add_bounds(StringInfo text, const privacy::Bounds *bounds) {
    add_piece(text, "lower", bounds == nullptr ? nullptr : bounds->lower.c_str());
    add_piece(text, "upper", bounds == nullptr ? nullptr : bounds->upper.c_str());
    add_number(text, "exponent", bounds == nullptr ? 0 : bounds->exponent);
}

// Adds what follows for a measure from declarations.
static void add_measure(StringInfo text, const rows::Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    add_bounds(text, question->bounds[j]);
    add_bounds(text, rows::bounds_of_x(question, j));
    add_piece(text, "total", question->totals[j].text);
    add_piece(text, "sensitivity", psprintf(UINT64_FORMAT, measure.sensitivity));
    add_piece(text, "quantile", measure.fraction >= 0 ? rows::quantile_text(question, j) : nullptr);
    add_piece(text, "counted", psprintf("%d " UINT64_FORMAT " %d", measure.of_units, measure.grain, measure.one_group));
}

// Lists the measures in the order of the plan; that which is compared with a threshold, whether it is asked for or not, comes first.
static const int *order_of_measures(const rows::Question *question) {
    auto *order = static_cast<int *>(palloc0(sizeof(int) * (question->nmeasures + 1)));
    int n = question->thresholded ? 1 : 0;
    for (int i = 0; i < question->nmeasures; i++)
        if (!question->thresholded || question->measure_order[i] != 0)
            order[n++] = question->measure_order[i];
    return order;
}

// Returns the coordinates of a group in that order.
static const int *add_measures(StringInfo text, const rows::Question *question) {
    int at = 0;
    auto *order = static_cast<int *>(palloc0(sizeof(int) * (question->ncoordinates + 1)));
    const int *measures = order_of_measures(question);
    for (int i = 0; i < question->nmeasures; i++) {
        const int j = measures[i];
        add_measure(text, question, j);
        for (int c = 0; c < (*question->measures)[j].coordinates(); c++)
            order[at++] = rows::first_coordinate_of(question, j) + c;
    }
    return order;
}

Datum sha256_of(const StringInfoData &bytes) {
    return DirectFunctionCall1(sha256_bytea, PointerGetDatum(cstring_to_text_with_len(bytes.data, bytes.len)));
}

void add_identity(StringInfo bytes, Datum hash) {
    const bytea *identity = DatumGetByteaPP(hash);
    appendBinaryStringInfo(bytes, VARDATA_ANY(identity), static_cast<int>(VARSIZE_ANY_EXHDR(identity)));
}

Identity identity_of(const rows::Question *question) {
    border::SettingsScope settings = border::SettingsScope::enter(); // those under which texts mean one thing
    const bytea *bytes = rows::bytes_of_plan(question->plan, question->thresholded ? rows::place_in_plan(question, 0) : -1);
    StringInfo text = makeStringInfo();
    add_number(text, "plan", VARSIZE_ANY_EXHDR(bytes));
    add_identity(text, PointerGetDatum(bytes));
    add_piece(text, "time zone", question->time_zone);
    add_sources(text, question);
    add_groups(text, question);
    add_units(text, question);
    const int *order = add_measures(text, question);
    settings.leave();
    return Identity{sha256_of(*text), order};
}

const char *hash_of_declarations(const rows::Question *question) {
    const Datum hash = question->identity != Datum{0} ? question->identity : identity_of(question).hash;
    return TextDatumGetCString(DirectFunctionCall2(binary_encode, hash, CStringGetTextDatum("hex")));
}

const char *versions_of(const catalog::Settings &settings) {
    return psprintf("%s|%s", settings.fingerprint, settings.policies == nullptr ? "" : settings.policies);
}

uint64 versions_hash(const rows::Question *question) {
    StringInfo versions = makeStringInfo();
    appendStringInfoString(versions, versions_of(*question->settings));
    if (question->identity != Datum{0})
        add_identity(versions, question->identity);
    if (const catalog::Touched *touched = question->touched) // a mean over other cells would say nothing
        catalog::describe_cells(catalog::JsonText{versions}, *question->settings->partition, *touched);
    return hash_bytes_extended(reinterpret_cast<const unsigned char *>(versions->data), versions->len,
                               question->looked_up);
}

} // namespace dp::release
