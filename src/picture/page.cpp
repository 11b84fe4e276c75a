#include "picture/page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace dp::picture {

const Candidate *picked(const std::vector<Candidate> &candidates, double tau, Price price) {
    for (const Candidate &candidate : candidates)
        if ((price == Price::found ? candidate.tau_found : candidate.tau_domain) >= tau)
            return &candidate;
    return nullptr;
}

// ---- head and banner ----

static void put_head(Html &html, const Report &report) {
    const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
                               report.style_hash + "'; script-src 'sha256-" + report.script_hash + "'";
    html.open("head")
        .empty("meta", {{"charset", "utf-8"}})
        .empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}})
        .empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}})
        .empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}})
        .empty("meta", {{"name", "referrer"}, {"content", "no-referrer"}})
        .put("title", {}, (report.query ? "Disclosure risk: " : "Protection: ") + report.table, Place::plain)
        .source("style", report_style())
        .close();
}

static void put_facts(Html &html, const std::vector<Fact> &facts) {
    html.open("dl", {{"class", "facts"}});
    for (const Fact &fact : facts)
        html.open("div").put("dt", fact.name).open("dd").foreign(fact.value).close().close();
    html.close();
}

static void put_banner(Html &html, bool query) {
    html.open("p", {{"class", "banner"}, {"role", "note"}})
        .put("strong", "For the controller only, computed from rows. ")
        .text(query ? "The numbers below are exact: no noise protects anybody in them. Keep this page as you keep the "
                      "table, "
                      "and give no part of it to analysts."
                    : "It says who may ask what, and what was asked. Keep it as you keep the table.")
        .close();
}

// ---- tables ----

static void put_heads(Html &html, std::initializer_list<const char *> names, const char *style = "number") {
    for (const char *name : names)
        html.put("th", {{"scope", "col"}, {"class", style}}, name);
}

static void put_number(Html &html, const char *label, const std::string &number, const char *name = "") {
    html.put("td", {{"data-label", label}, {"class", std::string("number ") + name}}, number);
}

// ---- the candidates ----

namespace {
struct Choice {
    const Candidate *found, *domain;
    std::string asked; // its epsilon
};
// A number of a candidate, which the table and the cards show.
struct Measure {
    const char *name, *label;
    std::string text;
};
} // namespace

static std::array<Measure, 4> measures_of(const Candidate *candidate) {
    const bool is = candidate != nullptr;
    return {{{"ratio", "ratio", is ? shown(candidate->ratio) : "-"},
             {"error", "95 % error", is ? shown(candidate->error95) : "-"},
             {"answer", "exact answer", is ? candidate->answer : "-"},
             {"left", "answers left", is ? candidate->left : "-"}}};
}

// Shows a reader without scripts, at the tau of the call, the marks that the script moves.
static void put_marks(Html &html, const Candidate &candidate, const Choice &choice) {
    html.open("td", {{"class", "marks"}})
        .put("span", {{"class", "mark found"}}, &candidate == choice.found ? "found" : "")
        .put("span", {{"class", "mark domain"}}, &candidate == choice.domain ? "domain" : "")
        .put("span", {{"class", "mark asked"}}, candidate.epsilon == choice.asked ? "asked" : "")
        .close();
}

static void put_candidate(Html &html, const Candidate &candidate, const Choice &choice) {
    html.open("tr", {{"class", &candidate == choice.found ? "candidate picked" : "candidate"},
                     {"data-epsilon", candidate.epsilon},
                     {"data-found", exact(candidate.tau_found)},
                     {"data-domain", exact(candidate.tau_domain)}});
    html.put("th", {{"scope", "row"}, {"class", "number"}}, candidate.epsilon);
    put_marks(html, candidate, choice);
    html.open("td", {{"data-label", "risk, least to largest"}, {"class", "plot"}})
        .put("span", {{"class", "ends"}}, shown(candidate.risk.low) + " to " + shown(candidate.risk.high))
        .close();
    for (const Measure &measure : measures_of(&candidate))
        put_number(html, measure.label, measure.text, measure.name);
    html.close();
}

