#include "sfumato/account/spent.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/file_output.hpp"

namespace sfumato {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLargestAccount = std::uint64_t{64} << 20;
constexpr const char* kFitFormat = "sfumato.fit/2";
constexpr const char* kTrainedAccount = "accounting.toml";
constexpr const char* kTrainedModel = "model.npz";
constexpr const char* kWithdrawn = "No statement: a model was being replaced here";
constexpr const char* kAbout = "This statement is about one file alone, `";

Json read_fit_model(const std::string& text, const std::string& source) {
  Json json = Json::parse(text, nullptr, false);
  const bool model = json.is_object() && json.contains("format") && json["format"].is_string() &&
                     json.contains("guarantee") && json["guarantee"].is_object();
  if (!model) {
    throw InvalidArgument("is no model that `sfumato fit` wrote",
                          "Give such a model, or a file of `sfumato account --save`",
                          Where::in(source));
  }
  if (json["format"] != kFitFormat) {
    throw InvalidArgument(fmt::format("has the format {}, and this program reads {}",
                                      json["format"].dump(), kFitFormat),
                          "Use the program that wrote it", Where::in(source));
  }
  return json;
}

std::string digest_of_model(Json json) {
  json.erase("guarantee");
  return sha256(json.dump());
}

SavedAccount account_in_model(const std::string& path) {
  const Json json = read_fit_model(read_file(path, kLargestAccount), path);
  const Json& guarantee = json["guarantee"];
  const bool certified = guarantee.value("certified", Json()) == true;
  if (!certified || !guarantee.contains("releases") || !guarantee["releases"].is_string()) {
    throw InvalidArgument(
        "is a model without a guarantee: what it cost is not known",
        "Nothing can be added to it; if it was published, start from an account of your own",
        Where::in(path));
  }
  SavedAccount account = load_account(guarantee["releases"].get<std::string>(), path);
  const std::vector<std::string>& known = account.models;
  if (known.empty() || known.back() != digest_of_model(json)) {
    throw InvalidArgument(
        "was changed after it was written: the digest of the model is not the one in its account",
        "Restore it from a copy", Where::in(path));
  }
  const Json epsilon = guarantee.value("epsilon", Json()), delta = guarantee.value("delta", Json());
  const bool numbers = epsilon.is_number() && delta.is_number() && delta.get<double>() > 0.0 &&
                       delta.get<double>() < 1.0;
  const double proven =
      numbers ? account.accountant.epsilon(Delta(delta.get<double>())).upper.value : 0.0;
  if (!numbers || proven > epsilon.get<double>() * (1.0 + 1e-6) + 1e-9) {
    throw InvalidArgument(
        "was changed after it was written: its epsilon is not what its releases come to",
        "Restore it from a copy", Where::in(path));
  }
  return account;
}

/// A statement; empty if the file is none, or is too large for one.
std::string statement_text(const std::string& path) {
  constexpr std::uintmax_t kLargestStatement = std::uintmax_t{1} << 20;
  std::error_code failed;
  if (!fs::is_regular_file(path, failed) || fs::file_size(path, failed) > kLargestStatement)
    return "";
  return ::access(path.c_str(), R_OK) == 0 ? read_file(path) : "";
}

/// By readdir: std::filesystem ends the process where memory does, in an increment that may not throw.
std::vector<std::string> markdown_files(const std::string& directory) {
  std::vector<std::string> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return files;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name.ends_with(".md")) files.push_back((fs::path(directory) / name).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The models that may stand beside an account: model.npz beside accounting.toml, m.csv and m.npz beside m.accounting.toml.
std::vector<std::string> models_beside(const std::string& account) {
  const fs::path path(account);
  const std::string name = path.filename().string();
  if (name == kTrainedAccount) return {(path.parent_path() / kTrainedModel).string()};
  const std::string ending = std::string(".") + kTrainedAccount;
  if (!name.ends_with(ending)) return {};
  const std::string stem =
      (path.parent_path() / name.substr(0, name.size() - ending.size())).string();
  return {stem + ".csv", stem + ".npz"};
}

SavedAccount account_beside_model(const std::string& path) {
  SavedAccount account = load_account(read_file(path, kLargestAccount), path);
  for (const std::string& model : models_beside(path)) {
    std::error_code ignored;
    if (!fs::is_regular_file(model, ignored)) continue;
    const std::string digest = sha256(read_file(model));
    const auto& known = account.models;
    if (std::find(known.begin(), known.end(), digest) != known.end()) continue;
    throw InvalidArgument(
        fmt::format("is not the account of {} beside it, whose SHA-256 {}... it does not name",
                    fs::path(model).filename().string(), digest.substr(0, 12)),
        "Give the account of that model; or move the model away, if it was never published",
        Where::in(path));
  }
  return account;
}

/// The file that has the account of what `path` names.
std::string account_named_by(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return (fs::path(path) / kTrainedAccount).string();
  const std::string suffix = suffix_of(path);
  if (suffix != ".csv" && suffix != ".npz") return path;
  const std::string own = account_file(path);
  const std::string trained = (fs::path(path).parent_path() / kTrainedAccount).string();
  if (fs::exists(own, ignored) || !fs::exists(trained, ignored)) return own;
  return trained;
}

SavedAccount read_account(const std::string& path) {
  const std::string file = account_named_by(path);
  return suffix_of(file) == ".json" ? account_in_model(file) : account_beside_model(file);
}

/// The account of an older model at that path; nothing where there is none, or it has no guarantee.
std::optional<SavedAccount> older_account(const std::string& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  if (suffix_of(file) != ".json") return account_beside_model(file);
  const Json json = Json::parse(read_file(file, kLargestAccount), nullptr, false);
  const auto pointer = Json::json_pointer("/guarantee/certified");
  if (json.is_discarded() || !json.contains(pointer) || json.at(pointer) != true)
    return std::nullopt;
  return account_in_model(file);
}

}  // namespace

std::string account_file(const std::string& model) {
  if (suffix_of(model) == ".json") return model;
  return fs::path(model).replace_extension(kTrainedAccount).string();
}

std::vector<std::string> accounts_beside(const std::string& model) {
  std::vector<std::string> accounts;
  if (const std::string own = account_file(model); own != model) accounts.push_back(own);
  const fs::path path(model);
  if (path.filename() == kTrainedModel) {
    accounts.push_back((path.parent_path() / kTrainedAccount).string());
  }
  return accounts;
}

std::vector<std::string> statements_beside(const std::string& model) {
  std::error_code failed;
  if (!fs::is_regular_file(model, failed)) return {};
  const fs::path directory = fs::path(model).parent_path();
  std::vector<std::string> statements;
  std::string digest;
  for (const std::string& path : markdown_files(directory.empty() ? "." : directory.string())) {
    const std::string text = statement_text(path);
    if (text.find(kAbout) == text.npos) continue;
    if (digest.empty()) digest = sha256(read_file(model));
    if (text.find(digest) != text.npos) statements.push_back(path);
  }
  return statements;
}

bool is_older_statement(const std::string& path, const std::string& model) {
  const std::string text = statement_text(path);
  if (text.starts_with(kWithdrawn)) return true;
  const std::string about = kAbout + fs::path(model).filename().string() + "`";
  std::error_code ignored;
  return text.find(about) != text.npos &&
         (!fs::is_regular_file(model, ignored) || text.find(sha256(read_file(model))) != text.npos);
}

std::string fit_model_digest(const std::string& json, const std::string& source) {
  return digest_of_model(read_fit_model(json, source));
}

void withdraw_statement(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::is_regular_file(path, ignored)) return;
  write_file(path,
             fmt::format("{}, and the program ended before it was done. Nothing is said about any "
                         "model.\n",
                         kWithdrawn));
}

