#include "keeper/message.hpp"

#include "query/parse.hpp"

// ---- records of messages: their members in the order in which they are sent -------------------------------------------

namespace dp::privacy {

template <class V> static void fields(V &visit, Wanted &wanted) {
    visit(wanted.within, wanted.error95, wanted.deviations);
}

} // namespace dp::privacy

namespace dp::query {

template <class V> static void fields(V &visit, Limits &limits) {
    visit(limits.max_rows, limits.max_groups, limits.max_rows_per_group, limits.by_setting);
}

} // namespace dp::query

namespace dp::release {

template <class V> static void fields(V &visit, Refinable &refinable) {
    visit(refinable.mean, refinable.asked, refinable.versions, refinable.public_rows);
}

// Takes no value of a domain: reading one would run what its owner wrote.
template <class V> static void parameters(V &visit, Ask &ask) {
    int n = ask.parameters == nullptr ? 0 : ask.parameters->numParams;
    visit(n);
    if constexpr (V::reads) {
        ask.parameters = makeParamList(visit.bytes->checked_count(n));
        ask.parameter_types = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    }
    for (int i = 0; i < n; i++) {
        ParamExternData &parameter = ask.parameters->params[i];
        visit(parameter.ptype);
        if constexpr (V::reads) {
            if (query::parameter_type(parameter.ptype) != parameter.ptype)
                elog(ERROR, "a parameter is of a domain");
            parameter.pflags = PARAM_FLAG_CONST;
            ask.parameter_types[i] = parameter.ptype;
        }
        visit.datum(parameter.value, parameter.isnull, parameter.ptype);
    }
}

// Leaves the asker out: who asks is known from the slot. What a request alone has is made where it is decided.
template <class V> static void fields(V &visit, Ask &ask) {
    visit(ask.leaf, ask.time_zone, ask.versions, ask.view, ask.has_epsilon, ask.epsilon, ask.weight, ask.wanted);
    visit(ask.limits, ask.anew, ask.refines, ask.hide, ask.refinable, ask.noutputs);
    visit.list(ask.noutputs, ask.output_types);
    parameters(visit, ask);
}

template <class V> static void fields(V &visit, Approval &approval) {
    visit(approval.request, approval.has_tau, approval.has_tau_var, approval.has_epsilon, approval.tau,
          approval.tau_var, approval.epsilon, approval.within_data, approval.is_public, approval.in_sight,
          approval.hold);
}

template <class V> static void fields(V &visit, LimitWish &wish) {
    visit(wish.relation, wish.view, wish.epsilon, wish.threshold, wish.most, wish.tau, wish.fingerprint, wish.value);
}

template <class V> static void fields(V &visit, Charged &paid) {
    visit(paid.epsilon, paid.selection, paid.rho);
}

template <class V> static void fields(V &visit, Seen &seen) {
    visit(seen.numbers, seen.noise, seen.coarse, seen.largest);
}

template <class V> static void fields(V &visit, Reached &reached) {
    visit(reached.asked, reached.steps, reached.how);
}

template <class V> static void fields(V &visit, Facts &facts) {
    visit(facts.algorithm, facts.mechanism, facts.paid, facts.delta, facts.threshold, facts.thresholded,
          facts.of_people, facts.reached, facts.refinable, facts.uncharged, facts.noutputs);
    visit.list(facts.noutputs, facts.error95);
    visit.list(facts.noutputs, facts.judged.seen);
    visit(facts.judged.rows, facts.judged.hidden, facts.judged.rank95, facts.judged.limited, facts.judged.texts);
}

} // namespace dp::release

namespace dp::keeper {

namespace {
struct Error {
    int sqlstate;
    const char *message, *detail, *hint;
};

template <class V> static void fields(V &visit, Error &error) {
    visit(error.sqlstate, error.message, error.detail, error.hint);
}
} // namespace

// ---- messages --------------------------------------------------------------------------------------------------------

template <class Message> void write(border::Writer *writer, const Message &message) {
    border::put_record(writer, message);
}

template <class Message> Message read(border::Reader *reader) {
    return border::take_record<Message>(reader);
}

template void write(border::Writer *, const release::Ask &);
template void write(border::Writer *, const release::Approval &);
template void write(border::Writer *, const release::LimitWish &);
template void write(border::Writer *, const release::Facts &);
template release::Approval read(border::Reader *);
template release::LimitWish read(border::Reader *);
template release::Facts read(border::Reader *);

release::Ask read_ask(border::Reader *reader, const catalog::Asker &asker) {
    auto ask = border::take_record<release::Ask>(reader);
    ask.asker = asker;
    return ask;
}

void write_error(border::Writer *writer, const ErrorData *error) {
    border::put_record(writer, Error{error->sqlerrcode, error->message, error->detail, error->hint});
}

void raise_error(border::Reader *reader) {
    const auto error = border::take_record<Error>(reader);
    ereport(ERROR, (errcode(error.sqlstate), errmsg_internal("%s", error.message == nullptr ? "" : error.message),
                    error.detail == nullptr ? 0 : errdetail_internal("%s", error.detail),
                    error.hint == nullptr ? 0 : errhint("%s", error.hint)));
    pg_unreachable();
}

} // namespace dp::keeper
