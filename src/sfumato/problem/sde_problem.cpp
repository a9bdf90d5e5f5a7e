#include "sfumato/problem/sde_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/problem/model_pair.hpp"
#include "sfumato/problem/quadratic_loss.hpp"
#include "sfumato/problem/sde_file.hpp"
#include "sfumato/problem/sde_side.hpp"
#include "sfumato/problem/simulation_size.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/drift_formulas.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

struct Flow {
  std::vector<double> times;
};

const Keys<Flow>& flow_keys() {
  static const Keys<Flow> all = {keys::required(
      keys::numbers_key<Flow>("times", "list of numbers >= 0",
                              "times at which the weights are seen; inf: the stationary "
                              "distribution",
                              &Flow::times, not_a_time))};
  return all;
}

const char* not_a_step(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite number > 0";
}

void read_domain(EstimatePlan& plan, const TomlTable& table, const std::string& key) {
  const ArrayValue box = table.array(key);
  const Eigen::MatrixXd ends = box.rank == 1 ? box.values.transpose() : box.values;
  if (ends.cols() != 2) {
    throw InvalidArgument("`estimate.domain` does not have two ends per coordinate",
                          "Give [low, high], or a list of such pairs", box.where);
  }
  plan.domain.clear();
  for (Index i = 0; i < ends.rows(); ++i) {
    if (!(ends(i, 0) < ends(i, 1))) {
      throw InvalidArgument(
          fmt::format("`estimate.domain`: [{}, {}] is not an interval", ends(i, 0), ends(i, 1)),
          "Give the lower end first", box.where);
    }
    plan.domain.push_back({ends(i, 0), ends(i, 1)});
  }
}

std::string nothing(const EstimatePlan&) { return {}; }

const Keys<EstimatePlan>& estimate_keys() {
  using Q = EstimatePlan;
  using namespace keys;
  static const Keys<Q> all = [] {
    Key<Q> paths = integer_key<Q>("paths", "paths to simulate (default: 20000, fewer for a table)",
                                  &Q::paths, 2, 1000000000);
    paths.write = nothing;
    Key<Q> cells = integer_key<Q>("cells", "grid cells per axis (default: found by trial)",
                                  &Q::cells, 16, 1000000);
    cells.write = nothing;
    const auto read_cells = cells.read;
    cells.read = [read_cells](Q& to, const TomlTable& table, const std::string& key) {
      read_cells(to, table, key);
      to.cells = (to.cells + 3) / 4 * 4;  // three grids, each with half the cells of the one before
    };
    const Key<Q> domain = {"domain", "list of [low, high]",
                           "range of the grid in each coordinate (default: found by trial)",
                           read_domain, nothing};
    return Keys<Q>{
        flag_key<Q>("monte_carlo", "estimate by simulated paths", &Q::monte_carlo),
        integer_key<Q>("seed", "seed of the simulation", &Q::seed, 0),
        std::move(paths),
        number_key<Q>("step", "number > 0",
                      "time step of a path (default: last time / 1000, at most 0.01)", &Q::step,
                      not_a_step),
        flag_key<Q>("fokker_planck", "estimate by densities on a grid, in one or two dimensions",
                    &Q::fokker_planck),
        std::move(cells),
        domain};
  }();
  return all;
}

const char* not_a_sensitivity(double value) {
  return std::isfinite(value) && value >= 0.0 ? nullptr : "is not a finite number >= 0";
}

const char* not_a_finite_rate(double value) {
  return std::isfinite(value) ? nullptr : "is not a finite rate";
}

const Keys<AssumedConstants>& assume_keys() {
  using Q = AssumedConstants;
  using namespace keys;
  static const Keys<Q> all = {
      number_key<Q>("sensitivity", "number >= 0",
                    "upper bound on |Sigma^(-1/2) (b - b')| for all x, if you have a proof",
                    &Q::sensitivity, not_a_sensitivity),
      number_key<Q>(
          "contraction", "number",
          "contraction rate of the drift of D in the metric of its noise, if you have a proof",
          &Q::contraction, not_a_finite_rate),
      number_key<Q>("contraction_prime", "number", "the same for D'", &Q::contraction_prime,
                    not_a_finite_rate)};
  return all;
}

