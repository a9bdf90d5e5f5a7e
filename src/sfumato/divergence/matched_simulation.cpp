#include "sfumato/divergence/matched_simulation.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/divergence/shift_bound.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/euler_maruyama.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd inverse_of(const MatrixXd& m) {
  return Eigen::LLT<MatrixXd>(m).solve(MatrixXd::Identity(m.rows(), m.cols()));
}

/// R with R R^T = m for m >= 0.
MatrixXd root_of(const MatrixXd& m) {
  const SymmetricEigen eigen(0.5 * (m + m.transpose()));
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

bool is_constant(const Expression& formula) {
  for (std::size_t i = 0; i < formula.variables(); ++i) {
    if (formula.depends_on(i)) return false;
  }
  return true;
}

void evaluate(const Expression& formula, double time, const ConstPoints& at, ArrayXd& out) {
  out.resize(at.rows());
  formula.evaluate(at, std::array{time}, out);
}

/// e(x) = |a|_N^2 - 2 tr(M N Da) of many points, `divergence_weight` being -2 M N.
ArrayXd drift_part(const DriftFormulas& p, const DriftFormulas& q, const MatrixXd& metric,
                   const MatrixXd& divergence_weight, double time, const ConstPoints& at) {
  const Index d = p.dimension();
  Eigen::ArrayXXd gap(at.rows(), d);
  ArrayXd first, second;
  for (Index i = 0; i < d; ++i) {
    evaluate(p.drift[static_cast<std::size_t>(i)], time, at, first);
    evaluate(q.drift[static_cast<std::size_t>(i)], time, at, second);
    gap.col(i) = first - second;
  }
  ArrayXd sum = (gap * (gap.matrix() * metric).array()).rowwise().sum();
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double weight = divergence_weight(i, j);  // of Da_ji
      if (weight == 0.0) continue;
      evaluate(p.slope(j, i), time, at, first);
      evaluate(q.slope(j, i), time, at, second);
      sum += weight * (first - second);
    }
  }
  return sum;
}

/// Means over paths of what the recursion of the Fisher information needs at one node.
struct NodeMoments {
  double count = 0.0;
  double drift_part = 0.0;
  MatrixXd slope = {};   ///< sum of Db - reference
  MatrixXd square = {};  ///< sum of (Db - reference)^T S^{-1} (Db - reference)
  MatrixXd second = {};  ///< sum of (x - origin)(x - origin)^T, of the last node alone
  VectorXd first = {};
  double size = 0.0;  ///< sum of |Db|_F^2
  double gone = 0.0;  ///< paths that left the numbers, of the last node alone
};

/// A chain with its pilot's means.
class Pilot {
 public:
  Pilot(const DriftFormulas& p, const DriftFormulas& q, const MatrixXd& noise,
        const MatrixXd& metric, const MatrixXd& divergence_weight, double step)
      : p_(p),
        q_(q),
        precision_(inverse_of(step * noise)),
        metric_(metric),
        divergence_weight_(divergence_weight) {}

  [[nodiscard]] NodeMoments moments(double time, const ConstPoints& at,
                                    const MatrixXd& reference) const {
    const Index d = p_.dimension();
    NodeMoments result{static_cast<double>(at.rows()), 0.0, MatrixXd::Zero(d, d),
                       MatrixXd::Zero(d, d)};
    result.size = result.count * reference.squaredNorm();
    result.drift_part = drift_part(p_, q_, metric_, divergence_weight_, time, at).sum();
    struct Entry {
      Index i, j;
      ArrayXd value;
    };
    std::vector<Entry> entries;
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j < d; ++j) {
        if (is_constant(p_.slope(i, j))) continue;
        Entry entry{i, j, {}};
        evaluate(p_.slope(i, j), time, at, entry.value);
        result.size += entry.value.square().sum() - result.count * std::pow(reference(i, j), 2);
        entry.value -= reference(i, j);
        result.slope(i, j) = entry.value.sum();
        entries.push_back(std::move(entry));
      }
    }
    for (const Entry& a : entries) {
      for (const Entry& b : entries) {
        const double weight = precision_(a.i, b.i);
        if (weight != 0.0) result.square(a.j, b.j) += weight * (a.value * b.value).sum();
      }
    }
    return result;
  }

 private:
  const DriftFormulas& p_;
  const DriftFormulas& q_;
  MatrixXd precision_;
  const MatrixXd& metric_;
  const MatrixXd& divergence_weight_;
};

}  // namespace

