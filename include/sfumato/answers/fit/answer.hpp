#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/answers/fit/question.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/linear_model.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/privacy/accounting/accountant.hpp"
#include "sfumato/privacy/accounting/guarantee.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

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
  Verdict verdict;
};

/// How much the rows of this very table add to what was released, as mu against their absence; computed without noise, hence not for publication.
struct FitRows {
  Claimed<double> median,
      worst;  ///< exact where the released law is normal, else along the path that was taken
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
  std::string no_intervals = {};
  std::optional<double> metric_gain =
      {};  ///< of the noise's shape, from the released spectrum (Spec §22.4)
  std::vector<FitPrediction> predictions = {};
  std::optional<FitAudit> audit = {};
  std::optional<FitRows> rows = {};
  std::string checksum = {};  ///< of the bounds
  Verdict verdict = Verdict::none;
  bool stopped = false;
};

/// Plans from what is public, opens the table, fits and releases.
/// Throws   InvalidArgument at a key or a place in a file; where the prediction says that nothing useful can come out, unless forced; as
///          parse_bounded_rows(), plan_fit() and private_fit().
[[nodiscard]] FitAnswer answer(const FitQuestion& question, Observer& observer);

/// The guarantee, the accuracy, the coefficients, how the budget was spent.
[[nodiscard]] Document document_of(const FitAnswer& answer, Detail detail);

/// The model as JSON: coefficients in the units of the table under the names that scikit-learn gives them, columns, guarantee, releases.
[[nodiscard]] std::string model_json(const FitAnswer& answer);
/// Writes the model: .json as above, .csv a row for each coefficient, .npz arrays `coef`, `intercept`.
/// Throws   InvalidArgument for another suffix; StorageError.
void write_model(const std::string& path, const FitAnswer& answer);
/// Throws   InvalidArgument for a suffix that write_model() does not know: to be asked before anything is spent.
void require_model_suffix(const std::string& path);

/// The privacy statement, as Markdown.
/// Throws   InvalidArgument if there is no guarantee.
[[nodiscard]] std::string statement_of(const FitAnswer& answer);

/// A file of declarations with the columns of the table and no numbers.
[[nodiscard]] std::string bounds_template(const FitQuestion& question);

}  // namespace sfumato
