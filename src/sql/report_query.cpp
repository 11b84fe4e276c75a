// Makes the part of a report that is about one query: the candidates, the riskiest records, how the risk is spread. One leave-one-out
// pass serves all of it.
#include <algorithm>
#include <cmath>

#include "privacy/disclosure.hpp"

#include "picture/html.hpp"

#include "release/charge.hpp"
#include "release/choose.hpp"
#include "rows/unit_checks.hpp"
#include "sql/call_arguments.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/report.hpp"
#include "sql/risk_calls.hpp"

namespace dp::sql {

using risk::Memo;

namespace {
// Holds what the parts share.
struct Look {
    const ReportCall *call;
    View view;
    release::Terms terms; // of dp_find_epsilon
    Memo *memo;
    double pis_min, pis_max;
};
constexpr int most_value = 120;   // characters of one value of a record
constexpr int most_query = 20000; // of a question
constexpr int most_columns = 60;
constexpr std::size_t histogram_bins = 12;
} // namespace

// ---- what tau permits ----------------------------------------------------------------------------------------------

// The largest tau that permits a candidate: what is compared in a browser has to agree with the server for every number, so it
// is found among the numbers that there are. Each is one step of 64-bit integers away from the next.
template <class Permits> static double largest_tau(Permits permits) {
    auto number = [](uint64 bits) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    };
    constexpr double one = 1;
    uint64 low = 0, high;
    memcpy(&high, &one, sizeof high);
    if (permits(one))
        return 1;
    while (high - low > 1) { // permits(low), but not high
        CHECK_FOR_INTERRUPTS();
        uint64 middle = low + (high - low) / 2;
        (permits(number(middle)) ? low : high) = middle;
    }
    return number(low);
}

static bool permits(const release::Terms &terms, const release::Permitted &permitted, privacy::Epsilon candidate) {
    return border::core([&] {
        auto largest = privacy::largest_candidate(*terms.candidates, permitted.eps_star, permitted.slack);
        return largest && *largest >= candidate;
    });
}

// Returns the largest tau at which dp_find_epsilon permits the candidate.
static double tau_found(const Look &look, const release::NoiseTerms &known, privacy::Epsilon candidate) {
    return largest_tau([&](double tau) {
        release::Terms terms = look.terms;
        terms.tau = tau;
        return permits(terms,
                       release::from_risks(look.view.question, terms, look.memo, look.pis_min, look.pis_max, known),
                       candidate);
    });
}

// Returns the largest tau at which a policy with the selection within_domain permits the candidate.
static double tau_domain(const Look &look, const release::NoiseTerms &known, privacy::Epsilon candidate) {
    return largest_tau([&](double tau) {
        release::Terms terms = look.terms;
        terms.algorithm = release::Algorithm::within_domain;
        terms.tau = tau;
        return permits(terms, release::from_public_facts(look.view.question, terms, known), candidate);
    });
}

// ---- how many answers are left -------------------------------------------------------------------------------------

// On the public account: to all analysts together. Core region; null: the odometer cannot be read.
static std::string left_text(const Look &look, const Budget *budget, privacy::Epsilon epsilon) {
    if (budget == nullptr)
        return "-";
    privacy::Limits limits;
    const rows::Question *question = look.view.question;
    release::set_limits(question, look.terms,
                        privacy::delta_charged(look.terms.mechanism, question->thresholded, look.terms.delta), &limits);
    privacy::Repeated answer;
    answer.cost = limits.cost(epsilon, budget->bound);
    answer.bound = budget->bound;
    answer.totals = budget->odometer.totals;
    const privacy::Remaining left = privacy::remaining({answer});
    return left.bounded ? std::to_string(left.rounds) : "no limit";
}

// ---- the candidates ------------------------------------------------------------------------------------------------

