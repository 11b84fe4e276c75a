#include "rows/joint.hpp"

#include "privacy/joint.hpp"

#include "query/shape.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/sums.hpp"
#include "rows/units.hpp"

namespace dp::rows {

bool has_joint(const Question *question) {
    return query::asks_joint(question->leaf);
}

void check_joint(const Question *question) {
    if (has_joint(question) && is_elsewhere(question))
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("covariances, correlations and lines of regression are not supported where other servers keep the "
                    "rows"),
             errhint("Ask for sums: count(*), sum(x), sum(y), sum(x * y) ... WHERE x IS NOT NULL AND y IS NOT NULL.")));
}

void check_joint_has_risk(const Question *question) {
    if (has_joint(question))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("covariances, correlations and lines of regression are not supported here"),
                        errdetail("They are computed from four or six noisy sums: how far one record moves them is not "
                                  "compared with that noise."),
                        errhint(is_clipped(question) ? "Leave them out."
                                                     : "Leave them out; or look at dp_risk(), dp_risk_records() or "
                                                       "dp_find_epsilon(), which take them as a query with a declared "
                                                       "sensitivity.")));
}

static Node *constant_of(Datum facts) {
    return reinterpret_cast<Node *>(makeConst(BYTEAOID, -1, InvalidOid, -1, facts, false, false));
}

List *joint_columns(const Question *question, int j, Node *column, Node *filter) {
    const privacy::MeasureKind kind = (*question->measures)[j].kind;
    privacy::JointLattice lattice = border::core([&] {
        return privacy::joint_lattice({*question->bounds[j], *question->second_bounds[j]});
    });
    Oid types[2] = {POINTOID, BYTEAOID};
    const Oid function = border::internal_function("lattice_joint", 2, types);
    List *columns = NIL;
    for (int part = 0; part < privacy::coordinates_of(kind); part++) {
        Node *facts = constant_of(joint_facts(lattice, privacy::joint_one(kind), part));
        columns =
            lappend(columns, make_aggregate(function, NUMERICOID, list_make2(another(column), facts), another(filter)));
    }
    return columns;
}

} // namespace dp::rows
