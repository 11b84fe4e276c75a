#include "rows/sources.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "query/leaf_rows.hpp"
#include "query/parse.hpp"
#include "rows/from_clause.hpp"
#include "rows/joined_sources.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/touched.hpp"
#include "rows/unit_links.hpp"
#include "rows/unit_rows.hpp"

namespace dp::rows {

static catalog::Settings *open_settings(const catalog::Reading &reading, Oid view, Oid relation) {
    catalog::Settings *settings = catalog::read_settings(reading, view);
    if (settings == nullptr || settings->relation != relation)
        refuse_state(psprintf("%s is not a registered restricted view", catalog::qualified_name(view)),
                     "Restricted views are made with dp_protect().");
    return settings;
}

// Lists the settings of all tables that are read, at any depth.
static List *settings_of(const Question *question) {
    List *all = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr)
            all = list_concat(all, settings_of(source.people));
        else if (source.settings != nullptr)
            all = lappend(all, source.settings);
    }
    return all;
}

void open_sources(const catalog::Reading &reading, Question *question, ParamListInfo parameters) {
    const query::Leaf *leaf = question->leaf;
    List *relations = NIL;
    question->nsources = leaf->nsources;
    question->sources = zeroed<Source>(leaf->nsources);
    for (int i = 0; i < leaf->nsources; i++) {
        Source *source = &question->sources[i];
        source->source = &leaf->sources[i];
        if (leaf->sources[i].people != nullptr) {
            open_people(reading, question, i, parameters);
            continue;
        }
        source->relation = leaf->sources[i].is_public ? leaf->sources[i].relation
                                                      : catalog::table_of_facade(leaf->sources[i].relation);
        if (leaf->sources[i].rows == nullptr)
            relations = lappend_oid(relations, source->relation);
    }
    lock_in_order(relations);
    for (int i = 0; i < leaf->nsources; i++) {
        Source *source = &question->sources[i];
        if (!source->source->is_public && source->people == nullptr)
            source->settings = open_settings(reading, source->source->relation, source->relation);
    }
    List *all = settings_of(question);
    question->settings = array_of<catalog::Settings>(1);
    *question->settings = *static_cast<const catalog::Settings *>(linitial(all)); // its versions become those of all
    List *others = list_delete_first(all);
    for (auto *other : border::each<const catalog::Settings>(others))
        check_one_domain(question->settings, other);
    catalog::join_settings(question->settings, others);
    for (int i = 0; i < leaf->nsources; i++)
        if (leaf->sources[i].is_public)
            check_declared(reading, question->settings, leaf->sources[i]);
}

// ---- checks --------------------------------------------------------------------------------------------------------

static const List *lock_and_check_all(const Question *question) {
    return is_joined(question) ? lock_and_check_joined(question) : lock_and_check(question->sources[0].settings);
}

static Units *units_of_all(const Question *question, const catalog::Reading *reading) {
    if (is_joined(question) && !has_branches(question))
        return joined_units(question, reading);
    const catalog::UnitPath *path = question->sources[0].settings->unit;
    return path == nullptr ? nullptr : units_of(question, path, 1, 1, nullptr);
}

// All other types of a leaf follow from these, from columns, which keep theirs, or from what PostgreSQL brings along.
static Oid type_named(Node *node) {
    switch (nodeTag(node)) {
    case T_Const:
        return castNode(Const, node)->consttype;
    case T_Param:
        return castNode(Param, node)->paramtype;
    case T_CoerceViaIO:
        return castNode(CoerceViaIO, node)->resulttype;
    default:
        return InvalidOid;
    }
}

static void hold_type(Oid type) {
    LOCKTAG tag;
    SET_LOCKTAG_OBJECT(tag, MyDatabaseId, TypeRelationId, type, 0);
    if (LockAcquire(&tag, AccessShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("a lock is in the way")));
    AcceptInvalidationMessages();
    if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
        refuse_state("a type that the query names was dropped", "Make it again, and ask again.");
}

// Locks the types that somebody made and a leaf names, until the transaction ends: whether one that is gone is missed is a matter of rows.
// 55000: one is gone; 55P03: somebody is dropping it.
static void hold_types(const Question *question) {
    if (question->leaf == nullptr || question->leaf->query == nullptr) // nobody wrote it
        return;
    border::visit_query(const_cast<Query *>(question->leaf->query), 0, [](Node *node, Index) {
        const Oid type = type_named(node);
        if (type >= FirstNormalObjectId) {
            hold_type(type);
            hold_type(query::part_of(type));
        }
        return border::Step::in;
    });
}

static AttrNumber *same_columns(int n) {
    auto *map = zeroed<AttrNumber>(n + 1);
    for (int i = 1; i <= n; i++)
        map[i] = static_cast<AttrNumber>(i);
    return map;
}

static void map_columns(Question *question) {
    for (int i = 0; i < question->nsources; i++) {
        Source *source = &question->sources[i];
        source->map = source->people != nullptr     ? same_columns(source->people->leaf->nkeys)
                      : source->settings != nullptr ? catalog::map_columns(source->source->relation, source->relation)
                                                    : same_columns(query::columns_of(source->relation, source->source->rows));
    }
}

static Units *resolve(Question *question, const catalog::Reading *reading) {
    question->checked = lock_and_check_all(question);
    question->remote = catalog::has_foreign_table(question->checked);
    map_columns(question);
    return units_of_all(question, reading);
}

Units *resolve_sources(const catalog::Reading &reading, Question *question) {
    hold_types(question);
    return resolve(question, &reading);
}

Units *resolve_table(Question *question) {
    auto *source = zeroed<query::Source>();
    source->relation = question->settings->view;
    source->varno = 1;
    question->nsources = 1;
    question->sources = array_of<Source>(1);
    *question->sources = Source{source, question->settings, question->settings->relation, nullptr, nullptr};
    return resolve(question, nullptr);
}

const List *check_sources(const Question *question) {
    const List *checked = lock_and_check_all(question);
    hold_types(question);
    check_cells(question);
    if (question->units == nullptr)
        return checked;
    // A limit of rows that was charged for holds, also where a key has come since.
    const Units *now = units_of_all(question, nullptr);
    if (!equal(now->links, question->units->links) || !equal(now->values, question->units->values) ||
        !equal(now->ancestors, question->units->ancestors) || (now->clipped && !question->units->clipped) ||
        has_lost_carried(question, now))
        refuse_state(psprintf("the unit of a row of %s changed while it was asked", question->settings->relation_name),
                     "Its charge stays. Ask again.");
    return checked;
}

Query *select_from_source(const Question *question, int source, List **values) {
    const Source &alone = question->sources[source];
    const Units *units = units_of(question, alone.settings->unit, 1, 1, nullptr);
    Query *query = make_aggregation(relation_entry(alone.relation, true), units->links);
    add_ancestors(query, units->ancestors);
    *values = units->values;
    return query;
}

} // namespace dp::rows
