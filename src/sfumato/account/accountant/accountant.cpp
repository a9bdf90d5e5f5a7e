#include "sfumato/account/accountant/accountant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "sfumato/account/accountant/composition.hpp"
#include "sfumato/account/accountant/merged.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/accountant/renyi_conversion.hpp"
#include "sfumato/account/contour/single_step_bounds.hpp"
#include "sfumato/account/lattice/pld.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

constexpr const char* kRateMethod = "least of delta(eps) + e^eps FPR over eps";

const char* title(DeltaMethod method) {
  switch (method) {
    case DeltaMethod::closed_form: return "closed form";
    case DeltaMethod::contour:
    case DeltaMethod::split: return "contour integral of the dominating pair";
  }
  throw InternalError("a method without a title");
}

Claimed<double> upper(double value, std::string method) {
  return {value, Claim::upper_bound, std::move(method)};
}

/// `found` with the lower end of what data attain, where that is of other releases than these.
template <class Ask>
Enclosure with_attained(const PrivateReleases& releases, const Observer* observer, Enclosure found,
                        Ask&& ask) {
  if (is_attained(releases)) return found;
  const auto attained = attained_releases(releases);
  if (!attained) return found;
  const Accountant below(*attained);
  const Claimed<double> lower = ask(observer ? below.watched_by(*observer) : below).lower;
  if (lower.value > found.upper.value) {
    throw InternalError("what data attain is above what is proven");
  }
  if (lower.value > found.lower.value) found.lower = lower;
  return found;
}

/// A bound from below, or else that there is none.
Claimed<double> lower(const PrivateReleases& releases, double value, double trivial,
                      std::string method) {
  if (is_attained(releases)) return {value, Claim::lower_bound, std::move(method)};
  return {trivial, Claim::lower_bound, "nothing is known from below for these releases"};
}

constexpr double kLargestContribution =
    50.0;  // in deviations of the noise: beyond it sampling hardly helps, and its integrals are long

/// The loss with sampled steps of hardly any noise taken for steps without sampling, which reveal at least as much; and how large contributions are
/// in the others.
struct RenyiLoss {
  TotalLoss loss;
  double largest = 0.0;
};
RenyiLoss renyi_loss(const TotalLoss& given, double most = kLargestContribution) {
  RenyiLoss result{{{}, given.mu_squared, given.log_survival, given.shift, given.observer}};
  for (const StepLoss& step : given.steps) {
    const auto normal = std::visit([](const auto& s) { return s.contribution(); }, step);
    if (normal && normal->largest > most) {
      result.loss.mu_squared += count_of(step) * normal->apart * normal->apart;
      continue;
    }
    result.loss.steps.push_back(step);
    if (normal) result.largest = std::max(result.largest, normal->largest);
  }
  return result;
}

constexpr double kHidingContribution =
    19.99;  // beyond it a sampled step is nearly certain to be seen

/// Several steps of which one has hardly any noise: no contour ends there, and Renyi's bound is as good as another.
bool hides_next_to_nothing(const TotalLoss& loss) {
  double count = 0.0;
  for (const StepLoss& step : loss.steps) count += count_of(step);
  return count > 1.0 && renyi_loss(loss, kHidingContribution).loss.mu_squared > loss.mu_squared;
}

/// An epsilon that is exceeded on some data, from single steps.
struct QuickEpsilon {
  double lo;
  bool is_zero;  ///< the whole of it
};
QuickEpsilon quick_epsilon(const std::vector<TotalLoss>& losses, double log_delta) {
  QuickEpsilon found{0.0, true};
  for (const TotalLoss& loss : losses) {
    const bool is_plain = loss.log_survival == 0.0 && loss.shift == 0.0;
    const SingleStepBounds bounds(loss);
    found.is_zero = found.is_zero && is_plain && bounds.log_variation() <= log_delta;
    if (is_plain) found.lo = std::max(found.lo, bounds.eps_of(log_delta));
  }
  return found;
}

