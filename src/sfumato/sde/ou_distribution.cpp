#include "sfumato/sde/ou_distribution.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void require_time(double time, const char* caller) {
  if (time >= 0.0) return;  // this way round, so that NaN is refused too
  throw InvalidArgument(fmt::format("time = {} is negative or NaN", time),
                        "Pass the elapsed time, zero or more", Where::here(caller));
}

bool all_finite(const Covariance& covariance) {
  return std::visit(
      Overloaded{[](const Isotropic& c) { return std::isfinite(c.variance); },
                 [](const Diagonal& c) { return c.variances.allFinite(); },
                 [](const Factored& c) { return c.diagonal.allFinite() && c.factor.allFinite(); },
                 [](const Dense& c) { return c.matrix.allFinite(); }},
      covariance);
}

}  // namespace

MatrixXd require_linear(const OuProcess& process, const GaussianDistribution& start,
                        const Where& where) {
  MatrixXd curvature = require_symmetric("curvature", process.curvature, where);
  require_size("pull", process.pull.size(), curvature.rows(), where);
  require_size("noise", sfumato::dimension(process.noise), curvature.rows(), where);
  require_size("start.mean", start.mean.size(), curvature.rows(), where);
  require_size("start.covariance", sfumato::dimension(start.covariance), curvature.rows(), where);
  require_finite_entries("pull", process.pull, where);
  require_finite_entries("start.mean", start.mean, where);
  if (!all_finite(process.noise) || !all_finite(start.covariance)) {
    throw InvalidArgument("noise or start.covariance has an entry that is not finite",
                          "Remove NaN and infinite entries", where);
  }
  return curvature;
}

OuDistribution::OuDistribution(const OuProcess& process, const GaussianDistribution& start)
    : start_(start), precise_(given_training(process, start, 0.0)) {
  const MatrixXd curvature = require_linear(process, start, Where::here());

  spectrum_ = spectrum_of(curvature);
  lost_digits_ = loses_digits(spectrum_);
  if (lost_digits_) {
    RoundedSpectrum precise = precise_.spectrum();
    spectrum_ = {std::move(precise.values), std::move(precise.vectors)};
    pull_ = std::move(precise.pull);
    force_ = std::move(precise.force);
  } else {
    pull_ = spectrum_.to_eigenbasis(process.pull);
    // From the entries of A rather than from l_i m_i: at the minimiser the difference then vanishes
    // to the rounding of the inputs and not of the eigenvectors.
    force_ = spectrum_.to_eigenbasis(process.pull - curvature * start.mean);
  }
  mean_ = spectrum_.to_eigenbasis(start.mean);
  if (!spectrum_.is_diagonal()) {
    for (Index i = 0; i < dimension(); ++i) {
      const bool flat = spectrum_.values(i) == 0.0;
      if (flat && std::abs(pull_(i)) <= kNoPull * process.pull.norm()) pull_(i) = 0.0;
    }
  }
  // Flat directions are only pulled.
  for (Index i = 0; i < dimension(); ++i) {
    if (spectrum_.values(i) == 0.0) force_(i) = pull_(i);
  }
  noise_ = rotate(process.noise);
  spread_ = rotate(start.covariance);
}

OuDistribution OuDistribution::of(const GivenTraining& training) {
  const auto& loss = std::get<MatrixGiven>(training.loss);
  return OuDistribution({loss.curvature, loss.pull, training.noise}, training.start);
}

OuDistribution::Rotated OuDistribution::rotate(const Covariance& covariance) const {
  if (std::holds_alternative<Isotropic>(covariance) ||
      (spectrum_.is_diagonal() && sfumato::is_diagonal(covariance))) {
    return {diagonal_of(covariance), MatrixXd()};
  }
  MatrixXd full = spectrum_.rotated(covariance);
  VectorXd diagonal = full.diagonal().cwiseMax(0.0);  // variances, negative only by rounding
  return {std::move(diagonal), std::move(full)};
}

template <class Entry>
Covariance OuDistribution::rotate_back(Entry entry) const {
  const Index d = dimension();
  if (noise_.full.size() == 0 && spread_.full.size() == 0) {
    VectorXd variances(d);
    for (Index i = 0; i < d; ++i) variances(i) = entry(i, i);
    if (spectrum_.is_diagonal()) return Diagonal{std::move(variances)};
    const MatrixXd half = spectrum_.vectors * variances.cwiseSqrt().asDiagonal();
    MatrixXd matrix = MatrixXd::Zero(d, d);
    matrix.selfadjointView<Eigen::Lower>().rankUpdate(half);
    matrix.triangularView<Eigen::StrictlyUpper>() = matrix.transpose();
    return Dense{std::move(matrix)};
  }
  MatrixXd matrix(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) matrix(i, j) = matrix(j, i) = entry(i, j);
  }
  if (spectrum_.is_diagonal()) return Dense{std::move(matrix)};
  const MatrixXd half = spectrum_.vectors * matrix;
  const MatrixXd full = half * spectrum_.vectors.transpose();
  return Dense{0.5 * (full + full.transpose())};
}

