#include "catalog/fingerprint.hpp"

namespace dp::catalog {

char *hashed(const StringInfoData &versions) {
    Datum hash =
        DirectFunctionCall1(sha256_bytea, PointerGetDatum(cstring_to_text_with_len(versions.data, versions.len)));
    bytea *bytes = DatumGetByteaPP(hash);
    char *hex = static_cast<char *>(palloc0(2 * VARSIZE_ANY_EXHDR(bytes) + 1));
    (void)hex_encode(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), hex);
    return hex;
}

// The order in which they lie: a session that ignores indexes finds them in another one than the keeper that compares.
static int compare_places(const ListCell *a, const ListCell *b) {
    return ItemPointerCompare(&static_cast<const Row *>(lfirst(a))->tuple->t_self,
                              &static_cast<const Row *>(lfirst(b))->tuple->t_self);
}

void append_versions(StringInfo versions, const List *found) {
    List *rows = list_copy(found);
    list_sort(rows, compare_places);
    for (auto *row : border::each<const Row>(rows))
        row->append_version(versions);
    appendStringInfoString(versions, "| ");
}

void append_table(StringInfo versions, const Reading &reading, const char *table, Datum first) {
    Lookup lookup = Lookup::open(table, reading);
    append_versions(versions, lookup.rows(first));
    lookup.close();
}

const char *joined_versions(const char *first, const char *other) {
    StringInfoData versions;
    initStringInfo(&versions);
    appendStringInfo(&versions, "%s,%s", first, other);
    return hashed(versions);
}

} // namespace dp::catalog
