#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// Truncated negative binomial numbers of runs, K >= 1 (Spec §30.1): eta = 1 is geometric, eta = 0 logarithmic.
///   E z^K = ((1 - (1 - gamma) z)^-eta - 1) / (gamma^-eta - 1)
struct NegativeBinomialRuns {
  double eta;    ///< > -1
  double gamma;  ///< in (0, 1)
};
/// K is Poisson: no run, and nothing released, with the probability e^-mean.
struct PoissonRuns {
  double mean;
};
/// All of so many runs: no more is known of the best than of all of them.
struct FixedRuns {
  std::uint64_t runs;
};
/// The public distribution of the number of runs, of which the best alone is released.
using RunsDistribution = std::variant<NegativeBinomialRuns, PoissonRuns, FixedRuns>;

/// Throws   InvalidArgument at the key of a number that is out of range, or if fewer than one run is expected.
void require_valid(const RunsDistribution& runs);
[[nodiscard]] double mean_of(const RunsDistribution& runs);
/// "geometric with mean 10"
[[nodiscard]] std::string describe(const RunsDistribution& runs);
/// The distribution with this eta whose mean is `mean`.
/// Throws   InvalidArgument at the key runs_mean unless mean > 1.
[[nodiscard]] NegativeBinomialRuns negative_binomial_with_mean(double eta, double mean);

/// What releasing the best of a random number of runs costs (Spec §30), at one delta. Every epsilon but `attained` is an upper bound.
struct TuningCost {
  double epsilon;  ///< the least of those that are proven
  double simple;   ///< Spec §30.2; of fixed runs: composition
  std::optional<double>
      sharp;  ///< Spec §30.3; nothing of fixed runs, or where the base protects next to nothing
  double delta_base = 0.0, e1 = 0.0, e2 = 0.0;  ///< of the simple bound
  double untuned;                               ///< epsilon of one run
  double all_runs;  ///< of releasing as many runs as are expected, rounded up
  double attained;  ///< some base with this profile and some score reveal that much; 0: none known
  /// delta at epsilons from 0 to `epsilon` by the sharp bound, for attacks on the best run; empty without it.
  struct Point {
    double epsilon, delta;
  };
  std::vector<Point> profile = {};
};

/// Of a base that is these releases: one training and the release of its score.
/// Throws   InvalidArgument if the distribution is out of range or delta is not in (0, 1); Stopped.
[[nodiscard]] TuningCost tuning_cost(const PrivateReleases& base, const RunsDistribution& runs,
                                     Delta delta, const Observer* observer = nullptr);

/// What the guarantee rests on besides, in words.
[[nodiscard]] std::vector<std::string> conditions_of_tuning(const RunsDistribution& runs);

}  // namespace sfumato
