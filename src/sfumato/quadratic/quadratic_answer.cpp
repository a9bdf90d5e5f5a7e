#include "sfumato/quadratic/quadratic_answer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sfumato/core/located.hpp"
#include "sfumato/divergence/linear_chain.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/matched_chain.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/quadratic/quadratic_keys.hpp"
#include "sfumato/quadratic/training_pair.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

LinearChainPair pair_of(const Pair<QuadraticTraining>& data, double rate) {
  const auto chain = [&](const QuadraticTraining& training) {
    return LinearChain{training.loss.curvature, training.loss.pull, rate, training.noise,
                       training.loss.given};
  };
  return {chain(data.d), data.d.start, chain(data.d_prime), data.d_prime.start};
}

const char* const kNoisesDiffer = "the noise of a step differs between D and D'";
const char* const kSingular = "the noise of a step is singular";

/// Why the two chains have no common metric of the noise; nullptr if they have.
const char* no_metric(const LinearChainPair& pair) {
  if (!same_matrix(pair.p.step_noise, pair.q.step_noise)) return kNoisesDiffer;
  return is_definite(pair.p.step_noise) ? nullptr : kSingular;
}

/// The Lipschitz constant of the second step in the metric of its noise.
double lipschitz_of(const LinearChainPair& pair) {
  return linear_step_lipschitz(pair.q.curvature, pair.q.learning_rate, pair.q.step_noise);
}

Known<double> known_lipschitz(const LinearChainPair& pair) {
  if (!is_definite(pair.q.step_noise)) return {{}, kSingular};
  return {lipschitz_of(pair), {}};
}

/// The bound by contraction: Spec §8.3 for equal noise, and the matched process (§27.9) for different noise, which looks
/// at every step.
KlBound contractive_of(const LinearChainPair& pair, double count) {
  if (same_matrix(pair.p.step_noise, pair.q.step_noise)) {
    return best_contractive_bound(pair, count).bound;
  }
  const double d = static_cast<double>(pair.p.pull.size());
  constexpr double kMostWork = 2e6;  // microseconds, about
  if (count * (10.0 + 0.02 * d * d * d) > kMostWork) {
    return no_bound("matched process, steps",
                    "looks at every step where the noise of a step differs: ask for fewer steps");
  }
  return matched_chain_bound(pair, count);
}

/// The sensitivity and the contraction of two steps that differ by a constant, or why there is
/// none.
struct UniformGap {
  std::string reason;  ///< empty when the rest is meant
  double sensitivity = 0.0;
  double lipschitz = 1.0;
};

UniformGap uniform_gap(const LinearChainPair& pair) {
  if (pair.p.curvature != pair.q.curvature) {
    return {"A and A' differ, so the difference of the steps is unbounded"};
  }
  if (const char* reason = no_metric(pair)) return {reason};
  if (!same_distribution(pair.start_p, pair.start_q)) return {"the starts differ"};
  const VectorXd gap =
      loss_difference({pair.p.curvature, pair.p.pull, pair.p.given.get(), pair.p.learning_rate},
                      {pair.q.curvature, pair.q.pull, pair.q.given.get(), pair.q.learning_rate},
                      VectorXd::Zero(pair.p.pull.size()))
          .pull;
  const double square = gap.dot(solve(pair.p.step_noise, gap).col(0));
  return {"", std::sqrt(std::max(square, 0.0)), lipschitz_of(pair)};
}

Known<Claimed<double>> known_mu(const UniformGap& gap, double steps) {
  if (!gap.reason.empty()) return {{}, gap.reason};
  const Claimed<double> mu = noisy_gd_gdp(gap.sensitivity, gap.lipschitz, steps).mu;
  if (std::isinf(mu.value)) return {{}, "the step does not contract: mu grows without bound"};
  return {mu, {}};
}

