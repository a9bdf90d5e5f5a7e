#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace sfumato::lab {

/// Zeros on a cache-line boundary, with room for the kernels to read a vector past the end.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count) { require(count); }

  /// At least `count` floats: where there are fewer, all are thrown away for new zeros.
  void require(std::size_t count) {
    if (count <= count_ && floats_) return;
    const std::size_t bytes = (count + 64) * sizeof(float);
    floats_.reset(static_cast<float*>(::operator new[](bytes, std::align_val_t{64})));
    std::memset(floats_.get(), 0, bytes);
    count_ = count;
  }
  [[nodiscard]] float* data() { return floats_.get(); }
  [[nodiscard]] const float* data() const { return floats_.get(); }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<float[], Free> floats_;
  std::size_t count_ = 0;
};

}  // namespace sfumato::lab
