#include "golden/golden_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "golden/registry.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::apps {
namespace {

struct Tolerance {
  double relative;
  double absolute;
};

/// A number of a golden file, which writes infinities as strings, or as null where nothing is finite (Spec §27).
double number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf" || value.is_null()) return HUGE_VAL;
  if (value == "-inf") return -HUGE_VAL;
  throw InvalidArgument(fmt::format("expected output {} is not a number", value.dump()),
                        "Write numbers, lists of numbers or \"inf\"");
}

/// Adds a failure for each entry of `expected` that `got` misses. An enclosure has to contain it and to be narrow.
void compare(const std::string& id, const std::string& output, const Json& expected,
             const Json& got, Tolerance tolerance, std::vector<VerifyFailure>& failures) {
  if (expected.is_array()) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json entry = got.is_array() && i < got.size() ? got.at(i) : Json();
      compare(id, fmt::format("{}[{}]", output, i), expected.at(i), entry, tolerance, failures);
    }
    return;
  }
  const double want = number_of(expected);
  const double slack = tolerance.absolute + tolerance.relative * std::abs(want);
  if (got.is_object()) {
    // Inputs are decimals, of which doubles differ: what that moves is a thousandth of the tolerance at most.
    const double rounding = 1e-3 * slack;
    const double width = std::max(slack, got.value("width", 0.0) * std::abs(want));
    const double lo = got.contains("lo") ? number_of(got.at("lo")) : want;
    const double hi = got.contains("hi") ? number_of(got.at("hi")) : want;
    const bool low_holds = lo == want || (lo <= want + rounding && lo >= want - width);
    const bool high_holds = hi == want || (hi >= want - rounding && hi <= want + width);
    if (!low_holds) failures.push_back({id, output + " from below", want, lo, width});
    if (!high_holds) failures.push_back({id, output + " from above", want, hi, width});
    return;
  }
  const double have = got.is_null() ? std::numeric_limits<double>::quiet_NaN() : number_of(got);
  const bool passed = have == want || std::abs(have - want) <= slack;  // NaN fails
  if (!passed) failures.push_back({id, output, want, have, slack});
}

Json read_golden(const std::string& path) {
  const std::string text = read_file(path);
  try {
    Json golden = Json::parse(text);
    if (!golden.is_object() || !golden.contains("cases") || !golden["cases"].is_array()) {
      throw InvalidArgument("has no list named \"cases\"",
                            "Pass a file of reference values (Spec "
                            "§15)",
                            Where::in(path));
    }
    return golden;
  } catch (const Json::exception& error) {
    throw InvalidArgument(error.what(), "Pass a JSON file of reference values", Where::in(path));
  }
}

/// One case against the function that it names.
void check_case(const Json& item, const std::string& id, const Registry& registry,
                VerifyAnswer& result) {
  const auto function = item.at("function").get<std::string>();
  const auto found = registry.find(function);
  if (found == registry.end()) {
    ++result.skipped;
    result.unknown.insert(function);
    return;
  }
  const Json got = found->second(item.at("inputs"));
  const std::size_t before = result.failures.size();
  const Tolerance tolerance{item.value("rtol", 0.0), item.value("atol", 0.0)};
  for (const auto& [key, expected] : item.at("outputs").items()) {
    if (!got.contains(key)) {
      throw InvalidArgument(fmt::format("\"{}\" has no output named \"{}\"", function, key),
                            "Check the name against Spec §15", Where::in(result.question.file));
    }
    // Least favourable weights need not be unique (Spec §9.3): value and covariance are compared.
    if (key == "weights" && function.starts_with("minimax_")) continue;
    compare(id, key, expected, got.at(key), tolerance, result.failures);
  }
  ++(result.failures.size() == before ? result.passed : result.failed);
}

bool is_asked(const Json& item, const std::vector<std::string>& sections) {
  return sections.empty() || std::find(sections.begin(), sections.end(),
                                       item.at("section").get<std::string>()) != sections.end();
}

}  // namespace

const Keys<VerifyQuestion>& verify_keys() {
  using Q = VerifyQuestion;
  using namespace keys;
  static const Keys<Q> all = {
      required(file_key<Q>("file", "reference values (JSON)", &Q::file)),
      with(texts_key<Q>("sections", "list of texts",
                        "run only the cases of these sections of the specification", &Q::sections),
           {"section"}),
      flag_key<Q>("strict", "count skipped cases as failures", &Q::strict)};
  return all;
}

VerifyAnswer answer(const VerifyQuestion& question, Observer& observer) {
  return answer(question, library_functions(), observer);
}

VerifyAnswer answer(const VerifyQuestion& question, const Registry& functions, Observer& observer) {
  const Json golden = read_golden(question.file);
  VerifyAnswer result{question};
  const Json& cases = golden["cases"];
  for (std::size_t i = 0; i < cases.size() && !observer.stop_requested(); ++i) {
    observer.progress("cases", i, cases.size());
    std::string id = "(no id)";
    try {
      id = cases[i].value("id", id);
      if (is_asked(cases[i], question.sections)) check_case(cases[i], id, functions, result);
    } catch (const Json::exception& error) {
      throw InvalidArgument(fmt::format("case {}: {}", id, error.what()),
                            "Each case has id, section, function, inputs, outputs, rtol and atol",
                            Where::in(question.file));
    } catch (const Error& error) {  // the function refused inputs that have a reference value
      result.failures.push_back({id, "", 0.0, 0.0, 0.0, error.what()});
      ++result.failed;
    }
  }
  if (result.passed + result.failed + result.skipped == 0) {
    throw InvalidArgument("no case to check",
                          "Check the sections, which are numbered as in docs/spec.md",
                          Where::in(question.file));
  }
  const bool failed = result.failed > 0 || (question.strict && result.skipped > 0);
  result.verdict = failed ? Verdict::violated : Verdict::holds;
  return result;
}

}  // namespace sfumato::apps
