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

Cell cell_of(const std::optional<Claimed<double>>& value, const std::string& reason) {
  return value ? Cell(*value) : Cell(Empty{reason});
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

}  // namespace

void add_two_sided_table(Document& document, const LedgerAudit& audit) {
  Table table("sandwich", "What the final models reveal: proven, estimated and audited",
              {{"policy", "policy"},
               {"quantity", "quantity"},
               {"proven", "proven"},
               {"path_kl", "path KL"},
               {"audited", "these models show"},
               {"maximum", "maximum"}},
              2);
  for (const PolicyAudit& policy : audit.policies) {
    const auto* paired = std::get_if<PairedModels>(&policy.models);
    if (paired == nullptr) continue;
    for (const TwoSided& of : paired->quantities) {
      const std::string quantity = quantity_text(of.quantity, of.at);
      table.add_row({label_of(policy), quantity, cell_of(of.proven, of.no_proof),
                     cell_of(of.path_kl, of.no_path_kl), of.shown,
                     of.maximum ? Cell(maximum_cell(*of.maximum)) : Cell(Empty{})});
      if (!of.above_path_kl()) continue;
      document.state(
          StatementKind::warning,
          fmt::format("{}: the models show {} >= {}, above the {} of the path KL. That is only an "
                      "estimate, but of an upper bound: inspect its runs.",
                      policy.policy, quantity, format_number(of.shown.value, Rounding::down),
                      format_number(of.path_kl->value)));
    }
  }
  document.add(std::move(table));
}

void add_losses(Document& document, const LedgerAudit& audit) {
  Table table("losses", "Losses at the end of training",
              {{"policy", "policy"},
               {"worst", "largest mean loss"},
               {"largest", "largest loss of a record"},
               {"with", "differing record, D"},
               {"without", "D'"},
               {"distance", "distance"},
               {"diverged", "diverged"}});
  std::vector<Figure> histograms;
  for (const PolicyAudit& policy : audit.policies) {
    const auto* paired = std::get_if<PairedModels>(&policy.models);
    if (paired == nullptr) continue;
    const FinalLosses& losses = paired->losses;
    const auto& [with, without] = losses.differing;
    if (with.empty() || without.empty()) {
      table.add_row({label_of(policy), Empty{"every model diverged"}, Empty{}, Empty{}, Empty{},
                     Empty{}, policy.diverged});
      continue;
    }
    table.add_row({label_of(policy),
                   estimate(losses.worst, "largest over models of the mean loss on D"),
                   std::isnan(losses.largest)
                       ? Cell(Empty{"a quadratic loss has no records"})
                       : Cell(estimate(losses.largest, "largest over models and records")),
                   estimate(mean_of(with), "mean over models"),
                   estimate(mean_of(without), "mean over models"),
                   estimate(std::fabs(mean_of(with) - mean_of(without)), "distance of the means"),
                   policy.diverged});
    const Pair<std::vector<double>> shown = map(losses.differing, finite);
    if (!shown.d.empty() && !shown.d_prime.empty()) {
      histograms.push_back(
          loss_histogram("losses_" + policy.policy, losses_title(policy.policy, shown), shown));
    }
  }
  document.add(std::move(table));
  for (Figure& histogram : histograms) document.add(std::move(histogram));
}

void add_canaries(Document& document, const LedgerAudit& audit) {
  std::vector<Column> columns = {{"policy", "policy"},
                                 {"replica", "replica"},
                                 {"canaries", "canaries"},
                                 {"guesses", "guesses"},
                                 {"correct", "correct"}};
  for (std::size_t i = 0; i < audit.deltas.size(); ++i) {
    columns.push_back({fmt::format("epsilon_{}", i + 1),
                       quantity_text(AuditedQuantity::epsilon, audit.deltas[i])});
  }
  columns.push_back({"mu", "mu"});
  const bool proven =
      std::any_of(audit.policies.begin(), audit.policies.end(), [](const PolicyAudit& policy) {
        return !policy.quantities().empty() && policy.quantities().front().proven;
      });
  if (proven) {
    columns.push_back(
        {"proven", quantity_text(AuditedQuantity::epsilon, audit.deltas.front()) + ", proven"});
    columns.push_back({"mu_proven", "mu, proven"});
  }
  Table table("one_run", "One-run audit: canaries included by fair coin flips", columns, 2);
  for (const PolicyAudit& policy : audit.policies) {
    const auto* canaries = std::get_if<CanaryModels>(&policy.models);
    if (canaries == nullptr) continue;
    for (std::size_t r = 0; r < canaries->replicas.size(); ++r) {
      const OneRunAudit& replica = canaries->replicas[r];
      const CanaryGuesses& best = replica.best(Delta(audit.deltas.front()));
      std::vector<Cell> row = {label_of(policy), r + 1, best.canaries, best.guesses, best.correct};
      for (const double delta : audit.deltas) row.emplace_back(replica.epsilon(Delta(delta)));
      row.emplace_back(replica.mu());
      if (proven) {
        for (const TwoSided* of : {&canaries->quantities.front(), &canaries->quantities.back()}) {
          row.push_back(cell_of(of->proven, of->no_proof));
        }
      }
      table.add_row(std::move(row));
    }
  }
  document.add(std::move(table));
}

void add_shadows(Document& document, const LedgerAudit& audit) {
  const Delta delta(audit.deltas.front());
  const Epsilon epsilon(audit.epsilons.front());
  Table table("shadows", "What the models show: LiRA on one record of each of half the models",
              {{"policy", "policy"},
               {"models", "models"},
               {"epsilon", quantity_text(AuditedQuantity::epsilon, audit.deltas.front())},
               {"maximum", "maximum"},
               {"delta", quantity_text(AuditedQuantity::delta, audit.epsilons.front())}});
  for (const PolicyAudit& policy : audit.policies) {
    const auto* shadows = std::get_if<ShadowModels>(&policy.models);
    if (shadows == nullptr) continue;
    if (!shadows->audit) {
      table.add_row(
          {label_of(policy), shadows->models, Empty{shadows->no_audit}, Empty{}, Empty{}});
      continue;
    }
    table.add_row({label_of(policy), shadows->models, shadows->audit->epsilon(delta),
                   maximum_cell(shadows->audit->maximum_epsilon(delta)),
                   shadows->audit->delta(epsilon)});
  }
  document.add(std::move(table));
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
  figure.set_caption("An attacker can use what differs between the models of D and those of D'.");
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