PathStatistic::PathStatistic(const DriftFormulas& p, const DriftFormulas& q, const MatrixXd& noise,
                             const MatrixXd& noise_prime, const MatrixXd& metric, double step,
                             PathWeights weights, const FisherInformation& start)
    : p_(p), q_(q), step_(step), metric_(metric), weights_(std::move(weights)) {
  const Index d = p.dimension();
  require_size("the nodes", static_cast<std::ptrdiff_t>(weights_.nodes.size()),
               static_cast<std::ptrdiff_t>(weights_.gains.size()) + 1);
  const MatrixXd gap = 0.5 * (noise_prime - noise);
  divergence_weight_ = -2.0 * gap * metric;
  const MatrixXd weight = gap * metric * gap;  // P
  whitening_ = Eigen::LLT<MatrixXd>(step * noise).matrixL().solve(MatrixXd::Identity(d, d));
  const std::size_t n = weights_.gains.size();
  theta_.assign(n + 1, MatrixXd::Zero(d, d));
  rest_.resize(n);
  pulled_.resize(n);
  theta_[n] = weights_.nodes[n] * weight;
  for (std::size_t k = n; k-- > 0;) {
    const MatrixXd& gain = weights_.gains[k];
    theta_[k] = weights_.nodes[k] * weight + gain * theta_[k + 1] * gain.transpose();
    const MatrixXd root = root_of(theta_[k + 1]);
    pulled_[k] = gain * root;
    rest_[k] = whitening_ * (root - pulled_[k]);
  }
  fixed_ = weights_.constant + (start ? theta_[0].cwiseProduct(*start).sum() : 0.0);
}

void PathStatistic::add_node(std::size_t k, double time, const ConstPoints& at,
                             ArrayXd& sums) const {
  if (weights_.nodes[k] != 0.0) {
    sums += weights_.nodes[k] * drift_part(p_, q_, metric_, divergence_weight_, time, at);
  }
  if (k == pulled_.size() || theta_[k + 1].isZero(0.0)) return;
  // S^{-1/2} ((I - g) - h Db g) Th^{1/2}: what varies with the path are a few entries of Db.
  const Index d = p_.dimension();
  const MatrixXd& pulled = pulled_[k];
  MatrixXd fixed = MatrixXd::Zero(d, d);
  std::vector<std::pair<std::pair<Index, Index>, ArrayXd>> varying;
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      const Expression& slope = p_.slope(i, j);
      if (is_constant(slope)) {
        fixed(i, j) = slope.at(std::vector<double>(slope.variables(), 0.0));
      } else if (!pulled.row(j).isZero(0.0)) {
        ArrayXd value;
        evaluate(slope, time, at, value);
        varying.push_back({{i, j}, std::move(value)});
      }
    }
  }
  const MatrixXd base = rest_[k] - step_ * whitening_ * fixed * pulled;
  ArrayXd entry(at.rows());
  for (Index row = 0; row < d; ++row) {
    for (Index column = 0; column < d; ++column) {
      entry.setConstant(base(row, column));
      for (const auto& [place, value] : varying) {
        const double factor = step_ * whitening_(row, place.first) * pulled(place.second, column);
        if (factor != 0.0) entry -= factor * value;
      }
      sums += entry.square();
    }
  }
}

namespace {

/// Everything of one chain length.
class Simulation {
 public:
  Simulation(const StartedDiffusion& p, const Diffusion& q, double kappa, const Covariance& metric,
             double time, std::uint64_t steps, const MatchedSimulationOptions& options,
             std::uint64_t run)
      : start_(p.start),
        p_(*p.diffusion.formulas),
        q_(*q.formulas),
        noise_(dense(*constant_noise(p.diffusion))),
        noise_prime_(dense(*constant_noise(q))),
        metric_(inverse_of(dense(metric))),
        kappa_(kappa),
        time_(time),
        steps_(steps),
        step_(time / static_cast<double>(steps)),
        pilot_chain_(p.diffusion, p.start, {options.seed, 2 * run}),
        chain_(p.diffusion, p.start, {options.seed, 2 * run + 1}),
        options_(options) {
    gap_ = 0.5 * (noise_prime_ - noise_);
    weight_ = gap_ * metric_ * gap_;
    divergence_weight_ = -2.0 * gap_ * metric_;
    equal_noise_ = gap_.isZero(0.0);
    if (is_definite(p.start.covariance)) fisher_ = inverse_of(dense(p.start.covariance));
  }

