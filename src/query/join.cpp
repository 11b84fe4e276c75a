#include "query/join.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/versions.hpp"
#include "catalog/collation.hpp"
#include "catalog/facade.hpp"
#include "catalog/public_table.hpp"
#include "catalog/settings.hpp"
#include "query/flatten_subselects.hpp"
#include "query/limits.hpp"
#include "query/hints.hpp"

namespace dp::query {

// ---- the shape -----------------------------------------------------------------------------------------------------

namespace {
struct Reading {
    Leaf *leaf;
    Query *query;
    ParseState *source;
    bool single; // one item
};
} // namespace

[[noreturn]] static void refuse_relation(Oid relation) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s is not a restricted view", catalog::qualified_name(relation)),
                    errhint("Query a view that was made with dp_protect().")));
    pg_unreachable();
}

[[noreturn]] static void refuse_item(const Reading *reading, const char *part) {
    refuse_part(reading->single ? part : "a join, or a query without FROM", "Select from one restricted view.",
                reading->source, -1);
}

static From read_item(const RangeTblRef *ref, bool nullable, void *context) {
    auto *reading = static_cast<const Reading *>(context);
    Leaf *leaf = reading->leaf;
    const RangeTblEntry *entry = rt_fetch(ref->rtindex, reading->query->rtable);
    if (entry->rtekind != RTE_RELATION)
        refuse_item(reading, "FROM anything but a restricted view");
    if (entry->tablesample != nullptr)
        refuse_part("TABLESAMPLE", "Leave it out.", reading->source, -1);
    if (reading->single && ref->rtindex != 1)
        refuse_item(reading, "a query of this form");
    const bool is_public = !reading->single && catalog::is_public_table(entry->relid);
    if (!is_public && !OidIsValid(catalog::table_of_facade(entry->relid))) {
        if (reading->single)
            refuse_relation(entry->relid);
        refuse_item(reading, nullptr);
    }
    if (is_public && !entry->inh)
        refuse_part("ONLY", only_remedy, reading->source, -1);
    check_sources(leaf->nsources + 1);
    leaf->sources[leaf->nsources++] = Source{
        entry->relid, ref->rtindex, is_public, nullable, false, border::permission_of(reading->query, entry).role};
    auto *own = makeNode(RangeTblRef);
    own->rtindex = ref->rtindex;
    return From{list_make1(own), nullptr};
}

static Node *read_condition(Node *on, void *context) {
    auto *reading = static_cast<const Reading *>(context);
    Node *condition = static_cast<Node *>(copyObject(on));
    return condition == nullptr || reading->single ? condition : border::columns_of_joined(reading->query, condition);
}

void read_sources(Leaf *leaf, Query *query, ParseState *source) {
    const List *items = query->jointree->fromlist;
    Reading reading = {leaf, query, source, list_length(items) == 1 && IsA(linitial(items), RangeTblRef)};
    From from =
        read_from(reinterpret_cast<Node *>(query->jointree), false, {read_item, read_condition, &reading, source});
    leaf->from = from.items;
    leaf->where = from.where;
    for (int i = leaf->nsources; --i >= 0;)
        if (!leaf->sources[i].is_public)
            leaf->view = leaf->sources[i].relation;
    leaf->njoined = leaf->nsources;
    if (!OidIsValid(leaf->view))
        refuse_relation(leaf->sources[0].relation);
}

List *joins_of(const List *items) {
    List *varnos = NIL, *joins = NIL;
    for (auto *part : border::each<Node>(items))
        find_sources(part, &varnos, &joins);
    return joins;
}

List *conditions_of(const List *items) {
    List *conditions = NIL;
    for (auto *join : border::each<JoinExpr>(joins_of(items)))
        if (join->quals != nullptr)
            conditions = lappend(conditions, join->quals);
    return conditions;
}

namespace {
enum class Added : uint8 {
    elsewhere,
    above,
    done
}; // the source is not there; it is, and the condition is still to be added
} // namespace

static Added add_below(Node *item, int varno, Node *condition) {
    if (IsA(item, RangeTblRef))
        return castNode(RangeTblRef, item)->rtindex == varno ? Added::above : Added::elsewhere;
    auto *join = castNode(JoinExpr, item);
    const Added left = add_below(join->larg, varno, condition);
    if (left != Added::elsewhere)
        return left;
    const Added right = add_below(join->rarg, varno, condition);
    if (right != Added::above || join->jointype != JOIN_LEFT)
        return right;
    join->quals = make_and_qual(condition, join->quals);
    return Added::done;
}

