#include "catalog/settings.hpp"

#include "catalog/described_row.hpp"
#include "catalog/lookup.hpp"

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

// Appends the versions of all rows of one table whose key begins with this.
static void append_table(StringInfo versions, const Reading &reading, const char *table, Datum first) {
    Lookup lookup = Lookup::open(table, reading);
    append_versions(versions, lookup.rows(first));
    lookup.close();
}

const char *joined_versions(const char *first, const char *other) {
    StringInfo versions = makeStringInfo();
    appendStringInfo(versions, "%s,%s", first, other);
    return hashed(*versions);
}

namespace {
// Holds what one row each says of a view and of its table, with the fingerprint of all that a charge on it depends on but policies.
struct View {
    bool registered; // with a table that is protected
    Settings settings;
    privacy::BoundSettings bound;
    int epoch;
    const Partition *partition;
};
} // namespace

// Days that can be printed and read again; what was set earlier was set for as long.
constexpr privacy::Day first_since = 0, last_since = 100000000;

// Reads a period, and the day on which it was set. Nobody wrote down when: it does not turn before a charge.
static std::optional<privacy::Period> read_period(const RowReader &visit) {
    std::optional<privacy::PeriodKind> kind;
    std::optional<int32> since;
    visit.word("period", privacy::period_from_name, kind);
    visit("period_since", since);
    if (!kind)
        return std::nullopt;
    return privacy::Period{*kind, Min(Max(privacy::Day{since.value_or(last_since)}, first_since), last_since)};
}

// Reads what goes with a period, as a period with the bound filter. What a risk profile of the table allows is for ever.
static void read_lifetime(const RowReader &visit, std::optional<privacy::Epsilon> allowed,
                          privacy::BoundSettings *bound) {
    bound->period = read_period(visit);
    if (!bound->period)
        return;
    visit("epsilon_lifetime", bound->epsilon_lifetime);
    visit("delta_lifetime", bound->delta_lifetime);
    bound->epsilon_lifetime = smaller(bound->epsilon_lifetime, allowed);
}

static void read_zcdp(const RowReader &visit, bool profiled, privacy::BoundSettings *bound) {
    std::optional<privacy::Delta> conversion;
    std::optional<privacy::Rho> total, target;
    visit("delta_conversion", conversion);
    visit("epsilon_pure", bound->epsilon_pure);
    visit("rho_total", total);
    visit("rho_target", target);
    bound->delta_conversion = conversion.value_or(privacy::default_conversion(bound->delta_total));
    bound->rho_total = total.value_or(privacy::Rho());
    bound->rho_target = target.value_or(privacy::Rho());
    bound->rho_alone = profiled;
}

static void read_bound(const RowReader &visit, View *view) {
    privacy::BoundSettings &bound = view->bound;
    const std::optional<privacy::Epsilon> allowed = allowed_by_profile(visit);
    std::optional<int64> people;
    visit.word("bound", privacy::bound_from_name, bound.bound);
    visit.word("cap", privacy::cap_from_name, bound.cap);
    visit("epsilon_total", bound.epsilon_total);
    visit("delta_total", bound.delta_total);
    visit("epoch", view->epoch);
    visit("people", people);
    bound.epsilon_total = smaller(bound.epsilon_total, allowed);
    view->settings.has_profile = allowed.has_value();
    view->settings.people = people.value_or(0);
    if (bound.bound == privacy::Bound::filter)
        read_lifetime(visit, allowed, &bound);
    if (bound.bound == privacy::Bound::zcdp)
        read_zcdp(visit, allowed.has_value(), &bound);
}

// The bound and the odometer are the domain's. A table without one, after a restore of a part, is as good as not protected.
static void read_domain(const Reading &reading, View *view, StringInfo versions) {
    const Datum id = UUIDPGetDatum(&view->settings.id);
    Lookup domains = Lookup::open("privacy_domain", reading);
    const Row *row = only(domains.rows(id));
    view->registered = row != nullptr;
    if (row != nullptr) {
        read_bound(RowReader{*row}, view);
        view->settings.id_text = DatumGetCString(DirectFunctionCall1(uuid_out, id));
        row->append_version(versions);
        append_table(versions, reading, "public_table", id);
        view->partition = read_partition(reading, id, versions);
        view->settings.partition = view->partition != nullptr && view->partition->declared ? view->partition : nullptr;
    }
    domains.close();
}

static void read_table(const Reading &reading, View *view, StringInfo versions) {
    Lookup tables = Lookup::open("protected_table", reading);
    const Row *row = only(tables.rows(ObjectIdGetDatum(view->settings.relation)));
    if (row != nullptr)
        RowReader{*row}("domain", view->settings.id);
    view->registered = row != nullptr;
    tables.close();
    if (!view->registered)
        return;
    view->settings.unit = read_unit_path(reading, view->settings.relation, versions); // appends the table's row as well
    read_domain(reading, view, versions);
}

