#include "sfumato/divergence/matched_pair.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/fisher_box.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/divergence/shift_bound.hpp"
#include "sfumato/math/interval_arithmetic.hpp"
#include "sfumato/math/singular_values.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/precise/careful.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const char* const kMethod = "matched process, from constants";
const char* const kNoRange = "no finite range of the drifts' difference is proven";

MatrixXd principal(const MatrixXd& m, const std::vector<Index>& rows) {
  MatrixXd result(static_cast<Index>(rows.size()), static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      result(static_cast<Index>(i), static_cast<Index>(j)) = m(rows[i], rows[j]);
    }
  }
  return result;
}

VectorXd part(const VectorXd& v, const std::vector<Index>& rows) {
  VectorXd result(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) result(static_cast<Index>(i)) = v(rows[i]);
  return result;
}

/// The Jacobian where it is one symmetric matrix everywhere, of a drift that does not depend on time.
std::optional<OuProcess> linear_process(const Diffusion& diffusion) {
  const DriftFormulas& formulas = *diffusion.formulas;
  const auto time = static_cast<std::size_t>(formulas.dimension());
  for (const Expression& formula : formulas.drift) {
    if (formula.depends_on(time)) return std::nullopt;
  }
  for (const Expression& slope : formulas.jacobian) {
    for (std::size_t i = 0; i < slope.variables(); ++i) {
      if (slope.depends_on(i)) return std::nullopt;
    }
  }
  const VectorXd origin = VectorXd::Zero(formulas.dimension());
  const MatrixXd jacobian = formulas.jacobian_at(0.0, origin);
  if (jacobian != jacobian.transpose()) return std::nullopt;
  return OuProcess{-jacobian, formulas.at(0.0, origin), *constant_noise(diffusion)};
}

/// E|X_s - x*|^2 of a drift that pulls towards where it vanishes, and b - b' there (Spec §7.3).
class MeanSquare {
 public:
  MeanSquare(const StartedDiffusion& p, const DriftFormulas& q, const MatrixXd& metric_root)
      : trace_(trace(*constant_noise(p.diffusion))) {
    const DriftFormulas& b = *p.diffusion.formulas;
    const Index d = b.dimension();
    kappa_ =
        p.diffusion.jacobian ? box_contraction(*p.diffusion.jacobian, Isotropic{1.0, d}) : -kInf;
    const auto range = gap_range(b, q);
    const auto time = static_cast<std::size_t>(d);
    const bool timed = std::any_of(b.drift.begin(), b.drift.end(),
                                   [&](const Expression& f) { return f.depends_on(time); }) ||
                       std::any_of(q.drift.begin(), q.drift.end(),
                                   [&](const Expression& f) { return f.depends_on(time); });
    if (!(kappa_ > 0.0) || !range || timed) return;
    // N^{1/2} times the largest entries of Da bounds the Lipschitz constant of a from |.| to |.|_N.
    const MatrixXd largest = range->slope.lower.cwiseAbs().cwiseMax(range->slope.upper.cwiseAbs());
    if (!largest.allFinite()) return;
    lipschitz_ = singular_values(metric_root.cwiseAbs() * largest)(0) * (1.0 + 1e-12);
    const double rate = kappa_;
    VectorXd x = p.start.mean;
    for (int i = 0; i < 60; ++i) {
      const VectorXd step = b.jacobian_at(0.0, x).partialPivLu().solve(b.at(0.0, x));
      if (!step.allFinite()) return;
      x -= step;
    }
    // |b(x*)| is not 0 but small: 2 r sqrt(u) <= 1e-6 kappa u + r^2 / (1e-6 kappa).
    const double rest = size_at(b, x);
    trace_ += rest * rest / (1e-6 * rate);
    kappa_ = rate * (1.0 - 1e-6);
    start_ = mean_squared_distance(p.start, x);
    at_centre_ = gap_size_at(b, q, x, metric_root);
    known_ = std::isfinite(start_ + trace_ + at_centre_);
  }

  [[nodiscard]] bool known() const { return known_; }
  /// E |a(X_s)|_N^2 at most.
  [[nodiscard]] double squared_gap(double time) const {
    const double u = mean_square_distance_bound(trace_, kappa_, start_, time);
    const double size = at_centre_ + lipschitz_ * std::sqrt(u);
    return size * size * (1.0 + 1e-12);
  }
  /// The time in which it changes.
  [[nodiscard]] double time_scale() const { return 0.1 / kappa_; }

