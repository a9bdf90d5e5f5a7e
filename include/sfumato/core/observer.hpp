#pragma once

#include <cstdint>
#include <string_view>

namespace sfumato {

/// What long work tells its caller, and how the caller stops it. Passed in, never global.
/// Implementations must accept calls from several threads.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// `done` of `total` units of `stage` are finished.
  virtual void progress(std::string_view stage, std::uint64_t done, std::uint64_t total) {
    (void)stage, (void)done, (void)total;
  }
  /// Something worth keeping with the result: a tolerance that was used, a case that was left out.
  virtual void record(std::string_view topic, std::string_view message) {
    (void)topic, (void)message;
  }
  /// True when the user asked to stop; the work returns what it has at the next safe point.
  [[nodiscard]] virtual bool stop_requested() const { return false; }
};

/// answer() of any question, by a caller who neither watches nor stops it.
template <class Question>
[[nodiscard]] auto answer(const Question& question) {
  Observer nobody;
  return answer(question, nobody);
}

}  // namespace sfumato
