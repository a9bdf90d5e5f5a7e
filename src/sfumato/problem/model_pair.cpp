#include "sfumato/problem/model_pair.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "sfumato/core/located.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/regression_table.hpp"
#include "sfumato/divergence/classification_pair.hpp"
#include "sfumato/problem/side.hpp"
#include "sfumato/sde/minibatch.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

enum class Model { ridge, logistic, softmax };

/// Minimisers and curvatures take O(p^3): minutes beyond it, and nobody can stop them.
constexpr Index kMostParameters = 2000;

Model model_of(const Source& source) {
  const std::string name = source.table.string(source.key);
  if (name == "ridge") return Model::ridge;
  if (name == "logistic") return Model::logistic;
  if (name == "softmax") return Model::softmax;
  throw InvalidArgument(fmt::format("`{}` is \"{}\"", source.label, name),
                        suggestion(name, {"ridge", "logistic", "softmax"}, "models"),
                        source.where());
}

RidgeOptions options_of(const TomlTable& table) {
  RidgeOptions options;
  if (table.has("ridge"))
    options.ridge = labelled_number(table, "ridge", "d.ridge", not_a_strength);
  const std::string loss = table.string("loss");
  if (loss != "sum" && loss != "mean") {
    throw InvalidArgument(fmt::format("`d.loss` is \"{}\"", loss), "Give \"sum\" or \"mean\"",
                          table.where("loss"));
  }
  options.loss = loss == "sum" ? LossScale::sum : LossScale::mean;
  return options;
}

Impute impute_of(const TomlTable& d) {
  const std::string wanted = d.string("impute");
  std::vector<std::string> names;
  for (const Impute one : {Impute::refuse, Impute::drop, Impute::median, Impute::mode}) {
    if (name(one) == wanted) return one;
    names.emplace_back(name(one));
  }
  throw InvalidArgument(fmt::format("`d.impute` is \"{}\"", wanted),
                        suggestion(wanted, names, "ways"), d.where("impute"));
}

RegressionInput input_of(const TomlTable& d, const TomlTable& d_prime, Index classes) {
  RegressionColumns columns;
  columns.classes = classes;
  columns.target = d.string("target");
  if (d.has("features")) {
    for (const auto& row : d.strings("features").rows) columns.features.push_back(row.front());
  }
  if (d.has("intercept")) columns.intercept = d.boolean("intercept");
  if (d.has("impute")) columns.impute = impute_of(d);
  if (d.has("positive")) {
    if (classes == 0) {
      throw InvalidArgument("`d.positive`: the model ridge predicts a number, not a label",
                            "Remove it", d.where("positive"));
    }
    columns.positive = d.string("positive");
  }
  if (d.has("standardise")) {
    const bool self = d.string("standardise") == "self";
    columns.standardise = self ? "self" : d.path("standardise");
  }
  return read_regression(d.path("data"), columns, {},
                         d_prime.has("with") ? d_prime.path("with") : std::string());
}

Index row_of(const TomlTable& d_prime, Index rows) {
  const std::int64_t row = d_prime.integer("without_row");
  if (row >= 1 && row <= rows) return static_cast<Index>(row - 1);
  throw InvalidArgument(
      fmt::format("`without_row` = {}, but the table has rows 1 to {}", row, rows),
      "Give the number of a row", d_prime.where("without_row"));
}

MinibatchOptions batch_of(const TomlTable& table, LossScale loss, Index rows) {
  table.reject_unknown({"batch", "learning_rate", "replacement", "floor", "frozen"});
  MinibatchOptions options;
  options.batch = static_cast<Index>(table.integer("batch"));
  options.loss = loss;
  if (table.has("replacement") && table.boolean("replacement")) {
    options.sampling = BatchSampling::with_replacement;
  }
  if (options.batch < 1 ||
      (options.sampling == BatchSampling::without_replacement && options.batch > rows)) {
    throw InvalidArgument(fmt::format("`minibatch.batch` = {} of {} rows", options.batch, rows),
                          "Give a batch of at least one row and at most the table",
                          table.where("batch"));
  }
  return options;
}

