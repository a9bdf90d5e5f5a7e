#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/studies.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato::apps {

/// The interpretation of one table that came closest to its numbers: what the paper leaves open, decided. A search over declared
/// interpretations found it; docs/results/README.md, "What was run?", has the others.
struct ClosestInterpretation {
  const char* words;  ///< what it is
  std::size_t tried;  ///< interpretations of this table
  /// Sum over the printed numbers of |log10(ours / printed)|, on models that had no part in the choice; and how far a run of
  /// this very interpretation is from its own median.
  double distance, by_chance;
};
inline constexpr ClosestInterpretation kClosestTable1 = {
    "pixels in [0, 1], D' shuffled by itself, 1,000 steps, log10 p/p'", 75, 0.67, 0.20};
inline constexpr ClosestInterpretation kClosestS1 = {
    "pixels in [0, 1], sigmoid, noise of deviation s2 |g|", 40, 1.44, 0.19};
inline constexpr ClosestInterpretation kClosestS2 = {
    "pixels in [0, 1], noise times the root of the learning rate", 24, 0.79, 0.06};
inline constexpr ClosestInterpretation kClosestS3 = {
    "pixels in [0, 1], learning rate 0.01, noise times its root", 48, 3.26, 0.32};
inline constexpr ClosestInterpretation kClosestMembership = {
    "pixels in [0, 1], noise of deviation s2 |g|, worst loss of a record", 24, 2.01, 0.31};

/// The models of studies/STUDY_closest.toml, in the ledger LEDGER.closest. Nothing if the observer asked to stop.
[[nodiscard]] std::optional<TrainedStudy> train_closest(const PartContext& context,
                                                        const StudyRequest& literal);

/// A number of trained models, and in words how sure it is.
struct TrainedNumber {
  Claimed<double> value;
  std::string interval;
};
/// Its two cells; nothing where every model diverged.
[[nodiscard]] Cell value_cell(const std::optional<TrainedNumber>& number);
[[nodiscard]] Cell interval_cell(const std::optional<TrainedNumber>& number);

/// What a table has of a number that two noises have: the paper, its text taken literally, the closest interpretation.
struct ComparedNumber {
  std::string policy, number;
  double printed;
  std::optional<TrainedNumber> literal, closest;
};
[[nodiscard]] Table compared_table(const std::string& key, const std::string& title,
                                   const std::vector<ComparedNumber>& numbers);

/// One sentence: which interpretation the last column of a table is, and how far it is from the paper.
[[nodiscard]] std::string closest_text(const ClosestInterpretation& closest);

}  // namespace sfumato::apps
