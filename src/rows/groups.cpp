#include "rows/groups.hpp"

#include "border/refuse.hpp"
#include "rows/canonical.hpp"
#include "catalog/foreign_code.hpp"
#include "rows/pinned.hpp"

namespace dp::rows {

static KeyDomain empty_domain(Oid type, Oid collation, int capacity) {
    TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
    if (!OidIsValid(cache->cmp_proc) || !catalog::is_compiled(cache->cmp_proc))
        refuse_form(psprintf("type %s has no order, so it cannot be a group key", format_type_be(type)));
    KeyDomain domain = {};
    domain.values = zeroed<Datum>(Max(capacity, 1));
    domain.nulls = zeroed<bool>(Max(capacity, 1));
    domain.compare = zeroed<FmgrInfo>();
    fmgr_info_copy(domain.compare, &cache->cmp_proc_finfo, CurrentMemoryContext);
    domain.collation = collation;
    return domain;
}

static int compare_keys(const KeyDomain *domain, Datum a, bool a_null, Datum b, bool b_null) {
    if (a_null || b_null)
        return static_cast<int>(a_null) - static_cast<int>(b_null);
    return DatumGetInt32(FunctionCall2Coll(domain->compare, domain->collation, a, b));
}

int KeyDomain::find(Datum value, bool isnull) const {
    int low = 0, high = count - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        int order = compare_keys(this, value, isnull, values[middle], nulls[middle]);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return -1;
}

static int compare_entries(const void *a, const void *b, void *context) {
    auto *domain = static_cast<const KeyDomain *>(context);
    auto *x = static_cast<const NullableDatum *>(a), *y = static_cast<const NullableDatum *>(b);
    return compare_keys(domain, x->value, x->isnull, y->value, y->isnull);
}

static void sort_domain(KeyDomain *domain) {
    auto *entries = zeroed<NullableDatum>(Max(domain->count, 1));
    for (int i = 0; i < domain->count; i++)
        entries[i] = NullableDatum{domain->values[i], domain->nulls[i]};
    qsort_arg(entries, domain->count, sizeof(NullableDatum), compare_entries, domain);
    for (int i = 0; i < domain->count; i++) {
        domain->values[i] = entries[i].value;
        domain->nulls[i] = entries[i].isnull;
    }
}

KeyDomain declared_domain(ArrayType *groups, Oid type, int32 typmod, Oid collation, const char *column_name) {
    // Two texts may be one value, and one value could then be counted in two groups (D09).
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        refuse_form(psprintf("column %s has a nondeterministic collation, so its groups cannot be declared",
                             quote_identifier(column_name)),
                    psprintf("ALTER TABLE ... ALTER COLUMN %s TYPE %s COLLATE \"C\"; then dp_refresh() on its views.",
                             quote_identifier(column_name), format_type_with_typemod(type, typmod)));
    Datum *elements;
    bool *nulls;
    int n;
    deconstruct_array(groups, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
    KeyDomain domain = empty_domain(type, collation, n);
    // As values of the base type: the CHECK of a domain is code of its owner's, and this is read in others' sessions.
    Oid base = getBaseTypeAndTypmod(type, &typmod), input, parameter;
    if (catalog::input_runs_code(base))
        refuse_form(psprintf("groups of type %s cannot be declared", format_type_be(type)), nullptr,
                    "Reading a value of it may run functions of the type's owner.");
    getTypeInputInfo(base, &input, &parameter);
    for (int i = 0; i < n; i++) {
        domain.nulls[i] = nulls[i];
        if (!nulls[i])
            domain.values[i] = OidInputFunctionCall(input, TextDatumGetCString(elements[i]), parameter, typmod);
    }
    domain.count = n;
    for (int i = 0; i < n; i++)
        if (!nulls[i])
            check_declared_length(domain.values[i], type, column_name);
    sort_domain(&domain);
    for (int i = 1; i < n; i++)
        if (compare_keys(&domain, domain.values[i - 1], domain.nulls[i - 1], domain.values[i], domain.nulls[i]) == 0)
            refuse_value(psprintf("the groups of column %s contain a value twice", quote_identifier(column_name)),
                         psprintf("Values are compared as values of type %s.", format_type_be(type)));
    return domain;
}

KeyDomain stored_domain(ArrayType *groups, Oid type, int32 typmod, Oid collation, const char *column_name) {
    return pinned([&] { return declared_domain(groups, type, typmod, collation, column_name); });
}

ArrayType *canonical_groups(const KeyDomain &domain, Oid type) {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(type, &output, &is_varlena);
    auto *texts = zeroed<Datum>(Max(domain.count, 1));
    pinned([&] {
        for (int i = 0; i < domain.count; i++)
            if (!domain.nulls[i])
                texts[i] = CStringGetTextDatum(OidOutputFunctionCall(output, domain.values[i]));
    });
    int dimensions[1] = {domain.count}, lower_bounds[1] = {1};
    return construct_md_array(texts, domain.nulls, 1, dimensions, lower_bounds, TEXTOID, -1, false, TYPALIGN_INT);
}

KeyDomain domain_of_values(Oid type, Oid collation, const Datum *values, const bool *nulls, int n) {
    KeyDomain domain = empty_domain(type, collation, n);
    memcpy(domain.values, values, sizeof(Datum) * n);
    memcpy(domain.nulls, nulls, sizeof(bool) * n);
    domain.count = n;
    sort_domain(&domain);
    int kept = Min(n, 1);
    for (int i = 1; i < n; i++) {
        if (compare_keys(&domain, domain.values[kept - 1], domain.nulls[kept - 1], domain.values[i], domain.nulls[i]) ==
            0)
            continue;
        domain.values[kept] = domain.values[i];
        domain.nulls[kept++] = domain.nulls[i];
    }
    domain.count = kept;
    return domain;
}

bool has_type_domain(Oid type) {
    return getBaseType(type) == BOOLOID || type_is_enum(getBaseType(type));
}

KeyDomain type_domain(Oid type, Oid collation, bool nullable) {
    Oid base = getBaseType(type);
    if (base == BOOLOID) {
        KeyDomain domain = empty_domain(BOOLOID, collation, 3);
        domain.values[1] = BoolGetDatum(true);
        domain.nulls[2] = true;
        domain.count = nullable ? 3 : 2;
        return domain;
    }
    CatCList *labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(base));
    KeyDomain domain = empty_domain(base, collation, labels->n_members + 1);
    for (int i = 0; i < labels->n_members; i++)
        domain.values[domain.count++] = ObjectIdGetDatum(((Form_pg_enum)GETSTRUCT(&labels->members[i]->tuple))->oid);
    ReleaseCatCacheList(labels);
    if (nullable)
        domain.nulls[domain.count++] = true;
    sort_domain(&domain);
    return domain;
}

} // namespace dp::rows