/// f_l = 1/2 (x_l^T w - y_l)^2.
RowLosses ridge_rows(MatrixXd features, VectorXd target) {
  const auto x = std::make_shared<const MatrixXd>(std::move(features));
  const auto y = std::make_shared<const VectorXd>(std::move(target));
  return {
      x->rows(), x->cols(),
      [x, y](const VectorXd& at) -> MatrixXd { return VectorXd(*x * at - *y).asDiagonal() * *x; },
      [x](const VectorXd&, const MatrixXd& directions) -> VectorXd {
        return x->transpose() * x->cwiseProduct(directions).rowwise().sum();
      },
      [x](const VectorXd&) -> VectorXd { return x->rowwise().squaredNorm(); }};
}

/// The neighbour's table.
std::pair<MatrixXd, VectorXd> changed_table(const RegressionInput& input, Index row) {
  if (input.replacement) {
    MatrixXd features = input.features;
    VectorXd target = input.target;
    features.row(row) = input.replacement->features.transpose();
    target(row) = input.replacement->target;
    return {std::move(features), std::move(target)};
  }
  const Index rest = input.features.rows() - row - 1;
  MatrixXd features(input.features.rows() - 1, input.features.cols());
  VectorXd target(input.features.rows() - 1);
  features << input.features.topRows(row), input.features.bottomRows(rest);
  target << input.target.head(row), input.target.tail(rest);
  return {std::move(features), std::move(target)};
}

/// The noise of minibatches as it is at one point.
Covariance frozen_noise(const RowLosses& rows, const VectorXd& at, const MinibatchOptions& options,
                        double rate, double floor) {
  MatrixXd sigma = rate * dense(minibatch_covariance(rows.gradients(at), options));
  sigma.diagonal().array() += floor;
  return Dense{0.5 * (sigma + sigma.transpose())};
}

double floor_of(const TomlTable& table) {
  return table.has("floor") ? labelled_number(table, "floor", "minibatch.floor", not_a_strength)
                            : 0.0;
}

/// Both sides with the noise of their own minibatches.
SdePair minibatch_pair(const TomlTable& table, const RidgeOptions& ridge, SdePair pair,
                       RowLosses rows, RowLosses rows_prime) {
  const double rate =
      labelled_number(table, "learning_rate", "minibatch.learning_rate", not_a_learning_rate);
  const double floor = floor_of(table);
  const MinibatchOptions own = batch_of(table, ridge.loss, rows.rows);
  const MinibatchOptions other = batch_of(table, ridge.loss, rows_prime.rows);
  pair.p.diffusion.noise = minibatch_noise(std::move(rows), own, rate, floor);
  pair.q.diffusion.noise = minibatch_noise(std::move(rows_prime), other, rate, floor);
  pair.linear.reset();
  const char* reason = "needs constant noise";
  pair.sensitivity = {{}, reason};
  pair.constants = {{}, reason};
  pair.stationary = {{}, reason};
  return pair;
}

void require_one_row(const Side& d_prime) {
  for (const char* key : {"model", "data", "target", "features", "intercept", "standardise",
                          "positive", "impute", "ridge", "loss"}) {
    if (!d_prime.own().has(key)) continue;
    throw InvalidArgument(fmt::format("`d_prime.{}`: D' may differ from D in one row only", key),
                          "Give `without_row`, and `with` to replace the record",
                          d_prime.own().where(key));
  }
}

/// How many numbers the model makes of a row.
Index outputs_of(Model model, const TomlTable& own) {
  if (model != Model::softmax) {
    if (!own.has("classes")) return 1;
    throw InvalidArgument("`d.classes` is for softmax only", "Remove it", own.where("classes"));
  }
  const std::int64_t classes = own.integer("classes");
  if (classes < 2 || classes > 10000) {
    throw InvalidArgument(fmt::format("`d.classes` = {}", classes),
                          "Give a number of classes from 2 to 10000", own.where("classes"));
  }
  return static_cast<Index>(classes);
}

