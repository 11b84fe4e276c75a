#include "sql/told.hpp"

#include "border/session.hpp"
#include "border/versions.hpp"
#include "query/date_style.hpp"
#include "release/last.hpp"

namespace dp::sql {

// ---- the setting ---------------------------------------------------------------------------------------------------

using query::NoiseRows, query::noise_rows;

bool hides_noise(query::Use use) {
    return noise_rows() == NoiseRows::hide && use != query::Use::computed;
}

bool is_silent() {
    return noise_rows() == NoiseRows::silent;
}

// ---- what was told already -----------------------------------------------------------------------------------------

namespace {
// A shape of a leaf, and what it was told.
struct Told {
    uint64 shape;
    int64 threshold;
    bool notices[release::nnotices];
};
// Holds what is to be said of one answer.
struct Said {
    Told *told;
    bool always; // no row is shown
    StringInfoData text;
};
} // namespace

static bool in_statement[release::nnotices]; // told by an answer of the statement that runs

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

static void add(Said *said, const char *text) {
    appendStringInfo(&said->text, "%s%s", said->text.len > 0 ? "; " : "", text);
}

static void say(Said *said, release::Notice notice, const char *text) {
    if (text == nullptr || is_silent() || (!said->always && (said->told->notices[notice] || in_statement[notice])))
        return;
    said->told->notices[notice] = in_statement[notice] = true;
    add(said, text);
}

// ---- what there is to say ------------------------------------------------------------------------------------------

const char *text_of_dates(const char *style) {
    if (style == nullptr)
        return nullptr;
    return psprintf("texts are read as dates by DateStyle %s: what is none counts as NULL, and so do now, today and "
                    "names of time zones",
                    style);
}

// Under `released` the threshold follows from a selection: no number.
static const char *which_groups(const release::Facts &facts) {
    if (facts.algorithm != release::Algorithm::within_domain)
        return "small groups";
    return psprintf("groups of fewer than about " INT64_FORMAT " %s", facts.threshold,
                    facts.of_people ? "people" : "rows");
}

static void say_withheld(const release::Facts &facts, query::Use use, Said *said) {
    const char *groups = which_groups(facts);
    if (use == query::Use::shown) {
        if (said->told->threshold != facts.threshold)
            said->told->notices[release::notice_withheld] = false;
        said->told->threshold = facts.threshold;
        say(said, release::notice_withheld,
            psprintf("%s are withheld; groups declared with dp_set_groups() all appear", groups));
        return;
    }
    release::remember_use_of_groups();
    if (!in_statement[release::notice_withheld])
        ereport(WARNING,
                (errmsg("%s are withheld: what this statement computes from the others leaves them out", groups),
                 errhint("Aggregate the view itself, or ask the controller to declare the groups with "
                         "dp_set_groups().")));
    in_statement[release::notice_withheld] = true;
}

// Tells what was left out, each time.
static void say_hidden(const query::Leaf *leaf, const release::Judged &judged, query::Use use, Said *said) {
    if (judged.hidden > 0)
        add(said, psprintf("dp_rdr.noise = hide left out " INT64_FORMAT " of " INT64_FORMAT
                           " rows: nothing in them is more than noise, which does not make them 0",
                           judged.hidden, judged.rows));
    else if (judged.seen != nullptr && noise_rows() == NoiseRows::hide && use == query::Use::computed && leaf->nkeys > 0)
        add(said, "dp_rdr.noise = hide left out nothing: the statement aggregates or joins the answer");
}

// Tells of a view's limit once, whatever is asked of it; apart from that where several are read, and no query tells.
static void say_limit(const query::Leaf *leaf, Oid view, const char *text, Said *said) {
    said->told = told_of(OidIsValid(view) ? view : uint64{leaf->view} << 32);
    said->always = false;
    say(said, release::notice_limit, text);
}

void tell(const query::Leaf *leaf, const release::Facts &facts, query::Use use) {
    static TimestampTz statement = 0;
    if (statement != GetCurrentStatementStartTimestamp())
        memset(in_statement, 0, sizeof in_statement);
    statement = GetCurrentStatementStartTimestamp();
    const release::Judged &judged = facts.judged;
    Said said = {told_of(border::shape_of(leaf->query)), judged.seen != nullptr && judged.rows == judged.hidden, {}};
    initStringInfo(&said.text);
    if (facts.thresholded)
        say_withheld(facts, use, &said);
    if (judged.texts[release::notice_beyond] != nullptr && !is_silent()) // constants decide, which shapes lack
        add(&said, judged.texts[release::notice_beyond]);
    for (int i = release::notice_beyond + 1; i < release::notice_limit; i++)
        say(&said, static_cast<release::Notice>(i), judged.texts[i]);
    say(&said, release::notice_dates, text_of_dates(query::style_of_dates(leaf->query)));
    say_hidden(leaf, judged, use, &said);
    say_limit(leaf, judged.limited, judged.texts[release::notice_limit], &said);
    const bool hides = leaf->nkeys > 0 && !facts.thresholded && use != query::Use::computed;
    if (said.text.len > 0)
        ereport(NOTICE, (errmsg("%s", said.text.data),
                         hides && noise_rows() == NoiseRows::show && judged.texts[release::notice_noise] != nullptr
                             ? errhint("SET dp_rdr.noise = 'hide' leaves rows of noise out.")
                             : 0));
}

} // namespace dp::sql