// The script draws the ranges from the numbers.
static void put_candidates(Html &html, const QueryPart &part) {
    const Choice choice = {picked(part.candidates, part.tau, Price::found),
                           picked(part.candidates, part.tau, Price::domain),
                           part.asked ? part.asked->epsilon : std::string()};
    html.open("table", {{"id", "candidates"}}).open("thead").open("tr");
    put_heads(html, {"epsilon"});
    html.put("td", {{"class", "marks"}}, "");
    put_heads(html, {"risk, least to largest, in units of the answer"}, "plot");
    put_heads(html, {"ratio", "95 % error", "exact answer", "answers left"});
    html.close().close().open("tbody");
    for (const Candidate &candidate : part.candidates)
        put_candidate(html, candidate, choice);
    html.close().close();
}

// ---- the choice ----

constexpr char nothing_permitted[] = "no candidate";

static std::string epsilon_of(const Candidate *candidate) {
    return candidate == nullptr ? nothing_permitted : candidate->epsilon;
}

// Filled by the script as well, from the rows.
static void put_card(Html &html, const char *id, const char *title, const std::string &lead,
                     const Candidate *candidate) {
    html.open("div", {{"class", std::string("card ") + id}, {"id", id}});
    html.open("h3").put("span", {{"class", std::string("mark ") + id}}, id).text(" ").text(title).close();
    html.open("p", {{"class", "big"}}).text("epsilon ");
    html.put("output", {{"class", "epsilon"}}, epsilon_of(candidate)).close();
    html.open("dl");
    for (const Measure &measure : measures_of(candidate))
        html.open("div").put("dt", measure.label).put("dd", {{"class", measure.name}}, measure.text).close();
    html.close().put("p", {{"class", "lead"}}, lead).close();
}

static void put_controls(Html &html, const QueryPart &part) {
    html.open("div", {{"id", "controls"}, {"hidden", "hidden"}});
    html.open("div").put("label", {{"for", "tau"}}, "tau, how equal the risks must be (0 to 1)");
    html.empty("input", {{"id", "tau"},
                         {"type", "number"},
                         {"min", "0"},
                         {"max", "1"},
                         {"step", "any"},
                         {"autocomplete", "off"},
                         {"value", exact(part.tau)}});
    html.close().open("div").put("label", {{"for", "slider"}}, "epsilon, from most protected to most accurate");
    html.empty("input", {{"id", "slider"}, {"type", "range"}, {"min", "0"}, {"max", "0"}, {"step", "1"}});
    html.close().close();
}

static std::string asked_lead(const QueryPart &part) {
    std::string lead = "On the terms of the requester's policy, whatever the rows are.";
    if (part.belief > 0)
        lead += " By that answer a suspicion of one half, that somebody is in the table, can grow to " +
                shown(part.belief) + " at most.";
    return lead;
}

static void put_choice(Html &html, const QueryPart &part) {
    html.open("div", {{"id", "choice"}});
    put_controls(html, part);
    html.open("p", {{"class", "at"}}).text("At tau ").put("output", {{"id", "tau-shown"}}, shown(part.tau));
    html.text(" the least exposed person's risk must be that part of the most exposed person's.").close();
    html.open("div", {{"class", "cards"}, {"aria-live", "polite"}});
    put_card(html, "found", "dp_find_epsilon picks",
             "The largest candidate whose ratio reaches tau on these rows. Only you may choose so: the choice depends "
             "on the "
             "rows.",
             picked(part.candidates, part.tau, Price::found));
    put_card(html, "domain", "An analyst would be charged",
             "Under within_domain with the same tau, whatever the rows are. This price, and nothing else here, may be "
             "told to anybody.",
             picked(part.candidates, part.tau, Price::domain));
    if (part.asked)
        put_card(html, "asked", "The request would be charged", asked_lead(part), &*part.asked);
    html.close().close();
}

