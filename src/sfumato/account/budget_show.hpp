#pragma once

#include <string>
#include <vector>

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// The question what was spent on the records of a data set.
struct BudgetShowQuestion {
  std::string budget;  ///< file
};

struct BudgetRun {
  BudgetEntry entry;
  double epsilon;  ///< of this run alone, at the limit's delta
};

struct BudgetShowAnswer {
  BudgetShowQuestion question;
  BudgetState state;
  std::string adjacency;
  std::vector<BudgetRun> runs = {};
  Verdict verdict = Verdict::none;  ///< violated: more was recorded than the limit allows
};

[[nodiscard]] const Keys<BudgetShowQuestion>& budget_show_keys();

/// Throws   InvalidArgument as BudgetFile and load_account().
[[nodiscard]] BudgetShowAnswer answer(const BudgetShowQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const BudgetShowAnswer& answer, Detail detail);

}  // namespace sfumato
