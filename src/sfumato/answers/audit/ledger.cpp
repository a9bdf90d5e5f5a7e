#include "sfumato/answers/audit/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/answers/audit/ledger_coins.hpp"
#include "sfumato/answers/audit/ledger_pairs.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/study/looks.hpp"
#include "sfumato/study/seed_notice.hpp"

namespace sfumato {
namespace {

std::vector<std::size_t> chosen_policies(const Study& study, const std::string& name) {
  std::vector<std::size_t> chosen;
  std::vector<std::string> names;
  for (std::size_t p = 0; p < study.noise.size(); ++p) {
    names.push_back(study.noise[p].name);
    if (name.empty() || name == names.back()) chosen.push_back(p);
  }
  if (chosen.empty()) {
    throw InvalidArgument(fmt::format("the study has no noise policy `{}`", name),
                          suggestion(name, names, "policies"), Where::key("policy"));
  }
  return chosen;
}

/// Which look this is, recorded in the ledger; --look can make it a later one, and is needed where the
/// ledger cannot be written.
void settle_look(Document& document, const Ledger& ledger, const Study& study,
                 const AuditCommand& command, AuditOptions& options) {
  std::uint64_t trials = 0;
  for (const auto& [status, count] : ledger.counts()) trials += count;
  const std::uint64_t planned =
      std::uint64_t{study.audit.pairs} * study.audit.replicas * study.noise.size();
  const Look look = look_at(ledger.looks(), trials, planned, command.look.value_or(1));
  if (look.is_new && trials > 0) {
    try {
      ledger.record_look(look.number, trials);
    } catch (const StorageError& error) {
      if (!command.look) {
        throw InvalidArgument(
            fmt::format("look {} cannot be recorded: {}", look.number, error.what()),
            fmt::format("Audit a copy (`sfumato study copy {} NEW`), or say with --look {} that "
                        "you keep count yourself",
                        command.ledger, look.number),
            Where::in(command.ledger));
      }
    }
  }
  options.look = look.number;
  options.more_looks = look.splits;
  if (trials < planned) {
    document.state(StatementKind::warning,
                   fmt::format("{} of {} trials are finished. This is look {} at a ledger that "
                               "grows; the level is split over the looks.",
                               trials, planned, look.number));
  } else if (look.number > 1) {
    document.state(StatementKind::info,
                   fmt::format("This is look {} at the ledger: the level is split over the looks.",
                               look.number));
  }
}

}  // namespace

void audit_ledger(Document& document, AuditCommand command, Verdict& verdict) {
  const Ledger ledger = Ledger::read(command.ledger);
  const Study study = parse_study(ledger.identity().study, command.ledger);
  const std::vector<std::size_t> chosen = chosen_policies(study, command.policy);
  if (command.deltas.empty()) command.deltas = {study.audit.delta};
  if (command.epsilons.empty()) command.epsilons = study.audit.epsilons;
  if (!command.own_confidence) command.confidence = study.audit.confidence;
  AuditOptions options = audit_options(command);
  options.audits = chosen.size();
  settle_look(document, ledger, study, command, options);
  if (study.audit.worlds() == 1) {
    if (!command.score.empty()) {
      throw InvalidArgument("worlds that coins made are judged by the margin", "",
                            Where::key("score"));
    }
    const auto audit = study.audit.canaries != 0 ? audit_canaries : audit_shadows;
    audit(document, ledger, study, chosen, command, options, verdict);
  } else {
    if (command.guesses)
      throw InvalidArgument("is for canaries (audit.canaries)", "", Where::key("guesses"));
    audit_pairs(document, ledger, study, chosen, command, options, verdict);
  }
  document.state(StatementKind::warning, seed_notice(study.train.seed));
  document.add_provenance("instruction set", ledger.identity().instruction_set);
  for (const auto& [name, digest] : ledger.identity().checksums) {
    document.add_provenance("data " + name, digest);
  }
}

}  // namespace sfumato
