#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "lab/study/spec/key.hpp"
#include "sfumato/data/keys/toml_text.hpp"

namespace sfumato::lab {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

/// (key, value) of a canonical text, entries of lists numbered: noise.0.variance.
Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  std::string line, table, previous_list;
  std::size_t entry = 0;
  while (std::getline(stream, line)) {
    if (line.starts_with("[[")) {
      const std::string list = line.substr(2, line.find(']') - 2);
      entry = list == previous_list ? entry + 1 : 0;
      previous_list = list;
      table = fmt::format("{}.{}.", list, entry);
    } else if (line.starts_with("[")) {
      table = line.substr(1, line.find(']') - 1) + ".";
    } else if (const auto equals = line.find(" = "); equals != std::string::npos) {
      std::string key = table + line.substr(0, equals);
      if (key == "train.odometer") key = "train.path_kl";  // as earlier versions wrote it
      lines.emplace_back(std::move(key), line.substr(equals + 3));
    }
  }
  return lines;
}

const std::string* find(const Lines& lines, const std::string& key) {
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == key; });
  return found == lines.end() ? nullptr : &found->second;
}

}  // namespace

std::string canonical_text(const Study& study) {
  std::string text;
  if (!study.title.empty()) text += fmt::format("title = {}\n", toml_text(study.title));
  const ModelKind kind = study.model.kind;
  if (kind != ModelKind::quadratic) {
    text += "[data]\n" + write_keys(study.data, keys_for(kind, data_keys()));
    text += "[adjacency]\n" + write_keys(study.adjacency, keys_for(kind, adjacency_keys()));
  }
  text += "[model]\n" + write_keys(study.model, keys_for(kind, model_keys()));
  for (const LayerSpec& layer : study.model.layers) {
    text += "[[model.layers]]\n" + write_keys(layer, layer_keys(layer.type));
  }
  text += "[train]\n" + write_keys(study.train, keys_for(kind, training_keys()));
  for (const NoiseSpec& noise : study.noise) {
    text += "[[noise]]\n" + write_keys(noise, noise_keys());
  }
  text += "[audit]\n" + write_keys(study.audit, keys_for(kind, audit_spec_keys()));
  return text;
}

std::vector<std::string> study_differences(const std::string& there, const std::string& here) {
  const Lines first = lines_of(there), second = lines_of(here);
  std::vector<std::string> differences;
  for (const auto& [key, value] : first) {
    const std::string* other = find(second, key);
    if (other == nullptr) {
      differences.push_back(fmt::format("{} is {} there and not set here", key, value));
    } else if (*other != value) {
      differences.push_back(fmt::format("{} is {} there and {} here", key, value, *other));
    }
  }
  for (const auto& [key, value] : second) {
    if (find(first, key) == nullptr) {
      differences.push_back(fmt::format("{} is not set there and {} here", key, value));
    }
  }
  return differences;
}

}  // namespace sfumato::lab