/// The least of hi(eps) + e^eps fpr, and where: each eps gives an upper bound of the rate.
struct BestThreshold {
  double eps, rate;
};
BestThreshold best_threshold(LossProfile& profile, double fpr) {
  const auto rate = [&](double eps) {
    return profile.delta(eps).hi() + (fpr > 0.0 ? std::exp(eps) * fpr : 0.0);
  };
  // The sum is convex in e^eps, so it has one valley: walk down from where it should be, then close in.
  const double guess = profile.threshold_guess(fpr);
  double middle = std::isfinite(guess) ? std::clamp(guess, -500.0, 500.0) : 0.0;
  double best = rate(middle);
  double step = 0.1 * std::max(std::fabs(middle), 1e-6);
  if (rate(middle - 0.1 * step) < best) step = -step;
  double behind = middle - step, next = middle + step;
  for (double value = rate(next); value < best && std::fabs(next) < 1e3; value = rate(next)) {
    behind = middle;
    middle = next;
    best = value;
    step *= 2.0;
    next = middle + step;
  }
  std::uintmax_t most = 60;
  const auto found = boost::math::tools::brent_find_minima(rate, std::min(behind, next),
                                                           std::max(behind, next), 18, most);
  const BestThreshold at =
      found.second < best ? BestThreshold{found.first, found.second} : BestThreshold{middle, best};
  // Rounded up: the sum of two numbers.
  return {at.eps, std::max(fpr, std::min(1.0, at.rate * (1.0 + 4e-16)))};
}

/// What the test {T > eps} is sure to reach near the best threshold, with a false-positive rate that is sure to be at most `fpr`.
double reached_rate(LossProfile& profile, double fpr, double threshold) {
  for (const double beyond : {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) {
    const TailEnclosure tail = profile.tail(threshold + beyond);
    if (tail.q.log_hi <= std::log(fpr))
      return std::max(fpr, std::exp(tail.p.log_lo) * (1.0 - 1e-15));
  }
  return fpr;  // a guess
}

}  // namespace

Accountant::Accountant(NeighbouringRelation relation, std::uint64_t group_size)
    : releases_{relation, group_size, {}} {
  if (group_size == 0) {
    throw InvalidArgument("group_size = 0 is no group", "Pass 1 or more", Where::key("group_size"));
  }
}

Accountant::Accountant(const PrivateReleases& releases)
    : Accountant(releases.relation, releases.group_size) {
  for (const PrivateRelease& release : releases.list) compose(release);
  for (const std::string& condition : releases.rests_on) require(condition);
}

void Accountant::require(const std::string& condition) { add_conditions(releases_, {condition}); }

void Accountant::compose(const PrivateRelease& release) {
  require_accountable(release, releases_.relation, releases_.group_size);
  PrivateRelease same = release;
  for (PrivateRelease& known : releases_.list) {
    same.steps = known.steps;
    if (same == known && release.steps <= std::numeric_limits<std::int64_t>::max() - known.steps) {
      known.steps += release.steps;
      return;
    }
  }
  releases_.list.push_back(release);
}

Accountant Accountant::watched_by(const Observer& observer) const {
  Accountant same = *this;
  same.observer_ = &observer;
  return same;
}

TotalLoss Accountant::total(StepDirection direction) const {
  TotalLoss loss = loss_of(releases_, direction);
  loss.observer = observer_;
  return loss;
}

Enclosure Accountant::delta(Epsilon epsilon) const {
  double low = 0.0, high = 0.0;
  DeltaMethod method = DeltaMethod::closed_form;
  for (const StepDirection direction : directions_of(releases_.relation)) {
    const DeltaEnclosure found = delta_of(total(direction), epsilon.nats());
    low = std::max(low, found.lo());
    high = std::max(high, found.hi());
    method = std::max(method, found.method);
  }
  return with_attained(releases_, observer_,
                       {lower(releases_, low, 0.0, title(method)), upper(high, title(method))},
                       [&](const Accountant& below) { return below.delta(epsilon); });
}

