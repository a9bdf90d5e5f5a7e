#pragma once

#include <string>
#include <utility>

#include "sfumato/core/observer.hpp"

namespace sfumato {

/// Passes progress on under another name, so that rows that are computed again are not taken for the first time. Records are
/// left to the computation that the answer shows.
class StageObserver final : public Observer {
 public:
  StageObserver(Observer& next, std::string stage) : next_(next), stage_(std::move(stage)) {}

  void progress(std::string_view, std::uint64_t done, std::uint64_t total) override {
    next_.progress(stage_, done, total);
  }
  [[nodiscard]] bool stop_requested() const override { return next_.stop_requested(); }

 private:
  Observer& next_;
  std::string stage_;
};

}  // namespace sfumato
