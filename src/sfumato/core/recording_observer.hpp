#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/observer.hpp"

namespace sfumato {

/// Passes everything on to another observer and keeps what is recorded, for the answer to state.
class RecordingObserver final : public Observer {
 public:
  explicit RecordingObserver(Observer& next) : next_(next) {}

  void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    next_.progress(stage, done, total);
  }
  void record(std::string_view topic, std::string_view message) override {
    {
      const std::lock_guard lock(mutex_);
      records_.emplace_back(topic, message);
    }
    next_.record(topic, message);
  }
  [[nodiscard]] bool stop_requested() const override { return next_.stop_requested(); }

  /// As (topic, message), in the order in which they came.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> records() const {
    const std::lock_guard lock(mutex_);
    return records_;
  }

 private:
  Observer& next_;
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> records_;
};

}  // namespace sfumato
