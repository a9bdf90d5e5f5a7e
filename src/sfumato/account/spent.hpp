#pragma once

#include <string>
#include <vector>

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/account/state.hpp"

namespace sfumato {

/// Earlier releases about the same records.
struct SpentBefore {
  std::vector<PrivateRelease> releases = {};
  std::vector<std::string> models = {};    ///< as of SavedAccount
  std::vector<std::string> rests_on = {};  ///< as of PrivateReleases
};

/// The account that `path` has or stands beside: a saved account, the directory of `train --private`, or a model of `fit` (JSON has it inside, CSV and NPZ beside
/// them). Nothing for an empty path.
/// Throws   InvalidArgument if there is none, it is empty or not what was written, the model is none of those that it stands for, or it protects other neighbours.
[[nodiscard]] SpentBefore spent_before(const std::string& path, NeighbouringRelation relation);

/// The file that holds the account of a model, whether or not it exists: model.json itself, model.accounting.toml beside model.csv and model.npz.
[[nodiscard]] std::string account_file(const std::string& model);

/// The files in which the account of a model may stand beside it: that of `fit`, and for model.npz that of `train --private`.
[[nodiscard]] std::vector<std::string> accounts_beside(const std::string& model);

/// The statements (.md) in the directory of a model that are about it: they name its SHA-256.
[[nodiscard]] std::vector<std::string> statements_beside(const std::string& model);

/// Whether a statement may give way to that of a new model: it was withdrawn, or is about the file at `model`, as it is or gone by now.
[[nodiscard]] bool is_older_statement(const std::string& path, const std::string& model);

/// What the account of a model of `fit` in JSON knows it by: the digest of all but its guarantee, in which the account stands.
/// Throws   InvalidArgument if it is no such model.
[[nodiscard]] std::string fit_model_digest(const std::string& json, const std::string& source);

/// The last section of a statement: which model it is of. Empty without a model.
[[nodiscard]] std::string statement_of_model(const std::string& path, const std::string& bytes);

/// A statement that is there, about an older model, says from now on that it is none: to be called before the model is replaced, so that
/// whatever ends the program leaves no statement beside another model.
void withdraw_statement(const std::string& path);

/// What is going to be written about a model.
struct PlannedModel {
  std::string model;           ///< path; empty: no file
  std::string account;         ///< path of its account
  bool certified = false;      ///< it will have a guarantee
  std::string after;           ///< as of spent_before()
  std::string budget;          ///< file of the budget that the run is booked in; empty: none
  std::string statement = {};  ///< path of its statement; empty: none
};

/// Refuses to lose the account of an older model: unless `after` continues it or the budget has it. A model without a guarantee replaces none that has one:
/// account and statement would stand beside the wrong model. Nor does it replace one whose account is another file than its own would be (`fit` beside `train --private`, or
/// the other way round), or whose statement would stay.
/// Throws   InvalidArgument.
void require_account_kept(const PlannedModel& planned);

/// The same of a model of `fit` in JSON that is written as it stands: unless it is known to hold what the older one at `path` has spent.
/// Throws   InvalidArgument.
void require_continued(const std::string& path, const std::string& json);

/// Whether every release of `some` is among `all`, as often or more.
[[nodiscard]] bool includes(const PrivateReleases& all, const PrivateReleases& some);

/// Whether an account of these releases holds everything in the older one at `path`, which stands for no model: it may take its place.
/// Throws   InvalidArgument if the older one was changed or cut.
[[nodiscard]] bool continues_account(const PrivateReleases& releases, const std::string& path);

}  // namespace sfumato
