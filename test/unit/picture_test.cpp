// What a report is drawn with: escapes, what nobody sees, and that whatever comes out is well-formed.
#include "picture/html.hpp"
#include "picture/page.hpp"
#include "picture/template.hpp"

#include <cmath>
#include <stack>

#include <gtest/gtest.h>

namespace {

using namespace dp::picture;

std::string text(std::string_view given) {
    return escaped(given, Place::text);
}
std::string plain(std::string_view given) {
    return escaped(given, Place::plain);
}

TEST(Escapes, Markup) {
    EXPECT_EQ(text("<script>alert('1 & \"2\"')</script>"),
              "&lt;script&gt;alert(&#39;1 &amp; &quot;2&quot;&#39;)&lt;/script&gt;");
    EXPECT_EQ(plain("\" onload=\"alert(1)"), "&quot; onload=&quot;alert(1)");
    EXPECT_EQ(text("]]>"), "]]&gt;");
}

TEST(Escapes, WhatNobodySees) {
    EXPECT_EQ(plain("a\xE2\x80\xAE"
                    "b"),
              "aU+202Eb");
    EXPECT_EQ(text("a\xE2\x80\xAE"
                   "b"),
              "a<b class=\"unseen\">U+202E</b>b");
    EXPECT_EQ(plain("\xE2\x81\xA6|\xE2\x81\xA9|\xE2\x80\x8F|\xD8\x9C"), "U+2066|U+2069|U+200F|U+061C");
    EXPECT_EQ(plain("\xEF\xBB\xBF|\xE2\x80\x8B|\xC2\xAD|\xC2\x85|\x7F|\x1B"),
              "U+FEFF|U+200B|U+00AD|U+0085|U+007F|U+001B");
    EXPECT_EQ(plain(std::string_view("\0", 1)), "U+0000");
    EXPECT_EQ(plain("\xEF\xBF\xBE|\xF3\xA0\x81\x81|\xF4\x8F\xBF\xBF"), "U+FFFE|U+E0041|U+10FFFF");
    EXPECT_EQ(plain("a\r\n\tb"), "aU+000DU+000AU+0009b");
    EXPECT_EQ(escaped("a\r\n\tb", Place::lines), "a<b class=\"unseen\">U+000D</b>\n\tb");
}

// The page is ASCII, whatever it is read as.
TEST(Escapes, Ascii) {
    EXPECT_EQ(text("\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80"), "&#xE9;&#x65E5;&#x1F600;");
    // No UTF-8: bytes alone, too long forms, surrogates, what is cut off.
    EXPECT_EQ(plain("\xE9|\xC0\xBC|\xED\xA0\x80|\xE2\x80"), "0xE9|0xC00xBC|0xED0xA00x80|0xE20x80");
    EXPECT_EQ(plain("\xF4\x90\x80\x80"), "0xF40x900x800x80");
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        all += static_cast<char>(byte);
    for (char c : text(all))
        EXPECT_TRUE(c >= ' ' && c < 0x7F);
}

TEST(Cut, CountsWhatIsShown) {
    EXPECT_EQ(cut("abcdef", 6), "abcdef");
    EXPECT_EQ(cut("abcdefg", 6), "abcdef\xE2\x80\xA6");
    EXPECT_EQ(cut("\xC3\xA9\xC3\xA9\xC3\xA9", 2), "\xC3\xA9\xC3\xA9\xE2\x80\xA6");
    EXPECT_EQ(cut("a\xE2\x80\xAE"
                  "b",
                  7),
              "a\xE2\x80\xAE\xE2\x80\xA6");
    EXPECT_EQ(cut("a\xE2\x80\xAE"
                  "b",
                  6),
              "a\xE2\x80\xA6");
    EXPECT_EQ(cut("", 0), "");
}

TEST(Template, SourcesAreFreeOfMarkup) {
    EXPECT_THROW(filled("{{&a}}", {{{"a", "if (a < b) {}"}}, {}}), std::logic_error);
    EXPECT_THROW(filled("{{&a}}", {{{"a", "a { content: \"&\" }"}}, {}}), std::logic_error);
    EXPECT_NO_THROW(filled("{{&a}}{{&b}}", {{{"a", report_style()}, {"b", report_script()}}, {}}));
}

TEST(Template, EscapesByPlace) {
    const Data data = {{{"a", "<\n\x01"}}, {}};
    EXPECT_EQ(filled("<p>{{a}}</p>", data), "<p>&lt;<b class=\"unseen\">U+000A</b><b class=\"unseen\">U+0001</b></p>");
    EXPECT_EQ(filled("<p id=\"{{a}}\">", data), "<p id=\"&lt;U+000AU+0001\">");
    EXPECT_EQ(filled("<p>{{.a}}</p>", data), "<p>&lt;U+000AU+0001</p>");
    EXPECT_EQ(filled("{{|a}}", data), "<bdi>&lt;\n<b class=\"unseen\">U+0001</b></bdi>");
    EXPECT_EQ(filled("{{~a}}", {{{"a", "{{a}}"}}, {}}), "<bdi>{{a}}</bdi>"); // a text is no template
    EXPECT_THROW(filled("{{b}}", data), std::logic_error);
}

TEST(Template, BlocksNest) {
    const Data data = {{{"a", "1"}, {"none", ""}},
                       {{"list", {{{{"a", "2"}}, {}}, {{}, {{"list", {{{{"a", "3"}}, {}}}}}}}}, {"empty", {}}}};
    EXPECT_EQ(filled("{{#list}}({{a}}){{/list}}", data), "(2)(1)");
    EXPECT_EQ(filled("{{?list}}{{#list}}{{a}}{{#list}}{{a}}{{/list}};{{/list}}.{{/list}}", data).back(), '.');
    EXPECT_EQ(filled("{{?empty}}x{{/empty}}{{^empty}}y{{/empty}}{{^none}}z{{/none}}{{?a}}a{{/a}}", data), "yza");
    EXPECT_EQ(filled("{{^missing}}y{{/missing}}{{#missing}}x{{/missing}}", data), "y");
    EXPECT_THROW(filled("{{#list}}", data), std::logic_error);
}

TEST(Html, NumbersAreReadAgain) {
    for (double value : {0.95, 1.0 / 3, 0.1 + 0.2, 1e-300, 0.0})
        EXPECT_EQ(std::stod(exact(value)), value);
    EXPECT_EQ(exact(0.95), "0.95");
    EXPECT_EQ(shown(0.95238095), "0.9524");
    EXPECT_EQ(shown(5991234.5), "5991000");
    EXPECT_EQ(shown(-0.00001), "-1e-05");
    EXPECT_EQ(shown(1e300), "1e+300");
    EXPECT_EQ(shown(123.456789, 6), "123.457");
}

TEST(Histogram, CountsEverybodyOnce) {
    Histogram histogram(1, 3, 4);
    histogram.add(1, 5);
    histogram.add(1.5, 7);
    histogram.add(2.999, 1);
    histogram.add(3, 2);
    histogram.add(0.999, 1); // rounding
    EXPECT_EQ(histogram.people(), (std::vector<std::int64_t>{6, 7, 0, 3}));
    EXPECT_EQ(histogram.end(4), 3);
    Histogram equal(2, 2, 12);
    equal.add(2, 9);
    EXPECT_EQ(equal.people(), std::vector<std::int64_t>{9});
}

Candidate candidate(const char *epsilon, double found, double domain) {
    Candidate made;
    made.epsilon = epsilon;
    made.risk = {1, 2};
    made.tau_found = found;
    made.tau_domain = domain;
    return made;
}

TEST(Picked, TheLargestThatTauPermits) {
    const std::vector<Candidate> candidates = {candidate("1", 0.5, 0.4), candidate("0.1", 0.9, 0.8)};
    EXPECT_EQ(picked(candidates, 0.5, Price::found)->epsilon, "1");
    EXPECT_EQ(picked(candidates, 0.5, Price::domain)->epsilon, "0.1");
    EXPECT_EQ(picked(candidates, std::nextafter(0.5, 1), Price::found)->epsilon, "0.1");
    EXPECT_EQ(picked(candidates, 0.95, Price::found), nullptr);
}

// Elements are closed in the order in which they were opened, and no attribute has a quote or `<` within.
bool is_balanced(const std::string &page) {
    std::stack<std::string> open;
    std::size_t at = page.find('\n'); // behind the document type
    while ((at = page.find('<', at)) != std::string::npos) {
        const std::size_t end = page.find('>', at);
        if (end == std::string::npos)
            return false;
        const std::string tag = page.substr(at + 1, end - at - 1);
        if (tag.find('<') != std::string::npos)
            return false;
        const std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" /", 1) - (tag[0] == '/'));
        if (tag[0] == '/') {
            if (open.empty() || open.top() != tag.substr(1))
                return false;
            open.pop();
        } else if (tag.back() != '/')
            open.push(name);
        at = end;
    }
    return open.empty();
}

