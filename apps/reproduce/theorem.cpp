#include "reproduce/theorem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/as_printed.hpp"
#include "reproduce/concentration.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/entropy_rate.hpp"
#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/random/stream.hpp"
#include "sfumato/risk/kl_conversion.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "sfumato/sde/family/linear.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

/// Two roads to the same number differ by rounding.
constexpr double kSlack = 1e-9;

OuProcess scalar(double rate, double target, double variance) {
  return {MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, rate * target),
          Isotropic{variance, 1}};
}

GaussianDistribution normal(double mean, double variance) {
  return {VectorXd::Constant(1, mean), Isotropic{variance, 1}};
}

/// Quadratics k |x - target e_1|^2 / 2 in d dimensions, both from the point start e_1.
struct IsotropicPair {
  int dimension;
  double rate, target, variance;
  double rate_prime, target_prime, variance_prime;
  double start;
};

OuPair processes(const IsotropicPair& pair) {
  const int d = pair.dimension;
  const auto process = [d](double rate, double target, double variance) -> OuProcess {
    VectorXd pull = VectorXd::Zero(d);
    pull(0) = rate * target;
    return {rate * MatrixXd::Identity(d, d), pull, Isotropic{variance, d}};
  };
  VectorXd start = VectorXd::Zero(d);
  start(0) = pair.start;
  return {process(pair.rate, pair.target, pair.variance), point_distribution(start),
          process(pair.rate_prime, pair.target_prime, pair.variance_prime),
          point_distribution(start)};
}

LangevinConstants constants(const IsotropicPair& pair) {
  const double gap = pair.start - pair.target;
  return {{pair.rate, pair.rate},
          {pair.rate_prime, pair.rate_prime},
          pair.variance,
          pair.variance_prime,
          pair.dimension,
          std::fabs(pair.target - pair.target_prime),
          gap * gap};
}

Claimed<double> kl_of(const OuPair& pair, double time) {
  return map(exact_kl(pair, time), [](Nats kl) { return kl.value(); });
}

Claimed<double> value(const KlBound& bound) {
  return map(bound.kl, [](Nats kl) { return kl.value(); });
}

/// Nothing but rounding beside the truth reads as 0.
double shown(double printed, double truth) { return printed < 1e-15 * truth ? 0.0 : printed; }

bool bounds(double printed, double truth) { return printed >= truth * (1.0 - kSlack); }

void add_main_theorem(std::vector<PrintedCase>& cases) {
  const OuPair halves = halved_phi_pair();
  for (const double time : {0.5, 2.0, 20.0}) {
    const as_printed::Printed printed = as_printed::entropy_bound(halves, time);
    cases.push_back({"main_theorem",
                     fmt::format("rates 0.5, 1; Sigma 0.75, 1; from N(0, 0.5); t = {:g}", time), 1,
                     kl_of(halves, time), shown(printed.value, kl_of(halves, time).value),
                     value(entropy_rate_bounds(halves, time).primal), printed.valid});
  }
  const std::vector<double> times = {0.5, 1.0, 5.0};
  const MultiplicativeNoise multiplicative = multiplicative_noise(times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const PairDirection& at = multiplicative.solution.rows.at(i).forward;
    const Claimed<Nats> kl = claimed_entropy(at.kl);
    const double printed = shown(multiplicative.printed[i], at.kl.value);
    cases.push_back({"main_theorem",
                     fmt::format("Sigma(x) = 1 + 0.5/(1 + x^2) against 1; t = {:g}", times[i]), 1,
                     map(kl, [](Nats nats) { return nats.value(); }), printed,
                     Claimed<double>{at.primal_bound.value, Claim::estimate,
                                     "corrected bound on the grid of the Fokker-Planck solver"},
                     bounds(printed, at.kl.value)});
  }
  const OuPair same_drift{scalar(1, 0, 1), normal(0, 0.3), scalar(1, 0, 1.5), normal(0, 0.3)};
  const as_printed::Printed loose = as_printed::entropy_bound(same_drift, 0.5);
  cases.push_back({"main_theorem", "same drift; Sigma 1, 1.5; from N(0, 0.3); t = 0.5", 1,
                   kl_of(same_drift, 0.5), loose.value,
                   value(entropy_rate_bounds(same_drift, 0.5).primal), loose.valid});
  const OuPair equal{scalar(1, 0, 1), normal(0, 0), scalar(1.5, 0.3, 1), normal(0, 0)};
  const as_printed::Printed same = as_printed::entropy_bound(equal, 1.0);
  cases.push_back({"main_theorem", "equal Sigma; rates 1, 1.5; from a point; t = 1", 0,
                   kl_of(equal, 1.0), same.value, value(entropy_rate_bounds(equal, 1.0).primal),
                   same.valid});
  const OuPair point{scalar(1, 0, 1), normal(0, 0), scalar(1, 0, 1.5), normal(0, 0)};
  // The paper takes the integral to be finite here; it is not.
  cases.push_back({"main_theorem", "Sigma 1, 1.5; from a common point (taken to be finite); t = 1",
                   2, kl_of(point, 1.0), as_printed::entropy_bound(point, 1.0).value,
                   value(entropy_rate_bounds(point, 1.0).primal), false});
}

