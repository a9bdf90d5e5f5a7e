#include "sfumato/answers/bound/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "sfumato/answers/bound/estimates.hpp"
#include "sfumato/answers/bound/model.hpp"
#include "sfumato/answers/problem/quadratic_loss.hpp"
#include "sfumato/answers/problem/side.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "sfumato/sde/family/linear.hpp"
#include "sfumato/sde/family/mixture.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

/// One side without its start.
struct SideDiffusion {
  Diffusion diffusion;
  std::string kind;
  std::optional<OuProcess> linear = {};
};

const std::vector<std::string> kFamilies = {"A", "B", "drift", "potential", "mixture", "model"};

/// Every key that some way of saying the drift has.
const std::vector<std::string> kKeys = {"y",        "minimiser", "pull",      "without_row",
                                        "with",     "variables", "data",      "target",
                                        "features", "intercept", "ridge",     "standardise",
                                        "loss",     "classes",   "minibatch", "Sigma_formula"};

/// What belongs to one way of saying the drift. A key of another way would be ignored, and a user who
/// believes that D' lacks a row would read that nothing is revealed.
void require_known(const Side& side) {
  const Source family = side.require(kFamilies, "the drift");
  std::vector<std::string> known = {"Sigma", "start_mean", "start_covariance"};
  const auto add = [&](std::initializer_list<const char*> keys) {
    known.insert(known.end(), keys.begin(), keys.end());
  };
  if (family.key == "model") {
    add({"model", "data", "target", "features", "intercept", "standardise", "ridge", "loss",
         "classes", "minibatch"});
    if (side.has_behind()) add({"without_row", "with"});
  } else if (family.key == "mixture") {
    add({"mixture"});
  } else if (family.key == "drift" || family.key == "potential") {
    add({"drift", "potential", "variables", "Sigma_formula"});
  } else {
    const std::vector<std::string> own = quadratic_keys(side);
    known.insert(known.end(), own.begin(), own.end());
    add({"Sigma_formula"});
  }
  for (const std::string& key : side.own().keys()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const auto is_family = std::find(kFamilies.begin(), kFamilies.end(), key) != kFamilies.end();
    if (!is_family && std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) continue;
    throw InvalidArgument(fmt::format("`{}.{}` does not go with `{}`, which says the drift",
                                      side.name(), key, family.label),
                          "Remove one of them", side.own().where(key));
  }
  side.own().reject_unknown(known);
}

std::vector<std::string> column(const StringArray& texts, const Source& source) {
  if (texts.rank == 2) {
    throw InvalidArgument(fmt::format("`{}` is a matrix of texts", source.label),
                          "Give a list with one text per coordinate", source.where());
  }
  std::vector<std::string> result;
  for (const auto& row : texts.rows) result.push_back(row.front());
  return result;
}

/// The noise of a side given by formulas or by numbers.
NoiseFormulas noise_formulas(const Side& side, Index dimension) {
  const Source source = side.require({"Sigma", "Sigma_formula"}, "the diffusion covariance");
  if (source.key == "Sigma") return source.covariance(dimension);
  const StringArray texts = source.table.strings(source.key);
  if (texts.rank == 2) return texts.rows;
  return column(texts, source);
}

SideDiffusion formulas(const Side& side, const Source& source) {
  const std::vector<std::string> texts = column(source.table.strings(source.key), source);
  std::vector<std::string> names;
  if (const auto variables = side.find({"variables"})) {
    names = column(variables->table.strings(variables->key), *variables);
    (void)formula_diffusion(names, std::vector<std::string>(names.size(), "0"),
                            Isotropic{1.0, static_cast<Index>(names.size())}, variables->where());
    if (source.key == "drift" && texts.size() != names.size()) {
      throw InvalidArgument(
          fmt::format("`{}` names {} coordinate{}, `{}` has {} formula{}", variables->label,
                      names.size(), names.size() == 1 ? "" : "s", source.label, texts.size(),
                      texts.size() == 1 ? "" : "s"),
          "Give one formula for each coordinate", variables->where());
    }
  } else if (source.key == "drift") {
    names = coordinate_names(static_cast<Index>(texts.size()));
  } else {
    const auto mean = side.find({"start_mean"});
    names = coordinate_names(mean ? mean->array().values.rows() : 1);
  }
  const NoiseFormulas noise = noise_formulas(side, static_cast<Index>(names.size()));
  if (const auto formula = side.find({"Sigma_formula"})) {  // complaints then name its own line
    (void)formula_diffusion(names, std::vector<std::string>(names.size(), "0"), noise,
                            formula->where());
  }
  if (source.key == "drift") {
    return {formula_diffusion(names, texts, noise, source.where()), "drift by formulas"};
  }
  if (texts.size() != 1) {
    throw InvalidArgument(fmt::format("`{}` has {} formulas", source.label, texts.size()),
                          "Give one formula for the potential", source.where());
  }
  return {potential_diffusion(names, texts.front(), noise, source.where()),
          "potential by a formula"};
}

