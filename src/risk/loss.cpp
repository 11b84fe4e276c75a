#include "risk/loss.hpp"

#include <new>

#include "border/refuse.hpp"
#include "risk/change.hpp"
#include "risk/people_read.hpp"
#include "risk/unit_changes.hpp"
#include "rows/cell_site.hpp"
#include "rows/engine.hpp"
#include "rows/may_read.hpp"
#include "rows/selection_sums.hpp"
#include "rows/units.hpp"

namespace dp::risk {

// ---- statements ----------------------------------------------------------------------------------------------------

// Whether one statement may read the rows of both.
static bool read_together(const rows::Question *a, const rows::Question *b) {
    const auto zone = [](const rows::Question *question) {
        return question->time_zone == nullptr ? "" : question->time_zone;
    };
    return !rows::is_joined(a) && !rows::is_joined(b) && a->settings->relation == b->settings->relation &&
           rows::is_clipped(a) == rows::is_clipped(b) && strcmp(zone(a), zone(b)) == 0 &&
           (!rows::is_clipped(a) || equal(a->in_touched, b->in_touched));
}

constexpr int most_together = 64; // aggregates of units, each with a state of its own

static bool has_room(const List *questions, const rows::Question *one) {
    if (!rows::is_clipped(one))
        return true;
    int64 size = rows::contribution_size(one);
    ListCell *cell;
    foreach (cell, questions)
        size += rows::contribution_size(static_cast<const AskedQuestion *>(lfirst(cell))->question);
    return list_length(questions) < most_together && size <= rows::largest_contribution;
}

// Returns lists of questions that are read together.
static List *statements_for(const List *asked) {
    List *statements = NIL;
    ListCell *cell, *other;
    foreach (cell, asked) {
        auto *one = static_cast<AskedQuestion *>(lfirst(cell));
        bool found = false;
        foreach (other, statements) {
            auto *questions = static_cast<List *>(lfirst(other));
            found = read_together(static_cast<AskedQuestion *>(linitial(questions))->question, one->question) &&
                    has_room(questions, one->question);
            if (found) {
                lfirst(other) = lappend(questions, one);
                break;
            }
        }
        if (!found)
            statements = lappend(statements, list_make1(one));
    }
    return statements;
}

// Checks that the caller owns the rows, and that people come one by one: rows are on this server, or Citus puts together what each brings.
static void check_is_here(const rows::Question *question) {
    (void)rows::OwnRows(question);
    if (!question->remote && (question->units != nullptr || !rows::is_elsewhere(question)))
        return;
    refuse_form(psprintf("what people of %s have lost is not computed where other servers keep rows",
                         question->settings->relation_name),
                "dp_odometer() has what each of them has lost at most.");
}

// ---- units ---------------------------------------------------------------------------------------------------------

namespace {
struct Work {
    const List *asked;
    LossSums *sums;
};
} // namespace

static privacy::Share share_of_unit(const AskedQuestion &asked, const rows::UnitContribution &unit) {
    const rows::Question *question = asked.question;
    privacy::Share share;
    for (int j = 0; j < question->nmeasures; j++) {
        double norm = counted(question, j, unit), square = norm * norm;
        rows::add_sizes(question, j, unit, &norm, &square);
        add_measure(asked, j, norm, square, &share);
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

static void read_losses_of_units(const List *asked, LossSums *sums) {
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

// ---- reading -------------------------------------------------------------------------------------------------------

static int64 read_statement(const List *asked, LossSums *sums) {
    const rows::Question *question = static_cast<AskedQuestion *>(linitial(asked))->question;
    border::TimeZoneScope zone = border::TimeZoneScope::enter(
        question->time_zone != nullptr ? question->time_zone : GetConfigOption("TimeZone", false, false));
    int64 rows = 0;
    if (rows::is_clipped(question))
        read_losses_of_units(asked, sums);
    else
        rows = read_losses_of_rows(question, asked, sums);
    zone.leave();
    return rows;
}

static int64 read_all(const rows::Question *people, const List *statements, LossSums *sums) {
    int64 rows = 0;
    ListCell *cell;
    foreach (cell, statements) {
        const int64 met = read_statement(static_cast<List *>(lfirst(cell)), sums);
        rows = Max(rows, met);
    }
    end_losses(sums);
    if (people->units != nullptr)
        return count_units(people);
    return statements == NIL ? read_losses_of_rows(people, NIL, sums) : rows;
}

int64 read_losses(const rows::Question *people, const List *asked, TakeLoss take, void *sink) {
    check_is_here(people);
    ListCell *cell;
    foreach (cell, asked)
        check_is_here(static_cast<const AskedQuestion *>(lfirst(cell))->question);
    const List *statements = statements_for(asked);
    TupleDesc key = person_key(people);
    LossSort sort = {};
    LossSums sums = {nullptr, key->natts, take, sink, 0};
    if (list_length(statements) > 1) {
        sort = begin_loss_sort(key, privacy::loss_parts, true, 0);
        sums.sort = &sort;
    }
    int64 all = 0;
    as_reader(people, [&] { all = read_all(people, statements, &sums); });
    return Max(all - sums.people, int64{0});
}

} // namespace dp::risk
