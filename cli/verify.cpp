#include <fmt/format.h>

#include <cmath>
#include <set>

#include "command.hpp"
#include "sfumato/answers/verify/registry.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato::cli {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> sections;
  bool strict = false;
  bool json = false;
};

struct Tolerance {
  double relative;
  double absolute;
};

/// A number of a golden file, which writes infinities as strings.
double number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return HUGE_VAL;
  if (value == "-inf") return -HUGE_VAL;
  throw InvalidArgument(fmt::format("expected output {} is not a number", value.dump()),
                        "Write numbers, lists of numbers or \"inf\"");
}

/// Adds one row to `failures` for each entry of `expected` that `got` misses.
void compare(const std::string& id, const std::string& path, const Json& expected, const Json& got,
             Tolerance tolerance, Table& failures) {
  if (expected.is_array()) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json entry = got.is_array() && i < got.size() ? got.at(i) : Json();
      compare(id, fmt::format("{}[{}]", path, i), expected.at(i), entry, tolerance, failures);
    }
    return;
  }
  const double want = number_of(expected);
  const double slack = tolerance.absolute + tolerance.relative * std::abs(want);
  if (got.is_null()) {
    failures.add_row({id, path, fmt::format("{}", want), "nothing", fmt::format("{:.3g}", slack)});
    return;
  }
  const double have = number_of(got);
  const bool passed = have == want || std::abs(have - want) <= slack;  // NaN fails
  if (passed) return;
  failures.add_row(
      {id, path, fmt::format("{}", want), fmt::format("{}", have), fmt::format("{:.3g}", slack)});
}

Json read_golden(const std::string& path) {
  const std::string text = read_file(path);
  try {
    Json golden = Json::parse(text);
    if (!golden.is_object() || !golden.contains("cases") || !golden["cases"].is_array()) {
      throw InvalidArgument("has no list named \"cases\"", "Pass a golden file (Spec §15)",
                            Where::in(path));
    }
    return golden;
  } catch (const Json::exception& error) {
    throw InvalidArgument(error.what(), "Pass a JSON golden file", Where::in(path));
  }
}

Registry all_functions() {
  Registry registry;
  register_gaussian(registry);
  register_conversions(registry);
  register_quadratic(registry);
  register_bounds(registry);
  register_chain(registry);
  register_design(registry);
  register_minibatch(registry);
  register_audit(registry);
  register_particles(registry);
  register_fokker_planck(registry);
  return registry;
}

ExitCode verify(const Options& options) {
  ExitCode code = kFine;
  const Json golden = read_golden(options.file);
  const Registry registry = all_functions();
  const std::set<std::string> sections(options.sections.begin(), options.sections.end());
  Table failures("failures", "Cases outside their tolerance",
                 {{"id", "case"},
                  {"output", "output"},
                  {"expected", "expected"},
                  {"got", "got"},
                  {"tolerance", "tolerance"}});
  std::set<std::string> missing;
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  for (const Json& item : golden["cases"]) {
    std::string id = "(no id)";
    try {
      id = item.value("id", id);
      if (!sections.empty() && !sections.contains(item.at("section").get<std::string>())) continue;
      const auto function = item.at("function").get<std::string>();
      const auto found = registry.find(function);
      if (found == registry.end()) {
        ++skipped;
        missing.insert(function);
        continue;
      }
      const Json got = found->second(item.at("inputs"));
      const std::size_t before = failures.rows().size();
      const Tolerance tolerance{item.value("rtol", 0.0), item.value("atol", 0.0)};
      for (const auto& [key, expected] : item.at("outputs").items()) {
        if (!got.contains(key)) {
          throw InvalidArgument(fmt::format("\"{}\" has no output named \"{}\"", function, key),
                                "Check the name against Spec §15", Where::in(options.file));
        }
        // Least favourable weights need not be unique (Spec §9.3): value and covariance are compared.
        if (key == "weights" && function.starts_with("minimax_")) continue;
        compare(id, key, expected, got.at(key), tolerance, failures);
      }
      ++(failures.rows().size() == before ? passed : failed);
    } catch (const Json::exception& error) {
      throw InvalidArgument(fmt::format("case {}: {}", id, error.what()),
                            "Each case has id, section, function, inputs, outputs, rtol and atol",
                            Where::in(options.file));
    } catch (const Error& error) {  // the function refused inputs that have a reference value
      failures.add_row({id, "(all)", "a value", error.what(), ""});
      ++failed;
    }
  }
  Document document = new_document("verify", "Reference values of " + options.file);
  if (!failures.rows().empty()) document.add(failures);
  if (!missing.empty()) {
    document.state(StatementKind::info, fmt::format("functions that this build does not know: {}",
                                                    fmt::join(missing, ", ")));
  }
  if (passed + failed + skipped == 0) {
    throw InvalidArgument("no case is left to check",
                          "Check --section: sections are numbered as in docs/spec.md",
                          Where::in(options.file));
  }
  document.state(StatementKind::summary,
                 fmt::format("{} passed, {} failed, {} skipped", passed, failed, skipped));
  print(document, options.json);
  if (failed > 0 || (options.strict && skipped > 0)) code = kViolated;
  return code;
}

}  // namespace

void add_verify(CLI::App& app, Commands& commands) {
  auto* command =
      app.add_subcommand("verify", "Check this build against a file of reference values");
  const auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "Golden file (JSON)")->required();
  command->add_option("--section", options->sections, "Only cases of this section (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--strict", options->strict, "Count skipped cases as failures");
  add_json_flag(*command, options->json);
  command->footer(
      "Example:\n  sfumato verify tests/golden/golden.json --section 3\n"
      "Exit code 1 if a case fails (or, with --strict, is skipped).");
  commands.push_back({command, [options] { return verify(*options); }});
}

}  // namespace sfumato::cli
