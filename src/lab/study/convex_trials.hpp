#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/study/convex_problem.hpp"
#include "lab/study/policy_trials.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/likelihood_ratio.hpp"
#include "sfumato/lab/ledger/trial.hpp"

namespace sfumato::lab {

/// Trials of convex models: full-batch noisy gradient descent in double precision, from 0.
class ConvexTrials {
 public:
  /// Throws as ConvexProblem.
  explicit ConvexTrials(const Study& study) : problem_(study) {}

  [[nodiscard]] const ConvexProblem& problem() const { return problem_; }

  /// Trains the models of all policies in these worlds (0: D, 1: D') with normals of one seed, and fills
  /// in results[policy].worlds. Leaves them as they are if the observer asks to stop.
  ///
  /// Scores, larger where the differing record is more likely in D:
  ///   loss             minus the loss of the differing record (quadratic: f(x) - f'(x))
  ///   confidence, margin   logistic: probability of its class, and the logit of it
  ///   gradient_norm    minus the norm of its gradient (quadratic: of f - f')
  ///   projection       how far the weights moved from their start against its gradient there
  ///   likelihood_ratio log of the densities of D and D' at the weights, where the distribution is known
  void train(std::uint64_t draw, std::uint64_t seed, const std::vector<std::size_t>& worlds,
             std::vector<TrialResult>& results, Observer& observer) const;

 private:
  struct Pair {
    ConvexPair pair;
    std::vector<Record> records;                            ///< of D
    std::vector<std::optional<LogLikelihoodRatio>> ratios;  ///< by policy
  };
  [[nodiscard]] Pair make_pair(std::uint64_t draw) const;
  void score(const Pair& of, std::size_t policy, const Eigen::VectorXd& at,
             WorldResult& result) const;
  void summarise(const Pair& of, const Eigen::VectorXd& at, WorldResult& result) const;

  ConvexProblem problem_;
  PairCache<Pair> pairs_;
};

}  // namespace sfumato::lab