bool add_condition(const List *items, int varno, Node *condition) {
    for (auto *part : border::each<Node>(items))
        if (add_below(part, varno, condition) == Added::done)
            return false;
    return true;
}

// ---- equalities ----------------------------------------------------------------------------------------------------

static const Var *plain_column(const Leaf *leaf, Node *node) {
    while (IsA(node, RelabelType))
        node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
    if (!IsA(node, Var) || castNode(Var, node)->varattno <= 0)
        return nullptr;
    return source_of(leaf, castNode(Var, node)->varno) == nullptr ? nullptr : castNode(Var, node);
}

static Oid family_of(const Var *column) {
    return lookup_type_cache(column->vartype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

// Under a relabeling the operator may be another type's: then it must be of that type's family, in which texts are equal that are.
static bool is_equality(const OpExpr *call, const Var *left, const Var *right) {
    const Oid family = family_of(left);
    return OidIsValid(family) && family == family_of(right) &&
           get_op_opfamily_strategy(call->opno, family) == BTEqualStrategyNumber;
}

static List *add_equalities(const Leaf *leaf, Node *condition, const JoinExpr *on, List *found) {
    check_stack_depth();
    if (condition == nullptr)
        return found;
    if (IsA(condition, BoolExpr) && castNode(BoolExpr, condition)->boolop == AND_EXPR) {
        for (auto *part : border::each<Node>(castNode(BoolExpr, condition)->args))
            found = add_equalities(leaf, part, on, found);
        return found;
    }
    if (!IsA(condition, OpExpr) || list_length(castNode(OpExpr, condition)->args) != 2)
        return found;
    auto *call = castNode(OpExpr, condition);
    const Var *left = plain_column(leaf, static_cast<Node *>(linitial(call->args)));
    const Var *right = plain_column(leaf, static_cast<Node *>(lsecond(call->args)));
    if (left == nullptr || right == nullptr || left->varno == right->varno || !is_equality(call, left, right))
        return found;
    auto *equality = static_cast<Equality *>(palloc(sizeof(Equality)));
    *equality = Equality{column_number(left), column_number(right), on};
    return lappend(found, equality);
}

List *find_equalities(const Leaf *leaf, const List *items, Node *where) {
    List *found = add_equalities(leaf, where, nullptr, NIL);
    for (auto *join : border::each<JoinExpr>(joins_of(items))) {
        found = add_equalities(leaf, join->quals, join, found);
    }
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

namespace {
struct Links {
    const Linked *sources;
    int n;
    const List *equalities;
    int label[max_sources]; // sources of one label have one unit wherever they are there
};
using Set = uint32; // of sources, a bit each

struct Side {
    Set all, kept; // kept: there in every row of it
};
} // namespace

static Set set_of(int i) {
    return Set{1} << i;
}

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

static bool is_linked(const Links *links, const JoinExpr *on, int a, int b) {
    return is_linked_one_way(links, on, links->sources[a], links->sources[b]) ||
           is_linked_one_way(links, on, links->sources[b], links->sources[a]);
}

static void rename(int *label, int n, int from, int to) {
    for (int i = 0; i < n; i++)
        if (label[i] == from)
            label[i] = to;
}

// The labels of sources where a condition holds: its links make one of two.
static void apply_links(const Links *links, const JoinExpr *on, Set among, int *label) {
    memcpy(label, links->label, sizeof links->label);
    for (int i = 0; i < links->n; i++)
        for (int j = 0; j < i; j++)
            if ((among & set_of(i)) != 0 && (among & set_of(j)) != 0 && label[i] != label[j] &&
                is_linked(links, on, i, j))
                rename(label, links->n, label[i], label[j]);
}

static bool is_private(const Links *links, int i, Set set) {
    return (set & set_of(i)) != 0 && links->sources[i].path != nullptr;
}

// ---- refusals ------------------------------------------------------------------------------------------------------

static const char *column_text(const Linked &of, AttrNumber column) {
    return psprintf("%s.%s", quote_identifier(get_rel_name(of.source->relation)),
                    quote_identifier(get_attname(of.relation, column, false)));
}

static const char *equality_text(const Linked &a, const AttrNumber *of_a, const Linked &b, const AttrNumber *of_b) {
    StringInfoData text;
    initStringInfo(&text);
    for (int i = 0; i < a.path->ncolumns; i++)
        appendStringInfo(&text, "%s%s = %s", i > 0 ? " AND " : "", column_text(a, of_a[i]), column_text(b, of_b[i]));
    return text.data;
}

// Returns the collation to write for two columns; null: they are compared as they are. The database's gives way to a column's own.
static const char *collation_text(const Linked &a, AttrNumber of_a, const Linked &b, AttrNumber of_b) {
    Oid type, one, other;
    int32 typmod;
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

[[noreturn]] static void refuse_unlinked(const Links *links, int unlinked, Set to, bool nullable) {
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
                same = links->sources[i].relation == source.relation;
            }
            way = way == nullptr ? way_text(links->sources[i]) : way;
        }
    const bool tested = source.source->tested;
    const char *same_people = same ? " Rows of two people are never answered together." : "";
    const char *hint =
        collations != nullptr          ? collations
        : columns != nullptr && tested ? psprintf("Add %s to the conditions of the sub-SELECT.%s", columns, same_people)
        : columns != nullptr && nullable ? psprintf("Write into the ON of that outer join: %s.", columns)
        : same ? psprintf("Add %s to the conditions of the join, with the two aliases for the view's name.%s", columns,
                          same_people)
        : columns != nullptr
            ? psprintf("Add %s to the conditions of the join, by their aliases if they have any.", columns)
        : way != nullptr ? psprintf("Join a restricted view of %s as well, by the columns that lead to it.", way)
                         : "Ask each by itself, and join the answers.";
    if (other == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("an outer join that keeps rows of no person is not supported in a query on a restricted view"),
                 errdetail("What is kept would not be anybody's where %s has no row.", source.name),
                 errhint("Write the restricted view on the side that is kept, or use an inner join.")));
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

// ---- which rows are joined -----------------------------------------------------------------------------------------

static int number_of(const Links *links, int varno) {
    for (int i = 0; i < links->n; i++)
        if (links->sources[i].source->varno == varno)
            return i;
    elog(ERROR, "an entry of FROM is no source");
}

static Side look_at(Links *links, Node *item);

// Where ON holds each source of the nullable side has the unit of one that is kept. Elsewhere it is NULL, for reasons of that unit's rows
// alone. What ON says of the kept side holds for some of its rows only: it makes no one of two labels there.
static Side look_at_outer(Links *links, const JoinExpr *join) {
    const Side left = look_at(links, join->larg), right = look_at(links, join->rarg);
    int label[max_sources], tied[max_sources];
    apply_links(links, join, left.all | right.all, label);
    for (int i = 0; i < links->n; i++) {
        tied[i] = -1;
        for (int j = 0; j < links->n && (right.all & set_of(i)) != 0 && tied[i] < 0; j++)
            if (is_private(links, j, left.all) && label[j] == label[i])
                tied[i] = links->label[j];
        if (is_private(links, i, right.all) && tied[i] < 0)
            refuse_unlinked(links, i, left.all, true);
    }
    for (int i = 0; i < links->n; i++)
        if (tied[i] >= 0)
            links->label[i] = tied[i];
    return Side{left.all | right.all, left.kept};
}

static Side look_at(Links *links, Node *item) {
    check_stack_depth();
    if (IsA(item, RangeTblRef)) {
        Set alone = set_of(number_of(links, castNode(RangeTblRef, item)->rtindex));
        return Side{alone, alone};
    }
    auto *join = castNode(JoinExpr, item);
    if (join->jointype == JOIN_LEFT)
        return look_at_outer(links, join);
    const Side left = look_at(links, join->larg), right = look_at(links, join->rarg);
    return Side{left.all | right.all, left.kept | right.kept};
}

static Set look_at_all(Links *links, const List *items) {
    Set kept = 0;
    for (auto *part : border::each<Node>(items))
        kept |= look_at(links, part).kept;
    int label[max_sources], first = -1;
    apply_links(links, nullptr, kept, label);
    for (int i = 0; i < links->n; i++) {
        if (!is_private(links, i, kept))
            continue;
        if (first >= 0 && label[i] != label[first])
            refuse_unlinked(links, i, kept, false);
        first = first < 0 ? i : first;
    }
    if (first < 0)
        elog(ERROR, "a leaf has no private source that is kept");
    return kept;
}

// ---- how many rows -------------------------------------------------------------------------------------------------

static Set sources_below(const Links *links, Node *item) {
    List *varnos = NIL, *joins = NIL;
    find_sources(item, &varnos, &joins);
    Set all = 0;
    ListCell *cell;
    foreach (cell, varnos)
        all |= set_of(number_of(links, lfirst_int(cell)));
    return all;
}

// Whether an equality says what a column of `target` is, where one of `known` is there. That of an outer join says it of its
// nullable side alone: rows of the kept one are there whether it holds or not.
static bool determines(const Links *links, const Equality *equality, AttrNumber column, AttrNumber by, Set known,
                       int target, Set kept) {
    const int other = number_of(links, varno_of(by));
    if (number_of(links, varno_of(column)) != target || (known & set_of(other)) == 0)
        return false;
    return equality->on == nullptr ? (kept & set_of(target)) != 0 && (kept & set_of(other)) != 0
                                   : (sources_below(links, equality->on->rarg) & set_of(target)) != 0;
}

namespace {
// Columns of a source that are known where some others are there.
struct Known {
    int n;
    AttrNumber columns[catalog::max_unit_columns + 64];
};
} // namespace

// From the unit, and from rows of `known`.
static Known known_columns(const Links *links, int target, Set known, Set kept) {
    const Linked &source = links->sources[target];
    Known found = {};
    AttrNumber *columns = found.columns;
    int n = 0;
    for (int i = 0; source.path != nullptr && source.path->direct && i < source.path->ncolumns; i++)
        columns[n++] = source.path->columns[i];
    for (auto *equality : border::each<const Equality>(links->equalities)) {
        if (n == lengthof(found.columns))
            break; // no key is longer
        if (determines(links, equality, equality->left, equality->right, known, target, kept))
            columns[n++] = attno_of(equality->left);
        else if (determines(links, equality, equality->right, equality->left, known, target, kept))
            columns[n++] = attno_of(equality->right);
    }
    found.n = n;
    return found;
}

// Whether one row at most is there for values of the unit and of rows of `known`.
static bool is_determined(const Links *links, int target, const Known &known) {
    return known.n > 0 && catalog::covers_key(links->sources[target].relation, known.n, known.columns);
}

constexpr int64 most_rows = int64{1} << 40; // beyond it is not told how many

static int64 times(int64 a, int64 b) {
    return a > most_rows / Max(b, 1) ? most_rows : a * b;
}

// Rows of one unit, or with one value of the columns that a public table is joined by.
static int64 rows_of(const Linked &source, const Known &known) {
    if (source.path != nullptr)
        return source.path->keyed ? 1 : source.path->max_rows;
    if (known.n == 0)
        return most_rows;
    return source.multiplicity == nullptr ? 1 : Max(source.multiplicity(source, known.n, known.columns), 1);
}

// Each public source by an equality with one that is reached already, or all of its rows would be there for each other one.
static void check_reached(const Links *links, Set kept) {
    Set reached = 0;
    for (int i = 0; i < links->n; i++)
        if (links->sources[i].path != nullptr)
            reached |= set_of(i);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < links->n; i++)
            if ((reached & set_of(i)) == 0 && known_columns(links, i, reached, kept).n > 0) {
                reached |= set_of(i);
                more = true;
            }
    }
    for (int i = 0; i < links->n; i++)
        if ((reached & set_of(i)) == 0)
            ereport(ERROR,
                    (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                     errmsg("a join with public table %s without an equality is not supported", links->sources[i].name),
                     errdetail("No condition, in ON of its outer join or above it, says that a column of it equals "
                               "one of another table."),
                     errhint("Join it by columns as they are: ON public.column = view.column. Further conditions "
                             "may stand beside it.")));
}

