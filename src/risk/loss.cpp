#include "risk/loss.hpp"

#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "risk/unit_changes.hpp"
#include "rows/cell_site.hpp"
#include "rows/engine.hpp"
#include "rows/may_read.hpp"
#include "rows/unit_contribution.hpp"

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

// Checks that the caller owns the rows, and that they are on this server.
static void check_is_here(const rows::Question *question) {
    (void)rows::OwnRows(question);
    if (!question->remote && !rows::is_elsewhere(question))
        return;
    refuse_form(psprintf("what people of %s have lost is not computed where other servers keep rows",
                         question->settings->relation_name),
                "dp_odometer() has what each of them has lost at most.");
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
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(people->settings->owner);
    border::PathScope path = border::PathScope::enter();
    PushActiveSnapshot(GetActiveSnapshot());
    const int64 all = read_all(people, statements, &sums);
    PopActiveSnapshot();
    path.leave();
    role.leave();
    settings.leave();
    return Max(all - sums.people, int64{0});
}

} // namespace dp::risk
