#pragma once

#include <memory>
#include <mutex>

#include "sfumato/sde/precise/training.hpp"

namespace sfumato {

/// The same training in other coordinates, the last one first, and with every entry of A and the pull moved
/// by one unit of rounding: what differs between the two is rounding.
[[nodiscard]] GivenTraining rounding_twin(const GivenTraining& training);

/// The distribution of a rounding_twin: made when first asked for, safely from several threads; copies share it.
template <class Distribution>
class DistributionTwin {
 public:
  [[nodiscard]] const Distribution& of(const GivenTraining& training) const {
    std::call_once(made_->once, [&] {
      made_->distribution =
          std::make_unique<const Distribution>(Distribution::of(rounding_twin(training)));
    });
    return *made_->distribution;
  }

 private:
  struct Made {
    std::once_flag once;
    std::unique_ptr<const Distribution> distribution;
  };
  std::shared_ptr<Made> made_ = std::make_shared<Made>();
};

}  // namespace sfumato
