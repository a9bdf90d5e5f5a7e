#include "lab/images/list_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace sfumato::lab {
namespace {

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
    document.state(StatementKind::summary, "Sources, licences and how to get the data: --full.");
  }
  return document;
}

}  // namespace sfumato::lab
