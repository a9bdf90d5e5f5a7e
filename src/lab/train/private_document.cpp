#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "lab/train/private_answer.hpp"
#include "sfumato/account/named_model.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::lab {
namespace {

Table guarantee_table(const PrivateTrainAnswer& answer) {
  const Guarantee& guarantee = answer.guarantee;
  Table table("guarantee",
              answer.secret ? "What the model guarantees" : "What the model was trained with",
              {{"quantity", "quantity"}, {"value", "value"}});
  if (answer.secret) {
    table.add_row({"epsilon", map(guarantee.claimed_epsilon(),
                                  [](const Epsilon& epsilon) { return epsilon.nats(); })});
    table.add_row({"delta", guarantee.delta().probability()});
  } else {
    table.add_row({"epsilon", "none: the noise comes from a seed"});
  }
  const PrivateNoise& noise = answer.policy.private_noise();
  table.add_row({"noise multiplier", noise.noise_multiplier});
  table.add_row({"clip", noise.clip});
  const bool all = answer.input_metrics.size() > 1;
  table.add_row({"metric", fmt::format("{}{}", name(noise.metric), all ? ", all layers" : "")});
  table.add_row({"noise", answer.question.hardened ? "exact, on a grid" : "floating point"});
  return table;
}

PrivacyStatement privacy_statement_of(const PrivateTrainAnswer& answer) {
  // The slots of D are there whether they are filled or not.
  std::vector<std::string> further = {
      fmt::format("the number of records, {}, is public", answer.records)};
  if (answer.study.data.is_table()) {
    further.emplace_back(
        "records have the declared form: numbers of at most 3.4e38 in size, and a class among "
        "those declared");
  }
  return sfumato::statement_of(
      answer.guarantee,
      answer.question.hardened ? NoiseArithmetic::exact : NoiseArithmetic::floating_point, further);
}

/// The statement of the model card: what it rests on is what the document assumes.
void add_statement(Document& document, const PrivateTrainAnswer& answer) {
  const PrivacyStatement statement = privacy_statement_of(answer);
  document.state(StatementKind::info, statement.claim);
  for (const PrivacyStatement::Item& item : statement.items) {
    if (item.is_condition) {
      for (const std::string& condition : item.list) {
        document.state(StatementKind::assumption, condition + ".");
      }
      continue;
    }
    document.state(StatementKind::info,
                   item.list.empty()
                       ? fmt::format("{}: {}", item.heading, item.text)
                       : fmt::format("{}: {}.", item.heading, fmt::join(item.list, "; ")));
  }
}

/// Accuracy is computed without noise: on records held out of a private table it says something about them.
bool tells_of_private_records(const PrivateTrainAnswer& answer) {
  return answer.test && answer.secret && answer.study.data.is_table() &&
         answer.study.data.validation != 0;
}

/// The top of the page: a guarantee, which the runs of `train` without one do not have.
Abstract abstract_of(const PrivateTrainAnswer& answer) {
  Abstract abstract;
  abstract.asked = "May this model be published?";
  abstract.released =
      fmt::format("The weights of a network with {} parameters, trained on {} records{}.",
                  answer.network.parameter_count(), answer.records,
                  answer.input_metrics.empty() ? ""
                  : answer.input_metrics.size() == 1
                      ? ", and noisy second moments of what its first layer reads"
                      : ", and noisy second moments of what its layers read");
  const std::string epsilon = format_number(answer.guarantee.epsilon().nats(), Rounding::up);
  const std::string delta = format_input(answer.guarantee.delta().probability());
  if (!answer.secret) {
    abstract.answer = "No: its noise came from a seed, so it has no guarantee.";
    abstract.advice = "Use it for experiments. To release a model, train without a seed.";
  } else if (answer.diverged) {
    abstract.answer = "There is nothing to publish: training diverged.";
    abstract.advice =
        "Lower the learning rate. The attempt has spent its budget: account for it (--after).";
  } else {
    abstract.answer = fmt::format(
        "Yes: it is differentially private, epsilon <= {} at delta = {}, whatever the data.",
        epsilon, delta);
    abstract.advice =
        "Publish the weights with the privacy statement (--out writes both), and nothing else "
        "computed from these records. Training again spends the budget again.";
  }
  if (answer.test) {
    abstract.cost = fmt::format("Test accuracy = {}{}.",
                                format_number(answer.test->accuracy, Rounding::nearest),
                                tells_of_private_records(answer)
                                    ? ", of private records that were held out: not for publication"
                                    : "");
  }
  return abstract;
}

std::string setting_text(const PrivateTrainAnswer& answer) {
  const Training& train = answer.study.train;
  std::string text = fmt::format(
      "{} steps on batches of {} of {} records ({}), {} parameters, learning rate {} ({}), "
      "momentum "
      "{}",
      train.iterations, train.batch_size, answer.records, name(train.batches),
      answer.network.parameter_count(), train.learning_rate, name(train.schedule), train.momentum);
  if (train.average_last > 0)
    text += fmt::format(", mean of the last {} iterates", train.average_last);
  return text + ".";
}

/// What the metric `input` was made of.
std::string metric_text(const PrivateTrainAnswer& answer) {
  const bool first = answer.input_metrics.size() == 1;
  std::string text = fmt::format(
      "Second moments of {} were released at mu = {:.4g}{}: ",
      first ? "the inputs" : "every layer's inputs, at the initial weights,",
      answer.policy.metric<InputMomentsMetric>()->mu,
      answer.calibrated ? fmt::format(" ({:.0f} % of the budget)",
                                      100.0 * answer.question.metric_share.value_or(kMetricShare))
                        : std::string());
  const char* resolved = " directions are resolved";
  for (const InputMetricRelease& release : answer.input_metrics) {
    text += fmt::format("{:.0f} of {}{}", release.effective_dimension, release.inputs, resolved);
    if (first) continue;
    text += fmt::format(" in `{}`", release.layer);
    if (&release != &answer.input_metrics.back()) text += ", ";
    resolved = "";
  }
  return text + ".";
}

void add_accuracy(Document& document, const PrivateTrainAnswer& answer) {
  if (!answer.test) return;
  Table table("accuracy", "Accuracy on test records (computed without noise: not private for them)",
              {{"quantity", "quantity"}, {"value", "value"}});
  const char* method = "of these weights, in single precision";
  const auto exact = [&](double value) { return Claimed<double>{value, Claim::exact, method}; };
  table.add_row({"test accuracy", exact(answer.test->accuracy)});
  table.add_row({"mean test loss", exact(answer.test->mean_loss)});
  document.add(std::move(table));
  document.add_result("test_accuracy", exact(answer.test->accuracy));
  document.add_result("test_loss", exact(answer.test->mean_loss));
}

void add_caveats(Document& document, const PrivateTrainAnswer& answer) {
  if (answer.secret) {
    document.state(
        StatementKind::assumption,
        answer.question.hardened
            ? "the noise is exact (discrete Gaussian on integer sums): low bits and the order of "
              "sums tell nothing. How long steps take is not protected."
            : "the noise is Gaussian in floating point: its low bits, the order of sums, and how "
              "long steps take are not protected. Add --hardened for exact noise.");
  } else {
    document.state(StatementKind::warning,
                   "this is an experiment: whoever knows the seed can take the noise off again, "
                   "and the model has no "
                   "guarantee. Leave the seed out to release one.");
  }
  const std::string assumption = answer.policy.private_noise().assumption();
  if (!assumption.empty()) document.state(StatementKind::assumption, assumption);
  if (answer.study.data.is_table()) {
    document.state(StatementKind::assumption,
                   "every record is a row of numbers of at most 3.4e38 in size (single "
                   "precision) with a class that was declared: a table with another one is "
                   "refused, which can be seen.");
  }
  if (tells_of_private_records(answer)) {
    document.state(
        StatementKind::warning,
        "test accuracy and loss are those of records held out of the private table, "
        "without noise: the guarantee is not about them. Do not publish these numbers, or "
        "test on public records.");
  }
  if (answer.zeroed_records > 0 && !answer.secret) {  // the count is not private
    document.state(
        StatementKind::warning,
        fmt::format(
            "{} gradients of records were not finite, or too large to clip, and counted nothing.",
            answer.zeroed_records));
  }
  if (answer.secret && !answer.delta_warning.empty()) {
    document.state(StatementKind::warning, answer.delta_warning);
  }
  if (answer.diverged) {
    document.state(StatementKind::warning,
                   "training diverged: the parameters are not finite. Lower the learning rate.");
  }
  document.state(StatementKind::assumption,
                 "settings were chosen without looking at results on these records, and this is "
                 "the only model trained on "
                 "them: every further one is a release of its own.");
}

}  // namespace