std::string statement_of_model(const std::string& path, const std::string& bytes) {
  if (path.empty()) return "";
  return fmt::format("\n## The model\n\n{}{}`, with the SHA-256\n`{}`.\n", kAbout,
                     fs::path(path).filename().string(), sha256(bytes));
}

SpentBefore spent_before(const std::string& path, NeighbouringRelation relation) {
  if (path.empty()) return {};
  SavedAccount account = read_account(path);
  const PrivateReleases& before = account.accountant.releases();
  if (before.list.empty()) {
    throw InvalidArgument("is an account without any release",
                          "Leave it out, or give the right one", Where::in(path));
  }
  if (before.relation != relation || before.group_size != 1) {
    throw InvalidArgument(
        fmt::format("protects other neighbours ({}, groups of {}) than this release ({}, one "
                    "record)",
                    name(before.relation), before.group_size, name(relation)),
        "Releases add up only between the same neighbours", Where::in(path));
  }
  return {before.list, std::move(account.models), before.rests_on};
}

namespace {

[[noreturn]] void refuse_other_account(const std::string& account, const std::string& problem) {
  throw InvalidArgument(problem, "Write somewhere else", Where::in(account));
}

/// The account of an older model there that a new one would not take the place of.
void require_no_other_account(const PlannedModel& planned) {
  std::error_code ignored;
  const std::string model = fs::path(planned.model).filename().string();
  for (const std::string& account : accounts_beside(planned.model)) {
    if (!fs::exists(account, ignored) || fs::equivalent(account, planned.account, ignored))
      continue;
    refuse_other_account(account, fmt::format("is the account of {} beside it, made by another "
                                              "command, and would stand beside another model",
                                              model));
  }
  // m.csv and m.npz have one account: that of either is lost with it.
  for (const std::string& other : models_beside(planned.account)) {
    if (!planned.after.empty() || fs::equivalent(other, planned.model, ignored)) continue;
    if (fs::path(other) == fs::path(planned.model) || kept_file(other) != KeptFile::model) continue;
    refuse_other_account(planned.account,
                         fmt::format("is the account of {} too, which would lose it",
                                     fs::path(other).filename().string()));
  }
}

/// The account of an older model, unless it is continued or booked.
void require_older_continued(const PlannedModel& planned) {
  const std::optional<SavedAccount> older = older_account(planned.account);
  if (!older) return;
  if (!planned.certified) {
    throw InvalidArgument(
        "holds the account of a model with a guarantee, and this run has none: account and "
        "statement would stand beside another model",
        "Write somewhere else", Where::in(planned.account));
  }
  std::error_code ignored;
  if (!planned.after.empty() &&
      fs::equivalent(account_named_by(planned.after), planned.account, ignored)) {
    return;
  }
  if (!planned.budget.empty() && budget_has(planned.budget, older->models)) return;
  throw InvalidArgument(
      "holds the account of what was released before, which would be lost",
      "Continue it by `after`, book both runs in a `budget`, or write somewhere else",
      Where::in(planned.account));
}

/// A statement about the older model that the new one does not take the place of.
void require_no_other_statement(const PlannedModel& planned) {
  std::error_code ignored;
  for (const std::string& statement : statements_beside(planned.model)) {
    if (!planned.statement.empty() && fs::equivalent(statement, planned.statement, ignored))
      continue;
    throw InvalidArgument(
        fmt::format("is the statement of {}, and would stand beside another model",
                    fs::path(planned.model).filename().string()),
        planned.certified ? "Write the new one there (`statement`), or move it away"
                          : "Write somewhere else",
        Where::in(statement));
  }
}

}  // namespace

