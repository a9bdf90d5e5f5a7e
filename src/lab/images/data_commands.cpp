#include "lab/images/data_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

std::vector<const KnownDataSet*> chosen_sets(const std::vector<std::string>& names) {
  std::vector<const KnownDataSet*> sets;
  sets.reserve(names.size());
  for (const std::string& name : names) sets.push_back(&known_data_set(name, Where::in("data")));
  if (names.empty()) {
    for (const KnownDataSet& set : known_data_sets()) sets.push_back(&set);
  }
  return sets;
}

CheckedFile check_file(const KnownDataSet& set, const DataFile& file, const DataPlaces& places) {
  const auto path = find_data_file(set, file, places);
  if (!path) return {&set, &file};
  try {
    (void)read_verified(*path, file);
    return {&set, &file, FileState::right, *path};
  } catch (const StorageError& error) {
    return {&set, &file, FileState::not_readable, *path, error.what()};
  } catch (const InvalidArgument& error) {
    return {&set, &file, FileState::wrong, *path, error.what()};
  }
}

bool found_nothing(const std::vector<CheckedFile>& files, const KnownDataSet* set) {
  return std::all_of(files.begin(), files.end(), [&](const CheckedFile& file) {
    return (set != nullptr && file.set != set) || file.state == FileState::not_found;
  });
}

DataInventory take_inventory(const KnownDataSet& set, DataPart part, const DataPlaces& places) {
  DataInventory inventory{&set, part};
  for (const DataFile& file : set.files) {
    if (file.part != part) continue;
    ++inventory.files;
    inventory.records += file.records;
    inventory.bytes += file.size;
    const auto path = find_data_file(set, file, places);
    if (!path) continue;
    ++inventory.files_found;
    inventory.records_found += file.records;
    auto& directories = inventory.directories;
    const std::string directory = std::filesystem::path(*path).parent_path().string();
    if (std::find(directories.begin(), directories.end(), directory) == directories.end()) {
      directories.push_back(directory);
    }
  }
  return inventory;
}

}  // namespace

const Keys<DataCheckQuestion>& data_check_keys() {
  using namespace keys;
  using Q = DataCheckQuestion;
  static const Keys<Q> all = {texts_key<Q>(
      "sets", "list of names", "data sets to check (default: all that are found)", &Q::sets)};
  return all;
}

std::string_view name(FileState state) {
  switch (state) {
    case FileState::right: return "right";
    case FileState::wrong: return "wrong";
    case FileState::not_readable: return "not readable";
    case FileState::not_found: return "not found";
  }
  throw InternalError("unknown state of a file");
}

std::size_t DataCheckAnswer::count(FileState state) const {
  return static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [&](const CheckedFile& file) { return file.state == state; }));
}

DataCheckAnswer answer(const DataCheckQuestion& question, Observer& observer) {
  DataCheckAnswer answer;
  const std::vector<const KnownDataSet*> sets = chosen_sets(question.sets);
  std::size_t total = 0;
  for (const KnownDataSet* set : sets) total += set->files.size();
  for (const KnownDataSet* set : sets) {
    for (const DataFile& file : set->files) {
      answer.stopped = observer.stop_requested();
      if (answer.stopped) return answer;
      observer.progress("checking", answer.files.size(), total);
      answer.files.push_back(check_file(*set, file, question.places));
    }
    if (!question.sets.empty() && found_nothing(answer.files, set)) {
      throw InvalidArgument(
          fmt::format("no file found; tried {}",
                      fmt::join(paths_tried(*set, set->files.front(), question.places), ", ")),
          fmt::format("Run: {}", set->command), Where::in(std::string(set->name)));
    }
  }
  if (found_nothing(answer.files, nullptr)) {
    throw InvalidArgument(fmt::format("no files of any data set found in {}",
                                      fmt::join(question.places.directories, ", ")),
                          "Run: sfumato data list", Where::in("data"));
  }
  return answer;
}

Document document_of(const DataCheckAnswer& answer, Detail) {
  Document document = new_document("data", "Check of the data sets");
  Table table("files", "Files",
              {{"set", "set"}, {"file", "file"}, {"check", "check"}, {"path", "path"}}, 2);
  for (const CheckedFile& file : answer.files) {
    table.add_row({file.set->name, file.file->name, name(file.state),
                   file.path.empty() ? Cell(Empty{}) : Cell(file.path)});
  }
  document.add(std::move(table));
  for (const CheckedFile& file : answer.files) {
    if (!file.complaint.empty()) document.state(StatementKind::warning, file.complaint);
  }
  for (const FileState state :
       {FileState::right, FileState::wrong, FileState::not_readable, FileState::not_found}) {
    document.add_result("files", answer.count(state), {{"check", name(state)}});
  }
  document.state(StatementKind::verdict,
                 say("{} right, {} wrong, {} not readable, {} not found.",
                     answer.count(FileState::right), answer.count(FileState::wrong),
                     answer.count(FileState::not_readable), answer.count(FileState::not_found)));
  return document;
}

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
                     ? say("{} is already in {}.", answer.set->name, answer.found_in)
                     : say("Run: node fetch_cifar10.mjs {}", answer.fetch_into));
  return document;
}

DataListAnswer answer(const DataListQuestion& question, Observer&) {
  DataListAnswer answer{question, {}};
  for (const KnownDataSet& set : known_data_sets()) {
    for (const DataPart part : {DataPart::train, DataPart::test}) {
      answer.parts.push_back(take_inventory(set, part, question.places));
    }
  }
  return answer;
}

Document document_of(const DataListAnswer& answer, Detail detail) {
  Document document = new_document("data", "Data sets");
  Table table("sets", "Known data sets",
              {{"set", "set"},
               {"part", "part"},
               {"files", "files found"},
               {"records", "records found"},
               {"of", "of"},
               {"bytes", "total bytes"},
               {"found_in", "found in"}},
              2);
  for (const DataInventory& part : answer.parts) {
    table.add_row(
        {part.set->name, name(part.part), fmt::format("{} of {}", part.files_found, part.files),
         part.records_found, part.records, part.bytes,
         part.directories.empty() ? Cell(Empty{})
                                  : Cell(fmt::format("{}", fmt::join(part.directories, ", ")))});
    document.add_result("records_found", part.records_found,
                        {{"set", part.set->name}, {"part", name(part.part)}});
  }
  document.add(std::move(table));
  if (detail == Detail::full) {
    Table sources(
        "sources", "Sources",
        {{"set", "set"}, {"source", "source"}, {"licence", "licence"}, {"get", "how to get it"}});
    for (const KnownDataSet& set : known_data_sets()) {
      sources.add_row({set.name, set.source, set.licence, set.command});
    }
    document.add(std::move(sources));
  }
  document.state(StatementKind::info,
                 fmt::format("Searched in this order: {}.",
                             fmt::join(answer.question.places.directories, ", ")));
  if (detail == Detail::brief) {
    document.state(StatementKind::summary,
                   say("Sources, licences and how to get the data: {}.", More::all));
  }
  return document;
}

}  // namespace sfumato::lab
