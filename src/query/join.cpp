#include "query/join.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/varnos.hpp"
#include "query/from.hpp"

namespace dp::query {

namespace {
struct Side {
    SourceSet all, kept; // kept: there in every row of it
};
} // namespace

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
        SourceSet alone = set_of(number_of(links, castNode(RangeTblRef, item)->rtindex));
        return Side{alone, alone};
    }
    auto *join = castNode(JoinExpr, item);
    if (join->jointype == JOIN_LEFT)
        return look_at_outer(links, join);
    const Side left = look_at(links, join->larg), right = look_at(links, join->rarg);
    return Side{left.all | right.all, left.kept | right.kept};
}

static SourceSet look_at_all(Links *links, const List *items) {
    SourceSet kept = 0;
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

static SourceSet sources_below(const Links *links, Node *item) {
    List *varnos = NIL, *joins = NIL;
    find_sources(item, &varnos, &joins);
    SourceSet all = 0;
    ListCell *cell;
    foreach (cell, varnos)
        all |= set_of(number_of(links, lfirst_int(cell)));
    return all;
}

// Whether an equality says what a column of `target` is, where one of `known` is there. That of an outer join says it of its
// nullable side alone: rows of the kept one are there whether it holds or not.
static bool determines(const Links *links, const Equality *equality, AttrNumber column, SourceSet by, SourceSet known,
                       int target, SourceSet kept) {
    if (number_of(links, varno_of(column)) != target || (by & ~known) != 0)
        return false;
    return equality->on == nullptr ? ((set_of(target) | by) & ~kept) == 0
                                   : (sources_below(links, equality->on->rarg) & set_of(target)) != 0;
}

static SourceSet sources_at(const Links *links, const Bitmapset *varnos) {
    SourceSet all = 0;
    for (int i = 0; i < links->n; i++)
        if (bms_is_member(links->sources[i].source->varno, varnos))
            all |= set_of(i);
    return all;
}

static SourceSet source_at(const Links *links, AttrNumber column) {
    return set_of(number_of(links, varno_of(column)));
}

namespace {
// Columns of a source that are known where some others are there.
struct Known {
    int n;
    AttrNumber columns[catalog::max_unit_columns + 64];
};
} // namespace

// From the unit, and from rows of `known`.
static Known known_columns(const Links *links, int target, SourceSet known, SourceSet kept) {
    const Linked &source = links->sources[target];
    Known found = {};
    AttrNumber *columns = found.columns;
    int n = 0;
    for (int i = 0; source.path != nullptr && source.path->direct && i < source.path->ncolumns; i++)
        columns[n++] = source.path->columns[i];
    for (auto *equality : border::each<const Equality>(links->equalities)) {
        if (n == lengthof(found.columns))
            break; // no key is longer
        const SourceSet by = equality->by != nullptr ? sources_at(links, equality->by) : source_at(links, equality->right);
        if (determines(links, equality, equality->left, by, known, target, kept))
            columns[n++] = attno_of(equality->left);
        else if (equality->by == nullptr && determines(links, equality, equality->right, source_at(links, equality->left), known, target, kept))
            columns[n++] = attno_of(equality->right);
    }
    found.n = n;
    return found;
}

// Whether one row at most is there for values of the unit and of rows of `known`.
static bool is_determined(const Links *links, int target, const Known &known) {
    const Linked &source = links->sources[target];
    if (source.source->rows != nullptr) // no key says what is passed
        return false;
    if (source.key == NIL)
        return known.n > 0 && catalog::covers_key(source.relation, known.n, known.columns);
    List *columns = NIL;
    for (int i = 0; i < known.n; i++)
        columns = lappend_int(columns, known.columns[i]);
    return list_difference_int(source.key, columns) == NIL;
}

constexpr int64 most_rows = int64{1} << 40; // beyond it is not told how many

static int64 times(int64 a, int64 b) {
    return a > most_rows / Max(b, 1) ? most_rows : a * b;
}

static SourceSet all_but(const Links *links, int target) {
    return ((SourceSet{1} << links->n) - 1) & ~set_of(target);
}

// Rows of one unit, or with one value of the columns that a public table is joined by; of one that nothing is equated with, all.
static int64 rows_of(const Links *links, int target, const Known &known, SourceSet kept) {
    const Linked &source = links->sources[target];
    if (source.path != nullptr)
        return source.path->keyed ? 1 : source.path->max_rows;
    if (known.n == 0 && known_columns(links, target, all_but(links, target), kept).n > 0)
        return most_rows;
    return source.multiplicity == nullptr ? 1 : Max(source.multiplicity(source, known.n, known.columns), 1);
}

// Each public source of a sub-SELECT by an equality with one that is reached already: all of its rows would be looked at for each other one.
static void check_reached(const Links *links, SourceSet kept, int njoined) {
    SourceSet reached = (SourceSet{1} << njoined) - 1;
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
            refuse_form(
                psprintf("a sub-SELECT of public table %s without an equality is not supported", links->sources[i].name),
                "Compare columns as they are: WHERE public.column = view.column. Further conditions may stand beside it.",
                "No condition of it says that a column of the table equals one of another table.");
}

// The smallest product over all orders. Each set of sources is as large as it is made the smallest way.
static int64 smallest_product(const Links *links, SourceSet kept, bool *keyed) {
    const SourceSet all = (SourceSet{1} << links->n) - 1;
    auto *product = static_cast<int64 *>(palloc(sizeof(int64) * (all + 1)));
    auto *by_keys = static_cast<bool *>(palloc(sizeof(bool) * (all + 1)));
    product[0] = 1;
    by_keys[0] = true;
    for (SourceSet set = 1; set <= all; set++) {
        product[set] = most_rows;
        by_keys[set] = false;
        for (int last = 0; last < links->n; last++) {
            const SourceSet before = set & ~set_of(last);
            if (before == set)
                continue;
            const Known known = known_columns(links, last, before, kept);
            const bool one = is_determined(links, last, known);
            product[set] = Min(product[set], times(product[before], one ? 1 : rows_of(links, last, known, kept)));
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

static int anchor_of(const Links *links, SourceSet kept) {
    int anchor = -1;
    for (int i = 0; i < links->n; i++)
        if (is_private(links, i, kept) &&
            (anchor < 0 || steps_of(links->sources[i].path) < steps_of(links->sources[anchor].path)))
            anchor = i;
    return anchor;
}

static bool has_several(const Links *links, int i, SourceSet kept) {
    const catalog::UnitPath *path = links->sources[i].path;
    if (path != nullptr)
        return !path->keyed && path->max_rows != 1;
    const Known known = known_columns(links, i, all_but(links, i), kept);
    return !is_determined(links, i, known) &&
           (links->sources[i].source->rows == nullptr || rows_of(links, i, known, kept) > 1);
}

static int only_several(const Links *links, SourceSet kept) {
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

// Whether a source is on one nullable side, and there alone, of an outer join whose ON names no source beside it and `known`: then it
// has a row beside all rows that have the same ones of `known`, or beside none.
static bool is_found_by(const Links *links, const List *joins, int target, SourceSet known) {
    bool found = false;
    for (auto *join : border::each<JoinExpr>(joins)) {
        if (join->jointype != JOIN_LEFT || (sources_below(links, join->rarg) & set_of(target)) == 0)
            continue;
        if (!IsA(join->rarg, RangeTblRef) || (sources_at(links, border::varnos_of(join->quals)) & ~(known | set_of(target))) != 0)
            return false;
        found = true;
    }
    return found;
}

// From the unit, by keys: what it has one row of at most, then what these lead to.
static void find_one_rows(const Links *links, const List *joins, SourceSet kept, bool *one_row) {
    SourceSet found = 0;
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

Joined *join_sources(const Linked *sources, int n, int njoined, const List *items, List *equalities) {
    Links links = {sources, n, equalities, {}};
    for (int i = 0; i < n; i++)
        links.label[i] = i;
    const SourceSet kept = look_at_all(&links, items);
    auto *joined = static_cast<Joined *>(palloc0(sizeof(Joined)));
    joined->n = n;
    joined->equalities = equalities;
    check_reached(&links, kept, njoined);
    joined->max_rows = smallest_product(&links, kept, &joined->keyed);
    joined->anchor = anchor_of(&links, kept);
    joined->several = only_several(&links, kept);
    find_one_rows(&links, joins_of(items), kept, joined->one_row);
    return joined;
}

} // namespace dp::query
