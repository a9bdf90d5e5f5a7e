#include "quadratic/problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/data/toml.hpp"

namespace sfumato::cli {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const char* not_an_order(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite order > 0";
}

const char* not_a_rate(double value) {
  return value >= 0.0 && value <= 1.0 ? nullptr : "is not in [0, 1]";
}

/// The numbers of a list; each passes `check`. `label` is what the message calls the key.
std::vector<double> checked_numbers(const TomlTable& table, const char* key,
                                    const std::string& label, NumberCheck check) {
  std::vector<double> values = table.numbers(key);
  for (const double value : values) {
    if (const char* problem = check(value)) {
      throw InvalidArgument(fmt::format("`{}`: {} {}", label, value, problem),
                            "Correct or remove that number", table.where(key));
    }
  }
  return without_repeats(values);
}

RiskQuestions read_questions(const TomlTable& root, const Overrides& overrides) {
  std::vector<double> epsilons = {1.0};
  std::vector<double> deltas = {1e-5};
  RiskQuestions questions;
  questions.renyi_orders = {2.0};
  questions.false_positive_rates = {0.01, 0.001};
  if (root.has("risk")) {
    const TomlTable risk = root.table("risk");
    risk.reject_unknown({"epsilons", "delta", "deltas", "renyi_orders", "false_positive_rates"});
    if (risk.has("delta") && risk.has("deltas")) {
      throw InvalidArgument("`risk.delta` and `risk.deltas` are both given", "Keep one of them",
                            risk.where("deltas"));
    }
    const auto read = [&](const char* key, NumberCheck check, std::vector<double>& values) {
      if (risk.has(key)) values = checked_numbers(risk, key, fmt::format("risk.{}", key), check);
    };
    read("epsilons", not_an_epsilon, epsilons);
    read("delta", not_a_delta, deltas);
    read("deltas", not_a_delta, deltas);
    read("renyi_orders", not_an_order, questions.renyi_orders);
    read("false_positive_rates", not_a_rate, questions.false_positive_rates);
  }
  if (!overrides.epsilons.empty()) epsilons = without_repeats(overrides.epsilons);
  if (!overrides.deltas.empty()) deltas = without_repeats(overrides.deltas);
  for (const double value : epsilons) questions.epsilons.emplace_back(value);
  for (const double value : deltas) questions.deltas.emplace_back(value);
  return questions;
}

/// A quantity and the table that says it.
struct Source {
  TomlTable table;
  std::string key;
  std::string label;  ///< "d.A"

  [[nodiscard]] ArrayValue array() const { return table.array(key); }
  [[nodiscard]] Covariance covariance(Index dimension) const {
    return table.covariance(key, dimension);
  }
  [[nodiscard]] Where where() const { return table.where(key); }
};

VectorXd vector_of(const Source& source, Index dimension) {
  const ArrayValue value = source.array();
  if (value.rank == 2) {
    throw InvalidArgument(fmt::format("`{}` is a matrix of {} x {}", source.label,
                                      value.values.rows(), value.values.cols()),
                          "Give a list with one number per parameter", value.where);
  }
  if (value.values.rows() != dimension) {
    throw InvalidArgument(fmt::format("`{}` has {} entries, the problem has {} parameters",
                                      source.label, value.values.rows(), dimension),
                          "Give one number per parameter", value.where);
  }
  return value.values.col(0);
}

/// [d], or [d_prime] with [d] behind it for everything that it does not say.
class DataSetReader {
 public:
  DataSetReader(const TomlTable& root, std::string name, std::optional<std::string> behind)
      : own_{root.table(name), std::move(name)} {
    if (behind) behind_ = Named{root.table(*behind), *behind};
  }

  void require_known(bool is_flow) const {
    std::vector<std::string> known = {"A", "B", "y", "minimiser", "pull"};
    if (behind_) known.emplace_back("without_row");
    for (const char* key : {"Sigma", "start_mean", "start_covariance"}) {
      known.emplace_back(key);
      if (is_flow || !own_.table.has(key)) continue;
      throw InvalidArgument(
          fmt::format("`{}.{}` belongs to a flow, but this file describes a release", own_.name,
                      key),
          "Remove it (the noise of a release is `release.S`), or replace [release] by [flow]",
          own_.table.where(key));
    }
    own_.table.reject_unknown(known);
  }