void add_norm_bound(std::vector<PrintedCase>& cases) {
  const OuPair pair = final_distribution_pair();
  for (const auto under :
       {as_printed::Under::final_distribution, as_printed::Under::running_distribution}) {
    const as_printed::Printed printed = as_printed::noise_norm_bound(pair, 1.0, under);
    cases.push_back(
        {"noise_norm_bound",
         fmt::format("rates 2, 0.1; x_0 = 10; t = 1; expectation under {}",
                     under == as_printed::Under::final_distribution ? "p_t, as printed"
                                                                    : "p_s, as must be meant"),
         12, kl_of(pair, 1.0), printed.value, value(path_bound(pair, 1.0)), printed.valid});
  }
}

void add_propositions(std::vector<PrintedCase>& cases) {
  const struct {
    const char* setting;
    IsotropicPair pair;
    double time;
  } first[] = {
      {"sigma = 3, Delta = 100, kappa = kappa' = 1, x_0 = 0, t = 20",
       {1, 1, 0, 9, 1, 100, 9, 0},
       20},
      {"d = 3000, kappa = 1, kappa' = 2, sigma = 1, t = 20", {3000, 1, 0, 1, 2, 0, 1, 0}, 20},
      {"x_0 = 100, kappa = 1, kappa' = 2, t = 0.5", {1, 1, 0, 1, 2, 0, 1, 100}, 0.5},
      {"sigma = 10, sigma' = 0.1, f = f', t = 20", {1, 1, 0, 100, 1, 0, 0.01, 0}, 20}};
  for (const auto& row : first) {
    // All dimensions but the first are alike and independent: the KL of many is a multiple of one's.
    IsotropicPair small = row.pair;
    small.dimension = 1;
    Claimed<double> kl = kl_of(processes(small), row.time);
    if (row.pair.dimension > 1) {
      IsotropicPair rest = small;
      rest.start = rest.target = rest.target_prime = 0.0;
      kl.value += (row.pair.dimension - 1) * kl_of(processes(rest), row.time).value;
    }
    const LangevinConstants known = constants(row.pair);
    const auto printed = as_printed::uniform_proposition(known, 0.0, kl.value);
    std::optional<Claimed<double>> corrected;
    if (row.pair.variance == row.pair.variance_prime) {
      corrected = value(kl_bound_finite_time(known, row.time));
    }
    cases.push_back(
        {"first_proposition", row.setting, 6, kl, printed.value, corrected, printed.valid});
  }
  const struct {
    const char* setting;
    IsotropicPair pair;
  } second[] = {{"kappa = sigma = 1, Delta = 10", {1, 1, 0, 1, 1, 10, 1, 0}},
                {"kappa = 1, sigma = 2, Delta = 10", {1, 1, 0, 4, 1, 10, 4, 0}}};
  for (const auto& row : second) {
    const Claimed<double> kl = kl_of(processes(row.pair), kInf);
    const LangevinConstants known = constants(row.pair);
    const auto printed = as_printed::stationary_proposition(known, kl.value);
    cases.push_back({"second_proposition", row.setting, 10, kl, printed.value,
                     value(kl_bound_stationary(known)), printed.valid});
  }
}

