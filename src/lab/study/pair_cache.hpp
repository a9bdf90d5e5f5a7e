#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace sfumato::lab {

/// What the trials of one pair share: made by the first that needs it, kept while one uses it.
template <class T>
class PairCache {
 public:
  /// The value of `draw`, by `make()` if nobody has it. Threads share a cache.
  template <class Make>
  [[nodiscard]] std::shared_ptr<const T> get(std::uint64_t draw, Make&& make) const {
    const std::lock_guard lock(mutex_);
    if (auto known = pairs_[draw].lock()) return known;
    auto made = std::make_shared<const T>(make());
    pairs_[draw] = made;
    return made;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::weak_ptr<const T>> pairs_;
};

}  // namespace sfumato::lab
