#pragma once

#include <string>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"

namespace sfumato {

/// What was released about some records, as it is kept in a file.
struct SavedAccount {
  Accountant accountant;
  /// SHA-256 of the models that it stands for, the newest last. A run that was ended between its account and its model leaves the account of both:
  /// a model that is none of these belongs to another account.
  std::vector<std::string> models = {};
};

/// An account as TOML (Spec §20.2), which `sfumato account` reads: the releases, their number, a SHA-256 of the whole, and the epsilon at `delta`
/// that they come to. Saving and loading changes no bit of any result. The digest shows accidents and edits, and signs nothing.
[[nodiscard]] std::string save(const SavedAccount& account, Delta delta = Delta(1e-5));

/// The SHA-256 that save() writes into it.
[[nodiscard]] std::string account_digest(const SavedAccount& account, Delta delta = Delta(1e-5));

/// Throws   InvalidArgument with line and column; for a format that is not known, for a file that was cut short or changed, and where the releases come to more than
///          the epsilon in the file. `source` names the text.
[[nodiscard]] SavedAccount load_account(const std::string& text, const std::string& source);

/// load_account() of a file that save() wrote; nothing for a file that somebody wrote by hand.
/// Throws   InvalidArgument; as read_file().
void require_whole_account(const std::string& path);

}  // namespace sfumato
