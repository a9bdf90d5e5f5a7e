#include "sfumato/reproduce/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/report/json.hpp"

namespace sfumato {
namespace {

constexpr const char* kSummaryFile = "reproduce.json";

std::vector<Part> wanted_parts(const std::vector<std::string>& only) {
  const std::vector<Part>& all = reproduction_parts();
  std::vector<std::string> keys;
  for (const Part& part : all) keys.push_back(part.key);
  for (const std::string& key : only) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw InvalidArgument(fmt::format("\"{}\" is not a part of the paper", key),
                            suggestion(key, keys, "parts"), Where::here("reproduce"));
    }
  }
  std::vector<Part> parts;
  for (const Part& part : all) {
    if (only.empty() || std::find(only.begin(), only.end(), part.key) != only.end()) {
      parts.push_back(part);
    }
  }
  return parts;
}

/// The directory that receives the files; opening it proves that files can be made there.
class OutputDirectory {
 public:
  explicit OutputDirectory(const std::string& path) : path_(path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
      throw StorageError("cannot make this directory: " + error.message(),
                         "Choose a directory that you may write to", Where::in(path));
    }
    const OutputFile probe(file(kSummaryFile));  // never committed, so nothing stays behind
  }

  void write(const std::string& name, std::string_view bytes) {
    write_file(file(name), bytes);
    names_.push_back(name);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  [[nodiscard]] std::string file(const std::string& name) const {
    return (std::filesystem::path(path_) / name).string();
  }

  std::string path_;
  std::vector<std::string> names_;
};

Outcome outcome_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return Outcome::good;
    case Verdict::does_not_hold: return Outcome::bad;
    case Verdict::depends: return Outcome::open;
  }
  throw InternalError("unknown verdict");
}

/// The blocks of one part with the statements that its findings make.
std::vector<Block> blocks_of(const PartResult& result) {
  std::vector<Block> blocks = result.blocks;
  for (const Finding& finding : result.findings) {
    blocks.push_back(Statement{StatementKind::verdict,
                               fmt::format("\"{}\": {} ({}). {}", finding.statement,
                                           name(finding.verdict), finding.extent, finding.evidence),
                               outcome_of(finding.verdict)});
  }
  return blocks;
}

nlohmann::ordered_json entry_of(const PartResult& result, RunScale scale) {
  nlohmann::ordered_json paper = result.paper;
  nlohmann::ordered_json ours = result.ours;
  for (const Finding& finding : result.findings) {
    paper["statements"][finding.key] = finding.statement;
    ours["statements"][finding.key] = {{"verdict", name(finding.verdict)},
                                       {"extent", finding.extent},
                                       {"evidence", finding.evidence}};
  }
  return {{"paper", std::move(paper)}, {"ours", std::move(ours)}, {"scale", name(scale)}};
}

}  // namespace

Document reproduce(const ReproduceRequest& request, Document document) {
  const std::vector<Part> parts = wanted_parts(request.only);
  OutputDirectory directory(request.directory);
  document.add_provenance("scale", std::string(name(request.scale)));

  Table summary("summary", "What the paper says, and what we find",
                {{"part", "part"},
                 {"statement", "the paper says"},
                 {"verdict", "verdict"},
                 {"extent", "true for"}});
  nlohmann::ordered_json entries;
  for (const Part& part : parts) {
    const PartResult result = part.run(request.scale);
    Document alone(document.command(), part.title);
    if (!request.brief) document.state(StatementKind::info, part.title + ".");
    for (const auto& [key, value] : document.provenance()) alone.add_provenance(key, value);
    for (const Block& block : blocks_of(result)) {
      alone.add(block);
      if (!request.brief) document.add(block);
    }
    for (const ResultFile& file : result.files) directory.write(file.name, file.bytes);
    directory.write(part.key + ".json", render_json(alone));
    for (const Finding& finding : result.findings) {
      summary.add_row({part.key, finding.statement, name(finding.verdict), finding.extent});
    }
    entries[part.key] = entry_of(result, request.scale);
  }
  directory.write(kSummaryFile, entries.dump(2) + "\n");

  document.add(summary);
  document.state(StatementKind::info, fmt::format("Written to {}: {}", directory.path(),
                                                  fmt::join(directory.names(), ", ")));
  document.state(StatementKind::summary,
                 fmt::format("{} of {} parts at {} scale, {} files in {}", parts.size(),
                             reproduction_parts().size(), name(request.scale),
                             directory.names().size(), directory.path()));
  return document;
}

}  // namespace sfumato
