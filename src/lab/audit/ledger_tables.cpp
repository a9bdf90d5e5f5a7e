#include "lab/audit/ledger_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/audit/claims.hpp"
#include "lab/audit/controls.hpp"
#include "lab/audit/evidence_tables.hpp"
#include "sfumato/report/histogram.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::lab {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Claimed<double> estimate(double value, const char* method) {
  return {value, Claim::estimate, method};
}

/// One quantity of one policy from both sides; or, of shadow models, what they show alone.
struct Side {
  const PolicyAudit* policy;
  const TwoSided* both = nullptr;
  Cell shown, maximum = Empty{};
};

Side side_of(const PolicyAudit& policy, const TwoSided& of) {
  return {&policy, &of, of.shown, of.maximum ? Cell(maximum_cell(*of.maximum)) : Cell(Empty{})};
}

/// Reasons for what is not known are notes, which a brief table has not.
std::function<Cell(const Side&)> of_both(std::optional<Claimed<double>> TwoSided::*value,
                                         std::string TwoSided::*reason, Detail detail) {
  return [=](const Side& side) {
    if (side.both == nullptr) return Cell(Empty{});
    const auto& known = side.both->*value;
    if (known) return Cell(*known);
    return Cell(Empty{detail == Detail::full ? side.both->*reason : std::string()});
  };
}

/// Results are called by the quantity and the field: epsilon_proven.
RowFields<Side> side_fields(Detail detail) {
  return {{.key = "policy",
           .title = "policy",
           .of = [](const Side& side) { return Cell(label_of(*side.policy)); },
           .brief = 1},
          {.key = "quantity",
           .title = "quantity",
           .of =
               [](const Side& side) {
                 return Cell(quantity_text(side.both->quantity, side.both->at));
               }},
          {.key = "proven",
           .title = "proven",
           .of = of_both(&TwoSided::proven, &TwoSided::no_proof, detail),
           .brief = 2,
           .result = "proven"},
          {.key = "path_kl",
           .title = "path KL",
           .of = of_both(&TwoSided::path_kl, &TwoSided::no_path_kl, detail),
           .brief = 3,
           .result = "path_kl"},
          {.key = "audited",
           .title = "these models show",
           .of = [](const Side& side) { return side.shown; },
           .brief = 4},
          {.key = "maximum",
           .title = "maximum",
           .of = [](const Side& side) { return side.maximum; },
           .brief = 5}};
}

bool any_side(const LedgerAudit& audit, std::optional<Claimed<double>> TwoSided::*value) {
  return std::any_of(audit.policies.begin(), audit.policies.end(), [&](const PolicyAudit& policy) {
    return !policy.quantities().empty() && (policy.quantities().front().*value).has_value();
  });
}

/// One audit of the canaries of one model.
struct Replica {
  const PolicyAudit* policy;
  std::size_t number;  ///< from 1
  const CanaryModels* models;

  [[nodiscard]] const OneRunAudit& audit() const { return models->replicas[number - 1]; }
};

std::vector<Replica> replicas_of(const PolicyAudit& policy) {
  std::vector<Replica> replicas;
  const auto* canaries = std::get_if<CanaryModels>(&policy.models);
  if (canaries == nullptr) return replicas;
  for (std::size_t r = 1; r <= canaries->replicas.size(); ++r) {
    replicas.push_back({&policy, r, canaries});
  }
  return replicas;
}

RowFields<Replica> replica_fields(const LedgerAudit& audit) {
  const double first = audit.deltas.front();
  const auto of_guesses = [first](auto number) {
    return
        [=](const Replica& of) { return Cell(std::invoke(number, of.audit().best(Delta(first)))); };
  };
  const auto proven = [](bool mu) {
    return [mu](const Replica& of) {
      const TwoSided& both = mu ? of.models->quantities.back() : of.models->quantities.front();
      return both.proven ? Cell(*both.proven) : Cell(Empty{both.no_proof});
    };
  };
  RowFields<Replica> list = {
      {.key = "policy",
       .title = "policy",
       .of = [](const Replica& of) { return Cell(label_of(*of.policy)); }},
      {.key = "replica",
       .title = "replica",
       .of = [](const Replica& of) { return Cell(of.number); }},
      {.key = "canaries", .title = "canaries", .of = of_guesses(&CanaryGuesses::canaries)},
      {.key = "guesses", .title = "guesses", .of = of_guesses(&CanaryGuesses::guesses)},
      {.key = "correct", .title = "correct", .of = of_guesses(&CanaryGuesses::correct)}};
  for (std::size_t i = 0; i < audit.deltas.size(); ++i) {
    const Delta delta(audit.deltas[i]);
    list.push_back({.key = fmt::format("epsilon_{}", i + 1),
                    .title = quantity_text(AuditedQuantity::epsilon, audit.deltas[i]),
                    .of = [delta](const Replica& of) { return Cell(of.audit().epsilon(delta)); },
                    .result = "epsilon_lower",
                    .at = {{"delta", audit.deltas[i]}}});
    list.push_back({.key = fmt::format("maximum_{}", i + 1),
                    .title = "maximum",
                    .of =
                        [delta](const Replica& of) {
                          return Cell(maximum_cell(of.audit().maximum_epsilon(delta)));
                        },
                    .full = false,
                    .result = "epsilon_maximum",
                    .at = {{"delta", audit.deltas[i]}}});
  }
  list.push_back({.key = "mu",
                  .title = "mu",
                  .of = [](const Replica& of) { return Cell(of.audit().mu()); },
                  .result = "mu_lower"});
  const bool is_proven = any_side(audit, &TwoSided::proven);
  list.push_back({.key = "proven",
                  .title = quantity_text(AuditedQuantity::epsilon, first) + ", proven",
                  .of = proven(false),
                  .full = is_proven});
  list.push_back(
      {.key = "mu_proven", .title = "mu, proven", .of = proven(true), .full = is_proven});
  return list;
}

