// The report as a page: what is in it, and how it is laid out. All texts may be hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "picture/template.hpp"

namespace dp::picture {

// A name and a value, as the template shows `facts`.
Data fact(const std::string &name, const std::string &value);

// RDR_min and RDR_max of one candidate.
struct Range {
    double low = 0, high = 0;
};

// Counts people by their risk, in bins of equal width from low to high, both included; in one bin where these are equal.
class Histogram {
  public:
    Histogram(double low, double high, std::size_t bins);
    void add(double value, std::int64_t people);
    const std::vector<std::int64_t> &people() const { return people_; }
    double end(std::size_t i) const; // the lower one of bin i; the upper one of the last bin is end(people().size())

  private:
    double low_, high_;
    std::vector<std::int64_t> people_;
};

struct Candidate {
    std::string epsilon; // as an exact decimal
    Range risk;
    double ratio = 1;    // of these
    double error95 = 0;
    std::string answer; // where the exact answers are, with the error where it is one
    std::string left;   // how many more such answers the total has room for
    // The largest tau that permits it, or a larger candidate: dp_find_epsilon's, and the price within_domain.
    double tau_found = 0, tau_domain = 0;
};

// Holds everything about one question of a statement.
struct QueryPart {
    double tau = 0.95;
    std::vector<Candidate> candidates; // descending
    std::optional<Candidate> asked;    // at the price of the request
    double belief = 0;                 // the most that a suspicion of one half may become by that answer; 0: not known
    std::optional<Histogram> histogram;
    std::string histogram_epsilon;
    // Texts of the template: query; equal_risks, if any tau permits any epsilon; outside, how many people the answer does not contain.
    // suffix of the ids of its elements; number, statement and questions, of one among several. Lists: facts; people, riskiest first; request: at most one, with title, purpose, advice and facts.
    Data data;
};

struct Report {
    std::string table;
    std::vector<Data> facts;
    std::vector<QueryPart> questions;
    std::vector<Data> first, tables; // before and behind the query, as the template shows a `grid`
    std::string style_hash, script_hash; // SHA-256 of report_style() and report_script(), in base64
};

const char *report_template();
const char *report_style();
const char *report_script();

// The candidate that tau picks: the largest that it permits. None: no candidate.
enum class Price { found, domain };
const Candidate *picked(const std::vector<Candidate> &candidates, double tau, Price price);

std::string page(const Report &report);

} // namespace dp::picture
