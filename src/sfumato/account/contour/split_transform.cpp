#include "sfumato/account/contour/split_transform.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/compensated_sum.hpp"
#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/transform_decay.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kMostPoints = 2e4;  // of one distribution

/// e^x - 1 with the digits of x where it is small.
Complex complex_expm1(Complex x) {
  const double s = std::sin(0.5 * x.imag());
  return {std::expm1(x.real()) - 2.0 * std::exp(x.real()) * s * s,
          std::exp(x.real()) * std::sin(x.imag())};
}

}  // namespace

SplitTransform::SplitTransform(const std::vector<RatioStep>& steps,
                               const std::vector<SplitPoint>& cuts, double mu_squared, Work* work)
    : Transform(mu_squared, work) {
  for (std::size_t j = 0; j < steps.size(); ++j) {
    entries_.push_back(
        {steps[j], cuts[j], RealGrid(steps[j], cuts[j]), {}, {}, {}, 0.0, 0.0, 0.0, {}, {}});
  }
}

TotalCumulant SplitTransform::at(double s) {
  const double normal = 0.5 * mu_squared_ * s * (s + 1.0);
  TotalCumulant total{normal, mu_squared_ * (s + 0.5), mu_squared_, 8.0 * kUnit * 10.0};
  double log_rest = 0.0, turn = 0.0, variance = 0.0;
  for (Entry& entry : entries_) {
    const auto found = entry.grid.split_at(s);
    if (!found) return {kInf, kInf, 1.0, kInf};
    const double k = entry.step.k, share = std::min(found->sampled_share, 1.0 - 1e-16);
    total.value += k * found->all.value;
    total.mean += k * found->all.mean;
    total.error += k * found->all.error + found->sampled_error +
                   8.0 * kUnit * k * (std::fabs(found->all.value) + std::fabs(std::log1p(-share)));
    log_rest += k * std::log1p(-share);
    // The mean of the unsampled part is that of all without its sampled steps.
    const double unsampled_mean = (found->all.mean - share * found->sampled_mean) / (1.0 - share);
    turn += k * share * (found->sampled_mean - unsampled_mean);
    // The curvature decides where nodes are, not what they give: an estimate will do.
    variance = std::max(variance, found->sampled_variance + found->all.variance * k);
  }
  // log(M^k - A^k) = k log M + log(1 - (A/M)^k), and its derivative.
  const double some = -std::expm1(log_rest);
  if (!(some > 0.0)) return {-kInf, 0.0, 1.0, kInf};
  total.value += std::log(some);
  total.mean += std::exp(log_rest) / some * turn;
  total.variance += variance;
  return total;
}

double SplitTransform::highest_abscissa() const {
  double slope = 0.0;
  for (const Entry& entry : entries_) slope = std::max(slope, entry.step.ratio.slope());
  return 60.0 / slope;  // as far as grids go
}

std::optional<SplitTransform::Unsampled> SplitTransform::unsampled_at(double s) {
  const double normal = 0.5 * mu_squared_ * s * (s + 1.0);
  Unsampled sum{normal, mu_squared_ * (s + 0.5)};
  double size = 10.0 + std::fabs(normal);
  for (Entry& entry : entries_) {
    const auto found = entry.grid.unsampled_at(s);
    if (!found) return std::nullopt;
    sum.log += entry.step.k * found->log;
    sum.mean += entry.step.k * found->mean;
    size += entry.step.k * std::fabs(found->log);
  }
  sum.log += 8.0 * kUnit * size;
  return sum;
}

void SplitTransform::set_abscissa(double s0) {
  s0_ = s0;
  log_unit_ = 0.5 * mu_squared_ * s0 * (s0 + 1.0);
  for (Entry& entry : entries_) {
    if (const auto found = entry.grid.split_at(s0)) entry.here = *found;
    log_unit_ += entry.step.k * entry.here.all.value;
  }
}

/// |M^k - A^k| <= sum k |B| M(s0)^{k-1}.
double SplitTransform::log_beyond(double reach, double enough) {
  const double normal = -0.5 * mu_squared_ * reach * reach;
  double sum = 0.0;
  for (Entry& entry : entries_) {
    const DecayBound bound = log_sampled_beyond(
        entry.step, entry.cut, entry.here, s0_, reach,
        enough - normal - std::log(entry.step.k * static_cast<double>(entries_.size())));
    work_->points -= bound.points;
    sum += entry.step.k * std::exp(bound.log_ratio);
  }
  return std::log(sum) + normal;
}