void add_constants(std::vector<PrintedCase>& cases) {
  const struct {
    double sigma, kappa, start, time;
    const char* setting;
  } rows[] = {{2, 1, 0, kInf, "sigma = 2, kappa = 1, t = inf"},
              {0.5, 2, 0, kInf, "sigma = 0.5, kappa = 2, t = inf"},
              {1, 1, 10, 1, "sigma = kappa = t = 1, C_0 = 10"}};
  for (const auto& row : rows) {
    const double variance = row.sigma * row.sigma;
    const auto printed = as_printed::lsi_constant(variance, row.kappa, row.start, row.time);
    const double exact = lsi_constant(variance, row.kappa, row.start, row.time);
    cases.push_back(
        {"log_sobolev_constant", row.setting, 4,
         Claimed<double>{exact, Claim::exact,
                         "constant of the Ornstein-Uhlenbeck distribution at that time"},
         printed.value, Claimed<double>{exact, Claim::upper_bound, "Spec §7.2, attained"},
         printed.valid});
  }
  const OuDistribution unit(scalar(1, 0, 1), normal(0, 0));
  const double variance = trace(unit.at(kInf).covariance);
  // exp(-f / (2 sigma^2)) with f = kappa x^2/2 is the density of N(0, 2 sigma^2 / kappa).
  const double printed = 2.0 * isotropic_variance(scalar(1, 0, 1).noise).value() / 1.0;
  cases.push_back({"invariant_law", "variance for f = x^2/2, sigma = 1", 3,
                   Claimed<double>{variance, Claim::exact, "long-run distribution of the process"},
                   printed, Claimed<double>{0.5, Claim::exact, "exp(-2 f / sigma^2), Spec §7.1"},
                   std::fabs(printed - variance) <= kSlack});
  for (const double distance : {10.0, 1.0}) {
    const auto lemma = as_printed::convergence_lemma(1.0, 1.0, distance * distance, 1.0);
    const OuDistribution distribution(scalar(1, 0, 1), normal(distance, 0));
    const double half = 0.5 * distribution.error(1.0, VectorXd::Zero(1));
    cases.push_back(
        {"convergence_lemma", fmt::format("kappa = tr Sigma = t = 1, |x_0 - x*| = {:g}", distance),
         11, Claimed<double>{half, Claim::exact, "1/2 E|x_t - x*|^2 of the quadratic"}, lemma.value,
         Claimed<double>{0.5 * mean_square_distance_bound(1.0, 1.0, distance * distance, 1.0),
                         Claim::upper_bound, "Spec §7.3, attained"},
         lemma.valid});
  }
}

void add_quadratic(std::vector<PrintedCase>& cases) {
  const MatrixXd a = (Matrix2d() << 2, .5, .5, 1).finished();
  const MatrixXd sigma = (Matrix2d() << 1, .4, .4, .5).finished();
  const OuProcess process{a, Vector2d::Zero(), Dense{sigma}};
  const auto printed = as_printed::quadratic_covariance(process, kInf);
  const double truth = dense(
      OuDistribution(process, point_distribution(Vector2d::Zero())).at(kInf).covariance)(0, 1);
  cases.push_back(
      {"quadratic_covariance", "entry (1, 2) of V_inf, A = [2 .5; .5 1], Sigma = [1 .4; .4 .5]", 15,
       Claimed<double>{truth, Claim::exact, "Lyapunov equation, Spec §5"}, printed.value(0, 1),
       Claimed<double>{truth, Claim::exact, "Lyapunov equation, Spec §5"},
       std::fabs(printed.value(0, 1) - truth) <= kSlack});
  // The printed error lemma is the trace alone.
  const Vector2d target(1.0, 1.0);
  const OuProcess ill{Vector2d(10, 1).asDiagonal(), Vector2d(10, 1), Diagonal{Vector2d(4, .25)}};
  const OuDistribution distribution(ill, point_distribution(Vector2d::Zero()));
  const double error = distribution.error(1.0, target);
  const double trace_part = trace(distribution.at(1.0).covariance);
  cases.push_back(
      {"error_lemma", "A = diag(10, 1), Sigma = diag(4, 1/4), x_0 = 0, x* = (1, 1), t = 1", 17,
       Claimed<double>{error, Claim::exact, "E|x_t - x*|^2, bias included"}, trace_part,
       Claimed<double>{error, Claim::exact, "Spec §5"}, std::fabs(trace_part - error) <= kSlack});
}

