#include "reproduce/readings/distance.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kDraws = 400;       ///< of the numbers of one reading
constexpr std::size_t kResamples = 100;   ///< of its trained models
constexpr std::size_t kInnerDraws = 100;  ///< of the numbers, for each of them

using Trials = std::vector<std::vector<VectorXd>>;  ///< [pair][replica], in the scale of the model

/// A root of the positive part of a symmetric matrix.
MatrixXd root(const MatrixXd& matrix) {
  const SymmetricEigen eigen(matrix);
  const VectorXd roots = eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  return eigen.eigenvectors() * roots.asDiagonal();
}

/// trial = mean + between z + within z'.
struct Effects {
  VectorXd mean;
  MatrixXd between, within;
};

Effects effects_of(const Trials& trials) {
  const Index size = trials.front().front().size();
  const auto pairs = static_cast<double>(trials.size());
  std::vector<VectorXd> means;
  Effects effects{VectorXd::Zero(size), {}, {}};
  MatrixXd within = MatrixXd::Zero(size, size), between = within;
  double freedom = 0.0, replicas = 0.0;
  for (const auto& pair : trials) {
    VectorXd mean = VectorXd::Zero(size);
    for (const VectorXd& trial : pair) mean += trial / static_cast<double>(pair.size());
    for (const VectorXd& trial : pair) within += (trial - mean) * (trial - mean).transpose();
    freedom += static_cast<double>(pair.size()) - 1.0;
    replicas += static_cast<double>(pair.size()) / pairs;
    effects.mean += mean / pairs;
    means.push_back(std::move(mean));
  }
  if (freedom > 0.0) within /= freedom;
  if (means.size() > 1) {
    for (const VectorXd& mean : means) {
      between += (mean - effects.mean) * (mean - effects.mean).transpose() / (pairs - 1.0);
    }
    between -= within / replicas;  // what replicas add to the spread of the means
  }
  effects.between = root(between);
  effects.within = root(within);
  return effects;
}

/// Normals one after the other.
class Normals {
 public:
  Normals(std::uint64_t seed, std::uint64_t part)
      : stream_(StreamKey(seed, Purpose::simulation, {part})) {}
  VectorXd next(Index size) {
    VectorXd values(size);
    stream_.fill_normal(step_++, 0,
                        std::span<double>(values.data(), static_cast<std::size_t>(size)));
    return values;
  }

 private:
  Stream stream_;
  std::uint64_t step_ = 0;
};

