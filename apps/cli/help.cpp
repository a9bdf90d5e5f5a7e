#include "help.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>

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
           make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  /// What is required comes first, what is written last.
  std::string options_of(const CLI::App* app) const {
    std::string text;
    for (const char* group : {kRequiredGroup, "Options", kOutputGroup}) {
      const auto options = app->get_options([&](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      });
      if (!options.empty()) text += make_group(group, false, options);
    }
    return text;
  }

  /// Sentences are wrapped; examples and tables, which are indented, stay as they are.
  std::string make_footer(const CLI::App* app) const override {
    std::istringstream lines(app->get_footer());
    std::string footer, sentences;
    const auto end_sentences = [&] {
      if (!sentences.empty()) footer += wrap("", sentences, width());
      sentences.clear();
    };
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.starts_with(" ") || line.ends_with(":")) {
        end_sentences();
        footer += line + "\n";
      } else {
        sentences += (sentences.empty() ? "" : " ") + line;
      }
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

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<HelpFormat>(); }

}  // namespace sfumato::apps
