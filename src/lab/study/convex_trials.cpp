#include "lab/study/convex_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/study/convex_problem.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

using Eigen::VectorXd;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kStepsBetweenLooks = 256;  // at the observer

/// KL of two steps from one point, whose distributions differ by `shift` (Spec §8.1).
class StepDivergence {
 public:
  explicit StepDivergence(const Covariance& noise)
      : noise_(noise), definite_(is_definite(noise)), none_(trace(noise) == 0.0) {
    if (definite_ && !is_diagonal(noise)) root_ = dense(noise).llt();
    if (definite_ && is_diagonal(noise)) variances_ = diagonal_of(noise);
  }
  [[nodiscard]] double operator()(const VectorXd& shift) const {
    if (shift.isZero(0.0)) return 0.0;
    if (none_) return std::numeric_limits<double>::infinity();
    if (!definite_) {
      const VectorXd zero = VectorXd::Zero(shift.size());
      return gaussian_kl(whiten(zero, noise_, shift, noise_)).value.value();
    }
    if (variances_.size() > 0) return 0.5 * (shift.array().square() / variances_.array()).sum();
    return 0.5 * root_.matrixL().solve(shift).squaredNorm();
  }

 private:
  Covariance noise_;
  bool definite_, none_;
  VectorXd variances_;
  Eigen::LLT<Eigen::MatrixXd> root_;
};

/// What one policy adds to a step.
struct StepNoise {
  explicit StepNoise(const Covariance& noise)
      : variance(isotropic_variance(noise)), none(trace(noise) == 0.0) {
    if (!variance && !none) factor = root(noise);
  }
  [[nodiscard]] Eigen::Index normals(Eigen::Index parameters) const {
    return factor.size() == 0 ? parameters : factor.cols();
  }
  void add(const VectorXd& normals, VectorXd& to) const {
    if (none) return;
    if (variance) {
      to += std::sqrt(*variance) * normals.head(to.size());
    } else {
      to += factor * normals.head(factor.cols());
    }
  }
  std::optional<double> variance;
  bool none;
  Eigen::MatrixXd factor;
};

/// One model on its way.
struct Model {
  std::size_t policy, world;
  StepNoise noise;
  StepDivergence divergence;
  VectorXd at;
  double path_kl = 0.0;
  std::uint64_t infinite_steps = 0;
  std::optional<std::uint64_t> diverged_at = {};

  void measure(double nats) {
    path_kl += nats;
    infinite_steps += std::isinf(nats) ? 1U : 0U;
  }
};

}  // namespace

ConvexTrials::Pair ConvexTrials::make_pair(std::uint64_t draw) const {
  Pair made{problem_.pair(draw), {}, {}};
  const Study& study = problem_.study();
  if (made.pair.record) made.records = problem_.training_records(draw);
  for (const Covariance& noise : problem_.step_noises()) {
    made.ratios.emplace_back();
    const auto* linear = std::get_if<LinearLosses>(&made.pair.losses);
    if (linear == nullptr || !is_definite(noise)) continue;
    const auto [distribution, other] = chain_distributions(*linear, made.pair.step, noise);
    const auto steps = static_cast<double>(study.train.iterations);
    made.ratios.back().emplace(distribution.at(steps), other.at(steps));
  }
  return made;
}

void ConvexTrials::score(const Pair& of, std::size_t policy, const VectorXd& at,
                         WorldResult& result) const {
  const ConvexPair& pair = of.pair;
  const VectorXd start = VectorXd::Zero(at.size());
  VectorXd slope, first_slope;
  if (pair.record) {
    const double loss = problem_.record_loss(*pair.record, at);
    result.scores.push_back({"loss", -loss});
    if (problem_.study().model.kind == ModelKind::logistic) {
      const double logit = pair.record->features.dot(at);
      result.scores.push_back({"confidence", std::exp(-loss)});
      result.scores.push_back({"margin", pair.record->target == 1.0 ? logit : -logit});
    }
    slope = problem_.record_gradient(*pair.record, at);
    first_slope = problem_.record_gradient(*pair.record, start);
  } else {
    // f - f' takes the place of the differing record's loss.
    const auto& losses = std::get<LinearLosses>(pair.losses).worlds;
    const auto loss = [&](const QuadraticLoss& f) {
      return 0.5 * at.dot(f.curvature * at) - f.pull.dot(at);
    };
    result.scores.push_back({"loss", loss(losses[1]) - loss(losses[0])});
    slope = pair.gradient(0, at) - pair.gradient(1, at);
    first_slope = pair.gradient(0, start) - pair.gradient(1, start);
  }
  const double norm = first_slope.norm();
  result.scores.push_back({"gradient_norm", -slope.norm()});
  result.scores.push_back({"projection", norm > 0.0 ? -(at - start).dot(first_slope) / norm : 0.0});
  if (of.ratios[policy]) result.scores.push_back({"likelihood_ratio", (*of.ratios[policy])(at)});
}

