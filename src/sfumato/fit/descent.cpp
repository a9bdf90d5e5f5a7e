#include "sfumato/fit/descent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/fit/stop_only.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

constexpr std::uint64_t kBlock =
    1024;  // rows; their sums are added in order, so that threads do not matter
/// Rounding of z.u, of norms and quotients stays far below this share of the clip; on a grid integers are compared.
constexpr double kRounding = 1e-9;

/// d loss / d (z u) for each row of a block, into `residual` (rows x outputs); of null records 0.
void residuals(FitModel model, const MatrixXd& scores,
               const Eigen::Ref<const Eigen::VectorXd>& target, MatrixXd* residual) {
  *residual = scores;
  switch (model) {
    case FitModel::ridge: residual->col(0) -= target; return;
    case FitModel::logistic:
      for (Index i = 0; i < scores.rows(); ++i) {
        const double y = target(i);
        (*residual)(i, 0) = y < 0.0 ? 0.0 : 1.0 / (1.0 + std::exp(-scores(i, 0))) - y;
      }
      return;
    case FitModel::softmax:
      for (Index i = 0; i < scores.rows(); ++i) {
        auto row = residual->row(i);
        if (target(i) < 0.0) {
          row.setZero();
          continue;
        }
        row.array() = (row.array() - row.maxCoeff()).exp();
        row /= row.sum();
        row(static_cast<Index>(target(i))) -= 1.0;
      }
      return;
  }
}

/// Adds the clipped contributions z (residual)^T of a block, each rounded by itself.
void add_rounded(const Eigen::Ref<const RowMajor>& z, const MatrixXd& residual,
                 const RoundingGrid& grid, MatrixXd* sum) {
  const Index outputs = residual.cols();
  MatrixXd contribution(z.cols(), outputs);
  for (Index i = 0; i < z.rows(); ++i) {
    const auto row = z.row(i).transpose().array();
    const auto integers = [&](Index k) {
      return RoundingGrid::nearest((residual(i, k) * row) * grid.per_unit);
    };
    double square = 0.0;
    for (Index k = 0; k < outputs; ++k) square += integers(k).square().sum();
    if (square <= grid.square) {
      for (Index k = 0; k < outputs; ++k) sum->col(k).array() += integers(k);
      continue;
    }
    // Longer than the clip by rounding, or not finite: as round() has it.
    for (Index k = 0; k < outputs; ++k) contribution.col(k) = (residual(i, k) * row).matrix();
    grid.round(contribution.reshaped().array());
    *sum += contribution;
  }
}

/// `lengths` are those of the rows.
void clip_block(const Eigen::Ref<const Eigen::VectorXd>& lengths, double clip, MatrixXd* residual) {
  const Eigen::VectorXd norms = lengths.cwiseProduct(residual->rowwise().norm());
  for (Index i = 0; i < norms.size(); ++i) {
    // A score that overflowed: the record counts nothing. The rule looks at the record alone, as every step of the clip has to.
    if (!std::isfinite(norms(i))) {
      residual->row(i).setZero();
    } else if (norms(i) > clip) {
      residual->row(i) *= clip / norms(i);
    }
  }
}

