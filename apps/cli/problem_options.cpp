#include "problem_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

/// Tables of which there are two, or whose keys are matrices.
bool is_side(const KeyInfo& key) {
  return key.table == "d" || key.table == "d_prime" || key.table == "release" ||
         key.key == "domain";
}

}  // namespace

void declare_problem(CLI::App& command, const std::vector<KeyInfo>& keys, ProblemOptions& options,
                     const std::string& examples) {
  command.add_option("PROBLEM.toml", options.file, "Problem file");
  std::vector<KeyInfo> own;
  for (const KeyInfo& key : keys) {
    if (is_side(key)) continue;
    own.push_back(key);
    own.back().required = false;  // the file gives it, or --set
  }
  options.keys.declare(command, own);
  options.keys.declare_settings(command);
  add_output_options(command, options.output);
  command.footer(fmt::format(
      "Keys of the file (docs/{}.md has all the details):\n{}"
      "[d_prime] takes the keys of [d]; what it leaves out is taken from [d]. Vectors and\n"
      "matrices are lists, or paths of CSV or NPY files relative to the problem file;\n"
      "covariances can also be NPZ files.\n\n{}",
      command.get_name(), keys_text(keys), examples));
}

TomlTable problem_of(const ProblemOptions& options) {
  if (options.file.empty() && options.keys.empty()) {
    refuse_usage("PROBLEM.toml", "is missing. Give a problem file, or its keys with --set");
  }
  TomlTable table = options.keys.table(options.file);
  prepare_files(options.keys.inputs(table, options.file), {}, options.output);
  return table;
}

Where place_of(const ProblemOptions& options) {
  return Where::in(options.file.empty() ? "command line" : options.file);
}

}  // namespace sfumato::apps