/// sup |Sigma^{-1/2} (b - b')| of two drifts by formulas, by interval arithmetic.
Known<Claimed<double>> derived_sensitivity(const SdePair& pair) {
  const char* unknown =
      "no bound on |Sigma^(-1/2) (b - b')| for all x is known: state one in [assume]";
  const Covariance* noise = constant_noise(pair.p.diffusion);
  if (noise == nullptr || !same_noise(pair) || !is_definite(*noise) ||
      pair.p.diffusion.formulas == nullptr || pair.q.diffusion.formulas == nullptr) {
    return {{}, unknown};
  }
  const Index d = pair.p.diffusion.dimension;
  const Eigen::MatrixXd metric = solve(*noise, Eigen::MatrixXd::Identity(d, d)) * (1.0 + 1e-12);
  const double squared = squared_gap_range(*pair.p.diffusion.formulas, *pair.q.diffusion.formulas,
                                           0.5 * (metric + metric.transpose()))
                             .upper;
  if (!(squared < std::numeric_limits<double>::infinity())) return {{}, unknown};
  return {Claimed<double>{std::sqrt(std::max(0.0, squared)), Claim::upper_bound,
                          "range of the formulas, by interval arithmetic"},
          {}};
}

/// A stated bound on the difference of the drifts against its value at the mean of the start.
void require_not_refuted(double sensitivity, const SdePair& pair) {
  const Covariance* noise = constant_noise(pair.p.diffusion);
  if (noise == nullptr || !same_noise(pair) || !is_definite(*noise)) return;
  Points at(1, pair.p.diffusion.dimension), first = at, second = at;
  at.row(0) = pair.p.start.mean.transpose().array();
  pair.p.diffusion.drift(0.0, at, first);
  pair.q.diffusion.drift(0.0, at, second);
  const Eigen::VectorXd gap = (first - second).matrix().row(0).transpose();
  const double there = std::sqrt(gap.dot(solve(*noise, gap).col(0)));
  if (!(sensitivity < there * (1.0 - 1e-9))) return;
  throw InvalidArgument(fmt::format("`assume.sensitivity` = {} is wrong: the drifts differ by "
                                    "{:.6g} at the mean of the start",
                                    sensitivity, there),
                        "State an upper bound over all x", Where::key("sensitivity"));
}

/// The rate in the metric of the noise that is proven; -inf if none is.
double proven_rate(const Diffusion& diffusion) {
  const Covariance* noise = constant_noise(diffusion);
  const bool known = diffusion.contraction && noise != nullptr && is_definite(*noise);
  return known ? diffusion.contraction(*noise) : -std::numeric_limits<double>::infinity();
}

/// A stated contraction rate against that of the linear part at the mean of the start, which no rate exceeds.
void require_rate_not_refuted(const char* key, double rate, const StartedDiffusion& process) {
  const Covariance* noise = constant_noise(process.diffusion);
  if (process.diffusion.formulas == nullptr || noise == nullptr || !is_definite(*noise)) return;
  const Eigen::MatrixXd slope = process.diffusion.formulas->jacobian_at(0.0, process.start.mean);
  if (!slope.allFinite()) return;
  const double there = linear_contraction(-slope, *noise);
  if (!(rate > there + 1e-9 * (1.0 + std::abs(there)))) return;
  throw InvalidArgument(
      fmt::format("`assume.{}` = {} is wrong: at the mean of the start the rate is {:.6g}", key,
                  rate, there),
      "State a rate that holds everywhere", Where::key(key));
}

