// Golden functions of Spec §17 to §20 and §28 to §32: the accountant. Numbers that it encloses are given as {"lo", "hi"}.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "golden/registry.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/account/accountant/correlated_noise.hpp"
#include "sfumato/account/accountant/gdp_summary.hpp"
#include "sfumato/account/accountant/last_iterate.hpp"
#include "sfumato/account/accountant/normaliser.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/accountant/renyi_conversion.hpp"
#include "sfumato/account/accountant/tuning.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

double number(const Json& in, const char* key) { return in.at(key).get<double>(); }

Json enclosure(double lo, double hi) { return {{"lo", json_from(lo)}, {"hi", json_from(hi)}}; }
Json enclosure(const Enclosure& both) { return enclosure(both.lower.value, both.upper.value); }

StepDirection direction_from(const Json& in) {
  const auto word = in.at("direction").get<std::string>();
  for (const StepDirection direction :
       {StepDirection::remove, StepDirection::add, StepDirection::replace}) {
    if (word == name(direction)) return direction;
  }
  throw InvalidArgument("direction = " + word + " is none", "Write remove, add or replace");
}

NeighbouringRelation relation_from(const Json& in) {
  const auto word = in.at("adjacency").get<std::string>();
  for (const NeighbouringRelation relation :
       {NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
        NeighbouringRelation::replace_one}) {
    if (word == name(relation)) return relation;
  }
  throw InvalidArgument("adjacency = " + word + " is none",
                        "Write add_remove, zero_out or replace_one");
}

/// Steps of a ledger entry; without sampling they are normal (Spec §19.3), twice as far apart where a record is replaced.
void add_entry(const Json& entry, TotalLoss* loss) {
  const StepDirection direction = direction_from(entry);
  const double q = number(entry, "q"), m = 1.0 / number(entry, "noise_multiplier");
  const double k = number(entry, "steps");
  if (q < 1.0) {
    loss->steps.push_back(SampledGaussian{q, m, k, direction});
    return;
  }
  const double far = direction == StepDirection::replace ? 2.0 * m : m;
  loss->mu_squared += k * far * far;
}

TotalLoss loss_from(const Json& entry) {
  TotalLoss loss;
  add_entry(entry, &loss);
  return loss;
}

/// `width` is how wide the enclosure is known to be where that is more than the golden file allows.
Json delta_json(const TotalLoss& loss, double eps, double width = 0.0) {
  const DeltaEnclosure found = delta_of(loss, eps);
  Json delta = enclosure(found.lo(), found.hi());
  delta["width"] = width;
  return {{"delta", delta}, {"log_delta", enclosure(found.log.log_lo, found.log.log_hi)}};
}
constexpr double kFewSteps = 1e-7;  // the split of rare hits (Spec §18.5) where there are few steps
constexpr double kUnequal = 4e-9;   // normal distributions of unequal covariance, either way
constexpr double kManyEpochs = 1e-8;  // of random allocation: each adds some 1e-13
constexpr double kAtom = 1e-2;  // the smoothed contour (Spec §18.6) where the loss has an atom

/// min over eps of delta(eps) + e^eps fpr (Spec §19.1), for either direction: the sum is convex in x = e^eps, so that its values at three
/// points bound its least from below.
Json best_rate(const TotalLoss& loss, double fpr) {
  const auto high = [&](double eps) { return delta_of(loss, eps).hi() + std::exp(eps) * fpr; };
  double low = -20.0, top = 50.0;
  for (int i = 0; i < 80 && top - low > 1e-6; ++i) {
    const double a = low + 0.382 * (top - low), b = low + 0.618 * (top - low);
    (high(a) < high(b) ? top : low) = high(a) < high(b) ? b : a;
  }
  const double x = std::exp(0.5 * (low + top));
  const auto ends = [&](double at) {
    const DeltaEnclosure found = delta_of(loss, std::log(at));
    return std::pair{found.lo() + at * fpr, found.hi() + at * fpr};
  };
  const auto [lo, hi] = ends(x);
  for (const double step : {1e-5 * x, 1e-4 * x, 1e-3 * x}) {
    const auto [left_lo, left_hi] = ends(x - step);
    const auto [right_lo, right_hi] = ends(x + step);
    if (left_lo >= hi && right_lo >= hi) {  // the least is between them
      return enclosure(lo - std::max(left_hi - lo, right_hi - lo), hi);
    }
  }
  return enclosure(fpr, hi);
}

double renyi_of(const TotalLoss& loss, double order) {
  const double s = order - 1.0;
  return cumulant(loss, s).value / s;
}

Accountant poisson_accountant(const Json& in) {
  Accountant accountant(NeighbouringRelation::add_remove);
  accountant.compose({GaussianNoise{number(in, "noise_multiplier")}, Sampler::poisson,
                      number(in, "q"), in.at("steps").get<std::uint64_t>()});
  return accountant;
}

TotalLoss allocation_loss(const Json& in, StepDirection direction) {
  TotalLoss loss;
  loss.steps.push_back(AllocatedGaussian{number(in, "t"), 1.0 / number(in, "noise_multiplier"),
                                         number(in, "epochs"), direction});
  return loss;
}

