#include "lab/images/get_data.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {

const Keys<DataGetQuestion>& data_get_keys() {
  using namespace keys;
  using Q = DataGetQuestion;
  static const Keys<Q> all = {
      required(text_key<Q>("set", "name", "data set to fetch: cifar10 or fashion-mnist", &Q::set))};
  return all;
}

DataGetAnswer answer(const DataGetQuestion& question, Observer&) {
  const KnownDataSet& set = known_data_set(question.set, Where::in("data"));
  if (set.name == "cifar10") {
    const auto cache = user_cache();
    if (!cache) {
      throw InvalidArgument("there is no cache directory: neither XDG_CACHE_HOME nor HOME is set",
                            "Set one of them", Where::in("data"));
    }
    return {&set, {}, fmt::format("{}/{}", *cache, set.directory)};
  }
  const auto path = find_data_file(set, set.files.front(), question.places);
  if (!path) {
    throw InvalidArgument("this data set comes as a Debian package and is not fetched here",
                          fmt::format("Run: {}", set.command), Where::in(std::string(set.name)));
  }
  return {&set, std::filesystem::path(*path).parent_path().string()};
}

Document document_of(const DataGetAnswer& answer, Detail) {
  Document document = new_document("data", fmt::format("Fetching {}", answer.set->name));
  document.state(StatementKind::summary,
                 answer.fetch_into.empty()
                     ? fmt::format("{} is already in {}.", answer.set->name, answer.found_in)
                     : fmt::format("Run: node fetch_cifar10.mjs {}", answer.fetch_into));
  return document;
}

}  // namespace sfumato::lab
