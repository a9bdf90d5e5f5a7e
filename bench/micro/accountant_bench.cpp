// The contour accountant: an epsilon in both directions, from one to ten million steps.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/accountant/profile.hpp"

namespace {

using namespace sfumato;

/// Largest epsilon of both directions; the reference is 2.446733944 (q = .01, sigma = 2, 10,000 steps, delta = 1e-6).
double epsilon_of_both(double k) {
  const SampledGaussian removed{.01, .5, k, StepDirection::remove};
  SampledGaussian added = removed;
  added.direction = StepDirection::add;
  return std::max(epsilon_of({{removed}}, 1e-6).hi, epsilon_of({{added}}, 1e-6).hi);
}

void accounting_epsilon(benchmark::State& state) {
  if (!(std::fabs(epsilon_of_both(1e4) - 2.446733944483726) < 1e-9)) {
    state.SkipWithError("the epsilon is wrong");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(epsilon_of_both(static_cast<double>(state.range(0))));
  }
}
BENCHMARK(accounting_epsilon)->RangeMultiplier(100)->Range(1000, 10000000);

}  // namespace
