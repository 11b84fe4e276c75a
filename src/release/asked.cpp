#include "release/asked.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "query/parse.hpp"
#include "catalog/foreign_code.hpp"
#include "release/fields.hpp"

namespace dp::release {

static void write_value(const catalog::JsonText &json, const ParamExternData &parameter) {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(parameter.ptype, &output, &is_varlena);
    json.open(nullptr, '{');
    json("type", type_text(parameter.ptype));
    json("value", parameter.isnull ? nullptr : OidOutputFunctionCall(output, parameter.value));
    json.close('}');
}

void write_parameters(StringInfo text, const Ask &ask, bool zoned, const int *columns, int ncolumns) {
    const catalog::JsonText json{text};
    json.open(nullptr, '{');
    json("time_zone", ask.time_zone);
    json("zoned", zoned);
    json.open("columns", '[');
    for (int i = 0; i < ncolumns; i++)
        json(nullptr, columns[i] + 1);
    json.close(']');
    json.open("values", '[');
    for (int i = 0; i < ask.parameters->numParams; i++)
        write_value(json, ask.parameters->params[i]);
    json.close(']');
    json("weight", static_cast<const char *>(float8out_internal(ask.weight)));
    json("max_rows", ask.limits.max_rows);
    json("max_groups", ask.limits.max_groups);
    json("max_rows_per_group", ask.limits.max_rows_per_group);
    json.close('}');
}

// Written under pinned settings, and read under the same ones. Its type is the server's own or an enum, or it is refused.
static void read_parameter(JsonbContainer *values, int i, Ask *ask) {
    JsonbContainer *value = object_at(values, i);
    if (value == nullptr)
        refuse_unreadable();
    const char *type_name = required_field(value, "type"), *text = text_field(value, "value");
    ParamExternData &parameter = ask->parameters->params[i];
    Oid type = border::type_named(type_name), input, io_parameter;
    if (query::parameter_type(type) != type)
        refuse_unreadable();
    parameter.ptype = ask->parameter_types[i] = type;
    parameter.pflags = PARAM_FLAG_CONST;
    parameter.isnull = text == nullptr;
    getTypeInputInfo(type, &input, &io_parameter);
    if (text != nullptr)
        parameter.value = OidInputFunctionCall(input, pstrdup(text), io_parameter, -1);
}

Ask ask_of(const catalog::Requested &request, const Decision *decision) {
    border::SettingsScope settings = border::SettingsScope::enter();
    Ask ask = {};
    ask.asker = request.asker;
    ask.leaf = request.query;
    JsonbContainer *parameters = &DatumGetJsonbP(request.parameters)->root;
    ask.time_zone = text_field(parameters, "time_zone");
    ask.view = request.view;
    ask.has_epsilon = request.wanted.has_value();
    ask.epsilon = request.wanted.value_or(privacy::Epsilon());
    ask.weight = DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(required_field(parameters, "weight"))));
    ask.wanted.deviations = 1;
    ask.limits = {int_field(parameters, "max_rows"), int_field(parameters, "max_groups"),
                  int_field(parameters, "max_rows_per_group"), false};
    ask.anew = true;
    ask.by_request = true;
    ask.decision = decision;
    int n;
    JsonbContainer *values = array_field(parameters, "values", &n);
    ask.parameters = makeParamList(n);
    ask.parameter_types = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    for (int i = 0; i < n; i++)
        read_parameter(values, i, &ask);
    settings.leave();
    return ask;
}

int *columns_of(const catalog::Requested &request, const query::Leaf *leaf, int *n) {
    JsonbContainer *numbers = array_field(&DatumGetJsonbP(request.parameters)->root, "columns", n);
    auto *columns = static_cast<int *>(palloc(sizeof(int) * (*n + 1)));
    for (int i = 0; i < *n; i++) {
        JsonbValue *value = getIthJsonbValueFromContainer(numbers, i);
        if (value == nullptr || value->type != jbvNumeric)
            refuse_unreadable();
        columns[i] = DatumGetInt32(DirectFunctionCall1(numeric_int4, NumericGetDatum(value->val.numeric))) - 1;
        if (columns[i] < 0 || columns[i] >= leaf->noutputs)
            refuse_unreadable();
    }
    return columns;
}

