// The plan of a question: its bytes and its text.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/plan_print.hpp"
#include "core/plan_words.hpp"
#include "core/query_plan.hpp"

namespace {

using namespace dp::plan;

// ---- making plans ----

Node node(Op op, std::uint32_t number = 0, const char *name = "") {
    Node made;
    made.op = op;
    made.number = number;
    made.name.name = name;
    return made;
}

Node column(const char *name, std::uint32_t source = 0) {
    Node made = node(Op::column, source);
    made.text = name;
    return made;
}

Node constant(const char *type, const char *text, std::int32_t modifier = -1) {
    Node made = node(Op::constant);
    made.type = Type{{"", type}, false, modifier};
    made.text = text;
    return made;
}

Node cast(const char *type, std::int32_t modifier = -1, bool is_array = false) {
    Node made = node(Op::cast);
    made.type = Type{{"", type}, is_array, modifier};
    return made;
}

Measure measure(Kind kind, std::vector<Expression> arguments = {}, Expression filter = {}) {
    Measure made;
    made.kind = kind;
    made.arguments = std::move(arguments);
    made.filter = std::move(filter);
    return made;
}

Plan plan_over(std::vector<std::string> views) {
    Plan plan;
    for (const std::string &view : views) {
        Item item;
        item.number = static_cast<std::uint32_t>(plan.sources.size());
        plan.sources.push_back({{"hospital", view}, false, {}, {}});
        plan.from.push_back(item);
    }
    return plan;
}

Plan counted(Expression where = {}, const char *view = "patient_dp") {
    Plan plan = plan_over({view});
    plan.where = std::move(where);
    plan.measures = {measure(Kind::rows)};
    return plan;
}

std::string where_text(Expression where) {
    const std::string text = print(counted(std::move(where))), head = "SELECT count(*) FROM hospital.patient_dp WHERE ";
    EXPECT_EQ(text.substr(0, head.size()), head);
    return text.substr(head.size());
}

Node case_of(std::uint32_t arms, bool has_operand) {
    Node made = node(Op::choice, arms);
    made.flag = has_operand;
    return made;
}

Plan joined() {
    Plan plan = plan_over({"visit_dp", "visit_dp"});
    Item left;
    left.kind = Item::left;
    left.on = {column("pid"), column("pid", 1), node(Op::infix, 2, "=")};
    plan.from.push_back(left);
    plan.sources.push_back({{"public", "code"}, true, {}, {}});
    Exists exists;
    exists.first = 2;
    exists.count = 1;
    exists.negated = true;
    exists.condition = {column("id", 2), column("code"), node(Op::infix, 2, "=")};
    exists.unless = {column("code"), node(Op::test, is_null)};
    plan.exists = {exists};
    plan.measures = {measure(Kind::rows)};
    return plan;
}

Plan per_person() {
    Plan plan = plan_over({"visit_dp"});
    PerPerson rows;
    rows.person = {{0, "pid"}};
    rows.carried = {{0, "ward"}};
    Aggregate aggregate;
    aggregate.function.name = "sum";
    aggregate.argument = {column("cost")};
    aggregate.filter = {column("paid")};
    rows.aggregates = {aggregate};
    rows.where = {node(Op::person_column), constant("int8", "3"), node(Op::infix, 2, ">")};
    plan.per_person = rows;
    plan.keys = {{column("ward")}, {node(Op::person_column)}};
    Plan above = plan_over({"visit_dp"});
    above.sources.front() = {{}, false, {}, {plan}};
    above.keys = {{column("c1")}};
    above.measures = {measure(Kind::pair, {{column("c2")}})};
    return above;
}

// Of each row of a person the one before.
Plan windows(bool descending = false, bool nulls_first = false) {
    Plan plan = plan_over({"visit_dp"});
    PerPerson rows;
    rows.person = {{0, "pid"}};
    Aggregate before, number;
    before.function.name = "lag";
    before.argument = {column("cost")};
    before.over = Over{{{constant("int4", "2")}}, {{column("ward")}}, {{{column("day")}, descending, nulls_first}}};
    number.function.name = "row_number";
    number.over = Over{{}, {}, {{{column("day")}, false, false}, {{column("cost")}, false, false}}};
    rows.aggregates = {before, number};
    plan.per_person = rows;
    plan.keys = {{column("pid")}, {node(Op::person_column)}, {node(Op::person_column, 1)}};
    Plan above = plan_over({"visit_dp"});
    above.sources.front() = {{}, false, {}, {plan}};
    above.measures = {measure(Kind::rows)};
    return above;
}

// One for each thing that a plan says.
std::vector<Plan> many() {
    const Expression old = {column("age"), constant("int4", "65"), node(Op::infix, 2, ">")};
    std::vector<Plan> plans = {counted(), counted(old), joined(), per_person(), windows(), windows(true), windows(false, true), windows(true, true)};
    plans.push_back(windows());
    plans.back().sources.front().people.front().per_person->aggregates.front().over->partition.clear();
    plans.push_back(windows());
    plans.back().sources.front().people.front().per_person->aggregates.front().over->arguments.clear();
    plans.push_back(counted({column("age"), constant("int4", "66"), node(Op::infix, 2, ">")}));
    plans.push_back(counted({column("age"), constant("int8", "65"), node(Op::infix, 2, ">")}));
    plans.push_back(counted({column("age"), cast("numeric", (5 << 16 | 2) + 4), constant("numeric", "6.50"), node(Op::infix, 2, ">")}));
    plans.push_back(counted({column("age"), cast("numeric", (5 << 16 | 3) + 4), constant("numeric", "6.50"), node(Op::infix, 2, ">")}));
    plans.push_back(counted({column("age"), cast("numeric"), constant("numeric", "6.50"), node(Op::infix, 2, ">")}));
    plans.push_back(counted({column("name"), node(Op::collate, 0, "C"), constant("text", "a"), node(Op::infix, 2, "<")}));
    plans.push_back(counted({column("name"), node(Op::collate, 0, "POSIX"), constant("text", "a"), node(Op::infix, 2, "<")}));
    plans.push_back(counted({column("name"), constant("text", "a"), node(Op::infix, 2, "<")}));
    plans.push_back(counted({column("name"), constant("text", "a "), node(Op::infix, 2, "<")}));
    plans.push_back(counted({column("name"), constant("bpchar", "a"), node(Op::infix, 2, "<")}));
    plans.push_back(counted({column("a"), column("b"), node(Op::conjunction, 2)}));
    plans.push_back(counted({column("a"), column("b"), node(Op::disjunction, 2)}));
    plans.push_back(counted({column("a"), column("b"), node(Op::negation), node(Op::conjunction, 2)}));
    plans.push_back(counted({column("a, b")}));
    plans.push_back(counted({column("A")}));
    plans.push_back(counted(old, "patient"));
    for (std::uint32_t test = is_null; test <= is_not_unknown; test++)
        plans.push_back(counted({column("a"), node(Op::test, test)}));
    plans.push_back(counted({column("a"), node(Op::operand), constant("int4", "1"), node(Op::infix, 2, "="), column("b"),
                             constant("bool", "f"), case_of(1, true)}));
    plans.push_back(counted({column("a"), node(Op::operand), column("b"), node(Op::operand), node(Op::negation), column("c"),
                             constant("bool", "f"), case_of(2, true)}));
    plans.push_back(counted({column("a"), column("b"), constant("bool", "f"), case_of(1, false)}));
    for (Kind kind : {Kind::present, Kind::values, Kind::sum, Kind::pair, Kind::triple}) {
        plans.push_back(counted());
        plans.back().measures = {measure(kind, {{column("cost")}})};
        plans.push_back(counted());
        plans.back().measures = {measure(kind, {{column("cost")}}, old)};
    }
    for (Kind kind : {Kind::products, Kind::moments}) {
        plans.push_back(counted());
        plans.back().measures = {measure(kind, {{column("cost")}, {column("age")}})};
    }
    for (std::int64_t fraction : {std::int64_t{0}, fraction_one / 2, fraction_one / 4, fraction_one}) {
        plans.push_back(counted());
        plans.back().measures = {measure(Kind::quantile, {{column("cost")}})};
        plans.back().measures.front().fraction = fraction;
    }
    plans.push_back(counted());
    plans.back().measures = {measure(Kind::people)};
    plans.back().measures.front().person = {{0, "a"}, {0, "b"}};
    for (const char *key : {"ward", "Ward", "war\xC2\xAD" "d"}) {
        plans.push_back(counted());
        plans.back().keys = {{column(key)}};
    }
    return plans;
}

// ---- the text ----

TEST(PlanPrint, SaysWhatIsAsked) {
    Plan plan = counted({column("age"), constant("int4", "65"), node(Op::infix, 2, ">")});
    plan.keys = {{column("ward")}};
    plan.measures = {measure(Kind::pair, {{column("cost")}})};
    EXPECT_EQ(print(plan), "SELECT ward, avg(cost) FROM hospital.patient_dp WHERE (age > 65) GROUP BY ward");
    EXPECT_EQ(print(joined()),
              "SELECT count(*) FROM (hospital.visit_dp AS s1 LEFT JOIN hospital.visit_dp AS s2 ON (s1.pid = s2.pid)) WHERE "
              "((s1.code IS NULL) OR (NOT EXISTS (SELECT FROM public.code AS s3 WHERE (s3.id = s1.code))))");
    EXPECT_EQ(print(per_person()),
              "SELECT c1, avg(c2) FROM (SELECT ward AS c1, sum(cost) FILTER (WHERE paid) AS c2 FROM hospital.visit_dp "
              "GROUP BY pid, ward HAVING (sum(cost) FILTER (WHERE paid) > '3'::bigint)) AS s1 GROUP BY c1");
}

TEST(PlanPrint, Windows) {
    EXPECT_EQ(print(windows(true)),
              "SELECT count(*) FROM (SELECT pid AS c1, lag(cost, 2) OVER (PARTITION BY pid, ward ORDER BY day DESC NULLS LAST) AS c2, "
              "row_number() OVER (PARTITION BY pid ORDER BY day, cost) AS c3 FROM hospital.visit_dp) AS s1");
}

TEST(PlanPrint, TypesConstantsAndCasts) {
    EXPECT_EQ(where_text({constant("numeric", "1.50")}), "1.50");
    EXPECT_EQ(where_text({constant("numeric", "5")}), "'5'::numeric");
    EXPECT_EQ(where_text({constant("int4", "-5")}), "'-5'::integer");
    EXPECT_EQ(where_text({constant("numeric", "1.50", (5 << 16 | 2) + 4)}), "'1.50'::numeric(5,2)");
    EXPECT_EQ(where_text({column("a"), cast("numeric", (3 << 16 | 0x7fe) + 4)}), "(a)::numeric(3,-2)");
    EXPECT_EQ(where_text({column("a"), cast("varchar", 9)}), "(a)::varchar(5)");
    EXPECT_EQ(where_text({column("a"), cast("bpchar", 9, true)}), "(a)::bpchar(5)[]");
    EXPECT_EQ(where_text({column("a"), cast("bit", 3)}), "(a)::bit(3)");
    EXPECT_EQ(where_text({column("a"), cast("bit")}), "(a)::\"bit\"");
    EXPECT_EQ(where_text({column("a"), cast("interval", 0x1c08 << 16 | 3)}), "(a)::interval day to second(3)");
    EXPECT_EQ(where_text({column("a"), cast("timestamptz", 0)}), "(a)::timestamptz(0)");
    Node null = constant("text", "");
    null.flag = true;
    EXPECT_EQ(where_text({null}), "NULL::text");
}

TEST(PlanPrint, ComparesTheOperandOfCase) {
    EXPECT_EQ(where_text({column("a"), node(Op::operand), column("b"), node(Op::operand), node(Op::negation), column("c"),
                          node(Op::operand), constant("int4", "1"), node(Op::infix, 2, "="), column("d"), column("e"),
                          case_of(3, true)}),
              "CASE a WHEN true THEN b WHEN false THEN c WHEN 1 THEN d ELSE e END");
}

// A key that is a number by itself would be the place of a column.
TEST(PlanPrint, KeysAreNoPlaces) {
    Plan plan = counted();
    plan.keys = {{constant("int4", "2")}};
    EXPECT_EQ(print(plan), "SELECT '2'::integer, count(*) FROM hospital.patient_dp GROUP BY '2'::integer");
}

TEST(PlanPrint, EscapesWhatDoesNotShow) {
    const Words words = {true}, others = {false};
    EXPECT_EQ(others.quoted_text("\xE2\x80\xAE\n"), "U&'\xE2\x80\xAE\\000A'");
    EXPECT_EQ(words.quoted_text("it's a \\"), "'it''s a \\'");
    EXPECT_EQ(words.quoted_text("approved\xE2\x80\xAE" "drawkcab\\'"), "U&'approved\\202Edrawkcab\\\\'''");
    for (const auto &[point, text] : std::map<std::string, std::string>{{"\n", "000A"},
                                                                        {"\x7f", "007F"},
                                                                        {"\xC2\x85", "0085"},
                                                                        {"\xC2\xAD", "00AD"},
                                                                        {"\xE2\x80\x8B", "200B"},
                                                                        {"\xE2\x80\xA8", "2028"},
                                                                        {"\xE2\x81\xA6", "2066"},
                                                                        {"\xEF\xBB\xBF", "FEFF"},
                                                                        {"\xF3\xA0\x81\x81", "+0E0041"}}) {
        EXPECT_EQ(words.quoted_text(point), "U&'\\" + text + "'");
        EXPECT_EQ(words.quoted_name(point), "U&\"\\" + text + "\"");
    }
    EXPECT_EQ(words.quoted_name("Ward \"A\""), "\"Ward \"\"A\"\"\"");
    EXPECT_EQ(words.quoted_name("select"), "\"select\"");
    EXPECT_EQ(words.quoted_name("ward_2"), "ward_2");
    EXPECT_EQ(words.quoted_name("\xC3\xA9t\xC3\xA9"), "\"\xC3\xA9t\xC3\xA9\"");
    EXPECT_EQ(words.quoted_text("\xff\xE2\x80"), "'\xff\xE2\x80'"); // no UTF-8
}

TEST(PlanPrint, TellsPlansApart) {
    std::map<std::string, std::string> seen;
    for (const Plan &plan : many()) {
        const auto [place, is_new] = seen.emplace(print(plan), encode(plan));
        EXPECT_TRUE(is_new) << place->first;
    }
}

TEST(PlanPrint, IsLinear) {
    Expression sum = {column("a")};
    for (int i = 0; i < 100000; i++) {
        sum.push_back(column("a"));
        sum.push_back(node(Op::infix, 2, "+"));
    }
    EXPECT_EQ(where_text(sum).size(), 1u + 100000 * 6);
}

// ---- the bytes ----

TEST(PlanBytes, TellPlansApart) {
    std::set<std::string> seen;
    for (const Plan &plan : many())
        EXPECT_TRUE(seen.insert(encode(plan)).second) << print(plan);
}

// What stands behind each other is not read as one.
TEST(PlanBytes, TellWhereNamesEnd) {
    EXPECT_NE(encode(Column{0, "ab"}), encode(Column{0, "a"}) + "b");
    Plan one = plan_over({"cd"}), other = plan_over({"d"});
    one.sources.front().name.schema = "ab";
    other.sources.front().name.schema = "abc";
    EXPECT_NE(encode(one), encode(other));
}

TEST(PlanBytes, NumbersOfAnySize) {
    std::set<std::string> seen;
    for (std::int32_t modifier : {-1, 0, 1, 63, 64, 127, 128, 300, 1 << 20, 0x7fffffff, -0x7fffffff - 1})
        EXPECT_TRUE(seen.insert(encode(counted({column("a"), cast("numeric", modifier)}))).second) << modifier;
}

} // namespace
