#include "lab/nn/exact_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/nn/exact_backprop.hpp"
#include "sfumato/core/check.hpp"

namespace sfumato::lab {
namespace {

using Doubles = std::span<const double>;

void require_length(std::string_view name, Doubles values, std::size_t expected,
                    const Where& where) {
  require_size(name, std::ssize(values), static_cast<std::ptrdiff_t>(expected), where);
}

void require_record(const Network& network, const LabelledRecord& record, const Where& where) {
  require_length("the record", record.values, network.input().size(), where);
  if (record.label >= network.classes()) {
    throw InvalidArgument(
        fmt::format("label = {} of a network with {} classes", record.label, network.classes()),
        "Count classes from 0", where);
  }
}

void require_batch(const Network& network, std::span<const LabelledRecord> records, LossScale scale,
                   const Where& where) {
  if (records.empty() && scale == LossScale::mean) {
    throw InvalidArgument("the mean over no records", "Give at least one", where);
  }
  for (const LabelledRecord& record : records) {
    if (!record.values.empty()) require_record(network, record, where);
  }
}

double factor_of(std::span<const LabelledRecord> records, LossScale scale) {
  return scale == LossScale::mean ? 1.0 / static_cast<double>(records.size()) : 1.0;
}

std::vector<Dual> duals(Doubles values, Doubles tangents) {
  std::vector<Dual> result(values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = {values[i], tangents.empty() ? 0.0 : tangents[i]};
  }
  return result;
}

std::vector<double> tangents_of(const std::vector<Dual>& numbers) {
  std::vector<double> result(numbers.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = numbers[i].tangent;
  return result;
}

/// A point of record space in its two parts.
template <class T>
struct Parts {
  std::span<const T> values, target;
  Parts(const Network& network, std::span<const T> point)
      : values(point.first(network.input().size())), target(point.last(network.classes())) {}
};

/// The loss of a record, left in `pass` for its gradient.
template <class T>
T loss_at(ExactBackprop<T>& pass, const Network& network, std::span<const T> point) {
  const Parts<T> parts(network, point);
  return pass.loss(parts.values, parts.target);
}

std::size_t point_size(const Network& network) {
  return network.input().size() + network.classes();
}

}  // namespace

std::vector<double> record_point(const Network& network, const LabelledRecord& record) {
  require_record(network, record, Where::here());
  std::vector<double> point(record.values.begin(), record.values.end());
  point.resize(point_size(network), 0.0);
  point[record.values.size() + record.label] = 1.0;
  return point;
}

RecordGradient record_gradient(const Network& network, Doubles parameters,
                               const LabelledRecord& record) {
  const Where where = Where::here();
  require_length("parameters", parameters, network.parameter_count(), where);
  require_record(network, record, where);
  RecordGradient result{0.0, {}, std::vector<double>(parameters.size())};
  ExactBackprop<double> pass(network, parameters);
  result.loss = loss_at<double>(pass, network, record_point(network, record));
  pass.add_gradient(result.gradient, {});
  result.logits = pass.logits();
  return result;
}

BatchGradient batch_gradient(const Network& network, Doubles parameters,
                             std::span<const LabelledRecord> records, LossScale scale) {
  const Where where = Where::here();
  require_length("parameters", parameters, network.parameter_count(), where);
  require_batch(network, records, scale, where);
  BatchGradient result{0.0, std::vector<double>(parameters.size())};
  ExactBackprop<double> pass(network, parameters);
  for (const LabelledRecord& record : records) {
    if (record.values.empty()) continue;
    result.loss += loss_at<double>(pass, network, record_point(network, record));
    pass.add_gradient(result.gradient, {});
  }
  const double factor = factor_of(records, scale);
  result.loss *= factor;
  for (double& entry : result.gradient) entry *= factor;
  return result;
}

std::vector<double> hessian_product(const Network& network, Doubles parameters,
                                    std::span<const LabelledRecord> records, LossScale scale,
                                    Doubles direction) {
  const Where where = Where::here();
  require_length("parameters", parameters, network.parameter_count(), where);
  require_length("direction", direction, network.parameter_count(), where);
  require_batch(network, records, scale, where);
  const std::vector<Dual> moving = duals(parameters, direction);
  std::vector<Dual> gradient(parameters.size());
  ExactBackprop<Dual> pass(network, moving);
  for (const LabelledRecord& record : records) {
    if (record.values.empty()) continue;
    (void)loss_at<Dual>(pass, network, duals(record_point(network, record), {}));
    pass.add_gradient(gradient, {});
  }
  std::vector<double> product = tangents_of(gradient);
  const double factor = factor_of(records, scale);
  for (double& entry : product) entry *= factor;
  return product;
}

Eigen::MatrixXd record_gradients(const Network& network, Doubles parameters,
                                 std::span<const LabelledRecord> records) {
  const Where where = Where::here();
  require_length("parameters", parameters, network.parameter_count(), where);
  require_batch(network, records, LossScale::sum, where);
  Eigen::MatrixXd rows(std::ssize(records), std::ssize(parameters));
  Eigen::RowVectorXd gradient(rows.cols());
  ExactBackprop<double> pass(network, parameters);
  for (std::size_t l = 0; l < records.size(); ++l) {
    gradient.setZero();
    if (!records[l].values.empty()) {
      (void)loss_at<double>(pass, network, record_point(network, records[l]));
      pass.add_gradient({gradient.data(), parameters.size()}, {});
    }
    rows.row(static_cast<Eigen::Index>(l)) = gradient;
  }
  return rows;
}

std::vector<double> point_gradient(const Network& network, Doubles parameters, Doubles point) {
  const Where where = Where::here();
  require_length("parameters", parameters, network.parameter_count(), where);
  require_length("point", point, point_size(network), where);
  std::vector<double> gradient(parameters.size());
  ExactBackprop<double> pass(network, parameters);
  (void)loss_at<double>(pass, network, point);
  pass.add_gradient(gradient, {});
  return gradient;
}

std::vector<double> mixed_product(const Network& network, Doubles parameters, Doubles point,
                                  Doubles direction) {
  const Where where = Where::here();
  require_length("parameters", parameters, network.parameter_count(), where);
  require_length("point", point, point_size(network), where);
  require_length("direction", direction, point_size(network), where);
  const std::vector<Dual> still = duals(parameters, {});
  std::vector<Dual> gradient(parameters.size());
  ExactBackprop<Dual> pass(network, still);
  (void)loss_at<Dual>(pass, network, duals(point, direction));
  pass.add_gradient(gradient, {});
  return tangents_of(gradient);
}

std::vector<double> mixed_transposed_product(const Network& network, Doubles parameters,
                                             Doubles point, Doubles direction) {
  const Where where = Where::here();
  require_length("parameters", parameters, network.parameter_count(), where);
  require_length("point", point, point_size(network), where);
  require_length("direction", direction, network.parameter_count(), where);
  const std::vector<Dual> moving = duals(parameters, direction);
  std::vector<Dual> unused(parameters.size()), input_gradient(network.input().size());
  ExactBackprop<Dual> pass(network, moving);
  (void)loss_at<Dual>(pass, network, duals(point, {}));
  pass.add_gradient(unused, input_gradient);
  // <grad loss, v> is the derivative of the loss along v, and J^T v its gradient in the point: by
  // exchanging derivatives, the derivative along v of the gradient in the point. In the share of
  // class c that gradient is -log p_c.
  std::vector<double> product = tangents_of(input_gradient);
  for (const Dual& surprise : pass.surprise()) product.push_back(surprise.tangent);
  return product;
}

double block_norm(const ParameterBlock& block, std::span<const double> gradient,
                  std::span<const float> inverse_variances) {
  double square = 0.0;
  for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
    const double weight =
        inverse_variances.empty() ? 1.0 : static_cast<double>(inverse_variances[i]);
    square += gradient[i] * gradient[i] * weight;
  }
  return std::sqrt(square);
}

ClippedSum clipped_gradient(const Network& network, std::span<const double> parameters,
                            std::span<const LabelledRecord> records, const Clipping& clipping,
                            std::span<const float> inverse_variances) {
  ClippedSum result;
  result.sum.assign(network.parameter_count(), 0.0);
  for (const LabelledRecord& record : records) {
    if (record.values.empty()) {
      result.norms.push_back(0.0);
      continue;
    }
    const std::vector<double> gradient = record_gradient(network, parameters, record).gradient;
    double square = 0.0;
    for (const ParameterBlock& block : network.blocks()) {
      const double norm = block_norm(block, gradient, inverse_variances);
      square += norm * norm;
    }
    result.norms.push_back(std::sqrt(square));
    if (!std::isfinite(square)) {
      ++result.zeroed;
      continue;
    }
    for (std::size_t b = 0; b < network.blocks().size(); ++b) {
      const ParameterBlock& block = network.blocks()[b];
      const double norm = clipping.by_block() ? block_norm(block, gradient, inverse_variances)
                                              : result.norms.back();
      const double clip = clipping.clips[clipping.by_block() ? b : 0];
      const double factor = norm > clip ? clip / norm : 1.0;
      for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
        result.sum[i] += factor * gradient[i];
      }
    }
  }
  return result;
}

}  // namespace sfumato::lab
