#include "sfumato/sde/problem/classification_fit.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Weights = ClassificationProblem::Weights;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kUp = 1.0 + 1e-12;  // over the rounding of a few products and a norm
constexpr int kMostSteps = 200;
constexpr double kHessians =
    4.0;  // matrices of this size at a time: a Hessian, its factor, copies to solve with
constexpr int kMostPasses = 8;   // of a neighbour; those that need more are solved on their own
constexpr double kQuick = 10.0;  // tolerances; a first step certified this well needs no pass
constexpr Index kBlock = 64;

double largest_row_norm(const MatrixXd& features) {
  return features.rowwise().norm().maxCoeff() * kUp;
}

/// Softmax: the same weights with mean zero over the classes.
void centre(const ClassificationProblem& problem, VectorXd& weights) {
  if (!problem.is_softmax()) return;
  auto table = weights.reshaped(problem.features().cols(), problem.outputs());
  const VectorXd mean = table.rowwise().mean();
  table.colwise() -= mean;
}

/// How far centred weights may be from the subspace, by rounding.
double centring_error(const ClassificationProblem& problem, double norm) {
  return problem.is_softmax() ? static_cast<double>(problem.outputs() + 2) * kEpsilon * norm : 0.0;
}

/// Lower bound on the eigenvalues of sum_l Hess f_l, among centred weights for softmax.
double least_curvature(const ClassificationProblem& problem, MatrixXd hessian) {
  const Index p = problem.features().cols();
  const Index m = problem.outputs();
  const double trace = hessian.trace();
  if (m > 1) {  // lift the common shifts, which are orthogonal to the centred weights
    for (Index k = 0; k < m; ++k) {
      for (Index j = 0; j < m; ++j) {
        hessian.block(k * p, j * p, p, p).diagonal().array() += trace / static_cast<double>(m);
      }
    }
  }
  const double least = SymmetricEigen(hessian, SymmetricEigen::Want::values).eigenvalues()(0);
  const double slack =
      static_cast<double>(problem.rows() + 32 * problem.parameters() + 64) * kEpsilon * trace;
  return std::max(0.0, least - slack);
}

/// Bound on |w - w*| from the gradient at w, the curvature everywhere and at w, and the bending R.
double certified_distance(double gradient, double everywhere, double here, double bending) {
  double distance = everywhere > 0.0 ? gradient / everywhere : kInf;
  const double share = bending * gradient / here;
  if (here > 0.0 && share < 1.0) {
    distance = std::min(distance, bending > 0.0 ? -std::log1p(-share) / bending : gradient / here);
  }
  // A point that is known no better than this is not known; its squares overflow.
  return distance < 1e100 ? distance * kUp : kInf;
}

/// Of one row's gradient, in units of kEpsilon (ClassificationProblem::rounding for one row).
double record_rounding(const ClassificationProblem& problem, const Record& record, double norm) {
  const double length = record.features.norm();
  const double scores = 2.0 * static_cast<double>(record.features.size() + 2) * length * norm;
  return length *
         (problem.constants().curvature * scores + static_cast<double>(problem.outputs()) + 24.0);
}

[[noreturn]] void no_minimiser(double gradient, double curvature, double norm) {
  throw NumericalFailure(
      fmt::format("no minimiser can be certified: where Newton's method ended, at weights of norm "
                  "{:.3g}, the gradient is {:.3g} and the least curvature {:.3g}",
                  norm, gradient, curvature),
      "Add a ridge term, or a stronger one: without it there is no minimiser if a plane separates "
      "the classes, and "
      "no unique one if features determine others");
}

