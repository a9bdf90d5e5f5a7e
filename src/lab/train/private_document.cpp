#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "lab/train/private_answer.hpp"
#include "sfumato/account/named_model.hpp"
#include "sfumato/report/row_field.hpp"

namespace sfumato::lab {
namespace {

/// What the model was trained with, and guarantees if its noise is secret.
RowFields<PrivateTrainAnswer> guarantee_fields(const PrivateTrainAnswer& answer) {
  using Row = PrivateTrainAnswer;
  return {{.key = "epsilon",
           .title = "epsilon",
           .of =
               [](const Row& of) {
                 // A seed takes the noise off again: no epsilon holds (Spec §21.2).
                 return of.secret ? Cell(of.guarantee.claimed_epsilon())
                                  : Cell("none: the noise comes from a seed");
               },
           .result = answer.secret ? "epsilon" : ""},
          {.key = "delta",
           .title = "delta",
           .of =
               [](const Row& of) {
                 return of.secret ? Cell(of.guarantee.delta().probability()) : Cell(Empty{});
               }},
          {.key = "noise_multiplier",
           .title = "noise multiplier",
           .of = [](const Row& of) { return Cell(of.policy.private_noise().noise_multiplier); },
           .result = "noise_multiplier"},
          {.key = "clip",
           .title = "clip",
           .of = [](const Row& of) { return Cell(of.policy.private_noise().clip); }},
          {.key = "metric",
           .title = "metric",
           .of =
               [](const Row& of) {
                 return Cell(fmt::format("{}{}", name(of.policy.private_noise().metric),
                                         of.input_metrics.size() > 1 ? ", all layers" : ""));
               }},
          {.key = "noise", .title = "noise", .of = [](const Row& of) {
             return Cell(of.question.hardened ? "exact, on a grid" : "floating point");
           }}};
}

/// Of the test records.
RowFields<ModelSummary> accuracy_fields() {
  const auto exact = [](double ModelSummary::*member) {
    return [member](const ModelSummary& of) {
      return Cell(
          Claimed<double>{of.*member, Claim::exact, "of these weights, in single precision"});
    };
  };
  return {{.key = "accuracy",
           .title = "test accuracy",
           .of = exact(&ModelSummary::accuracy),
           .result = "test_accuracy"},
          {.key = "loss",
           .title = "mean test loss",
           .of = exact(&ModelSummary::mean_loss),
           .result = "test_loss"}};
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
        document.state(StatementKind::assumption, say("{}.", condition));
      }
      continue;
    }
    document.state(StatementKind::info, item.list.empty()
                                            ? say("{}: {}", item.heading, item.text)
                                            : say("{}: {}.", item.heading,
                                                  fmt::format("{}", fmt::join(item.list, "; "))));
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
  abstract.released = say("The weights of a network with {} parameters, trained on {} records{}.",
                          answer.network.parameter_count(), answer.records,
                          answer.input_metrics.empty() ? ""
                          : answer.input_metrics.size() == 1
                              ? ", and noisy second moments of what its first layer reads"
                              : ", and noisy second moments of what its layers read");
  if (!answer.secret) {
    abstract.answer = "No: its noise came from a seed, so it has no guarantee.";
    abstract.advice = "Use it for experiments. To release a model, train without a seed.";
  } else if (answer.diverged) {
    abstract.answer = "There is nothing to publish: training diverged.";
    abstract.advice =
        say("Lower the learning rate. The attempt has spent its budget: account for it ({}).",
            KeyName{"after"});
  } else {
    abstract.answer = say("Yes: it is differentially private, {} {} at {} = {}, whatever the data.",
                          Maths{"epsilon <="},
                          ClaimedNumber{{answer.guarantee.epsilon().nats(), Claim::upper_bound}},
                          Maths{"delta"}, answer.guarantee.delta().probability());
    abstract.advice =
        say("Publish the weights with the privacy statement ({} writes both), and nothing else "
            "computed from these records. Training again spends the budget again.",
            KeyName{"out"});
  }
  if (answer.test) {
    abstract.cost = say("Test accuracy = {}{}.", ClaimedNumber{{answer.test->accuracy}},
                        tells_of_private_records(answer)
                            ? ", of private records that were held out: not for publication"
                            : "");
  }
  return abstract;
}