const char *type_text(Oid type) {
    return format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY);
}

Oid type_of(const query::Leaf *leaf, const query::Output &output) {
    return output.is_key ? leaf->keys[output.index].type : leaf->aggregates[output.index].result_type;
}

void check_same(const catalog::Requested &request, const rows::Question *question) {
    const query::Leaf *leaf = question->leaf;
    if (strcmp(request.shown, question->text) != 0)
        refuse_state(psprintf("request " INT64_FORMAT " means another question now", request.id),
                     "It has to be asked for again with dp_request().", psprintf("It was shown as %s.", request.shown));
    int n, ntypes;
    const int *columns = columns_of(request, leaf, &n);
    Datum *types;
    bool *nulls;
    deconstruct_array(request.types, TEXTOID, -1, false, TYPALIGN_INT, &types, &nulls, &ntypes);
    bool same = n == ntypes;
    for (int i = 0; same && i < n; i++)
        same = !nulls[i] &&
               strcmp(TextDatumGetCString(types[i]), type_text(type_of(leaf, leaf->outputs[columns[i]]))) == 0;
    if (!same)
        refuse_state(psprintf("columns of request " INT64_FORMAT " have other types now", request.id),
                     "It has to be asked for again with dp_request().");
}

Datum *texts_in(ArrayType *array, int *n, bool **nulls) {
    Datum *elements;
    deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, nulls, n);
    return elements;
}

Oid type_kept(Datum name) {
    Oid type = border::type_if_any(TextDatumGetCString(name));
    return OidIsValid(type) ? type : TEXTOID;
}

TupleDesc fetched_columns(const catalog::Requested &request) {
    border::SettingsScope settings = border::SettingsScope::enter();
    int n, nnames;
    bool *nulls;
    Datum *types = texts_in(request.types, &n, &nulls), *names = texts_in(request.names, &nnames, &nulls);
    TupleDesc desc = CreateTemplateTupleDesc(n);
    for (int i = 0; i < n; i++)
        TupleDescInitEntry(desc, i + 1, TextDatumGetCString(names[i]), type_kept(types[i]), -1, 0);
    settings.leave();
    return BlessTupleDesc(desc);
}

// A type that has the name of one that was dropped is read with the rights of whoever fetches: nobody's code must run then.
static Oid read_as(Oid type) {
    if (catalog::input_runs_code(type))
        refuse_state(psprintf("type %s is another one than that of the answer", format_type_be(type)));
    return getBaseType(type);
}

FetchedReader FetchedReader::open(const catalog::Requested &request, TupleDesc desc) {
    FetchedReader reader = {};
    int ntexts, n = reader.ncolumns = desc->natts;
    reader.texts = texts_in(request.rows, &ntexts, &reader.missing);
    reader.nrows = n > 0 ? ntexts / n : 0;
    reader.inputs = static_cast<FmgrInfo *>(palloc0(sizeof(FmgrInfo) * (n + 1)));
    reader.parameters = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    for (int i = 0; i < n; i++) {
        Oid input;
        getTypeInputInfo(read_as(TupleDescAttr(desc, i)->atttypid), &input, &reader.parameters[i]);
        fmgr_info(input, &reader.inputs[i]);
    }
    return reader;
}

void FetchedReader::read(int row, Datum *values, bool *nulls) const {
    for (int i = 0; i < ncolumns; i++) {
        int at = row * ncolumns + i;
        nulls[i] = missing[at];
        values[i] = Datum{0};
        if (!nulls[i])
            values[i] = InputFunctionCall(const_cast<FmgrInfo *>(&inputs[i]), TextDatumGetCString(texts[at]),
                                          parameters[i], -1);
    }
}

} // namespace dp::release