Enclosure Accountant::epsilon(Delta delta) const {
  if (delta.probability() == 1.0) {
    return {{0.0, Claim::lower_bound, "closed form"}, upper(0.0, "closed form")};
  }
  std::vector<TotalLoss> losses;
  for (const StepDirection direction : directions_of(releases_.relation)) {
    losses.push_back(total(direction));
  }
  if (delta.probability() > 0.0 &&
      std::any_of(losses.begin(), losses.end(), hides_next_to_nothing)) {
    const QuickEpsilon quick = quick_epsilon(losses, std::log(delta.probability()));
    const double most = quick.is_zero ? 0.0 : renyi_epsilon(delta).value.nats();
    return {lower(releases_, quick.lo, 0.0, "a test for a single step"),
            upper(most, quick.is_zero ? "total variation of the steps" : "Renyi privacy")};
  }
  const auto [low, high] = largest_epsilon(losses, delta.probability());
  const char* method =
      title(std::isfinite(high) && high > 0.0 ? DeltaMethod::contour : DeltaMethod::closed_form);
  Enclosure found{lower(releases_, low, 0.0, method), upper(high, method)};
  // Where contours are wide (far out, with next to no noise or signal) Renyi's bound may be the smaller of two that are proven.
  if (high > 0.0 && std::isfinite(low) && !(high - low < 1e-3 * high)) {
    const double loose = renyi_epsilon(delta).value.nats();
    if (loose < high) found.upper = upper(loose, "Renyi privacy");
  }
  return with_attained(releases_, observer_, found,
                       [&](const Accountant& below) { return below.epsilon(delta); });
}

Enclosure Accountant::advantage() const { return delta(Epsilon(0.0)); }

Enclosure Accountant::tpr(double fpr) const {
  require_probability("fpr", fpr);
  LossProfile profile(total(directions_of(releases_.relation).front()));
  const BestThreshold best = best_threshold(profile, fpr);
  const double reached = is_attained(releases_) ? reached_rate(profile, fpr, best.eps) : fpr;
  return {lower(releases_, std::min(reached, best.rate), fpr, "test by a threshold of the loss"),
          upper(best.rate, kRateMethod)};
}

Enclosure Accountant::attack_accuracy(double prior) const {
  if (!(prior > 0.0 && prior < 1.0)) {
    throw InvalidArgument(fmt::format("prior = {} is not in (0, 1)", prior),
                          "Pass the share of members among those asked about", Where::key("prior"));
  }
  const DeltaEnclosure found = delta_of(total(directions_of(releases_.relation).front()),
                                        std::log1p(-prior) - std::log(prior));
  const double guess = std::max(prior, 1.0 - prior);
  const auto accuracy = [&](double delta) {
    return std::clamp(1.0 - prior + prior * delta, guess, 1.0);
  };
  return {lower(releases_, accuracy(found.lo()) * (1.0 - 4e-16), guess, title(found.method)),
          upper(std::min(1.0, accuracy(found.hi()) * (1.0 + 4e-16)), title(found.method))};
}

Claimed<double> Accountant::tpr_bound(double fpr) const {
  require_probability("fpr", fpr);
  LossProfile profile(total(directions_of(releases_.relation).front()));
  return upper(best_threshold(profile, fpr).rate, kRateMethod);
}

std::vector<AttackRate> Accountant::trade_off(const std::vector<double>& fprs) const {
  // Thresholds that matter are those that the loss exceeds as often as the least rate asks for, and their likes below 0.
  LossProfile profile(total(directions_of(releases_.relation).front()));
  double least = 0.5;
  for (const double fpr : fprs) {
    require_probability("fpr", fpr);
    if (fpr > 0.0) least = std::min(least, fpr);
  }
  const double farthest = std::clamp(1.2 * std::fabs(profile.threshold_guess(least)), 1e-6, 60.0);
  struct Point {
    double slope, delta;
  };
  std::vector<Point> table;
  constexpr int kHalf = 40;
  for (int i = -kHalf; i <= kHalf; ++i) {
    const double eps = farthest * i / kHalf;
    table.push_back({std::exp(eps), profile.delta(eps).hi()});
  }
  std::vector<AttackRate> rates;
  for (const double fpr : fprs) {
    double best = 1.0;
    for (const Point& at : table) best = std::min(best, at.delta + at.slope * fpr);
    rates.push_back({fpr, upper(std::clamp(best * (1.0 + 4e-16), fpr, 1.0), kRateMethod)});
  }
  return rates;
}