GaussianDistribution OuDistribution::at(double time) const {
  require_time(time, "OuDistribution::at");
  if (time == 0.0) return start_;
  if (time == kInf) {
    LongRunDistribution limit = long_run();
    if (!limit.distribution)
      throw NumericalFailure(limit.reason, "Ask for a finite time", Where::here("the flow"));
    return *std::move(limit.distribution);
  }
  const VectorXd& rates = spectrum_.values;
  VectorXd mean(dimension());
  for (Index i = 0; i < dimension(); ++i) {
    mean(i) = product_or_zero(mean_(i), decay(rates(i), time)) +
              product_or_zero(pull_(i), phi1(rates(i), time));
  }
  GaussianDistribution distribution{
      spectrum_.from_eigenbasis(mean), rotate_back([&](Index i, Index j) {
        const double rate = rates(i) + rates(j);
        return product_or_zero(noise_.entry(i, j), phi1(rate, time)) +
               product_or_zero(spread_.entry(i, j), decay(rate, time));
      })};
  if (!distribution.mean.allFinite() || !all_finite(distribution.covariance)) {
    throw NumericalFailure(fmt::format("the distribution at time {} overflows (the smallest "
                                       "eigenvalue of the curvature is {})",
                                       time, rates.minCoeff()),
                           "Ask for an earlier time", Where::here("the flow"));
  }
  return distribution;
}

VectorXd OuDistribution::displacement(double time) const {
  require_time(time, "OuDistribution::displacement");
  VectorXd moved(dimension());
  for (Index i = 0; i < dimension(); ++i) {
    moved(i) = product_or_zero(force_(i), phi1(spectrum_.values(i), time));
  }
  return spectrum_.from_eigenbasis(moved);
}

bool OuDistribution::has_noise(Index i) const {
  const bool rounded = !spectrum_.is_diagonal() && noise_.full.size() > 0;
  return noise_.diagonal(i) > (rounded ? kNoNoise * noise_.diagonal.maxCoeff() : 0.0);
}

LongRunDistribution OuDistribution::long_run() const {
  const VectorXd& rates = spectrum_.values;
  for (Index i = 0; i < dimension(); ++i) {
    if (rates(i) > 0.0) continue;
    const char* problem = rates(i) < 0.0  ? "is negative: the process runs away along it"
                          : has_noise(i)  ? "is zero and there is noise along it"
                          : pull_(i) != 0 ? "is zero and the drift does not vanish along it"
                                          : nullptr;
    if (problem == nullptr) continue;
    return {
        std::nullopt,
        fmt::format("there is no stationary distribution: eigenvalue {:.6g} of the curvature {}",
                    rates(i), problem)};
  }
  VectorXd mean(dimension());
  for (Index i = 0; i < dimension(); ++i) {
    mean(i) = rates(i) > 0.0 ? pull_(i) / rates(i) : mean_(i);
  }
  Covariance covariance = rotate_back([&](Index i, Index j) {
    if (rates(i) > 0.0 && rates(j) > 0.0) return noise_.entry(i, j) / (rates(i) + rates(j));
    return rates(i) == rates(j) ? spread_.entry(i, j) : 0.0;  // noise along i or j is zero
  });
  return {GaussianDistribution{spectrum_.from_eigenbasis(mean), std::move(covariance)}, ""};
}

double OuDistribution::error(double time, const VectorXd& target) const {
  require_time(time, "OuDistribution::error");
  require_size("target", target.size(), dimension());
  const VectorXd& rates = spectrum_.values;
  const VectorXd aim = spectrum_.to_eigenbasis(target);
  double sum = 0.0;
  for (Index i = 0; i < dimension(); ++i) {
    const double gap = product_or_zero(mean_(i) - aim(i), decay(rates(i), time)) +
                       product_or_zero(pull_(i) - rates(i) * aim(i), phi1(rates(i), time));
    sum += gap * gap + product_or_zero(noise_.diagonal(i), phi1(2.0 * rates(i), time)) +
           product_or_zero(spread_.diagonal(i), decay(2.0 * rates(i), time));
  }
  return std::isnan(sum) ? kInf : sum;  // only inf - inf, along a direction that runs away
}

std::optional<double> OuDistribution::excess_loss(double time) const {
  require_time(time, "OuDistribution::excess_loss");
  const VectorXd& rates = spectrum_.values;
  double sum = 0.0;
  for (Index i = 0; i < dimension(); ++i) {
    if (rates(i) < 0.0 || (rates(i) == 0.0 && pull_(i) != 0.0)) return std::nullopt;
    if (rates(i) == 0.0) continue;
    const double gap = decay(rates(i), time) * (mean_(i) - pull_(i) / rates(i));
    sum += 0.5 * rates(i) *
           (gap * gap + noise_.diagonal(i) * phi1(2.0 * rates(i), time) +
            spread_.diagonal(i) * decay(2.0 * rates(i), time));
  }
  return sum;
}

namespace {

/// In double precision.
WhitenedPair rounded_pair(const OuDistribution& p, const OuDistribution& q, double time) {
  const GaussianDistribution distribution_p = p.at(time);
  const GaussianDistribution distribution_q = q.at(time);
  if (p.start().mean == q.start().mean && time < kInf) {
    const VectorXd moved_p = p.displacement(time);
    const VectorXd moved_q = q.displacement(time);
    // The rounding of a difference is that of its larger term: take the smaller terms.
    if (moved_p.norm() + moved_q.norm() < distribution_p.mean.norm() + distribution_q.mean.norm()) {
      return whiten(VectorXd::Zero(p.dimension()), distribution_p.covariance, moved_q - moved_p,
                    distribution_q.covariance);
    }
  }
  return whiten(distribution_p, distribution_q);
}

}  // namespace

WhitenedPair whiten_at(const OuDistribution& p, const OuDistribution& q, double time) {
  require_size("q", q.dimension(), p.dimension());
  require_time(time, "whiten_at");
  return whiten_carefully(p, q, time, rounded_pair);
}

}  // namespace sfumato
