#include "reproduce/paper_statistic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sfumato/core/check.hpp"

namespace sfumato::apps {
namespace {

double share_above(const ConfidencePair& pair, double threshold) {
  std::int64_t above = 0;
  for (Eigen::Index i = 0; i < pair.with.size(); ++i) {
    const double p = pair.with.data()[i], q = pair.without.data()[i];
    above += p > 0.0 && std::log(p) - std::log(q) > threshold;
  }
  return static_cast<double>(above) / static_cast<double>(pair.with.size());
}

void check(const ConfidencePair& pair, const Where& where) {
  if (pair.with.rows() != pair.without.rows() || pair.with.cols() != pair.without.cols()) {
    throw InvalidArgument("confidences on D and D' differ in shape",
                          "Both have a row per replica and a column per record of D", where);
  }
  if (pair.with.size() == 0) {
    throw InvalidArgument("a pair has no confidences", "Leave it out", where);
  }
  for (const Eigen::MatrixXd* side : {&pair.with, &pair.without}) {
    for (Eigen::Index i = 0; i < side->size(); ++i) {
      require_probability("confidence", side->data()[i], where);
    }
  }
}

}  // namespace

PaperStatistic paper_statistic(std::span<const ConfidencePair> pairs, Epsilon epsilon) {
  if (pairs.empty()) throw InvalidArgument("there are no pairs", "Pass at least one");
  PaperStatistic statistic;
  for (const ConfidencePair& pair : pairs) {
    check(pair, Where::here());
    statistic.pairs.push_back(share_above(pair, epsilon.nats()));
  }
  const std::vector<std::string> warnings = {"no bound on delta in either direction (Spec §11.1)"};
  const auto count = static_cast<double>(pairs.size());
  statistic.mean = {std::accumulate(statistic.pairs.begin(), statistic.pairs.end(), 0.0) / count,
                    Claim::estimate, "Algorithm 1 of the paper with T2 N, mean over pairs",
                    warnings};
  statistic.maximum = {*std::max_element(statistic.pairs.begin(), statistic.pairs.end()),
                       Claim::estimate, "Algorithm 1 of the paper with T2 N, largest of the pairs",
                       warnings};
  return statistic;
}

}  // namespace sfumato::apps