Claimed<Epsilon> Accountant::renyi_epsilon(Delta delta) const {
  Claimed<Epsilon> worst{Epsilon(0.0), Claim::upper_bound, "Renyi privacy"};
  for (const StepDirection direction : directions_of(releases_.relation)) {
    TotalLoss all = total(direction);
    all.steps = merged(all.steps, Merge::up);
    const RenyiLoss bounded = renyi_loss(all);
    const TotalLoss& loss = bounded.loss;
    // A failure takes its part of delta: delta = f + (1 - f) delta'.
    const double failure = -std::expm1(loss.log_survival);
    const double left = (delta.probability() - failure) / (1.0 - failure);
    if (!(left > 0.0)) return {Epsilon(kInf), Claim::upper_bound, "Renyi privacy"};
    Cumulants cumulants(loss);
    const RenyiCurve curve = [&](double order) {
      const double s = order - 1.0;
      const TotalCumulant k = cumulants.at(s);
      const double value = (k.value + k.error) / s;
      return Nats(std::isnan(value) ? kInf : std::max(0.0, value));
    };
    const Claimed<Epsilon> found =
        epsilon_from_renyi_curve(curve, Delta(std::min(left, 1.0)),
                                 {1.0 + 1e-3, 1.0 + 3e4 / std::max(bounded.largest, 0.03)});
    if (found.value > worst.value) worst = found;
  }
  return worst;
}

std::optional<Claimed<Epsilon>> Accountant::clt_epsilon(Delta delta) const {
  double mu_squared = 0.0;
  for (const PrivateRelease& release : releases_.list) {
    const ReleaseSetting setting{release, releases_.relation, releases_.group_size};
    const std::optional<double> variance =
        with_rules(release.mechanism,
                   [&](auto rules, const auto& m) { return rules.clt_variance(m, setting); });
    if (!variance) return std::nullopt;
    mu_squared += *variance;
  }
  if (!std::isfinite(mu_squared)) return std::nullopt;
  return Claimed<Epsilon>{gdp_epsilon(std::sqrt(mu_squared), delta), Claim::estimate,
                          "Gaussian privacy by the central limit theorem"};
}

Enclosure Accountant::delta_by_fft(Epsilon epsilon) const {
  constexpr const char* kMethod = "discretised losses, composed by FFT";
  double low = 0.0, high = 0.0;
  for (const StepDirection direction : directions_of(releases_.relation)) {
    const DeltaEnclosure found{pld_delta(total(direction), epsilon.nats())};
    low = std::max(low, found.lo());
    high = std::max(high, found.hi());
  }
  return {lower(releases_, low, 0.0, kMethod), upper(high, kMethod)};
}

bool Accountant::methods_agree(Epsilon epsilon) const {
  for (const StepDirection direction : directions_of(releases_.relation)) {
    const TotalLoss loss = total(direction);
    const LogEnclosure contour = delta_of(loss, epsilon.nats()).log;
    const LogEnclosure fft = pld_delta(loss, epsilon.nats());
    if (std::max(contour.log_lo, fft.log_lo) > std::min(contour.log_hi, fft.log_hi)) return false;
  }
  return true;
}

Enclosure Accountant::epsilon_by_fft(Delta delta) const {
  const double target = delta.probability();
  const auto at = [&](double eps) { return delta_by_fft(Epsilon(eps)); };
  constexpr double kLargest = 1e4;
  double unsafe = 0.0, safe = 0.0, below = 0.0;
  Enclosure found = at(0.0);
  const char* method = "discretised losses, composed by FFT";
  const auto learn = [&](double eps) {
    (found.upper.value <= target ? safe : unsafe) = eps;
    if (found.lower.value > target) below = std::max(below, eps);
  };
  if (found.upper.value <= target) return {lower(releases_, 0.0, 0.0, method), upper(0.0, method)};
  learn(0.0);
  for (double eps = 0.5; safe == 0.0; eps *= 2.0) {
    if (eps > kLargest) return {lower(releases_, below, 0.0, method), upper(kInf, method)};
    found = at(eps);
    learn(eps);
  }
  while (safe - unsafe > 1e-6 * safe) {
    const double eps = 0.5 * (unsafe + safe);
    found = at(eps);
    learn(eps);
  }
  return {lower(releases_, below, 0.0, method), upper(safe, method)};
}

Guarantee Accountant::guarantee(Delta delta) const {
  const Claimed<double> bound = epsilon(delta).upper;
  if (!std::isfinite(bound.value)) {
    throw InvalidArgument(
        fmt::format("no finite epsilon is proven at delta = {}", delta.probability()),
        "Add noise in every step, or allow a larger delta", Where::key("target_delta"));
  }
  return {map(bound, [](double nats) { return Epsilon(nats); }), delta, releases_};
}

}  // namespace sfumato
