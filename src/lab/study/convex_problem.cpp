#include "lab/study/convex_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lab/study/study_data.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/regression_table.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ProvenRisk exact_risk(const LinearLosses& losses, double step, const Covariance& step_noise,
                      double steps) {
  const auto [distribution, other] = chain_distributions(losses, step, step_noise);
  const WhitenedPair pair = whiten_at(distribution, other, steps);
  // Noise in every direction leaves no distribution singular: a rank that is lost is lost to rounding.
  if (is_definite(step_noise) && (pair.mutually_singular || pair.used_rank_tolerance)) {
    return {{}, {}, "the variances of different directions are too unequal for double precision"};
  }
  if (too_far_apart(pair)) return {{}, {}, kTooFarApart};
  ProvenRisk proven{Risk::exact(pair), {}, ""};
  if (!pair.mutually_singular && losses.worlds[0].curvature == losses.worlds[1].curvature) {
    proven.mu = Claimed<double>{pair.shift.matrix().norm(), Claim::exact,
                                "distance of two normal distributions with one covariance"};
  }
  return proven;
}

ProvenRisk bounded_risk(const LogisticLosses& losses, double step, const Covariance& step_noise,
                        double steps) {
  if (!is_definite(step_noise)) {
    return {{}, {}, "the noise is singular: along some direction the gradients are not hidden"};
  }
  const ClassificationFit fit(losses.worlds[0]);
  const VectorXd origin = VectorXd::Zero(fit.problem().parameters());
  // The release counts noise per unit of time, one step taking `step`.
  const ChainRelease release{step, steps, scaled(step_noise, 1.0 / step),
                             point_distribution(origin)};
  const NeighbourBounds bounds = neighbour_bounds(fit, losses.neighbour, release);
  ProvenRisk proven{bounds.risk, bounds.mu, ""};
  if (!proven.risk) proven.reason = "D' has no minimiser";
  return proven;
}

}  // namespace

VectorXd ConvexPair::gradient(std::size_t world, const VectorXd& at) const {
  return std::visit(Overloaded{[&](const LinearLosses& of) -> VectorXd {
                                 const QuadraticLoss& loss = of.worlds[world];
                                 return loss.curvature * at - loss.pull;
                               },
                               [&](const LogisticLosses& of) -> VectorXd {
                                 return of.worlds[world].gradient(at);
                               }},
                    losses);
}

ConvexProblem::ConvexProblem(Study study) : study_(std::move(study)) {
  const ModelSpec& model = study_.model;
  if (model.kind == ModelKind::quadratic) {
    parameters_ = model.quadratic.minimiser.size();
    for (const QuadraticSpec& loss : {model.quadratic, model.quadratic_other}) {
      (void)quadratic_from_point(loss.curvature, loss.minimiser, model.where);
    }
  } else {
    read_table();
  }
  for (const NoiseSpec& noise : study_.noise) step_noises_.push_back(read_step_noise(noise));
  (void)pair(0);  // refuses an adjacency that cannot be, before anything is trained
}

void ConvexProblem::read_table() {
  const DataSpec& data = study_.data;
  const bool classes = study_.model.kind == ModelKind::logistic;
  RegressionColumns columns;
  columns.target = data.label;
  columns.intercept = study_.model.intercept;
  columns.classes = classes ? 2 : 0;
  columns.file = TableFile::matrix;
  if (data.standardise == StandardiseBy::constants) columns.constants = data.constants;
  RegressionInput table =
      located(data.where, [&] { return read_regression(data.set, columns, {}, ""); });
  features_ = std::move(table.features);
  targets_ = std::move(table.target);
  parameters_ = features_.cols();
  checksums_[data.set] = table.checksum;
  const Index rows = features_.rows();
  slots_.labels.assign(static_cast<std::size_t>(rows), 0);
  for (Index row = 0; classes && row < rows; ++row) {
    slots_.labels[static_cast<std::size_t>(row)] = targets_(row) == 1.0 ? 1 : 0;
  }
  slots_.name = data.set;
  slots_.shape = {static_cast<int>(parameters_), 1, 1};
  slots_.classes = 2;
  records_ = data.records == 0 ? static_cast<std::size_t>(rows) : data.records;
  if (records_ > static_cast<std::size_t>(rows)) {
    throw InvalidArgument(
        fmt::format("`records` = {} is more than the {} rows of {}", records_, rows, data.set),
        "Ask for at most as many as there are", data.where);
  }
}

Covariance ConvexProblem::read_step_noise(const NoiseSpec& noise) {
  const ScaledNoise* scale = scaled_noise(noise.rule);
  if (scale == nullptr) return Isotropic{0.0, parameters_};
  const double variance = scale->variance_of(scale->variance, study_.train.learning_rate);
  if (std::holds_alternative<IsotropicNoise>(noise.rule)) return Isotropic{variance, parameters_};
  const Covariance given = read_covariance(noise.covariance).covariance;
  checksums_[fmt::format("covariance of {}", noise.name)] = sha256(read_file(noise.covariance));
  if (dimension(given) != parameters_) {
    throw InvalidArgument(fmt::format("the covariance has {} dimensions, the model {} parameters",
                                      dimension(given), parameters_),
                          "Design the noise for this model",
                          Where::in(fmt::format("{} ({})", noise.where.text(), noise.covariance)));
  }
  return scaled(given, variance);
}

