#include "sfumato/account/spent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/array_file.hpp"
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

/// The models that may stand beside an account: model.npz beside accounting.toml, m.csv and m.npz beside m.accounting.toml.
std::vector<std::string> models_beside(const std::string& account) {
  const fs::path path(account);
  const std::string name = path.filename().string();
  if (name == kTrainedAccount) return {(path.parent_path() / "model.npz").string()};
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

std::string fit_model_digest(const std::string& json, const std::string& source) {
  return digest_of_model(read_fit_model(json, source));
}

void withdraw_statement(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::is_regular_file(path, ignored)) return;
  write_file(path,
             "No statement: a model was being replaced here, and the program ended before it was "
             "done. Nothing is said about any model.\n");
}

std::string statement_of_model(const std::string& path, const std::string& bytes) {
  if (path.empty()) return "";
  return fmt::format(
      "\n## The model\n\nThis statement is about one file alone, `{}`, with the SHA-256\n`{}`.\n",
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
  return {before.list, std::move(account.models)};
}

void require_account_kept(const PlannedModel& planned) {
  if (planned.model.empty()) return;
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

}  // namespace sfumato