std::string losses_title(const std::string& policy, const Pair<std::vector<double>>& losses) {
  const Pair<double> mean = map(losses, mean_of);
  return fmt::format(
      "Loss of the differing record, {}: means {:.4g} on D and {:.4g} on D', {:.3g} apart", policy,
      mean.d, mean.d_prime, std::fabs(mean.d - mean.d_prime));
}

std::vector<double> finite(const std::vector<double>& losses) {
  std::vector<double> kept;
  std::copy_if(losses.begin(), losses.end(), std::back_inserter(kept),
               [](double loss) { return std::isfinite(loss); });
  return kept;
}

const FinalLosses& losses_of(const PolicyAudit& policy) {
  return std::get<PairedModels>(policy.models).losses;
}

bool is_missing(const FinalLosses& losses) {
  return losses.differing.d.empty() || losses.differing.d_prime.empty();
}

RowFields<const PolicyAudit*> loss_fields() {
  using Row = const PolicyAudit*;
  const auto of_losses = [](auto number) {
    return [number](const Row& row) {
      const FinalLosses& losses = losses_of(*row);
      return is_missing(losses) ? Cell(Empty{}) : Cell(number(losses));
    };
  };
  return {
      {.key = "policy",
       .title = "policy",
       .of = [](const Row& row) { return Cell(label_of(*row)); }},
      {.key = "worst",
       .title = "largest mean loss",
       .of =
           [](const Row& row) {
             const FinalLosses& losses = losses_of(*row);
             return is_missing(losses)
                        ? Cell(Empty{"every model diverged"})
                        : Cell(estimate(losses.worst, "largest over models of the mean loss on D"));
           }},
      {.key = "largest",
       .title = "largest loss of a record",
       .of = of_losses([](const FinalLosses& losses) {
         return std::isnan(losses.largest)
                    ? Cell(Empty{"a quadratic loss has no records"})
                    : Cell(estimate(losses.largest, "largest over models and records"));
       })},
      {.key = "with",
       .title = "differing record, D",
       .of = of_losses([](const FinalLosses& losses) {
         return estimate(mean_of(losses.differing.d), "mean over models");
       })},
      {.key = "without", .title = "D'", .of = of_losses([](const FinalLosses& losses) {
                                          return estimate(mean_of(losses.differing.d_prime),
                                                          "mean over models");
                                        })},
      {.key = "distance", .title = "distance", .of = of_losses([](const FinalLosses& losses) {
                                                 const Pair<double> mean =
                                                     map(losses.differing, mean_of);
                                                 return estimate(std::fabs(mean.d - mean.d_prime),
                                                                 "distance of the means");
                                               })},
      {.key = "diverged", .title = "diverged", .of = [](const Row& row) {
         return Cell(row->diverged);
       }}};
}

}  // namespace

void add_two_sided_table(Document& document, const LedgerAudit& audit) {
  std::vector<Side> sides;
  for (const PolicyAudit& policy : audit.policies) {
    const auto* paired = std::get_if<PairedModels>(&policy.models);
    if (paired == nullptr) continue;
    for (const TwoSided& of : paired->quantities) {
      sides.push_back(side_of(policy, of));
      if (!of.above_path_kl()) continue;
      document.state(
          StatementKind::warning,
          say("{}: the models show {} {} {}, above the {} of the path KL. That is only an "
              "estimate, but of an upper bound: inspect its runs.",
              GivenName{policy.policy}, Maths{quantity_text(of.quantity, of.at)}, Maths{">="},
              ClaimedNumber{{of.shown.value, Claim::lower_bound}}, ClaimedNumber{*of.path_kl}));
    }
  }
  document.add(table_of("sandwich", "What the final models reveal: proven, estimated and audited",
                        side_fields(Detail::full), sides, 2));
}