static void put_five(Html &html, const QueryPart &part) {
    html.open("table", {{"id", "five"}}).put("caption", "Both choices at five values of tau");
    html.open("thead").open("tr");
    put_heads(html, {"tau", "dp_find_epsilon", "ratio", "95 % error", "within_domain", "95 % error"});
    html.close().close().open("tbody");
    for (double tau : {0.5, 0.8, 0.9, 0.95, 0.99}) {
        const Candidate *found = picked(part.candidates, tau, Price::found);
        const Candidate *domain = picked(part.candidates, tau, Price::domain);
        html.open("tr").put("th", {{"scope", "row"}, {"class", "number"}}, shown(tau));
        put_number(html, "dp_find_epsilon", epsilon_of(found));
        put_number(html, "ratio", found ? shown(found->ratio) : "-");
        put_number(html, "95 % error", found ? shown(found->error95) : "-");
        put_number(html, "within_domain", epsilon_of(domain));
        put_number(html, "95 % error", domain ? shown(domain->error95) : "-");
        html.close();
    }
    html.close().close();
}

// ---- people ----

static void put_people(Html &html, const QueryPart &part) {
    html.open("section", {{"id", "people"}}).put("h2", "Riskiest records");
    html.put(
        "p", {{"class", "lead"}},
        "Whose presence moves the answer most, in units of the largest move that one person can make. Every candidate "
        "keeps this order. Records that fewer people share come first.");
    if (part.people.empty()) {
        html.put("p", {{"class", "nothing"}}, "No record is shown.");
    } else {
        html.open("table").open("thead").open("tr");
        put_heads(html, {"record"}, "");
        put_heads(html, {"people", "sensitivity"});
        html.close().close().open("tbody");
        for (const Person &person : part.people) {
            html.open("tr").open("td", {{"data-label", "record"}, {"class", "record"}});
            for (const Fact &column : person.columns)
                html.open("span")
                    .open("i")
                    .foreign(column.name)
                    .close()
                    .text(" ")
                    .foreign(column.value)
                    .close()
                    .text(" ");
            if (person.columns.empty())
                html.text("(the query mentions no column)");
            html.close();
            put_number(html, "people", std::to_string(person.individuals));
            put_number(html, "sensitivity", shown(person.sensitivity));
            html.close();
        }
        html.close().close();
    }
    if (part.outside > 0)
        html.put("p", {},
                 std::to_string(part.outside) + " people are outside the query's WHERE: their sensitivity is 0.");
    html.close();
}

Histogram::Histogram(double low, double high, std::size_t bins)
    : low_(low), high_(high), people_(high > low && bins > 0 ? bins : 1) {}

void Histogram::add(double value, std::int64_t people) {
    const double place = high_ > low_ ? (value - low_) / (high_ - low_) : 0;
    const auto last = static_cast<double>(people_.size() - 1);
    const double bin = std::floor(place * static_cast<double>(people_.size()));
    people_[static_cast<std::size_t>(std::min(std::max(bin, 0.0), last))] += people;
}

double Histogram::end(std::size_t i) const {
    return i == people_.size() ? high_
                               : low_ + (high_ - low_) * static_cast<double>(i) / static_cast<double>(people_.size());
}

// The script puts a picture in the place of the table.
static void put_histogram(Html &html, const QueryPart &part) {
    if (!part.histogram)
        return;
    html.open("section", {{"id", "histogram"}}).put("h2", "How the risk is spread");
    html.put(
        "p", {{"class", "lead"}},
        "People by their risk at epsilon " + part.histogram_epsilon +
            ". It stands behind the ranges on purpose: in the study of the indicator's authors ranges made controllers "
            "agree, while of 20 who saw histograms eight chose a larger epsilon.");
    html.open("div", {{"class", "histogram"}}).open("table").open("thead").open("tr");
    put_heads(html, {"risk from", "to", "people"});
    html.close().close().open("tbody");
    for (std::size_t i = 0; i < part.histogram->people().size(); ++i) {
        html.open("tr");
        put_number(html, "risk from", shown(part.histogram->end(i), 6));
        put_number(html, "to", shown(part.histogram->end(i + 1), 6));
        put_number(html, "people", std::to_string(part.histogram->people()[i]));
        html.close();
    }
    html.close().close().close().close();
}

// ---- the rest ----

