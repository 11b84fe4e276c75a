#include "keeper/message.hpp"

#include "query/names.hpp"

namespace dp::keeper {

static void write_refinable(border::Writer *writer, const release::Refinable &refinable) {
    writer->put_text(refinable.mean);
    writer->put(refinable.asked);
    writer->put(refinable.versions);
    writer->put(refinable.public_rows);
}

static release::Refinable read_refinable(border::Reader *reader) {
    release::Refinable refinable = {};
    refinable.mean = reader->take_text();
    refinable.asked = reader->take<privacy::Rho>();
    refinable.versions = reader->take<uint64>();
    refinable.public_rows = reader->take<uint64>();
    return refinable;
}

static void write_wanted(border::Writer *writer, const privacy::Wanted &wanted) {
    writer->put(wanted.within.value_or(-1)); // neither is below 0
    writer->put(wanted.error95.value_or(-1));
    writer->put(wanted.deviations);
}

static privacy::Wanted read_wanted(border::Reader *reader) {
    privacy::Wanted wanted;
    auto within = reader->take<double>(), error95 = reader->take<double>();
    if (within >= 0)
        wanted.within = within;
    if (error95 >= 0)
        wanted.error95 = error95;
    wanted.deviations = reader->take<double>();
    return wanted;
}

void write_ask(border::Writer *writer, const release::Ask &ask) {
    writer->put_text(ask.leaf);
    writer->put_text(ask.time_zone);
    writer->put_text(ask.versions);
    writer->put(ask.view);
    writer->put(ask.has_epsilon);
    writer->put(ask.epsilon);
    writer->put(ask.weight);
    write_wanted(writer, ask.wanted);
    writer->put(ask.limits.max_rows);
    writer->put(ask.limits.max_groups);
    writer->put(ask.limits.max_rows_per_group);
    writer->put(ask.limits.by_setting);
    writer->put(ask.anew);
    writer->put(ask.refines);
    writer->put(ask.hide);
    write_refinable(writer, ask.refinable);
    writer->put(ask.noutputs);
    writer->put_bytes(ask.output_types, sizeof(Oid) * ask.noutputs);
    int n = ask.parameters == nullptr ? 0 : ask.parameters->numParams;
    writer->put(n);
    for (int i = 0; i < n; i++) {
        const ParamExternData &parameter = ask.parameters->params[i];
        writer->put(parameter.ptype);
        writer->put_datum(parameter.value, parameter.isnull, parameter.ptype);
    }
}

static Oid *take_types(border::Reader *reader, int n) {
    auto *types = static_cast<Oid *>(palloc(sizeof(Oid) * (n + 1)));
    memcpy(types, reader->take_bytes(sizeof(Oid) * n), sizeof(Oid) * n);
    return types;
}

static void take_parameters(border::Reader *reader, release::Ask *ask) {
    int n = reader->take<int>();
    ask->parameters = makeParamList(n);
    ask->parameter_types = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    for (int i = 0; i < n; i++) {
        ParamExternData &parameter = ask->parameters->params[i];
        auto type = reader->take<Oid>();
        if (query::parameter_type(type) != type)
            elog(ERROR, "a parameter is of a domain");
        parameter.ptype = ask->parameter_types[i] = type;
        parameter.pflags = PARAM_FLAG_CONST;
        parameter.value = reader->take_datum(&parameter.isnull, parameter.ptype);
    }
}

release::Ask read_ask(border::Reader *reader, const catalog::Asker &asker) {
    release::Ask ask = {};
    ask.asker = asker;
    ask.leaf = reader->take_text();
    ask.time_zone = reader->take_text();
    ask.versions = reader->take_text();
    ask.view = reader->take<Oid>();
    ask.has_epsilon = reader->take<bool>();
    ask.epsilon = reader->take<privacy::Epsilon>();
    ask.weight = reader->take<double>();
    ask.wanted = read_wanted(reader);
    ask.limits.max_rows = reader->take<int>();
    ask.limits.max_groups = reader->take<int>();
    ask.limits.max_rows_per_group = reader->take<int>();
    ask.limits.by_setting = reader->take<bool>();
    ask.anew = reader->take<bool>();
    ask.refines = reader->take<bool>();
    ask.hide = reader->take<bool>();
    ask.refinable = read_refinable(reader);
    ask.noutputs = reader->take<int>();
    ask.output_types = take_types(reader, ask.noutputs);
    take_parameters(reader, &ask);
    return ask;
}

void write_approval(border::Writer *writer, const release::Approval &approval) {
    writer->put(approval.request);
    writer->put(approval.has_tau);
    writer->put(approval.has_tau_var);
    writer->put(approval.has_epsilon);
    writer->put(approval.tau);
    writer->put(approval.tau_var);
    writer->put(approval.epsilon);
    writer->put(approval.within_data);
    writer->put(approval.is_public);
    writer->put(approval.in_sight);
    writer->put(approval.hold);
}

release::Approval read_approval(border::Reader *reader) {
    release::Approval approval = {};
    approval.request = reader->take<int64>();
    approval.has_tau = reader->take<bool>();
    approval.has_tau_var = reader->take<bool>();
    approval.has_epsilon = reader->take<bool>();
    approval.tau = reader->take<double>();
    approval.tau_var = reader->take<double>();
    approval.epsilon = reader->take<privacy::Epsilon>();
    approval.within_data = reader->take<bool>();
    approval.is_public = reader->take<bool>();
    approval.in_sight = reader->take<bool>();
    approval.hold = reader->take<bool>();
    return approval;
}

void write_wish(border::Writer *writer, const release::LimitWish &wish) {
    writer->put(wish.relation);
    writer->put(wish.view);
    writer->put(wish.epsilon);
    writer->put(wish.threshold);
    writer->put(wish.most);
    writer->put(wish.tau);
    writer->put_text(wish.fingerprint);
}

release::LimitWish read_wish(border::Reader *reader) {
    release::LimitWish wish = {};
    wish.relation = reader->take<Oid>();
    wish.view = reader->take<Oid>();
    wish.epsilon = reader->take<privacy::Epsilon>();
    wish.threshold = reader->take<std::int64_t>();
    wish.most = reader->take<int>();
    wish.tau = reader->take<double>();
    wish.fingerprint = reader->take_text();
    return wish;
}

void write_error(border::Writer *writer, const ErrorData *error) {
    writer->put(error->sqlerrcode);
    writer->put_text(error->message);
    writer->put_text(error->detail);
    writer->put_text(error->hint);
}

void raise_error(border::Reader *reader) {
    int sqlstate = reader->take<int>();
    const char *message = reader->take_text(), *detail = reader->take_text(), *hint = reader->take_text();
    ereport(ERROR,
            (errcode(sqlstate), errmsg_internal("%s", message == nullptr ? "" : message),
             detail == nullptr ? 0 : errdetail_internal("%s", detail), hint == nullptr ? 0 : errhint("%s", hint)));
    pg_unreachable();
}

static void write_judged(border::Writer *writer, const release::Judged &judged, int noutputs) {
    writer->put(judged.seen != nullptr);
    if (judged.seen == nullptr)
        return;
    writer->put_bytes(judged.seen, sizeof(release::Seen) * noutputs);
    writer->put(judged.rows);
    writer->put(judged.hidden);
    for (const char *text : judged.texts)
        writer->put_text(text);
}

static release::Judged read_judged(border::Reader *reader, int noutputs) {
    release::Judged judged = {};
    if (!reader->take<bool>())
        return judged;
    const Size size = sizeof(release::Seen) * noutputs;
    judged.seen = static_cast<release::Seen *>(palloc(size + 1));
    memcpy(judged.seen, reader->take_bytes(size), size);
    judged.rows = reader->take<int64>();
    judged.hidden = reader->take<int64>();
    for (const char *&text : judged.texts)
        text = reader->take_text();
    return judged;
}

void write_facts(border::Writer *writer, const release::Facts &facts) {
    writer->put(facts.algorithm);
    writer->put(facts.mechanism);
    writer->put(facts.paid);
    writer->put(facts.delta);
    writer->put(facts.threshold);
    writer->put(facts.thresholded);
    writer->put(facts.of_people);
    writer->put(facts.noutputs);
    writer->put_bytes(facts.error95, sizeof(double) * facts.noutputs);
    writer->put(facts.reached.asked); // one by one: no bytes of this process between them
    writer->put(facts.reached.steps);
    writer->put(facts.reached.how);
    write_refinable(writer, facts.refinable);
    writer->put(facts.uncharged);
    write_judged(writer, facts.judged, facts.noutputs);
}

release::Facts read_facts(border::Reader *reader) {
    release::Facts facts = {};
    facts.algorithm = reader->take<release::Algorithm>();
    facts.mechanism = reader->take<privacy::Mechanism>();
    facts.paid = reader->take<release::Paid>();
    facts.delta = reader->take<privacy::Delta>();
    facts.threshold = reader->take<int64>();
    facts.thresholded = reader->take<bool>();
    facts.of_people = reader->take<bool>();
    facts.noutputs = reader->take<int>();
    facts.error95 = static_cast<double *>(palloc(sizeof(double) * (facts.noutputs + 1)));
    memcpy(facts.error95, reader->take_bytes(sizeof(double) * facts.noutputs), sizeof(double) * facts.noutputs);
    facts.reached.asked = reader->take<bool>();
    facts.reached.steps = reader->take<int>();
    facts.reached.how = reader->take<release::Short>();
    facts.refinable = read_refinable(reader);
    facts.uncharged = reader->take<bool>();
    facts.judged = read_judged(reader, facts.noutputs);
    return facts;
}

} // namespace dp::keeper
