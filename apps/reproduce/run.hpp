#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reproduce/part.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::apps {

struct ReproduceRequest {
  std::string directory;  ///< made if it does not exist; files of the same name are replaced
  RunScale scale = RunScale::quick;
  std::vector<std::string> only = {};      ///< keys of parts; empty for all of them
  std::vector<std::string> settings = {};  ///< key=value for every study, to make it smaller still
  bool brief = false;        ///< the document has the summary alone; the files have all
  unsigned threads = 0;      ///< 0: all cores
  std::string written = {};  ///< time of the report (Report::written)
  DataPlaces places = data_places();
  /// How the page says it was made: command line, commit.
  std::vector<std::pair<std::string, std::string>> made = {};
};

struct Reproduction {
  Document document;
  std::string stopped_in = {};  ///< the part that the observer stopped; empty: all are done
};

/// Runs the parts and writes, each file whole or not at all:
///
///   KEY.json and KEY_*.csv    what part KEY consists of, as soon as it is done
///   ledgers/*.ledger          every trained model's results, as soon as it is trained
///   report.html               all parts as one page (report/html.hpp)
///   report.json               the same for programs, and {"paper", "ours", "interval", "scale", "reduced",
///                             "size"} under each KEY, nested at its dots; last
///
/// Nothing that changes between runs is written, except `written` into the report and how long a trial
/// took into its ledger. Models
/// that the ledgers hold are not trained again. A part whose data set is not on the machine is left
/// out with a warning, unless `only` names it.
///
/// Returns  `document` (which brings its provenance) with the blocks of every part, a table of what
///          became of the paper's statements, and the files written.
/// Throws   InvalidArgument if `only` names an unknown part or one whose data set is missing;
///          StorageError if the directory cannot be made or written to, before anything is computed.
[[nodiscard]] Reproduction reproduce(const ReproduceRequest& request, Document document,
                                     Observer& observer);

}  // namespace sfumato::apps
