#include "border/spill.hpp"

namespace dp::border {

constexpr Size window_of_file = 64 * 1024, first_window = 1024;

// Sums of 16 bytes are moved as such, and palloc aligns to 8.
constexpr Size alignment = 16;

static void take_memory(SpillBytes *spill, int64 room) {
    spill->room = room;
    spill->memory = static_cast<char *>(MemoryContextAllocHuge(spill->context, room * spill->item + alignment));
    spill->window = reinterpret_cast<char *>(TYPEALIGN(alignment, spill->memory));
}

// Closes the file when its context goes, uncounted in pg_stat_database (C18). Raises nothing.
static void close_file(void *context) {
    auto *spill = static_cast<SpillBytes *>(context);
    if (spill->file < 0)
        return;
    bool counts = pgstat_track_counts;
    pgstat_track_counts = false;
    FileClose(spill->file);
    pgstat_track_counts = counts;
    spill->file = -1;
}

SpillBytes *make_spill(Size item, Size memory) {
    MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr spill", ALLOCSET_SMALL_SIZES);
    auto *memory_of_spill = MemoryContextAllocZero(context, sizeof(SpillBytes) + sizeof(MemoryContextCallback));
    auto *spill = static_cast<SpillBytes *>(memory_of_spill);
    spill->item = item;
    spill->file = -1;
    spill->most = memory;
    spill->context = context;
    take_memory(spill, Max(static_cast<int64>(first_window / item), int64{1}));
    auto *callback = reinterpret_cast<MemoryContextCallback *>(spill + 1);
    callback->func = close_file;
    callback->arg = spill;
    MemoryContextRegisterResetCallback(context, callback);
    return spill;
}

static void write_window(SpillBytes *spill) {
    int64 n = Min(spill->room, spill->count - spill->first);
    if (!spill->changed || n <= 0)
        return;
    int amount = static_cast<int>(n * spill->item);
    errno = 0;
    if (FileWrite(spill->file, spill->window, amount, static_cast<off_t>(spill->first * spill->item),
                  WAIT_EVENT_BUFFILE_WRITE) != amount) {
        if (errno == 0)
            errno = ENOSPC;
        ereport(ERROR,
                (errcode_for_file_access(), errmsg("could not write to file \"%s\": %m", FilePathName(spill->file))));
    }
    spill->in_file = Max(spill->in_file, spill->first + n);
    spill->changed = false;
}

static void read_window(SpillBytes *spill) {
    int64 n = Min(spill->room, spill->in_file - spill->first);
    int amount = static_cast<int>(Max(n, int64{0}) * spill->item);
    errno = 0;
    if (amount > 0 && FileRead(spill->file, spill->window, amount, static_cast<off_t>(spill->first * spill->item),
                               WAIT_EVENT_BUFFILE_READ) != amount)
        ereport(ERROR,
                (errcode_for_file_access(), errmsg("could not read from file \"%s\": %m", FilePathName(spill->file))));
}

// Everything so far goes to the file; from now on the window is a small part of it. The file is not the resource owner's:
// the array may live longer than a subtransaction, and belongs to its memory context.
static void open_file(SpillBytes *spill) {
    PrepareTempTablespaces();
    spill->file = OpenTemporaryFile(true);
    char *everything = spill->window, *memory = spill->memory;
    int64 all = spill->count, piece = Max(static_cast<int64>(window_of_file / spill->item), int64{1});
    spill->room = piece;
    for (int64 from = 0; from < all; from += piece) {
        spill->window = everything + from * spill->item;
        spill->first = from;
        spill->changed = true;
        write_window(spill);
    }
    pfree(memory);
    take_memory(spill, piece);
}

void move_window(SpillBytes *spill, int64 i) {
    Assert(i >= 0 && i <= spill->count);
    Size larger = 2 * static_cast<Size>(spill->room) * spill->item;
    if (spill->file < 0 && larger <= Max(spill->most, window_of_file)) {
        char *window = spill->window, *memory = spill->memory;
        take_memory(spill, spill->room * 2); // i is the first behind the window: there is nothing before it
        memcpy(spill->window, window, larger / 2);
        pfree(memory);
        return;
    }
    if (spill->file < 0)
        open_file(spill);
    else
        write_window(spill);
    spill->first = i / spill->room * spill->room;
    read_window(spill);
}

void empty_spill(SpillBytes *spill) {
    spill->count = spill->in_file = 0;
    spill->changed = false;
    if (spill->file >= 0)
        spill->first = 0;
}

} // namespace dp::border
