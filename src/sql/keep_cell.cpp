// The trigger of a table with a partition: no update moves a row to another cell.
#include "border/guard.hpp"
#include "border/refuse.hpp"
#include "privacy/period.hpp"
extern "C" {
#include <commands/trigger.h>
}

namespace dp::sql {

namespace {
// Holds what the arguments of the trigger say.
struct Kept {
    AttrNumber column;
    Oid type;
    std::optional<privacy::PeriodKind> period;
    int64 width, first, last;
};
} // namespace

static Kept read_arguments(const TriggerData *data) {
    char **arguments = data->tg_trigger->tgargs;
    if (data->tg_trigger->tgnargs < 4)
        elog(ERROR, "dp_rdr.keep_cell is called by dp_set_partition() alone");
    Kept kept = {};
    kept.column = static_cast<AttrNumber>(SPI_fnumber(RelationGetDescr(data->tg_relation), arguments[0]));
    if (kept.column <= 0)
        refuse_state(psprintf("column \"%s\" of %s, by which it has a partition, is gone", arguments[0],
                              RelationGetRelationName(data->tg_relation)),
                     "dp_unset_partition() takes the partition and its trigger away.");
    kept.type = getBaseType(SPI_gettypeid(RelationGetDescr(data->tg_relation), kept.column));
    kept.period = border::core([&] { return privacy::period_from_name(arguments[1]); });
    kept.width = kept.period || *arguments[1] == '\0' ? 0 : pg_strtoint64(arguments[1]);
    kept.first = pg_strtoint64(arguments[2]);
    kept.last = pg_strtoint64(arguments[3]);
    return kept;
}

static int64 number_of(Oid type, Datum value) {
    switch (type) {
    case INT2OID:
        return DatumGetInt16(value);
    case INT4OID:
    case DATEOID:
        return DatumGetInt32(value);
    default:
        return DatumGetInt64(value); // timestamps too
    }
}

// Returns the number of a value's cell in an order; that of everything else for what is before the first or behind the last.
static int64 cell_of(const Kept &kept, Datum value, bool isnull) {
    if (isnull)
        return kept.first - 1;
    const int64 number = number_of(kept.type, value);
    int64 cell = 0;
    if (kept.period)
        cell = privacy::place_of(*kept.period, kept.type == DATEOID ? number : privacy::day_of(number));
    else
        cell = number / kept.width - (number % kept.width < 0 ? 1 : 0);
    return cell < kept.first || cell > kept.last ? kept.first - 1 : cell;
}

static bool is_same_cell(const Kept &kept, Datum old_value, bool old_null, Datum new_value, bool new_null) {
    if (kept.period || kept.width > 0)
        return cell_of(kept, old_value, old_null) == cell_of(kept, new_value, new_null);
    int16 length;
    bool by_value;
    get_typlenbyval(kept.type, &length, &by_value);
    return old_null == new_null && (old_null || datum_image_eq(old_value, new_value, by_value, length));
}

static bool is_same_value(TupleDesc desc, AttrNumber column, HeapTuple before, HeapTuple after) {
    bool old_null, new_null;
    const Datum old_value = heap_getattr(before, column, desc, &old_null);
    const Datum new_value = heap_getattr(after, column, desc, &new_null);
    const Form_pg_attribute attribute = TupleDescAttr(desc, column - 1);
    return old_null == new_null &&
           (old_null || datum_image_eq(old_value, new_value, attribute->attbyval, attribute->attlen));
}

// Two units would else exchange their cells.
static void check_unit(const TriggerData *data) {
    TupleDesc desc = RelationGetDescr(data->tg_relation);
    for (int i = 4; i < data->tg_trigger->tgnargs; i++) {
        const char *name = data->tg_trigger->tgargs[i];
        const int column = SPI_fnumber(desc, name);
        if (column <= 0 || is_same_value(desc, static_cast<AttrNumber>(column), data->tg_trigtuple, data->tg_newtuple))
            continue;
        refuse_with(ERRCODE_CHECK_VIOLATION,
                    psprintf("a row of %s, which has a partition, would be of another unit",
                             RelationGetRelationName(data->tg_relation)),
                    psprintf("Column %s says whose it is. Delete the row and insert it anew if its value was wrong: it then counts as "
                             "a change of both units.",
                             quote_identifier(name)));
    }
}

DP_FUNCTION(dp_keep_cell) {
    if (!CALLED_AS_TRIGGER(fcinfo))
        elog(ERROR, "dp_rdr.keep_cell is a trigger");
    auto *data = reinterpret_cast<TriggerData *>(fcinfo->context);
    if (!TRIGGER_FIRED_BEFORE(data->tg_event) || !TRIGGER_FIRED_BY_UPDATE(data->tg_event) ||
        !TRIGGER_FIRED_FOR_ROW(data->tg_event))
        elog(ERROR, "dp_rdr.keep_cell is called before a row is updated");
    const Kept kept = read_arguments(data);
    TupleDesc desc = RelationGetDescr(data->tg_relation);
    bool old_null, new_null;
    const Datum old_value = heap_getattr(data->tg_trigtuple, kept.column, desc, &old_null);
    const Datum new_value = heap_getattr(data->tg_newtuple, kept.column, desc, &new_null);
    if (!is_same_cell(kept, old_value, old_null, new_value, new_null))
        refuse_with(ERRCODE_CHECK_VIOLATION,
                    psprintf("a row of %s would move to another cell of its partition",
                             RelationGetRelationName(data->tg_relation)),
                    psprintf("Column %s says which total the row belongs to. Delete the row and insert it anew if its "
                             "value was wrong: it then counts as a change of one unit.",
                             quote_identifier(data->tg_trigger->tgargs[0])));
    check_unit(data);
    return PointerGetDatum(data->tg_newtuple);
}

} // namespace dp::sql