SideDiffusion linear(const Side& side) {
  const QuadraticLoss loss = read_quadratic_loss(side);
  const Index dimension = loss.pull.size();
  const Source noise = side.require({"Sigma", "Sigma_formula"}, "the diffusion covariance");
  if (noise.key == "Sigma") {
    OuProcess process{loss.curvature, loss.pull, noise.covariance(dimension), loss.given};
    Diffusion diffusion = linear_diffusion(process);
    return {std::move(diffusion), "linear drift (quadratic loss)", std::move(process)};
  }
  // The drift of the quadratic, with the noise of formulas.
  Diffusion diffusion = linear_diffusion({loss.curvature, loss.pull, Isotropic{1.0, dimension}});
  diffusion.autonomous = false;  // the noise may depend on the time
  const std::vector<std::string> still(static_cast<std::size_t>(dimension), "0");
  diffusion.noise = formula_diffusion(coordinate_names(dimension), still,
                                      noise_formulas(side, dimension), noise.where())
                        .noise;
  return {std::move(diffusion), "linear drift (quadratic loss), noise by formulas"};
}

const char* not_a_weight(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite weight > 0";
}

SideDiffusion mixture(const Side& side, const Source& source) {
  const TomlTable table = source.table.table("mixture");
  table.reject_unknown({"weights", "means", "covariances", "ridge"});
  const std::vector<double> weights =
      checked_list(table, "weights", source.label + ".weights", not_a_weight);
  const ArrayValue means = table.array("means");
  const auto count = static_cast<Index>(weights.size());
  // Means in one dimension may be a plain list.
  const bool flat = means.rank == 1 && means.values.rows() == count;
  const Index dimension = flat ? 1 : means.values.cols();
  if (!flat && (means.rank != 2 || means.values.rows() != count)) {
    throw InvalidArgument(fmt::format("`{}.means` does not have one row for each of the {} weights",
                                      source.label, count),
                          "Give a list of points", means.where);
  }
  const std::vector<double> variances =
      table.has("covariances")
          ? checked_list(table, "covariances", source.label + ".covariances", not_a_variance)
          : std::vector<double>{1.0};
  if (variances.size() != 1 && variances.size() != weights.size()) {
    throw InvalidArgument(fmt::format("`{}.covariances` has {} numbers for {} components",
                                      source.label, variances.size(), count),
                          "Give one variance for all components, or one for each",
                          table.where("covariances"));
  }
  GaussianMixture law;
  law.weights = weights;
  for (Index k = 0; k < count; ++k) {
    const double variance = variances[variances.size() == 1 ? 0 : static_cast<std::size_t>(k)];
    law.components.push_back({flat ? Eigen::VectorXd::Constant(1, means.values(k, 0))
                                   : Eigen::VectorXd(means.values.row(k).transpose()),
                              Isotropic{variance, dimension}});
  }
  const Source noise = side.require({"Sigma"}, "the diffusion covariance");
  const std::optional<double> variance = isotropic_variance(noise.covariance(dimension));
  if (!variance) {
    throw InvalidArgument("a mixture needs isotropic noise, Sigma = sigma^2 I",
                          "Give one number for Sigma", noise.where());
  }
  const double ridge = table.has("ridge")
                           ? checked_number(table, "ridge", source.label + ".ridge", not_a_strength)
                           : 0.0;
  return {located(source.where(), [&] { return mixture_diffusion(law, *variance, ridge); }),
          fmt::format("Gaussian mixture potential of {} components", count)};
}

/// Throws   InvalidArgument if the drift of a formula has no value where the flow starts.
void require_finite_drift(const Side& side, const Diffusion& diffusion, const GaussianLaw& start) {
  Points at(1, diffusion.dimension);
  at.row(0) = start.mean.transpose().array();
  Points drift(1, diffusion.dimension);
  diffusion.drift(0.0, at, drift);
  if (drift.isFinite().all()) return;
  const Source source = side.require(kFamilies, "the drift");
  throw InvalidArgument(fmt::format("`{}` is not finite at the mean of the start", source.label),
                        "Correct the formula, or start where it has a value", source.where());
}

SideDiffusion read_side(const Side& side) {
  const Source source = side.require(kFamilies, "the drift");
  if (source.key == "drift" || source.key == "potential") return formulas(side, source);
  if (source.key == "mixture") return mixture(side, source);
  return linear(side);
}

