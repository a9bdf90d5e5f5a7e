#include "sfumato/answers/account/spent.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "sfumato/answers/account/state.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato {

std::vector<PrivateRelease> releases_before(const std::string& path,
                                            NeighbouringRelation relation) {
  if (path.empty()) return {};
  std::string text = read_file(path, std::uint64_t{64} << 20);
  if (suffix_of(path) == ".json") {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto pointer = nlohmann::json::json_pointer("/guarantee/releases");
    if (json.is_discarded() || !json.contains(pointer) || !json.at(pointer).is_string()) {
      throw InvalidArgument("is no model that `sfumato fit` wrote with a guarantee",
                            "Give such a model, or a file of `sfumato account --save`",
                            Where::in(path));
    }
    text = json.at(pointer).get<std::string>();
  }
  const Accountant accountant = load_accountant(text, path);
  const PrivateReleases& before = accountant.releases();
  if (before.relation != relation || before.group_size != 1) {
    throw InvalidArgument(
        fmt::format("protects other neighbours ({}, groups of {}) than this release ({}, one "
                    "record)",
                    name(before.relation), before.group_size, name(relation)),
        "Releases add up only between the same neighbours", Where::in(path));
  }
  return before.list;
}

}  // namespace sfumato