Bound *read_bound(const Reading &reading, Oid relation) {
    View view = {};
    StringInfo versions = makeStringInfo();
    view.settings.relation = relation;
    read_table(reading, &view, versions);
    if (!view.registered)
        return nullptr;
    auto *bound = static_cast<Bound *>(palloc(sizeof(Bound)));
    *bound = {view.settings.id_text, view.bound, view.epoch};
    return bound;
}

static View read_view(const Reading &reading, Oid oid) {
    border::UncountedScope uncounted = border::UncountedScope::enter(); // once for all look-ups
    View view = {};
    Settings &settings = view.settings;
    settings.view = oid;
    StringInfo versions = makeStringInfo();
    Lookup views = Lookup::open("restricted_view", reading);
    const Row *row = only(views.rows(ObjectIdGetDatum(oid)));
    if (row != nullptr) {
        const RowReader visit{*row};
        visit("relation", settings.relation);
        visit("filter", settings.filter);
        row->append_version(versions);
    }
    views.close();
    if (row != nullptr) {
        read_table(reading, &view, versions);
        for (const char *table : {"column_bounds", "column_groups", "unit_limit"})
            append_table(versions, reading, table, ObjectIdGetDatum(settings.relation));
        append_table(versions, reading, "suspension", ObjectIdGetDatum(oid));
        settings.fingerprint = hashed(*versions);
    }
    uncounted.leave();
    return view;
}

Settings *read_settings(const Reading &reading, Oid oid) {
    const View view = read_view(reading, oid);
    // A dangling row (its table is gone, or the view, by DROP VIEW) is as good as none.
    if (!view.registered || get_rel_name(view.settings.relation) == nullptr || get_rel_name(oid) == nullptr)
        return nullptr;
    auto *settings = static_cast<Settings *>(palloc(sizeof(Settings)));
    *settings = view.settings;
    settings->view_name = qualified_name(oid);
    settings->relation_name = qualified_name(settings->relation);
    settings->owner = relation_owner(settings->relation);
    return settings;
}

Terms *terms_of_view(const Reading &reading, Oid oid) {
    const View view = read_view(reading, oid);
    if (!view.registered)
        return nullptr;
    auto *terms = static_cast<Terms *>(palloc0(sizeof(Terms)));
    terms->relation = view.settings.relation;
    terms->id_text = view.settings.id_text;
    terms->fingerprint = view.settings.fingerprint;
    terms->bound = view.bound;
    terms->epoch = view.epoch;
    terms->partition = view.partition;
    return terms;
}

// A view that is joined with itself changes nothing.
static bool is_known(const Settings *first, Oid view) {
    for (int i = 0; i < first->others.n; i++)
        if (first->others.views[i] == view)
            return true;
    return first->view == view;
}

static int by_view(const ListCell *a, const ListCell *b) {
    const Oid left = static_cast<const Settings *>(lfirst(a))->view, right = static_cast<const Settings *>(lfirst(b))->view;
    return left < right ? -1 : left > right;
}

void join_settings(Settings *first, List *others) {
    list_sort(others, by_view);
    for (auto *other : border::each<const Settings>(others)) {
        if (is_known(first, other->view))
            continue;
        if (first->others.n == OtherViews::most)
            elog(ERROR, "a query has too many restricted views");
        first->others.views[first->others.n++] = other->view;
        first->fingerprint = joined_versions(first->fingerprint, other->fingerprint);
    }
}

bool has_dynamic_bound(Oid oid) {
    Reading reading = Reading::open();
    const Terms *terms = terms_of_view(reading, oid);
    reading.close();
    return terms != nullptr && terms->bound.bound == privacy::Bound::dynamic;
}

const privacy::Bounds *column_bounds(const Reading &reading, Oid relation, const char *column_name, bool integer_type) {
    Lookup lookup = Lookup::open("column_bounds", reading);
    const Row *row = only(lookup.rows(ObjectIdGetDatum(relation), column_name));
    const char *lower = row == nullptr ? nullptr : numeric_text(row->value("lower"));
    const char *upper = row == nullptr ? nullptr : numeric_text(row->value("upper"));
    lookup.close();
    if (row == nullptr)
        return nullptr;
    auto *bounds = border::context_new<privacy::Bounds>();
    border::core([&] { *bounds = privacy::make_bounds(lower, upper, integer_type); });
    return bounds;
}

const char *unit_total(const Reading &reading, Oid relation, const char *expression) {
    if (strlen(expression) > longest_total_text)
        return nullptr;
    Lookup lookup = Lookup::open("unit_limit", reading);
    const Row *row = only(lookup.rows(ObjectIdGetDatum(relation), expression));
    const char *total = row == nullptr ? nullptr : numeric_text(row->value("total"));
    lookup.close();
    return total;
}

ArrayType *column_groups(const Reading &reading, Oid relation, const char *column_name) {
    Lookup lookup = Lookup::open("column_groups", reading);
    const Row *row = only(lookup.rows(ObjectIdGetDatum(relation), column_name));
    ArrayType *groups = row == nullptr ? nullptr : DatumGetArrayTypePCopy(row->value("groups"));
    lookup.close();
    return groups;
}

} // namespace dp::catalog
