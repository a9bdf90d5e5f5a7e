#include "sfumato/divergence/score_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/sde/noise_metric.hpp"
#include "sfumato/sde/simulate.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// out += factor * Sigma(time, at) vectors, row by row.
void add_noise_times(double factor, const Noise& noise, double time, const Points& at,
                     const Points& vectors, Points& out) {
  if (const auto* constant = std::get_if<Covariance>(&noise)) {
    out += factor * multiply(*constant, vectors.matrix().transpose()).transpose().array();
  } else if (const auto* diagonal = std::get_if<DiagonalNoise>(&noise)) {
    Points variances(at.rows(), at.cols());
    diagonal->variances(time, at, variances);
    out += factor * variances * vectors;
  } else {
    for (Index j = 0; j < at.rows(); ++j) {
      const MatrixXd sigma =
          std::get<MatrixNoise>(noise).covariance(time, at.row(j).matrix().transpose());
      out.row(j) += factor * (sigma * vectors.row(j).matrix().transpose()).transpose().array();
    }
  }
}

/// out += factor * h(time, at),  h = b - (1/2) div Sigma.
void add_flow(double factor, const Diffusion& diffusion, double time, const Points& at,
              Points& out) {
  Points value(at.rows(), at.cols());
  diffusion.drift(time, at, value);
  out += factor * value;
  if (const auto* diagonal = std::get_if<DiagonalNoise>(&diffusion.noise)) {
    diagonal->divergence(time, at, value);
    out -= 0.5 * factor * value;
  } else if (const auto* matrix = std::get_if<MatrixNoise>(&diffusion.noise)) {
    for (Index j = 0; j < at.rows(); ++j) {
      out.row(j) -= 0.5 * factor *
                    matrix->divergence(time, at.row(j).matrix().transpose()).transpose().array();
    }
  }
}

/// grad log of a normal density at each row.
Points gaussian_scores(const GaussianDistribution& distribution, const Points& at) {
  const MatrixXd gaps = at.matrix().transpose().colwise() - distribution.mean;
  return -solve(distribution.covariance, gaps).transpose().array();
}

struct Rates {
  double cross, naive;
};

/// Everything that the repetitions share.
struct Problem {
  const Diffusion& p;
  const GaussianDistribution& start_p;
  const Diffusion& q;
  const GaussianDistribution& start_q;
  const TimeGrid& grid;
  const ScoreEstimateOptions& options;
  NoiseMetric metric;

  [[nodiscard]] const Diffusion& scored() const {
    return options.form == ScoreForm::primal ? q : p;
  }
  [[nodiscard]] const GaussianDistribution& scored_start() const {
    return options.form == ScoreForm::primal ? start_q : start_p;
  }

  /// Phi (or Psi) at the points, from a score there.
  [[nodiscard]] Points phi(double time, const Points& at, const Points& score) const {
    Points result = Points::Zero(at.rows(), at.cols());
    add_noise_times(0.5, q.noise, time, at, score, result);
    add_noise_times(-0.5, p.noise, time, at, score, result);
    add_flow(1.0, p, time, at, result);
    add_flow(-1.0, q, time, at, result);
    return result;
  }

  [[nodiscard]] Rates rates(double time, const Points& at, const Points& score1,
                            const Points& score2) const {
    const Points phi1 = phi(time, at, score1), phi2 = phi(time, at, score2);
    const Points zero = Points::Zero(at.rows(), at.cols());
    Eigen::ArrayXd plus = Eigen::ArrayXd::Zero(at.rows()), minus = plus, squares = plus;
    Points scratch;
    const auto add = [&](const Points& a, const Points& b, Eigen::ArrayXd& sum) {
      metric.add_squared_distances(time, at, a, b, 0.5, sum.data(), scratch);
    };
    add(phi1, -phi2, plus);
    add(phi1, phi2, minus);
    add(phi1, zero, squares);
    add(phi2, zero, squares);
    // 4 <u, v> = |u + v|^2 - |u - v|^2
    return {0.25 * (plus - minus).mean(), 0.5 * squares.mean()};
  }

  [[nodiscard]] Rates rates_at_start(const Points& at) const {
    const Points score = gaussian_scores(scored_start(), at);
    return rates(0.0, at, score, score);
  }
};

/// Passes on the wish to stop and keeps quiet about a part of a repetition.
class Quiet final : public Observer {
 public:
  explicit Quiet(const Observer& outer) : outer_(outer) {}
  [[nodiscard]] bool stop_requested() const override { return outer_.stop_requested(); }

 private:
  const Observer& outer_;
};

/// The clouds of one simulation within a repetition; empty if a path diverged.
/// Throws   Stopped
std::vector<Cloud> clouds(const Diffusion& diffusion, const GaussianDistribution& start,
                          const std::vector<double>& times, const Problem& problem,
                          std::uint64_t paths, std::uint64_t run, const Observer& observer) {
  Quiet quiet(observer);
  Simulation simulation = simulate(diffusion, start, {times, problem.grid.step},
                                   {paths, {problem.options.seed, run}, 1}, quiet);
  if (simulation.paths < paths) throw Stopped{};
  if (!simulation.diverged.empty()) return {};
  return std::move(simulation.clouds);
}

