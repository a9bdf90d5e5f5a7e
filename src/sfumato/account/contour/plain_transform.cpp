#include "sfumato/account/contour/plain_transform.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/transform_decay.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

/// Of a row on a line of moments, in terms.
constexpr double kMomentTerms = 300.0;

TiltedDistribution tilted_distribution(const StepLoss& step, double s0, double reach) {
  return std::visit(
      [&]<class Step>(const Step& s) -> TiltedDistribution {
        if constexpr (HasMoments<Step>) {
          throw InternalError("a step of moments has no points");
        } else {
          return s.tilted_distribution(s0, reach);
        }
      },
      step);
}

std::optional<AllocationMoments> moments_of(const StepLoss& step) {
  return std::visit(
      []<class Step>(const Step& s) -> std::optional<AllocationMoments> {
        if constexpr (HasMoments<Step>) {
          return s.moments();
        } else {
          return std::nullopt;
        }
      },
      step);
}

double terms_of(const StepLoss& step, double s0, double reach, double count, double k) {
  return std::visit(
      [&]<class Step>(const Step& s) {
        if constexpr (HasMoments<Step>) {
          return kMomentTerms * count;
        } else {
          return phase_rows_terms(s.points(s0, reach), count, k);
        }
      },
      step);
}

}  // namespace

PlainTransform::PlainTransform(const TotalLoss& loss, Work* work)
    : Transform(loss.mu_squared, work), observer_(loss.observer) {
  for (const StepLoss& step : loss.steps) {
    const auto ratio = std::visit([](const auto& s) { return s.as_ratio(); }, step);
    entries_.push_back({step,
                        count_of(step),
                        ratio ? std::optional(RealGrid(*ratio)) : std::nullopt,
                        {},
                        {},
                        {},
                        moments_of(step),
                        {}});
  }
}

StepCumulant PlainTransform::cumulant_of(Entry& entry, double s) {
  if (entry.grid) {
    if (const auto found = entry.grid->at(s)) return *found;
  }
  if (entry.moments) return entry.moments->at(s);
  if (work_->points < 0.0) return {kInf, kInf, 1.0, kInf};
  const TiltedDistribution distribution = tilted_distribution(entry.step, s, 0.0);
  work_->points -= static_cast<double>(distribution.size());
  return {distribution.cumulant, distribution.mean, distribution.variance,
          distribution.error_at(0.0)};
}

TotalCumulant PlainTransform::at(double s) {
  const double normal = 0.5 * mu_squared_ * s * (s + 1.0);
  TotalCumulant total{normal, mu_squared_ * (s + 0.5), mu_squared_, 0.0};
  double size = std::fabs(normal);
  for (Entry& entry : entries_) {
    require_going_on(observer_);
    const StepCumulant of = cumulant_of(entry, s);
    total.value += entry.k * of.value;
    total.mean += entry.k * of.mean;
    total.variance += entry.k * of.variance;
    total.error += entry.k * of.error;
    size += entry.k * std::fabs(of.value);
  }
  total.error += 8.0 * kUnit * (size + 10.0);
  return total;
}

double PlainTransform::highest_abscissa() const {
  double steepest = 0.0;
  for (const Entry& entry : entries_) {
    steepest =
        std::max(steepest, std::visit([](const auto& s) { return s.steepest(); }, entry.step));
  }
  return steepest > 0.0 ? 3e4 / steepest : 1e300;
}

void PlainTransform::set_abscissa(double s0) {
  s0_ = s0;
  log_unit_ = 0.5 * mu_squared_ * s0 * (s0 + 1.0);
  for (Entry& entry : entries_) {
    entry.here = cumulant_of(entry, s0);
    log_unit_ += entry.k * entry.here.value;
  }
}

double PlainTransform::log_beyond(double reach, double enough) {
  double sum = -0.5 * mu_squared_ * reach * reach;
  double decaying = 0.0;  // what the other steps leave to each
  for (const Entry& entry : entries_) decaying += entry.k * entry.here.variance;
  for (Entry& entry : entries_) {
    require_going_on(observer_);
    const double share = entry.k * entry.here.variance / std::max(decaying, 1e-300);
    const DecayBound bound = std::visit(
        [&](const auto& s) {
          return s.log_bound_beyond(entry.here, s0_, reach, enough * share / entry.k);
        },
        entry.step);
    work_->points -= bound.points;
    sum += entry.k * bound.log_ratio;
  }
  return sum;
}

double PlainTransform::terms_for(const Rows& rows) {
  double sum = 100.0 * rows.count;  // what a row costs besides
  for (const Entry& entry : entries_) {
    sum += terms_of(entry.step, s0_, rows.reach(), rows.count, entry.k);
  }
  return sum;
}

bool PlainTransform::prepare(const Rows& rows) {
  step_ = rows.step();
  log_unit_ = 0.5 * mu_squared_ * s0_ * (s0_ + 1.0);
  for (Entry& entry : entries_) {
    require_going_on(observer_);
    if (entry.moments) {
      entry.line = entry.moments->line(s0_, step_, static_cast<std::size_t>(rows.count));
      log_unit_ += entry.k * entry.line.at.value;
      continue;
    }
    entry.distribution = tilted_distribution(entry.step, s0_, rows.reach());
    const auto points = static_cast<double>(entry.distribution.size());
    work_->points -= points;
    // Rates near 1e-300 have a distribution with far more points than were reckoned with: sums of them would take half a minute.
    if (phase_rows_terms(points, rows.count, entry.k) > 10.0 * Work{}.terms) return false;
    entry.rows = phase_rows(entry.distribution.weight, entry.distribution.loss, rows.period,
                            static_cast<std::size_t>(rows.count), entry.k);
    log_unit_ += entry.k * entry.distribution.cumulant;
  }
  return true;
}

Transform::Value PlainTransform::value(std::size_t n) const {
  const double y = static_cast<double>(n) * step_;
  std::complex<double> log(-0.5 * mu_squared_ * y * y, mu_squared_ * (s0_ + 0.5) * y);
  double log_wider = 0.0;  // with every |M| as large as it may be
  for (const Entry& entry : entries_) {
    const std::complex<double> ratio =
        complex_log1p(entry.moments ? entry.line.ratio[n] - 1.0 : entry.rows.change[n]);
    const double error = entry.moments ? entry.line.error[n]
                                       : entry.distribution.error_at(y) + entry.rows.error_at(y);
    log += entry.k * ratio;
    log_wider += entry.k * std::log1p(error * std::exp(-ratio.real()));
  }
  return {log, std::exp(log.real()) * std::expm1(log_wider)};
}

}  // namespace sfumato
