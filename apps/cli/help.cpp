#include "help.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>

#include "sfumato/core/error.hpp"
#include "sfumato/report/printable.hpp"

namespace sfumato::apps {
namespace {

constexpr std::size_t kNames = 26;    // columns of the names: most fit
constexpr std::size_t kWidest = 100;  // longer lines are hard to read

std::size_t width() { return std::min(terminal_width(), kWidest); }

std::string line_of(const std::string& name, const std::string& help) {
  std::string first = "  " + name;
  if (first.size() + 2 > kNames) {
    return first + "\n" + wrap(std::string(kNames, ' '), help, width());
  }
  return wrap(pad_right(first, kNames), help, width());
}

constexpr const char* kOptionsGroup = "Options";

std::vector<const CLI::Option*> options_in(const CLI::App& app, const std::string& group) {
  return app.get_options([&](const CLI::Option* option) {
    return option->get_group() == group && option->nonpositional();
  });
}

class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() {
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = option->get_name(is_positional, false);
    if (!is_positional && option->get_items_expected_max() > 0) {
      name += " " + option->get_type_name();
    }
    return line_of(name, option->get_description());
  }

  std::string make_description(const CLI::App* app) const override {
    return wrap("", app->get_description() + ".", width());
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, name) + make_positionals(app) + options_of(app) +
           (mode == CLI::AppFormatMode::All ? group_of(app, kMoreGroup) : more_of(app, name)) +
           make_subcommands(app, CLI::AppFormatMode::Normal) + "\n" +
           footer_of(app, mode != CLI::AppFormatMode::All && !options_in(*app, kMoreGroup).empty());
  }

  /// What is required comes first, what is written last.
  std::string options_of(const CLI::App* app) const {
    std::string text;
    for (const char* group : {kRequiredGroup, kOptionsGroup, kOutputGroup}) {
      text += group_of(app, group);
    }
    return text;
  }

  std::string group_of(const CLI::App* app, const std::string& group) const {
    const auto options = options_in(*app, group);
    return options.empty() ? "" : make_group(group, false, options);
  }

  /// How many options there are besides, and where.
  static std::string more_of(const CLI::App* app, const std::string& name) {
    const std::size_t more = options_in(*app, kMoreGroup).size();
    if (more == 0) return "";
    return fmt::format("\n{} more options: {} --help-all\n", more, name);
  }

  /// Sentences are wrapped; examples and tables, which are indented, stay as they are. In brief only the first example, and what is said after the examples.
  static std::string footer_of(const CLI::App* app, bool brief) {
    std::istringstream lines(app->get_footer());
    std::string footer, sentences;
    const auto end_sentences = [&] {
      if (!sentences.empty()) footer += wrap("", sentences, width());
      sentences.clear();
    };
    bool shown = !brief, goes_on = true;  // the first example, over all its lines
    for (std::string line; std::getline(lines, line);) {
      const bool is_heading = line.ends_with(":"), is_kept = line.starts_with(" ");
      shown = shown || (is_heading && line.starts_with("Example"));
      if (!shown) continue;
      if (!line.empty() && !is_heading && !is_kept) {
        sentences += (sentences.empty() ? "" : " ") + line;
        continue;
      }
      end_sentences();
      if (brief && is_kept && !goes_on) continue;
      footer += line + "\n";
      if (is_kept) goes_on = line.ends_with("\\");
    }
    end_sentences();
    return footer;
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return line_of(command->get_name(), command->get_description());
  }
};

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return 80;
  }
  return std::max<std::size_t>(size.ws_col, 40);
}

void show_first(CLI::App& command, const std::vector<std::string>& names) {
  std::vector<const CLI::Option*> shown;
  for (const std::string& name : names) {
    shown.push_back(command.get_option_no_throw("--" + name));
    if (shown.back() == nullptr)
      throw InternalError("--help shows an option that is none: " + name);
  }
  for (CLI::Option* option : command.get_options()) {
    const bool is_one = option->get_group() == kOptionsGroup && option->nonpositional();
    const bool is_rare = option->check_lname("force") || option->check_lname("group-readable");
    if (is_rare) option->group(kMoreGroup);
    if (is_one && std::find(shown.begin(), shown.end(), option) == shown.end()) {
      option->group(kMoreGroup);
    }
  }
}

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<HelpFormat>(); }

}  // namespace sfumato::apps
