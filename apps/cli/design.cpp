#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "command.hpp"
#include "help.hpp"
#include "key_options.hpp"
#include "progress.hpp"
#include "sfumato/design/design_answer.hpp"
#include "sfumato/design/design_keys.hpp"

namespace sfumato::apps {
namespace {

struct DesignOptions {
  std::string file;  ///< the differences, or a question (TOML)
  KeyOptions keys;
  std::string out;
  Output output;
};

void prepare_out(const DesignOptions& options, const DesignQuestion& question,
                 const std::vector<std::string>& inputs) {
  if (!options.out.empty() && !question.frontier.empty()) {
    refuse_usage("out", "a frontier has many designs. Ask for one of them");
  }
  if (!options.out.empty() && !options.out.ends_with(".npz")) {
    refuse_usage("out", "is a covariance, but does not end in .npz");
  }
  prepare_files(inputs, {{"out", options.out}}, options.output);
}

ExitCode design(DesignOptions& options) {
  const bool is_question = options.file.ends_with(".toml");
  if (!is_question) options.keys.give("differences", {options.file});
  const TomlTable table = options.keys.table(is_question ? options.file : "");
  const DesignAnswer found = located_keys(table, [&] {
    DesignQuestion question;
    read_keys(question, table, design_keys());
    prepare_out(options, question, options.keys.inputs(table, is_question ? options.file : ""));
    TerminalObserver observer;
    return answer(question, observer);
  });
  if (!options.out.empty()) {
    write_covariance(options.out, covariance_of(found).value(), {options.output.force});
  }
  show(
      [&](Detail detail) {
        Document document = document_of(found, detail);
        if (!options.out.empty()) {
          document.state(StatementKind::summary,
                         fmt::format("The covariance is in {}.", options.out));
        }
        return document;
      },
      options.output);
  return code_of(Verdict::none, found.stopped);
}

}  // namespace

void add_design(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "design", "Find the noise covariance that hides most for an accuracy budget");
  const auto options = std::make_shared<DesignOptions>();
  command->add_option("DIFFERENCES", options->file,
                      "Gradient differences, one per row (CSV without header, NPY), or a TOML file "
                      "with the options as keys");
  options->keys.declare(*command, infos_of(design_keys()), {"differences"});
  options->keys.declare_settings(*command);
  command->add_option("--out", options->out, "Write the covariance to this file")
      ->type_name("FILE.npz")
      ->group(kOutputGroup);
  add_output_options(*command, options->output);
  command->footer(
      "Example:\n"
      "  sfumato design examples/design/differences.csv --differences-are public \\\n"
      "      --form full --trace 2 --out noise.npz\n"
      "The file can be used as the noise of quadratic, rows, bound and train\n"
      "(docs/design.md).");
  show_first(*command, {"second-moments", "sensitivities", "problem", "form", "excess-loss", "cost",
                        "frontier", "out"});
  commands.push_back({command, [options] { return design(*options); }});
}

}  // namespace sfumato::apps
