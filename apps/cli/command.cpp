#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "help.hpp"
#include "output_files.hpp"
#include "provenance.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/report/html.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/text.hpp"

namespace sfumato::apps {

namespace {

/// As wide as the terminal; colours where somebody sees them and has not said no (no-color.org).
TextStyle style_of_terminal(std::string figures_by) {
  TextStyle style{terminal_width(), false, std::move(figures_by)};
  if (::isatty(STDOUT_FILENO) == 0) return style;
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  style.colour = term != nullptr && std::string_view(term) != "dumb" &&
                 (no_colour == nullptr || *no_colour == '\0');
  return style;
}

}  // namespace

ExitCode code_of(Verdict verdict, bool stopped) {
  if (verdict == Verdict::violated) return kViolated;
  if (stopped) return kInterrupted;
  return verdict == Verdict::open ? kUndecided : kFine;
}

void refuse_usage(const std::string& key, const std::string& problem) {
  throw InvalidArgument(problem, "", Where::key(key));
}

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON, with every digit, claim and method")
      ->group(kOutputGroup);
}

void add_output_options(CLI::App& command, Output& output) {
  command.add_flag("--full", output.full, "Print everything, not just the short answer")
      ->group(kOutputGroup);
  add_json_flag(command, output.json);
  command
      .add_option("--report", output.report, "Also write a self-contained HTML page with figures")
      ->type_name("FILE.html")
      ->group(kOutputGroup);
  add_output_flags(command, output.force);
}

void prepare_files(const std::vector<std::string>& inputs, std::vector<PlannedFile> outputs,
                   const Output& output) {
  const bool page = output.report.ends_with(".html") || output.report.ends_with(".htm");
  if (!output.report.empty() && !page) {
    refuse_usage("report", fmt::format("{} does not end in .html", output.report));
  }
  outputs.push_back({"report", output.report});
  prepare_outputs(inputs, outputs, output.force);
}

void print(const Document& document, bool json) {
  write_output(json ? render_json(document) : render_text(document, style_of_terminal("")));
}

void write_page(const std::function<Document()>& document, const Output& output) {
  if (output.report.empty()) return;
  const Document whole = document();
  write_file(output.report, html_report({whole.title(), {whole}, {}, time_now(), run_facts()}),
             {output.force});
}

void show(const std::function<Document(Detail)>& document, const Output& output) {
  const bool brief = !output.full && !output.json;
  const Document shown = document(brief ? Detail::brief : Detail::full);
  write_page([&] { return brief ? document(Detail::full) : shown; }, output);
  write_output(output.json ? render_json(shown)
                           : render_text(shown, style_of_terminal("--report FILE.html")));
}

void write_output(const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw StorageError(std::string("cannot write: ") + std::strerror(errno),
                       "Free some space or redirect the output elsewhere",
                       Where::in("standard output"));
  }
}

std::string time_now() {
  std::time_t seconds = std::time(nullptr);
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH")) {
    const auto end = fixed + std::strlen(fixed);
    std::time_t value = 0;
    const auto [rest, error] = std::from_chars(fixed, end, value);
    if (error == std::errc{} && rest == end) seconds = value;
  }
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

}  // namespace sfumato::apps