  [[nodiscard]] QuadraticLoss loss() const {
    if (own_.table.has("without_row")) return loss_without_row();
    const Source curvature = require({"A", "B"}, "the curvature");
    const Source location = require({"minimiser", "pull", "y"}, "the location of the loss");
    if (location.key == "y" && curvature.key != "B") {
      throw InvalidArgument(
          fmt::format("`{}` needs B, but the curvature is `{}`", location.label, curvature.label),
          fmt::format("Give `{}.minimiser` or `{}.pull` with A", own_.name, own_.name),
          (behind_ ? curvature : location).where());
    }
    if (curvature.key == "B") return loss_of_factor(factor_of(curvature), curvature, location);
    const ArrayValue a = curvature.array();
    MatrixXd matrix;
    if (a.rank == 2) {
      matrix = a.values;
    } else if (a.rank == 1) {
      matrix = a.values.col(0).asDiagonal();
    } else {  // a multiple of the identity, as large as the location
      const Index dimension = location.array().values.rows();
      matrix = a.values(0, 0) * MatrixXd::Identity(dimension, dimension);
    }
    return located(matrix, location, a.where);
  }

  [[nodiscard]] Covariance noise(Index dimension) const {
    return require({"Sigma"}, "the diffusion covariance").covariance(dimension);
  }

  [[nodiscard]] GaussianLaw start(Index dimension) const {
    GaussianLaw law = point_law(VectorXd::Zero(dimension));
    if (const auto mean = find({"start_mean"})) law.mean = vector_of(*mean, dimension);
    if (const auto spread = find({"start_covariance"})) {
      law.covariance = spread->covariance(dimension);
    }
    return law;
  }

  /// What the file leaves to its defaults, as sentences.
  [[nodiscard]] std::string defaults() const {
    const bool mean = own_.table.has("start_mean");
    const bool covariance = own_.table.has("start_covariance");
    if (!mean && !covariance) return "The start is not given: it is the point 0.";
    if (!mean) return "start_mean is not given: it is 0.";
    return covariance ? "" : "start_covariance is not given: the start is a point.";
  }

  [[nodiscard]] std::string way_of_change() const {
    if (!own_.table.has("without_row")) return {};
    return fmt::format("D' is D without row {} of B and y", own_.table.integer("without_row"));
  }

 private:
  struct Named {
    TomlTable table;
    std::string name;
  };

  /// The one of `choices` that is said here, or else behind.
  [[nodiscard]] std::optional<Source> find(const std::vector<std::string>& choices) const {
    if (auto source = find_in(own_, choices)) return source;
    return behind_ ? find_in(*behind_, choices) : std::nullopt;
  }

  static std::optional<Source> find_in(const Named& named,
                                       const std::vector<std::string>& choices) {
    std::optional<Source> found;
    for (const std::string& key : choices) {
      if (!named.table.has(key)) continue;
      Source source{named.table, key, fmt::format("{}.{}", named.name, key)};
      if (found) {
        throw InvalidArgument(
            fmt::format("`{}` and `{}` say the same thing twice", found->label, source.label),
            "Keep one of them", source.where());
      }
      found = std::move(source);
    }
    return found;
  }

  [[nodiscard]] Source require(const std::vector<std::string>& choices,
                               std::string_view what) const {
    if (auto source = find(choices)) return *std::move(source);
    throw InvalidArgument(fmt::format("[{}] does not say {}", own_.name, what),
                          fmt::format("Add {}", fmt::join(choices, " or ")), own_.table.where(""));
  }

  /// B; a list is one column.
  static MatrixXd factor_of(const Source& source) { return source.array().values; }

  static VectorXd response_of(const Source& source, Index rows) {
    const ArrayValue y = source.array();
    if (y.rank == 2 || y.values.rows() != rows) {
      throw InvalidArgument(fmt::format("`{}` has shape {} x {}, B has {} rows", source.label,
                                        y.values.rows(), y.values.cols(), rows),
                            "Give a list with one number per row of B", y.where);
    }
    return y.values.col(0);
  }

  static QuadraticLoss loss_of_factor(const MatrixXd& factor, const Source& curvature,
                                      const Source& location) {
    if (location.key != "y") {
      return located(factor.transpose() * factor, location, curvature.where());
    }
    return quadratic_from_factor(factor, response_of(location, factor.rows()), curvature.where());
  }

