// How long the accountant takes, in this process: nothing is kept from one question to the next.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "sfumato/privacy/accounting/pld.hpp"
#include "sfumato/privacy/accounting/profile.hpp"

namespace {

using namespace sfumato;

TotalLoss poisson(double q, double sigma, double k) {
  return {{SampledGaussian{q, 1.0 / sigma, k}}};
}

/// Both directions, as a guarantee needs them.
EpsilonEnclosure epsilon_both(const TotalLoss& loss, double delta) {
  const EpsilonEnclosure forward = epsilon_of(loss, delta),
                         backward = epsilon_of(swapped(loss), delta);
  return {std::max(forward.lo, backward.lo), std::max(forward.hi, backward.hi)};
}

/// 22 digits from elsewhere: a wrong answer is not timed.
bool is_right(const EpsilonEnclosure& found) {
  return found.lo <= 2.446733944483725719460 && found.hi >= 2.446733944483725719460 &&
         found.hi - found.lo < 1e-9;
}

void epsilon_at_ten_thousand_steps(benchmark::State& state) {
  const TotalLoss loss = poisson(0.01, 2.0, 1e4);
  if (!is_right(epsilon_both(loss, 1e-6))) state.SkipWithError("not the reference value");
  for (auto _ : state) benchmark::DoNotOptimize(epsilon_both(loss, 1e-6));
  const EpsilonEnclosure found = epsilon_both(loss, 1e-6);
  state.counters["width"] = found.hi - found.lo;
}
BENCHMARK(epsilon_at_ten_thousand_steps)->Unit(benchmark::kMillisecond);

/// From 1 to 1e7 steps, the noise growing with their square root so that epsilon stays about the same.
void epsilon_by_steps(benchmark::State& state) {
  const double k = std::pow(10.0, static_cast<double>(state.range(0)));
  const TotalLoss loss = poisson(0.01, std::max(0.6, 2.0 * std::sqrt(k / 1e4)), k);
  for (auto _ : state) benchmark::DoNotOptimize(epsilon_both(loss, 1e-6));
  const EpsilonEnclosure found = epsilon_both(loss, 1e-6);
  state.counters["width"] = found.hi - found.lo;
}
BENCHMARK(epsilon_by_steps)->DenseRange(0, 7)->Unit(benchmark::kMillisecond);

void delta_by_contour(benchmark::State& state) {
  const TotalLoss loss = poisson(0.01, 1.0, 1000.0);
  for (auto _ : state) benchmark::DoNotOptimize(delta_of(loss, 1.0));
}
BENCHMARK(delta_by_contour)->Unit(benchmark::kMillisecond);

void delta_by_lattice(benchmark::State& state) {
  const TotalLoss loss = poisson(0.01, 1.0, 1000.0);
  const PldGrid grid{std::size_t{1} << state.range(0)};
  for (auto _ : state) benchmark::DoNotOptimize(pld_delta(loss, 1.0, grid));
  const LogEnclosure found = pld_delta(loss, 1.0, grid);
  state.counters["width"] = found.log_hi - found.log_lo;
}
BENCHMARK(delta_by_lattice)->DenseRange(13, 19, 2)->Unit(benchmark::kMillisecond);

/// A thousand settings: ten rates, ten multipliers, ten numbers of steps.
void sweep_of_a_thousand(benchmark::State& state) {
  for (auto _ : state) {
    double sum = 0.0;
    for (int i = 0; i < 1000; ++i) {
      const double q = 0.001 * std::pow(1.5, i % 10), sigma = 0.8 + 0.2 * (i / 10 % 10);
      const double k = 1000.0 * std::pow(1.6, i / 100);
      sum += epsilon_both(poisson(q, sigma, std::floor(k)), 1e-5).hi;
    }
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(sweep_of_a_thousand)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