void register_allocation(Registry& registry) {
  registry["allocation_log_moment"] = [](const Json& in) -> Json {
    // s of a removal is the order less 1: above -1 alone, and the other direction has those below 0.
    const double order = number(in, "order");
    const bool above = order > 0.0;
    const AllocatedGaussian step{number(in, "t"), 1.0 / number(in, "noise_multiplier"), 1.0,
                                 above ? StepDirection::remove : StepDirection::add};
    const StepCumulant found = step.moments().at(above ? order - 1.0 : -order);
    return {{"log_moment", enclosure(found.value - found.error, found.value + found.error)}};
  };
  registry["allocation_delta"] = [](const Json& in) -> Json {
    const double width = number(in, "epochs") >= 1000.0 ? kManyEpochs : 0.0;
    return delta_json(allocation_loss(in, direction_from(in)), number(in, "eps"), width);
  };
  registry["allocation_epsilon"] = [](const Json& in) -> Json {
    const EpsilonEnclosure found = largest_epsilon(
        {allocation_loss(in, StepDirection::remove), allocation_loss(in, StepDirection::add)},
        number(in, "delta"));
    return {{"eps", enclosure(found.lo, found.hi)}};
  };
}

RunsDistribution runs_from(const Json& in) {
  const auto law = in.at("law").get<std::string>();
  if (law == "poisson") return PoissonRuns{number(in, "mean")};
  if (law == "tnb") return NegativeBinomialRuns{number(in, "eta"), number(in, "gamma")};
  throw InvalidArgument("law = " + law + " is none", "Write tnb or poisson");
}

TuningCost tuning_of(const Json& in) {
  PrivateReleases base{NeighbouringRelation::add_remove};
  base.list.push_back({GaussianNoise{1.0 / number(in, "mu")}});
  return tuning_cost(base, runs_from(in), Delta(number(in, "delta")));
}

void register_tuning(Registry& registry) {
  registry["tuning_epsilon_simple"] = [](const Json& in) -> Json {
    const TuningCost cost = tuning_of(in);
    Json out = {
        {"eps", cost.simple}, {"delta_base", cost.delta_base}, {"e1", cost.e1}, {"e2", cost.e2}};
    return out;
  };
  // The golden value is the limit of ever finer lines, below any of them; and the largest of a grid, below the largest.
  registry["tuning_epsilon"] = [](const Json& in) -> Json {
    const TuningCost cost = tuning_of(in);
    return {{"eps", {{"hi", json_from(cost.sharp.value_or(cost.simple))}}},
            {"attained", json_from(cost.attained)}};
  };
}

void register_noise(Registry& registry) {
  registry["normaliser_delta"] = [](const Json& in) -> Json {
    const double steps = number(in, "steps"), shift = number(in, "shift");
    const UnequalNormalisers pair{number(in, "dimension") * steps, number(in, "normaliser_p"),
                                  number(in, "normaliser_q"), steps * shift * shift};
    Json delta = enclosure(unequal_delta(pair, number(in, "eps")));
    delta["width"] = kUnequal;
    return {{"delta", delta}};
  };
  registry["gdp_mu"] = [](const Json& in) -> Json {
    PrivateReleases releases{relation_from(in)};
    releases.list.push_back({GaussianNoise{number(in, "noise_multiplier")}, Sampler::poisson,
                             number(in, "q"), in.at("steps").get<std::uint64_t>()});
    const GdpSummary found = gdp_summary(releases, number(in, "d0"));
    return {{"mu_lower", found.mu_lower}, {"mu_upper", found.mu_upper}};
  };
  registry["toeplitz_sensitivity"] = [](const Json& in) -> Json {
    return {{"sensitivity", toeplitz_sensitivity(in.at("coefficients").get<std::vector<double>>(),
                                                 in.at("steps").get<std::size_t>(),
                                                 in.at("separation").get<std::size_t>(),
                                                 in.at("participations").get<std::size_t>())}};
  };
}