void ConvexTrials::summarise(const Pair& of, const VectorXd& at, WorldResult& result) const {
  result.training_accuracy = result.test_accuracy = kNaN;
  if (of.records.empty()) {
    const QuadraticSpec& f = problem_.study().model.quadratic;
    result.training_loss = 0.5 * (at - f.minimiser).dot(f.curvature * (at - f.minimiser));
    result.largest_loss = kNaN;
    return;
  }
  const bool classes = problem_.study().model.kind == ModelKind::logistic;
  double sum = 0.0, largest = 0.0;
  std::size_t right = 0;
  std::vector<float> losses;
  for (const Record& record : of.records) {
    const double loss = problem_.record_loss(record, at);
    sum += loss;
    largest = std::max(largest, loss);
    right += (record.features.dot(at) > 0.0) == (record.target == 1.0) ? 1U : 0U;
    losses.push_back(static_cast<float>(loss));
  }
  const auto count = static_cast<double>(of.records.size());
  result.training_loss = sum / count;
  result.largest_loss = largest;
  if (!classes) return;  // a squared error is no confidence
  result.training_accuracy = static_cast<double>(right) / count;
  if (problem_.study().audit.record_losses) {
    result.series.push_back({"record_losses", std::move(losses)});
  }
}

void ConvexTrials::train(std::uint64_t draw, std::uint64_t seed,
                         const std::vector<std::size_t>& worlds, std::vector<TrialResult>& results,
                         Observer& observer) const {
  const auto of = pairs_.get(draw, [&] { return make_pair(draw); });
  const ConvexPair& pair = of->pair;
  const Training& training = problem_.study().train;
  const Stream stream(StreamKey(seed, Purpose::noise));
  const VectorXd origin = VectorXd::Zero(problem_.parameters());
  std::vector<Model> models;
  Eigen::Index width = 0;
  for (std::size_t policy = 0; policy < results.size(); ++policy) {
    const Covariance& noise = problem_.step_noises()[policy];
    for (const std::size_t world : worlds) {
      models.push_back({policy, world, StepNoise(noise), StepDivergence(noise), origin});
      width = std::max(width, models.back().noise.normals(problem_.parameters()));
    }
  }
  VectorXd normals(width);  // of one step, the same for all models
  for (std::uint64_t step = 0; step < training.iterations; ++step) {
    if (step % kStepsBetweenLooks == 0) {
      observer.progress("training", step, training.iterations);
      if (observer.stop_requested()) return;
    }
    stream.fill_normal(step, 0, std::span(normals.data(), static_cast<std::size_t>(width)));
    for (Model& model : models) {
      if (model.diverged_at) continue;
      const VectorXd move = pair.step * pair.gradient(model.world, model.at);
      if (training.path_kl) {
        const VectorXd other = pair.step * pair.gradient(1 - model.world, model.at);
        model.measure(model.divergence(move - other));
      }
      model.at -= move;
      model.noise.add(normals, model.at);
      if (!model.at.allFinite()) model.diverged_at = step;
    }
  }
  observer.progress("training", training.iterations, training.iterations);
  for (const Model& model : models) {
    WorldResult result;
    result.diverged_at = model.diverged_at;
    result.path_kl = training.path_kl ? model.path_kl : kNaN;
    result.infinite_steps = model.infinite_steps;
    if (model.diverged_at) {
      result.training_loss = result.largest_loss = kNaN;
      result.training_accuracy = result.test_accuracy = kNaN;
      results[model.policy].status = TrialStatus::diverged;
    } else {
      summarise(*of, model.at, result);
      score(*of, model.policy, model.at, result);
    }
    results[model.policy].worlds[model.world] = std::move(result);
  }
}

}  // namespace sfumato::lab