/// The pair of the two sides, and what is known of it.
void read_pair(const TomlTable& root, DriftsAre drifts, SdeProblem& problem) {
  const Side d(root, "d", std::nullopt);
  const Side d_prime(root, "d_prime", "d");
  require_known_keys(d);
  require_known_keys(d_prime);
  problem.defaults = start_defaults(d);
  if (d.require(drift_keys(), "the drift").key == "model") {
    ModelPair model = read_model_pair(d, d_prime);
    problem.pair = std::move(model.pair);
    problem.with_noise = std::move(model.with_noise);
    problem.kind = {model.kind, model.kind};
    problem.work = model.work;
    problem.way_of_change = model.way_of_change;
    problem.frozen = model.frozen;
  } else {
    SideDiffusion p = read_sde_side(d);
    SideDiffusion q = read_sde_side(d_prime);
    if (drifts == DriftsAre::placeholders) {
      for (Diffusion* diffusion : {&p.diffusion, &q.diffusion}) {
        diffusion->formulas.reset();
        diffusion->jacobian.reset();
        diffusion->contraction = {};
      }
    }
    if (q.diffusion.dimension != p.diffusion.dimension) {
      throw InvalidArgument(fmt::format("[d_prime] has {} coordinates, [d] has {}",
                                        q.diffusion.dimension, p.diffusion.dimension),
                            "Both must have the same", root.where("d_prime"));
    }
    const Index dimension = p.diffusion.dimension;
    const GaussianDistribution start_p = start_of(d, dimension);
    const GaussianDistribution start_q = start_of(d_prime, dimension);
    require_finite_drift(d, p.diffusion, start_p);
    require_finite_drift(d_prime, q.diffusion, start_q);
    if (p.linear && q.linear) {
      problem.pair = linear_pair({*p.linear, start_p, *q.linear, start_q});
    } else {
      problem.pair = {{std::move(p.diffusion), start_p}, {std::move(q.diffusion), start_q}};
    }
    const bool own_noise = d_prime.own().has("Sigma") || d_prime.own().has("Sigma_formula");
    problem.pair.shares_noise = !own_noise;
    if (!problem.pair.linear) problem.pair.sensitivity = derived_sensitivity(problem.pair);
    if (problem.pair.linear && !own_noise) {
      problem.with_noise = [linear = *problem.pair.linear](const Covariance& noise) {
        OuPair changed = linear;
        changed.p.noise = changed.q.noise = noise;
        return linear_pair(changed);
      };
    }
    problem.kind = {std::move(p.kind), std::move(q.kind)};
    problem.way_of_change = way_of_change(d_prime);
  }
}

}  // namespace

const std::vector<KeyInfo>& sde_problem_keys() {
  static const std::vector<KeyInfo> all = [] {
    std::vector<KeyInfo> keys = {
        {"", "title", {}, "text", "", false, "title of the output", KeyShape::text, false, "TEXT"}};
    const auto add = [&](const std::vector<KeyInfo>& more) {
      keys.insert(keys.end(), more.begin(), more.end());
    };
    add(infos_of(flow_keys(), "flow"));
    add(infos_of(estimate_keys(), "estimate"));
    add(infos_of(assume_keys(), "assume"));
    add(sde_side_keys());
    return keys;
  }();
  return all;
}

SdeProblem read_sde_problem(const TomlTable& root, const std::string& source, DriftsAre drifts) {
  root.reject_unknown({"title", "flow", "risk", "estimate", "assume", "d", "d_prime"});
  SdeProblem problem;
  problem.source = source;
  if (root.has("title")) problem.title = root.string("title");
  Flow flow;
  read_keys(flow, root.table("flow"), flow_keys());
  problem.times = std::move(flow.times);
  std::sort(problem.times.begin(), problem.times.end());
  if (root.has("estimate")) read_keys(problem.plan, root.table("estimate"), estimate_keys());
  read_pair(root, drifts, problem);
  AssumedConstants constants;
  if (root.has("assume")) read_keys(constants, root.table("assume"), assume_keys());
  located_keys(root, sde_problem_keys(), [&] {
    assume(constants, problem, drifts);
    require_sde_problem(problem);
  });
  return problem;
}