void add_privacy(std::vector<PrintedCase>& cases) {
  for (const double shift : {1.0, 0.1}) {
    const VectorXd difference = VectorXd::Constant(1, shift);
    const Covariance unit = Isotropic{1.0, 1};
    const double truth = gaussian_hockey_stick(shifted_normals(shift), 1.0).delta;
    const double printed =
        delta_from_concentration_as_printed(difference, unit, Epsilon(1.0)).value.probability();
    cases.push_back({"concentration_corollary",
                     fmt::format("delta at eps = 1, N(0, 1) against N({:g}, 1)", shift), 18,
                     Claimed<double>{truth, Claim::exact, "hockey-stick divergence"}, printed,
                     Claimed<double>{truth, Claim::exact, "Spec §3.1"}, bounds(printed, truth)});
  }
  const OuPair unequal{{(Matrix2d() << 2, .5, .5, 1).finished(),
                        (Matrix2d() << 2, .5, .5, 1).finished() * Vector2d(.3, -.2),
                        Dense{(Matrix2d() << 1, .4, .4, .5).finished()}},
                       point_distribution(Vector2d(1, 1)),
                       {(Matrix2d() << 1.8, .4, .4, 1.1).finished(),
                        (Matrix2d() << 1.8, .4, .4, 1.1).finished() * Vector2d(.35, -.1),
                        Dense{(Matrix2d() << .9, .3, .3, .6).finished()}},
                       point_distribution(Vector2d(1, 1))};
  const struct {
    const char* setting;
    WhitenedPair pair;
  } pairs[] = {
      {"N(0, 1) against N(0.1, 1)", shifted_normals(0.1)},
      {"N(0, 1) against N(1, 1)", shifted_normals(1.0)},
      {"N(0, 1) against N(3, 1)", shifted_normals(3.0)},
      {"rates 0.5, 1; Sigma 0.75, 1; t = 2", distributions_at(halved_phi_pair(), 2.0)},
      {"two dimensions, unequal A, x* and Sigma; t = 0.6", distributions_at(unequal, 0.6)}};
  for (const auto& row : pairs) {
    const Risk risk = Risk::exact(row.pair);
    const Nats kl = std::min(risk.kl(Direction::forward).value, risk.kl(Direction::reverse).value);
    const double printed = pinsker_bound(kl).value;
    cases.push_back({"advantage_bound", row.setting, 0, risk.advantage(), printed,
                     total_variation_from_kl(kl), bounds(printed, risk.advantage().value)});
  }
}

/// Symmetric positive definite with eigenvalues from 0.1 to 10, from the numbers that `next` gives.
template <class Next>
MatrixXd random_definite(Eigen::Index d, Next&& next) {
  MatrixXd root(d, d);
  for (double& entry : root.reshaped()) entry = 2.0 * next() - 1.0;
  const double scale = std::pow(10.0, 2.0 * next() - 1.0);
  return scale * (root * root.transpose() + 0.1 * MatrixXd::Identity(d, d));
}

}  // namespace

OuPair halved_phi_pair() {
  return {scalar(0.5, 0, 0.75), normal(0, 0.5), scalar(1, 0, 1), normal(0, 0.5)};
}

OuPair final_distribution_pair() {
  return {scalar(2, 0, 1), normal(10, 0), scalar(0.1, 0, 1), normal(10, 0)};
}

