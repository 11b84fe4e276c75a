#include "release/asked.hpp"

#include "border/scope.hpp"
#include "border/versions.hpp"
#include "query/parse.hpp"
#include "release/fields.hpp"

namespace dp::release {

static void write_value(StringInfo json, const ParamExternData &parameter) {
    appendStringInfoString(json, "{\"type\": ");
    escape_json(json, type_text(parameter.ptype));
    appendStringInfoString(json, ", \"value\": ");
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(parameter.ptype, &output, &is_varlena);
    if (parameter.isnull)
        appendStringInfoString(json, "null");
    else
        escape_json(json, OidOutputFunctionCall(output, parameter.value));
    appendStringInfoChar(json, '}');
}

void write_parameters(StringInfo json, const Ask &ask, bool zoned, const int *columns, int ncolumns) {
    appendStringInfoString(json, "{\"time_zone\": ");
    escape_json(json, ask.time_zone);
    appendStringInfo(json, ", \"zoned\": %s, \"columns\": [", zoned ? "true" : "false");
    for (int i = 0; i < ncolumns; i++)
        appendStringInfo(json, "%s%d", i > 0 ? ", " : "", columns[i] + 1);
    appendStringInfoString(json, "], \"values\": [");
    for (int i = 0; i < ask.parameters->numParams; i++) {
        if (i > 0)
            appendStringInfoString(json, ", ");
        write_value(json, ask.parameters->params[i]);
    }
    appendStringInfoChar(json, ']');
    appendStringInfo(json, ", \"weight\": \"%s\", \"max_rows\": %d, \"max_groups\": %d, \"max_rows_per_group\": %d}",
                     float8out_internal(ask.weight), ask.limits.max_rows, ask.limits.max_groups,
                     ask.limits.max_rows_per_group);
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

} // namespace dp::release