Record ConvexProblem::record_of(std::uint32_t row, std::uint8_t label) const {
  const bool classes = study_.model.kind == ModelKind::logistic;
  return {features_.row(row).transpose(), classes ? static_cast<double>(label) : targets_(row)};
}

std::vector<Record> ConvexProblem::training_records(std::uint64_t draw) const {
  const SlotPair slots = adjacent_pair(study_, slots_, draw);
  std::vector<Record> records;
  for (std::size_t i = 0; i < slots.slots.count(); ++i) {
    records.push_back(record_of(slots.slots.records[i], slots.slots.labels[i]));
  }
  return records;
}

ConvexPair ConvexProblem::pair(std::uint64_t draw) const {
  const ModelSpec& model = study_.model;
  ConvexPair made;
  made.step = study_.train.learning_rate;
  if (model.kind == ModelKind::quadratic) {
    made.losses = LinearLosses{
        {quadratic_from_point(model.quadratic.curvature, model.quadratic.minimiser),
         quadratic_from_point(model.quadratic_other.curvature, model.quadratic_other.minimiser)}};
    return made;
  }
  const SlotPair slots = adjacent_pair(study_, slots_, draw);
  const auto count = static_cast<Index>(slots.slots.count());
  MatrixXd features(count, parameters_);
  VectorXd targets(count);
  for (Index i = 0; i < count; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const Record record = record_of(slots.slots.records[slot], slots.slots.labels[slot]);
    features.row(i) = record.features.transpose();
    targets(i) = record.target;
  }
  const SlotChange& change = slots.other.changes.front();
  std::optional<Record> replacement;
  if (!change.empty) replacement = record_of(change.record, change.label);
  const auto row = static_cast<Index>(change.slot);
  made.record = Record{features.row(row).transpose(), targets(row)};

  RidgeOptions options;  // the sum
  options.ridge = model.ridge;
  if (study_.train.loss == LossScale::mean) {
    made.step /= static_cast<double>(count);
    options.ridge *= static_cast<double>(count);
  }
  if (model.kind == ModelKind::ridge) {
    const RidgeProblem problem(std::move(features), std::move(targets), options);
    made.losses = LinearLosses{{problem.loss(), problem.neighbour(row, replacement)}};
  } else {
    ClassificationProblem own =
        ClassificationProblem::logistic(std::move(features), std::move(targets), options);
    ClassificationProblem other = own.neighbour(row, replacement);
    made.losses = LogisticLosses{{std::move(own), std::move(other)}, {row, replacement}};
  }
  return made;
}

double ConvexProblem::record_loss(const Record& record, const VectorXd& at) const {
  const double score = record.features.dot(at);
  if (study_.model.kind == ModelKind::ridge) {
    return 0.5 * (score - record.target) * (score - record.target);
  }
  // log(1 + e^-z) for the class that is right.
  const double right = record.target == 1.0 ? score : -score;
  return right > 0.0 ? std::log1p(std::exp(-right)) : -right + std::log1p(std::exp(right));
}

VectorXd ConvexProblem::record_gradient(const Record& record, const VectorXd& at) const {
  const double score = record.features.dot(at);
  if (study_.model.kind == ModelKind::ridge) return (score - record.target) * record.features;
  const double probability =
      score >= 0.0 ? 1.0 / (1.0 + std::exp(-score)) : std::exp(score) / (1.0 + std::exp(score));
  return (probability - record.target) * record.features;
}

std::array<ChainDistribution, 2> chain_distributions(const LinearLosses& losses, double step,
                                                     const Covariance& step_noise) {
  const auto distribution = [&](const QuadraticLoss& loss) {
    return ChainDistribution({loss.curvature, loss.pull, step, step_noise, loss.given},
                             point_distribution(VectorXd::Zero(loss.pull.size())));
  };
  return {distribution(losses.worlds[0]), distribution(losses.worlds[1])};
}

ProvenRisk proven_risk(const ConvexPair& pair, const Covariance& step_noise, std::uint64_t steps) {
  const auto count = static_cast<double>(steps);
  try {
    return std::visit(Overloaded{[&](const LinearLosses& losses) {
                                   return exact_risk(losses, pair.step, step_noise, count);
                                 },
                                 [&](const LogisticLosses& losses) {
                                   return bounded_risk(losses, pair.step, step_noise, count);
                                 }},
                      pair.losses);
  } catch (const NumericalFailure& failure) {
    return {{}, {}, failure.what()};
  }
}

}  // namespace sfumato::lab
