#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace sfumato::apps {

/// Who may read and replace the files that commands write. They hold risks, losses and weights of private
/// records, so they belong to the user alone (0600, directories 0700) until a flag says otherwise.

/// For main, before anything is written.
void keep_files_private();

/// For what is public: files as the user's umask has them.
void write_publicly();

/// Adds --group-readable: 0640, directories 0750.
void add_group_flag(CLI::App& command);

/// Adds --force, for require_new(), and --group-readable.
void add_output_flags(CLI::App& command, bool& force);

}  // namespace sfumato::apps
