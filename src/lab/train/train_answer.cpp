#include "lab/train/train_answer.hpp"

#include <filesystem>

#include "lab/nn/exact_gradient.hpp"
#include "lab/train/train_document.hpp"
#include "lab/train/train_files.hpp"

namespace sfumato::lab {
namespace {

/// `one` of every model that has not diverged, until the observer asks to stop.
template <class Measure, class One>
void measure_models(std::vector<std::optional<Measure>>& into, const TrainRun& run,
                    Observer& observer, One&& one) {
  for (std::size_t m = 0; m < run.group.models().size(); ++m) {
    observer.progress("measuring", m, run.group.models().size());
    if (observer.stop_requested()) return;
    const ModelRecord& record = run.group.models()[m];
    into.push_back(record.diverged_at
                       ? std::nullopt
                       : std::optional<Measure>(one(record, run.group.parameters(m))));
  }
}

/// The noise of a step at the final weights, of every model of D with noise: with the mean gradient of all
/// records for that of a batch.
std::vector<ParameterField> noise_of_models(const TrainInput& input, const TrainRun& run,
                                            const WorldRecords& world, Observer& observer) {
  const Training& training = input.study.train;
  std::vector<ParameterField> fields;
  for (std::size_t m = 0; m < run.group.models().size() && !observer.stop_requested(); ++m) {
    const ModelRecord& record = run.group.models()[m];
    const NoisePolicy& policy = input.policies[record.policy];
    const bool silent = std::holds_alternative<NoNoise>(policy.rule);
    if (record.world != 0 || record.diverged_at || silent) continue;
    const std::vector<float>& weights = run.group.parameters(m);
    BatchGradient whole =
        batch_gradient(input.network, std::vector<double>(weights.begin(), weights.end()),
                       world.records(), LossScale::mean);
    if (training.loss == LossScale::sum) {
      for (double& partial : whole.gradient) partial *= static_cast<double>(training.batch_size);
    }
    const double unit =
        training.loss == LossScale::mean ? 1.0 / static_cast<double>(training.batch_size) : 1.0;
    fields.push_back({policy.name, step_variances(policy, {input.network, training.learning_rate,
                                                           whole.gradient, unit})});
  }
  return fields;
}

}  // namespace

TrainMeasures measure(const TrainQuestion& question, const TrainInput& input, const TrainRun& run,
                      Observer& observer) {
  TrainMeasures measures;
  if (question.measures.empty()) return measures;
  const Training& training = input.study.train;
  const Network& network = input.network;
  const WorldRecords worlds[] = {WorldRecords(*input.data, 0), WorldRecords(*input.data, 1)};
  if (question.wants(TrainMeasure::hessian)) {
    measure_models(measures.hessian, run, observer,
                   [&](const ModelRecord& record, const std::vector<float>& parameters) {
                     return measure_hessian(network, parameters, worlds[record.world],
                                            training.loss, training.seed);
                   });
  }
  if (question.wants(TrainMeasure::flatness)) {
    measure_models(measures.flatness, run, observer,
                   [&](const ModelRecord&, const std::vector<float>& parameters) {
                     return measure_flatness(network, parameters, worlds[0], worlds[1]);
                   });
  }
  if (question.wants(TrainMeasure::covariance)) {
    measure_models(measures.covariance, run, observer,
                   [&](const ModelRecord& record, const std::vector<float>& parameters) {
                     return measure_covariance(network, parameters, worlds[record.world], training);
                   });
  }
  if (question.wants(TrainMeasure::noise)) {
    measures.noise = noise_of_models(input, run, worlds[0], observer);
  }
  measures.stopped = observer.stop_requested();
  return measures;
}

TrainAnswer answer(const TrainQuestion& question, Observer& observer) {
  TrainInput input = read_input(question);
  if (!question.out.empty()) prepare_directory(question, input);
  TrainRun run = train(input, question, observer);
  TrainAnswer answer{question, std::move(input), std::move(run)};
  if (!answer.finished()) return answer;
  if (!question.out.empty()) write_results(answer);  // before the measures: they can be stopped
  answer.measures = measure(question, answer.input, answer.run, observer);
  if (!question.out.empty()) write_document(question, document_of(answer, Detail::full));
  std::error_code ignored;  // a checkpoint that stays is refused by the next run, with its name
  std::filesystem::remove(checkpoint_path(question), ignored);
  return answer;
}

}  // namespace sfumato::lab