double SplitTransform::terms_for(const Rows& rows) {
  double sum = 150.0 * rows.count;  // what a row costs besides
  for (const Entry& entry : entries_) {
    const double points = trapezoidal::range_of(entry.step, s0_).length() /
                          trapezoidal::spacing_for(entry.step, s0_, rows.reach(), entry.cut.width);
    sum += 2.0 * phase_rows_terms(points, rows.count, entry.step.k);
  }
  return sum;
}

bool SplitTransform::prepare(const Rows& rows) {
  step_ = rows.step();
  log_unit_ = 0.5 * mu_squared_ * s0_ * (s0_ + 1.0);
  for (Entry& entry : entries_) {
    const double h = trapezoidal::spacing_for(entry.step, s0_, rows.reach(), entry.cut.width);
    const trapezoidal::Range range = trapezoidal::range_of(entry.step, s0_);
    if (!(range.length() / h < kMostPoints)) return false;
    const double first = std::ceil(range.low / h), last = std::floor(range.high / h);
    entry.distribution = trapezoidal::distribution_on(entry.step, s0_, h, {{first, last}});
    entry.distribution.error_floor += 2.2e-21 + 2e-17 / entry.step.k;
    work_->points -= last - first;
    entry.sampled_weight.clear();
    CompensatedSum share, slope, floor;
    for (std::size_t j = 0; j < entry.distribution.size(); ++j) {
      const double z = (first + static_cast<double>(j)) * h;
      const double b = entry.distribution.weight[j] * entry.cut.sampled(z),
                   l = std::fabs(entry.distribution.loss[j]);
      entry.sampled_weight.push_back(b);
      share.add(b);
      slope.add(4.0 * b * l);
      // The argument of the cut has roundings, and its logarithm a slope that is at most 1 + |(at - z) / width|.
      const double u = 1.0 + std::max(0.0, (entry.cut.at - z) / entry.cut.width);
      const double moved = u * (std::fabs(z) + std::fabs(entry.cut.at)) / entry.cut.width;
      floor.add(b * (10.0 + 0.5 * z * z + 3.0 * (2.0 + 2.0 * std::fabs(s0_)) * l + moved));
    }
    entry.sampled_share = share.value();
    entry.sampled_slope = 4.0 * kUnit * slope.value();
    entry.sampled_floor =
        4.0 * kUnit * floor.value() + 2e-17 / entry.step.k * entry.sampled_share +
        std::exp(trapezoidal::log_above(entry.step, s0_) - entry.distribution.cumulant) +
        1.1e-21 * entry.cut.sampled(range.low);
    log_unit_ += entry.step.k * entry.distribution.cumulant;
    const auto count = static_cast<std::size_t>(rows.count);
    entry.all_rows = phase_rows(entry.distribution.weight, entry.distribution.loss, rows.period,
                                count, entry.step.k);
    entry.sampled_rows =
        phase_rows(entry.sampled_weight, entry.distribution.loss, rows.period, count, entry.step.k);
  }
  return true;
}

Transform::Value SplitTransform::value(std::size_t n) const {
  const double y = static_cast<double>(n) * step_;
  const Complex normal(-0.5 * mu_squared_ * y * y, mu_squared_ * (s0_ + 0.5) * y);
  Complex log_all = normal, log_rest(0.0, 0.0);
  // The error is telescoped: k |B| of one step changes by the errors of the others, and B by its own.
  double log_most = normal.real(), relative = 0.0, sampled = 0.0, own = 0.0;
  for (const Entry& entry : entries_) {
    const double k = entry.step.k;
    const Complex change = entry.all_rows.change[n];
    const Complex part = entry.sampled_share + entry.sampled_rows.change[n], all = 1.0 + change;
    log_all += k * complex_log1p(change);
    // log(A/M) by B/M, which is what was summed: A/M itself is 1 up to a few digits where sampled steps are rare.
    log_rest += k * complex_log1p(-part / all);
    const double error = entry.distribution.error_at(y) + entry.all_rows.error_at(y);
    const double most = std::max(std::abs(all), std::abs(all - part)) + error;
    log_most += k * std::log(most);
    relative += k * error / most;
    sampled += k * std::abs(part) / most;
    own +=
        k * (entry.sampled_slope * y + entry.sampled_floor + entry.sampled_rows.error_at(y)) / most;
  }
  // 1 - (A/M)^k with the digits of its logarithm.
  const Complex some = -complex_expm1(log_rest);
  return {log_all + std::log(some), std::exp(log_most) * (sampled * relative + own)};
}

}  // namespace sfumato
