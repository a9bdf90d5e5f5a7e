#pragma once

#include <map>
#include <string>
#include <vector>

#include "sfumato/data/keys/key.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace sfumato::apps {

/// The keys of a question as options of a command: --ridge-scale for `ridge_scale`, --no-intercept for a flag that
/// is on by default. What the command line gives takes the place of what a TOML file says, and both are
/// read by the same code.
class KeyOptions {
 public:
  /// Declares an option for each key but those in `arguments`, which the command takes without a name.
  /// Keys of a table of the file, [risk] say, are options too, unless two tables have one of that name.
  void declare(CLI::App& command, const std::vector<KeyInfo>& keys,
               const std::vector<std::string>& arguments = {});

  /// Adds --set KEY=VALUE, for every key of the file, by its path from the root: d.Sigma=2.
  void declare_settings(CLI::App& command);

  /// Whether the command line gives that key.
  [[nodiscard]] bool has(const std::string& key) const { return !given_.at(key).empty(); }

  /// A key that is not required this time, since another takes its place.
  void waive(const std::string& name);

  /// Whether the command line gives no key at all.
  [[nodiscard]] bool empty() const;

  /// The file, if one is named, with what the command line gives over it.
  /// Throws   InvalidArgument at an option whose value has the wrong shape; for required keys that
  ///          neither gives, all of them; and as TomlTable::read().
  [[nodiscard]] TomlTable table(const std::string& file = "") const;

  /// The files that the question of `table` reads, `file` among them: none of them may be written.
  [[nodiscard]] std::vector<std::string> inputs(const TomlTable& table,
                                                const std::string& file = "") const;

  /// Gives a key that is an argument of the command. Nothing is given by no texts, or an empty one.
  void give(const std::string& key, const std::vector<std::string>& texts);
  /// What the command line gives for a key, as typed; empty: nothing.
  [[nodiscard]] std::string text(const std::string& key) const;

 private:
  std::string command_;
  std::vector<KeyInfo> keys_;
  std::vector<std::string> arguments_;
  std::map<std::string, std::vector<std::string>> given_;  ///< by key; as typed
  std::vector<std::string> settings_;                      ///< of --set
};

/// Adds --set KEY=VALUE over the keys of a study file, as read_study() takes them.
void add_settings(CLI::App& command, std::vector<std::string>& settings);

/// One line or more per key, as --set names it: d.Sigma, with its help.
[[nodiscard]] std::string keys_text(const std::vector<KeyInfo>& keys);

/// Calls `work`, which answers the question of `table`. An error at a key of the question is thrown again
/// at the place that gave its value.
template <class Work>
decltype(auto) located_keys(const TomlTable& table, Work&& work) {
  try {
    return work();
  } catch (const InvalidArgument& error) {
    if (!error.where().is_key() || !table.has(error.where().text())) throw;
    throw InvalidArgument(error, table.where(error.where().text()));
  }
}

}  // namespace sfumato::apps
