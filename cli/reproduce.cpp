#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/report/printable.hpp"
#include "sfumato/reproduce/run.hpp"

namespace sfumato::cli {
namespace {

struct Options {
  ReproduceRequest request;
  std::string scale = "quick";
  bool json = false;
};

std::vector<std::string> part_keys() {
  std::vector<std::string> keys;
  for (const Part& part : reproduction_parts()) keys.push_back(part.key);
  return keys;
}

std::string part_list() {
  std::string list;
  for (const Part& part : reproduction_parts()) {
    list += fmt::format("\n  {:<10} {}", part.key, part.title);
  }
  return list;
}

/// The message for a word that is not one of `known`, or nothing; a wrong word is a usage error.
std::string refuse_unknown(const std::string& word, const std::vector<std::string>& known) {
  for (const std::string& candidate : known) {
    if (word == candidate) return {};
  }
  const auto guess = nearest(word, known);
  return fmt::format("\"{}\" is not one of {}{}", printable(word), fmt::join(known, ", "),
                     guess ? fmt::format(" (did you mean {}?)", *guess) : "");
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto* command = app.add_subcommand(
      "reproduce", "Make the paper's tables and figures again, next to its own words and numbers");
  const auto options = std::make_shared<Options>();
  command->add_option("--out", options->request.directory, "Directory for the files (made if new)")
      ->required()
      ->check(
          [](const std::string& path) {
            return std::string(path.empty() ? "the path is empty" : "");
          },
          "");
  command->add_option("--scale", options->scale, "quick (default) or paper")
      ->check(
          [](const std::string& word) {
            return refuse_unknown(word, {"quick", "paper"});
          },
          "");
  command->add_option("--only", options->request.only, "Only these parts (repeatable)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PART,PART")
      ->check([](const std::string& word) { return refuse_unknown(word, part_keys()); }, "");
  command->add_flag("--brief", options->request.brief,
                    "Print only what became of the paper's statements");
  add_json_flag(*command, options->json);
  command->footer("Parts:" + part_list() +
                  "\nExample:\n  sfumato reproduce --scale quick --out results");
  command->callback([options] {
    options->request.scale = options->scale == "paper" ? RunScale::paper : RunScale::quick;
    print(reproduce(options->request,
                    new_document("reproduce", "The paper again, at " + options->scale + " scale")),
          options->json);
  });
}

}  // namespace sfumato::cli
