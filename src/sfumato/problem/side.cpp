#include "sfumato/problem/side.hpp"

#include <fmt/format.h>

#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

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

Side::Side(const TomlTable& root, std::string name, std::optional<std::string> behind)
    : own_{root.table(name), std::move(name)} {
  if (behind) behind_ = Named{root.table(*behind), *behind};
}

std::optional<Source> Side::find(const std::vector<std::string>& choices) const {
  if (auto source = find_in(own_, choices)) return source;

  return find_behind(choices);
}

std::optional<Source> Side::find_behind(const std::vector<std::string>& choices) const {
  return behind_ ? find_in(*behind_, choices) : std::nullopt;
}

std::optional<Source> Side::find_in(const Named& named, const std::vector<std::string>& choices) {
  std::optional<Source> found;

  for (const std::string& key : choices) {
    if (!named.table.has(key)) continue;
    Source source{named.table, key, fmt::format("{}.{}", named.name, key)};
    if (found) {
      throw InvalidArgument(fmt::format("`{}` and `{}` are both given", found->label, source.label),
                            "Keep one of them", source.where());
    }
    found = std::move(source);
  }

  return found;
}

Source Side::require(const std::vector<std::string>& choices, std::string_view what) const {
  if (auto source = find(choices)) return *std::move(source);

  throw InvalidArgument(fmt::format("[{}] does not give {}", own_.name, what),
                        fmt::format("Add {}", fmt::join(choices, " or ")), own_.table.where(""));
}

std::vector<KeyInfo> training_key_infos() {
  const char* covariance = "number | list | matrix | path";

  return {{"d",
           "Sigma",
           {},
           covariance,
           "",
           false,
           "diffusion covariance: variance per unit of time, not its root"},
          {"d", "start_mean", {}, "list | path", "0", false, "mean of the start"},
          {"d",
           "start_covariance",
           {},
           covariance,
           "0",
           false,
           "covariance of the start; 0 is a point"}};
}

GaussianDistribution start_of(const Side& side, Index dimension) {
  GaussianDistribution distribution = point_distribution(VectorXd::Zero(dimension));

  if (const auto mean = side.find({"start_mean"})) distribution.mean = vector_of(*mean, dimension);

  if (const auto spread = side.find({"start_covariance"})) {
    distribution.covariance = spread->covariance(dimension);
  }

  return distribution;
}

std::string start_defaults(const Side& side) {
  const bool mean = side.own().has("start_mean");

  const bool covariance = side.own().has("start_covariance");

  if (!mean && !covariance) return "The start is not given: it is the point 0.";

  if (!mean) return "start_mean is not given: it is 0.";

  return covariance ? "" : "start_covariance is not given: the start is a point.";
}

double labelled_number(const TomlTable& table, const char* key, const std::string& label,
                       NumberCheck check) {
  const double value = table.number(key);
  if (const char* problem = check(value)) {
    throw InvalidArgument(fmt::format("`{}`: {} {}", label, value, problem), "Correct it",
                          table.where(key));
  }
  return value;
}

std::vector<double> labelled_list(const TomlTable& table, const char* key, const std::string& label,
                                  NumberCheck check) {
  std::vector<double> values = table.numbers(key);
  for (const double value : values) {
    if (const char* problem = check(value)) {
      throw InvalidArgument(fmt::format("`{}`: {} {}", label, value, problem),
                            "Correct or remove it", table.where(key));
    }
  }
  return values;
}

}  // namespace sfumato
