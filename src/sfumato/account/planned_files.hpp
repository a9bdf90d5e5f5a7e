#pragma once

#include <string>
#include <vector>

#include "sfumato/data/file_output.hpp"

namespace sfumato {

/// The loss with a file that says what was spent on records.
enum class KeptFile {
  none,  ///< nothing of the kind
  model,  ///< with a guarantee: its account is in it, or an account or a statement beside it names it
  account,  ///< of releases
  budget,
};

/// The kind of file at `path`, by its content.
/// Throws   StorageError if it is there and cannot be read.
[[nodiscard]] KeptFile kept_file(const std::string& path);

/// The guard of everything that is written, named by the user or implied by what he named, before the work and before anything is written. Refuses an output that is an
/// input or another output, by whatever links; what is there already, unless `force`; with `force` too, a model with a guarantee, an account or a budget, unless the output
/// continues it (a budget never is); and what cannot be written.
/// Throws   InvalidArgument at the key; StorageError.
void prepare_outputs(const std::vector<std::string>& inputs,
                     const std::vector<PlannedFile>& outputs, bool force);

}  // namespace sfumato