/// clipped_gradient_sum() of rows whose lengths are known.
MatrixXd clipped_sum(const DescentRows& of, const Eigen::VectorXd& lengths, const MatrixXd& at,
                     double clip, const RoundingGrid* grid, Observer& observer) {
  StopOnly quiet(observer);
  const auto rows = static_cast<std::uint64_t>(of.z.rows());
  std::vector<MatrixXd> partial((rows + kBlock - 1) / kBlock);
  const std::uint64_t done = parallel_blocks(
      {"descent", rows, kBlock}, quiet, [&](std::uint64_t first, std::uint64_t last) {
        const auto begin = static_cast<Index>(first), count = static_cast<Index>(last - first);
        const auto block = of.z.middleRows(begin, count);
        MatrixXd scores(count, at.cols()), residual;
        // Row by row, in the same order of operations wherever a row stands (Spec §24.2).
        for (Index i = 0; i < count; ++i) scores.row(i).noalias() = block.row(i) * at;
        residuals(of.model, scores, of.target.segment(begin, count), &residual);
        clip_block(lengths.segment(begin, count), clip * (1.0 - kRounding), &residual);
        MatrixXd& sum = partial[first / kBlock];
        sum = MatrixXd::Zero(at.rows(), at.cols());
        if (grid != nullptr) {
          add_rounded(block, residual, *grid, &sum);
        } else {
          sum.noalias() = block.transpose() * residual;
        }
      });
  if (done < rows) throw Stopped{};
  MatrixXd total = MatrixXd::Zero(at.rows(), at.cols());
  for (const MatrixXd& one : partial) total += one;
  return total;
}

}  // namespace

Index outputs_of(FitModel model, Index classes) { return model == FitModel::softmax ? classes : 1; }

MatrixXd clipped_gradient_sum(const DescentRows& rows, const MatrixXd& at, double clip,
                              const RoundingGrid* grid, Observer& observer) {
  return clipped_sum(rows, rows.z.rowwise().norm(), at, clip, grid, observer);
}

Eigen::VectorXd clipped_gradient_norms(const DescentRows& rows, const MatrixXd& at, double clip) {
  MatrixXd residual;
  residuals(rows.model, rows.z * at, rows.target, &residual);
  const Eigen::VectorXd lengths = rows.z.rowwise().norm();
  clip_block(lengths, clip * (1.0 - kRounding), &residual);
  return lengths.cwiseProduct(residual.rowwise().norm());
}

MatrixXd noisy_descent(const DescentRows& rows, Index classes, const DescentPlan& plan,
                       ReleaseBits& bits, Observer& observer, std::vector<ReleasedStep>* trace) {
  if (plan.average_last < 1 || plan.average_last > plan.steps) {
    throw InvalidArgument("average_last is not between 1 and steps", "Average fewer iterates");
  }
  const Index outputs = outputs_of(rows.model, classes), columns = rows.z.cols();
  const double draws = static_cast<double>(columns * outputs) * static_cast<double>(plan.steps);
  const SumGrid grid = plan.mode == NoiseMode::grid
                           ? sum_grid(plan.clip, plan.noise_multiplier, plan.rows, draws)
                           : SumGrid{};
  MatrixXd u = MatrixXd::Zero(columns, outputs), average = u;
  const Eigen::VectorXd lengths = rows.z.rowwise().norm();
  std::vector<double> normals(static_cast<std::size_t>(u.size()));
  // The loop is the mechanism: `sum` is everything that it learns of the rows, and is public from then on. Nothing else of them may decide where
  // the next step goes, or how long the loop is.
  for (std::uint64_t step = 1; step <= plan.steps; ++step) {
    throw_if_stopped(observer);
    observer.progress("descent", step - 1, plan.steps);
    MatrixXd sum;
    if (plan.mode == NoiseMode::grid) {
      sum = clipped_sum(rows, lengths, u, plan.clip, &grid.grid, observer);
      for (double& entry : sum.reshaped()) {
        entry = (entry + static_cast<double>(draw_discrete_gaussian(grid.deviation, bits))) /
                grid.grid.per_unit;
      }
    } else {
      sum = clipped_sum(rows, lengths, u, plan.clip, nullptr, observer);
      fill_normal(bits, normals);
      sum += plan.noise_multiplier * plan.clip *
             Eigen::Map<const MatrixXd>(normals.data(), sum.rows(), sum.cols());
    }
    if (trace != nullptr) trace->push_back({u, sum});
    // Divided by the declared number of rows: how many there are is private.
    u -= plan.learning_rate * (sum / plan.rows + plan.ridge * u);
    if (step + plan.average_last > plan.steps) {
      average += u / static_cast<double>(plan.average_last);
    }
  }
  return average;
}

}  // namespace sfumato