// The smallest product over all orders. Each set of sources is as large as it is made the smallest way.
static int64 smallest_product(const Links *links, Set kept, bool *keyed) {
    const Set all = (Set{1} << links->n) - 1;
    auto *product = static_cast<int64 *>(palloc(sizeof(int64) * (all + 1)));
    auto *by_keys = static_cast<bool *>(palloc(sizeof(bool) * (all + 1)));
    product[0] = 1;
    by_keys[0] = true;
    for (Set set = 1; set <= all; set++) {
        product[set] = most_rows;
        by_keys[set] = false;
        for (int last = 0; last < links->n; last++) {
            const Set before = set & ~set_of(last);
            if (before == set)
                continue;
            const Known known = known_columns(links, last, before, kept);
            const bool one = is_determined(links, last, known);
            product[set] = Min(product[set], times(product[before], one ? 1 : rows_of(links->sources[last], known)));
            by_keys[set] = by_keys[set] || (one && by_keys[before]);
        }
    }
    *keyed = by_keys[all];
    return by_keys[all] ? 1 : product[all];
}

// ---- together ------------------------------------------------------------------------------------------------------

static int steps_of(const catalog::UnitPath *path) {
    int steps = 0;
    for (; !path->direct; path = path->parent)
        steps++;
    return steps;
}