static void fill_candidate(picture::Candidate *shown, const Look &look, const Budget *budget, const Truth &truth,
                           const Noise &noise, privacy::Epsilon epsilon) {
    const char *answer = page_text(range_text(truth, noise.error95));
    border::core([&] {
        double low = privacy::rdr_of(look.pis_min, look.view.mechanism, noise.term);
        double high = privacy::rdr_of(look.pis_max, look.view.mechanism, noise.term);
        shown->epsilon = epsilon.text();
        shown->risk = {low, high};
        shown->ratio = high == 0 ? 1 : low / high;
        shown->error95 = noise.error95;
        shown->answer = answer;
        shown->left = left_text(look, budget, epsilon);
    });
}

// The price of a request, on the terms of its requester's policy. None where it is found in the rows or selected, or where another
// noise is looked at.
static void add_price(picture::QueryPart *part, const Look &look, const Budget *budget, const Truth &truth) {
    const RequestLook *asked = look.call->look;
    if (asked == nullptr || !(asked->decides || asked->reviewed) || asked->refusal != nullptr || !asked->price.known ||
        asked->price.error95 == nullptr || asked->terms.mechanism != look.view.mechanism ||
        asked->terms.delta != look.view.delta)
        return;
    privacy::Epsilon epsilon = asked->price.epsilon;
    privacy::Delta delta =
        privacy::delta_charged(look.view.mechanism, look.view.question->thresholded, look.view.delta);
    fill_candidate(border::core([&] { return &part->asked.emplace(); }), look, budget, truth,
                   noise_of(look.view, look.memo, epsilon), epsilon);
    if (delta.units() == 0)
        border::core([&] { part->belief = privacy::posterior_of_half(epsilon.value()); });
}

static void add_candidates(picture::QueryPart *part, const Look &look) {
    Budget *budget = border::context_new<Budget>();
    if (!read_budget(look.view.question->settings->relation, budget))
        budget = nullptr;
    Truth truth = truth_of(look.view, look.memo);
    const auto &candidates = *look.call->candidates;
    // known.of[i] is filled: tau is compared with the very noise that is shown.
    release::NoiseTerms known = release::NoiseTerms::unknown(look.terms);
    release::NoiseTerms of_domain = release::NoiseTerms::unknown(look.terms);
    for (std::size_t i = 0; i < candidates.size(); i++) {
        CHECK_FOR_INTERRUPTS();
        Noise noise = noise_of(look.view, look.memo, candidates[i]);
        known.of[i] = noise.term;
        picture::Candidate *shown = border::core([&] { return &part->candidates.emplace_back(); });
        fill_candidate(shown, look, budget, truth, noise, candidates[i]);
    }
    add_price(part, look, budget, truth);
    for (std::size_t i = 0; i < candidates.size(); i++) {
        double found = tau_found(look, known, candidates[i]), domain = tau_domain(look, of_domain, candidates[i]);
        part->candidates[i].tau_found = found;
        part->candidates[i].tau_domain = domain;
    }
}

// ---- people --------------------------------------------------------------------------------------------------------

namespace {
struct Place {
    double pis;
    int64 individuals, record;
    // Riskier, then shared by fewer people.
    bool operator<(const Place &other) const {
        return pis != other.pis                   ? pis > other.pis
               : individuals != other.individuals ? individuals < other.individuals
                                                  : record < other.record;
    }
};
} // namespace

// A heap whose top is the least of those that are kept.
static int riskiest(const Memo *memo, int most, Place *places) {
    int n = 0;
    for (int64 i = 0; i < memo->nrecords && most > 0; i++) {
        CHECK_FOR_INTERRUPTS();
        const risk::Record *record = memo->records.at(i);
        Place place = {record->pis, record->individuals, i};
        if (n == most && !(place < places[0]))
            continue;
        if (n == most)
            std::pop_heap(places, places + n--);
        places[n++] = place;
        std::push_heap(places, places + n);
    }
    std::sort_heap(places, places + n);
    return n;
}

const char *value_text(Oid type, Datum value) {
    Oid output;
    bool is_varlena;
    getTypeOutputInfo(type, &output, &is_varlena);
    return page_text(OidOutputFunctionCall(output, value), most_value);
}