void assume(const AssumedConstants& constants, SdeProblem& problem, DriftsAre drifts) {
  if (constants.sensitivity) {
    const double value = *constants.sensitivity;
    require_key("sensitivity", value, not_a_sensitivity);
    const Known<Claimed<double>>& known = problem.pair.sensitivity;
    if (problem.pair.linear && !(known.value && value >= known.value->value * (1.0 - 1e-12))) {
      throw InvalidArgument(
          fmt::format("`assume.sensitivity` = {} is wrong: {}", value,
                      known.value ? fmt::format("the drifts differ by {}", known.value->value)
                                  : known.reason),
          "Remove it: for linear drifts it is computed", Where::key("sensitivity"));
    }
    if (drifts == DriftsAre::meant) require_not_refuted(value, problem.pair);
    // A proof is worth more than a statement that says less.
    if (!known.value || value < known.value->value) {
      const std::string text =
          fmt::format("|Sigma^(-1/2) (b - b')| <= {} for all x, as the file states", value);
      problem.pair.sensitivity.value =
          Claimed<double>{value, Claim::upper_bound, "stated in the file", {text}};
      problem.assumed.push_back(text);
    }
  }
  const auto contraction = [&](const char* key, const std::optional<double>& rate,
                               StartedDiffusion& process, const char* side) {
    Diffusion& diffusion = process.diffusion;
    if (!rate) return;
    require_key(key, *rate, not_a_finite_rate);
    if (problem.pair.linear) {
      throw InvalidArgument(fmt::format("`assume.{}` is stated, but the drift is linear", key),
                            "Remove it: for linear drifts the rate is computed", Where::key(key));
    }
    const double proven = proven_rate(diffusion);
    require_rate_not_refuted(key, *rate, process);
    // A proof is worth more than a statement that says no more, rounding aside.
    if (*rate <= proven + 1e-9 * (1.0 + std::abs(proven))) return;
    diffusion.contraction = [rate = *rate, own = diffusion.noise,
                             derived = diffusion.contraction](const Covariance& metric) {
      const auto* noise = std::get_if<Covariance>(&own);
      if (noise == nullptr || same_matrix(*noise, metric) || !derived) return rate;
      return derived(metric);
    };
    problem.assumed.push_back(
        fmt::format("the drift of {} contracts at rate {} in the metric of its noise, as the file "
                    "states",
                    side, *rate));
  };
  contraction("contraction", constants.contraction, problem.pair.p, "D");
  contraction("contraction_prime", constants.contraction_prime, problem.pair.q, "D'");
}

void require_sde_problem(const SdeProblem& problem) {
  if (problem.times.empty()) {
    throw InvalidArgument("is empty", "Give one", Where::key("times"));
  }
  require_key("times", problem.times, not_a_time);
  const EstimatePlan& plan = problem.plan;
  double last = 0.0;
  for (const double time : problem.times) last = std::isfinite(time) ? std::max(last, time) : last;
  if (plan.step) {
    require_key("step", *plan.step, not_a_step);
    if (last / *plan.step > kMostSteps) {
      throw InvalidArgument(
          fmt::format("`estimate.step` = {} takes {:.0e} steps to t = {}", *plan.step,
                      last / *plan.step, last),
          fmt::format("Give a longer step: the maximum is {:.0e} steps", kMostSteps),
          Where::key("step"));
    }
  }
  if (!plan.domain.empty() && static_cast<Index>(plan.domain.size()) != problem.dimension()) {
    throw InvalidArgument(fmt::format("`estimate.domain` has {} intervals, the problem {} "
                                      "coordinates",
                                      plan.domain.size(), problem.dimension()),
                          "Give one interval per coordinate", Where::key("domain"));
  }
}

}  // namespace sfumato
