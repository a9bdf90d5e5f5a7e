#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/trial_group.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/data/adjacency.hpp"

namespace sfumato::lab {

/// Between whom a guarantee holds: a slot of D is emptied (zero_out, N stays) or holds another record.
[[nodiscard]] NeighbouringRelation relation_of(Adjacency adjacency);

/// What training of a network reveals at most, or why nothing is guaranteed.
struct TrainingGuarantee {
  std::optional<Accountant> accountant;
  std::string reason;  ///< where there is none
};

/// All steps of training on `slots` records with this policy. The whole path is covered: momentum, averages and the choice of an iterate
/// change nothing. A model that is drawn by a seed has the guarantee of its mechanism, not of its bits: say so beside it.
///
/// Edges    none for policies other than `private`, for batches with replacement, and for a sampler without a proof for these
///          neighbours (`fixed_size` where a record is removed); the reason says so.
[[nodiscard]] TrainingGuarantee training_guarantee(const NoisePolicy& policy,
                                                   const Network& network, const Training& training,
                                                   std::size_t slots,
                                                   NeighbouringRelation relation);

/// The second moments that the metric `input` is made of: a Gaussian release of that mu, whoever the neighbours are (Spec §22.2, §21.4).
[[nodiscard]] PrivateRelease release_of_moments(double mu, NeighbouringRelation relation);

/// The steps as one release. Throws   InvalidArgument as require_accountable().
[[nodiscard]] PrivateRelease release_of_training(const NoisePolicy& policy, const Network& network,
                                                 const Training& training, std::size_t slots);

}  // namespace sfumato::lab
