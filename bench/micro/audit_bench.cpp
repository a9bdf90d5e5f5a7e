#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/one_run_fdp.hpp"
#include "sfumato/audit/proportion_intervals.hpp"
#include "sfumato/audit/roc.hpp"
#include "sfumato/audit/score_audit.hpp"

namespace sfumato {
namespace {

/// N(1, 1) against N(0, 1), half of `size` each.
ScoreSample gaussian(std::int64_t size) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  ScoreSample sample;
  for (std::int64_t i = 0; i < size / 2; ++i) {
    sample.with.push_back(normal(engine) + 1.0);
    sample.without.push_back(normal(engine));
  }
  return sample;
}

void audit(benchmark::State& state, ThresholdStrategy strategy) {
  const ScoreSample sample = gaussian(state.range(0));
  AuditOptions options;
  options.strategy = strategy;
  if (strategy == ThresholdStrategy::fixed) options.thresholds = {0.5};
  const double mu = audit_scores(sample, options).mu().value;
  if (!(mu > 0.5 && mu < 1.0)) {
    state.SkipWithError("mu is not just below 1");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(audit_scores(sample, options).epsilon(Delta(1e-5)));
}

void roc(benchmark::State& state) {
  const ScoreSample sample = gaussian(state.range(0));
  if (!(std::abs(Roc(sample).auc() - 0.5 * std::erfc(-0.5)) < 0.01)) {
    state.SkipWithError("the AUC is not Phi(1 / sqrt 2)");
    return;
  }
  for (auto _ : state) {
    const Roc curve(sample);
    benchmark::DoNotOptimize(curve.auc() + curve.advantage() + curve.tpr(curve.point_at(0.001)));
  }
}

void one_run(benchmark::State& state) {
  const auto m = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(one_run_epsilon_lower_bound({m, m, 6 * m / 10}, Delta(1e-8), 0.95));
  }
}

void one_run_gdp(benchmark::State& state) {
  const auto m = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(one_run_mu_lower_bound({m, m, 6 * m / 10}, 0.95));
  }
}

void credible(benchmark::State& state) {
  const auto n = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        credible_epsilon({9 * n / 10, n, n / 10, n}, Delta(1e-5), 0.95, Worlds::independent));
  }
}

BENCHMARK_CAPTURE(audit, held_out, ThresholdStrategy::held_out)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(audit, ranks, ThresholdStrategy::ranks)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(audit, fixed, ThresholdStrategy::fixed)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(roc)->Arg(1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(one_run)->Arg(1000)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK(one_run_gdp)->Arg(1000)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK(credible)->Arg(100)->Arg(1000000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sfumato
