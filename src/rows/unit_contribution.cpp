#include "rows/unit_contribution.hpp"

#include <algorithm>
#include <tuple>

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"

#include "border/bytes.hpp"
#include "border/refuse.hpp"
#include "rows/cell_calls.hpp"
#include "rows/kept_values.hpp"
#include "rows/measures.hpp"
#include "rows/quantiles.hpp"

namespace dp::rows {

using privacy::int128;

// ---- before the charge ---------------------------------------------------------------------------------------------

int contribution_units(const Question *question) {
    return question->leaf->nkeys == 0 && !counts_values(question) ? 0 : list_length(question->units->values);
}

// The question's, and behind them the cell of a quantile.
static int number_of_keys(const Question *question) {
    return question->leaf->nkeys + (has_quantile(question) ? 1 : 0);
}

bool has_entries(const Question *question) {
    return number_of_keys(question) > 0 || counts_values(question);
}

static Size keys_size(const Question *question) {
    Size size = has_quantile(question) ? key_size(cell_key) : 0;
    for (int i = 0; i < question->leaf->nkeys; i++) {
        KeySite key;
        get_typlenbyval(exprType(question->keys[i]), &key.length, &key.by_value);
        size += key_size(key);
    }
    return size;
}

bool has_spellings(const Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (!has_canonical(question->leaf->keys[i]))
            return true;
    return false;
}

// Returns the bytes of one group, at most.
static int64 entry_bytes(const Question *question) {
    int64 size = largest_entry(keys_size(question), question->ncoordinates);
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].of_values)
            size += largest_value_set(question->units->max_rows);
    return size;
}

// Groups of one unit that are kept, of a quantile each with its cells, and one for values that are in none. Keys that nobody declared
// are no rows of the statement; where one declared group may come as several keys there is room for as many as a unit has rows, as far
// as states have.
static int64 kept_groups(const Question *question) {
    const Units *units = question->units;
    const int64 cells = has_quantile(question) ? number_of_cells(question) + 1 : 1;
    if (question->leaf->nkeys == 0 || units->one_group)
        return cells;
    if (question->thresholded)
        return units->max_groups * cells;
    const int64 kept = question->ngroups * cells;
    if (!has_spellings(question))
        return kept;
    const int64 room = largest_contribution / entry_bytes(question);
    return Max(kept, Min(units->max_rows, room));
}

int64 contribution_size(const Question *question) {
    return kept_groups(question) * entry_bytes(question);
}

void check_contribution_size(const Question *question) {
    const int units = contribution_units(question), most = FUNC_MAX_ARGS - 2; // behind the state and the facts
    if (units + number_of_keys(question) + question->nmeasures > most)
        refuse_size(psprintf("more than %d keys and aggregates where a unit may have several rows", most - units),
                    "Ask for fewer aggregates in one query.");
    if (contribution_size(question) > largest_contribution)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("what one unit may bring to the query takes up to " INT64_FORMAT
                               " bytes: at most " INT64_FORMAT " are allowed",
                               contribution_size(question), largest_contribution),
                        errhint(has_quantile(question)
                                    ? question->thresholded
                                          ? "Use a smaller max_groups, group by fewer or shorter keys, or ask for min, "
                                            "max and percentiles of a range with fewer values."
                                          : "Group by fewer or shorter keys, or ask for min, max and percentiles of a "
                                            "range with fewer values."
                                : counts_values(question)
                                    ? "Use a smaller max_rows or max_groups, or ask for fewer count(DISTINCT ...) in "
                                      "one query."
                                    : "Use a smaller max_groups, or group by fewer or shorter keys.")));
}

// ---- asking ---------------------------------------------------------------------------------------------------------

// Hashes the domain's identity: every session has that.
static uint64 seed_of_domain(const Question *question) {
    return DatumGetUInt64(hash_any_extended(question->settings->id.data, UUID_LEN, 0));
}

Node *contribution_spec(const Question *question) {
    SpecHeader header = {};
    header.units = contribution_units(question);
    header.keys = number_of_keys(question);
    header.limit = kept_groups(question);
    header.seed = seed_of_domain(question);
    header.cell = has_quantile(question) ? 1 : 0;
    return make_spec(question, header, all_measures(question), nullptr);
}

// ---- results -------------------------------------------------------------------------------------------------------

static Datum take_by_value(int16 length, const char *bytes) {
    Datum image = 0;
    memcpy(&image, bytes, length);
    return fetch_att(&image, true, length);
}

// A copy.
static Datum take_key(const KeySite &key, border::Reader *bytes, bool *isnull) {
    *isnull = *bytes->take_bytes(1) == 0;
    if (*isnull)
        return Datum(0);
    if (key.by_value)
        return take_by_value(key.length, bytes->take_bytes(key.length));
    if (key.length > 0) {
        auto *value = static_cast<char *>(palloc(key.length));
        memcpy(value, bytes->take_bytes(key.length), key.length);
        return PointerGetDatum(value);
    }
    const auto length = bytes->take<uint16>();
    const char *data = bytes->take_bytes(length);
    bytea *value = make_bytes(length);
    memcpy(VARDATA(value), data, length);
    return PointerGetDatum(value);
}

