#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/data/column_coding.hpp"

namespace sfumato {

/// The shape of one record. A row of a table with d features is d channels of one pixel each.
struct ImageShape {
  int channels = 1;
  int height = 1;
  int width = 1;

  /// Values in a record.
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// "1 x 28 x 28": channels x height x width.
[[nodiscard]] std::string shape_text(const ImageShape& shape);

/// How a stored value becomes an input of a model, channel by channel:
///   x = (value / divisor - mean) / deviation
/// The constants must be public. Computed from the records they would depend on the record that D and
/// D' differ in, and the difference would no longer be one slot.
struct Standardisation {
  double divisor = 1.0;                 ///< 255 for pixels
  std::vector<double> means = {};       ///< one per channel; empty: 0
  std::vector<double> deviations = {};  ///< one per channel, > 0; empty: 1

  friend bool operator==(const Standardisation&, const Standardisation&) = default;
};

/// Pixels as pixel / 255, without constants.
[[nodiscard]] Standardisation pixels_only();

/// The published constants of Fashion-MNIST's and CIFAR-10's training images, rounded to four digits
/// as everyone uses them: mean and deviation of pixel / 255 in each channel.
[[nodiscard]] Standardisation fashion_mnist_standardisation();
[[nodiscard]] Standardisation cifar10_standardisation();

/// The values of all records, one after the other; images as planes, channel after channel.
///
/// Two kinds and not one. Pixels stay bytes, as in the file: a training set is then a quarter of its
/// size in floats and stays in the cache, and expanding a byte is exact. Features of tables are floats,
/// the precision of training. Models are the same for both, so it is a variant inside the set rather
/// than two types of set.
using RecordValues = std::variant<std::vector<std::uint8_t>, std::vector<float>>;

/// Records with class labels: what networks are trained and tested on.
struct LabelledSet {
  std::string name;  ///< "fashion-mnist", or the path of a table
  ImageShape shape;
  int classes = 0;                   ///< labels are 0 .. classes - 1
  RecordValues values;               ///< count() x shape.size()
  std::vector<std::uint8_t> labels;  ///< count()
  Standardisation standardisation;
  std::vector<std::string> files;  ///< that it was read from
  /// SHA-256 of the uncompressed content of `files`, joined by joint_digest().
  std::string checksum;
  /// How the columns of a table became numbers (levels of text depend on its rows), and the column of the labels.
  std::vector<ColumnCoding> codings = {};
  std::string label = {};

  [[nodiscard]] std::size_t count() const { return labels.size(); }
};

/// The values of one record of an image set.
/// Throws   InternalError for a table, whose values are floats.
[[nodiscard]] std::span<const std::uint8_t> bytes_of(const LabelledSet& set, std::size_t record);

/// Writes the standardised inputs of one record; the reference for whatever does it faster.
/// Each is computed in double precision and rounded once.
/// Throws   InvalidArgument if `inputs` has not shape.size() elements or there is no such record.
void standardised(const LabelledSet& set, std::size_t record, std::span<float> inputs);

/// Checks what the struct promises.
/// Throws   InvalidArgument naming the set if it has no records, sizes that do not fit, a label that is
///          no class, not 2 to 256 classes, a feature that is not finite, or constants that are not
///          finite, not positive (divisor, deviations) or not one per channel.
void require_consistent(const LabelledSet& set);

}  // namespace sfumato
