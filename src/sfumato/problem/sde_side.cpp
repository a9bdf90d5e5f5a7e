#include "sfumato/problem/sde_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "sfumato/core/located.hpp"
#include "sfumato/problem/quadratic_loss.hpp"
#include "sfumato/problem/side.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "sfumato/sde/family/linear.hpp"
#include "sfumato/sde/family/mixture.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

/// Every key that some way of saying the drift has.
const std::vector<std::string> kKeys = {
    "y",    "minimiser", "pull",      "without_row",   "with",     "variables",
    "data", "target",    "features",  "intercept",     "ridge",    "standardise",
    "loss", "classes",   "minibatch", "Sigma_formula", "positive", "impute"};

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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

/// The largest k of a coordinate x<k> that the formula mentions; 0 if none.
Index largest_coordinate(const std::string& formula) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  Index largest = 0;
  for (std::size_t i = 0; i < formula.size();) {
    if (!is_word(formula[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < formula.size() && is_word(formula[end])) ++end;
    const std::string word = formula.substr(i, end - i);
    i = end;
    const bool numbered = word.size() > 1 && word.size() < 8 && word[0] == 'x' && word[1] != '0' &&
                          word.find_first_not_of("0123456789", 1) == std::string::npos;
    if (numbered) largest = std::max<Index>(largest, std::stol(word.substr(1)));
  }
  return largest;
}

bool mentions_y(const std::string& formula) {
  for (std::size_t at = formula.find('y'); at != std::string::npos;
       at = formula.find('y', at + 1)) {
    const auto is_word = [&](std::size_t i) {
      return i < formula.size() &&
             (std::isalnum(static_cast<unsigned char>(formula[i])) != 0 || formula[i] == '_');
    };
    if (!(at > 0 && is_word(at - 1)) && !is_word(at + 1)) return true;
  }
  return false;
}

/// What the formulas of a side call its coordinates: x; x and y; or x1, x2, ... There is one per formula of a drift; of
/// a potential, one per entry of start_mean or, where that is not given, as many as the formulas of this
/// side and of the one behind mention.
std::vector<std::string> names_used(const Side& side, const std::vector<std::string>& texts,
                                    bool is_drift) {
  std::vector<std::string> formulas = texts;
  for (const auto& source :
       {side.find_behind({"drift", "potential"}), side.find({"Sigma_formula"})}) {
    if (!source) continue;
    for (const auto& row : source->table.strings(source->key).rows) {
      formulas.insert(formulas.end(), row.begin(), row.end());
    }
  }
  Index largest = 0;
  for (const std::string& formula : formulas) {
    largest = std::max(largest, largest_coordinate(formula));
  }
  const bool y = std::any_of(formulas.begin(), formulas.end(), mentions_y);
  Index dimension = largest > 0 ? largest : (y ? 2 : 1);
  if (is_drift) {
    dimension = static_cast<Index>(texts.size());
  } else if (const auto mean = side.find({"start_mean"})) {
    dimension = mean->array().values.rows();
  }
  if (largest == 0 || dimension > 2) return coordinate_names(dimension);
  std::vector<std::string> names;
  for (Index i = 1; i <= dimension; ++i) names.push_back(fmt::format("x{}", i));
  return names;
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
  } else {
    names = names_used(side, texts, source.key == "drift");
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
      labelled_list(table, "weights", source.label + ".weights", not_a_weight);
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
          ? labelled_list(table, "covariances", source.label + ".covariances", not_a_variance)
          : std::vector<double>{1.0};
  if (variances.size() != 1 && variances.size() != weights.size()) {
    throw InvalidArgument(fmt::format("`{}.covariances` has {} numbers for {} components",
                                      source.label, variances.size(), count),
                          "Give one variance for all components, or one for each",
                          table.where("covariances"));
  }
  GaussianMixture distribution;
  distribution.weights = weights;
  for (Index k = 0; k < count; ++k) {
    const double variance = variances[variances.size() == 1 ? 0 : static_cast<std::size_t>(k)];
    distribution.components.push_back({flat ? Eigen::VectorXd::Constant(1, means.values(k, 0))
                                            : Eigen::VectorXd(means.values.row(k).transpose()),
                                       Isotropic{variance, dimension}});
  }
  const Source noise = side.require({"Sigma"}, "the diffusion covariance");
  const std::optional<double> variance = isotropic_variance(noise.covariance(dimension));
  if (!variance) {
    throw InvalidArgument("a mixture needs isotropic noise, Sigma = sigma^2 I",
                          "Give one number for Sigma", noise.where());
  }
  const double ridge =
      table.has("ridge") ? labelled_number(table, "ridge", source.label + ".ridge", not_a_strength)
                         : 0.0;
  return {
      located(source.where(), [&] { return mixture_diffusion(distribution, *variance, ridge); }),
      fmt::format("Gaussian mixture potential of {} components", count)};
}

}  // namespace