std::string hostile_page(const std::string &hostile) {
    Report report;
    report.table = hostile;
    report.facts = {fact("owner", hostile)};
    QueryPart &part = report.questions.emplace_back();
    const Data request = {{{"title", "Request 17"}, {"purpose", hostile}, {"advice", "advice"}},
                          {{"facts", {fact(hostile, hostile)}}}};
    const Data person = {{{"individuals", "1"}, {"sensitivity", "1"}}, {{"columns", {fact(hostile, hostile)}}}};
    part.data = {{{"suffix", ""}, {"number", ""}, {"statement", hostile}, {"questions", "2"}, {"query", hostile}, {"equal_risks", ""}, {"outside", ""}},
                 {{"request", {request}}, {"facts", {fact("view", hostile)}}, {"people", {person}}}};
    part.asked = candidate("0.1", 0.9, 0.8);
    part.belief = 0.525;
    part.candidates = {candidate("1", 0.5, 0.4), candidate("0.1", 0.9, 0.8)};
    part.histogram.emplace(1, 2, 3);
    part.histogram->add(1.5, 3);
    const Data cells = {{}, {{"cells", {{{{"label", "remedy"}, {"code", "yes"}, {"value", hostile}}, {}},
                                       {{{"label", "finding"}, {"code", ""}, {"value", hostile}}, {}}}}}};
    report.tables = {{{{"id", "audit"}, {"title", "Audit"}, {"lead", "lead"}, {"nothing", "nothing"}},
                      {{"columns", {{{{"name", "finding"}}, {}}, {{{"name", "remedy"}}, {}}}}, {"rows", {cells}}}}};
    return page(report);
}

TEST(Page, IsWellFormedWhateverItIsGiven) {
    for (const char *hostile : {"", "</script><script>alert(1)</script>", "'\"><img src=x onerror=alert(1)>", "<!--",
                                "]]>", "\xE2\x80\xAE\xFF\x01", "&lt;b&gt;"}) {
        const std::string made = hostile_page(hostile);
        EXPECT_TRUE(is_balanced(made));
        EXPECT_EQ(made.find("<img"), std::string::npos);
        EXPECT_EQ(made.find("<script>alert"), std::string::npos);
        EXPECT_EQ(made.find("style="), std::string::npos);
        for (unsigned char c : made)
            EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F));
    }
}

} // namespace