std::string statement_of(const PrivateTrainAnswer& answer) {
  return privacy_statement_of(answer).markdown();
}

Document document_of(const PrivateTrainAnswer& answer, Detail detail) {
  Document document = new_document("train", answer.study.title.empty()
                                                ? "Private training of " + answer.question.study
                                                : answer.study.title);
  document.add_provenance("study", answer.study.source);
  document.add_provenance(
      "noise", answer.secret ? "operating system" : fmt::format("seed {}", *answer.question.seed));
  if (!answer.finished) {
    document.state(
        StatementKind::warning,
        "stopped on request. Nothing was kept: noise that was drawn once must not be drawn again.");
    return document;
  }
  document.add(guarantee_table(answer));
  add_accuracy(document, answer);
  if (!answer.input_metrics.empty()) document.state(StatementKind::info, metric_text(answer));
  add_caveats(document, answer);
  if (!answer.booked.empty()) document.state(StatementKind::info, answer.booked);
  if (answer.secret) {  // a seed takes the noise off again: no epsilon holds (Spec §21.2)
    document.add_result("epsilon", map(answer.guarantee.claimed_epsilon(),
                                       [](const Epsilon& epsilon) { return epsilon.nats(); }));
  }
  document.add_result("noise_multiplier", answer.policy.private_noise().noise_multiplier);
  if (!answer.secret) {  // how long steps take depends on the batches, which are secret
    document.add_result(
        "seconds", Claimed<double>{answer.seconds, Claim::estimate, "wall clock of the steps"});
  }
  if (!answer.question.out.empty()) {
    document.state(
        StatementKind::summary,
        fmt::format("The model is in {}/model.npz, in PyTorch's layout{}.", answer.question.out,
                    answer.secret ? "; the privacy statement in PRIVACY.md" : ""));
  }
  if (detail == Detail::brief) {
    document.state(StatementKind::summary,
                   "The setting and a privacy statement: --full, or --report FILE.html.");
    return document;
  }
  name_model(document, answer.question.out + "/model.npz", answer.model_sha256);
  document.set_abstract(abstract_of(answer));
  document.state(StatementKind::info, setting_text(answer));
  if (answer.secret) add_statement(document, answer);
  return document;
}

}  // namespace sfumato::lab
