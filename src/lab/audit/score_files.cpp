#include "lab/audit/score_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/audit/score_smells.hpp"
#include "sfumato/data/array_file.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;

/// Scores that cannot tell anything, or were given twice by mistake.
void require_two_worlds(const ScoreSample& sample, const AuditQuestion& question, Index column,
                        Index columns) {
  const std::string which = columns > 1 ? fmt::format(" of column {}", column + 1) : "";
  const double first = sample.with.front();
  const auto same = [first](double score) { return score == first; };
  if (!std::all_of(sample.with.begin(), sample.with.end(), same) ||
      !std::all_of(sample.without.begin(), sample.without.end(), same)) {
    if (!same_scores(sample)) return;
    throw InvalidArgument(fmt::format("the scores{} are those of {}", which, question.nonmembers),
                          "Members and non-members need different files: check which were given",
                          Where::in(question.members));
  }
  throw InvalidArgument(
      fmt::format("all scores{}, of members and non-members, equal {}", which, first),
      "Constant scores carry no information: check how they were computed",
      Where::in(question.members));
}

}  // namespace

std::vector<ScoreSample> read_samples(const AuditQuestion& question) {
  const Eigen::MatrixXd with = read_array(question.members).values;
  const Eigen::MatrixXd without = read_array(question.nonmembers).values;
  if (with.cols() != without.cols()) {
    throw InvalidArgument(fmt::format("has {} columns, and {} has {}", with.cols(),
                                      question.nonmembers, without.cols()),
                          "Give both files one column per pair of data sets or kind of score",
                          Where::in(question.members));
  }
  const double sign = question.larger_means == LargerMeans::member ? 1.0 : -1.0;
  std::vector<ScoreSample> samples;
  for (Index column = 0; column < with.cols(); ++column) {
    ScoreSample sample;
    for (const double score : with.col(column)) sample.with.push_back(sign * score);
    for (const double score : without.col(column)) sample.without.push_back(sign * score);
    require_two_worlds(sample, question, column, with.cols());
    samples.push_back(std::move(sample));
  }
  return samples;
}

ShadowScores read_shadows(const AuditQuestion& question) {
  const Eigen::MatrixXd logits = read_array(question.logits).values;
  const Eigen::MatrixXd mask = read_array(question.membership).values;
  if (logits.rows() != mask.rows() || logits.cols() != mask.cols()) {
    throw InvalidArgument(fmt::format("is {} x {}, and {} is {} x {}", mask.rows(), mask.cols(),
                                      question.logits, logits.rows(), logits.cols()),
                          "Give both files one row per model and one column per record",
                          Where::in(question.membership));
  }
  if (logits.rows() < 2) {
    throw InvalidArgument(fmt::format("has a single row: {} records of one model", logits.cols()),
                          "Give the shadow models, one row each, with one column per record",
                          Where::in(question.logits));
  }
  ShadowScores shadows{
      question.larger_means == LargerMeans::member ? logits : Eigen::MatrixXd(-logits),
      MembershipMask(mask.rows(), mask.cols())};
  for (Index record = 0; record < mask.cols(); ++record) {
    for (Index model = 0; model < mask.rows(); ++model) {
      const double entry = mask(model, record);
      if (entry != 0.0 && entry != 1.0) {
        throw InvalidArgument(
            fmt::format("row {}, column {} is {}", model + 1, record + 1, entry),
            "The membership mask is 1 where the model was trained on the record, else 0",
            Where::in(question.membership));
      }
      shadows.member(model, record) = entry == 1.0;
    }
  }
  require_shadows(shadows, Where::in(question.logits));
  if (logits.minCoeff() == logits.maxCoeff()) {
    throw InvalidArgument(fmt::format("all scores equal {}", logits(0, 0)),
                          "Constant scores carry no information: check how they were computed",
                          Where::in(question.logits));
  }
  if (shadows.member.minCoeff() == shadows.member.maxCoeff()) {
    throw InvalidArgument("is the same everywhere", "An attack needs members and non-members",
                          Where::in(question.membership));
  }
  return shadows;
}

}  // namespace sfumato::lab