/// The point that Newton's method reaches, with a line search until it converges.
VectorXd newton(const ClassificationProblem& problem, VectorXd at) {
  const Weights own = problem.weights();
  VectorXd gradient = problem.gradient(at);
  double loss = problem.loss(at);
  for (int step = 0; step < kMostSteps; ++step) {
    const double floor = own.row * problem.rounding(at.norm());
    if (gradient.norm() <= 0.01 * floor) break;
    MatrixXd hessian = problem.hessian(at);
    // A common shift of all classes changes nothing without a ridge: any curvature will do for it.
    hessian.diagonal().array() += 1e-14 * hessian.trace() / static_cast<double>(hessian.rows());
    const Eigen::LLT<MatrixXd> cholesky(hessian);
    if (cholesky.info() != Eigen::Success) break;
    const VectorXd direction = cholesky.solve(gradient);
    const double decrease = gradient.dot(direction);
    std::optional<VectorXd> next;
    VectorXd next_gradient;
    double next_loss = loss;
    for (double length = 1.0; length > 1e-6 && !next; length *= 0.5) {
      VectorXd trial = at - length * direction;
      centre(problem, trial);
      next_loss = problem.loss(trial);
      next_gradient = problem.gradient(trial);
      // Where the loss no longer resolves the decrease, the gradient still does.
      const bool lower = next_loss <= loss - 1e-4 * length * decrease;
      const bool flatter = next_gradient.norm() <= 0.7 * gradient.norm() &&
                           next_loss <= loss + 1e-12 * (std::abs(loss) + 1.0);
      if (lower || flatter) next = std::move(trial);
    }
    if (!next) break;
    const bool at_floor = gradient.norm() <= floor;
    if (at_floor && next_gradient.norm() >= gradient.norm()) break;
    const bool stalls = at_floor && next_gradient.norm() > 0.5 * gradient.norm();
    at = *std::move(next);
    loss = next_loss;
    gradient = std::move(next_gradient);
    if (stalls) break;
  }
  return at;
}

}  // namespace

Convexity convexity(const ClassificationProblem& problem, const std::optional<VectorXd>& start) {
  const double p = static_cast<double>(problem.parameters());
  require_memory(kHessians * sizeof(double) * p * p,
                 fmt::format("a classification of {} parameters", problem.parameters()),
                 "Use fewer columns", Where::here("logistic regression"));
  VectorXd from = start ? *start : VectorXd::Zero(problem.parameters());
  require_size("start", from.size(), problem.parameters());
  centre(problem, from);
  const Weights own = problem.weights();
  Convexity result{own.ridge, hessian_bound(problem), newton(problem, std::move(from)), 0.0, 0.0};
  const double norm = result.minimiser.norm();
  const double off = centring_error(problem, norm);
  result.gradient_norm =
      (problem.gradient(result.minimiser).norm() + own.row * problem.rounding(norm) +
       8.0 * kEpsilon * own.ridge * norm + result.lipschitz * off) *
      kUp;
  // Self-concordance: the curvature falls by no more than e^{-bending} per unit of the way from the centre, where it is known.
  const double here =
      own.row * least_curvature(problem, problem.sum_hessian(result.minimiser)) + own.ridge;
  result.distance =
      off + certified_distance(result.gradient_norm, own.ridge, here,
                               problem.constants().bending * largest_row_norm(problem.features()));
  if (!std::isfinite(result.distance)) no_minimiser(result.gradient_norm, here, norm);
  return result;
}

/// A neighbour as a change of the sums over the table: row taken out, record put in.
struct ClassificationFit::Change {
  Weights weights;
  Record out;
  std::optional<Record> in;
  MatrixXd directions;  ///< T, by columns: the Hessian of f' is base - c U U^T + c V V^T
  MatrixXd solved;      ///< base^{-1} T
  Eigen::PartialPivLU<MatrixXd> small;
  const Eigen::LLT<MatrixXd>* base;
  double curvature;  ///< lower bound on that of the sum over the rows, at the minimiser of f
  double lipschitz;
  double bending;
  VectorXd pull;  ///< gradient of f' at the minimiser of f

  /// (Hess f')^{-1} gradient, by Woodbury's formula.
  [[nodiscard]] VectorXd newton_step(const VectorXd& gradient) const {
    const VectorXd plain = base->solve(gradient);
    return plain - solved * small.solve(directions.transpose() * plain);
  }
};

ClassificationFit::ClassificationFit(ClassificationProblem problem)
    : problem_(std::move(problem)), convexity_(sfumato::convexity(problem_)) {
  const Weights own = problem_.weights();
  largest_gram_ =
      (convexity_.lipschitz - own.ridge) / (own.row * problem_.constants().curvature) * kUp;
  // From the whole bound, whose ridge may hide a small Gram matrix in its rounding.
  largest_gram_ += 4.0 * kEpsilon * own.ridge / (own.row * problem_.constants().curvature);
  largest_norm_ = largest_row_norm(problem_.features());
  Points sums(1, problem_.parameters());
  problem_.sum_gradients(convexity_.minimiser.transpose().array(), sums);
  sum_gradient_ = sums.matrix().transpose();
  const MatrixXd hessian = problem_.sum_hessian(convexity_.minimiser);
  least_curvature_ = least_curvature(problem_, hessian);
  MatrixXd matrix = own.row * hessian;
  matrix.diagonal().array() +=
      own.ridge + 1e-14 * matrix.trace() / static_cast<double>(matrix.rows());
  factor_.compute(matrix);
  if (!problem_.is_softmax()) prepare_remainder(hessian);
}

