#include "lab/images/check_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
  document.state(
      StatementKind::verdict,
      fmt::format("{} right, {} wrong, {} not readable, {} not found.",
                  answer.count(FileState::right), answer.count(FileState::wrong),
                  answer.count(FileState::not_readable), answer.count(FileState::not_found)));
  return document;
}

}  // namespace sfumato::lab
