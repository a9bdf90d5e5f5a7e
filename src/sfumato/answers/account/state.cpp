#include "sfumato/answers/account/state.hpp"

#include <fmt/format.h>

#include "sfumato/answers/account/keys.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/located_keys.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato {
namespace {

constexpr std::int64_t kFormat = 1;

/// The head of the file.
struct Head {
  std::optional<std::int64_t> format;
  NeighbouringRelation adjacency = NeighbouringRelation::add_remove;
  std::uint64_t group_size = 1;
};

const Keys<Head>& head_keys() {
  using namespace keys;
  static const Keys<Head> all = {
      integer_key<Head, std::int64_t>("format", "of the file", &Head::format, 1, kFormat),
      required(choice_key<Head>(
          "adjacency", "which data sets are neighbours", &Head::adjacency,
          by_name({NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
                   NeighbouringRelation::replace_one}))),
      integer_key<Head, std::uint64_t>("group_size", "records that differ at once",
                                       &Head::group_size, 1)};
  return all;
}

}  // namespace

std::string save(const Accountant& accountant) {
  const PrivateReleases& releases = accountant.releases();
  std::string text = write_keys(Head{kFormat, releases.relation, releases.group_size}, head_keys());
  for (const PrivateRelease& release : releases.list) {
    text += "\n[[release]]\n" + write_keys(fields_of(release), release_keys());
  }
  return text;
}

Accountant load_accountant(const std::string& text, const std::string& source) {
  const TomlTable root = TomlTable::parse(text, source);
  Head head;
  read_keys(head, root, head_keys(), {"release"});
  Accountant accountant(head.adjacency, head.group_size);
  if (!root.has("release")) return accountant;
  for (const TomlTable& table : root.tables("release")) {
    const ReleaseFields fields = read_release(table);
    located_keys(table, infos_of(release_keys()), [&] { accountant.compose(release_of(fields)); });
  }
  return accountant;
}

}  // namespace sfumato
