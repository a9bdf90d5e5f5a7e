#pragma once

#include "sfumato/account/account_question.hpp"

namespace sfumato {

/// What a target asks for.
[[nodiscard]] Wanted wanted_of(const AccountQuestion& question);

/// Everything that was released but the run itself: the list of the file, and the history of another tool.
/// Throws   InvalidArgument if something is missing or has no proof.
[[nodiscard]] PrivateReleases other_releases(const AccountQuestion& question);

/// Whether the head of the question describes a run at all, and not only [[release]]s.
[[nodiscard]] bool has_run(const AccountQuestion& question);

/// Whether what a question says was released, a run that is fully described included, holds everything in the account at `path`, which stands for no model: its own may take that
/// place.
[[nodiscard]] bool continues_account(const AccountQuestion& question, const std::string& path);

/// The state of an Opacus accountant, {"history": [[noise multiplier, sample rate, steps], ...]}, as releases of `sampler`.
/// Throws   InvalidArgument at what is not such a file.
[[nodiscard]] std::vector<PrivateRelease> read_history(const std::string& path, Sampler sampler);

}  // namespace sfumato
