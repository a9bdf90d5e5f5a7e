#include "lab/train/difference_figures.hpp"

#include <vector>

#include "lab/train/parameter_figures.hpp"

namespace sfumato::lab {

void add_difference_figures(Document& document, const TrainInput& input, const TrainRun& run) {
  if (!input.study.train.gradient_differences || run.group.step() == 0) return;
  const auto steps = static_cast<double>(run.group.step());
  std::vector<ParameterField> fields;
  for (const ModelRecord& record : run.group.models()) {
    if (record.world != 0 || record.squared_differences.empty()) continue;
    ParameterField field{input.policies[record.policy].name, record.squared_differences};
    for (double& value : field.values) value /= steps;
    fields.push_back(std::move(field));
  }
  if (fields.empty()) return;
  for (Figure& figure : parameter_figures(input.network, fields,
                                          {"differences",
                                           "Where the record is visible: differences of the "
                                           "gradients",
                                           "mean squared difference of a parameter",
                                           "mean over the steps of (g_i - g'_i)^2, one run"})) {
    figure.set_caption(figure.mark() == Mark::image
                           ? "Computed from private data: the picture may reveal the record itself."
                           : "Noise designed for these differences follows their square roots.");
    document.add(std::move(figure));
  }
}

}  // namespace sfumato::lab