 private:
  double trace_;
  double kappa_ = -kInf;
  double lipschitz_ = 0.0;
  double start_ = 0.0;
  double at_centre_ = 0.0;
  bool known_ = false;
};

/// E|X_s - centre|^2 of any drift that pulls back from far away, by its growth (Spec §27.17), for differences that grow
/// linearly: e <= base + factor |x - centre|^2 everywhere.
class Growth {
 public:
  Growth(const StartedDiffusion& p, const DriftFormulas& q, const MatrixXd& metric,
         const MatrixXd& noise_gap)
      : start_(mean_squared_distance(p.start, p.start.mean)) {
    const DriftFormulas& b = *p.diffusion.formulas;
    const double noise = trace(*constant_noise(p.diffusion));
    for (double rate = 0.03; rate < 200.0; rate *= 2.5) {
      const double gain = noise + std::max(0.0, largest_growth(b, p.start.mean, rate));
      if (gain < kInf) decays_.push_back({rate, gain});
    }
    if (decays_.empty()) return;
    const double unit = metric.norm();
    for (double factor = 1e-4; factor < 1e3; factor *= 3.0) {
      const double base = rate_range(b, q, metric, noise_gap, {p.start.mean, factor * unit}).upper;
      if (base < kInf) rates_.push_back({factor * unit, base});
    }
  }

  [[nodiscard]] bool known() const { return !rates_.empty(); }
  /// E e(X_s) at most.
  [[nodiscard]] double drift_part(double time) const {
    double moment = kInf;
    for (const Pair& decay : decays_) {
      const double left = time < kInf ? std::exp(-decay.factor * time) : 0.0;
      moment = std::min(moment, start_ * left + decay.value / decay.factor * (1.0 - left));
    }
    double best = kInf;
    for (const Pair& rate : rates_) best = std::min(best, rate.value + rate.factor * moment);
    return std::max(0.0, best) * (1.0 + 1e-12);
  }
  /// The time in which it changes: the fastest decay is the last.
  [[nodiscard]] double time_scale() const { return 0.1 / decays_.back().factor; }

 private:
  struct Pair {
    double factor;
    double value;
  };
  double start_;
  std::vector<Pair> decays_;  ///< rate, and what is gained per time
  std::vector<Pair> rates_;   ///< factor of the paraboloid, and the largest rest
};