static int anchor_of(const Links *links, Set kept) {
    int anchor = -1;
    for (int i = 0; i < links->n; i++)
        if (is_private(links, i, kept) &&
            (anchor < 0 || steps_of(links->sources[i].path) < steps_of(links->sources[anchor].path)))
            anchor = i;
    return anchor;
}

static bool has_several(const Links *links, int i, Set kept) {
    const catalog::UnitPath *path = links->sources[i].path;
    if (path != nullptr)
        return !path->keyed && path->max_rows != 1;
    const Set others = ((Set{1} << links->n) - 1) & ~set_of(i);
    return !is_determined(links, i, known_columns(links, i, others, kept));
}

static int only_several(const Links *links, Set kept) {
    int found = -1;
    for (int i = 0; i < links->n; i++) {
        if (!has_several(links, i, kept))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found >= 0 && links->sources[found].path == nullptr ? -1 : found;
}

static Set sources_named(const Links *links, Node *condition) {
    const Bitmapset *varnos = pull_varnos(nullptr, condition);
    Set named = 0;
    for (int i = 0; i < links->n; i++)
        if (bms_is_member(links->sources[i].source->varno, varnos))
            named |= set_of(i);
    return named;
}

// Whether a source is on one nullable side, and there alone, of an outer join whose ON names no source beside it and `known`: then it
// has a row beside all rows that have the same ones of `known`, or beside none.
static bool is_found_by(const Links *links, const List *joins, int target, Set known) {
    bool found = false;
    for (auto *join : border::each<JoinExpr>(joins)) {
        if (join->jointype != JOIN_LEFT || (sources_below(links, join->rarg) & set_of(target)) == 0)
            continue;
        if (!IsA(join->rarg, RangeTblRef) || (sources_named(links, join->quals) & ~(known | set_of(target))) != 0)
            return false;
        found = true;
    }
    return found;
}

// From the unit, by keys: what it has one row of at most, then what these lead to.
static void find_one_rows(const Links *links, const List *joins, Set kept, bool *one_row) {
    Set found = 0;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < links->n; i++)
            if ((found & set_of(i)) == 0 && ((kept & set_of(i)) != 0 || is_found_by(links, joins, i, found)) &&
                is_determined(links, i, known_columns(links, i, found, kept))) {
                found |= set_of(i);
                more = true;
            }
    }
    for (int i = 0; i < links->n; i++)
        one_row[i] = (found & set_of(i)) != 0;
}

Joined *join_sources(const Linked *sources, int n, const List *items, List *equalities) {
    Links links = {sources, n, equalities, {}};
    for (int i = 0; i < n; i++)
        links.label[i] = i;
    const Set kept = look_at_all(&links, items);
    auto *joined = static_cast<Joined *>(palloc0(sizeof(Joined)));
    joined->n = n;
    joined->equalities = equalities;
    check_reached(&links, kept);
    joined->max_rows = smallest_product(&links, kept, &joined->keyed);
    joined->anchor = anchor_of(&links, kept);
    joined->several = only_several(&links, kept);
    find_one_rows(&links, joins_of(items), kept, joined->one_row);
    return joined;
}

} // namespace dp::query
