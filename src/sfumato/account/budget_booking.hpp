#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/budget_file.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato {

/// The state of a budget, with all that is booked composed: no sum of epsilons.
struct BudgetState {
  std::string file;
  PrivacyBudget limit;
  double spent = 0.0;              ///< proven epsilon of everything at the limit's delta
  std::size_t runs = 0;            ///< booked, killed ones included
  bool is_new = false;             ///< the file was made for this run
  std::string delta_warning = {};  ///< of the limit; empty: its delta is small for so many records
};

/// A run as a booking describes it, beside its releases.
struct BookedRun {
  std::string command;
  std::optional<std::uint64_t> records = {};  ///< none: not known
  bool allow_large_delta = false;             ///< of the limit too
  bool made = false;                          ///< facts, to be recorded above the limit too
};

/// A run's place in a budget. It counts as spent from its construction on, whatever becomes of the run.
class BudgetBooking {
 public:
  /// Reserves `releases`: to be called before the first noise is drawn. `limit` (eps=3,delta=1e-5) is required for a new file, and must be that of the file otherwise,
  /// or empty.
  /// Throws   InvalidArgument if they do not fit any more, protect other neighbours, the limit is another, or its delta is above 1 / records; as BudgetFile.
  BudgetBooking(const std::string& file, const std::string& limit, const Accountant& releases,
                const BookedRun& run);

  /// The run has come to its end; `model` is the SHA-256 of what was released, or empty.
  void release(const std::string& model);
  [[nodiscard]] const BudgetState& state() const { return state_; }

 private:
  std::unique_ptr<BudgetFile> file_;
  std::int64_t number_ = 0;
  BudgetEntry entry_;  ///< as it was reserved
  BudgetState state_;
};

/// "Budget b.db: epsilon <= 1.234 of 3 at delta = 1e-05 spent by 4 runs."
[[nodiscard]] std::string budget_text(const BudgetState& state);

/// Whether the budget has booked the newest of these models.
[[nodiscard]] bool budget_has(const std::string& file, const std::vector<std::string>& models);

/// The keys `budget` and `limit` of a question with members of these names.
template <class Q>
[[nodiscard]] Keys<Q> budget_keys() {
  using namespace keys;
  return {file_key<Q>("budget",
                      "book this run in a file of what was spent on these records, before noise is "
                      "drawn (SQLite, made if there is none)",
                      &Q::budget),
          shown_as(text_key<Q>("limit", "eps=X,delta=X",
                               "what all runs of a new `budget` may spend together, such as "
                               "eps=3,delta=1e-5",
                               &Q::limit),
                   "eps=X,delta=X")};
}

}  // namespace sfumato