/// Rates at 0 and at the grid's times, of one repetition.
std::vector<Rates> repeat(const Problem& problem, std::uint64_t number, bool start_has_density,
                          const Observer& observer) {
  const ScoreEstimateOptions& options = problem.options;
  std::vector<double> point_times{0.0}, particle_times;
  for (const double time : problem.grid.times) {
    point_times.push_back(time);
    particle_times.push_back(time - std::min(options.last_step, time));
  }
  std::vector<Rates> result(point_times.size(), {kInf, kInf});
  const auto points = clouds(problem.p, problem.start_p, point_times, problem, options.points,
                             3 * number, observer);
  std::vector<Cloud> sets[2];
  for (std::uint64_t s = 0; s < 2; ++s) {
    sets[s] = clouds(problem.scored(), problem.scored_start(), particle_times, problem,
                     options.particles, 3 * number + 1 + s, observer);
  }
  if (points.empty() || sets[0].empty() || sets[1].empty()) return result;
  if (start_has_density) result[0] = problem.rates_at_start(points[0].points);
  for (std::size_t k = 0; k < particle_times.size(); ++k) {
    throw_if_stopped(observer);
    const double time = point_times[k + 1];
    const Points& at = points[k + 1].points;
    if (time == 0.0) {
      result[k + 1] = result[0];
      continue;
    }
    Points score[2] = {Points(at.rows(), at.cols()), Points(at.rows(), at.cols())};
    for (std::size_t s = 0; s < 2; ++s) {
      ParticleScore(problem.scored(), particle_times[k], sets[s][k].points,
                    time - particle_times[k])
          .scores(at, score[s]);
    }
    result[k + 1] = problem.rates(time, at, score[0], score[1]);
  }
  return result;
}

}  // namespace

Claimed<std::vector<ScoreBoundEstimate>> score_estimate(
    const Diffusion& p, const GaussianDistribution& start_p, const Diffusion& q,
    const GaussianDistribution& start_q, const TimeGrid& grid, const ScoreEstimateOptions& options,
    Observer& observer) {
  const Where where = Where::here();
  require_size("the dimension of q", q.dimension, p.dimension, where);
  if (p.dimension > kParticleScoreDimension) {
    throw InvalidArgument(
        fmt::format("a score from particles in {} dimensions: the particles needed grow like "
                    "last_step^-{}",
                    p.dimension, 0.5 * static_cast<double>(p.dimension + 2)),
        fmt::format("Use equal noises, which need no score, or at most {} dimensions",
                    kParticleScoreDimension),
        where);
  }
  require_positive("last_step", options.last_step, where);
  if (options.repetitions < 2) {
    throw InvalidArgument(fmt::format("repetitions = {}", options.repetitions),
                          "Ask for two or more: the standard error comes from them", where);
  }
  if (options.particles == 0 || options.points == 0) {
    throw InvalidArgument("no particles or no points", "Ask for some", where);
  }
  const Problem problem{
      p,
      start_p,
      q,
      start_q,
      grid,
      options,
      NoiseMetric(options.form == ScoreForm::primal ? p.noise : q.noise, p.dimension)};
  const bool start_has_density = log_det(problem.scored_start().covariance) > -kInf &&
                                 has_full_rank(dense(problem.scored_start().covariance));

  std::vector<std::vector<Rates>> repetitions(options.repetitions);
  (void)parallel_blocks({"repetitions", options.repetitions, 1, options.threads}, observer,
                        [&](std::uint64_t number, std::uint64_t) {
                          repetitions[number] =
                              repeat(problem, number, start_has_density, observer);
                        });

  std::vector<Moments> rate(grid.times.size()), naive(rate), integral(rate);
  for (const std::vector<Rates>& values : repetitions) {
    double sum = 0.0;
    for (std::size_t k = 1; k < values.size(); ++k) {
      const double length = grid.times[k - 1] - (k == 1 ? 0.0 : grid.times[k - 2]);
      sum += 0.5 * length * (values[k].cross + values[k - 1].cross);
      rate[k - 1].add(values[k].cross);
      naive[k - 1].add(values[k].naive);
      integral[k - 1].add(sum);
    }
  }
  Claimed<std::vector<ScoreBoundEstimate>> result{
      {}, Claim::estimate, "Monte Carlo with scores from particles"};
  for (std::size_t k = 0; k < rate.size(); ++k) {
    result.value.push_back({grid.times[k], rate[k].mean(), naive[k].mean(), integral[k].mean()});
  }
  result.assumptions = {
      "the standard errors cover chance, not the steps, the trapezoid and the bias of scores",
      "both distributions have positive densities that decay fast enough to integrate by parts"};
  return result;
}

}  // namespace sfumato
