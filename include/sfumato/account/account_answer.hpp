#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/account/account_question.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
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
  Accountant accountant;
  std::optional<double> noise_multiplier;  ///< of the run, where settings differ in it
  Enclosure epsilon;                       ///< at the delta of the question
  Claimed<Epsilon> renyi;
  std::optional<Claimed<Epsilon>> clt;
  AttackerView attacker;
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

/// The statement for a model card.
/// Throws   InvalidArgument as accountant_of(), or if no finite epsilon is proven.
[[nodiscard]] std::string statement_of(const AccountAnswer& answer);

}  // namespace sfumato