Text setting_text(const PrivateTrainAnswer& answer) {
  const Training& train = answer.study.train;
  return say(
      "{} steps on batches of {} of {} records ({}), {} parameters, learning rate {} ({}), "
      "momentum {}{}.",
      train.iterations, train.batch_size, answer.records, name(train.batches),
      answer.network.parameter_count(), fmt::format("{}", train.learning_rate),
      name(train.schedule), fmt::format("{}", train.momentum),
      train.average_last > 0 ? say(", mean of the last {} iterates", train.average_last) : Text());
}

/// What the metric `input` was made of.
Text metric_text(const PrivateTrainAnswer& answer) {
  const bool first = answer.input_metrics.size() == 1;
  Text resolved;
  for (const InputMetricRelease& release : answer.input_metrics) {
    const bool opens = resolved.empty();
    resolved +=
        say("{}{} of {}{}", opens ? "" : ", ", fmt::format("{:.0f}", release.effective_dimension),
            release.inputs, opens ? " directions are resolved" : "");
    if (!first) resolved += say(" in `{}`", release.layer);
  }
  return say("Second moments of {} were released at {}{}: {}.",
             first ? "the inputs" : "every layer's inputs, at the initial weights,",
             Maths{fmt::format("mu = {:.4g}", answer.policy.metric<InputMomentsMetric>()->mu)},
             answer.calibrated
                 ? say(" ({} of the budget)",
                       Percent{fmt::format(
                           "{:.0f}", 100.0 * answer.question.metric_share.value_or(kMetricShare))})
                 : Text(),
             resolved);
}

void add_accuracy(Document& document, const PrivateTrainAnswer& answer) {
  if (!answer.test) return;
  document.add(quantities_of(
      "accuracy", "Accuracy on test records (computed without noise: not private for them)",
      accuracy_fields(), *answer.test, Align::automatic));
  add_results(document, accuracy_fields(), *answer.test, {}, Missing::stated);
}

void add_caveats(Document& document, const PrivateTrainAnswer& answer) {
  if (answer.secret) {
    document.state(
        StatementKind::assumption,
        answer.question.hardened
            ? Text("the noise is exact (discrete Gaussian on integer sums): low bits and the order "
                   "of sums tell nothing. How long steps take is not protected.")
            : say("the noise is Gaussian in floating point: its low bits, the order of sums, and "
                  "how long steps take are not protected. Add {} for exact noise.",
                  KeyName{"hardened"}));
  } else {
    document.state(StatementKind::warning,
                   "this is an experiment: whoever knows the seed can take the noise off again, "
                   "and the model has no guarantee. Leave the seed out to release one.");
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
        say("{} gradients of records were not finite, or too large to clip, and counted nothing.",
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
                 "the only model trained on them: every further one is a release of its own.");
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
  const RowFields<PrivateTrainAnswer> numbers = guarantee_fields(answer);
  document.add(quantities_of(
      "guarantee", answer.secret ? "What the model guarantees" : "What the model was trained with",
      numbers, answer, Align::automatic));
  add_accuracy(document, answer);
  if (!answer.input_metrics.empty()) document.state(StatementKind::info, metric_text(answer));
  add_caveats(document, answer);
  if (!answer.booked.empty()) document.state(StatementKind::info, answer.booked);
  add_results(document, numbers, answer, {}, Missing::left_out);
  if (!answer.secret) {  // how long steps take depends on the batches, which are secret
    document.add_result(
        "seconds", Claimed<double>{answer.seconds, Claim::estimate, "wall clock of the steps"});
  }
  if (!answer.question.out.empty()) {
    document.state(StatementKind::summary,
                   say("The model is in {}/model.npz, in PyTorch's layout{}.", answer.question.out,
                       answer.secret ? "; the privacy statement in PRIVACY.md" : ""));
  }
  if (detail == Detail::brief) {
    document.state(StatementKind::summary,
                   say("The setting and a privacy statement: {}, or {}.", More::all, More::page));
    return document;
  }
  name_model(document, answer.question.out + "/model.npz", answer.model_sha256);
  document.set_abstract(abstract_of(answer));
  document.state(StatementKind::info, setting_text(answer));
  if (answer.secret) add_statement(document, answer);
  return document;
}

}  // namespace sfumato::lab
