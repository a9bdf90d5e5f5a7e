#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/account/account_question.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/accountant/gdp_summary.hpp"
#include "sfumato/account/accountant/normaliser.hpp"
#include "sfumato/account/accountant/tuning.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// What an attacker can do at most.
struct AttackerView {
  Claimed<double> advantage;
  Claimed<double> accuracy;  ///< where every second one that is asked about is a member
  Claimed<double> tpr_percent, tpr_permille;  ///< at false-positive rates of 0.01 and 0.001
};

/// One list of releases.
struct AccountedSetting {
  Accountant accountant;  ///< a run whose epsilon is known as a whole is one known step in it
  std::optional<double> noise_multiplier;  ///< of the run, where settings differ in it
  Enclosure epsilon;                       ///< at the delta of the question
  Claimed<Epsilon> renyi;
  std::optional<Claimed<Epsilon>> clt;
  AttackerView attacker;
  std::optional<TuningCost> tuning = {};             ///< where the best of several runs is released
  std::optional<NormaliserFinding> normaliser = {};  ///< where that depends on the records
  std::vector<PrivateRelease> behind = {};           ///< what a known step stands for: the run
  bool is_proven = true;  ///< false: no epsilon is, and the accountant says nothing
};

/// What an attacker reaches who would succeed with the probability `baseline` without the outputs (Spec §31.3).
struct BaselineRisk {
  double baseline;
  Claimed<double> success;
};

/// One row of the explanation: an account of a part of the run, or of the run done differently.
struct ExplainedPart {
  std::string what;
  double epsilon;  ///< an upper bound
};

/// What was found for a target.
struct Calibration {
  enum class What { noise, steps, epochs, batches };
  What what;
  double value;  ///< noise multiplier, or a number of steps, epochs or batches; the safe end
  PrivacyTarget target;
};

/// The same run as others would account for it, and why that differs.
struct OtherAccount {
  std::string who;
  double sample_rate;
  std::uint64_t steps;
  Claimed<Epsilon> epsilon;
  std::string why;
};

/// What the second method says of delta at the epsilon that was found.
struct SecondOpinion {
  Enclosure contour, fft;
  bool agree;
};

struct ClaimAnswer {
  Epsilon epsilon;
  Delta delta;
  Enclosure proven;  ///< epsilon at that delta
  Verdict verdict;   ///< holds: proven; open: not proven; violated: refuted
};

struct EpsilonAtSteps {
  double share;    ///< of the whole run
  double epsilon;  ///< an upper bound
};

struct AccountAnswer {
  AccountQuestion question;
  Delta delta;
  std::vector<AccountedSetting> settings;  ///< one, or one per noise multiplier to compare
  std::optional<Calibration> calibration = {};
  std::vector<Enclosure> deltas = {};  ///< at question.epsilons, of the first setting
  std::vector<OtherAccount> others = {};
  std::optional<SecondOpinion> second = {};
  std::optional<ClaimAnswer> claim = {};
  std::optional<GdpSummary> gdp = {};  ///< of the first setting, as are these
  std::vector<BaselineRisk> baselines = {};
  std::vector<ExplainedPart> parts = {};
  // For the page, of the first setting:
  std::vector<AttackRate> trade_off = {};
  std::vector<EpsilonAtSteps> over_steps = {};
  std::string delta_warning = {};  ///< empty: delta is small for the records, or these are unknown
  std::string booked = {};         ///< what the budget holds with these releases; empty: not booked
  Verdict verdict = Verdict::none;
  bool stopped = false;
};

/// Throws   InvalidArgument at the key of what is missing or contradicts itself, all at once where that can be seen at once, and for
///          releases that have no proof.
[[nodiscard]] AccountAnswer answer(const AccountQuestion& question, Observer& observer);

/// The epsilon first, then what it means for an attacker and what it rests on; in full also how other tools account for the run, the trade-off
/// curve and the privacy statement.
[[nodiscard]] Document document_of(const AccountAnswer& answer, Detail detail);

/// The accountant of the one setting that was asked for.
/// Throws   InvalidArgument if several were compared, or none was finished.
[[nodiscard]] const Accountant& accountant_of(const AccountAnswer& answer);

/// The statement, typed; statement_forms.hpp has its forms.
/// Throws   InvalidArgument as accountant_of(), or if no finite epsilon is proven.
[[nodiscard]] PrivacyStatement statement_of(const AccountAnswer& answer);

/// The best attack's rates as a file: fpr, the largest tpr, the least fnr; CSV or JSON.
/// Throws   InvalidArgument as accountant_of().
[[nodiscard]] std::string trade_off_text(const AccountAnswer& answer, bool as_json);

}  // namespace sfumato
