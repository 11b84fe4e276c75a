// Makes the table of a report that shows each group of an answer: its keys, its exact numbers, and where answers will be.
#include "picture/html.hpp"
#include "risk/printed_risk.hpp"
#include "sql/report.hpp"
#include "sql/risk_calls.hpp"

namespace dp::sql {

using rows::Question;

// The keys of a group are those declared, or come one behind the other as the groups do.
static void read_keys(const Question *question, const risk::Memo *memo, int group, TupleTableSlot *next, Datum *keys, bool *nulls) {
    const int nkeys = question->leaf->nkeys;
    if (next != nullptr) {
        if (!tuplestore_gettupleslot(memo->group_keys, true, false, next))
            elog(ERROR, "the keys of a group are missing");
        slot_getallattrs(next);
        memcpy(keys, next->tts_values, sizeof(Datum) * nkeys);
        memcpy(nulls, next->tts_isnull, nkeys);
        return;
    }
    int64 rest = nkeys == 0 ? 0 : rows::place_of_group(question, group);
    for (int k = nkeys - 1; k >= 0; k--) {
        const rows::KeyDomain &domain = question->domains[k];
        keys[k] = domain.values[rest % domain.count];
        nulls[k] = domain.nulls[rest % domain.count];
        rest /= domain.count;
    }
}

static const char *text_of(const View &view, const risk::Memo *memo, int group, const query::Output &output, Datum key,
                           bool null, const double *errors) {
    if (output.is_key)
        return null ? "NULL" : value_text(view.question->leaf->keys[output.index].type, key);
    const double exact = risk::exact_answer(view.question, memo, group, output.index);
    return page_text(psprintf("%.8g: %s", exact, range_text(Truth{1, exact, exact}, errors[output.index])));
}

static bool is_shown(const query::Output &output) {
    return output.is_key || output.part == query::Part::value;
}

static void add_group(picture::QueryPart *part, const View &view, const risk::Memo *memo, int group, const Datum *keys,
                      const bool *nulls, const double *errors) {
    const query::Leaf *leaf = view.question->leaf;
    std::vector<picture::Data> *cells = border::core([&] {
        auto &groups = part->data.lists["groups"];
        groups.emplace_back();
        return &groups.back().lists["cells"];
    });
    for (int i = 0; i < leaf->noutputs; i++) {
        const query::Output &output = leaf->outputs[i];
        if (!is_shown(output))
            continue;
        const char *name = page_text(output.name);
        const int key = output.is_key ? output.index : 0;
        const char *text = text_of(view, memo, group, output, keys[key], nulls[key], errors);
        border::core([&] { cells->push_back({{{"label", name}, {"value", text}}, {}}); });
    }
}

void add_groups(picture::QueryPart *part, const View &view, const risk::Memo *memo, privacy::Epsilon epsilon) {
    const Question *question = view.question;
    const query::Leaf *leaf = question->leaf;
    if (memo->ngroups * leaf->naggregates < 2 || memo->ngroups > risk::most_group_keys)
        return;
    auto *errors = static_cast<double *>(palloc0(sizeof(double) * (leaf->naggregates + 1)));
    for (int a = 0; a < leaf->naggregates; a++)
        errors[a] = noise_of_number(view, memo, epsilon, a).error95;
    for (int i = 0; i < leaf->noutputs; i++) {
        const char *name = page_text(leaf->outputs[i].name);
        if (is_shown(leaf->outputs[i]))
            border::core([&] { part->data.lists["group_columns"].push_back({{{"name", name}}, {}}); });
    }
    auto *keys = static_cast<Datum *>(palloc0(sizeof(Datum) * (leaf->nkeys + 1)));
    auto *nulls = static_cast<bool *>(palloc0(leaf->nkeys + 1));
    TupleTableSlot *next = question->thresholded ? MakeSingleTupleTableSlot(memo->key_desc, &TTSOpsMinimalTuple) : nullptr;
    for (int group = 0; group < memo->ngroups; group++) {
        read_keys(question, memo, group, next, keys, nulls);
        add_group(part, view, memo, group, keys, nulls, errors);
    }
    if (next != nullptr)
        ExecDropSingleTupleTableSlot(next);
}

} // namespace dp::sql