Table brief_sides_table(const LedgerAudit& audit, std::size_t most) {
  const Delta delta(audit.deltas.front());
  std::vector<Side> sides;
  for (std::size_t p = 0; p < std::min(most, audit.policies.size()); ++p) {
    const PolicyAudit& policy = audit.policies[p];
    const std::optional<Claimed<Epsilon>> shown = policy.epsilon(delta);
    const std::optional<double> maximum = policy.maximum(delta);
    sides.push_back({&policy, policy.quantities().empty() ? nullptr : &policy.quantities().front(),
                     shown ? Cell(*shown) : Cell(Empty{"the models allow no audit"}),
                     maximum ? Cell(maximum_cell(*maximum)) : Cell(Empty{})});
  }
  RowFields<Side> fields = shown(side_fields(Detail::brief), Detail::brief);
  std::erase_if(fields, [&](const RowField<Side>& field) {
    return (field.key == "proven" && !any_side(audit, &TwoSided::proven)) ||
           (field.key == "path_kl" && !any_side(audit, &TwoSided::path_kl));
  });
  return table_of("epsilon", quantity_text(AuditedQuantity::epsilon, audit.deltas.front()),
                  bare_fields(std::move(fields)), sides);
}

void add_policy_results(Document& document, const LedgerAudit& audit, const PolicyAudit& policy) {
  const std::vector<Subject> of = {{"policy", policy.policy}};
  if (const auto* paired = std::get_if<PairedModels>(&policy.models)) {
    add_shown_results(document, shown_numbers(paired->audit, audit.deltas, audit.epsilons), of);
  } else if (const auto* shadows = std::get_if<ShadowModels>(&policy.models);
             shadows != nullptr && shadows->audit) {
    add_shown_results(document, shown_numbers(*shadows->audit, audit.deltas, audit.epsilons), of);
  }
  for (const Replica& replica : replicas_of(policy)) {
    add_results(document, replica_fields(audit), replica,
                {{"policy", policy.policy}, {"replica", replica.number}}, Missing::stated);
  }
  for (const TwoSided& both : policy.quantities()) {
    std::vector<Subject> subjects = of;
    if (both.quantity == AuditedQuantity::epsilon) subjects.emplace_back("delta", both.at);
    if (both.quantity == AuditedQuantity::delta) subjects.emplace_back("epsilon", both.at);
    for (const RowField<Side>& field : results_of(side_fields(Detail::full))) {
      Cell value = field.of(side_of(policy, both));
      if (std::holds_alternative<Empty>(value.content())) continue;
      document.add_result(fmt::format("{}_{}", name(both.quantity), field.result), std::move(value),
                          subjects);
    }
  }
}

void add_losses(Document& document, const LedgerAudit& audit) {
  std::vector<const PolicyAudit*> rows;
  std::vector<Figure> histograms;
  for (const PolicyAudit& policy : audit.policies) {
    const auto* paired = std::get_if<PairedModels>(&policy.models);
    if (paired == nullptr) continue;
    rows.push_back(&policy);
    const FinalLosses& losses = paired->losses;
    if (is_missing(losses)) continue;
    const Pair<std::vector<double>> shown = map(losses.differing, finite);
    if (!shown.d.empty() && !shown.d_prime.empty()) {
      histograms.push_back(
          loss_histogram("losses_" + policy.policy, losses_title(policy.policy, shown), shown));
    }
  }
  document.add(table_of("losses", "Losses at the end of training", loss_fields(), rows));
  for (Figure& histogram : histograms) document.add(std::move(histogram));
}

void add_canaries(Document& document, const LedgerAudit& audit) {
  std::vector<Replica> rows;
  for (const PolicyAudit& policy : audit.policies) {
    for (const Replica& replica : replicas_of(policy)) rows.push_back(replica);
  }
  document.add(table_of("one_run", "One-run audit: canaries included by fair coin flips",
                        shown(replica_fields(audit), Detail::full), rows, 2));
}

