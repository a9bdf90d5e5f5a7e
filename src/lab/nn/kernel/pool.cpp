#include "lab/nn/kernel/pool.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/pool.cpp"
#include <hwy/foreach_target.h>
//
#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

void max_pool(const MaxPoolTask& t) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  const std::size_t row = t.width * t.columns;
  for (std::size_t y = 0; y < t.out_height; ++y) {
    for (std::size_t x = 0; x < t.out_width; ++x) {
      const float* corner = t.in + y * t.size * row + x * t.size * t.columns;
      float* out = t.out + (y * t.out_width + x) * t.columns;
      std::int32_t* which = t.which + (y * t.out_width + x) * t.columns;
      for (std::size_t n = 0; n < t.columns; n += kLanes) {
        Vector most = hn::LoadU(d, corner + n);
        auto winner = hn::Zero(di);
        for (std::size_t i = 1; i < t.size * t.size; ++i) {
          const Vector v = hn::LoadU(d, corner + i / t.size * row + i % t.size * t.columns + n);
          const auto larger = hn::Gt(v, most);
          most = hn::IfThenElse(larger, v, most);
          winner = hn::IfThenElse(hn::RebindMask(di, larger),
                                  hn::Set(di, static_cast<std::int32_t>(i)), winner);
        }
        hn::StoreU(most, d, out + n);
        hn::StoreU(winner, di, which + n);
      }
    }
  }
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(max_pool);

void max_pool(const MaxPoolTask& task) { HWY_DYNAMIC_DISPATCH(max_pool)(task); }

}  // namespace sfumato::kernel
#endif