/// log10 of the numbers of one run of the paper's size.
VectorXd simulated(const NumberSample& sample, const Effects& effects, const PaperRuns& runs,
                   Normals& normals) {
  const auto size = static_cast<Index>(sample.numbers.size());
  const bool losses = std::any_of(
      sample.numbers.begin(), sample.numbers.end(),
      [](const PrintedNumber& number) { return number.aggregate == Aggregate::largest; });
  const auto replicas = static_cast<double>(runs.replicas);
  VectorXd largest_mean = VectorXd::Constant(size, -HUGE_VAL), largest = largest_mean;
  for (std::size_t pair = 0; pair < runs.pairs; ++pair) {
    const VectorXd of_pair = effects.mean + effects.between * normals.next(size);
    if (!losses) {
      largest_mean = largest_mean.cwiseMax(of_pair + effects.within * normals.next(size) /
                                                         std::sqrt(replicas));
      continue;
    }
    VectorXd mean = VectorXd::Zero(size);
    for (std::size_t replica = 0; replica < runs.replicas; ++replica) {
      const VectorXd trial = of_pair + effects.within * normals.next(size);
      mean += trial / replicas;
      largest = largest.cwiseMax(trial);
    }
    largest_mean = largest_mean.cwiseMax(mean);
  }
  const double least = 0.5 / (replicas * static_cast<double>(sample.records));
  VectorXd numbers(size);
  for (Index i = 0; i < size; ++i) {
    const bool is_loss =
        sample.numbers[static_cast<std::size_t>(i)].aggregate == Aggregate::largest;
    numbers[i] = is_loss ? largest[i] : std::log10(std::clamp(largest_mean[i], least, 1.0));
  }
  return numbers;
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

std::vector<double> of_number(const std::vector<VectorXd>& draws, Index number) {
  std::vector<double> values;
  values.reserve(draws.size());
  for (const VectorXd& draw : draws) values.push_back(draw[number]);
  return values;
}

/// All samples of a reading, one after the other.
class Simulator {
 public:
  Simulator(std::span<const NumberSample> samples, const PaperRuns& runs)
      : samples_(samples), runs_(runs) {
    for (const NumberSample& sample : samples) {
      Trials trials;
      for (const auto& pair : sample.trials) {
        trials.emplace_back();
        for (const auto& trial : pair) trials.back().push_back(scaled(sample, trial));
        if (pair.empty()) throw InternalError("a pair without replicas");
      }
      if (trials.empty() || sample.numbers.empty()) throw InternalError("a sample without trials");
      trials_.push_back(std::move(trials));
      for (const PrintedNumber& number : sample.numbers) {
        printed_.push_back(std::log10(number.printed));
      }
    }
    if (samples.empty()) throw InternalError("a reading without samples");
  }

  [[nodiscard]] std::vector<VectorXd> draws(const std::vector<Trials>& trials, std::size_t count,
                                            Normals& normals) const {
    std::vector<Effects> effects;
    for (const Trials& of : trials) effects.push_back(effects_of(of));
    std::vector<VectorXd> draws;
    for (std::size_t d = 0; d < count; ++d) {
      VectorXd all(static_cast<Index>(printed_.size()));
      Index at = 0;
      for (std::size_t s = 0; s < samples_.size(); ++s) {
        const VectorXd some = simulated(samples_[s], effects[s], runs_, normals);
        all.segment(at, some.size()) = some;
        at += some.size();
      }
      draws.push_back(std::move(all));
    }
    return draws;
  }

  [[nodiscard]] VectorXd centre(const std::vector<VectorXd>& draws) const {
    VectorXd centre(static_cast<Index>(printed_.size()));
    for (Index i = 0; i < centre.size(); ++i) centre[i] = quantile(of_number(draws, i), 0.5);
    return centre;
  }

  /// The same pairs and replicas for all numbers of a sample.
  [[nodiscard]] std::vector<Trials> resampled(const Stream& stream, std::uint64_t resample) const {
    std::uint64_t index = 0;
    std::vector<Trials> all;
    for (const Trials& trials : trials_) {
      Trials drawn;
      for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto& pair = trials[stream.below(resample, index++, trials.size())];
        drawn.emplace_back();
        for (std::size_t j = 0; j < pair.size(); ++j) {
          drawn.back().push_back(pair[stream.below(resample, index++, pair.size())]);
        }
      }
      all.push_back(std::move(drawn));
    }
    return all;
  }

  [[nodiscard]] const std::vector<Trials>& trials() const { return trials_; }
  [[nodiscard]] VectorXd printed() const {
    return Eigen::Map<const VectorXd>(printed_.data(), static_cast<Index>(printed_.size()));
  }

 private:
  static VectorXd scaled(const NumberSample& sample, const std::vector<double>& trial) {
    VectorXd values(static_cast<Index>(trial.size()));
    for (std::size_t i = 0; i < trial.size(); ++i) {
      const bool is_loss = sample.numbers.at(i).aggregate == Aggregate::largest;
      const double value = is_loss ? std::log10(std::max(trial[i], 1e-12)) : trial[i];
      if (!std::isfinite(value)) throw InternalError("a number of a reading is not finite");
      values[static_cast<Index>(i)] = value;
    }
    return values;
  }

  std::span<const NumberSample> samples_;
  PaperRuns runs_;
  std::vector<Trials> trials_;
  std::vector<double> printed_;
};

}  // namespace

ReadingDistance distance_to_paper(std::span<const NumberSample> samples, const PaperRuns& runs,
                                  std::uint64_t seed, bool with_interval) {
  const Simulator simulator(samples, runs);
  const VectorXd printed = simulator.printed();
  Normals normals(seed, 0);
  const std::vector<VectorXd> draws = simulator.draws(simulator.trials(), kDraws, normals);
  const VectorXd centre = simulator.centre(draws);
  ReadingDistance result;
  result.distance = result.lower = result.upper = (centre - printed).lpNorm<1>();
  std::size_t as_far = 0;
  for (const VectorXd& draw : draws) {
    const double away = (draw - centre).lpNorm<1>();
    result.chance += away / static_cast<double>(draws.size());
    if (away >= result.distance) ++as_far;
  }
  // The paper's own run is one more.
  result.p_value = static_cast<double>(as_far + 1) / static_cast<double>(draws.size() + 1);
  Index at = 0;
  for (const NumberSample& sample : samples) {
    for (const auto& pair : sample.trials) result.trials += pair.size();
    for (const PrintedNumber& number : sample.numbers) {
      const std::vector<double> values = of_number(draws, at);
      result.numbers.push_back({number, std::pow(10.0, centre[at]),
                                std::pow(10.0, quantile(values, 0.025)),
                                std::pow(10.0, quantile(values, 0.975))});
      ++at;
    }
  }
  if (!with_interval) return result;
  const Stream stream(StreamKey(seed, Purpose::bootstrap));
  std::vector<double> distances;
  for (std::uint64_t resample = 0; resample < kResamples; ++resample) {
    Normals inner(seed, resample + 1);
    const auto again = simulator.draws(simulator.resampled(stream, resample), kInnerDraws, inner);
    distances.push_back((simulator.centre(again) - printed).lpNorm<1>());
  }
  result.lower = std::min(result.distance, quantile(distances, 0.025));
  result.upper = std::max(result.distance, quantile(distances, 0.975));
  return result;
}

}  // namespace sfumato::apps
