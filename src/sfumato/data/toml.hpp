#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// An array and the place that gave it, for the checks that its reader makes.
struct ArrayValue {
  Eigen::MatrixXd values;  ///< a vector is one column; a number is 1 x 1
  int rank = 0;            ///< 0 number, 1 vector, 2 matrix
  Where where;
};

/// Texts in the shape in which they were written.
struct StringArray {
  std::vector<std::vector<std::string>> rows;  ///< a text is 1 x 1; a list is one column
  int rank = 0;                                ///< 0 text, 1 list, 2 list of lists
};

/// A value given from outside the file, by an option of the command line.
struct TomlOverride {
  /// From the root to the key: {"train", "seed"}. Tables on the way are made where they are missing; an
  /// entry of a list of tables is meant by its number, from 0, or by the value of its first key among
  /// `names`.
  std::vector<std::string> path;
  std::string value;   ///< TOML; one word that is not TOML is a text
  std::string source;  ///< names it in messages: "--set train.seed=3"
  std::vector<std::string> names = {"name"};
  std::vector<std::string> replaces = {};  ///< keys of the same table that it takes the place of
  /// Whether `source` stands for the key, as an option or keyword does, and --set train.seed=3 does not.
  bool is_option = false;
};

/// A table of a TOML file with typed access. Every complaint carries file:line:column.
///
/// Throws   InvalidArgument from each accessor if the key is missing or its value has another type, or
///          is NaN. Copies share the document.
class TomlTable {
 public:
  /// Throws   InvalidArgument on a syntax error, for an override whose path leads nowhere (at its
  ///          source), and as read_file().
  [[nodiscard]] static TomlTable read(const std::string& path,
                                      const std::vector<TomlOverride>& overrides = {});
  /// From memory; `source` names it in messages, and files it mentions are relative to it. Files that
  /// an override mentions are relative to the working directory.
  [[nodiscard]] static TomlTable parse(std::string_view text, const std::string& source,
                                       const std::vector<TomlOverride>& overrides = {});

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  /// How messages call a key of this table: `risk.delta`, in backticks.
  [[nodiscard]] std::string label(std::string_view key) const;
  /// What is wrong with the value of a key: `risk.delta` = 2 is not below 1, where `joint` is " = ".
  [[nodiscard]] Error::Problem problem(std::string_view key, std::string joint,
                                       std::string text) const;
  /// Where the value of `key` is; where the table begins if it has no such key.
  [[nodiscard]] Where where(std::string_view key) const;

  /// Whether the value of `key` is a string, where more than one type is meaningful.
  [[nodiscard]] bool is_string(std::string_view key) const;

  /// A float or integer; may be infinite.
  [[nodiscard]] double number(std::string_view key) const;
  /// An integer, or a float that equals one (1e6).
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] std::string string(std::string_view key) const;
  /// A string that names a file, relative to this one.
  [[nodiscard]] std::string path(std::string_view key) const;
  /// The same for a list of them; one string is a list of one.
  [[nodiscard]] std::vector<std::string> paths(std::string_view key) const;
  [[nodiscard]] bool boolean(std::string_view key) const;
  /// A list of numbers, possibly infinite; a single number is a list of one. Not empty.
  [[nodiscard]] std::vector<double> numbers(std::string_view key) const;
  /// A text, a list of texts, or a list of lists of texts; none of them empty.
  [[nodiscard]] StringArray strings(std::string_view key) const;
  [[nodiscard]] TomlTable table(std::string_view key) const;
  /// The tables of a list, [[key]]; none if it is empty. Messages call their keys `key.0.x`.
  [[nodiscard]] std::vector<TomlTable> tables(std::string_view key) const;
  /// Finite numbers: a number, a list (vector), a list of lists of equal length (matrix, row by row), or
  /// the path of a CSV or NPY file (as read_array(), relative to this file).
  [[nodiscard]] ArrayValue array(std::string_view key) const;
  /// A checked covariance of that dimension: a number (isotropic), a list (diagonal), a list of lists
  /// (dense), or the path of a file as read_covariance(), relative to this file.
  [[nodiscard]] Covariance covariance(std::string_view key, Eigen::Index dimension) const;

  /// Throws   InvalidArgument at the first key that is not in `known`, suggesting the nearest.
  void reject_unknown(const std::vector<std::string>& known) const;

 private:
  struct Content;
  explicit TomlTable(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;
};

}  // namespace sfumato
