#include "reproduce/public_design.hpp"

#include "lab/nn/trial_group.hpp"
#include "lab/study/study_data.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/design/average_design.hpp"

namespace sfumato::apps {

using namespace lab;

std::optional<PublicDesign> design_on_public_records(const Study& study, std::uint64_t pairs,
                                                     const DataPlaces& places, Observer& observer) {
  const StudySets sets = load_sets(study, places);
  if (!sets.test) {
    throw InvalidArgument("the study's set has no records to test on",
                          "Design noise on a set with a test part", study.data.where);
  }
  const Network network = network_of(study.model, sets.train);
  const auto dimension = static_cast<Eigen::Index>(network.parameter_count());
  Training training = study.train;
  training.gradient_differences = true;
  training.path_kl = false;
  Eigen::VectorXd moments = Eigen::VectorXd::Zero(dimension);
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    training.seed = study.train.seed + pair;
    TrialGroup group(network, training_data(*sets.test, adjacent_pair(study, *sets.test, pair)),
                     {NoisePolicy{"none"}}, training);
    group.train_until(training.iterations, observer);
    if (group.step() < training.iterations) return std::nullopt;
    for (const ModelRecord& record : group.models()) {
      for (Eigen::Index i = 0; i < dimension; ++i) {
        moments(i) += record.squared_differences[static_cast<std::size_t>(i)];
      }
    }
  }
  DesignTask task;
  task.budget = trace_budget(dimension, static_cast<double>(dimension));
  task.form = DesignForm::diagonal;
  task.floor = Eigen::VectorXd::Constant(dimension, 0.01);
  return PublicDesign{network,
                      average_design(Diagonal{moments / static_cast<double>(pairs)}, task)};
}

}  // namespace sfumato::apps