/// Everything of one block in one metric.
class BlockBound {
 public:
  BlockBound(const SdePair& pair, const MetricRate& rate) : pair_(pair), kappa_(rate.kappa) {
    const MatrixXd noise = dense(*constant_noise(pair.p.diffusion));
    const MatrixXd noise_prime = dense(*constant_noise(pair.q.diffusion));
    const Index d = noise.rows();
    // N is a little larger than S^{-1}, so that it is at least Sigma'^{-1} in spite of rounding: as W^T W with W L = I it
    // errs by eps cond(S) in the order of symmetric matrices, where a solution by columns may err by its power 3/2.
    const Eigen::LLT<MatrixXd> root(dense(rate.metric));
    const double rounding = (1.0 + 1e-12) * std::pow(rounding_of_metric(rate.metric), 4);
    const MatrixXd metric_root =
        root.matrixL().solve(MatrixXd::Identity(d, d)) * std::sqrt(rounding);
    const MatrixXd metric = metric_root.transpose() * metric_root;
    const MatrixXd symmetric = 0.5 * (metric + metric.transpose());
    const MatrixXd gap =
        same_matrix(*constant_noise(pair.p.diffusion), *constant_noise(pair.q.diffusion))
            ? MatrixXd::Zero(d, d)
            : MatrixXd(0.5 * (noise_prime - noise));
    weight_ = gap * symmetric * gap;
    const DriftFormulas& b = *pair.p.diffusion.formulas;
    const DriftFormulas& b_prime = *pair.q.diffusion.formulas;
    drift_part_ = std::max(0.0, rate_range(b, b_prime, symmetric, gap).upper);
    if (std::isnan(drift_part_)) drift_part_ = kInf;
    const double largest = squared_gap_range(b, b_prime, symmetric).upper;
    largest_gap_ = largest < kInf ? std::sqrt(std::max(0.0, largest)) : kInf;
    if (drift_part_ < kInf || largest_gap_ < kInf) return;
    growth_.emplace(pair.p, b_prime, symmetric, gap);
    moments_.emplace(pair.p, b_prime, metric_root);
    const auto range = gap_range(b, b_prime);
    divergence_ = kInf;
    if (range && moments_->known()) {
      // -2 tr(M N Da) over the box of Da.
      Interval sum = just(0.0);
      const MatrixXd factor = -2.0 * gap * symmetric;
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j < d; ++j) {
          const double slack = 1e-14 * std::abs(factor.norm());
          if (gap.isZero(0.0)) continue;
          sum = sum + Interval{factor(i, j) - slack, factor(i, j) + slack} *
                          Interval{range->slope.lower(j, i), range->slope.upper(j, i)};
        }
      }
      divergence_ = sum.upper;
    }
  }

  /// Whether some rate is finite.
  [[nodiscard]] bool known() const {
    return drift_part_ < kInf || largest_gap_ < kInf || divergence_ < kInf ||
           (growth_ && growth_->known());
  }
  [[nodiscard]] bool needs_fisher() const { return !weight_.isZero(0.0); }
  [[nodiscard]] const MatrixXd& weight() const { return weight_; }

  /// delta_s for tr(P J_s) <= fisher.
  [[nodiscard]] double delta(double time, double fisher) const {
    double squared = drift_part_ + fisher;
    const double sum = largest_gap_ + std::sqrt(fisher);
    squared = std::min(squared, sum * sum);
    if (moments_ && moments_->known() && divergence_ < kInf) {
      squared =
          std::min(squared, std::max(0.0, moments_->squared_gap(time) + divergence_ + fisher));
    }
    if (growth_ && growth_->known())
      squared = std::min(squared, growth_->drift_part(time) + fisher);
    return std::sqrt(squared);
  }

  /// `flow` empty: no Fisher information is needed.
  [[nodiscard]] double bound(const FisherFlow* flow, const FisherInformation& start,
                             double time) const {
    // The shortest of all times in which delta changes.
    double scale = kInf;
    if (moments_ && moments_->known() && divergence_ < kInf) scale = moments_->time_scale();
    if (growth_ && growth_->known()) scale = std::min(scale, growth_->time_scale());
    if (flow != nullptr) {
      return flow_shift_bound(
          *flow, start, *constant_noise(pair_.p.diffusion), weight_, scale,
          [&](double s, double fisher) { return delta(s, fisher); }, kappa_, time);
    }
    const double limit = time < kInf ? kInf : delta(kInf, 0.0);
    if (time < kInf) scale = std::min(scale, time);
    return shift_bound({[&](double s) { return delta(s, 0.0); }, scale, limit}, kappa_, time);
  }

 private:
  const SdePair& pair_;
  double kappa_;
  MatrixXd weight_;
  double drift_part_ = kInf;   ///< sup e
  double largest_gap_ = kInf;  ///< sup |a|_N
  double divergence_ = kInf;   ///< sup of -2 tr(M N Da), for the moments
  std::optional<MeanSquare> moments_;
  std::optional<Growth> growth_;
};

/// The information of a normal start; none, as of a point, where its variance is singular.
FisherInformation start_information(const GaussianDistribution& start) {
  if (!is_definite(start.covariance)) return std::nullopt;
  return solve(start.covariance, MatrixXd::Identity(start.mean.size(), start.mean.size()));
}

