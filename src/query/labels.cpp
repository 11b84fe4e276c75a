#include "query/labels.hpp"

namespace dp::query {

static Oid order_of(const Expr *node) {
    return lookup_type_cache(exprType(reinterpret_cast<const Node *>(node)), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

// Under a deterministic collation only equal texts are equal.
bool keeps_equality(const RelabelType *cast) {
    const Oid order = order_of(cast->arg);
    const Oid one = cast->resultcollid, other = exprCollation(reinterpret_cast<const Node *>(cast->arg));
    return OidIsValid(order) && order == order_of(&cast->xpr) &&
           (one == other || (OidIsValid(one) && OidIsValid(other) && get_collation_isdeterministic(one) &&
                             get_collation_isdeterministic(other)));
}

Node *without_equal_relabelings(Node *node) {
    while (node != nullptr && IsA(node, RelabelType) && keeps_equality(castNode(RelabelType, node)))
        node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
    return node;
}

} // namespace dp::query
