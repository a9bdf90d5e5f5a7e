#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "golden/golden_document.hpp"
#include "key_options.hpp"
#include "progress.hpp"
#include "reproduce/paper_golden.hpp"

namespace sfumato::apps {
namespace {

struct VerifyOptions {
  std::string file;
  KeyOptions keys;
  Output output;
};

ExitCode verify(VerifyOptions& options) {
  const bool is_question = options.file.ends_with(".toml");
  if (!is_question) options.keys.give("file", {options.file});
  VerifyQuestion question;
  const TomlTable table = options.keys.table(is_question ? options.file : "");
  read_keys(question, table, verify_keys());
  prepare_files(options.keys.inputs(table, is_question ? options.file : ""), {}, options.output);
  TerminalObserver observer;
  const VerifyAnswer found = answer(question, golden_functions(), observer);
  observer.finish();
  show([&](Detail detail) { return document_of(found, detail); }, options.output);
  return code_of(found.verdict, observer.stop_requested());
}

}  // namespace

void add_verify(CLI::App& app, Commands& commands) {
  auto* command =
      app.add_subcommand("verify", "Check this build against a file of reference values");
  const auto options = std::make_shared<VerifyOptions>();
  command->add_option("FILE", options->file,
                      "Reference values (JSON), or a TOML file with the options as keys");
  options->keys.declare(*command, infos_of(verify_keys()), {"file"});
  add_output_options(*command, options->output);
  command->footer(
      "Example:\n  sfumato verify tests/golden/golden.json --sections 3\n"
      "Exit code 1 if a case fails (or, with --strict, is skipped).");
  commands.push_back({command, [options] { return verify(*options); }});
}

}  // namespace sfumato::apps
