#pragma once

#include <string>
#include <vector>

#include "sfumato/report/document.hpp"
#include "sfumato/reproduce/part.hpp"

namespace sfumato {

struct ReproduceRequest {
  std::string directory;  ///< made if it does not exist; files of the same name are replaced
  RunScale scale = RunScale::quick;
  std::vector<std::string> only = {};  ///< keys of parts; empty for all of them
  bool brief = false;                  ///< the document has the summary alone; the files have all
};

/// Runs the parts and writes, each file whole or not at all:
///
///   KEY.json and KEY_*.csv   what part KEY consists of, as soon as it is done
///   reproduce.json           {KEY: {"paper", "ours", "scale"}}, last
///
/// Nothing that changes between runs is written, so a second run leaves the same bytes.
///
/// Returns  `document` (which brings its provenance) with the blocks of every part, a table of what
///          became of the paper's statements, and the files written.
/// Throws   InvalidArgument if `only` names an unknown part; StorageError if the directory cannot be
///          made or written to, before anything is computed.
[[nodiscard]] Document reproduce(const ReproduceRequest& request, Document document);

}  // namespace sfumato
