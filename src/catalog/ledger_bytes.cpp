#include "catalog/ledger_bytes.hpp"

#include "border/record.hpp"

namespace dp::privacy {

// Names what plan_release() needs of a measure.
template <class V> static void fields(V &visit, Measure &measure) {
    visit(measure.kind, measure.argument, measure.filter, measure.of_units, measure.one_group, measure.grain,
          measure.opened, measure.sensitivity);
}

template <class V> static void fields(V &visit, Step &step) {
    visit(step.is_step, step.increment, step.basis, step.epsilon, step.before, step.rho, step.period);
}

} // namespace dp::privacy

namespace dp::catalog {

template <class V> static void fields(V &visit, Asker &asker) {
    visit(asker.role, asker.session_role);
}

template <class V> static void fields(V &visit, OtherViews &others) {
    visit(others.n, others.views);
}

// Names what commit_charges() needs of the settings.
template <class V> static void fields(V &visit, Settings &settings) {
    visit(settings.relation, settings.view, settings.owner, settings.others, settings.id_text, settings.relation_name,
          settings.view_name, settings.fingerprint, settings.policies, settings.filter);
}

template <class V> static void fields(V &visit, Charge &what) {
    static const Touched nothing = {};
    if (what.touched == nullptr)
        what.touched = &nothing;
    visit(what.settings, what.asker, what.query, what.grantee, what.grantee_oid, what.algorithm, what.guarantee,
          what.kind, what.mechanism, what.account, what.eps_star, what.slack);
    visit(what.candidates, what.caps.epsilon_max, what.caps.requested, what.caps.share, what.caps.profile, what.delta,
          what.delta_noise, what.delta_groups);
    visit(what.parameters, what.measures, what.thresholded, what.selection, what.worst, what.step, what.touched);
}

template <class V> static void fields(V &visit, Joining &joining) {
    visit(joining.relation, joining.id_text, joining.relation_name, joining.versions);
}

template <class V> static void fields(V &visit, Entry &entry) {
    visit(entry.kind, entry.what, entry.epsilon_svt, entry.tested, entry.joining);
}

[[noreturn]] static void refuse_malformed() {
    refuse_with(ERRCODE_DATA_CORRUPTED, "malformed request for the ledger");
}

void encode(const Entry &entry, StringInfo buffer) {
    border::Writer writer = {*buffer};
    border::put_record(&writer, entry);
    *buffer = writer.bytes;
}

Entry *decode(const char *bytes, Size size) {
    border::Reader reader = {bytes, bytes + size};
    auto *entry = static_cast<Entry *>(palloc(sizeof(Entry)));
    *entry = border::take_record<Entry>(&reader);
    const Joining &joining = entry->joining;
    const Charge &what = *entry->what;
    if (reader.at != reader.end || entry->kind > RequestKind::suspension || what.settings->id_text == nullptr ||
        what.touched->n > most_ranges ||
        (entry->kind == RequestKind::join && (joining.id_text == nullptr || joining.versions == nullptr)))
        refuse_malformed();
    return entry;
}

} // namespace dp::catalog
