#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/design/design.hpp"

namespace sfumato {

/// Whether the differences were computed from data that may be published.
enum class DifferencesOrigin { public_data, private_data };
/// "public" or "private".
[[nodiscard]] std::string_view name(DifferencesOrigin origin);

/// What is made least: the largest cost of the differences, or their mean.
enum class DesignObjective {
  automatic,  ///< minimax for differences one by one, average for their moments
  minimax,
  average
};

/// How the accuracy that noise costs is measured.
enum class DesignMeasure {
  automatic,    ///< what the budget says; trace where there is none
  trace,        ///< tr(Sigma)
  excess_loss,  ///< in the long run, tr(Sigma)/4
  distance,     ///< to the minimiser, squared, in the long run, tr(A^{-1} Sigma)/2
  budget        ///< tr(W Sigma)
};

/// Which noise hides a record best for what it costs? Paths are of CSV, NPY or NPZ files; empty: not given.
struct DesignQuestion {
  // What to hide: one of these.
  std::string differences;     ///< gradient differences, one per row
  std::string second_moments;  ///< E[s s^T], or its diagonal
  std::string sensitivities;   ///< the largest |s_i| of each coordinate
  std::string problem;         ///< a problem file as of `bound`: the design is iterated
  DifferencesOrigin differences_are = DifferencesOrigin::private_data;

  std::optional<double> time;  ///< of `problem`: when to judge; empty: the last of the file
  std::optional<int> rounds;   ///< of `problem`: at most so many; empty: 20

  DesignForm form = DesignForm::diagonal;
  std::string groups;  ///< of the grouped form: the group of each coordinate
  DesignObjective objective = DesignObjective::automatic;

  // The budget: one of these, or else the least error for a cost, or both over a range.
  std::optional<double> trace, excess_loss, distance, budget;
  std::string hessian;  ///< of `distance`
  std::string weights;  ///< W of `budget`
  std::optional<double> cost;
  std::vector<double> frontier;                      ///< least and largest error
  DesignMeasure measure = DesignMeasure::automatic;  ///< of `cost`, `frontier` and `problem`

  double floor = 0.0;               ///< least variance of each coordinate
  double regularise = 0.0;          ///< rho: also hide a little of every direction
  std::optional<double> tolerance;  ///< gap to stop at (1e-8); of `problem`, improvement (1e-6)
  int top = 10;                     ///< coordinates or groups to list
  unsigned threads = 0;             ///< 0: all cores; results do not depend on it
};

}  // namespace sfumato
