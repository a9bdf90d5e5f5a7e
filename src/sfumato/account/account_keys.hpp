#pragma once

#include "sfumato/account/account_question.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato {

/// The keys of one release.
[[nodiscard]] const Keys<ReleaseFields>& release_keys();

/// The keys of the head of a file: those of a run and those of the question.
[[nodiscard]] const Keys<AccountQuestion>& account_keys();

/// The keys of [tuning].
[[nodiscard]] const Keys<TuningFields>& tuning_keys();

/// All of them, for options and messages.
[[nodiscard]] std::vector<KeyInfo> account_infos();

/// The fields of one [[release]] of a file.
/// Throws   InvalidArgument with file:line:column for what is unknown or has the wrong type.
[[nodiscard]] ReleaseFields read_release(const TomlTable& table);

/// Throws   InvalidArgument with file:line:column.
[[nodiscard]] AccountQuestion read_account_question(const TomlTable& root);

}  // namespace sfumato
