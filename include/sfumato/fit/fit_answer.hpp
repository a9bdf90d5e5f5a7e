#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/guarantee.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/fit/fit_question.hpp"
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/linear_model.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

class FilesAsFound;

/// What a mechanism would cost, from public quantities.
struct FitPrediction {
  FitMechanism mechanism;
  double loss;  ///< share of the target's variance, or the same of logits; an order of magnitude
};

/// What fits of an empty table with and without a canary show about the implementation (Spec §25.2).
struct FitAudit {
  std::uint64_t runs;       ///< of each kind
  Claimed<double> mu;       ///< a lower bound
  Claimed<double> epsilon;  ///< at the delta of the question
  double proven_mu;
  double maximum_mu;  ///< that so many fits show of an attack that never errs
  /// The mu that an implementation has to have for so many fits to show more than is proven, its scores being
  /// normal and as they are expected: up to it a mistake goes unnoticed as often as not.
  double noticed_mu;
  /// Violated: more is shown than is proven. Open: so many fits cannot show more, whatever the implementation does.
  Verdict verdict;
};

/// How much the rows of this very table add to what was released, as mu against their absence; computed without noise, hence not for publication.
struct FitRows {
  Claimed<double> median,
      worst;  ///< exact where the released distribution is normal, else along the path that was taken
};

struct FitAnswer {
  FitQuestion question;
  PublicTable table;
  FitPlan plan;
  FitBudget budget;
  Accountant accountant;                    ///< everything that was released about the records
  std::optional<Guarantee> guarantee = {};  ///< none: `caveats` say why
  std::vector<std::string> caveats = {};
  std::size_t candidates = 1;  ///< fits that were made; one was chosen where they are more
  PublicTable used = {};       ///< the table's bounds, narrowed where ranges were released
  LinearModel model = {};
  std::optional<HeldOut> held_out = {};
  Text no_intervals = {};  ///< why there are none; empty: there are
  std::optional<double> metric_gain =
      {};  ///< of the noise's shape, from the released spectrum (Spec §22.4)
  std::vector<FitPrediction> predictions = {};
  std::optional<FitAudit> audit = {};
  std::optional<FitRows> rows = {};
  std::string delta_warning = {};               ///< empty: delta is small for so many records
  std::string checksum = {};                    ///< of the bounds
  std::vector<std::string> models_before = {};  ///< SHA-256 of what `after` stands for
  std::string booked = {};  ///< what the budget holds with this run; empty: not booked
  Verdict verdict = Verdict::none;
  bool stopped = false;
};

/// Plans from what is public, opens the table, fits and releases.
/// Throws   InvalidArgument at a key or a place in a file; where the prediction says that nothing useful can come out, unless accepted; as
///          parse_bounded_rows(), plan_fit() and private_fit().
[[nodiscard]] FitAnswer answer(const FitQuestion& question, Observer& observer);

/// The guarantee, the accuracy, the coefficients, how the budget was spent.
[[nodiscard]] Document document_of(const FitAnswer& answer, Detail detail);

/// The model as JSON: coefficients in the units of the table under the names that scikit-learn gives them, columns, guarantee, releases.
[[nodiscard]] std::string model_json(const FitAnswer& answer);
/// SHA-256 of all of it but the guarantee, by which accounts know the model.
[[nodiscard]] std::string model_digest(const FitAnswer& answer);

/// Where and how a fit is written: the model (.json as above, .csv a row for each coefficient, .npz arrays `coef`, `intercept`) and its statement; empty: not wanted.
struct FitFiles {
  std::string model, statement;
  bool replace = true;  ///< also what came to be there while the fit ran
};
/// To be asked before anything is spent.
/// Throws   InvalidArgument for a suffix that is not known; for a statement of a fit that will have no guarantee; where the account of an older model would be lost, or stand
///          beside another model.
void require_publishable(const FitQuestion& question, const FitFiles& files);
/// Writes account, statement and model in this order, each on the disk before the next: whatever ends the program, no model stands without its account.
/// The SHA-256 of the model is returned; empty if no file was asked for.
/// Throws   StorageError; also if a run wrote them since `found`, which was taken before require_publishable().
std::string publish(const FitAnswer& answer, const FitFiles& files, const FilesAsFound& found);
/// The files that publish() writes.
[[nodiscard]] std::vector<std::string> written_files(const FitFiles& files);

/// Writes what model_json() returned, for its owner alone. A model with a guarantee is replaced, with `force`, only by one whose account has its releases.
/// `inputs` are files that may not be written.
/// Throws   InvalidArgument; StorageError.
void save_model(const std::string& json, const std::string& path,
                const std::vector<std::string>& inputs, bool force);

/// The privacy statement, as Markdown.
/// Throws   InvalidArgument if there is no guarantee.
[[nodiscard]] std::string statement_of(const FitAnswer& answer);

/// A file of declarations with the columns of the table and no numbers.
[[nodiscard]] std::string bounds_template(const FitQuestion& question);

}  // namespace sfumato
