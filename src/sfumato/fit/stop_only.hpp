#pragma once

#include "sfumato/core/observer.hpp"

namespace sfumato {

/// Hands on the wish to stop and keeps progress to itself: how many rows there are is private (Spec §21.1).
class StopOnly final : public Observer {
 public:
  explicit StopOnly(const Observer& observer) : observer_(observer) {}
  [[nodiscard]] bool stop_requested() const override { return observer_.stop_requested(); }

 private:
  const Observer& observer_;
};

}  // namespace sfumato