  [[nodiscard]] double node(std::size_t k) const { return step_ * static_cast<double>(k); }
  /// e^{kappa (s - reference)}, as in shift_bound.
  [[nodiscard]] double weight(double s) const {
    return std::exp(kappa_ >= 0.0 ? kappa_ * (s - time_) : kappa_ * s);
  }

  /// Means over the pilot's paths, then gains, rates and the hull.
  PathWeights choose(Observer& observer) {
    const std::size_t n = steps_;
    const Index d = p_.dimension();
    const VectorXd origin = start_.mean;
    std::vector<MatrixXd> reference;
    for (std::size_t k = 0; k <= n; ++k) reference.push_back(p_.jacobian_at(node(k), origin));
    const Pilot pilot(p_, q_, noise_, metric_, divergence_weight_, step_);
    const auto size = static_cast<std::uint64_t>(pilot_chain_.block_size());
    std::vector<std::vector<NodeMoments>> blocks((options_.pilot_paths + size - 1) / size);
    (void)parallel_blocks(
        {"pilot paths", options_.pilot_paths, size, options_.threads}, observer,
        [&](std::uint64_t first, std::uint64_t last) {
          auto& own = blocks[first / size];
          const auto gone =
              walk(pilot_chain_, first, last, observer, [&](std::size_t k, const Points& x) {
                own.push_back(pilot.moments(node(k), x, reference[k]));
                if (k == n) {
                  const MatrixXd centred = x.matrix().rowwise() - origin.transpose();
                  own.back().second = centred.transpose() * centred;
                  own.back().first = centred.colwise().sum().transpose();
                }
              });
          own.back().gone = static_cast<double>(gone.size());
        });
    throw_if_stopped(observer);
    PathWeights weights;
    weights.nodes.assign(n + 1, 0.0);
    for (const auto& block : blocks) gone_ += block[n].gone;
    if (gone_ > 0.0) return weights;
    std::vector<double> rate(n + 1, 0.0);
    FisherInformation fisher = fisher_;
    for (std::size_t k = 0; k <= n; ++k) {
      NodeMoments sum{0.0, 0.0, MatrixXd::Zero(d, d), MatrixXd::Zero(d, d)};
      for (const auto& block : blocks) {
        sum.count += block[k].count;
        sum.drift_part += block[k].drift_part;
        sum.slope += block[k].slope;
        sum.square += block[k].square;
        sum.size += block[k].size;
      }
      rate[k] = sum.drift_part / sum.count;
      stiffness_ = std::max(stiffness_, std::sqrt(sum.size / sum.count));
      if (!std::isfinite(rate[k] + sum.size)) {  // their squares left the numbers first
        gone_ = sum.count;
        return weights;
      }
      if (!equal_noise_ && fisher) rate[k] += weight_.cwiseProduct(*fisher).sum();
      if (k == n) break;
      const MatrixXd mean = sum.slope / sum.count;
      const MatrixXd spread =
          sum.square / sum.count - mean.transpose() * inverse_of(step_ * noise_) * mean;
      const MatrixXd slope = MatrixXd::Identity(d, d) + step_ * (reference[k] + mean);
      FisherStep next =
          fisher_step(fisher, slope, step_ * step_ * positive(spread), step_ * noise_);
      fisher = next.next;
      weights.gains.push_back(std::move(next.gain));
    }
    last_fisher_ = *fisher;
    share_ = share_of(blocks);
    if (equal_noise_) {
      for (MatrixXd& gain : weights.gains) gain.setZero();
    }
    set_hull(rate, weights);
    return weights;
  }