EstimatePlan read_plan(const TomlTable& root, const BoundOverrides& overrides) {
  EstimatePlan plan;
  if (root.has("estimate")) {
    const TomlTable table = root.table("estimate");
    table.reject_unknown(
        {"monte_carlo", "seed", "paths", "step", "fokker_planck", "cells", "domain"});
    const auto count = [&](const char* key, std::int64_t least, std::int64_t most) {
      const std::int64_t value = table.integer(key);
      if (value < least || value > most) {
        throw InvalidArgument(fmt::format("`estimate.{}` = {}", key, value),
                              fmt::format("Give a whole number from {} to {}", least, most),
                              table.where(key));
      }
      return value;
    };
    if (table.has("monte_carlo")) plan.monte_carlo = table.boolean("monte_carlo");
    if (table.has("fokker_planck")) plan.fokker_planck = table.boolean("fokker_planck");
    if (table.has("seed")) {
      plan.seed =
          static_cast<std::uint64_t>(count("seed", 0, std::numeric_limits<std::int64_t>::max()));
    }
    if (table.has("paths")) {
      plan.paths = static_cast<std::uint64_t>(count("paths", 2, 1000000000));
    }
    if (table.has("cells")) {  // three grids, each with half the cells of the one before
      plan.cells = (static_cast<Index>(count("cells", 16, 1000000)) + 3) / 4 * 4;
    }
    if (table.has("step")) {
      plan.step = table.number("step");
      if (!(*plan.step > 0.0) || !std::isfinite(*plan.step)) {
        throw InvalidArgument(fmt::format("`estimate.step` = {}", *plan.step),
                              "Give a positive number", table.where("step"));
      }
    }
    if (table.has("domain")) {
      const ArrayValue box = table.array("domain");
      const Eigen::MatrixXd ends = box.rank == 1 ? box.values.transpose() : box.values;
      if (ends.cols() != 2) {
        throw InvalidArgument("`estimate.domain` does not have two ends per coordinate",
                              "Give [low, high], or a list of such pairs", box.where);
      }
      GivenDomain domain{{}, box.where};
      for (Index i = 0; i < ends.rows(); ++i) {
        if (!(ends(i, 0) < ends(i, 1))) {
          throw InvalidArgument(
              fmt::format("`estimate.domain`: [{}, {}] is not an interval", ends(i, 0), ends(i, 1)),
              "Give the lower end first", box.where);
        }
        domain.sides.push_back({ends(i, 0), ends(i, 1)});
      }
      plan.domain = std::move(domain);
    }
  }
  if (overrides.seed) plan.seed = *overrides.seed;
  if (overrides.paths) plan.paths = *overrides.paths;
  return plan;
}