KlBound block_bound(const SdePair& pair, double time) {
  const auto& noise = *constant_noise(pair.p.diffusion);
  const auto& noise_prime = *constant_noise(pair.q.diffusion);
  const double start = start_kl(pair.p.start, pair.q.start);
  if (same_equation(pair) && start < kInf) return kl_bound(start, kMethod);
  if (pair.linear) {
    try {
      return kl_bound(exact_kl(*pair.linear, time).value.value(), kMethod);
    } catch (const NumericalFailure& failure) {
      return no_bound(kMethod, failure.advice());
    }
  }
  if (start == kInf) return no_bound(kMethod, kStartsApart);
  const std::vector<MetricRate> metrics = contraction_metrics(pair.q.diffusion, noise_prime);
  if (metrics.empty())
    return no_bound(kMethod, "no contraction rate of the second drift is proven");
  std::string reason = kNoRange;
  double best = kInf;
  for (const MetricRate& metric : metrics) {
    const BlockBound block(pair, metric);
    if (!block.known()) continue;
    if (!block.needs_fisher()) {
      best = std::min(best, block.bound(nullptr, {}, time));
      continue;
    }
    const std::optional<JacobianBox>& box = pair.p.diffusion.jacobian;
    if (!box || !box->lower.allFinite() || !box->upper.allFinite()) {
      reason = "the Jacobian of the first drift has no finite range, which different noise needs";
      continue;
    }
    const auto [middle, radii] = centred(*box);
    const MatrixXd spread =
        jacobian_spread(radii, noise) * (1.0 + 1e-14) * rounding_of_metric(noise);
    const FisherInformation information = start_information(pair.p.start);
    best = std::min(
        best,
        best_flow_bound(
            middle, spread, noise, block.weight(),
            [&](const FisherFlow& flow) { return block.bound(&flow, information, time); }, reason));
  }
  if (best < kInf) return kl_bound(start + best, kMethod);
  if (time == kInf && metrics.front().kappa <= 0.0) {
    reason = "the second drift is not proven to contract; ask for a finite time";
  }
  return no_bound(kMethod, reason);
}

std::string listed(const std::vector<Index>& block) {
  std::vector<std::string> names;
  for (const Index i : block) names.push_back(fmt::format("x{}", i + 1));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

/// Why a pair has no such bound at all; empty when it may have one.
std::string obstacle(const SdePair& pair) {
  if (pair.p.diffusion.formulas == nullptr || pair.q.diffusion.formulas == nullptr) {
    return "needs drifts by formulas";
  }
  const Covariance* noise = constant_noise(pair.p.diffusion);
  const Covariance* noise_prime = constant_noise(pair.q.diffusion);
  if (noise == nullptr || noise_prime == nullptr) return "needs constant noise";
  if (!is_definite(*noise) || !is_definite(*noise_prime)) return "needs noise in every direction";
  return {};
}

}  // namespace

std::vector<std::vector<Index>> independent_blocks(const SdePair& pair) {
  if (!obstacle(pair).empty()) return {};
  const Index d = pair.p.diffusion.dimension;
  const std::vector<MatrixXd> matrices = {
      dense(*constant_noise(pair.p.diffusion)), dense(*constant_noise(pair.q.diffusion)),
      dense(pair.p.start.covariance), dense(pair.q.start.covariance)};
  const auto connected = [&](Index i, Index j) {
    return pair.p.diffusion.formulas->depends(i, j) || pair.p.diffusion.formulas->depends(j, i) ||
           pair.q.diffusion.formulas->depends(i, j) || pair.q.diffusion.formulas->depends(j, i) ||
           std::any_of(matrices.begin(), matrices.end(),
                       [&](const MatrixXd& m) { return m(i, j) != 0.0; });
  };
  std::vector<std::vector<Index>> blocks;
  std::vector<bool> seen(static_cast<std::size_t>(d), false);
  for (Index first = 0; first < d; ++first) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    std::vector<Index> block = {first};
    seen[static_cast<std::size_t>(first)] = true;
    for (std::size_t k = 0; k < block.size(); ++k) {
      for (Index j = 0; j < d; ++j) {
        if (seen[static_cast<std::size_t>(j)] || !connected(block[k], j)) continue;
        seen[static_cast<std::size_t>(j)] = true;
        block.push_back(j);
      }
    }
    std::sort(block.begin(), block.end());
    blocks.push_back(std::move(block));
  }
  return blocks;
}

SdePair restricted(const SdePair& pair, const std::vector<Index>& coordinates) {
  const auto side = [&](const StartedDiffusion& from) {
    StartedDiffusion result;
    Diffusion& diffusion = result.diffusion;
    diffusion.dimension = static_cast<Index>(coordinates.size());
    auto formulas =
        std::make_shared<const DriftFormulas>(restricted(*from.diffusion.formulas, coordinates));
    diffusion.formulas = formulas;
    diffusion.drift = [formulas](double time, const ConstPoints& at, MutablePoints out) {
      const double times[] = {time};
      for (Index i = 0; i < at.cols(); ++i) {
        formulas->drift[static_cast<std::size_t>(i)].evaluate(at, times, out.col(i));
      }
    };
    diffusion.noise =
        Covariance(Dense{principal(dense(*constant_noise(from.diffusion)), coordinates)});
    if (from.diffusion.jacobian) {
      diffusion.jacobian = JacobianBox{principal(from.diffusion.jacobian->lower, coordinates),
                                       principal(from.diffusion.jacobian->upper, coordinates)};
      diffusion.contraction = [box = *diffusion.jacobian](const Covariance& metric) {
        return box_contraction(box, metric);
      };
    }
    result.start = {part(from.start.mean, coordinates),
                    Dense{principal(dense(from.start.covariance), coordinates)}};
    return result;
  };
  SdePair result{side(pair.p), side(pair.q)};
  const auto p = linear_process(result.p.diffusion), q = linear_process(result.q.diffusion);
  if (p && q) result.linear = OuPair{*p, result.p.start, *q, result.q.start};
  return result;
}