/// Both directions, forward and reverse, after each of the numbers of steps.
std::vector<std::array<ChainBounds, 2>> chain_bounds(const Pair<QuadraticTraining>& data,
                                                     double learning_rate,
                                                     const std::vector<double>& steps) {
  const LinearChainPair forward = pair_of(data, learning_rate);
  const LinearChainPair reverse = swapped(forward);
  const bool rounded = difference_is_rounded(
      {forward.p.curvature, forward.p.pull, forward.p.step_noise, forward.p.given},
      {forward.q.curvature, forward.q.pull, forward.q.step_noise, forward.q.given});
  const UniformGap gap = uniform_gap(forward);
  const Known<double> lipschitz[] = {known_lipschitz(forward), known_lipschitz(reverse)};
  const auto bounds = [&](const LinearChainPair& pair, const Known<double>& constant,
                          double count) -> ChainBounds {
    if (rounded) {
      const KlBound none = no_bound("contractive chain", kRoundedDifference);
      return {none, constant, none, {{}, kRoundedDifference}};
    }
    return {contractive_of(pair, count), constant, path_kl(pair, count), known_mu(gap, count)};
  };
  std::vector<std::array<ChainBounds, 2>> result;
  for (const double count : steps) {
    result.push_back({bounds(forward, lipschitz[0], count), bounds(reverse, lipschitz[1], count)});
  }
  return result;
}

constexpr int kCurvePoints = 33;
// Each point of a curve costs a diagonalisation; beyond this the listed looks must do.
constexpr Eigen::Index kLargestForCurves = 64;

/// From `low` to `high` with equal ratios.
std::vector<double> log_grid(double low, double high) {
  std::vector<double> grid(kCurvePoints);
  for (int i = 0; i < kCurvePoints; ++i) {
    grid[static_cast<std::size_t>(i)] =
        i + 1 == kCurvePoints ? high : low * std::pow(high / low, i / (kCurvePoints - 1.0));
  }
  return grid;
}

/// The times, or whole numbers of steps, at which curves look at a training.
std::vector<double> curve_looks(const QuadraticQuestion& question, const TrainingPair& training) {
  std::vector<double> listed;
  for (const double when : question.looks()) {
    if (when > 0.0 && std::isfinite(when)) listed.push_back(when);
  }
  std::sort(listed.begin(), listed.end());
  if (question.dimension() > kLargestForCurves) return listed;
  double low;
  double high;
  if (listed.empty()) {
    const auto [slowest, fastest] = training.rates();
    if (fastest == 0.0) return {};
    low = 0.01 / fastest;
    high = 10.0 / slowest;
    if (!std::isfinite(high)) return {};
  } else {
    low = listed.front() < listed.back() ? listed.front() : 0.01 * listed.back();
    high = listed.back();
  }
  if (question.chain() == nullptr) return log_grid(low, high);
  std::vector<double> steps = log_grid(std::max(low, 1.0), std::max(high, 1.0));
  for (double& step : steps) step = std::round(step);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

void add_curve(const TrainingPair& training, Observer& observer, QuadraticAnswer& result) {
  const Epsilon epsilon{result.question.risk.epsilons.front()};
  const std::vector<double> looks = curve_looks(result.question, training);
  for (std::size_t i = 0; i < looks.size() && !observer.stop_requested(); ++i) {
    observer.progress("figures", i, looks.size());
    const auto pair = training.pair_at(looks[i]).first;
    if (!pair) continue;
    const Risk risk = Risk::exact(*pair);
    result.curve.push_back(
        {looks[i],
         {risk.kl(Direction::forward), risk.kl(Direction::reverse)},
         {risk.delta(Direction::forward, epsilon), risk.delta(Direction::reverse, epsilon)}});
  }
}

void observe_training(Observer& observer, QuadraticAnswer& result) {
  const QuadraticQuestion& question = result.question;
  const TrainingPair training(question.data, question.learning_rate());
  const std::vector<double> looks = question.looks();
  std::vector<double> seen;
  for (std::size_t i = 0; i < looks.size() && !observer.stop_requested(); ++i) {
    observer.progress(question.chain() != nullptr ? "steps" : "times", i, looks.size());
    result.observations.push_back(training.at(looks[i]));
    seen.push_back(looks[i]);
  }
  if (question.chain() != nullptr) {
    result.chain_bounds = chain_bounds(question.data, question.chain()->learning_rate, seen);
  }
  add_curve(training, observer, result);
}

}  // namespace

QuadraticAnswer answer(const QuadraticQuestion& question, Observer& observer) {
  require_quadratic(question);
  QuadraticAnswer result{question,
                         question.is_release() ? differences_of_releases(question.data)
                                               : differences_of_trainings(question.data),
                         {}};
  const Where where = question.source.empty() ? Where::here() : Where::in(question.source);
  located(where, [&] {
    if (question.is_release()) {
      result.observations.push_back(observe_release(question.data));
    } else {
      observe_training(observer, result);
    }
  });
  result.stopped = observer.stop_requested();
  return result;
}

}  // namespace sfumato
