#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/release_fields.hpp"

namespace sfumato {

/// delta(eps) of P = N(0, I) and Q = N(c, lam I) in `dimension` dimensions, lam = (normaliser_p / normaliser_q)^2 (Spec §29.2): steps that divide the
/// same noise by different numbers. Of T steps in d dimensions it is that of T d dimensions, with the squares of their shifts added up.
struct UnequalNormalisers {
  double dimension;
  double normaliser_p, normaliser_q;
  double shift_squared;  ///< in units of the first noise
};
/// Throws   InvalidArgument if a number is not positive (the shift: negative), or eps is NaN.
[[nodiscard]] Enclosure unequal_delta(const UnequalNormalisers& pair, double eps);

/// Normalisers of two neighbours.
struct NormaliserPair {
  double with, without;  ///< the record
  friend bool operator==(const NormaliserPair&, const NormaliserPair&) = default;
};

/// A run whose sums are divided by a number that may depend on how many records there are.
struct NormalisedRun {
  Normaliser normaliser;
  NeighbouringRelation relation;
  std::uint64_t records;    ///< of the table
  std::uint64_t dimension;  ///< numbers that a step releases
  PrivateRelease release;   ///< Gaussian noise
};

/// What the normaliser shows (Spec §29).
struct NormaliserFinding {
  std::vector<NormaliserPair>
      pairs;          ///< neighbours whose normalisers differ; empty: nothing changes
  Enclosure epsilon;  ///< where they differ: +inf above where nothing is proven
  bool is_exact = false;
  double overflow = 0.0;  ///< of the part of delta that pays for larger batches than `most_others`
  double most_others = 0.0;  ///< records of a batch beside the one in question
};

/// Throws   InvalidArgument for a normaliser of 0, for the size of the batch, and for noise that is not Gaussian.
[[nodiscard]] NormaliserFinding normaliser_finding(const NormalisedRun& run, Delta delta);

}  // namespace sfumato
