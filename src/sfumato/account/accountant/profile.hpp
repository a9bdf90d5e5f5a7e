#pragma once

#include <memory>

#include "sfumato/account/contour/contour.hpp"
#include "sfumato/account/contour/total_loss.hpp"

namespace sfumato {

/// Where an enclosure came from.
enum class DeltaMethod {
  closed_form,  ///< a closed form or a limit
  contour,      ///< Spec §18.1 to §18.4
  split,        ///< Spec §18.5
};

struct DeltaEnclosure {
  LogEnclosure log;
  DeltaMethod method = DeltaMethod::contour;

  /// The ends as probabilities, rounded outwards.
  [[nodiscard]] double lo() const;
  [[nodiscard]] double hi() const;
};

/// The smallest eps found with hi(eps) <= delta, and the largest found with lo(eps) > delta: the truth is between them (Spec §17.5).
struct EpsilonEnclosure {
  double lo, hi;
};

/// P(T > eps) and Q(T > eps): true and false positive rate of the best test that accuses where the loss exceeds eps (Spec §19.1). What
/// is disclosed (TotalLoss::log_survival) counts as T = +inf.
struct TailEnclosure {
  LogEnclosure p;
  LogEnclosure q;
};

/// The privacy profile of composed steps in one direction. What is computed for one threshold is kept for those near it, so that a
/// curve costs little more than a point; the cost does not depend on the number of steps. Not for several threads at a time.
class LossProfile {
 public:
  /// Throws   InvalidArgument if a step is outside its range.
  explicit LossProfile(const TotalLoss& loss);
  LossProfile(LossProfile&&) noexcept;
  LossProfile& operator=(LossProfile&&) noexcept;
  ~LossProfile();

  /// delta(eps) = sup_A [ P(A) - e^eps Q(A) ]: closed forms (Spec §17.6), then the contour, then, where it is wider than 1e-8, the split of rare
  /// sampled steps; enclosures that were computed are intersected (Spec §18.7). At worst the Chernoff bound and max(0, 1 - e^eps).
  ///
  /// Throws   InvalidArgument if eps is NaN; InternalError if two enclosures exclude each other.
  [[nodiscard]] DeltaEnclosure delta(double eps);

  /// Edges    0 where delta >= hi(0); +inf for delta = 0 unless the loss is bounded, and where everything is disclosed more often.
  /// Throws   InvalidArgument if delta is not in [0, 1).
  [[nodiscard]] EpsilonEnclosure epsilon(double delta);

  /// About the threshold that the loss exceeds with the probability `fpr` under Q, where nothing fails.
  [[nodiscard]] double threshold_guess(double fpr);

  /// delta(eps) = P(T > eps) - e^eps Q(T > eps) is convex in x = e^eps with the slope -Q(T > eps) to the right (Spec §17.5): secants to
  /// both sides enclose the slope.
  [[nodiscard]] TailEnclosure tail(double eps);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// LossProfile for one question.
[[nodiscard]] DeltaEnclosure delta_of(const TotalLoss& loss, double eps);
[[nodiscard]] EpsilonEnclosure epsilon_of(const TotalLoss& loss, double delta);
/// The largest epsilon of several losses. One is not searched for where a single delta shows that it is not the largest.
[[nodiscard]] EpsilonEnclosure largest_epsilon(const std::vector<TotalLoss>& losses, double delta);
[[nodiscard]] TailEnclosure tail_of(const TotalLoss& loss, double eps);

/// K(s) = log E_P e^{sT} where nothing fails, for s > -1, with its derivatives, and by how much K may be off.
[[nodiscard]] TotalCumulant cumulant(const TotalLoss& loss, double s);

/// The same at many s, of a loss that outlives it: what is computed for one is kept for others.
class Cumulants {
 public:
  explicit Cumulants(const TotalLoss& loss);
  Cumulants(Cumulants&&) noexcept;
  Cumulants& operator=(Cumulants&&) noexcept;
  ~Cumulants();
  [[nodiscard]] TotalCumulant at(double s);

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// c(s) + K(s) - s eps with c(s) = s log s - (1 + s) log(1 + s), rounded up: log delta(eps) is at most that for every
/// s >= 0 where nothing fails (Spec §4.3, §18.4).
[[nodiscard]] double log_chernoff(const TotalLoss& loss, double eps, double s);

}  // namespace sfumato