/// For certified_step(): K = sum_l s'(z_l) b_l x_l x_l^T, with b_l the norm of x_l in the metric of
/// the inverse Hessian of f at its minimiser.
void ClassificationFit::prepare_remainder(const MatrixXd& hessian) {
  const Weights own = problem_.weights();
  const Index p = problem_.parameters();
  const double least = own.row * least_curvature_ + own.ridge;
  const double trace = own.row * hessian.trace() + own.ridge * static_cast<double>(p);
  // Of the factor and of solving with it, and what was added to its diagonal.
  const double slack =
      static_cast<double>(problem_.rows() + 64 * p + 128) * kEpsilon * trace / least;
  if (!(slack < 0.1) || factor_.info() != Eigen::Success) return;
  constexpr Index kRows = 1024;
  MatrixXd sum = MatrixXd::Zero(p, p);
  for (Index first = 0; first < problem_.rows(); first += kRows) {
    const Index count = std::min(kRows, problem_.rows() - first);
    const auto block = problem_.features().middleRows(first, count);
    const Eigen::ArrayXd z = (block * convexity_.minimiser).array().abs();
    const Eigen::ArrayXd tail = (-z).exp();
    const MatrixXd solved = factor_.matrixL().solve(block.transpose());
    const Eigen::ArrayXd weights =
        tail / (1.0 + tail).square() * solved.colwise().norm().transpose().array();
    sum.noalias() += block.transpose() * weights.matrix().asDiagonal() * block;
  }
  metric_slack_ = 1.0 + slack;
  remainder_ = metric_slack_ * sum;
  sum_hessian_ = hessian;
}

/// Bound on |w - w'*| for w = `at`, one step from the minimiser of f, without looking at the other rows;
/// infinite if there is none. With F = Hess f at the minimiser, v the step and b_l as above,
///
///   |grad f'(w)|_{F^{-1}} <= |g' + H' v|_{F^{-1}} + (c'/2) e^r v^T K v,   r = max |x_l| |v|,
///
/// because |s'(z + t) - s'(z)| <= (e^{|t|} - 1) s'(z), and Hess f' >= theta e^{-R |. - w*|} F.
double ClassificationFit::certified_step(const Change& c, const VectorXd& at, double rounding,
                                         double& gradient_norm) const {
  gradient_norm = kInf;
  if (remainder_.size() == 0) return kInf;
  const Weights own = problem_.weights();
  const double least = own.row * least_curvature_ + own.ridge;
  const VectorXd v = at - convexity_.minimiser;
  const double length = v.norm() * kUp;
  const double bend = std::exp(std::min(700.0, c.bending * length));
  const auto root_norm = [&](const VectorXd& x) {
    return factor_.matrixL().solve(x).norm() * metric_slack_;
  };
  // directions are sqrt(s') x of the row taken out and of the record put in.
  const VectorXd moved = c.directions.transpose() * v;
  const double out = root_norm(c.directions.col(0));
  const double theta = 1.0 / kUp - own.row * out * out;
  if (!(theta > 0.0)) return kInf;
  // Of the sums over the rows in the two matrices.
  const double sums = static_cast<double>(problem_.rows() + 64) * kEpsilon;
  double square = v.dot(remainder_ * v) * kUp + sums * length * length * remainder_.trace();
  VectorXd residual = c.weights.row * (sum_hessian_ * v - c.directions.col(0) * moved(0)) +
                      c.weights.ridge * v + c.pull;
  if (c.in) {
    residual += c.weights.row * c.directions.col(1) * moved(1);
    square += root_norm(c.in->features) * moved(1) * moved(1) * kUp;
  }
  rounding += sums * static_cast<double>(problem_.parameters()) * c.lipschitz * length;
  const double q =
      (residual.norm() + rounding) / std::sqrt(least) + 0.5 * c.weights.row * bend * square;
  // f' grows around w: s with theta e^{-R (|v| + s/sqrt(least))} s >= q holds the minimiser.
  const double bare = q * bend / theta;
  const double per_length = c.bending / std::sqrt(least);
  const double radius = bare * std::exp(std::min(700.0, 2.0 * per_length * bare));
  if (!(bare * std::exp(std::min(700.0, per_length * radius)) <= radius)) return kInf;
  gradient_norm = q * std::sqrt(convexity_.lipschitz) * kUp;
  return radius / std::sqrt(least) * kUp;
}

