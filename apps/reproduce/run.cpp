#include "reproduce/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/report/html.hpp"
#include "sfumato/report/json.hpp"

namespace sfumato::apps {
namespace {

constexpr const char* kSummaryFile = "report.json";
constexpr const char* kPageFile = "report.html";

std::vector<Part> wanted_parts(const std::vector<std::string>& only) {
  const std::vector<Part>& all = reproduction_parts();
  std::vector<std::string> keys;
  keys.reserve(all.size());
  for (const Part& part : all) keys.push_back(part.key);
  for (const std::string& key : only) {
    if (std::none_of(all.begin(), all.end(), [&](const Part& p) { return p.is_called(key); })) {
      throw InvalidArgument(fmt::format("\"{}\" is not a part of the paper", key),
                            suggestion(key, keys, "parts"), Where::here("reproduce"));
    }
  }
  std::vector<Part> parts;
  for (const Part& part : all) {
    if (only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& word) {
          return part.is_called(word);
        })) {
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

Outcome outcome_of(PaperVerdict verdict) {
  switch (verdict) {
    case PaperVerdict::holds: return Outcome::good;
    case PaperVerdict::does_not_hold: return Outcome::bad;
    case PaperVerdict::depends: return Outcome::open;
  }
  throw InternalError("unknown verdict");
}

/// The blocks of one part with the statements that its findings make.
std::vector<Block> blocks_of(const PartResult& result, bool beyond) {
  std::vector<Block> blocks = result.blocks;
  for (const Finding& finding : result.findings) {
    // A statement of the paper and its numbers are one text each, in which mathematics is not marked.
    const Text said = Text().add(Unmarked{finding.statement});
    blocks.emplace_back(Statement{StatementKind::verdict,
                                  say("{}: {} ({})", beyond ? said : say("\"{}\"", said),
                                      name(finding.verdict), finding.extent),
                                  outcome_of(finding.verdict),
                                  Text().add(Unmarked{finding.evidence})});
  }
  return blocks;
}

/// What the paper says stands under `paper`; a finding of ours is ours with its words.
nlohmann::ordered_json entry_of(const PartResult& result, RunScale scale, bool beyond) {
  nlohmann::ordered_json paper = result.paper;
  nlohmann::ordered_json ours = result.ours;
  for (const Finding& finding : result.findings) {
    nlohmann::ordered_json found = {{"verdict", name(finding.verdict)},
                                    {"extent", finding.extent},
                                    {"evidence", finding.evidence}};
    if (beyond) {
      found["statement"] = finding.statement;
    } else {
      paper["statements"][finding.key] = finding.statement;
    }
    ours["statements"][finding.key] = std::move(found);
  }
  return {{"paper", std::move(paper)}, {"ours", std::move(ours)},   {"interval", result.interval},
          {"scale", name(scale)},      {"reduced", result.reduced}, {"size", result.size}};
}

/// The place of `table2.s1` in the summary: summary["table2"]["s1"].
nlohmann::ordered_json& nested(nlohmann::ordered_json& summary, const std::string& key) {
  nlohmann::ordered_json* at = &summary;
  for (std::size_t from = 0; from <= key.size();) {
    const std::size_t dot = std::min(key.find('.', from), key.size());
    at = &(*at)[key.substr(from, dot - from)];
    from = dot + 1;
  }
  return *at;
}

/// What the paper numbers is the paper's: the page has figures and tables of its own.
std::string chapter_title(const Part& part) {
  return (part.number == PaperNumber::none ? "" : "The paper's ") + part.title;
}

/// What became of the statements so far.
struct Findings {
  std::vector<PaperVerdict> of_paper;
  std::size_t beyond = 0;

  [[nodiscard]] std::size_t count(PaperVerdict verdict) const {
    return static_cast<std::size_t>(std::count(of_paper.begin(), of_paper.end(), verdict));
  }
};

/// The top of the page.
Abstract abstract_of(const Findings& found) {
  if (found.of_paper.empty()) {
    return {"", "What do experiments beyond the paper find?",
            say("{} findings about noise; the paper makes no statement about them.", found.beyond),
            "", "Look at the verdict of each finding: it says where it holds."};
  }
  Abstract abstract;
  abstract.asked =
      "Do the paper's statements, tables and figures hold when they are computed again?";
  abstract.answer =
      say("Of {} statements {} hold, {} depend on how they are read or on the case, and {} do not "
          "hold.",
          found.of_paper.size(), found.count(PaperVerdict::holds),
          found.count(PaperVerdict::depends), found.count(PaperVerdict::does_not_hold));
  abstract.advice =
      "Use the corrected bounds and noises with a guarantee, not the formulas as printed; the "
      "chapters say where unequal noise pays and where it does not.";
  return abstract;
}

/// Why a part cannot run here, and what to do; empty if it can.
std::string missing_data(const Part& part, const DataPlaces& places) {
  if (part.data_set.empty()) return {};
  const KnownDataSet& set = known_data_set(part.data_set);
  if (find_data_file(set, set.files.front(), places)) return {};
  return fmt::format("needs the data set {}, which is not on this machine. Get it: {}",
                     part.data_set, set.command);
}

/// The parts that are wanted and have their data; why others are left out goes into `skipped`.
/// Throws   InvalidArgument if one that was asked for by name lacks its data.
std::vector<Part> parts_to_run(const ReproduceRequest& request, std::vector<std::string>& skipped) {
  std::vector<Part> parts;
  for (const Part& part : wanted_parts(request.only)) {
    const std::string missing = missing_data(part, request.places);
    if (missing.empty()) {
      parts.push_back(part);
    } else if (request.only.empty()) {
      skipped.push_back(fmt::format("{} is left out: it {}", part.key, missing));
    } else {
      throw InvalidArgument(fmt::format("{} {}", part.key, missing), "Or leave this part out",
                            Where::here("reproduce"));
    }
  }
  return parts;
}

Table findings_table(std::string key, std::string title, std::string statement) {
  return {std::move(key),
          std::move(title),
          {{"part", "part"},
           {"statement", std::move(statement)},
           {"verdict", "verdict"},
           {"extent", "true for"}}};
}

}  // namespace

Reproduction reproduce(const ReproduceRequest& request, Document document, Observer& observer) {
  std::vector<std::string> skipped;
  const std::vector<Part> parts = parts_to_run(request, skipped);
  OutputDirectory directory(request.directory);
  document.add_provenance("scale", std::string(name(request.scale)));
  if (!request.settings.empty()) {
    document.add_provenance("settings", fmt::format("{}", fmt::join(request.settings, ", ")));
  }
  const PartContext context{request.scale,   directory.path(), request.settings,
                            request.threads, request.places,   &observer};

  Table summary =
      findings_table("summary", "What the paper says, and what we find", "the paper says");
  Table beyond = findings_table("beyond", "Beyond the paper: what we find", "statement");
  Findings found;
  const auto add_tables = [&](Document& to) {
    if (!summary.rows().empty()) to.add(summary);
    if (!beyond.rows().empty()) to.add(beyond);
  };
  nlohmann::ordered_json entries;
  Report report{document.title(), {}, {}, request.written, request.made};
  std::vector<std::string> reduced;
  std::size_t figures = 0;  // among the chapters, at their front
  for (const Part& part : parts) {
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<PartResult> result = part.run(context);
    if (!result || observer.stop_requested()) {
      add_tables(document);
      return {std::move(document), part.key};
    }
    Document alone(document.command(), chapter_title(part));
    if (!request.brief) document.state(StatementKind::info, say("{}.", part.title));
    for (const auto& [key, value] : document.provenance()) alone.add_provenance(key, value);
    for (const Block& block : blocks_of(*result, part.beyond)) {
      alone.add(block);
      if (!request.brief) document.add(block);
    }
    for (const ResultFile& file : result->files) directory.write(file.name, file.bytes);
    directory.write(part.key + ".json", render_json(alone));
    // The paper's Figures 1 to 3 come first, so that their numbers in the page are the paper's.
    const bool first = part.number == PaperNumber::figure;
    report.chapters.insert(first ? report.chapters.begin() + static_cast<std::ptrdiff_t>(figures++)
                                 : report.chapters.end(),
                           std::move(alone));
    for (const Finding& finding : result->findings) {
      (part.beyond ? beyond : summary)
          .add_row({part.key, finding.statement, name(finding.verdict), finding.extent});
      if (part.beyond) {
        ++found.beyond;
      } else {
        found.of_paper.push_back(finding.verdict);
      }
    }
    nested(entries, part.key) = entry_of(*result, request.scale, part.beyond);
    if (result->reduced) reduced.push_back(part.key);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    observer.record(part.key, fmt::format("done in {:.1f} s", took.count()));
  }
  // What a reader sees first: every statement of the paper, and what the numbers come from.
  Document overview(document.command(), "What became of the paper's statements");
  for (const auto& [key, value] : document.provenance()) overview.add_provenance(key, value);
  for (Document* to : {&overview, &document}) {
    add_tables(*to);
    for (const std::string& reason : skipped) to->state(StatementKind::warning, reason);
    if (reduced.empty()) continue;
    to->state(
        StatementKind::warning,
        say("From reduced runs, smaller than the paper's: {}. Their sizes are in {}; {} paper "
            "runs them in full.",
            fmt::format("{}", fmt::join(reduced, ", ")), kSummaryFile, KeyName{"scale"}));
  }
  overview.set_abstract(abstract_of(found));
  report.chapters.insert(report.chapters.begin(), std::move(overview));
  for (const auto& [key, value] : entries.items()) report.entries.emplace_back(key, value.dump());
  directory.write(kPageFile, html_report(report));
  directory.write(kSummaryFile, report_json(report));

  document.state(StatementKind::info, say("Written to {}: {}", directory.path(),
                                          fmt::format("{}", fmt::join(directory.names(), ", "))));
  document.state(
      StatementKind::summary,
      say("{} of {} parts at {} scale, {} files in {}", parts.size(), reproduction_parts().size(),
          name(request.scale), directory.names().size(), directory.path()));
  return {std::move(document), {}};
}

}  // namespace sfumato::apps