std::vector<double> read_times(const TomlTable& root, const Overrides& overrides) {
  std::vector<double> times;
  if (!overrides.times.empty()) {
    times = without_repeats(overrides.times);
  } else {
    const TomlTable flow = root.table("flow");
    flow.reject_unknown({"times"});
    times = checked_numbers(flow, "times", "flow.times", not_a_time);
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Constants that the file states: they are used as if proven, and every number says so.
void read_assumed(const TomlTable& root, BoundProblem& problem) {
  if (!root.has("assume")) return;
  const TomlTable table = root.table("assume");
  table.reject_unknown({"sensitivity", "contraction", "contraction_prime"});
  if (table.has("sensitivity")) {
    const double value = table.number("sensitivity");
    if (!(value >= 0.0) || !std::isfinite(value)) {
      throw InvalidArgument(fmt::format("`assume.sensitivity` = {}", value),
                            "Give a finite number >= 0", table.where("sensitivity"));
    }
    const Known<Claimed<double>>& known = problem.pair.sensitivity;
    if (problem.pair.linear && !(known.value && value >= known.value->value * (1.0 - 1e-12))) {
      throw InvalidArgument(
          fmt::format("`assume.sensitivity` = {} is wrong: {}", value,
                      known.value ? fmt::format("the drifts differ by {}", known.value->value)
                                  : known.reason),
          "Remove it: for linear drifts it is computed", table.where("sensitivity"));
    }
    const std::string text =
        fmt::format("|Sigma^(-1/2) (b - b')| <= {} for all x, as the file states", value);
    problem.pair.sensitivity.value =
        Claimed<double>{value, Claim::upper_bound, "stated in the file", {text}};
    problem.assumed.push_back(text);
  }
  const auto contraction = [&](const char* key, Diffusion& diffusion, const char* side) {
    if (!table.has(key)) return;
    const double rate = table.number(key);
    if (!std::isfinite(rate)) {
      throw InvalidArgument(fmt::format("`assume.{}` = {}", key, rate), "Give a finite rate",
                            table.where(key));
    }
    if (problem.pair.linear) {
      throw InvalidArgument(fmt::format("`assume.{}` is stated, but the drift is linear", key),
                            "Remove it: for linear drifts the rate is computed", table.where(key));
    }
    diffusion.contraction = [rate](const Covariance&) { return rate; };
    problem.assumed.push_back(
        fmt::format("the drift of {} contracts at rate {} in the metric of its noise, as the file "
                    "states",
                    side, rate));
  };
  contraction("contraction", problem.pair.p.diffusion, "D");
  contraction("contraction_prime", problem.pair.q.diffusion, "D'");
}

}  // namespace

BoundProblem read_bound_problem(const std::string& path, const BoundOverrides& overrides) {
  const TomlTable root = TomlTable::read(path);
  root.reject_unknown({"title", "flow", "risk", "estimate", "assume", "d", "d_prime"});
  BoundProblem problem;
  problem.source = path;
  problem.title = root.has("title") ? root.string("title") : "Pair of diffusions " + path;
  problem.times = read_times(root, overrides.common);
  problem.questions = read_questions(root, overrides.common);
  problem.plan = read_plan(root, overrides);
  const Side d(root, "d", std::nullopt);
  const Side d_prime(root, "d_prime", "d");
  require_known(d);
  require_known(d_prime);
  problem.defaults = start_defaults(d);

  if (d.require(kFamilies, "the drift").key == "model") {
    ModelPair model = read_model_pair(d, d_prime);
    problem.pair = std::move(model.pair);
    problem.with_noise = std::move(model.with_noise);
    problem.kind[0] = problem.kind[1] = model.kind;
    problem.work = model.work;
    problem.way_of_change = model.way_of_change;
  } else {
    SideDiffusion p = read_side(d);
    SideDiffusion q = read_side(d_prime);
    if (q.diffusion.dimension != p.diffusion.dimension) {
      throw InvalidArgument(fmt::format("[d_prime] has {} coordinates, [d] has {}",
                                        q.diffusion.dimension, p.diffusion.dimension),
                            "Both must have the same", root.where("d_prime"));
    }
    const Index dimension = p.diffusion.dimension;
    const GaussianLaw start_p = start_of(d, dimension);
    const GaussianLaw start_q = start_of(d_prime, dimension);
    require_finite_drift(d, p.diffusion, start_p);
    require_finite_drift(d_prime, q.diffusion, start_q);
    if (p.linear && q.linear) {
      problem.pair = linear_pair({*p.linear, start_p, *q.linear, start_q});
    } else {
      problem.pair = {{std::move(p.diffusion), start_p}, {std::move(q.diffusion), start_q}};
      problem.pair.sensitivity.reason =
          "no bound on |Sigma^(-1/2) (b - b')| for all x is known: state one in [assume]";
      problem.pair.constants.reason = "needs a loss with known convexity constants";
    }
    const bool own_noise = d_prime.own().has("Sigma") || d_prime.own().has("Sigma_formula");
    problem.pair.shares_noise = !own_noise;
    if (problem.pair.linear && !own_noise) {
      problem.with_noise = [linear = *problem.pair.linear](const Covariance& noise) {
        OuPair changed = linear;
        changed.p.noise = changed.q.noise = noise;
        return linear_pair(changed);
      };
    }
    problem.kind[0] = std::move(p.kind);
    problem.kind[1] = std::move(q.kind);
    problem.way_of_change = way_of_change(d_prime);
  }
  read_assumed(root, problem);
  if (problem.plan.step && std::isfinite(problem.times.front())) {
    double last = 0.0;
    for (const double time : problem.times) last = std::isfinite(time) ? time : last;
    if (last / *problem.plan.step > kMostSteps) {
      throw InvalidArgument(fmt::format("`estimate.step` = {} takes {:.0e} steps to t = {}",
                                        *problem.plan.step, last / *problem.plan.step, last),
                            fmt::format("Give a longer step: at most {:.0e} are taken", kMostSteps),
                            root.table("estimate").where("step"));
    }
  }
  if (problem.plan.domain &&
      static_cast<Index>(problem.plan.domain->sides.size()) != problem.dimension()) {
    throw InvalidArgument(fmt::format("`estimate.domain` has {} intervals, the problem {} "
                                      "coordinates",
                                      problem.plan.domain->sides.size(), problem.dimension()),
                          "Give one interval per coordinate", problem.plan.domain->where);
  }
  return problem;
}

}  // namespace sfumato
