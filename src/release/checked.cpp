#include "release/checked.hpp"

namespace dp::release {

static void check_durable(const catalog::Entry &entry, catalog::RequestKind kind, const rows::Question *charged) {
    if (entry.kind != kind || entry.verdict.outcome != catalog::Outcome::committed ||
        entry.what->query != charged->text)
        elog(ERROR, "rows are asked for that were not charged");
}

rows::Paid Checked::paid_by(const catalog::Entry &entry) const {
    check_durable(entry, catalog::RequestKind::charge, charged);
    return rows::Paid(question);
}

rows::PaidSelection Checked::selection_paid_by(const catalog::Entry &entry) const {
    check_durable(entry, catalog::RequestKind::selection, charged);
    return rows::PaidSelection(question);
}

rows::Search Checked::search() const {
    if (is_public(terms.algorithm) || signal != nullptr)
        elog(ERROR, "rows are searched for an epsilon that follows from public facts");
    return rows::Search(question);
}

} // namespace dp::release