void add_shadows(Document& document, const LedgerAudit& audit) {
  using Row = const PolicyAudit*;
  const auto shadows = [](Row policy) { return std::get_if<ShadowModels>(&policy->models); };
  std::vector<Row> rows;
  for (const PolicyAudit& policy : audit.policies) {
    if (shadows(&policy) != nullptr) rows.push_back(&policy);
  }
  const auto of_audit = [shadows](auto number) {
    return [=](const Row& row) {
      const ShadowModels& models = *shadows(row);
      return models.audit ? Cell(number(*models.audit)) : Cell(Empty{});
    };
  };
  const Delta delta(audit.deltas.front());
  const Epsilon epsilon(audit.epsilons.front());
  document.add(table_of<Row>(
      "shadows", "What the models show: LiRA on one record of each of half the models",
      {{.key = "policy",
        .title = "policy",
        .of = [](const Row& row) { return Cell(label_of(*row)); }},
       {.key = "models",
        .title = "models",
        .of = [=](const Row& row) { return Cell(shadows(row)->models); }},
       {.key = "epsilon",
        .title = quantity_text(AuditedQuantity::epsilon, audit.deltas.front()),
        .of =
            [=](const Row& row) {
              const ShadowModels& models = *shadows(row);
              return models.audit ? Cell(models.audit->epsilon(delta))
                                  : Cell(Empty{models.no_audit});
            }},
       {.key = "maximum", .title = "maximum", .of = of_audit([=](const Audit& of) {
                                                return maximum_cell(of.maximum_epsilon(delta));
                                              })},
       {.key = "delta",
        .title = quantity_text(AuditedQuantity::delta, audit.epsilons.front()),
        .of = of_audit([=](const Audit& of) { return of.delta(epsilon); })}},
      rows));
}

namespace {

constexpr std::size_t kFew = 50;  // models per data set: fewer are shown one by one
constexpr double kFarApart =
    100.0;  // largest over smallest loss, from which on the axis is logarithmic
constexpr double kMostOfThem = 0.95;  // where nearly all losses end ...
constexpr double kPressed = 0.3;      // ... in this part of a linear axis, few bins would hold them
constexpr const char* kWith = "models of D";
constexpr const char* kWithout = "models of D'";

/// Logarithmic where losses lie far apart, or where a few of them would press all others into one bin.
Axis axis_of(std::vector<double> all) {
  Axis axis{"loss of the differing record", "nats"};
  std::sort(all.begin(), all.end());
  const double least = all.front(), most = all.back();
  const double high =
      all[static_cast<std::size_t>(kMostOfThem * static_cast<double>(all.size() - 1))];
  const bool far_apart = most > kFarApart * least;
  const bool few_far_off = high - least < kPressed * (most - least);
  if (least > 0.0 && (far_apart || few_far_off)) axis.scale = Scale::log;
  return axis;
}

Figure strips(const std::string& key, const std::string& title, const Axis& axis,
              const Pair<std::vector<double>>& losses) {
  Axis worlds{"data set"};
  worlds.categories = {"D", "D'"};
  Figure figure(key, title, Mark::points, axis, worlds);
  const auto add = [&](const char* name, const char* models, const std::vector<double>& world,
                       double row) {
    figure.add({name,
                models,
                world,
                std::vector<double>(world.size(), row),
                {},
                Claim::exact,
                "a point per model"});
  };
  add("with", kWith, losses.d, 0.0);
  add("without", kWithout, losses.d_prime, 1.0);
  figure.set_caption("A point is a model, the line the median.");
  return figure;
}

}  // namespace

Figure loss_histogram(const std::string& key, const std::string& title,
                      const Pair<std::vector<double>>& losses) {
  std::vector<double> all = losses.d;
  all.insert(all.end(), losses.d_prime.begin(), losses.d_prime.end());
  if (all.empty()) {
    return Figure(key, title, Mark::bars, {"loss of the differing record", "nats"}, {"models"});
  }
  const Axis axis = axis_of(all);
  if (std::max(losses.d.size(), losses.d_prime.size()) < kFew) {
    return strips(key, title, axis, losses);
  }
  Figure figure(key, title, Mark::bars, axis, {"models"});
  figure.set_caption(say(
      "An attacker can use what differs between the models of D and those of {}.", Maths{"D'"}));
  const std::vector<double> edges = histogram(key, title, axis, all).series().front().x;
  const auto add = [&](const char* name, const char* models, const std::vector<double>& world) {
    std::vector<double> counts(edges.size() - 1, 0.0);
    for (const double loss : world) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), loss) - edges.begin();
      const auto bin =
          std::clamp<std::ptrdiff_t>(above - 1, 0, static_cast<std::ptrdiff_t>(counts.size()) - 1);
      counts[static_cast<std::size_t>(bin)] += 1.0;
    }
    figure.add({name, models, edges, std::move(counts), {}, Claim::exact, "counts of models"});
  };
  add("with", kWith, losses.d);
  add("without", kWithout, losses.d_prime);
  return figure;
}

}  // namespace sfumato::lab