  /// The loss of curvature A, placed by `minimiser` or `pull`.
  static QuadraticLoss located(const MatrixXd& curvature, const Source& location,
                               const Where& where) {
    const VectorXd vector = vector_of(location, curvature.cols());
    return location.key == "pull" ? quadratic_from_pull(curvature, vector, where)
                                  : quadratic_from_point(curvature, vector, where);
  }

  [[nodiscard]] QuadraticLoss loss_without_row() const {
    const Where where = own_.table.where("without_row");
    for (const char* key : {"A", "B", "minimiser", "pull", "y"}) {
      if (!own_.table.has(key)) continue;
      throw InvalidArgument(fmt::format("`{}.{}` and `{}.without_row` both say what the loss is",
                                        own_.name, key, own_.name),
                            "Keep one of them", where);
    }
    const auto curvature = find_in(*behind_, {"B"});
    const auto location = find_in(*behind_, {"y"});
    if (!curvature || !location) {
      throw InvalidArgument("`without_row` removes a row of B and y, which [d] does not give",
                            "Give B and y in [d], or the loss of D' in full", where);
    }
    const MatrixXd factor = factor_of(*curvature);
    const VectorXd response = response_of(*location, factor.rows());
    const std::int64_t row = own_.table.integer("without_row");
    if (row < 1 || row > factor.rows()) {
      throw InvalidArgument(
          fmt::format("`without_row` = {}, but B has rows 1 to {}", row, factor.rows()),
          "Give the number of a row", where);
    }
    const Index rest = factor.rows() - row;
    MatrixXd other_factor(factor.rows() - 1, factor.cols());
    VectorXd other_response(factor.rows() - 1);
    other_factor << factor.topRows(row - 1), factor.bottomRows(rest);
    other_response << response.head(row - 1), response.tail(rest);
    return quadratic_from_factor(other_factor, other_response, where);
  }

  Named own_;
  std::optional<Named> behind_;
};

std::variant<Flow, Release> read_output(const TomlTable& root, const Overrides& overrides) {
  if (root.has("flow") == root.has("release")) {
    throw InvalidArgument(root.has("flow") ? "[flow] and [release] are both given"
                                           : "neither [flow] nor [release] is given",
                          "Give [flow] with `times`, or [release] with `S`", root.where("release"));
  }
  if (root.has("release")) {
    root.table("release").reject_unknown({"S"});
    if (!overrides.times.empty()) {
      throw InvalidArgument("a release has no times", "Leave out --times", root.where("release"));
    }
    return Release{};
  }
  const TomlTable flow = root.table("flow");
  flow.reject_unknown({"times"});
  if (!overrides.times.empty()) return Flow{without_repeats(overrides.times)};
  return Flow{checked_numbers(flow, "times", "flow.times", not_a_time)};
}

}  // namespace

QuadraticProblem read_quadratic_problem(const std::string& path, const Overrides& overrides) {
  const TomlTable root = TomlTable::read(path);
  root.reject_unknown({"title", "flow", "release", "risk", "d", "d_prime"});
  QuadraticProblem problem;
  problem.source = path;
  problem.title = root.has("title") ? root.string("title") : "Quadratic problem " + path;
  problem.output = read_output(root, overrides);
  problem.questions = read_questions(root, overrides);

  const bool is_flow = std::holds_alternative<Flow>(problem.output);
  const DataSetReader d(root, "d", std::nullopt);
  const DataSetReader d_prime(root, "d_prime", "d");
  d.require_known(is_flow);
  d_prime.require_known(is_flow);
  problem.d.loss = d.loss();
  problem.d_prime.loss = d_prime.loss();
  problem.way_of_change = d_prime.way_of_change();
  const Index dimension = problem.dimension();
  if (problem.d_prime.loss.pull.size() != dimension) {
    throw InvalidArgument(fmt::format("[d_prime] has {} parameters, [d] has {}",
                                      problem.d_prime.loss.pull.size(), dimension),
                          "Both models must have the same parameters", root.where("d_prime"));
  }
  if (is_flow) {
    problem.d.noise = d.noise(dimension);
    problem.d_prime.noise = d_prime.noise(dimension);
    problem.d.start = d.start(dimension);
    problem.d_prime.start = d_prime.start(dimension);
    problem.defaults = d.defaults();
  } else {
    problem.d.noise = root.table("release").covariance("S", dimension);
    problem.d_prime.noise = problem.d.noise;
  }
  return problem;
}

}  // namespace sfumato::cli