Index parameters_of(Model model, Index columns, Index outputs, const Where& where) {
  const Index dimension = columns * outputs;
  if (dimension <= kMostParameters) return dimension;
  const std::string size =
      model == Model::softmax
          ? fmt::format("{} parameters ({} columns x {} classes)", dimension, columns, outputs)
          : fmt::format("{} parameters", dimension);
  throw InvalidArgument(fmt::format("{}, and bounds take at most {}", size, kMostParameters),
                        "Choose fewer columns with `features`, or fewer classes", where);
}

/// The pair as a function of the noise, and the losses of the rows on both sides if minibatches are drawn of them.
struct Trainings {
  std::function<SdePair(const Covariance& noise)> with_noise;
  std::function<SdePair(const Covariance& noise, const Covariance& noise_prime)> with_noises;
  RowLosses rows, rows_prime;
  std::function<Pair<VectorXd>()> minimisers;
};

/// Both sides with the noise that their own minibatches have at their own minimisers.
SdePair frozen_pair(const TomlTable& table, const RidgeOptions& ridge, const Trainings& trainings) {
  const double rate =
      labelled_number(table, "learning_rate", "minibatch.learning_rate", not_a_learning_rate);
  const double floor = floor_of(table);
  const MinibatchOptions own = batch_of(table, ridge.loss, trainings.rows.rows);
  const MinibatchOptions other = batch_of(table, ridge.loss, trainings.rows_prime.rows);
  const Pair<VectorXd> at = trainings.minimisers();
  return trainings.with_noises(frozen_noise(trainings.rows, at.d, own, rate, floor),
                               frozen_noise(trainings.rows_prime, at.d_prime, other, rate, floor));
}

Trainings ridge_trainings(const RegressionInput& input, Index row, const RidgeOptions& options,
                          const GaussianDistribution& start, bool minibatch) {
  const RidgeProblem problem(input.features, input.target, options);
  const QuadraticLoss& own = problem.loss();
  const QuadraticLoss other = problem.neighbour(row, input.replacement);
  Trainings trainings;
  trainings.with_noise = [own, other, start](const Covariance& sigma) {
    return linear_pair({{own.curvature, own.pull, sigma, own.given},
                        start,
                        {other.curvature, other.pull, sigma, other.given},
                        start});
  };
  trainings.with_noises = [own, other, start](const Covariance& noise, const Covariance& prime) {
    return linear_pair({{own.curvature, own.pull, noise, own.given},
                        start,
                        {other.curvature, other.pull, prime, other.given},
                        start});
  };
  trainings.minimisers = [own, other] {
    const auto minimiser = [](const QuadraticLoss& loss) -> VectorXd {
      const Eigen::LLT<MatrixXd> root(loss.curvature);
      if (root.info() != Eigen::Success) {
        throw NumericalFailure("the loss has no unique minimiser, where the noise is taken",
                               "Add a ridge");
      }
      return root.solve(loss.pull);
    };
    return Pair<VectorXd>{minimiser(own), minimiser(other)};
  };
  if (minibatch) {
    trainings.rows = ridge_rows(input.features, input.target);
    auto [features, target] = changed_table(input, row);
    trainings.rows_prime = ridge_rows(std::move(features), std::move(target));
  }
  return trainings;
}

Trainings classification_trainings(ClassificationProblem problem, Index row,
                                   const std::optional<Record>& replacement,
                                   const GaussianDistribution& start, bool minibatch) {
  Trainings trainings;
  if (minibatch) {
    trainings.rows = problem.row_losses();
    trainings.rows_prime = problem.neighbour(row, replacement).row_losses();
  }
  const auto fit = std::make_shared<const ClassificationFit>(std::move(problem));
  trainings.with_noise = [fit, row, replacement, start](const Covariance& sigma) {
    return classification_pair(*fit, {row, replacement}, sigma, start);
  };
  trainings.with_noises = [fit, row, replacement, start](const Covariance& noise,
                                                         const Covariance& prime) {
    return unequal_classification_pair(*fit, {row, replacement}, noise, prime, start);
  };
  trainings.minimisers = [fit, row, replacement] {
    const std::array<Neighbour, 1> one = {Neighbour{row, replacement}};
    return Pair<VectorXd>{fit->convexity().minimiser, fit->neighbours(one).front().minimiser};
  };
  return trainings;
}

}  // namespace

