#include "sfumato/account/state.hpp"

#include <fmt/format.h>

#include "sfumato/account/account_keys.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato {
namespace {

/// Format 1 had neither digest nor count: a file that was cut short had a smaller epsilon.
constexpr std::int64_t kFormat = 2;

/// The head of the file.
struct Head {
  std::optional<std::int64_t> format;
  std::string sha256;
  std::optional<std::uint64_t> count;  ///< of the releases
  std::optional<double> proven_epsilon, at_delta;
  NeighbouringRelation adjacency = NeighbouringRelation::add_remove;
  std::uint64_t group_size = 1;
  std::vector<std::string> rests_on, models;
};

const char* not_an_account_epsilon(double value) {
  return value >= 0.0 ? nullptr : "is not a number >= 0";
}

const Keys<Head>& head_keys() {
  using namespace keys;
  static const Keys<Head> all = {
      integer_key<Head, std::int64_t>("format", "of the file", &Head::format, 1),
      text_key<Head>("sha256", "text", "of the file without this line", &Head::sha256),
      integer_key<Head, std::uint64_t>("count", "number of releases", &Head::count, 0),
      number_key<Head>("proven_epsilon", "number >= 0", "what the releases come to",
                       &Head::proven_epsilon, not_an_account_epsilon),
      number_key<Head>("at_delta", "number in (0, 1)", "delta of proven_epsilon", &Head::at_delta,
                       not_a_small_probability),
      required(choice_key<Head>(
          "adjacency", "which data sets are neighbours", &Head::adjacency,
          by_name({NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
                   NeighbouringRelation::replace_one}))),
      integer_key<Head, std::uint64_t>("group_size", "records that differ at once",
                                       &Head::group_size, 1),
      texts_key<Head>("rests_on", "texts", "conditions beside those of the releases",
                      &Head::rests_on),
      texts_key<Head>("models", "texts", "SHA-256 of the models that were released",
                      &Head::models)};
  return all;
}

std::string text_of(const Head& head, const PrivateReleases& releases) {
  std::string text = write_keys(head, head_keys());
  for (const PrivateRelease& release : releases.list) {
    text += "\n[[release]]\n" + write_keys(fields_of(release), release_keys());
  }
  return text;
}

/// The digest is of every byte of the file but its own line: no cut and no edit goes unseen, and keys that a later version adds change nothing.
std::string digest_of(const std::string& text) {
  const std::size_t begin = text.find("sha256 = ");
  if (begin == std::string::npos) return sha256(text);
  const std::size_t end = text.find('\n', begin);
  return sha256(text.substr(0, begin) + (end == std::string::npos ? "" : text.substr(end + 1)));
}

void require_format(const Head& head, const std::string& source) {
  if (head.format == kFormat && !head.sha256.empty() && head.count && head.proven_epsilon &&
      head.at_delta) {
    return;
  }
  const char* by_hand =
      "Look through its releases, take its head but for `adjacency` and `group_size` out, and "
      "write it anew by "
      "`sfumato account FILE --save NEW`";
  if (!head.format) {
    throw InvalidArgument("has no `format`: it was written by hand, or cut short", by_hand,
                          Where::in(source));
  }
  if (*head.format != kFormat) {
    throw InvalidArgument(
        fmt::format("has format {}, and this program reads format {}", *head.format, kFormat),
        *head.format < kFormat ? by_hand : "Use the program that wrote it", Where::in(source));
  }
  throw InvalidArgument("was cut short or changed: digest, count or epsilon is missing",
                        "Restore it from a copy", Where::in(source));
}

}  // namespace

namespace {

Head head_of(const SavedAccount& account, Delta delta) {
  const PrivateReleases& releases = account.accountant.releases();
  Head head{kFormat,
            "",
            releases.list.size(),
            account.accountant.epsilon(delta).upper.value,
            delta.probability(),
            releases.relation,
            releases.group_size,
            releases.rests_on,
            account.models};
  head.sha256 = digest_of(text_of(head, releases));
  return head;
}

}  // namespace

std::string save(const SavedAccount& account, Delta delta) {
  return text_of(head_of(account, delta), account.accountant.releases());
}

std::string account_digest(const SavedAccount& account, Delta delta) {
  return head_of(account, delta).sha256;
}

SavedAccount load_account(const std::string& text, const std::string& source) {
  const TomlTable root = TomlTable::parse(text, source);
  Head head;
  read_keys(head, root, head_keys(), {"release"});
  require_format(head, source);
  Accountant accountant(head.adjacency, head.group_size);
  for (const std::string& condition : head.rests_on) accountant.require(condition);
  if (root.has("release")) {
    for (const TomlTable& table : root.tables("release")) {
      const ReleaseFields fields = read_release(table);
      located_keys(table, infos_of(release_keys()),
                   [&] { accountant.compose(release_of(fields)); });
    }
  }
  const PrivateReleases& releases = accountant.releases();
  if (*head.count != releases.list.size() || head.sha256 != digest_of(text)) {
    throw InvalidArgument(
        fmt::format("was changed or cut short after it was written: it has {} of {} releases, and "
                    "its digest is not the one in it",
                    releases.list.size(), *head.count),
        "Restore it from a copy", Where::in(source));
  }
  // A later version may prove less of the same releases, never more by as much as this.
  const double epsilon = accountant.epsilon(Delta(*head.at_delta)).upper.value;
  if (epsilon > *head.proven_epsilon * (1.0 + 1e-6) + 1e-9) {
    throw InvalidArgument(fmt::format("says epsilon {} at delta {}, and its releases come to {}",
                                      *head.proven_epsilon, *head.at_delta, epsilon),
                          "Restore it from a copy", Where::in(source));
  }
  return {std::move(accountant), std::move(head.models)};
}

void require_whole_account(const std::string& path) {
  const std::string text = read_file(path, std::uint64_t{64} << 20);
  if (TomlTable::parse(text, path).has("format")) (void)load_account(text, path);
}

}  // namespace sfumato
