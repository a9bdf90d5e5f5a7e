#include "sfumato/divergence/path_estimate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <variant>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/sde/noise_metric.hpp"
#include "sfumato/sde/point_kernels.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

void refuse_different_noise(const std::string& how) {
  throw InvalidArgument("the noises of p and q differ" + how,
                        "Use equal noises, or an estimate that takes scores (score_estimate)",
                        Where::here("path_estimate"));
}

/// Constant noises are compared, others at the start of the first paths.
void require_equal_noise(const Diffusion& p, const Diffusion& q, const EulerMaruyama& chain) {
  if (p.noise.index() != q.noise.index()) refuse_different_noise(" in kind");
  if (const Covariance* noise = constant_noise(p)) {
    const Eigen::MatrixXd first = dense(*noise);
    const Eigen::MatrixXd second = dense(*constant_noise(q));
    require_size("the noise of q", second.rows(), first.rows(), Where::here("path_estimate"));
    // Rounding apart, as two factorisations of one matrix may differ.
    if ((first - second).cwiseAbs().maxCoeff() > 1e-12 * first.cwiseAbs().maxCoeff()) {
      refuse_different_noise("");
    }
    return;
  }
  PathBlock block;
  chain.start(0, 16, block);
  if (const auto* first = std::get_if<DiagonalNoise>(&p.noise)) {
    Points a(16, p.dimension), b(16, p.dimension);
    first->variances(0.0, block.x, a);
    std::get<DiagonalNoise>(q.noise).variances(0.0, block.x, b);
    if (!((a - b).abs() <= 1e-12 * a.abs()).all()) refuse_different_noise(" at the start");
    return;
  }
  for (Index j = 0; j < block.x.rows(); ++j) {
    const Eigen::VectorXd x = block.x.row(j).matrix().transpose();
    const Eigen::MatrixXd a = std::get<MatrixNoise>(p.noise).covariance(0.0, x);
    const Eigen::MatrixXd b = std::get<MatrixNoise>(q.noise).covariance(0.0, x);
    if (a.rows() != b.rows() || a.cols() != b.cols() ||
        !((a - b).cwiseAbs().maxCoeff() <= 1e-12 * a.cwiseAbs().maxCoeff())) {
      refuse_different_noise(" at the start");
    }
  }
}

/// One block's chain and, for each kappa, its integrals so far.
class Integrals {
 public:
  Integrals(const EulerMaruyama& chain, const Field& other_drift, const NoiseMetric& metric,
            const std::vector<double>& kappas)
      : chain_(chain), other_drift_(other_drift), metric_(metric), kappas_(kappas) {}

  PathBlock block;

  void start(std::uint64_t first, Index count) {
    chain_.start(first, count, block);
    other_.resize(count, chain_.dimension());
    term_.resize(count);
    sums_.setZero(count, static_cast<Index>(kappas_.size()));
  }

  /// Adds the term of this step and takes it, with the normals that the block holds.
  void step(double time, double length, double scale) {
    chain_.evaluate_drift(time, block);
    other_drift_(time, block.x, other_);
    const auto add_terms = [&](double* sum) {
      metric_.add_squared_distances(time, block.x, block.drift, other_, 0.5 * length, sum,
                                    scratch_);
    };
    if (kappas_.size() == 1 && kappas_.front() == 0.0) {
      add_terms(sums_.data());
    } else {
      term_.setZero();
      add_terms(term_.data());
      for (std::size_t k = 0; k < kappas_.size(); ++k) {
        add_and_scale(static_cast<std::size_t>(term_.size()), term_.data(),
                      std::exp(-kappas_[k] * length), sums_.col(static_cast<Index>(k)).data());
      }
    }
    chain_.advance(time, length, scale, block);
  }

  /// The estimate of path j for one kappa at this time; +inf from when the path has diverged.
  [[nodiscard]] double value(Index j, Index kappa, double time) const {
    const double weight = 2.0 / (1.0 + std::exp(-kappas_[static_cast<std::size_t>(kappa)] * time));
    return weight * sums_(j, kappa);
  }
  void mark_diverged() {
    for (const Index j : block.diverged) sums_.row(j) = kInf;
  }

 private:
  const EulerMaruyama& chain_;
  const Field& other_drift_;
  const NoiseMetric& metric_;
  const std::vector<double>& kappas_;
  Points other_, sums_, scratch_;
  Eigen::ArrayXd term_;
};

struct Cell {
  Moments coarse, fine, extrapolated;
  void merge(const Cell& other) {
    coarse.merge(other.coarse);
    fine.merge(other.fine);
    extrapolated.merge(other.extrapolated);
  }
};