// An entry of a unit: its bytes without the cell name the group.
namespace {
struct Placed {
    int group, cell; // -1: in none
    int entry;
    GroupKey key;
};
} // namespace

// Returns the cell, -1 without one.
static int take_keys(const Question *question, const KeySite *sites, GroupKey *bytes, Datum *keys, bool *nulls) {
    border::Reader key = {bytes->bytes, bytes->bytes + bytes->size};
    for (int i = 0; i < question->leaf->nkeys; i++)
        keys[i] = take_key(sites[i], &key, &nulls[i]);
    if (!has_quantile(question))
        return -1;
    bool isnull;
    bytes->size = static_cast<uint32>(key.at - bytes->bytes);
    const int cell = DatumGetInt32(take_key(cell_key, &key, &isnull));
    if (isnull || cell < -1 || cell >= number_of_cells(question))
        elog(ERROR, "unexpected result of an internal aggregate");
    return cell;
}

static void merge_values(const Question *question, int128 *into, const int128 *from) {
    int c = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        for (int end = c + measure.coordinates(); c < end; c++)
            into[c] = measure.of_units ? Max(into[c], from[c]) : into[c] + from[c];
    }
}

// The coordinates of quantiles.
static int find_quantiles(const Question *question, int *coordinates) {
    int n = 0;
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].kind == privacy::MeasureKind::quantile)
            coordinates[n++] = first_coordinate_of(question, j);
    return n;
}

// Moves the counts of cells from the sums of groups to cells of their own.
static void take_cells(const Question *question, const UnitContribution &read, const Placed *placed, int n,
                       UnitContribution *unit) {
    auto *coordinates = array_of<int>(question->nmeasures + 1);
    const int width = question->ncoordinates, nquantiles = find_quantiles(question, coordinates);
    unit->nquantiles = nquantiles;
    unit->cells = array_of<CellOfGroup>(n + 1);
    unit->cell_counts = zeroed<int128>(static_cast<Size>(n) * nquantiles + 1);
    for (int i = 0; i < n; i++) {
        if (placed[i].cell < 0)
            continue;
        const bool again = unit->ncells > 0 && unit->cells[unit->ncells - 1].group == placed[i].group &&
                           unit->cells[unit->ncells - 1].cell == placed[i].cell;
        if (!again)
            unit->cells[unit->ncells++] = {placed[i].group, placed[i].cell};
        int128 *counts = unit->cell_counts + static_cast<Size>(unit->ncells - 1) * nquantiles;
        for (int q = 0; q < nquantiles; q++)
            counts[q] += read.values[static_cast<Size>(placed[i].entry) * width + coordinates[q]];
    }
    for (int i = 0; i < unit->ngroups; i++)
        for (int q = 0; q < nquantiles; q++)
            unit->values[static_cast<Size>(i) * width + coordinates[q]] = 0;
}

// To where their groups are now.
static void move_values(const UnitContribution &from, const int *places, UnitContribution *to) {
    to->ncounts = from.ncounts;
    to->counts = from.counts;
    for (int k = 0; k < to->ncounts; k++) {
        UnitValues *values = &to->counts[k];
        int n = 0;
        for (int i = 0; i < values->n; i++) {
            privacy::UnitValue pair = values->pairs[i];
            pair.group = places[pair.group];
            if (pair.group >= 0)
                values->pairs[n++] = pair;
        }
        values->n = n;
    }
}

// Finds the groups of entries. Discovered ones are numbered as they come: those of one group beside each other, and behind max_groups of
// them some that need not have all cells. Returns how many entries are in one.
static int place_entries(const Question *question, const UnitContribution &read, Placed *placed) {
    const int nkeys = question->leaf->nkeys;
    int n = 0, last = -1;
    const GroupKey *before = nullptr;
    for (int i = 0; i < read.ngroups; i++) {
        Placed one = placed[i];
        if (question->thresholded) {
            const bool again = before != nullptr && before->size == one.key.size &&
                               memcmp(before->bytes, one.key.bytes, one.key.size) == 0;
            one.group = last += again ? 0 : 1;
        } else
            one.group = declared_group(question, read.keys + i * nkeys, read.nulls + i * nkeys);
        if (one.group < 0 || (question->thresholded && one.group >= question->units->max_groups))
            continue;
        placed[n] = one;
        before = &placed[n++].key;
    }
    return n;
}

