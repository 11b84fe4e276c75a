#include "picture/page.hpp"

#include <algorithm>
#include <cmath>

#include "picture/html.hpp"

namespace dp::picture {

const Candidate *picked(const std::vector<Candidate> &candidates, double tau, Price price) {
    for (const Candidate &candidate : candidates)
        if ((price == Price::found ? candidate.tau_found : candidate.tau_domain) >= tau)
            return &candidate;
    return nullptr;
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

// ---- what the template shows ----

// A text that is either there or not.
static std::string flag(bool is) { return is ? "yes" : ""; }

Data fact(const std::string &name, const std::string &value) { return {{{"name", name}, {"value", value}}, {}}; }

static Data data_of(const Candidate *candidate) {
    if (candidate == nullptr)
        return {{{"epsilon", "no candidate"}, {"ratio", "-"}, {"error", "-"}, {"answer", "-"}, {"left", "-"}}, {}};
    return {{{"epsilon", candidate->epsilon},
             {"ratio", shown(candidate->ratio)},
             {"error", shown(candidate->error95)},
             {"answer", candidate->answer},
             {"left", candidate->left},
             {"low", shown(candidate->risk.low)},
             {"high", shown(candidate->risk.high)},
             {"tau_found", exact(candidate->tau_found)},
             {"tau_domain", exact(candidate->tau_domain)}},
            {}};
}

static std::vector<Data> candidates_of(const QueryPart &part) {
    std::vector<Data> list;
    const Candidate *found = picked(part.candidates, part.tau, Price::found),
                    *domain = picked(part.candidates, part.tau, Price::domain);
    for (const Candidate &candidate : part.candidates) {
        Data data = data_of(&candidate);
        data.texts["found"] = &candidate == found ? "found" : "";
        data.texts["domain"] = &candidate == domain ? "domain" : "";
        data.texts["asked"] = part.asked && candidate.epsilon == part.asked->epsilon ? "asked" : "";
        list.push_back(data);
    }
    return list;
}

static Data card(const char *id, const char *title, const std::string &lead, const Candidate *candidate) {
    Data data = data_of(candidate);
    data.texts["id"] = id;
    data.texts["title"] = title;
    data.texts["lead"] = lead;
    return data;
}

static std::vector<Data> cards_of(const QueryPart &part) {
    std::vector<Data> cards = {
        card("found", "dp_find_epsilon picks",
             "The largest candidate whose ratio reaches tau on these rows. Only you may choose so: the choice depends "
             "on the rows.",
             picked(part.candidates, part.tau, Price::found)),
        card("domain", "An analyst would be charged",
             "Under within_domain with the same tau, whatever the rows are. This price, and nothing else here, may be "
             "told to anybody.",
             picked(part.candidates, part.tau, Price::domain))};
    if (!part.asked)
        return cards;
    std::string lead = "On the terms of the requester's policy, whatever the rows are.";
    if (part.belief > 0)
        lead += " By that answer a suspicion of one half, that somebody is in the table, can grow to " +
                shown(part.belief) + " at most.";
    cards.push_back(card("asked", "The request would be charged", lead, &*part.asked));
    return cards;
}

static std::vector<Data> five_of(const QueryPart &part) {
    std::vector<Data> list;
    for (double tau : {0.5, 0.8, 0.9, 0.95, 0.99})
        list.push_back({{{"tau", shown(tau)}},
                        {{"found", {data_of(picked(part.candidates, tau, Price::found))}},
                         {"domain", {data_of(picked(part.candidates, tau, Price::domain))}}}});
    return list;
}

// Risks that differ little beside the noise in them have to be told apart.
static std::vector<Data> bins_of(const QueryPart &part) {
    std::vector<Data> list;
    for (std::size_t i = 0; part.histogram && i < part.histogram->people().size(); ++i)
        list.push_back({{{"from", shown(part.histogram->end(i), 6)},
                         {"to", shown(part.histogram->end(i + 1), 6)},
                         {"people", std::to_string(part.histogram->people()[i])}},
                        {}});
    return list;
}

static Data data_of(const QueryPart &part) {
    const bool largest =
        !part.candidates.empty() && picked(part.candidates, part.tau, Price::found) == &part.candidates[0];
    Data data = part.data;
    data.texts.insert({{"largest", flag(largest)},
                       {"tau", exact(part.tau)},
                       {"tau_shown", shown(part.tau)},
                       {"histogram_epsilon", part.histogram_epsilon}});
    data.lists.insert({{"cards", cards_of(part)},
                       {"candidates", candidates_of(part)},
                       {"five", five_of(part)},
                       {"bins", bins_of(part)}});
    return data;
}

static std::vector<Data> sections_of(const Report &report) {
    std::vector<Data> sections;
    for (const Data &grid : report.first)
        sections.push_back({{}, {{"grid", {grid}}}});
    for (const QueryPart &part : report.questions)
        sections.push_back({{}, {{"part", {data_of(part)}}}});
    for (const Data &grid : report.tables)
        sections.push_back({{}, {{"grid", {grid}}}});
    return sections;
}

std::string page(const Report &report) {
    return filled(report_template(), {{{"table", report.table},
                                       {"asks", flag(!report.questions.empty())},
                                       {"style", report_style()},
                                       {"script", report_script()},
                                       {"style_hash", report.style_hash},
                                       {"script_hash", report.script_hash}},
                                      {{"facts", report.facts}, {"sections", sections_of(report)}}});
}

} // namespace dp::picture
