// Computes what units bear of charges.
#include <cmath>
#include <new>

#include "risk/change.hpp"
#include "risk/loss_sums.hpp"
#include "rows/quantiles.hpp"
#include "rows/units.hpp"

namespace dp::risk {

namespace {
struct Work {
    const List *asked;
    LossSums *sums;
};
} // namespace

static privacy::Share share_of_unit(const AskedQuestion &asked, const rows::UnitContribution &unit) {
    const rows::Question *question = asked.question;
    privacy::Share share;
    for (int j = 0, first = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        double norm = counted(question, j, unit), square = norm * norm;
        for (int i = 0; i < unit.ngroups; i++)
            for (int c = first; c < first + measure.coordinates(); c++) {
                const auto value = static_cast<double>(unit.values[int64{i} * question->ncoordinates + c]);
                norm += std::abs(value);
                square += value * value;
            }
        add_measure(asked, j, norm, square, &share);
        first += measure.coordinates();
    }
    return share;
}

static void take_unit(void *sink, rows::Unit *unit) {
    auto *work = static_cast<Work *>(sink);
    privacy::PersonLoss loss;
    ListCell *cell;
    foreach (cell, work->asked) {
        const auto *asked = static_cast<const AskedQuestion *>(lfirst(cell));
        rows::UnitContribution *brought = &unit->contribution[foreach_current_index(cell)];
        rows::clip_contribution(asked->question, brought);
        privacy::add_charged(&loss, asked->charged, share_of_unit(*asked, *brought),
                             static_cast<std::size_t>(Max(asked->question->nmeasures, 1)));
    }
    add_part_of_loss(work->sums, unit->columns, loss);
}

void read_losses_of_units(const List *asked, LossSums *sums) {
    const rows::Question *question = static_cast<const AskedQuestion *>(linitial(asked))->question;
    Work work = {asked, sums};
    const int n = list_length(asked);
    auto **rights = static_cast<const rows::MayRead **>(palloc(sizeof(rows::MayRead *) * n));
    for (int i = 0; i < n; i++)
        rights[i] = new (palloc(sizeof(rows::OwnRows)))
            rows::OwnRows(static_cast<const AskedQuestion *>(list_nth(asked, i))->question);
    if (!rows::for_each_unit_of_several(rights, n, question->checked, true, take_unit, &work))
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                        errmsg("partitions of %s changed while it was asked", question->settings->relation_name),
                        errhint("Ask again.")));
}

} // namespace dp::risk
