// Implements dp_remaining: how often a statement would be answered.
#include "privacy/denial_words.hpp"

#include "sql/call_arguments.hpp"
#include "sql/explain_page.hpp"
#include "sql/refusal.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

namespace {
// A leaf that would be charged, and whose sums it moves.
struct Charged {
    release::Earlier charge;
    const rows::Question *question;
    privacy::Repeated repeated;
    bool once; // asked again it gets the answer that was paid
};

// The leaves of a statement.
struct Round {
    List *charged;    // Charged *
    List *asked;      // keys of those that would be stored
    const char *free; // why the last one that costs nothing does not
};
} // namespace

query::Request plain_request(bool fresh) {
    query::Request request = {};
    request.weight = 1;
    request.wanted.deviations = 1;
    request.anew = fresh;
    return request;
}

// Adds the leaf to *round. A reason says that the statement has no price that is the same each time, or none at all.
static Left leaf_left(Call *call, Round *round) {
    Verdict verdict = {};
    auto *charged = static_cast<Charged *>(palloc0(sizeof(Charged)));
    const char *refusal =
        refusal_of([&] { explain_leaf(call, NIL, round->asked, nullptr, &verdict, &charged->charge); });
    if (refusal != nullptr)
        return Left{true, 0, refusal};
    if (!verdict.known)
        return Left{false, 0, "depends on how the statement is executed"};
    const release::Estimate &estimate = verdict.estimate;
    if (verdict.uncharged) {
        round->free = estimate.note;
        return Left{};
    }
    if (estimate.from_data)
        return Left{false, 0, "depends on the data"};
    if (estimate.selects)
        return Left{false, 0, "epsilon is selected when the query is asked"};
    if (!estimate.priced)
        return Left{true, 0, no_epsilon};
    charged->repeated = estimate.standing;
    charged->question = verdict.question;
    charged->once = verdict.replayable != Datum{0};
    round->charged = lappend(round->charged, charged);
    if (charged->once)
        round->asked = lappend(round->asked, DatumGetPointer(verdict.replayable));
    return Left{};
}

// Leaves over one table move the same sums, those under one policy on it the same share.
static void number_sums(List *charges) {
    for (int i = 0; i < list_length(charges); i++) {
        auto *charged = static_cast<Charged *>(list_nth(charges, i));
        charged->repeated.table = charged->repeated.grantee = i;
        for (int j = i - 1; j >= 0; j--) {
            auto *other = static_cast<const Charged *>(list_nth(charges, j));
            if (other->charge.relation != charged->charge.relation)
                continue;
            charged->repeated.table = other->repeated.table;
            if (strcmp(other->charge.grantee, charged->charge.grantee) == 0)
                charged->repeated.grantee = other->repeated.grantee;
        }
    }
}

static bool all_are_given_again(const List *charges) {
    for (auto *charge : border::each<const Charged>(charges))
        if (!charge->once)
            return false;
    return true;
}

static Left count_rounds(List *charges) {
    number_sums(charges);
    bool bounded = true;
    int64 rounds = 0;
    const char *words = nullptr;
    privacy::Denial denial = {};
    const Charged *denied = nullptr;
    border::core([&] {
        std::vector<privacy::Repeated> round;
        for (int i = 0; i < list_length(charges); i++) // cannot raise
            round.push_back(static_cast<const Charged *>(list_nth(charges, i))->repeated);
        const privacy::Remaining left = privacy::remaining(round);
        const privacy::Repeated &end = round[left.denied];
        bounded = left.bounded;
        rounds = left.rounds;
        denial = left.denial;
        denied = static_cast<const Charged *>(list_nth(charges, static_cast<int>(left.denied)));
        words = privacy::words_for(left.denial, end.bound, end.bound.basis_of(end.cost.pure), end.profile.has_value());
    });
    if (bounded && rounds > 0 && all_are_given_again(charges))
        return Left{false, 0, "the first answer is given again"};
    if (!bounded)
        return Left{false, 0, "nothing bounds it"};
    const char *cells = nullptr;
    if (denial == privacy::Denial::epsilon_total || denial == privacy::Denial::role_share)
        cells = poorest_cells(denied->question, denial == privacy::Denial::role_share ? denied->charge.grantee : "",
                              denied->repeated.bound.basis_of(denied->repeated.cost.pure) == privacy::Basis::rho);
    return Left{true, rounds, cells == nullptr ? words : psprintf("%s, in %s", words, cells)};
}

Left answers_left(const char *text, bool fresh) {
    const query::Request request = plain_request(fresh);
    List *calls = NIL;
    Round round = {};
    const char *refusal = refusal_of([&] { calls = find_leaves(text, &request); });
    if (refusal != nullptr)
        return Left{true, 0, refusal};
    Left unpriced = {};
    for (auto *call : border::each<Call>(calls)) {
        Left left = leaf_left(call, &round);
        if (left.known) // it is not answered at all
            return left;
        if (left.reason != nullptr)
            unpriced = left;
    }
    if (unpriced.reason != nullptr)
        return unpriced;
    if (round.charged == NIL)
        return Left{false, 0, round.free == nullptr ? "nothing is charged" : round.free};
    return count_rounds(round.charged);
}

DP_CALL(dp_remaining) {
    require(fcinfo, 0, "query");
    Left left = answers_left(text_argument(fcinfo, 0), false);
    return record(fcinfo, catalog::if_given(left.known, int64{left.answers}), left.reason);
}

} // namespace dp::sql