static void put_request(Html &html, const RequestPart &part) {
    html.open("section", {{"id", "request"}}).put("h2", part.title);
    if (!part.purpose.empty())
        html.open("pre").foreign(part.purpose, Place::lines).close();
    put_facts(html, part.facts);
    if (!part.advice.empty())
        html.put("p", {{"class", "hint"}}, part.advice);
    html.close();
}

static void put_query(Html &html, const QueryPart &part) {
    html.open("section", {{"id", "query"}}).put("h2", "Query");
    html.open("pre").foreign(part.query, Place::lines).close();
    put_facts(html, part.facts);
    html.close();
}

// The script shows and hides it as tau moves.
static void put_total_decides(Html &html, const QueryPart &part) {
    const bool largest =
        !part.candidates.empty() && picked(part.candidates, part.tau, Price::found) == &part.candidates[0];
    constexpr char text[] = "Even the largest candidate keeps this tau: tau decides nothing here, the total does.";
    if (largest)
        html.put("p", {{"class", "hint"}, {"id", "total-decides"}}, text);
    else
        html.put("p", {{"class", "hint"}, {"id", "total-decides"}, {"hidden", "hidden"}}, text);
}

static void put_query_part(Html &html, const QueryPart &part) {
    if (part.request)
        put_request(html, *part.request);
    put_query(html, part);
    html.open("section", {{"id", "ranges"}}).put("h2", "What each epsilon would mean");
    html.put(
        "p", {{"class", "lead"}},
        "A bar goes from the least exposed person's risk to the most exposed person's, on one logarithmic scale: "
        "bars of equal length are equal ratios. Shorter means more equal; further right means more noise. The scale is "
        "in units of the "
        "answer: rows of a count, what is added up of a sum. The ratio is the least risk divided by the largest; 1 is "
        "equal risk for all. Kept is a tau where the ratio is not below it.");
    if (part.equal_risks)
        html.put(
            "p", {{"class", "hint"}},
            "Everybody's risk is equal for this query, so any tau permits any epsilon. Choose by the accuracy that is "
            "needed and by what is left.");
    put_total_decides(html, part);
    put_choice(html, part);
    put_candidates(html, part);
    put_five(html, part);
    html.close();
    put_people(html, part);
    put_histogram(html, part);
}

static void put_cell(Html &html, const Table &table, std::size_t column, const std::string &value) {
    html.open("td", {{"data-label", table.columns[column]}});
    if (column < table.code.size() && table.code[column] && !value.empty())
        html.open("code").foreign(value, Place::lines).close();
    else
        html.foreign(value);
    html.close();
}

static void put_table(Html &html, const Table &table) {
    html.open("section", {{"id", table.id}}).put("h2", table.title);
    if (!table.lead.empty())
        html.put("p", {{"class", "lead"}}, table.lead);
    if (table.rows.empty()) {
        html.put("p", {{"class", "nothing"}}, table.nothing).close();
        return;
    }
    html.open("table").open("thead").open("tr");
    for (const std::string &column : table.columns)
        html.put("th", {{"scope", "col"}}, column);
    html.close().close().open("tbody");
    for (const auto &row : table.rows) {
        html.open("tr");
        for (std::size_t i = 0; i < row.size(); ++i)
            put_cell(html, table, i, row[i]);
        html.close();
    }
    html.close().close().close();
}

std::string page(const Report &report) {
    Html html;
    html.open("html", {{"xmlns", "http://www.w3.org/1999/xhtml"}, {"lang", "en"}});
    put_head(html, report);
    html.open("body").open("main");
    put_banner(html, report.query.has_value());
    html.open("h1").text(report.query ? "Disclosure risk of " : "Protection of ").foreign(report.table).close();
    put_facts(html, report.facts);
    for (const Table &table : report.tables)
        if (table.first)
            put_table(html, table);
    if (report.query)
        put_query_part(html, *report.query);
    for (const Table &table : report.tables)
        if (!table.first)
            put_table(html, table);
    html.close(); // main
    if (report.query)
        html.source("script", report_script());
    return html.finish();
}

} // namespace dp::picture