static void add_columns(picture::Data *person, TupleDesc desc, TupleTableSlot *slot) {
    slot_getallattrs(slot);
    for (int c = 0; c < Min(desc->natts, most_columns); c++) {
        const char *name = page_text(NameStr(TupleDescAttr(desc, c)->attname));
        const char *value =
            slot->tts_isnull[c] ? "NULL" : value_text(TupleDescAttr(desc, c)->atttypid, slot->tts_values[c]);
        border::core([&] { person->lists["columns"].push_back(picture::fact(name, value)); });
    }
    if (desc->natts > most_columns)
        border::core([&] {
            person->lists["columns"].push_back(
                picture::fact("and " + std::to_string(desc->natts - most_columns) + " columns more", ""));
        });
}

// The columns of records are read once, in the order in which they were kept.
static void add_people(picture::QueryPart *part, const Look &look) {
    const Memo *memo = look.memo;
    auto *places = static_cast<Place *>(palloc(sizeof(Place) * (look.call->records + 1)));
    int n = riskiest(memo, look.call->records, places);
    std::vector<picture::Data> *people = border::core([&] {
        part->data.texts["outside"] = memo->outside > 0 ? std::to_string(memo->outside) : "";
        auto &list = part->data.lists["people"];
        for (int i = 0; i < n; i++)
            list.push_back({{{"individuals", std::to_string(places[i].individuals)},
                             {"sensitivity", picture::shown(places[i].pis)}},
                            {{"columns", {}}}});
        return &list;
    });
    auto *order = static_cast<int *>(palloc(sizeof(int) * (n + 1)));
    for (int i = 0; i < n; i++)
        order[i] = i;
    std::sort(order, order + n, [&](int a, int b) { return places[a].record < places[b].record; });
    TupleTableSlot *slot = MakeSingleTupleTableSlot(memo->desc, &TTSOpsMinimalTuple);
    MemoryContext per_record = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr record", ALLOCSET_DEFAULT_SIZES);
    int64 at = 0;
    for (int i = 0; i < n; i++) {
        CHECK_FOR_INTERRUPTS();
        const Place &place = places[order[i]];
        if (!tuplestore_skiptuples(memo->kept, place.record - at, true) ||
            !tuplestore_gettupleslot(memo->kept, true, false, slot))
            elog(ERROR, "a record is missing");
        at = place.record + 1;
        MemoryContext old = MemoryContextSwitchTo(per_record);
        add_columns(&(*people)[order[i]], memo->desc, slot);
        MemoryContextSwitchTo(old);
        MemoryContextReset(per_record);
    }
    MemoryContextDelete(per_record);
    ExecDropSingleTupleTableSlot(slot);
    tuplestore_end(memo->kept);
}

// At the candidate that tau picks; the order and the shape are those of every candidate.
static void add_histogram(picture::QueryPart *part, const Look &look) {
    const picture::Candidate *candidate = picture::picked(part->candidates, look.call->tau, picture::Price::found);
    if (candidate == nullptr)
        candidate = &part->candidates.back();
    std::size_t at = candidate - part->candidates.data();
    double term = noise_of(look.view, look.memo, (*look.call->candidates)[at]).term;
    add_groups(part, look.view, look.memo, (*look.call->candidates)[at]);
    privacy::Mechanism mechanism = look.view.mechanism;
    border::core([&] {
        part->histogram_epsilon = candidate->epsilon;
        part->histogram.emplace(candidate->risk.low, candidate->risk.high, histogram_bins);
        part->histogram->add(privacy::rdr_of(0, mechanism, term), look.memo->outside);
    });
    for (int64 i = 0; i < look.memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        const risk::Record *record = look.memo->records.at(i);
        part->histogram->add(privacy::rdr_of(record->pis, mechanism, term), record->individuals);
    }
}

// ---- the part ------------------------------------------------------------------------------------------------------