  struct Outcome {
    Moments moments;
    std::uint64_t diverged = 0;
  };
  Outcome evaluate_paths(const PathWeights& weights, Observer& observer) {
    const PathStatistic statistic(p_, q_, noise_, noise_prime_, metric_, step_, weights, fisher_);
    const auto size = static_cast<std::uint64_t>(chain_.block_size());
    std::vector<Outcome> blocks((options_.paths + size - 1) / size);
    (void)parallel_blocks(
        {"paths", options_.paths, size, options_.threads}, observer,
        [&](std::uint64_t first, std::uint64_t last) {
          ArrayXd sums = ArrayXd::Constant(static_cast<Index>(last - first), statistic.fixed());
          const auto gone = walk(
              chain_, first, last, observer,
              [&](std::size_t k, const Points& x) { statistic.add_node(k, node(k), x, sums); });
          for (const Index j : gone) sums(j) = std::numeric_limits<double>::infinity();
          for (const double value : sums) blocks[first / size].moments.add(value);
        });
    throw_if_stopped(observer);
    Outcome total;
    for (const Outcome& block : blocks) total.moments.merge(block.moments);
    total.diverged = total.moments.not_finite();
    return total;
  }

  [[nodiscard]] double fisher_share() const { return share_; }
  /// Of the pilot.
  [[nodiscard]] std::uint64_t diverged() const { return static_cast<std::uint64_t>(gone_); }
  /// The steps for which half a step times the size of Db, in mean square over the pilot's paths, is 0.02 (27.7).
  [[nodiscard]] double steps_needed() const {
    const bool from_point = !fisher_ && !equal_noise_;
    return std::ceil(25.0 * time_ * std::max(stiffness_, from_point ? -kappa_ : 0.0));
  }

 private:
  static MatrixXd positive(const MatrixXd& m) {
    const MatrixXd root = root_of(m);
    return root * root.transpose();
  }

  /// Calls visit(k, points) at every node; returns the rows that left the numbers.
  template <class Visit>
  std::vector<Index> walk(const EulerMaruyama& chain, std::uint64_t first, std::uint64_t last,
                          const Observer& observer, Visit visit) const {
    PathBlock block;
    chain.start(first, static_cast<Index>(last - first), block);
    for (std::size_t k = 0; k <= steps_; ++k) {
      throw_if_stopped(observer);
      visit(k, block.x);
      if (k == steps_) break;
      chain.evaluate_drift(node(k), block);
      chain.draw(k, block);
      chain.advance(node(k), step_, std::sqrt(step_), block);
    }
    return block.diverged;
  }

  /// tr(P J_low) / tr(P Jhat) at the end, J_low = V^{-1} of the pilot's end points (27.10).
  [[nodiscard]] double share_of(const std::vector<std::vector<NodeMoments>>& blocks) const {
    if (equal_noise_) return std::numeric_limits<double>::quiet_NaN();
    const Index d = p_.dimension();
    MatrixXd second = MatrixXd::Zero(d, d);
    VectorXd first = VectorXd::Zero(d);
    double count = 0.0;
    for (const auto& block : blocks) {
      second += block.back().second;
      first += block.back().first;
      count += block.back().count;
    }
    const MatrixXd variance = second / count - (first / count) * (first / count).transpose();
    // f = x - E x: its gradient is the identity.
    const MatrixXd low = fisher_lower(-MatrixXd::Identity(d, d), variance);
    return weight_.cwiseProduct(low).sum() / weight_.cwiseProduct(last_fisher_).sum();
  }

  void set_hull(const std::vector<double>& rate, PathWeights& weights) const {
    const std::size_t n = steps_;
    const double largest = *std::max_element(rate.begin(), rate.end());
    const bool from_point = !fisher_ && !equal_noise_;
    std::vector<double> delta(n + 1), tau, length;
    for (std::size_t k = 0; k <= n; ++k) delta[k] = std::sqrt(std::max(rate[k], 1e-6 * largest));
    if (!(largest > 0.0)) return;  // identical problems: 0
    for (std::size_t i = 0; i < n; ++i) {
      const double end = node(i + 1), w = weight(end);
      if (kappa_ * end < -300.0) {  // nothing of the string is left but the path form
        for (const std::size_t k : {i, i + 1}) weights.nodes[k] += 0.25 * step_;
        continue;
      }
      tau.push_back(w * w * phi1(2.0 * kappa_, step_));
      length.push_back(0.5 * step_ * (weight(node(i)) * delta[i] + w * delta[i + 1]));
    }
    if (tau.empty()) return;
    if (from_point) {
      const double gap = std::sqrt(std::max(0.0, start_gap()));
      const double score = 2.0 * std::sqrt(step_ * weight_.cwiseProduct(inverse_of(noise_)).sum());
      length[0] = weight(step_) * (kappa_ < 0.0 ? std::exp(-2.0 * kappa_ * step_) : 1.0) *
                  (step_ * gap + score);
    }
    const std::vector<double> slopes = shift_hull(tau, length, 0.0).slopes;
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      if (from_point && i == 0) {
        weights.constant = 0.5 * slopes[0] * length[0];
        continue;
      }
      for (const std::size_t k : {i, i + 1}) {
        weights.nodes[k] += 0.25 * slopes[i] * step_ * weight(node(k)) / delta[k];
      }
    }
  }