void register_profiles(Registry& registry) {
  registry["subsampled_gaussian_delta"] = [](const Json& in) -> Json {
    const double width = number(in, "steps") < 10.0 ? kFewSteps : 0.0;
    return delta_json(loss_from(in), number(in, "eps"), width);
  };
  registry["subsampled_gaussian_epsilon"] = [](const Json& in) -> Json {
    const EpsilonEnclosure found = epsilon_of(loss_from(in), number(in, "delta"));
    return {{"eps", enclosure(found.lo, found.hi)}};
  };
  registry["composed_delta"] = [](const Json& in) -> Json {
    TotalLoss loss;
    for (const Json& entry : in.at("ledger")) add_entry(entry, &loss);
    return delta_json(loss, number(in, "eps"));
  };
  registry["replace_two_sided_delta"] = [](const Json& in) -> Json {
    const TwoSidedGaussian step{number(in, "q"), 2.0 / number(in, "noise_multiplier"),
                                number(in, "steps")};
    return delta_json({{step}}, number(in, "eps"), kAtom);
  };
  registry["group_delta"] = [](const Json& in) -> Json {
    const GroupGaussian step{number(in, "q"), 1.0 / number(in, "noise_multiplier"),
                             in.at("group_size").get<int>(), number(in, "steps"),
                             direction_from(in)};
    return delta_json({{step}}, number(in, "eps"));
  };
  registry["rdp_subsampled"] = [](const Json& in) -> Json {
    Json one_step = in;
    one_step["steps"] = 1;
    return {{"rdp", renyi_of(loss_from(one_step), number(in, "order"))}};
  };
  registry["rdp_epsilon"] = [](const Json& in) -> Json {
    Json entry = in;
    entry["direction"] = in.value("direction", "remove");
    const TotalLoss loss = loss_from(entry);
    double best = std::numeric_limits<double>::infinity(), best_order = 0.0;
    for (const Json& order : in.at("orders")) {
      const double a = order.get<double>();
      const double eps =
          epsilon_from_renyi(Nats(renyi_of(loss, a)), a, Delta(number(in, "delta"))).value.nats();
      if (eps < best) best = eps, best_order = a;
    }
    return {{"eps", best}, {"order", best_order}};
  };
}

void register_attacks(Registry& registry) {
  registry["advantage"] = [](const Json& in) -> Json {
    const Accountant accountant = poisson_accountant(in);
    return {{"advantage", enclosure(accountant.advantage())},
            {"accuracy_prior_half", enclosure(accountant.attack_accuracy(0.5))}};
  };
  registry["bayes_accuracy"] = [](const Json& in) -> Json {
    return {{"accuracy", enclosure(poisson_accountant(in).attack_accuracy(number(in, "prior")))}};
  };
  registry["tpr_at_fpr"] = [](const Json& in) -> Json {
    return {{"tpr", best_rate(loss_from(in), number(in, "fpr"))}};
  };
}

void register_mechanisms(Registry& registry) {
  registry["layerwise_mu"] = [](const Json& in) -> Json {
    const double m = contribution_of_layers(in.at("clips").get<std::vector<double>>(),
                                            in.at("noise_stds").get<std::vector<double>>());
    const bool replaced = relation_from(in) == NeighbouringRelation::replace_one;
    const double mu = replaced ? 2.0 * m : m;
    return {{"mu", mu}, {"noise_multiplier", multiplier_of(mu)}};
  };
  registry["shuffle_epsilon"] = [](const Json& in) -> Json {
    const NeighbouringRelation relation = relation_from(in);
    Accountant accountant(relation);
    accountant.compose({GaussianNoise{number(in, "noise_multiplier")}, Sampler::shuffle, 1.0,
                        in.at("epochs").get<std::uint64_t>()});
    const auto mu = gdp_mu(accountant.releases());
    // A shuffled run is bounded, not attained: only the upper end speaks.
    return {{"mu", mu ? mu->value : std::nan("")},
            {"eps", {{"hi", accountant.epsilon(Delta(number(in, "delta"))).upper.value}}}};
  };
  registry["last_iterate_mu"] = [](const Json& in) -> Json {
    const auto variant = in.at("variant").get<std::string>();
    const double d = number(in, "d"), c = number(in, "c");
    if (variant == "cyclic") {
      return {{"mu", cyclic_last_iterate_mu(d, c, in.at("batches").get<std::uint64_t>(),
                                            in.at("epochs").get<std::uint64_t>())
                         .value}};
    }
    const auto k = in.at("k").get<std::uint64_t>();
    if (variant == "projected") {
      return {{"mu", projected_last_iterate_mu(d, c, k, number(in, "diameter")).value}};
    }
    return {{"mu", last_iterate_mu(d, c, k).value}};
  };
}

void register_calibration(Registry& registry) {
  const auto target = [](const Json& in) {
    return PrivacyBudget{Epsilon(number(in, "eps")), Delta(number(in, "delta"))};
  };
  registry["calibrate_noise"] = [target](const Json& in) -> Json {
    const PrivateRelease run{GaussianNoise{1.0}, Sampler::poisson, number(in, "q"),
                             in.at("steps").get<std::uint64_t>()};
    // The safe end: not below the optimum.
    return {{"noise_multiplier",
             {{"hi", least_noise(PrivateReleases{relation_from(in)}, {run}, target(in))}}}};
  };
  registry["max_steps"] = [target](const Json& in) -> Json {
    const PrivateRelease step{GaussianNoise{number(in, "noise_multiplier")}, Sampler::poisson,
                              number(in, "q"), 1};
    return {{"steps", most_steps(PrivateReleases{relation_from(in)}, step, target(in))}};
  };
}

}  // namespace

void register_accounting(Registry& registry) {
  register_profiles(registry);
  register_allocation(registry);
  register_tuning(registry);
  register_noise(registry);
  register_attacks(registry);
  register_mechanisms(registry);
  register_calibration(registry);
}

}  // namespace sfumato::apps
