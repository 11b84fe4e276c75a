#include "query/two_columns.hpp"

#include "privacy/joint.hpp"

#include "query/aggregate_table.hpp"

namespace dp::query {

bool takes_two_columns(const Aggref *call) {
    const std::optional<privacy::Aggregate> measure = measure_of(call->aggfnoid);
    return measure && privacy::is_joint(*measure);
}

Node *joint_argument(Node *y, Node *x) {
    return reinterpret_cast<Node *>(
        makeFuncExpr(F_POINT_FLOAT8_FLOAT8, POINTOID, list_make2(y, x), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

List *joint_parts(Node *argument) {
    if (!IsA(argument, FuncExpr) || castNode(FuncExpr, argument)->funcid != F_POINT_FLOAT8_FLOAT8)
        return NIL;
    return castNode(FuncExpr, argument)->args;
}

} // namespace dp::query
