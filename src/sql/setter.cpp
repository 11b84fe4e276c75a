#include "sql/setter.hpp"

#include "border/listed.hpp"
#include "sql/call_arguments.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- options -------------------------------------------------------------------------------------------------------

const char *column_names(const Options &options) {
    return border::listed(0, options.n, [&](int i) { return options.list[i].name; });
}

const char *parameters(const Options &options) {
    return border::listed(0, options.n, [](int i) { return psprintf("$%d", i + 1); });
}

const char *assignments(const Options &options) {
    return border::listed(options.nkeys, options.n,
                          [&](int i) { return psprintf("%s = $%d", options.list[i].name, i + 1); });
}

static Oid *types_of(const Options &options) {
    auto *types = static_cast<Oid *>(palloc(sizeof(Oid) * options.n));
    for (int i = 0; i < options.n; i++)
        types[i] = options.list[i].type;
    return types;
}

Datum copy_of(Datum value, Oid type) {
    int16 length;
    bool by_value;
    get_typlenbyval(type, &length, &by_value);
    return length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) : datumCopy(value, by_value, length);
}

Row read_row(const Visit &visit, const Options &options, std::initializer_list<Oid> keys, const char *from) {
    Row row = {&options, {}, {}};
    for (const Oid &key : keys)
        row.set(static_cast<int>(&key - keys.begin()), ObjectIdGetDatum(key));
    const char *columns = border::listed(options.nkeys, options.n, [&](int i) {
        const Option &option = options.list[i];
        return option.initial == nullptr ? psprintf("p.%s", option.name)
                                         : psprintf("coalesce(p.%s, %s)", option.name, option.initial);
    });
    if (visit.run(psprintf("SELECT %s FROM %s", columns, from), options.nkeys, types_of(options), row.values) != 1)
        refuse_state(psprintf("the domain of %s is gone", catalog::qualified_name(*keys.begin())),
                     "Protect the table again with dp_protect(), for a further view: its totals are rebuilt.");
    MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
    for (int i = options.nkeys; i < options.n; i++) {
        bool isnull;
        const Datum value = border::Spi::value(0, i - options.nkeys + 1, &isnull);
        if (isnull)
            row.clear(i);
        else
            row.set(i, copy_of(value, options.list[i].type));
    }
    MemoryContextSwitchTo(old);
    return row;
}

void merge_arguments(FunctionCallInfo fcinfo, Row *row) {
    for (int i = row->options->nkeys; i < row->options->narguments; i++) {
        const Option &option = row->options->list[i];
        if (PG_ARGISNULL(i))
            continue;
        if (option.takes_away != nullptr && option.takes_away(PG_GETARG_DATUM(i)))
            row->clear(i);
        else
            row->set(i, PG_GETARG_DATUM(i));
    }
}

static void check_word(const Option &option, const char *word) {
    StringInfo hint = makeStringInfo();
    for (const char *const *known = option.words; *known != nullptr; known++) {
        if (strcmp(*known, word) == 0)
            return;
        appendStringInfo(hint, "%s'%s'", known == option.words ? "Use " : known[1] == nullptr ? " or " : ", ", *known);
    }
    if (option.takes_away != nullptr)
        appendStringInfo(hint, "; '' takes the %s away", option.name);
    refuse_value(psprintf("unknown %s: \"%s\"", option.name, word), psprintf("%s.", hint->data));
}

void check_values(const Row &row) {
    for (int i = row.options->nkeys; i < row.options->narguments; i++) {
        const Option &option = row.options->list[i];
        if (row.has(i) && option.words != nullptr)
            check_word(option, row.text_of(i));
        if (row.has(i) && option.check != nullptr)
            option.check(row.values[i], option.name);
    }
}

uint64 run_with_row(const Visit &visit, const char *sql, Row *row) {
    return visit.run(sql, row->options->n, types_of(*row->options), row->values, row->nulls);
}

void check_rules(const Row &row, const char *rules) {
    Row copy = row;
    Visit visit = Visit::read();
    const char *columns = border::listed(
        0, row.options->n, [&](int i) { return psprintf("$%d AS %s", i + 1, row.options->list[i].name); });
    if (run_with_row(visit,
                     psprintf("SELECT r.message, r.detail, r.hint FROM (SELECT %s) p, LATERAL (VALUES %s) "
                              "r (broken, message, detail, hint) WHERE r.broken LIMIT 1",
                              columns, rules),
                     &copy) == 1)
        refuse_value(visit.spi.text(0, 1), visit.spi.text(0, 3), visit.spi.text(0, 2));
    visit.leave();
}

} // namespace dp::sql