/// What one block of paths contributes, for each time and kappa.
std::vector<Cell> run_block(Integrals& coarse, Integrals* fine, const EulerMaruyama& chain,
                            const std::vector<TimeSegment>& plan, Index kappas, std::uint64_t first,
                            Index count, const Observer& observer) {
  std::vector<Cell> cells;
  coarse.start(first, count);
  if (fine != nullptr) fine->start(first, count);
  for (const TimeSegment& segment : plan) {
    const double h = segment.step;
    for (std::uint64_t k = 0; k < segment.steps; ++k) {
      throw_if_stopped(observer);
      const double time = segment.start + static_cast<double>(k) * h;
      const std::uint64_t number = segment.first_step + k;
      if (fine == nullptr) {
        chain.draw(number, coarse.block);
        coarse.step(time, h, std::sqrt(h));
        continue;
      }
      const double scale = std::sqrt(0.5 * h);
      chain.draw(2 * number, fine->block);
      coarse.block.normals = fine->block.normals;
      fine->step(time, 0.5 * h, scale);
      chain.draw(2 * number + 1, fine->block);
      coarse.block.normals += fine->block.normals;
      fine->step(time + 0.5 * h, 0.5 * h, scale);
      coarse.step(time, h, scale);
    }
    coarse.mark_diverged();
    if (fine != nullptr) fine->mark_diverged();
    for (Index kappa = 0; kappa < kappas; ++kappa) {
      Cell cell;
      for (Index j = 0; j < count; ++j) {
        const double long_steps = coarse.value(j, kappa, segment.end);
        cell.coarse.add(long_steps);
        if (fine == nullptr) continue;
        const double short_steps = fine->value(j, kappa, segment.end);
        cell.fine.add(short_steps);
        cell.extrapolated.add(2.0 * short_steps - long_steps);
      }
      cells.push_back(cell);
    }
  }
  return cells;
}

std::vector<double> checked_kappas(const PathEstimateOptions& options, const Diffusion& p) {
  const Where where = Where::here("path_estimate");
  if (options.kappas.empty()) throw InvalidArgument("no kappa", "Pass 0 for the path bound", where);
  for (const double kappa : options.kappas) {
    if (!(kappa >= 0.0) || std::isinf(kappa)) {
      throw InvalidArgument(fmt::format("kappa = {} is not a finite number >= 0", kappa),
                            "Pass 0, the path bound, where nothing contracts", where);
    }
    if (kappa > 0.0 && constant_noise(p) == nullptr) {
      throw InvalidArgument(fmt::format("kappa = {} with noise that depends on the state", kappa),
                            "Pass kappa = 0: the contractive bound needs constant noise", where);
    }
  }
  return options.kappas;
}

}  // namespace

Claimed<PathEstimate> path_estimate(const Diffusion& p, const Diffusion& q,
                                    const GaussianDistribution& start, const TimeGrid& grid,
                                    const PathEstimateOptions& options, Observer& observer) {
  require_size("the dimension of q", q.dimension, p.dimension);
  const std::vector<TimeSegment> plan = segments(grid);
  const std::vector<double> kappas = checked_kappas(options, p);
  if (options.simulation.paths == 0) throw InvalidArgument("paths = 0", "Ask for one or more");
  const EulerMaruyama chain(p, start, options.simulation.random);
  require_equal_noise(p, q, chain);
  const NoiseMetric metric(p.noise, p.dimension);

  const auto size = static_cast<std::uint64_t>(chain.block_size());
  const std::uint64_t paths = options.simulation.paths;
  std::vector<std::vector<Cell>> blocks((paths + size - 1) / size);
  const std::uint64_t done = parallel_blocks(
      {"paths", paths, size, options.simulation.threads}, observer,
      [&](std::uint64_t first, std::uint64_t last) {
        Integrals coarse(chain, q.drift, metric, kappas);
        Integrals fine(chain, q.drift, metric, kappas);
        blocks[first / size] = run_block(coarse, options.halve ? &fine : nullptr, chain, plan,
                                         static_cast<Index>(kappas.size()), first,
                                         static_cast<Index>(last - first), observer);
      });

  std::vector<Cell> total(plan.size() * kappas.size());
  for (std::uint64_t b = 0; b * size < done; ++b) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i].merge(blocks[b][i]);
  }
  Claimed<PathEstimate> result{
      {{}, done}, Claim::estimate, "Monte Carlo over Euler-Maruyama paths"};
  for (std::size_t i = 0; i < total.size(); ++i) {
    const Cell& cell = total[i];
    const MonteCarloMean at_step = cell.coarse.mean();
    PathBoundEstimate bound{
        grid.times[i / kappas.size()], kappas[i % kappas.size()], at_step, at_step, at_step,
        cell.coarse.not_finite()};
    if (options.halve) {
      bound.at_half_step = cell.fine.mean();
      bound.extrapolated = cell.extrapolated.mean();
      bound.diverged = cell.extrapolated.not_finite();
    }
    result.value.bounds.push_back(bound);
  }
  result.assumptions = {"the standard errors cover chance, not the length of the steps",
                        "the integrand has a finite variance"};
  if (constant_noise(p) == nullptr) {
    result.assumptions.emplace_back("both diffusions have the same noise at every state");
  }
  for (const double kappa : kappas) {
    if (kappa == 0.0) continue;
    result.assumptions.push_back(
        fmt::format("the second drift contracts with rate {} in the noise metric", kappa));
  }
  return result;
}

}  // namespace sfumato