const std::vector<std::string>& drift_keys() {
  static const std::vector<std::string> keys = {"A", "B", "drift", "potential", "mixture", "model"};
  return keys;
}

std::vector<KeyInfo> sde_side_keys() {
  std::vector<KeyInfo> keys = {
      {"d", "drift", {}, "text | list", "", false, "a formula per coordinate: \"x - x^3\""},
      {"d",
       "potential",
       {},
       "text",
       "",
       false,
       "instead of drift: a formula f; the drift is "
       "-grad f"},
      {"d",
       "variables",
       {},
       "list",
       "",
       false,
       "names of the coordinates (default: x, y, or x1, "
       "x2, ...)"},
      {"d",
       "mixture",
       {},
       "table",
       "",
       false,
       "instead of drift: the invariant distribution, {weights, means, covariances, ridge}"},
      {"d",
       "model",
       {},
       "ridge | logistic | softmax",
       "",
       false,
       "instead of drift: regression on the table `data`, with target, features, intercept, "
       "standardise, loss, ridge, classes"}};
  for (KeyInfo& key : loss_key_infos()) keys.push_back(std::move(key));
  for (KeyInfo& key : training_key_infos()) keys.push_back(std::move(key));
  keys.push_back({"d", "Sigma_formula", {}, "text | list", "", false, "Sigma by formulas"});
  keys.push_back(
      {"d",
       "minibatch",
       {},
       "table",
       "",
       false,
       "for a model, instead of Sigma: {batch, learning_rate, replacement, floor, frozen}"});
  keys.push_back({"d_prime",
                  "without_row",
                  {},
                  "integer >= 1",
                  "",
                  false,
                  "k: D' is D without row k of the table, or of B and y"});
  keys.push_back(
      {"d_prime", "with", {}, "path", "", false, "file with the record that replaces row k"});
  return keys;
}

void require_known_keys(const Side& side) {
  std::vector<std::string> all = {"Sigma", "start_mean", "start_covariance"};
  all.insert(all.end(), drift_keys().begin(), drift_keys().end());
  all.insert(all.end(), kKeys.begin(), kKeys.end());
  side.own().reject_unknown(all);
  const Source family = side.require(drift_keys(), "the drift");
  std::vector<std::string> known = {"Sigma", "start_mean", "start_covariance"};
  const auto add = [&](std::initializer_list<const char*> keys) {
    known.insert(known.end(), keys.begin(), keys.end());
  };
  if (family.key == "model") {
    add({"model", "data", "target", "features", "intercept", "standardise", "positive", "impute",
         "ridge", "loss", "classes", "minibatch"});
    if (side.has_behind()) add({"without_row", "with"});
  } else if (family.key == "mixture") {
    add({"mixture"});
  } else if (family.key == "drift" || family.key == "potential") {
    add({"drift", "potential", "variables", "Sigma_formula"});
  } else {
    const std::vector<std::string> own = loss_keys(side);
    known.insert(known.end(), own.begin(), own.end());
    add({"Sigma_formula"});
  }
  // A key of another way would be ignored, and a user who believes that D' lacks a row would read that
  // nothing is revealed.
  for (const std::string& key : side.own().keys()) {
    if (holds(known, key)) continue;
    throw InvalidArgument(fmt::format("`{}.{}` cannot be combined with `{}`, which defines the "
                                      "drift",
                                      side.name(), key, family.label),
                          "Remove one of them", side.own().where(key));
  }
}

SideDiffusion read_sde_side(const Side& side) {
  const Source source = side.require(drift_keys(), "the drift");
  if (source.key == "drift" || source.key == "potential") return formulas(side, source);
  if (source.key == "mixture") return mixture(side, source);
  return linear(side);
}

void require_finite_drift(const Side& side, const Diffusion& diffusion,
                          const GaussianDistribution& start) {
  Points at(1, diffusion.dimension);
  at.row(0) = start.mean.transpose().array();
  Points drift(1, diffusion.dimension);
  diffusion.drift(0.0, at, drift);
  if (drift.isFinite().all()) return;
  const Source source = side.require(drift_keys(), "the drift");
  throw InvalidArgument(fmt::format("`{}` is not finite at the mean of the start", source.label),
                        "Correct the formula, or start where it is finite", source.where());
}

}  // namespace sfumato
