#include "lab/train/setting_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sfumato/core/overloaded.hpp"

namespace sfumato::lab {
namespace {

std::string layer_text(const Network& network, std::size_t i) {
  const NamedLayer& named = network.layers()[i];
  const std::string kind = std::visit(
      Overloaded{[](const Linear& l) { return fmt::format("linear {}", l.outputs); },
                 [](const Conv2d& c) {
                   std::string text = fmt::format("conv2d {0} of {1} x {1}", c.channels, c.kernel);
                   if (c.stride != 1) text += fmt::format(" stride {}", c.stride);
                   if (c.padding != 0) text += fmt::format(" padding {}", c.padding);
                   return text;
                 },
                 [](const MaxPool2d& p) { return fmt::format("max_pool {}", p.size); },
                 [](const AvgPool2d& p) { return fmt::format("avg_pool {}", p.size); },
                 [](const Relu&) { return std::string("relu"); },
                 [](const Tanh&) { return std::string("tanh"); },
                 [](const Sigmoid&) { return std::string("sigmoid"); },
                 [](const FixedMap&) { return std::string("fixed map"); },
                 [](const Flatten&) { return std::string("flatten"); }},
      named.layer);
  return kind == named.name ? kind : fmt::format("{} ({})", named.name, kind);
}

}  // namespace

std::string network_text(const TrainInput& input) {
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < input.network.layers().size(); ++i) {
    layers.push_back(layer_text(input.network, i));
  }
  const std::string& preset = input.study.model.preset;
  return fmt::format("Network{}: {} parameters; {} -> {}, softmax cross-entropy.",
                     preset.empty() ? "" : fmt::format(" {}", preset),
                     input.network.parameter_count(), input.network.input().text(),
                     fmt::join(layers, ", "));
}

std::string data_text(const TrainInput& input) {
  const DataSpec& data = input.study.data;
  const LabelledSet& train = input.sets.train;
  std::string inputs;
  switch (data.standardise) {
    case StandardiseBy::public_constants:
      inputs = "standardised by the set's public constants";
      break;
    case StandardiseBy::none: inputs = data.is_table() ? "unscaled" : "pixels / 255"; break;
    case StandardiseBy::constants:
      inputs = "standardised by the study's constants, assumed to be public";
      break;
  }
  return fmt::format("D: N = {} of the {} records of {}, drawn with seed {}, {}.",
                     input.pair.slots.count(), train.count(), train.name, data.seed, inputs);
}

std::string adjacency_text(const TrainInput& input) {
  const SlotChange& change = input.pair.other.changes.front();
  const auto label = static_cast<int>(input.pair.slots.labels[change.slot]);
  const std::uint32_t record = input.pair.slots.records[change.slot];
  const auto own = static_cast<int>(input.sets.train.labels[record]);
  std::string text =
      fmt::format("The differing record is number {} of the set, class {}", record + 1, own);
  if (label != own) text += fmt::format(", a canary: labelled {} in D", label);
  text += ". ";
  text +=
      change.empty
          ? "In D' its slot is empty: batches may draw it, but its gradient is zero, and sums are "
            "divided by the nominal batch size (zero-out adjacency)."
          : fmt::format("In D' it is replaced by record {}, class {}.", change.record + 1,
                        static_cast<int>(change.label));
  return text + " N is public and the same in both worlds.";
}

std::string training_text(const TrainInput& input) {
  const Training& train = input.study.train;
  return fmt::format(
      "{} iterations on batches of {} ({}), {} of the losses, learning rate {}, seed {}. All "
      "models share initial weights, batches and Gaussian draws.",
      train.iterations, train.batch_size, name(train.batches),
      train.loss == LossScale::mean ? "mean" : "sum", train.learning_rate, train.seed);
}

}  // namespace sfumato::lab