MultiplicativeNoise multiplicative_noise(const std::vector<double>& times) {
  const auto variance = [](double x) { return 1.0 + 0.5 / (1.0 + x * x); };
  const auto slope = [](double x) { return -x / ((1.0 + x * x) * (1.0 + x * x)); };
  // b is chosen such that the printed Phi = (Sigma' - Sigma) grad log q - (h' - h) vanishes for the
  // stationary q = N(0, 1/2).
  const auto drift = [=](double x) { return -x - ((1.0 - variance(x)) * (-2.0 * x) - slope(x)); };
  const auto field = [](auto function) -> Field {
    return [function](double, const ConstPoints& at, MutablePoints out) {
      for (Eigen::Index i = 0; i < at.rows(); ++i) out(i, 0) = function(at(i, 0));
    };
  };
  const StartedDiffusion p{
      {1, field(drift), DiagonalNoise{field(variance), field(slope)}, {}, true}, normal(0, 0.5)};
  const StartedDiffusion q{linear_diffusion(scalar(1, 0, 1)), normal(0, 0.5)};
  MultiplicativeNoise result{solve_fokker_planck_pair(p, q, times), {}};
  double largest = 0.0;
  for (int i = -800; i <= 800; ++i) {
    const double x = 0.01 * i;
    const double h = drift(x) - slope(x);
    const double phi = (1.0 - variance(x)) * (-2.0 * x) - (-x - h);
    largest = std::max(largest, 0.5 * phi * phi / variance(x));
  }
  for (const double time : times) result.printed.push_back(time * largest);
  return result;
}

std::vector<PrintedCase> printed_cases() {
  std::vector<PrintedCase> cases;
  add_main_theorem(cases);
  add_norm_bound(cases);
  add_propositions(cases);
  add_constants(cases);
  add_quadratic(cases);
  add_privacy(cases);
  return cases;
}

std::vector<PropositionRatio> proposition_ratios() {
  std::vector<PropositionRatio> ratios;
  for (const auto& [start, variance, kappa] :
       {std::tuple{0.0, 1.0, 1.0}, std::tuple{2.0, 1.0, 1.0}, std::tuple{1.0, 4.0, 0.5}}) {
    // The braces of the two bounds agree where the minimisers are far apart; the ratio is then that
    // of what stands before them.
    const LangevinConstants near{{kappa, kappa}, {kappa, kappa}, variance, variance, 1, 1e8, 0.0};
    const double first = as_printed::uniform_proposition(near, start).value;
    const double second = as_printed::stationary_proposition(near).value;
    ratios.push_back(
        {start, variance, kappa, first / second, 16.0 * (4.0 + start * variance * kappa)});
  }
  return ratios;
}

RandomPairCount count_violations(std::size_t pairs, std::uint64_t seed) {
  RandomPairCount count;
  for (std::size_t i = 0; i < pairs; ++i) {
    const Stream stream(StreamKey(seed, Purpose::simulation, {i}));
    std::uint64_t index = 0;
    const auto next = [&] {
      double value = 0.0;
      stream.fill_uniform(0, index++, {&value, 1});
      return value;
    };
    const auto d = static_cast<Eigen::Index>(1 + std::min(2.0, std::floor(3.0 * next())));
    const auto process = [&]() -> OuProcess {
      const MatrixXd a = random_definite(d, next);
      VectorXd target(d);
      for (double& entry : target) entry = 2.0 * next() - 1.0;
      return {a, a * target, Dense{random_definite(d, next)}};
    };
    const GaussianDistribution start{VectorXd::Zero(d), Dense{random_definite(d, next)}};
    OuProcess p = process();
    OuProcess q = process();
    if (next() < 0.5) {
      // Near the counterexamples: noise and drift change together.
      const double factor = 0.5 + next();
      q = {factor * p.curvature, factor * p.pull, scaled(p.noise, factor + 0.1 * next())};
    }
    const OuPair pair{p, start, q, start};
    const double time = std::pow(10.0, 2.0 * next() - 1.0);
    const double kl = exact_kl(pair, time).value.value();
    const double printed = as_printed::entropy_bound(pair, time).value;
    const EntropyRateBounds ours = entropy_rate_bounds(pair, time);
    ++count.pairs;
    if (!bounds(printed, kl)) {
      ++count.printed_violated;
      count.worst_printed = std::max(count.worst_printed, kl / printed);
    }
    if (!bounds(ours.primal.kl.value.value(), kl)) ++count.primal_violated;
    if (!bounds(ours.dual.kl.value.value(), kl)) ++count.dual_violated;
  }
  return count;
}

}  // namespace sfumato::apps