// By the groups of the answer, ascending, each once.
static UnitContribution by_groups(const Question *question, const UnitContribution &read, Placed *placed) {
    const int nkeys = question->leaf->nkeys, width = question->ncoordinates;
    const int n = place_entries(question, read, placed);
    std::sort(placed, placed + n, [](const Placed &a, const Placed &b) {
        return std::tie(a.group, a.cell, a.entry) < std::tie(b.group, b.cell, b.entry);
    });
    UnitContribution unit = {};
    unit.groups = array_of<int>(n + 1);
    unit.keys = array_of<Datum>(static_cast<Size>(n) * nkeys + 1);
    unit.nulls = array_of<bool>(static_cast<Size>(n) * nkeys + 1);
    unit.values = array_of<int128>(static_cast<Size>(n) * width + 1);
    auto *places = array_of<int>(read.ngroups + 1); // of the entries; -1: in no group
    memset(places, -1, sizeof(int) * read.ngroups);
    for (int i = 0; i < n; i++) {
        const int128 *values = read.values + static_cast<Size>(placed[i].entry) * width;
        if (unit.ngroups > 0 && unit.groups[unit.ngroups - 1] == placed[i].group)
            merge_values(question, unit.values + static_cast<Size>(unit.ngroups - 1) * width, values);
        else {
            memcpy(unit.keys + unit.ngroups * nkeys, read.keys + placed[i].entry * nkeys, sizeof(Datum) * nkeys);
            memcpy(unit.nulls + unit.ngroups * nkeys, read.nulls + placed[i].entry * nkeys, sizeof(bool) * nkeys);
            memcpy(unit.values + static_cast<Size>(unit.ngroups) * width, values, sizeof(int128) * width);
            unit.groups[unit.ngroups++] = placed[i].group;
        }
        places[placed[i].entry] = unit.ngroups - 1;
    }
    if (has_quantile(question))
        take_cells(question, read, placed, n, &unit);
    move_values(read, places, &unit);
    return unit;
}

// Makes room for the values of each measure that counts some; as many as the bytes left may hold.
static void begin_values(const Question *question, const border::Reader &reader, UnitContribution *unit) {
    unit->counts = array_of<UnitValues>(question->nmeasures + 1);
    const Size most = (reader.end - reader.at) / sizeof(PackedValue);
    for (int j = 0, c = 0; j < question->nmeasures; c += (*question->measures)[j++].coordinates())
        if ((*question->measures)[j].of_values)
            unit->counts[unit->ncounts++] = {c, 0, array_of<privacy::UnitValue>(most + 1)};
}

// The values that each measure keeps of one group.
static void take_values(border::Reader *reader, int64 group, UnitContribution *unit) {
    for (int k = 0; k < unit->ncounts; k++)
        for (auto n = reader->take<int32>(); n > 0; n--) {
            const auto packed = reader->take<PackedValue>();
            unit->counts[k].pairs[unit->counts[k].n++] = {packed.hash, group, packed.value};
        }
}

UnitContribution read_contribution(const Question *question, Datum result) {
    const bytea *bytes = DatumGetByteaPP(result);
    border::Reader reader = {VARDATA_ANY(bytes), VARDATA_ANY(bytes) + VARSIZE_ANY_EXHDR(bytes)};
    const int nkeys = question->leaf->nkeys, width = question->ncoordinates;
    UnitContribution unit = {};
    const bool keyed = has_entries(question);
    unit.ngroups = keyed ? reader.take<int32>() : 1;
    if (unit.ngroups < 0 || unit.ngroups > (reader.end - reader.at) / static_cast<int64>(sizeof(int128) * width))
        elog(ERROR, "unexpected result of an internal aggregate");
    auto *sites = array_of<KeySite>(nkeys + 1);
    for (int i = 0; i < nkeys; i++)
        get_typlenbyval(exprType(question->keys[i]), &sites[i].length, &sites[i].by_value);
    const Size n = unit.ngroups;
    unit.keys = array_of<Datum>(n * nkeys + 1);
    unit.nulls = array_of<bool>(n * nkeys + 1);
    unit.values = array_of<int128>(n * width + 1);
    auto *placed = zeroed<Placed>(n + 1);
    begin_values(question, reader, &unit);
    for (Size i = 0; i < n; i++) {
        placed[i] = {-1, -1, static_cast<int>(i), GroupKey{}};
        if (keyed) {
            placed[i].key.size = reader.take<uint32>();
            placed[i].key.bytes = reader.take_bytes(placed[i].key.size);
            placed[i].cell = take_keys(question, sites, &placed[i].key, unit.keys + i * nkeys, unit.nulls + i * nkeys);
        }
        memcpy(unit.values + i * width, reader.take_bytes(sizeof(int128) * width), sizeof(int128) * width);
        take_values(&reader, static_cast<int64>(i), &unit);
    }
    return question->thresholded && !has_quantile(question) ? unit : by_groups(question, unit, placed);
}

void clip_contribution(const Question *question, UnitContribution *unit) {
    border::core([&] {
        for (int k = 0; k < unit->ncounts; k++) {
            UnitValues &values = unit->counts[k];
            values.n = static_cast<int>(privacy::keep_values(values.pairs, values.n, question->units->max_rows));
        }
        int first = 0, quantile = 0;
        for (int j = 0; j < question->nmeasures; j++) {
            const privacy::Measure &measure = (*question->measures)[j];
            if (measure.kind == privacy::MeasureKind::quantile) // over all cells of all groups
                privacy::clip(privacy::Norm::l1, unit->cell_counts + quantile++, unit->ncells, unit->nquantiles, 1,
                              measure.sensitivity);
            else
                privacy::clip(measure.norm, unit->values + first, unit->ngroups, question->ncoordinates,
                              measure.coordinates(), measure.sensitivity);
            first += measure.coordinates();
        }
    });
}

} // namespace dp::rows