ModelPair read_model_pair(const Side& d, const Side& d_prime) {
  const TomlTable& own = d.own();
  const Model model = model_of(d.require({"model"}, "the model"));
  require_one_row(d_prime);
  const Index outputs = outputs_of(model, own);
  const RidgeOptions options = options_of(own);
  const RegressionInput input =
      input_of(own, d_prime.own(), model == Model::ridge ? 0 : std::max<Index>(outputs, 2));
  const Index row = row_of(d_prime.own(), input.features.rows());
  const Index dimension = parameters_of(model, input.features.cols(), outputs, own.where("model"));
  const bool minibatch = own.has("minibatch");
  if (minibatch && own.has("Sigma")) {
    throw InvalidArgument("`d.Sigma` and `d.minibatch` both define the noise", "Keep one of them",
                          own.where("minibatch"));
  }
  // Where minibatches make the noise, the constants of another noise are not used.
  const Covariance noise =
      minibatch ? Covariance(Isotropic{1.0, dimension})
                : d.require({"Sigma"}, "the diffusion covariance").covariance(dimension);
  const GaussianDistribution start = start_of(d, dimension);

  // The ridge decides whether there is a minimiser.
  const Where place = own.where(own.has("ridge") ? "ridge" : "model");
  Trainings trainings =
      model == Model::ridge
          ? ridge_trainings(input, row, options, start, minibatch)
          : located(place, [&] {
              return classification_trainings(
                  model == Model::logistic
                      ? ClassificationProblem::logistic(input.features, input.target, options)
                      : ClassificationProblem::softmax(input.features, input.target, outputs,
                                                       options),
                  row, input.replacement, start, minibatch);
            });
  // The mean divides by the N of D on both sides, so that batches see the empty place too.
  if (minibatch && options.loss == LossScale::mean && !input.replacement) {
    trainings.rows_prime = with_empty_row(std::move(trainings.rows_prime));
  }
  ModelPair result;
  result.pair = located(place, [&] { return trainings.with_noise(noise); });
  const bool frozen =
      minibatch && own.table("minibatch").has("frozen") && own.table("minibatch").boolean("frozen");
  if (frozen) {
    result.pair = located(own.where("minibatch"),
                          [&] { return frozen_pair(own.table("minibatch"), options, trainings); });
    result.frozen =
        "the noise is that of minibatches at the minimiser of each side and stays so; in training "
        "it "
        "changes with the weights";
  } else if (minibatch) {
    result.pair = minibatch_pair(own.table("minibatch"), options, std::move(result.pair),
                                 std::move(trainings.rows), std::move(trainings.rows_prime));
  } else {
    result.with_noise = std::move(trainings.with_noise);
  }
  const auto entries = static_cast<double>(input.features.rows() * dimension);
  result.work = model == Model::ridge
                    ? 2.0 * static_cast<double>(dimension * dimension)
                    : 4.0 * entries + 20.0 * static_cast<double>(input.features.rows() * outputs);
  const char* names[] = {"ridge", "logistic", "softmax"};
  result.kind =
      fmt::format("{} regression on {} rows of {}, {} parameters", names[static_cast<int>(model)],
                  input.features.rows(), own.string("data"), dimension);
  result.way_of_change =
      fmt::format("D' is D {} row {} (line {} of the file)",
                  input.replacement ? "with another record instead of" : "without", row + 1,
                  input.lines[static_cast<std::size_t>(row)]);
  return result;
}

}  // namespace sfumato
