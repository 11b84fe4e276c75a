#include "query/joint.hpp"

namespace dp::query {

namespace {
struct JointFunction {
    Oid function;
    privacy::Aggregate fn;
};
} // namespace

static const JointFunction joint_functions[] = {
    {F_COVAR_POP, privacy::Aggregate::covar_pop}, {F_COVAR_SAMP, privacy::Aggregate::covar_samp},
    {F_CORR, privacy::Aggregate::corr},           {F_REGR_SLOPE, privacy::Aggregate::regr_slope},
    {F_REGR_R2, privacy::Aggregate::regr_r2},     {F_REGR_INTERCEPT, privacy::Aggregate::regr_intercept},
};

bool identify_joint(const Aggref *call, privacy::Aggregate *fn) {
    for (const JointFunction &joint : joint_functions)
        if (joint.function == call->aggfnoid) {
            *fn = joint.fn;
            return true;
        }
    return false;
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