void require_account_kept(const PlannedModel& planned) {
  if (planned.model.empty()) return;
  require_no_other_account(planned);
  if (kept_file(planned.model) == KeptFile::account) {
    refuse_other_account(planned.model, "is an account of releases, which would be lost");
  }
  require_older_continued(planned);
  require_no_other_statement(planned);
}

void require_continued(const std::string& path, const std::string& json) {
  if (kept_file(path) == KeptFile::account) {
    refuse_other_account(path, "is an account of releases, which would be lost");
  }
  const std::optional<SavedAccount> older = older_account(path);
  if (older) {
    const Json guarantee = read_fit_model(json, path)["guarantee"];
    if (guarantee.value("certified", Json()) != true) {
      refuse_other_account(path,
                           "holds the account of a model with a guarantee, and this one has none");
    }
    const SavedAccount account = load_account(guarantee["releases"].get<std::string>(), path);
    const std::vector<std::string>& known = account.models;
    if (std::find(known.begin(), known.end(), older->models.back()) == known.end()) {
      throw InvalidArgument("holds the account of what was released before, which would be lost",
                            "Continue it by `after`, or write somewhere else", Where::in(path));
    }
  }
  // The same model again is what its statement is about.
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || read_file(path) == json) return;
  require_no_other_statement({path, path, true, "", ""});
}

bool includes(const PrivateReleases& all, const PrivateReleases& some) {
  if (all.relation != some.relation || all.group_size != some.group_size) return some.list.empty();
  return std::all_of(some.list.begin(), some.list.end(), [&](PrivateRelease wanted) {
    return std::any_of(all.list.begin(), all.list.end(), [&](PrivateRelease known) {
      const bool enough = known.steps >= wanted.steps;
      known.steps = wanted.steps;
      return enough && known == wanted;
    });
  });
}

bool continues_account(const PrivateReleases& releases, const std::string& path) {
  const SavedAccount older = load_account(read_file(path, kLargestAccount), path);
  const PrivateReleases& before = older.accountant.releases();
  const auto is_kept = [&](const std::string& condition) {
    return std::find(releases.rests_on.begin(), releases.rests_on.end(), condition) !=
           releases.rests_on.end();
  };
  return older.models.empty() && includes(releases, before) &&
         std::all_of(before.rests_on.begin(), before.rests_on.end(), is_kept);
}

}  // namespace sfumato
