#include "sql/told.hpp"

#include <cmath>

#include "privacy/widened.hpp"

#include "border/session.hpp"
#include "border/versions.hpp"
#include "release/last.hpp"

namespace dp::sql {

// ---- the setting ---------------------------------------------------------------------------------------------------

enum { show, hide, silent };
static int noise_rows = show;

void define_noise_setting() {
    static const config_enum_entry options[] = {
        {"show", show, false}, {"hide", hide, false}, {"silent", silent, false}, {nullptr, 0, false}};
    DefineCustomEnumVariable("dp_rdr.noise", "Whether rows of GROUP BY that are nothing but noise are shown.",
                             "With hide a NOTICE says how many were left out; silent shows them, and says nothing.",
                             &noise_rows, show, options, PGC_USERSET, 0,
                             nullptr, nullptr, nullptr);
}

bool hides_noise(query::Use use) {
    return noise_rows == hide && use != query::Use::computed;
}

// ---- what was told already -----------------------------------------------------------------------------------------

namespace {
enum Kind { noise, withheld, null_missing, clipped, useless, nkinds };
// A shape of a leaf, and what it was told.
struct Told {
    uint64 shape;
    int64 threshold;
    bool kinds[nkinds];
};
// What is to be said of one answer.
struct Said {
    Told *told;
    bool always; // no row is shown
    StringInfoData text;
};
} // namespace

static bool in_statement[nkinds]; // told by an answer of the statement that runs

// Returns what this user of the connection was told of a shape; of more than some hundreds it begins again.
static Told *told_of(uint64 shape) {
    constexpr long most_shapes = 1000;
    static HTAB *table = nullptr;
    static uint64 turn = 0;
    if (table != nullptr && (turn != border::session_turn() || hash_get_num_entries(table) >= most_shapes)) {
        hash_destroy(table);
        table = nullptr;
    }
    if (table == nullptr) {
        HASHCTL control = {};
        control.keysize = sizeof(uint64);
        control.entrysize = sizeof(Told);
        table = hash_create("dp_rdr told", 16, &control, HASH_ELEM | HASH_BLOBS);
        turn = border::session_turn();
    }
    bool found;
    auto *told = static_cast<Told *>(hash_search(table, &shape, HASH_ENTER, &found));
    if (!found)
        *told = Told{shape, 0, {}};
    return told;
}

static void say(Said *said, Kind kind, bool news, const char *text) {
    const bool tell = said->always || ((news || !said->told->kinds[kind]) && !in_statement[kind]);
    if (!tell)
        return;
    said->told->kinds[kind] = in_statement[kind] = true;
    appendStringInfo(&said->text, "%s%s", said->text.len > 0 ? "; " : "", text);
}

// ---- what there is to say ------------------------------------------------------------------------------------------

// To two digits: nobody needs more of a size.
static const char *about(double number) {
    if (!(number > 0))
        return "0";
    const double place = std::pow(10, std::floor(std::log10(number)) - 1);
    return psprintf("%.10g", std::round(number / place) * place);
}

static bool is_average(const query::Leaf *leaf, int output) {
    return leaf->aggregates[leaf->outputs[output].index].fn == privacy::Aggregate::avg;
}

// The worst output of those that are mostly noise; -1: none is. A single number is noise below twice error95.
static int noisiest(const query::Leaf *leaf, const release::Facts &facts) {
    int worst = -1;
    double share = 0.5;
    for (int i = 0; i < leaf->noutputs; i++) {
        const release::Seen &seen = facts.judged.seen[i];
        if (seen.numbers == 0)
            continue;
        double noisy = static_cast<double>(seen.noise) / static_cast<double>(seen.numbers);
        if (seen.numbers == 1 && !is_average(leaf, i) && seen.largest < 2 * facts.error95[i])
            noisy = 1;
        if (noisy > share) {
            share = noisy;
            worst = i;
        }
    }
    return worst;
}

static const char *noise_text(const query::Leaf *leaf, const release::Facts &facts, int output, bool may_hide) {
    const release::Seen &seen = facts.judged.seen[output];
    const char *name = quote_identifier(leaf->outputs[output].name);
    if (is_average(leaf, output) && seen.numbers == 1)
        return psprintf("mostly noise: the interval of the average %s is wider than half of the bounds of the values", name);
    if (is_average(leaf, output))
        return psprintf("mostly noise: of " INT64_FORMAT " averages %s the intervals of " INT64_FORMAT
                        " are wider than half of the bounds of the values",
                        seen.numbers, name, seen.noise);
    const char *error95 = about(facts.error95[output]);
    if (seen.numbers == 1)
        return psprintf("mostly noise: the number %s lies within twice its error95 (%s) of 0", name, error95);
    const double median = std::log(2.0) / static_cast<double>(seen.numbers);
    const double largest =
        facts.error95[output] * border::core([&] { return privacy::widened(facts.mechanism, median); });
    return psprintf("mostly noise: " INT64_FORMAT " of " INT64_FORMAT
                    " numbers %s lie within error95 (%s) of 0; of " INT64_FORMAT " noises the largest is about %s%s",
                    seen.noise, seen.numbers, name, error95, seen.numbers, about(largest),
                    may_hide ? "; SET dp_rdr.noise = 'hide' leaves such rows out" : "");
}

// Under `released` the threshold follows from a selection: no number.
static const char *which_groups(const release::Facts &facts) {
    if (facts.algorithm != release::Algorithm::within_domain)
        return "small groups";
    return psprintf("groups of fewer than about " INT64_FORMAT " %s", facts.threshold,
                    facts.of_people ? "people" : "rows");
}

static void warn_of_use(const char *groups) {
    ereport(WARNING,
            (errmsg("%s are withheld: what this statement computes from the others leaves them out", groups),
             errhint("Aggregate the view itself, or ask the controller to declare the groups with dp_set_groups().")));
}

static void say_withheld(const release::Facts &facts, query::Use use, Said *said) {
    const char *groups = which_groups(facts);
    if (use == query::Use::shown) {
        say(said, withheld, said->told->threshold != facts.threshold,
            psprintf("%s are withheld; groups declared with dp_set_groups() all appear", groups));
        said->told->threshold = facts.threshold;
        return;
    }
    release::remember_use_of_groups();
    if (!in_statement[withheld])
        warn_of_use(groups);
    in_statement[withheld] = true;
}

static void say_judged(const query::Leaf *leaf, const release::Facts &facts, query::Use use, Said *said) {
    const release::Judged &judged = facts.judged;
    const bool grouped = leaf->nkeys > 0 && !facts.thresholded;
    const int worst = noisiest(leaf, facts);
    if (worst >= 0 && judged.hidden == 0)
        say(said, noise, false,
            noise_text(leaf, facts, worst, grouped && use != query::Use::computed && noise_rows == show));
    if (judged.null_key != nullptr)
        say(said, null_missing, false,
            psprintf("rows whose %s is NULL are in no group: its declared groups lack NULL",
                     quote_identifier(judged.null_key)));
    if (judged.clipped != nullptr)
        say(said, clipped, false,
            psprintf("clipped: of each unit (%s) %d rows count at most, and many may have more", judged.clipped,
                     judged.max_rows));
    if (judged.rank > 0)
        say(said, useless, false,
            psprintf("useless: the rank of min, max and percentiles is off by up to %s rows, more than half of all",
                     about(judged.rank)));
}

// What was left out is told each time.
static void say_hidden(const release::Facts &facts, query::Use use, const query::Leaf *leaf, Said *said) {
    const release::Judged &judged = facts.judged;
    const char *text = nullptr;
    if (judged.hidden > 0)
        text = psprintf("dp_rdr.noise = hide left out " INT64_FORMAT " of " INT64_FORMAT
                        " rows: nothing in them is more than noise, which does not make them 0",
                        judged.hidden, judged.rows);
    else if (noise_rows == hide && use == query::Use::computed && leaf->nkeys > 0)
        text = "dp_rdr.noise = hide left out nothing: the statement aggregates or joins the answer";
    if (text != nullptr)
        appendStringInfo(&said->text, "%s%s", said->text.len > 0 ? "; " : "", text);
}

void tell(const query::Leaf *leaf, const release::Facts &facts, query::Use use) {
    static TimestampTz statement = 0;
    if (statement != GetCurrentStatementStartTimestamp())
        memset(in_statement, 0, sizeof in_statement);
    statement = GetCurrentStatementStartTimestamp();
    const bool judged = facts.judged.seen != nullptr;
    if (!judged && !facts.thresholded)
        return;
    Said said = {told_of(border::shape_of(leaf->query)), false, {}};
    initStringInfo(&said.text);
    said.always = judged && facts.judged.rows == facts.judged.hidden;
    if (facts.thresholded)
        say_withheld(facts, use, &said);
    if (judged) {
        say_judged(leaf, facts, use, &said);
        say_hidden(facts, use, leaf, &said);
    }
    if (said.text.len > 0 && noise_rows != silent)
        ereport(NOTICE, (errmsg("%s", said.text.data)));
}

} // namespace dp::sql
