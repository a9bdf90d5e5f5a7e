#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/answers/problem/questions.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/pair_bounds.hpp"
#include "sfumato/sde/fokker_planck/grid.hpp"

namespace sfumato {

/// Where a grid is laid, as the file says.
struct GivenDomain {
  std::vector<Interval> sides;
  Where where;
};

/// How much work the estimates may take.
struct EstimatePlan {
  bool monte_carlo = true;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> paths;  ///< empty: 20000, fewer where a drift is costly
  std::optional<double> step;          ///< of a path; empty: the last time / 1000, at most 0.01
  bool fokker_planck = true;
  Eigen::Index cells = 0;             ///< per axis; 0: chosen by the solver
  std::optional<GivenDomain> domain;  ///< of the grid; empty: found by trial runs
};

struct BoundProblem {
  std::string source;  ///< the file
  std::string title;
  std::vector<double> times;  ///< ascending
  RiskQuestions questions;
  EstimatePlan plan;
  SdePair pair;
  /// The same pair with another noise on both sides; empty unless both share one constant Sigma and
  /// are quadratic losses or a model.
  std::function<SdePair(const Covariance& noise)> with_noise = {};
  std::string kind[2];        ///< of D and D': "linear", "formulas", "logistic regression ..."
  std::string way_of_change;  ///< how [d_prime] was made from [d] if by a rule
  std::string defaults;       ///< what [d] leaves to its defaults, as a sentence
  double work = 10.0;         ///< about how many operations one evaluation of a drift takes
  std::vector<std::string> assumed;  ///< constants that the file claims without proof

  [[nodiscard]] Eigen::Index dimension() const { return pair.p.diffusion.dimension; }
};

/// What the command line says instead of the file.
struct BoundOverrides {
  Overrides common;
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> paths;
};

/// Reads a problem file; docs/bound.md describes its keys.
///
/// Throws    InvalidArgument with file:line:column, and as the readers of the files it names;
///           NumericalFailure where a problem on data has no minimiser.
[[nodiscard]] BoundProblem read_bound_problem(const std::string& path,
                                              const BoundOverrides& overrides);

}  // namespace sfumato