void ClassificationFit::check(const Neighbour& neighbour) const {
  const Where where = Where::here("ClassificationFit");
  if (neighbour.row < 0 || neighbour.row >= problem_.rows()) {
    throw InvalidArgument(
        fmt::format("row {} of a table of {} rows", neighbour.row, problem_.rows()),
        "Count rows from 0", where);
  }
  if (neighbour.replacement) {
    problem_.require_record(*neighbour.replacement, where);
  } else if (problem_.rows() == 1) {
    throw InvalidArgument("without its only row the table is empty",
                          "Use a table of two rows or more", where);
  }
}

ClassificationFit::Change ClassificationFit::change(const Neighbour& neighbour) const {
  check(neighbour);
  const VectorXd& at = convexity_.minimiser;
  const LinkConstants link = problem_.constants();
  const bool removal = !neighbour.replacement;
  Change change{problem_.weights(),
                problem_.record(neighbour.row),
                neighbour.replacement,
                problem_.record_hessian_root(problem_.record(neighbour.row), at),
                {},
                {},
                &factor_,
                0.0,
                0.0,
                link.bending * largest_norm_,
                {}};
  const Index m = problem_.outputs();
  double gram = largest_gram_;
  const double taken = change.directions.squaredNorm() * kUp;  // at least the norm of U U^T
  change.curvature = std::max(0.0, least_curvature_ - taken);
  if (!removal) {
    change.directions.conservativeResize(Eigen::NoChange, 2 * m);
    change.directions.rightCols(m) = problem_.record_hessian_root(*change.in, at);
    gram += change.in->features.squaredNorm() * kUp;
    change.bending = std::max(change.bending, link.bending * change.in->features.norm() * kUp);
  }
  change.lipschitz = (change.weights.ridge + change.weights.row * link.curvature * gram) * kUp;
  change.solved = change.base->solve(change.directions);
  MatrixXd small = change.directions.transpose() * change.solved;
  small.diagonal().head(m).array() -= 1.0 / change.weights.row;
  if (!removal) small.diagonal().tail(m).array() += 1.0 / change.weights.row;
  change.small.compute(small);
  return change;
}

std::vector<Convexity> ClassificationFit::neighbours(std::span<const Neighbour> neighbours,
                                                     double tolerance) const {
  require_non_negative("tolerance", tolerance);
  std::vector<Convexity> results(neighbours.size());
  for (std::size_t first = 0; first < neighbours.size(); first += kBlock) {
    const std::size_t count = std::min<std::size_t>(kBlock, neighbours.size() - first);
    solve_block(neighbours.subspan(first, count), tolerance, results.data() + first);
  }
  return results;
}

/// Of the gradient of a neighbour at a point.
double ClassificationFit::rounding_at(const Change& c, const VectorXd& at) const {
  const double norm = at.norm();
  // The row taken out is one of those counted; one that is put in is counted here.
  double rounding = problem_.rounding(norm) + kEpsilon * record_rounding(problem_, c.out, norm);
  rounding += c.in ? kEpsilon * record_rounding(problem_, *c.in, norm) : 0.0;
  return c.weights.row * rounding + 8.0 * kEpsilon * c.weights.ridge * norm +
         c.lipschitz * centring_error(problem_, norm);
}

