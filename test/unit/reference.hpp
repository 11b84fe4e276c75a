// Reference numbers (reference.json): load the file, walk the cases of one function, compare with its tolerances.
// Conventions: see the field "conventions" of the file.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#ifndef DP_TEST_DATA
#define DP_TEST_DATA "test/unit"
#endif

namespace reference {

using nlohmann::json;

inline std::string data_directory() {
    const char *from_environment = std::getenv("DP_TEST_DATA");
    return from_environment != nullptr ? from_environment : DP_TEST_DATA;
}

// The whole file, read once.
inline const json &file() {
    static const json content = [] {
        const std::string path = data_directory() + "/reference.json";
        std::ifstream in(path);
        if (!in)
            throw std::runtime_error("cannot read " + path + " (set DP_TEST_DATA)");
        return json::parse(in);
    }();
    return content;
}

// A number; "inf", "-inf", "NaN" stand for what JSON cannot say.
inline double number(const json &j) {
    if (!j.is_string())
        return j.get<double>();
    const std::string text = j.get<std::string>();
    if (text == "inf")
        return std::numeric_limits<double>::infinity();
    if (text == "-inf")
        return -std::numeric_limits<double>::infinity();
    if (text == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    throw std::runtime_error("not a number: " + text);
}

inline std::optional<double> optional_number(const json &j) {
    return j.is_null() ? std::nullopt : std::optional<double>(number(j));
}

// Decimal text of a number as the file prints it ("0.05", "1e-06"): what a user would write.
inline std::string text(const json &j) { return j.is_string() ? j.get<std::string>() : j.dump(); }

// A list of numbers, or the name of one: "paper37".
inline const json &list(const json &j) { return j.is_string() ? file().at(j.get<std::string>()) : j; }

class Case {
  public:
    explicit Case(const json &content) : content_(content) {}

    std::string id() const { return content_.at("id").get<std::string>(); }
    const json &args() const { return content_.at("args"); }
    const json &arg(const char *name) const { return args().at(name); }
    bool has_arg(const char *name) const { return args().contains(name); }
    const json &expect() const { return content_.at("expect"); }
    const json &expect(const char *name) const { return expect().at(name); }
    bool expects(const char *name) const { return expect().is_object() && expect().contains(name); }

    // |got - want| <= atol + rtol |want|; infinities and NaN must be the same.
    void near(double got, const json &want, const std::string &what = "") const {
        ASSERT_FALSE(want.is_null()) << id() << " " << what << ": a value where none is expected: " << got;
        const double w = number(want);
        if (!std::isfinite(w) || !std::isfinite(got)) {
            EXPECT_TRUE(got == w || (std::isnan(got) && std::isnan(w))) << id() << " " << what << ": " << got << ", not " << w;
            return;
        }
        const double rtol = content_.at("rtol").get<double>();
        const double atol = content_.value("atol", 0.0);
        EXPECT_LE(std::fabs(got - w), atol + rtol * std::fabs(w)) << id() << " " << what << ": " << got << ", not " << w;
    }
    void near(double got) const { near(got, expect()); }
    // near() against the field `name` of an object.
    void field(double got, const char *name) const { near(got, expect(name), name); }
    // The same for values that may be absent (null).
    void field(const std::optional<double> &got, const char *name) const {
        if (expect(name).is_null())
            EXPECT_FALSE(got.has_value()) << id() << " " << name << ": " << *got << ", not null";
        else if (got.has_value())
            near(*got, expect(name), name);
        else
            ADD_FAILURE() << id() << " " << name << ": null, not " << expect(name);
    }

  private:
    const json &content_;
};

// Calls check(case) for every case of the function; no case at all is a failure.
template <class Check> void each(const std::string &fn, Check check) {
    int cases = 0;
    for (const json &content : file().at("cases")) {
        if (content.at("fn") != fn)
            continue;
        ++cases;
        const Case one(content);
        SCOPED_TRACE(one.id());
        try {
            check(one);
        } catch (const std::exception &e) {
            ADD_FAILURE() << one.id() << ": " << e.what();
        }
    }
    EXPECT_GT(cases, 0) << "no reference case of " << fn;
}

} // namespace reference