  /// E |a|_N^2 at the start; of a normal distribution by its pilot's mean at node 0.
  [[nodiscard]] double start_gap() const {
    Points at(1, p_.dimension());
    if (trace(start_.covariance) == 0.0) {
      at.row(0) = start_.mean.transpose().array();
    } else {
      PathBlock block;
      pilot_chain_.start(0, 1000, block);
      at = block.x;
    }
    return drift_part(p_, q_, metric_, MatrixXd::Zero(p_.dimension(), p_.dimension()), 0.0, at)
        .mean();
  }

  GaussianDistribution start_;
  const DriftFormulas& p_;
  const DriftFormulas& q_;
  MatrixXd noise_, noise_prime_, metric_, gap_, weight_, divergence_weight_;
  double kappa_, time_;
  std::size_t steps_;
  double step_;
  EulerMaruyama pilot_chain_, chain_;
  MatchedSimulationOptions options_;
  bool equal_noise_ = false;
  FisherInformation fisher_;
  MatrixXd last_fisher_;
  double share_ = 0.0;
  double stiffness_ = 0.0;
  double gone_ = 0.0;
};

}  // namespace

MatchedEstimate matched_process_estimate(const StartedDiffusion& p, const Diffusion& q,
                                         double kappa, const Covariance& metric, double time,
                                         const MatchedSimulationOptions& options,
                                         Observer& observer) {
  require_size("the dimension of q", q.dimension, p.diffusion.dimension);
  require_finite("time", require_positive("time", time));
  require_finite("kappa", kappa);
  if (p.diffusion.formulas == nullptr || q.formulas == nullptr) {
    throw InvalidArgument("a drift has no formulas", "Give both drifts by formulas");
  }
  if ((p.diffusion.formulas->may_jump() || q.formulas->may_jump()) &&
      !same_matrix(*constant_noise(p.diffusion), *constant_noise(q))) {
    throw InvalidArgument("a drift may jump, where its Jacobian is not all of its change",
                          "Give a drift without jumps, or equal noise");
  }
  MatchedEstimate result{{}, {}, 0.0, options.steps, 0.0, 0, false};
  try {
    // The pilot says how stiff the drift is where the paths are; where they leave the numbers, shorter steps are tried.
    for (int attempt = 0;; ++attempt) {
      Simulation simulation(p, q, kappa, metric, time, result.steps, options, 0);
      PathWeights weights = simulation.choose(observer);
      const bool gone = simulation.diverged() > 0;
      const double needed =
          gone ? 8.0 * static_cast<double>(result.steps) : simulation.steps_needed();
      if (gone ? needed > static_cast<double>(options.most_steps) : attempt > 8) {
        result.diverged = simulation.diverged();
        return result;
      }
      if (needed > static_cast<double>(options.most_steps)) {
        result.steps_needed = needed;
        return result;
      }
      if (needed > 1.05 * static_cast<double>(result.steps) && attempt < 8) {
        result.steps = static_cast<std::uint64_t>(needed);
        continue;
      }
      const auto outcome = simulation.evaluate_paths(weights, observer);
      result.at_step = outcome.moments.mean();
      result.diverged = outcome.diverged;
      break;
    }
    if (result.diverged > 0) return result;
    Simulation simulation(p, q, kappa, metric, time, 2 * result.steps, options, 1);
    const PathWeights weights = simulation.choose(observer);
    result.diverged = simulation.diverged();
    if (result.diverged > 0) return result;
    const auto outcome = simulation.evaluate_paths(weights, observer);
    result.at_half_step = outcome.moments.mean();
    result.fisher_share = simulation.fisher_share();
    result.diverged = outcome.diverged;
  } catch (const Stopped&) {
    result.stopped = true;
  }
  return result;
}

}  // namespace sfumato
