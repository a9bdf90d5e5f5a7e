#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sfumato::apps {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Keeps what was typed, before anything reads or writes files; once, at the start.
void remember_command_line(int argc, char** argv);

/// How a page came to be, so that somebody else can make it again: the command line, the commit that the program
/// was built from, and the SHA-256 of every file that the command line names and that was there before it ran. Files that
/// it writes are none of them, nor are those above 1 GiB and those kept private.
[[nodiscard]] Facts run_facts();

/// Leaves the checksum of this file out of run_facts(): whoever has a page and all records of a private table but one could try which the last one is. Of its path
/// the name of the file is left, since folders tell of persons and machines.
void keep_private(const std::string& path);

/// The commit that the program was built from, "-dirty" if files were changed since; empty if unknown.
[[nodiscard]] std::string build_commit();

}  // namespace sfumato::apps
