#include "sfumato/data/labelled_set.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

struct ChannelConstants {
  double mean;
  double deviation;
};

ChannelConstants constants_of(const Standardisation& s, int channel) {
  const auto c = static_cast<std::size_t>(channel);
  return {s.means.empty() ? 0.0 : s.means.at(c), s.deviations.empty() ? 1.0 : s.deviations.at(c)};
}

float input_of(double value, double divisor, const ChannelConstants& constants) {
  return static_cast<float>((value / divisor - constants.mean) / constants.deviation);
}

template <class T>
std::span<const T> record_of(const LabelledSet& set, std::size_t record) {
  const auto* values = std::get_if<std::vector<T>>(&set.values);
  if (values == nullptr) throw InternalError("the set holds values of the other kind");
  const std::size_t size = set.shape.size();
  return std::span<const T>(*values).subspan(record * size, size);
}

void require_constants(const LabelledSet& set, const Where& where) {
  const Standardisation& s = set.standardisation;
  require_positive("the divisor", s.divisor, where);
  for (const auto* values : {&s.means, &s.deviations}) {
    if (!values->empty()) {
      require_size("standardisation by channel", static_cast<std::ptrdiff_t>(values->size()),
                   set.shape.channels, where);
    }
  }
  for (const double mean : s.means) require_finite("a mean", mean, where);
  for (const double deviation : s.deviations) require_positive("a deviation", deviation, where);
  if (!std::holds_alternative<std::vector<std::uint8_t>>(set.values)) return;
  for (int c = 0; c < set.shape.channels; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const double mean = s.means.empty() ? 0.0 : s.means[channel];
    const double deviation = s.deviations.empty() ? 1.0 : s.deviations[channel];
    for (const double pixel : {0.0, 255.0}) {
      if (!std::isfinite(static_cast<float>((pixel / s.divisor - mean) / deviation))) {
        throw InvalidArgument(
            "pixels are not finite in single precision when they are standardised",
            "Check divisor, means and deviations", where);
      }
    }
  }
}

}  // namespace

std::string shape_text(const ImageShape& shape) {
  return fmt::format("{} x {} x {}", shape.channels, shape.height, shape.width);
}

Standardisation pixels_only() { return {255.0, {}, {}}; }

Standardisation fashion_mnist_standardisation() { return {255.0, {0.2860}, {0.3530}}; }

Standardisation cifar10_standardisation() {
  return {255.0, {0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}};
}

std::span<const std::uint8_t> bytes_of(const LabelledSet& set, std::size_t record) {
  return record_of<std::uint8_t>(set, record);
}

void standardised(const LabelledSet& set, std::size_t record, std::span<float> inputs) {
  require_size("the inputs", static_cast<std::ptrdiff_t>(inputs.size()),
               static_cast<std::ptrdiff_t>(set.shape.size()));
  if (record >= set.count()) {
    throw InvalidArgument(fmt::format("there is no record {} among {}", record, set.count()),
                          "Records count from 0");
  }
  const std::size_t plane = set.shape.size() / static_cast<std::size_t>(set.shape.channels);
  std::visit(
      [&](const auto& values) {
        const auto* first = values.data() + record * set.shape.size();
        for (int channel = 0; channel < set.shape.channels; ++channel) {
          const ChannelConstants constants = constants_of(set.standardisation, channel);
          const std::size_t begin = static_cast<std::size_t>(channel) * plane;
          for (std::size_t i = begin; i < begin + plane; ++i) {
            inputs[i] =
                input_of(static_cast<double>(first[i]), set.standardisation.divisor, constants);
          }
        }
      },
      set.values);
}

void require_consistent(const LabelledSet& set) {
  const Where where = Where::in(set.name);
  if (set.shape.channels < 1 || set.shape.height < 1 || set.shape.width < 1) {
    throw InvalidArgument(fmt::format("records of shape {} hold nothing", shape_text(set.shape)),
                          "Give every side at least 1", where);
  }
  if (set.count() == 0) throw InvalidArgument("there is no record", "Give one or more", where);
  if (set.classes < 2 || set.classes > 256) {
    throw InvalidArgument(fmt::format("{} classes cannot be told apart", set.classes),
                          "Give labels of 2 to 256 classes", where);
  }
  for (std::size_t i = 0; i < set.count(); ++i) {
    if (set.labels[i] >= set.classes) {
      throw InvalidArgument(
          fmt::format("the label of record {} is not one of 0 to {}", i, set.classes - 1),
          "Check the labels and the number of classes", where);
    }
  }
  const std::size_t stored = std::visit([](const auto& v) { return v.size(); }, set.values);
  require_size(
      fmt::format("the values of {} records of shape {}", set.count(), shape_text(set.shape)),
      static_cast<std::ptrdiff_t>(stored),
      static_cast<std::ptrdiff_t>(set.count() * set.shape.size()), where);
  if (const auto* features = std::get_if<std::vector<float>>(&set.values)) {
    for (std::size_t i = 0; i < features->size(); ++i) {
      if (!std::isfinite((*features)[i])) {
        throw InvalidArgument(
            fmt::format("feature {} of record {} is not finite in single precision",
                        i % set.shape.size(), i / set.shape.size()),
            "Scale the column", where);
      }
    }
  }
  require_constants(set, where);
}

}  // namespace sfumato