void ClassificationFit::solve_block(std::span<const Neighbour> neighbours, double tolerance,
                                    Convexity* results) const {
  const VectorXd& centre_point = convexity_.minimiser;
  std::vector<Change> changes;
  std::vector<std::size_t> open;   // not yet certified to the tolerance
  std::vector<std::size_t> alone;  // do not converge quickly from here
  for (std::size_t j = 0; j < neighbours.size(); ++j) {
    changes.push_back(change(neighbours[j]));
    Change& c = changes.back();
    VectorXd gradient = sum_gradient_ - problem_.record_gradient(c.out, centre_point);
    if (c.in) gradient += problem_.record_gradient(*c.in, centre_point);
    gradient = c.weights.row * gradient + c.weights.ridge * centre_point;
    c.pull = gradient;
    VectorXd at = centre_point - c.newton_step(gradient);
    centre(problem_, at);
    results[j] = {c.weights.ridge, c.lipschitz, std::move(at), kInf, kInf};
    Convexity& result = results[j];
    result.distance =
        certified_step(c, result.minimiser, rounding_at(c, centre_point), result.gradient_norm);
    const double shift = (result.minimiser - centre_point).norm();
    if (!(result.distance <= kQuick * tolerance * shift)) {
      result.gradient_norm = kInf;
      open.push_back(j);
    }
  }
  for (int pass = 0; pass < kMostPasses && !open.empty(); ++pass) {
    const auto count = static_cast<Index>(open.size());
    Points at(count, problem_.parameters());
    Points sums(count, problem_.parameters());
    for (Index k = 0; k < count; ++k) {
      at.row(k) = results[open[static_cast<std::size_t>(k)]].minimiser.transpose().array();
    }
    // One pass over the table serves all neighbours that are still open; each differs from it by a row or two.
    problem_.sum_gradients(at, sums);
    std::vector<std::size_t> still;
    for (Index k = 0; k < count; ++k) {
      const std::size_t j = open[static_cast<std::size_t>(k)];
      const Change& c = changes[j];
      Convexity& result = results[j];
      VectorXd gradient = sums.row(k).matrix().transpose();
      gradient -= problem_.record_gradient(c.out, result.minimiser);
      if (c.in) gradient += problem_.record_gradient(*c.in, result.minimiser);
      gradient = c.weights.row * gradient + c.weights.ridge * result.minimiser;
      const double off = centring_error(problem_, result.minimiser.norm());
      const double rounding = rounding_at(c, result.minimiser);
      const double before = result.gradient_norm;
      result.gradient_norm = (gradient.norm() + rounding) * kUp;
      const double shift = (result.minimiser - centre_point).norm();
      const double here =
          c.weights.row * c.curvature * std::exp(-c.bending * shift) / kUp + c.weights.ridge;
      result.distance =
          off + certified_distance(result.gradient_norm, c.weights.ridge, here, c.bending);
      if (std::isfinite(result.distance) &&
          (result.distance <= tolerance * shift || gradient.norm() <= rounding)) {
        continue;
      }
      // A step by the centre's Hessian that does not halve the gradient will not converge soon: solved by itself below.
      if (!(result.gradient_norm < 0.5 * before) || pass + 1 == kMostPasses) {
        alone.push_back(j);
        continue;
      }
      result.minimiser -= c.newton_step(gradient);
      centre(problem_, result.minimiser);
      still.push_back(j);
    }
    open = std::move(still);
  }
  for (const std::size_t j : alone) {
    const auto own = problem_.neighbour(neighbours[j].row, neighbours[j].replacement);
    results[j] = sfumato::convexity(
        own, results[j].minimiser.allFinite() ? results[j].minimiser : centre_point);
  }
}

GradientGap ClassificationFit::gap(const Neighbour& neighbour) const {
  check(neighbour);
  const Record out = problem_.record(neighbour.row);
  const Record* in = neighbour.replacement ? &*neighbour.replacement : nullptr;
  const Weights own = problem_.weights();
  const LinkConstants link = problem_.constants();
  const VectorXd& at = convexity_.minimiser;
  const double norm = at.norm();
  const double length_out = out.features.norm() * kUp;

  // grad f' - grad f = c (g_in - g_out)
  VectorXd difference = -own.row * problem_.record_gradient(out, at);
  double rounding = own.row * kEpsilon * record_rounding(problem_, out, norm);
  GradientGap gap{};
  if (in != nullptr) {
    const double length_in = in->features.norm() * kUp;
    difference += own.row * problem_.record_gradient(*in, at);
    rounding += own.row * kEpsilon * record_rounding(problem_, *in, norm);
    const bool same_features = in->features == out.features;
    const bool same_label = in->target == out.target;
    gap.everywhere = own.row * link.gradient *
                     (same_features ? (same_label ? 0.0 : length_out) : length_out + length_in);
    const double longer = std::max(length_out, length_in);
    gap.lipschitz = same_features ? 0.0 : own.row * link.curvature * longer * longer;
  } else {
    gap.everywhere = link.gradient * (own.row * length_out);
    gap.lipschitz = link.curvature * (own.row * length_out * length_out);
  }
  gap.everywhere *= kUp;
  gap.lipschitz *= kUp;
  gap.at_minimiser = (difference.norm() + rounding + gap.lipschitz * convexity_.distance) * kUp;
  return gap;
}

}  // namespace sfumato
