#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/toml.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// A quantity of a problem file and the table that says it.
struct Source {
  TomlTable table;
  std::string key;
  std::string label;  ///< "d.A"

  [[nodiscard]] ArrayValue array() const { return table.array(key); }
  [[nodiscard]] Covariance covariance(Eigen::Index dimension) const {
    return table.covariance(key, dimension);
  }
  [[nodiscard]] Where where() const { return table.where(key); }
};

/// A list with one number per parameter.
/// Throws   InvalidArgument with file:line:column for a matrix or another length.
[[nodiscard]] Eigen::VectorXd vector_of(const Source& source, Eigen::Index dimension);

/// One side of a pair in a problem file: [d], or [d_prime] with [d] behind it for everything that it
/// does not say itself.
class Side {
 public:
  /// Throws   InvalidArgument if the table is missing.
  Side(const TomlTable& root, std::string name, std::optional<std::string> behind);

  [[nodiscard]] const TomlTable& own() const { return own_.table; }
  [[nodiscard]] const std::string& name() const { return own_.name; }
  [[nodiscard]] bool has_behind() const { return behind_.has_value(); }

  /// The one of `choices` that is said here, or else behind.
  /// Throws   InvalidArgument if one table says two of them.
  [[nodiscard]] std::optional<Source> find(const std::vector<std::string>& choices) const;
  /// The same, of the table behind alone.
  [[nodiscard]] std::optional<Source> find_behind(const std::vector<std::string>& choices) const;
  /// Throws   InvalidArgument if none is said; `what` is what the message misses.
  [[nodiscard]] Source require(const std::vector<std::string>& choices,
                               std::string_view what) const;

 private:
  struct Named {
    TomlTable table;
    std::string name;
  };
  static std::optional<Source> find_in(const Named& named, const std::vector<std::string>& choices);

  Named own_;
  std::optional<Named> behind_;
};

/// Sigma, start_mean and start_covariance, for help and documents.
[[nodiscard]] std::vector<KeyInfo> training_key_infos();

/// start_mean and start_covariance; the point 0 where the file says nothing.
[[nodiscard]] GaussianDistribution start_of(const Side& side, Eigen::Index dimension);

/// What the start leaves to its defaults, as a sentence; may be empty.
[[nodiscard]] std::string start_defaults(const Side& side);

/// A number, or the numbers of a list, that pass `check`. `label` is what the message calls the key.
/// Throws   InvalidArgument with file:line:column.
[[nodiscard]] double labelled_number(const TomlTable& table, const char* key,
                                     const std::string& label, NumberCheck check);
[[nodiscard]] std::vector<double> labelled_list(const TomlTable& table, const char* key,
                                                const std::string& label, NumberCheck check);

}  // namespace sfumato
