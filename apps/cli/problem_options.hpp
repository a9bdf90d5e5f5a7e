#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "key_options.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace sfumato::apps {

/// The command line of a question that is asked by a problem file.
struct ProblemOptions {
  std::string file;
  KeyOptions keys;
  Output output;
};

/// Declares the file, an option for each key that has a name of its own, --set for all of them, and the options of
/// the output. The footer lists the keys and then `examples`.
void declare_problem(CLI::App& command, const std::vector<KeyInfo>& keys, ProblemOptions& options,
                     const std::string& examples);

/// The file with what the command line puts over it, or that alone. Refuses a report that cannot be written.
/// Throws   InvalidArgument, as wrong usage, if neither says anything; and as KeyOptions::table().
[[nodiscard]] TomlTable problem_of(const ProblemOptions& options);

/// Where the problem is said: in its file, or on the command line.
[[nodiscard]] Where place_of(const ProblemOptions& options);

}  // namespace sfumato::apps
