#include "catalog/ledger_bytes.hpp"

#include <type_traits>

namespace dp::catalog {

namespace {

// Whatever changes in this file, or in what it copies, raises this number.
constexpr uint32 layout_number = 13;

// What plan_release needs of a privacy::Measure.
struct PlannedMeasure {
    privacy::MeasureKind kind;
    int argument;
    int filter;
    bool of_units;
    bool one_group;
    uint64 grain;
};

// The fixed part. Behind it, in this order: the texts, the candidates, the measures, their sensitivities.
struct Fixed {
    uint32 layout; // layout_number; it and the size come first in every layout
    uint32 size;   // of this struct
    RequestKind kind;
    Oid relation, view, owner;
    OtherViews others;
    Asker asker;
    privacy::Mechanism mechanism;
    privacy::Account account;
    double eps_star, slack;
    bool has_epsilon_max, has_requested, has_share, has_profile, thresholded;
    privacy::Epsilon epsilon_max, requested, share, profile;
    privacy::Delta delta, delta_noise, delta_groups;
    privacy::Epsilon selection, worst, epsilon_svt;
    privacy::Step step;
    uint64 tested;
    Oid grantee_oid;
    Oid joining;                 // a table of the domain that stays
    uint32 candidates, measures; // numbers of elements
};

// Memory is shared by copying bytes.
static_assert(std::is_trivially_copyable_v<Fixed> && std::is_trivially_copyable_v<Verdict>);

// Member by member: a whole struct is copied with its gaps.
void copy_step(const privacy::Step &step, privacy::Step *copy) {
    copy->is_step = step.is_step;
    copy->increment = step.increment;
    copy->basis = step.basis;
    copy->epsilon = step.epsilon;
    copy->before = step.before;
    copy->rho = step.rho;
    copy->period = step.period;
}

Fixed fixed_part(const Entry &entry) {
    const Charge &what = *entry.what;
    Fixed fixed;
    memset(static_cast<void *>(&fixed), 0, sizeof fixed); // no byte of this process's stack travels in a gap
    fixed.layout = layout_number;
    fixed.size = sizeof fixed;
    fixed.kind = entry.kind;
    fixed.relation = what.settings->relation;
    fixed.view = what.settings->view;
    fixed.owner = what.settings->owner;
    fixed.others = what.settings->others;
    fixed.asker = what.asker;
    fixed.mechanism = what.mechanism;
    fixed.account = what.account;
    fixed.eps_star = what.eps_star;
    fixed.slack = what.slack;
    fixed.has_epsilon_max = what.has_epsilon_max;
    fixed.has_requested = what.has_requested;
    fixed.has_share = what.has_share;
    fixed.has_profile = what.has_profile;
    fixed.thresholded = what.thresholded;
    fixed.epsilon_max = what.epsilon_max;
    fixed.requested = what.requested;
    fixed.share = what.share;
    fixed.profile = what.profile;
    fixed.delta = what.delta;
    fixed.delta_noise = what.delta_noise;
    fixed.delta_groups = what.delta_groups;
    fixed.selection = what.selection;
    fixed.worst = what.worst;
    copy_step(what.step, &fixed.step);
    fixed.epsilon_svt = entry.epsilon_svt;
    fixed.tested = entry.tested;
    fixed.grantee_oid = what.grantee_oid;
    fixed.joining = entry.joining.relation;
    fixed.candidates = what.candidates == nullptr ? 0 : what.candidates->size();
    fixed.measures = what.measures == nullptr ? 0 : what.measures->size();
    return fixed;
}

void restore(const Fixed &fixed, Entry *entry, Charge *what, Settings *settings) {
    entry->kind = fixed.kind;
    settings->relation = fixed.relation;
    settings->view = fixed.view;
    settings->owner = fixed.owner;
    settings->others = fixed.others;
    what->asker = fixed.asker;
    what->mechanism = fixed.mechanism;
    what->account = fixed.account;
    what->eps_star = fixed.eps_star;
    what->slack = fixed.slack;
    what->has_epsilon_max = fixed.has_epsilon_max;
    what->has_requested = fixed.has_requested;
    what->has_share = fixed.has_share;
    what->has_profile = fixed.has_profile;
    what->thresholded = fixed.thresholded;
    what->epsilon_max = fixed.epsilon_max;
    what->requested = fixed.requested;
    what->share = fixed.share;
    what->profile = fixed.profile;
    what->delta = fixed.delta;
    what->delta_noise = fixed.delta_noise;
    what->delta_groups = fixed.delta_groups;
    what->selection = fixed.selection;
    what->worst = fixed.worst;
    what->step = fixed.step;
    what->grantee_oid = fixed.grantee_oid;
    entry->epsilon_svt = fixed.epsilon_svt;
    entry->tested = fixed.tested;
    entry->joining.relation = fixed.joining;
}

// The texts, in the one order in which they are written and read.
constexpr int ntexts = 15;
struct Texts {
    const char **place[ntexts];
};

Texts texts_of(Charge *what, Settings *settings, Joining *joining) {
    return Texts{&settings->id_text,  &settings->relation_name, &settings->view_name,     &settings->fingerprint,
                 &settings->policies, &settings->filter,        &what->query,             &what->grantee,
                 &what->algorithm,    &what->guarantee,         &what->kind,              &what->parameters,
                 &joining->id_text,   &joining->relation_name,  &joining->versions};
}

// Its length with the ending zero, 0 for null, then its bytes.
void append_text(StringInfo buffer, const char *text) {
    uint32 length = text == nullptr ? 0 : strlen(text) + 1;
    appendBinaryStringInfo(buffer, reinterpret_cast<const char *>(&length), sizeof length);
    if (length > 0)
        appendBinaryStringInfo(buffer, text, length);
}

template <class T> void append(StringInfo buffer, const T *items, Size n) {
    if (n > 0)
        appendBinaryStringInfo(buffer, reinterpret_cast<const char *>(items), n * sizeof(T));
}

void append_measures(StringInfo buffer, const Charge &what, uint32 n) {
    if (n == 0)
        return;
    if (what.sensitivities->size() != n)
        elog(ERROR, "%zu sensitivities for %u measures", what.sensitivities->size(), n);
    for (uint32 i = 0; i < n; i++) {
        const privacy::Measure &measure = (*what.measures)[i];
        PlannedMeasure planned;
        memset(static_cast<void *>(&planned), 0, sizeof planned); // no gap of the stack's
        planned.kind = measure.kind;
        planned.argument = measure.argument;
        planned.filter = measure.filter;
        planned.of_units = measure.of_units;
        planned.one_group = measure.one_group;
        planned.grain = measure.grain;
        append(buffer, &planned, 1);
    }
    append(buffer, what.sensitivities->data(), n);
}

// What is left to read.
struct Reader {
    const char *at;
    Size left;

