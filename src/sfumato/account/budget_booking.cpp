#include "sfumato/account/budget_booking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include "sfumato/account/large_delta.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

std::string time_of_booking() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (gmtime_r(&now, &parts) == nullptr) return "unknown";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::optional<PrivacyBudget> parse_limit(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<ClaimedGuarantee> limit = parse_guarantee(text);
  // A delta that was left out is no decision.
  if (!limit || text.find("delta") == std::string::npos || limit->delta.probability() == 0.0 ||
      limit->epsilon.nats() == 0.0) {
    throw InvalidArgument(fmt::format("`limit` = {} is not a limit", text),
                          "Write both, above zero: eps=3,delta=1e-5", Where::key("limit"));
  }
  return PrivacyBudget{limit->epsilon, limit->delta};
}

void add_releases(PrivateReleases& all, const PrivateReleases& more, const std::string& path) {
  if (more.relation != all.relation || more.group_size != all.group_size) {
    throw InvalidArgument(
        fmt::format("is a budget for {} neighbours, and this run protects {}", name(all.relation),
                    name(more.relation)),
        "Releases add up only between the same neighbours: use a budget of their own",
        Where::in(path));
  }
  all.list.insert(all.list.end(), more.list.begin(), more.list.end());
}

/// Everything that is booked.
PrivateReleases booked(const std::vector<BudgetEntry>& entries, NeighbouringRelation relation,
                       const std::string& path) {
  PrivateReleases all{relation};
  for (const BudgetEntry& entry : entries) {
    const std::string source = fmt::format("{}, entry {}", path, entry.number);
    add_releases(all, load_account(entry.account, source).accountant.releases(), path);
  }
  return all;
}

/// The rule of target_delta for that of a limit: with a larger one everything would be within it.
void require_small_limit(double delta, const BookedRun& run, bool given, const std::string& path) {
  if (!run.records) return;
  require_small_delta(delta, *run.records, run.allow_large_delta,
                      given ? Where::key("limit") : Where::in(path));
}

double spent_on(const PrivateReleases& all, Delta delta) {
  return all.list.empty() ? 0.0 : Accountant(all).epsilon(delta).upper.value;
}

}  // namespace

BudgetBooking::BudgetBooking(const std::string& path, const std::string& limit,
                             const Accountant& releases, const BookedRun& run)
    : state_{path, {Epsilon(0.0), Delta(0.5)}} {
  const std::optional<PrivacyBudget> wanted = parse_limit(limit);
  const PrivateReleases& own = releases.releases();
  BudgetTerms terms;
  if (wanted) terms.epsilon = wanted->epsilon.nats(), terms.delta = wanted->delta.probability();
  terms.adjacency = name(own.relation);
  entry_ = {0, time_of_booking(), run.command, save({releases}), run.made ? "released" : "reserved",
            ""};
  BudgetFile::Reserved reserved = BudgetFile::reserve(
      path, terms, entry_, [&](const BudgetTerms& kept, const std::vector<BudgetEntry>& entries) {
        if (entries.empty() && !wanted) {
          throw InvalidArgument("a new budget needs a limit", "Add `limit`: eps=3,delta=1e-5",
                                Where::key("budget"));
        }
        const PrivacyBudget allowed{Epsilon(kept.epsilon), Delta(kept.delta)};
        if (wanted && (wanted->epsilon != allowed.epsilon || wanted->delta != allowed.delta)) {
          throw InvalidArgument(
              fmt::format("`limit` = {} is not the limit of this budget, eps={},delta={}", limit,
                          format_input(kept.epsilon), format_input(kept.delta)),
              "Leave it out: a limit is set once", Where::key("limit"));
        }
        if (kept.adjacency != name(own.relation)) {
          throw InvalidArgument(
              fmt::format("is a budget for {} neighbours, and this run protects {}", kept.adjacency,
                          name(own.relation)),
              "Releases add up only between the same neighbours: use a budget of their own",
              Where::in(path));
        }
        if (!run.made) require_small_limit(kept.delta, run, wanted.has_value(), path);
        PrivateReleases all = booked(entries, own.relation, path);
        const double before = spent_on(all, allowed.delta);
        add_releases(all, own, path);
        const double after = spent_on(all, allowed.delta);
        if (!run.made && !(after <= allowed.epsilon.nats()) && !meets(all, allowed)) {
          throw InvalidArgument(
              fmt::format(
                  "the budget does not allow this run: with it epsilon would be {} at delta "
                  "{}, the limit is {}, and {} was spent before",
                  format_number(after, Rounding::up, 4), kept.delta, kept.epsilon,
                  format_number(before, Rounding::up, 4)),
              "Ask for less, or for no further release about these records", Where::in(path));
        }
        state_ = {path, allowed, std::min(after, run.made ? after : kept.epsilon),
                  entries.size() + 1};
      });
  file_ = std::move(reserved.file);
  number_ = reserved.number;
  state_.is_new = reserved.made;
  if (run.records)
    state_.delta_warning = large_delta_warning(state_.limit.delta.probability(), *run.records);
}

void BudgetBooking::release(const std::string& model) { file_->release(number_, entry_, model); }

std::string budget_text(const BudgetState& state) {
  std::string text = fmt::format(
      "Budget {}: epsilon <= {} of {} at delta = {} is spent by {} run{}.", state.file,
      format_number(state.spent, Rounding::up, 4), format_input(state.limit.epsilon.nats()),
      format_input(state.limit.delta.probability()), state.runs, state.runs == 1 ? "" : "s");
  if (state.is_new) text += " A new file was made for it.";
  if (!state.delta_warning.empty()) text += " Of its limit: " + state.delta_warning;
  return text;
}

bool budget_has(const std::string& file, const std::vector<std::string>& models) {
  if (models.empty() || ::access(file.c_str(), F_OK) != 0) return false;
  const BudgetFile budget = BudgetFile::read(file);
  (void)budget.terms();  // sound
  const std::vector<BudgetEntry> entries = budget.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const BudgetEntry& entry) { return entry.model == models.back(); });
}

}  // namespace sfumato
