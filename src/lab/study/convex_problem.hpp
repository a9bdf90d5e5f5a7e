#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/lab/study/proven_bounds.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/problem/classification_fit.hpp"
#include "sfumato/sde/problem/quadratic.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato::lab {

/// Losses whose gradients are linear: of a quadratic model and of ridge regression.
struct LinearLosses {
  std::array<QuadraticLoss, 2> worlds;  ///< of D, of D'
};

/// Logistic losses; D' is the neighbour of D's problem.
struct LogisticLosses {
  std::array<ClassificationProblem, 2> worlds;
  Neighbour neighbour;
};

/// The training of a convex model on D and on D',  x <- x - step grad F(x) + N(0, S)  from x = 0.
///
/// F is the sum over the records, whatever the study's loss is: for a mean, which counts an empty slot
/// in its N (zero-out adjacency, Spec §1.6), the step is eta / N and the ridge strength of F is N
/// times the study's, which is the same chain.
struct ConvexPair {
  double step = 0.0;
  std::variant<LinearLosses, LogisticLosses> losses;
  std::optional<Record> record;  ///< the differing one as D has it; none for a quadratic model

  [[nodiscard]] Eigen::VectorXd gradient(std::size_t world, const Eigen::VectorXd& at) const;
};

/// Everything the trials of a convex model are made of.
class ConvexProblem {
 public:
  /// Reads the table and the covariances of the noise.
  /// Throws   InvalidArgument as read_target_table() and read_covariance(); for more records than there
  ///          are, constants that do not fit the columns, labels that are not 0 or 1 (logistic), a
  ///          covariance of another dimension, or a curvature that is not symmetric.
  explicit ConvexProblem(Study study);

  [[nodiscard]] const Study& study() const { return study_; }
  [[nodiscard]] Eigen::Index parameters() const { return parameters_; }
  [[nodiscard]] std::size_t records() const { return records_; }  ///< N; 0 for a quadratic model
  /// SHA-256 of what was read, by name.
  [[nodiscard]] const std::map<std::string, std::string>& checksums() const { return checksums_; }

  /// S of each noise policy.
  [[nodiscard]] const std::vector<Covariance>& step_noises() const { return step_noises_; }

  /// The pair of that number (or draw, for random pairs), as adjacent_pair() chooses it.
  [[nodiscard]] ConvexPair pair(std::uint64_t draw) const;

  /// The loss of one record at these weights: half the squared error, or the cross-entropy.
  [[nodiscard]] double record_loss(const Record& record, const Eigen::VectorXd& at) const;
  [[nodiscard]] Eigen::VectorXd record_gradient(const Record& record,
                                                const Eigen::VectorXd& at) const;
  /// The records of D in the order of its slots, for the pair of that number.
  [[nodiscard]] std::vector<Record> training_records(std::uint64_t draw) const;

 private:
  void read_table();
  [[nodiscard]] Covariance read_step_noise(const NoiseSpec& noise);
  [[nodiscard]] Record record_of(std::uint32_t row, std::uint8_t label) const;

  Study study_;
  Eigen::Index parameters_ = 0;
  std::size_t records_ = 0;
  Eigen::MatrixXd features_;  ///< of all rows of the table, standardised, with the intercept
  Eigen::VectorXd targets_;
  LabelledSet slots_;  ///< the table as data/slots.hpp sees it: a number of rows with classes
  std::map<std::string, std::string> checksums_;
  std::vector<Covariance> step_noises_;
};

/// The distributions of the weights on D and on D' (Spec §8): normal, known after any number of steps.
[[nodiscard]] std::array<ChainDistribution, 2> chain_distributions(const LinearLosses& losses,
                                                                   double step,
                                                                   const Covariance& step_noise);

/// Linear losses: the two normal distributions, compared exactly; mu where their covariances are equal. Logistic
/// losses: the smaller of Spec §8.3 and §8.4 in every view, as for rows of a table.
///
/// Never throws for lack of a bound: a step that does not contract, noise that is singular or distributions
/// that double precision cannot compare are a `reason`.
[[nodiscard]] ProvenRisk proven_risk(const ConvexPair& pair, const Covariance& step_noise,
                                     std::uint64_t steps);

}  // namespace sfumato::lab
