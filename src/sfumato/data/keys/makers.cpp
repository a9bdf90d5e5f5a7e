#include "sfumato/data/keys/makers.hpp"

#include <cmath>

namespace sfumato::keys {

void refuse(const TomlTable& table, const std::string& key, const std::string& value,
            const std::string& expected) {
  throw InvalidArgument(table.problem(key, " = ", fmt::format("{} is not {}", value, expected)),
                        fmt::format("Give {}", expected), table.where(key));
}

double checked_number(const TomlTable& table, const std::string& key, NumberCheck check) {
  const double value = table.number(key);
  if (const char* problem = check(value)) {
    throw InvalidArgument(table.problem(key, ": ", fmt::format("{} {}", value, problem)),
                          "Correct it", table.where(key));
  }
  return value;
}

std::vector<double> checked_numbers(const TomlTable& table, const std::string& key,
                                    NumberCheck check) {
  const std::vector<double> values = table.numbers(key);
  for (const double value : values) {
    if (const char* problem = check(value)) {
      throw InvalidArgument(table.problem(key, ": ", fmt::format("{} {}", value, problem)),
                            "Correct or remove it", table.where(key));
    }
  }
  return without_repeats(values);
}

std::vector<std::string> checked_texts(const TomlTable& table, const std::string& key) {
  std::vector<std::string> texts;
  for (const std::vector<std::string>& row : table.strings(key).rows) {
    if (row.size() != 1) refuse(table, key, "a list of lists", "a list of texts");
    texts.push_back(row.front());
  }
  return texts;
}

Codec<std::string> text_value(const char* type) {
  Codec<std::string> codec = {
      type, [](const TomlTable& table, const std::string& key) { return table.string(key); },
      [](const std::string& text) { return text.empty() ? text : toml_text(text); }};
  if (codec.type == "text") codec.value = "TEXT";
  return codec;
}

Codec<std::string> path_value(bool absolute) {
  Codec<std::string> codec = text_value("path");
  codec.is_file = true;
  codec.value = "FILE";
  codec.read = [absolute](const TomlTable& table, const std::string& key) {
    const std::string path = table.path(key);
    return absolute ? absolute_path(path) : path;
  };
  return codec;
}

Codec<std::vector<std::string>> texts_value(const char* type) {
  return {type, checked_texts,
          [](const std::vector<std::string>& texts) {
            std::vector<std::string> quoted;
            for (const std::string& text : texts) quoted.push_back(toml_text(text));
            return quoted.empty() ? std::string() : fmt::format("[{}]", fmt::join(quoted, ", "));
          },
          KeyShape::texts};
}

Codec<std::vector<std::string>> paths_value() {
  Codec<std::vector<std::string>> codec = texts_value("paths");
  codec.read = [](const TomlTable& table, const std::string& key) { return table.paths(key); };
  codec.is_file = true;
  codec.value = "FILE,FILE";
  return codec;
}

Codec<std::variant<double, std::string>> number_or_file_value(NumberCheck check) {
  using Either = std::variant<double, std::string>;
  return {"number | path",
          [check](const TomlTable& table, const std::string& key) {
            return table.is_string(key) ? Either(table.path(key))
                                        : Either(checked_number(table, key, check));
          },
          [](const Either& either) {
            return std::visit([](const auto& value) { return toml_text(value); }, either);
          },
          KeyShape::any, true};
}

Codec<std::int64_t> integer_value(std::int64_t least, std::int64_t most) {
  return {fmt::format("integer >= {}", least),
          [least, most](const TomlTable& table, const std::string& key) {
            const std::int64_t value = table.integer(key);
            if (value < least || value > most) {
              refuse(table, key, fmt::format("{}", value),
                     fmt::format("an integer from {} to {}", least, most));
            }
            return value;
          },
          [](const std::int64_t& value) { return fmt::format("{}", value); },
          KeyShape::number,
          false,
          "N"};
}

Codec<double> positive_value() {
  return {"number > 0",
          [](const TomlTable& table, const std::string& key) {
            const double value = table.number(key);
            if (!(std::isfinite(value) && value > 0.0)) {
              refuse(table, key, fmt::format("{}", value), "a finite positive number");
            }
            return value;
          },
          [](const double& value) { return value > 0.0 ? toml_text(value) : std::string(); },
          KeyShape::number};
}

Codec<bool> flag_value() {
  return {"true | false",
          [](const TomlTable& table, const std::string& key) { return table.boolean(key); },
          [](const bool& on) { return std::string(on ? "true" : "false"); }, KeyShape::flag};
}

Codec<double> number_value(const char* type, NumberCheck check) {
  return {type,
          [check](const TomlTable& table, const std::string& key) {
            return checked_number(table, key, check);
          },
          [](const double& value) { return toml_text(value); }, KeyShape::number};
}

Codec<std::vector<double>> numbers_value(const char* type, NumberCheck check) {
  return {type,
          [check](const TomlTable& table, const std::string& key) {
            return checked_numbers(table, key, check);
          },
          [](const std::vector<double>& values) {
            return values.empty() ? std::string() : fmt::format("[{}]", fmt::join(values, ", "));
          },
          KeyShape::numbers};
}

}  // namespace sfumato::keys
