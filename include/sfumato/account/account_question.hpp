#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/account/accountant/release_fields.hpp"

namespace sfumato {

/// How delta is computed; both are proven.
enum class AccountMethod {
  contour,  ///< an integral through the saddle point
  pld,      ///< discretised losses, composed by FFT: slower and wider
};

/// By which distribution the number of runs of a tuner is drawn (Spec §30.1).
enum class RunsKind { geometric, logarithmic, negative_binomial, poisson, fixed };
[[nodiscard]] std::string_view name(RunsKind kind);

/// The run is tuned: the best of a random number of runs is released.
struct TuningFields {
  std::optional<RunsKind> tuned;
  std::optional<double> runs_mean, gamma, eta;
  std::optional<double> tuned_delta;  ///< part of delta that pays for it beside other releases
};

/// How much does a training run reveal about a record at most, whatever the data; or how much noise, or how few steps, keep it below a target?
/// What is not given is empty, and what is missing of noise and steps is what a target is met with.
struct AccountQuestion {
  std::optional<NeighbouringRelation> adjacency;
  std::uint64_t group_size = 1;         ///< records that are protected together
  TuningFields tuning;                  ///< of the run
  ReleaseFields run;                    ///< the run that options and the head of a file describe
  std::vector<ReleaseFields> releases;  ///< what else was released: [[release]] of a file
  std::string history;                  ///< JSON file with the state of an Opacus accountant
  std::vector<std::string> rests_on;    ///< conditions beside those of the releases

  std::optional<double> target_delta, target_epsilon;
  bool allow_large_delta = false;  ///< a target_delta above 1 / records, where that is known
  std::optional<double> target_advantage;
  std::optional<double> target_tpr, at_fpr;
  std::optional<double> target_mu;
  std::vector<double> epsilons;  ///< delta at these too
  /// Probability outside which a mu of Gaussian privacy is to hold; empty: min(1e-6, delta / 10) where that says something.
  std::optional<double> mu_outside;
  std::vector<double> baselines;  ///< what an attacker succeeds with who lacks the record's outputs
  bool explain = false;           ///< what each part of the run contributes
  std::string claim;              ///< "eps=3" or "eps=3,delta=1e-5"
  std::string budget,
      limit;          ///< file that the releases are booked in, and what all of it may spend
  bool made = false;  ///< they are facts: booked above the limit too
  std::optional<std::int64_t> format;  ///< of a file that an Accountant saved
  AccountMethod method = AccountMethod::contour;
  bool check = false;  ///< compare with the second method
  bool curves =
      true;  ///< trade-off curve and epsilon over the steps, which a brief document does not show
};

}  // namespace sfumato
