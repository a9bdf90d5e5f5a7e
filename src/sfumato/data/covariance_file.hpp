#pragma once

#include <Eigen/Core>
#include <map>
#include <string>

#include "sfumato/data/file_output.hpp"
#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// A covariance as a file carries it.
struct CovarianceFile {
  Covariance covariance;
  /// What made it (command, data, version): free text by name; empty if the file does not say.
  std::map<std::string, std::string> provenance = {};
};

/// Reads a covariance and checks it with require_covariance():
///
///   .csv, .npy   a vector is a diagonal of variances, a square matrix is dense
///   .npz         `variance` and `dim` | `variances` | `diagonal` and `factor` | `matrix`, and optionally
///                `meta`: JSON text as uint8 with form, dimension and provenance, which must agree
///
/// `expected` is the dimension of the problem; 0 accepts any.
/// Throws   InvalidArgument with the path: another form or dimension, not symmetric or not positive
///          semi-definite (with the eigenvalue), NaN or infinity; and as the readers of those files.
[[nodiscard]] CovarianceFile read_covariance(const std::string& path, Eigen::Index expected = 0);

/// Writes the NPZ form, with `meta`. Equal content gives equal bytes.
/// Throws   InvalidArgument if the path does not end in .npz or the covariance fails its check;
///          StorageError as OutputFile.
void write_covariance(const std::string& path, const CovarianceFile& file,
                      const WriteRules& rules = {});

}  // namespace sfumato
