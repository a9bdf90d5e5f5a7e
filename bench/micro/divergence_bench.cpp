#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/divergence/matched_process.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

/// Pairs such as the rows of a table give: small shifts and ratios near one.
std::vector<WhitenedPair> row_like_pairs(Eigen::Index dimension) {
  testing::RandomPairs random(1);
  std::vector<WhitenedPair> pairs;
  for (int k = 0; k < 256; ++k) {
    WhitenedPair pair{false, false, Eigen::ArrayXd(dimension), Eigen::ArrayXd(dimension),
                      Eigen::ArrayXd(dimension)};
    for (Eigen::Index i = 0; i < dimension; ++i) {
      pair.excess(i) = random.log_uniform(1e-4, 1e-1);
      pair.ratio(i) = 1.0 + pair.excess(i);
      pair.shift(i) = 0.1 * random.normal();
    }
    pairs.push_back(pair);
  }
  return pairs;
}

/// The identity delta_{Q,P}(e) = 1 - e^e + e^e delta_{P,Q}(-e) as a check before timing.
bool answers_are_right(const std::vector<WhitenedPair>& pairs) {
  for (const auto& pair : pairs) {
    const double direct = gaussian_hockey_stick(swapped(pair), 0.1).delta;
    const double linked =
        -std::expm1(0.1) + std::exp(0.1) * gaussian_hockey_stick(pair, -0.1).delta;
    if (!(std::abs(direct - linked) < 1e-12)) return false;
  }
  return true;
}

template <class F>
void over_pairs(benchmark::State& state, F&& evaluate) {
  const auto pairs = row_like_pairs(state.range(0));
  if (!answers_are_right(pairs)) {
    state.SkipWithError("the hockey-stick fails its exchange identity");
    return;
  }
  std::size_t k = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate(pairs[k++ % pairs.size()]));
  }
}

void kl(benchmark::State& state) {
  over_pairs(state, [](const WhitenedPair& p) { return gaussian_kl(p).value.value(); });
}
void hockey_stick(benchmark::State& state) {
  over_pairs(state, [](const WhitenedPair& p) { return gaussian_hockey_stick(p, 0.1).delta; });
}
void epsilon_at_delta(benchmark::State& state) {
  over_pairs(state,
             [](const WhitenedPair& p) { return gaussian_epsilon(p, Delta(1e-5)).value.nats(); });
}

/// Spec §27.3 for a dense Ornstein-Uhlenbeck pair with different noise, both metrics.
void matched_process(benchmark::State& state) {
  testing::RandomPairs random(1);
  const Eigen::Index d = state.range(0);
  const auto definite = [&] {
    return Eigen::MatrixXd(random.spd(d) / 10.0 + Eigen::MatrixXd::Identity(d, d));
  };
  const GaussianDistribution start{random.vector(d), Dense{definite()}};
  const Eigen::MatrixXd curvature = definite(), noise = definite();
  const OuPair pair{
      {curvature, random.vector(d), Dense{noise}},
      start,
      {curvature + 0.01 * definite(), random.vector(d), Dense{noise + 0.02 * definite()}},
      start};
  if (matched_process_bound(pair, 2.0).kl.value < exact_kl(pair, 2.0).value) {
    state.SkipWithError("the bound is below the exact KL");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(matched_process_bound(pair, 2.0).kl.value.value());
}
BENCHMARK(matched_process)->Arg(2)->Arg(20)->Arg(100)->Unit(benchmark::kMillisecond);

BENCHMARK(kl)->Arg(1)->Arg(20)->Arg(200);
BENCHMARK(hockey_stick)->Arg(1)->Arg(20)->Arg(200);
BENCHMARK(epsilon_at_delta)->Arg(1)->Arg(20)->Arg(200);

}  // namespace
}  // namespace sfumato