// A statement may ask other tables of the owner's besides.
static void check_tables(const ReportCall &call, const Look *looks, int n) {
    for (int i = 0; i < n; i++)
        if (looks[i].view.question->settings->relation == call.relation)
            return;
    refuse_value(psprintf("the query is about %s, and the report about %s",
                          looks[0].view.question->settings->relation_name, catalog::qualified_name(call.relation)),
                 "Pass the table that the query's view is on.");
}

// Reads no row.
static Look look_at(const ReportCall &call, rows::Question *question) {
    Look look = {};
    look.call = &call;
    look.view = View{question, call.mechanism, privacy::Calibration::sound, false, call.has_delta, call.delta};
    rows::check_delta(question, call.mechanism, call.delta);
    look.terms.algorithm = release::Algorithm::find_epsilon;
    look.terms.mechanism = call.mechanism;
    look.terms.weight = 1;
    look.terms.delta = call.delta;
    look.terms.candidates = call.candidates;
    return look;
}

static void read_rows(Look *look) {
    look->memo = risk::leave_one_out(rows::OwnRows(look->view.question), look->call->mechanism, look->view.calibration,
                                     risk::Detail::records);
    check_not_empty(look->memo);
    border::core([&] {
        look->pis_min = look->memo->profile->min();
        look->pis_max = look->memo->profile->max();
    });
}

static void add_query_facts(picture::QueryPart *part, const Look &look) {
    const rows::Question *question = look.view.question;
    const char *view = page_text(question->settings->view_name);
    const char *delta = look.call->has_delta ? printed(look.call->delta) : "none";
    border::core([&] {
        part->tau = look.call->tau;
        part->data.texts["equal_risks"] = look.pis_min == look.pis_max ? "yes" : "";
        part->data.lists["facts"] = {
            picture::fact("restricted view", view),
            picture::fact("noise", look.call->mechanism == privacy::Mechanism::laplace ? "Laplace" : "Gaussian"),
            picture::fact("delta", delta),
            picture::fact("people in the table", std::to_string(look.memo->rows)),
            picture::fact("of them in the answer", std::to_string(look.memo->rows - look.memo->outside)),
            picture::fact("measures that share epsilon", std::to_string(question->nmeasures))};
    });
}

// Its elements are told apart from those of other questions by the suffix of their ids.
static void add_question(picture::Report *report, const Look &look, const Statement &statement, int number) {
    const bool several = statement.leaves() > 1;
    const char *text = several ? look.view.question->text : statement.text;
    const char *query = page_text(text, most_query),
               *whole = several && number == 1 ? page_text(statement.text, most_query) : "";
    picture::QueryPart *part = border::core([&] { return &report->questions.emplace_back(); });
    border::core([&] {
        const std::string place = std::to_string(number), all = std::to_string(statement.leaves());
        part->data.texts = {{"query", query},
                            {"statement", whole},
                            {"questions", all},
                            {"number", several ? place + " of " + all : ""},
                            {"suffix", number > 1 ? "-" + place : ""}};
    });
    add_query_facts(part, look);
    add_candidates(part, look);
    add_people(part, look);
    add_histogram(part, look);
}

void add_query_parts(picture::Report *report, const ReportCall &call) {
    const bool requested = call.look != nullptr;
    const Statement statement =
        requested ? Statement{call.look->request->shown, true, NIL, nullptr} : cut_statement(call.query);
    const int n = statement.leaves();
    auto *looks = static_cast<Look *>(palloc0(sizeof(Look) * n));
    for (int i = 0; i < n; i++)
        looks[i] = look_at(call, requested ? controllers_question(call.look->ask, call.mechanism)
                                           : leaf_question(statement, call.mechanism, i + 1));
    check_tables(call, looks, n);
    for (int i = 0; i < n; i++) {
        read_rows(&looks[i]);
        border::SettingsScope settings =
            border::SettingsScope::enter_for_catalog(); // one spelling of dates for all readers
        add_question(report, looks[i], statement, i + 1);
        settings.leave();
    }
}

} // namespace dp::sql