    [[noreturn]] static void fail() {
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("malformed request for the ledger")));
        pg_unreachable();
    }
    const char *take(Size size) {
        if (size > left)
            fail();
        const char *taken = at;
        at += size;
        left -= size;
        return taken;
    }
    template <class T> void read(T *items, Size n) {
        if (n > left / sizeof(T))
            fail();
        if (n > 0)
            memcpy(static_cast<void *>(items), take(n * sizeof(T)), n * sizeof(T));
    }
    const char *text() {
        uint32 length;
        read(&length, 1);
        if (length == 0)
            return nullptr;
        const char *taken = take(length);
        if (taken[length - 1] != '\0' || strlen(taken) != length - 1)
            fail();
        return pstrdup(taken);
    }
};

template <class T> const std::vector<T> *read_vector(Reader *reader, Size n) {
    if (n > reader->left / sizeof(T))
        Reader::fail();
    auto *items = border::context_new<std::vector<T>>();
    border::core([&] { items->resize(n); });
    reader->read(items->data(), n);
    return items;
}

const std::vector<privacy::Measure> *read_measures(Reader *reader, Size n) {
    const auto *planned = read_vector<PlannedMeasure>(reader, n);
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        for (const PlannedMeasure &measure : *planned)
            measures->push_back({measure.kind,
                                 measure.argument,
                                 measure.filter,
                                 measure.of_units,
                                 measure.grain,
                                 measure.one_group,
                                 -1,
                                 {}});
    });
    return measures;
}

} // namespace

void encode(const Entry &entry, StringInfo buffer) {
    Fixed fixed = fixed_part(entry);
    append(buffer, &fixed, 1);
    Charge what = *entry.what;
    Settings settings = *what.settings;
    Joining joining = entry.joining;
    Texts texts = texts_of(&what, &settings, &joining);
    for (const char **text : texts.place)
        append_text(buffer, *text);
    if (fixed.candidates > 0)
        append(buffer, what.candidates->data(), fixed.candidates);
    append_measures(buffer, what, fixed.measures);
}

Entry *decode(const char *bytes, Size size) {
    Reader reader = {bytes, size};
    uint32 head[2];
    reader.read(head, 2);
    if (head[0] != layout_number || head[1] != sizeof(Fixed))
        return nullptr;
    reader = Reader{bytes, size};
    Fixed fixed;
    reader.read(&fixed, 1);
    if (fixed.kind > RequestKind::suspension)
        Reader::fail();
    auto *entry = static_cast<Entry *>(palloc0(sizeof(Entry)));
    auto *what = static_cast<Charge *>(palloc0(sizeof(Charge)));
    auto *settings = static_cast<Settings *>(palloc0(sizeof(Settings)));
    entry->what = what;
    what->settings = settings;
    restore(fixed, entry, what, settings);
    Texts texts = texts_of(what, settings, &entry->joining);
    for (const char **text : texts.place)
        *text = reader.text();
    what->candidates = read_vector<privacy::Epsilon>(&reader, fixed.candidates);
    if (fixed.measures > 0) {
        what->measures = read_measures(&reader, fixed.measures);
        what->sensitivities = read_vector<uint64>(&reader, fixed.measures);
    }
    if (reader.left > 0 || settings->id_text == nullptr ||
        (fixed.kind == RequestKind::join && (entry->joining.id_text == nullptr || entry->joining.versions == nullptr)))
        Reader::fail();
    return entry;
}

} // namespace dp::catalog
