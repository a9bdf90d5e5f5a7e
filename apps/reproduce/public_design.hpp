#pragma once

#include <optional>

#include "lab/images/data_sets.hpp"
#include "lab/nn/network.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/design/design.hpp"

namespace sfumato::apps {

using namespace lab;

struct PublicDesign {
  Network network;  ///< whose parameters the noise is for
  Design design;
};

/// Noise for the models of a study, designed on public records: the set's test part, which D does not
/// touch, takes the place of its training part. The differences of the gradients of D and D' over
/// `pairs` adjacent pairs, trained without noise as the study says, give the second moments of Spec §9.1;
/// the design is the best diagonal covariance of mean variance 1, none below a hundredth.
///
/// Nothing if the observer asked to stop.
/// Throws   InvalidArgument as load_sets(), or if the set has no test part.
[[nodiscard]] std::optional<PublicDesign> design_on_public_records(const Study& study,
                                                                   std::uint64_t pairs,
                                                                   const DataPlaces& places,
                                                                   Observer& observer);

}  // namespace sfumato::apps
