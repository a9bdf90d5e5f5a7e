#pragma once

#include <string>

#include "lab/nn/trial_group.hpp"

namespace sfumato::lab {

/// A group of models between two steps, and what it is a state of.
struct Checkpoint {
  std::string study;  ///< canonical text and inputs
  std::string instruction_set;
  double seconds = 0.0;  ///< that the steps so far took
  GroupState state;
};

/// Writes a checkpoint as an NPZ archive with a SHA-256 digest of its content; the file appears whole or not at all.
/// Throws   StorageError as OutputFile.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// Throws   InvalidArgument if the file is missing, is not a checkpoint, has no digest or that of
///          other content, or contradicts itself.
[[nodiscard]] Checkpoint read_checkpoint(const std::string& path);

}  // namespace sfumato::lab
