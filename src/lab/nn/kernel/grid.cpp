#include "lab/nn/kernel/grid.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/grid.cpp"
#include <hwy/foreach_target.h>
//
#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

using Doubles = hn::ScalableTag<double>;
constexpr std::size_t kDoubles = hn::MaxLanes(Doubles());

template <class RoundLanes, class RoundOne>
HWY_INLINE double integers_of(const float* values, const double* scales, std::size_t count,
                              double* integers, const RoundLanes& round_lanes,
                              const RoundOne& round_one) {
  const Doubles d;
  const hn::Rebind<float, Doubles> half;
  auto squares = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    const auto value = hn::PromoteTo(d, hn::LoadU(half, values + i));
    const auto rounded = round_lanes(hn::Mul(value, hn::LoadU(d, scales + i)));
    hn::StoreU(rounded, d, integers + i);
    squares = hn::MulAdd(rounded, rounded, squares);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, squares));
  for (; i < count; ++i) {
    integers[i] = round_one(static_cast<double>(values[i]) * scales[i]);
    sum += integers[i] * integers[i];
  }
  return sum;
}

double nearest_integers(const float* values, const double* scales, std::size_t count,
                        double* integers) {
  return integers_of(
      values, scales, count, integers, [](auto v) HWY_ATTR { return hn::Round(v); },
      [](double v) { return std::nearbyint(v); });
}

double truncated_integers(const float* values, const double* scales, std::size_t count,
                          double* integers) {
  return integers_of(
      values, scales, count, integers, [](auto v) HWY_ATTR { return hn::Trunc(v); },
      [](double v) { return std::trunc(v); });
}

void add_terms(const double* terms, std::size_t count, double* sum) {
  const Doubles d;
  std::size_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), hn::LoadU(d, terms + i)), d, sum + i);
  }
  for (; i < count; ++i) sum[i] += terms[i];
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(nearest_integers);
HWY_EXPORT(truncated_integers);
HWY_EXPORT(add_terms);

double nearest_integers(const float* values, const double* scales, std::size_t count,
                        double* integers) {
  return HWY_DYNAMIC_DISPATCH(nearest_integers)(values, scales, count, integers);
}
double truncated_integers(const float* values, const double* scales, std::size_t count,
                          double* integers) {
  return HWY_DYNAMIC_DISPATCH(truncated_integers)(values, scales, count, integers);
}
void add_terms(const double* terms, std::size_t count, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_terms)(terms, count, sum);
}

}  // namespace sfumato::kernel
#endif
