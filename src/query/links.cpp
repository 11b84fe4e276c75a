#include "query/links.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/varnos.hpp"
#include "catalog/collation.hpp"
#include "catalog/relations.hpp"
#include "query/from.hpp"
#include "query/make.hpp"

namespace dp::query {

// ---- equalities ----------------------------------------------------------------------------------------------------

static const Var *plain_column(const Leaf *leaf, Node *node) {
    node = without_equal_relabelings(node);
    if (!IsA(node, Var) || castNode(Var, node)->varattno <= 0)
        return nullptr;
    return source_of(leaf, castNode(Var, node)->varno) == nullptr ? nullptr : castNode(Var, node);
}

static Oid family_of(const Var *column) {
    return lookup_type_cache(column->vartype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

// The operator tells values apart as the columns' types do.
static bool is_equality(const OpExpr *call, const Var *left, const Var *right) {
    const Oid family = family_of(left);
    return OidIsValid(family) && family == family_of(right) &&
           get_op_opfamily_strategy(call->opno, family) == BTEqualStrategyNumber;
}

// The column of a public source that a comparison is of, below casts that keep different values apart; null: it is of another, or below
// a cast behind which different values may be equal, so that a key of the column is none of the comparison.
static const Var *public_column(const Leaf *leaf, Node *node) {
    static const Oid casts[] = {F_INT4_INT2,    F_INT8_INT2,   F_INT8_INT4,   F_NUMERIC_INT2,  F_NUMERIC_INT4,
                                F_NUMERIC_INT8, F_FLOAT8_INT2, F_FLOAT8_INT4, F_TIMESTAMP_DATE};
    for (Oid cast : casts)
        if (IsA(node, FuncExpr) && castNode(FuncExpr, node)->funcid == cast)
            node = static_cast<Node *>(linitial(castNode(FuncExpr, node)->args));
    const Var *column = plain_column(leaf, node);
    return column != nullptr && source_of(leaf, column->varno)->is_public ? column : nullptr;
}

// Whether an expression is over sources: a column that EXISTS gives is of none.
static bool are_sources(const Leaf *leaf, const Bitmapset *varnos) {
    for (int varno = -1; (varno = bms_next_member(varnos, varno)) >= 0;)
        if (source_of(leaf, varno) == nullptr)
            return false;
    return !bms_is_empty(varnos);
}

// column = expression, by the operator that values of the column, or of what it is cast to, are told apart by.
static List *add_determined(const Leaf *leaf, const OpExpr *call, int place, const JoinExpr *on, List *found) {
    auto *side = static_cast<Node *>(list_nth(call->args, place)),
         *other = static_cast<Node *>(list_nth(call->args, 1 - place));
    const Var *column = public_column(leaf, side);
    Bitmapset *by = border::varnos_of(other);
    const Oid family = lookup_type_cache(exprType(side), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    if (column == nullptr || !are_sources(leaf, by) || bms_is_member(column->varno, by) || !OidIsValid(family) ||
        get_op_opfamily_strategy(call->opno, family) != BTEqualStrategyNumber)
        return found;
    auto *equality = static_cast<Equality *>(palloc(sizeof(Equality)));
    *equality = Equality{column_number(column), InvalidAttrNumber, on, by};
    return lappend(found, equality);
}

static List *add_equality(const Leaf *leaf, OpExpr *call, const JoinExpr *on, List *found) {
    if (!IsA(call, OpExpr) || list_length(call->args) != 2)
        return found;
    const Var *left = plain_column(leaf, static_cast<Node *>(linitial(call->args)));
    const Var *right = plain_column(leaf, static_cast<Node *>(lsecond(call->args)));
    if (left == nullptr || right == nullptr)
        return add_determined(leaf, call, 1, on, add_determined(leaf, call, 0, on, found));
    if (left->varno == right->varno || !is_equality(call, left, right))
        return found;
    auto *equality = static_cast<Equality *>(palloc(sizeof(Equality)));
    *equality = Equality{column_number(left), column_number(right), on, nullptr};
    return lappend(found, equality);
}

List *find_equalities(const Leaf *leaf, const List *items, Node *where) {
    List *found = NIL;
    for (auto *conjunct : border::each<OpExpr>(conjuncts_of(where)))
        found = add_equality(leaf, conjunct, nullptr, found);
    for (auto *join : border::each<JoinExpr>(joins_of(items)))
        for (auto *conjunct : border::each<OpExpr>(conjuncts_of(join->quals)))
            found = add_equality(leaf, conjunct, join, found);
    return found;
}

static bool is_equated(const List *equalities, const JoinExpr *on, AttrNumber one, AttrNumber other) {
    for (auto *equality : border::each<const Equality>(equalities)) {
        if (equality->on == on && ((equality->left == one && equality->right == other) ||
                                   (equality->left == other && equality->right == one)))
            return true;
    }
    return false;
}

bool are_equated(const List *equalities, const JoinExpr *on, int n, int varno, const AttrNumber *columns, int other,
                 const AttrNumber *others) {
    for (int i = 0; i < n; i++)
        if (!is_equated(equalities, on, column_number(varno, columns[i]), column_number(other, others[i])))
            return false;
    return n > 0;
}

// ---- links ---------------------------------------------------------------------------------------------------------

// The columns by which two sources would be linked: those of the unit in both; those of a step, and of the key that it refers to;
// those of two steps to one key. False: there are none.
static bool linking_columns(const Linked &a, const Linked &b, const AttrNumber **of_a, const AttrNumber **of_b) {
    if (a.path == nullptr || b.path == nullptr)
        return false;
    *of_a = a.path->columns;
    *of_b = b.path->columns;
    if (a.path->direct && b.path->direct)
        return a.path->ncolumns == b.path->ncolumns;
    if (!a.path->direct && a.path->parent_relation == b.relation) {
        *of_b = a.path->parent_key;
        return true;
    }
    return false;
}

// Two steps to one key, in the order of the first's columns.
static bool sibling_columns(const Linked &a, const Linked &b, AttrNumber *of_b) {
    const catalog::UnitPath *first = a.path, *second = b.path;
    if (first == nullptr || second == nullptr || first->direct || second->direct ||
        first->parent_relation != second->parent_relation || first->ncolumns != second->ncolumns)
        return false;
    for (int i = 0; i < first->ncolumns; i++) {
        int at = 0;
        while (at < second->ncolumns && second->parent_key[at] != first->parent_key[i])
            at++;
        if (at == second->ncolumns)
            return false;
        of_b[i] = second->columns[at];
    }
    return true;
}

static bool is_linked_one_way(const Links *links, const JoinExpr *on, const Linked &a, const Linked &b) {
    const AttrNumber *of_a, *of_b;
    AttrNumber of_sibling[catalog::max_unit_columns];
    if (linking_columns(a, b, &of_a, &of_b) &&
        are_equated(links->equalities, on, a.path->ncolumns, a.source->varno, of_a, b.source->varno, of_b))
        return true;
    return sibling_columns(a, b, of_sibling) && are_equated(links->equalities, on, a.path->ncolumns, a.source->varno,
                                                            a.path->columns, b.source->varno, of_sibling);
}

// Rows of one table that agree in a key of it are one row.
static bool are_one_row(const Links *links, const JoinExpr *on, const Linked &a, const Linked &b) {
    AttrNumber columns[INDEX_MAX_KEYS];
    int n = 0;
    if (a.path == nullptr || !OidIsValid(a.relation) || a.relation != b.relation)
        return false;
    for (auto *equality : border::each<const Equality>(links->equalities)) {
        const AttrNumber attno = attno_of(equality->left);
        if (n < INDEX_MAX_KEYS && equality->on == on && attno > 0 && equality->by == nullptr &&
            are_equated(list_make1(const_cast<Equality *>(equality)), on, 1, a.source->varno, &attno, b.source->varno, &attno))
            columns[n++] = attno;
    }
    return n > 0 && catalog::covers_key(a.relation, n, columns);
}

static bool is_linked(const Links *links, const JoinExpr *on, int a, int b) {
    return are_one_row(links, on, links->sources[a], links->sources[b]) ||
           is_linked_one_way(links, on, links->sources[a], links->sources[b]) ||
           is_linked_one_way(links, on, links->sources[b], links->sources[a]);
}

static void rename(int *label, int n, int from, int to) {
    for (int i = 0; i < n; i++)
        if (label[i] == from)
            label[i] = to;
}

void apply_links(const Links *links, const JoinExpr *on, SourceSet among, int *label) {
    memcpy(label, links->label, sizeof links->label);
    for (int i = 0; i < links->n; i++)
        for (int j = 0; j < i; j++)
            if ((among & set_of(i)) != 0 && (among & set_of(j)) != 0 && label[i] != label[j] &&
                is_linked(links, on, i, j))
                rename(label, links->n, label[i], label[j]);
}

// ---- refusals ------------------------------------------------------------------------------------------------------

static const char *column_text(const Linked &of, AttrNumber column) {
    if (of.source->people != nullptr)
        return psprintf("%s.%s", quote_identifier(of.entry->eref->aliasname),
                        column > of.source->people->nkeys
                            ? "UNIT"
                            : quote_identifier(strVal(list_nth(of.entry->eref->colnames, column - 1))));
    return psprintf("%s.%s", quote_identifier(get_rel_name(of.source->relation)),
                    quote_identifier(get_attname(of.relation, column, false)));
}

static const char *equality_text(const Linked &a, const AttrNumber *of_a, const Linked &b, const AttrNumber *of_b) {
    StringInfo text = makeStringInfo();
    for (int i = 0; i < a.path->ncolumns; i++)
        appendStringInfo(text, "%s%s = %s", i > 0 ? " AND " : "", column_text(a, of_a[i]), column_text(b, of_b[i]));
    return text->data;
}

// Returns the collation to write for two columns; null: they are compared as they are. The database's gives way to a column's own.
static const char *collation_text(const Linked &a, AttrNumber of_a, const Linked &b, AttrNumber of_b) {
    Oid type, one, other;
    int32 typmod;
    if (a.source->people != nullptr || b.source->people != nullptr)
        return nullptr;
    get_atttypetypmodcoll(b.relation, of_b, &type, &typmod, &other);
    get_atttypetypmodcoll(a.relation, of_a, &type, &typmod, &one);
    if (one == other || one == DEFAULT_COLLATION_OID || other == DEFAULT_COLLATION_OID)
        return nullptr;
    return psprintf("The controller gives both one collation: ALTER TABLE %s ALTER COLUMN %s TYPE %s COLLATE %s; then "
                    "dp_refresh() on its views.",
                    catalog::qualified_name(a.relation), quote_identifier(get_attname(a.relation, of_a, false)),
                    format_type_with_typemod(type, typmod), catalog::qualified_collation(other));
}

static const char *collations_text(const Linked &a, const AttrNumber *of_a, const Linked &b, const AttrNumber *of_b) {
    const char *text = nullptr;
    for (int i = 0; i < a.path->ncolumns && text == nullptr; i++)
        text = collation_text(a, of_a[i], b, of_b[i]);
    return text;
}

// The columns to use, or what else is said of them; null: no columns link these two.
static const char *link_text(const Linked &a, const Linked &b, decltype(equality_text) *text) {
    const AttrNumber *of_a, *of_b;
    AttrNumber of_sibling[catalog::max_unit_columns];
    if (linking_columns(a, b, &of_a, &of_b))
        return text(a, of_a, b, of_b);
    if (linking_columns(b, a, &of_b, &of_a))
        return text(b, of_b, a, of_a);
    return sibling_columns(a, b, of_sibling) ? text(a, a.path->columns, b, of_sibling) : nullptr;
}

// Names the table that the rows refer to, which would lead to the unit; null where they have it themselves.
static const char *way_text(const Linked &of) {
    return of.path->direct ? nullptr : catalog::qualified_name(of.path->parent_relation);
}

// Tells a sub-SELECT that does not show whose its rows are.
static bool hides_unit(const Linked &of) {
    ListCell *cell;
    foreach (cell, of.source->people == nullptr ? NIL : of.source->people->per_unit->unit)
        if (lfirst_int(cell) > of.source->people->nkeys)
            return true;
    return false;
}

static bool hides_unit_of_any(const Links *links, SourceSet among) {
    bool hidden = false;
    for (int i = 0; i < links->n; i++)
        hidden = hidden || ((among & set_of(i)) != 0 && hides_unit(links->sources[i]));
    return hidden;
}

void refuse_unlinked(const Links *links, int unlinked, SourceSet to, bool nullable) {
    const Linked &source = links->sources[unlinked];
    const char *columns = nullptr, *collations = nullptr, *other = nullptr, *way = way_text(source);
    bool same = false;
    for (int i = 0; i < links->n && columns == nullptr; i++)
        if (is_private(links, i, to) && i != unlinked) {
            other = other == nullptr ? links->sources[i].name : other;
            columns = link_text(source, links->sources[i], equality_text);
            if (columns != nullptr) {
                collations = link_text(source, links->sources[i], collations_text);
                other = links->sources[i].name;
                same = OidIsValid(source.relation) && links->sources[i].relation == source.relation;
            }
            way = way == nullptr ? way_text(links->sources[i]) : way;
        }
    const bool tested = source.source->tested, hidden = hides_unit(source) || hides_unit_of_any(links, to);
    const char *same_people = same ? " Rows of two people are never answered together." : "";
    const char *hint =
        hidden                         ? "Show the columns that name a person in the sub-SELECT, and join it by them."
        : collations != nullptr        ? collations
        : columns != nullptr && tested ? psprintf("Add %s to the conditions of the sub-SELECT.%s", columns, same_people)
        : columns != nullptr && nullable ? psprintf("Write into the ON of that outer join: %s.", columns)
        : same ? psprintf("Add %s to the conditions of the join, with the two aliases for the view's name.%s", columns,
                          same_people)
        : columns != nullptr
            ? psprintf("Add %s to the conditions of the join, by their aliases if they have any.", columns)
        : way != nullptr ? psprintf("Join a restricted view of %s as well, by the columns that lead to it.", way)
                         : "Ask each by itself, and join the answers.";
    if (other == nullptr)
        refuse_form(
            "an outer join that keeps rows of no person is not supported in a query on a restricted view",
            "Write the restricted view on the side that is kept, or use an inner join: groups of a public table, "
            "or of VALUES, are shown where nobody is as well.",
            psprintf("What is kept would not be anybody's where %s has no row.", source.name));
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg("a join of %s and %s that may bring rows of different people together is not supported", other,
                source.name),
         tested
             ? errdetail("Nothing in the sub-SELECT says that its rows are of the person whose row is outside of it.")
         : nullable ? errdetail("%s is on the nullable side of an outer join: what links it must stand in its ON, not "
                                "in WHERE.",
                                source.name)
                    : errdetail("Nothing in WHERE or in ON of an inner join says that joined rows are of one person."),
         errhint("%s", hint)));
    pg_unreachable();
}

} // namespace dp::query