bool same_equation(const SdePair& pair) {
  if (!obstacle(pair).empty() ||
      !same_matrix(*constant_noise(pair.p.diffusion), *constant_noise(pair.q.diffusion))) {
    return false;
  }
  const auto range = gap_range(*pair.p.diffusion.formulas, *pair.q.diffusion.formulas);
  return range && std::all_of(range->gap.begin(), range->gap.end(), [](const Interval& gap) {
           return gap.lower == 0.0 && gap.upper == 0.0;
         });
}

std::vector<MetricRate> contraction_metrics(const Diffusion& diffusion, const Covariance& noise) {
  if (!diffusion.contraction) return {};
  std::vector<MetricRate> metrics;
  const auto add = [&](Covariance metric) {
    const double rate = diffusion.contraction(metric);
    if (std::isfinite(rate)) metrics.push_back({std::move(metric), rate});
  };
  add(noise);
  if (!isotropic_variance(noise)) {
    const Spectrum spectrum = spectrum_of(dense(noise));
    const double least =
        spectrum.values.minCoeff() - (spectrum.is_diagonal() ? 0.0 : rounding_of(spectrum));
    if (least > 0.0) add(Isotropic{least, dimension(noise)});
  }
  return metrics;
}

KlBound matched_constants_bound(const SdePair& pair, double time) {
  require_non_negative("time", time);
  if (const std::string why = obstacle(pair); !why.empty()) return no_bound(kMethod, why);
  const auto blocks = independent_blocks(pair);
  double sum = 0.0;
  for (const auto& block : blocks) {
    const KlBound bound = block_bound(restricted(pair, block), time);
    if (!bound.reason.empty()) return bound;
    sum += bound.kl.value.value();
  }
  return kl_bound(sum, kMethod);
}

std::vector<std::string> derived_constants(const SdePair& pair) {
  std::vector<std::string> facts;
  if (!obstacle(pair).empty()) return facts;
  const auto blocks = independent_blocks(pair);
  if (blocks.size() > 1) {
    std::vector<std::string> names;
    for (const auto& block : blocks) names.push_back(listed(block));
    facts.push_back(fmt::format(
        "the coordinates fall into independent blocks {}, whose relative entropies add up",
        fmt::join(names, ", ")));
  }
  const auto range = gap_range(*pair.p.diffusion.formulas, *pair.q.diffusion.formulas);
  if (range) {
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < range->gap.size(); ++i) {
      const Interval gap = range->gap[i];
      if (gap.lower == 0.0 && gap.upper == 0.0) continue;
      ranges.push_back(is_bounded(gap) ? fmt::format("(b - b')_{} in [{:.6g}, {:.6g}]", i + 1,
                                                     gap.lower, gap.upper)
                                       : fmt::format("(b - b')_{} has no proven range", i + 1));
    }
    facts.push_back(ranges.empty() ? std::string("the drifts are the same: their formulas cancel")
                                   : fmt::format("{} for all x, by interval arithmetic",
                                                 fmt::join(ranges, ", ")));
  }
  for (const auto& [diffusion, name] :
       {std::pair{&pair.p.diffusion, "D"}, std::pair{&pair.q.diffusion, "D'"}}) {
    const std::vector<MetricRate> metrics =
        contraction_metrics(*diffusion, *constant_noise(*diffusion));
    if (metrics.empty()) continue;
    const double rate = metrics.front().kappa;
    facts.push_back(fmt::format(
        "the drift of {} {} {:.6g} in the metric of its noise, from the box of its Jacobian", name,
        rate > 0.0 ? "contracts at rate" : "pushes apart at most at rate", std::abs(rate)));
  }
  return facts;
}

}  // namespace sfumato
