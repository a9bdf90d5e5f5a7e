#include "reproduce/part.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato::apps {

std::string_view name(RunScale scale) {
  switch (scale) {
    case RunScale::quick: return "quick";
    case RunScale::paper: return "paper";
  }
  throw InternalError("unknown scale");
}

std::string_view name(PaperVerdict verdict) {
  switch (verdict) {
    case PaperVerdict::holds: return "holds";
    case PaperVerdict::does_not_hold: return "does not hold";
    case PaperVerdict::depends: return "depends";
  }
  throw InternalError("unknown verdict");
}

PaperVerdict verdict_of(std::size_t confirmed, std::size_t total) {
  if (total == 0 || confirmed > total) throw InternalError("a verdict needs cases");
  if (confirmed == total) return PaperVerdict::holds;
  return confirmed == 0 ? PaperVerdict::does_not_hold : PaperVerdict::depends;
}

namespace {

/// A part that needs nothing but the scale and is soon done.
template <PartResult (*Make)(RunScale)>
std::optional<PartResult> at_once(const PartContext& context) {
  return Make(context.scale);
}

}  // namespace

bool Part::is_called(std::string_view word) const {
  return key == word || key.starts_with(std::string(word) + ".");
}

const std::vector<Part>& reproduction_parts() {
  static const std::vector<Part> parts = {
      {"theorem", "The theorem and what follows from it, as printed and corrected", "", false,
       PaperNumber::none, at_once<reproduce_theorem>},
      {"figure1", "Figure 1: privacy and accuracy over the noise plane", "", false,
       PaperNumber::figure, at_once<reproduce_figure1>},
      {"figure2", "Figure 2: the best noise for a loss of accuracy", "", false, PaperNumber::figure,
       at_once<reproduce_figure2>},
      {"figure3", "Figure 3: quadratic objective, condition numbers 10 and 100", "", false,
       PaperNumber::figure, at_once<reproduce_figure3>},
      {"table2.s1", "Table 2, setting 1: 1,000 samples of Fashion-MNIST, 784-10-10",
       "fashion-mnist", false, PaperNumber::table, reproduce_table2_s1},
      {"table2.s2", "Table 2, setting 2: 10,000 samples of Fashion-MNIST, 784-100-10",
       "fashion-mnist", false, PaperNumber::table, reproduce_table2_s2},
      {"table2.s3", "Table 2, setting 3: 1,000 samples of CIFAR-10, LeNet", "cifar10", false,
       PaperNumber::table, reproduce_table2_s3},
      {"table1", "Table 1: the privacy of SGD itself, and flatness", "fashion-mnist", false,
       PaperNumber::table, reproduce_table1},
      {"membership", "Membership inference: losses of the differing record", "fashion-mnist", false,
       PaperNumber::none, reproduce_membership},
      {"unequal", "Different drifts and different noise, in any dimension", "", true,
       PaperNumber::none, at_once<reproduce_unequal>},
      {"frontier", "Risk against loss for five kinds of noise", "fashion-mnist", true,
       PaperNumber::none, reproduce_frontier},
      {"works", "What works: bounds, guarantees, and when noise should be unequal", "fashion-mnist",
       true, PaperNumber::none, reproduce_works},
  };
  return parts;
}

}  // namespace sfumato::apps
