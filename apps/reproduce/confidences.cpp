#include "reproduce/confidences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace sfumato::apps {
namespace {

/// The record losses of one pair in one world, a row per model.
using LossRows = std::vector<std::vector<float>>;
using LossesByPair = std::map<std::uint32_t, std::array<LossRows, 2>>;

/// exp(-loss): the confidence in the true class.
Eigen::MatrixXd confidences(const LossRows& losses) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(losses.size()),
                         static_cast<Eigen::Index>(losses.front().size()));
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      const auto loss =
          static_cast<double>(losses[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
      matrix(r, c) = std::exp(-std::max(0.0, loss));
    }
  }
  return matrix;
}

}  // namespace

std::vector<std::vector<ConfidencePair>> confidences_by_policy(const Ledger& ledger,
                                                               const Study& study) {
  std::vector<LossesByPair> losses(study.noise.size());
  ledger.for_each([&](const TrialResult& trial) {
    if (trial.status != TrialStatus::ok || trial.worlds.size() != 2) return;
    for (std::size_t w = 0; w < 2; ++w) {
      for (const NamedSeries& series : trial.worlds[w].series) {
        if (series.name != "record_losses") continue;
        losses.at(trial.key.policy)[trial.key.pair][w].push_back(series.values);
      }
    }
  });
  std::vector<std::vector<ConfidencePair>> policies(losses.size());
  for (std::size_t p = 0; p < losses.size(); ++p) {
    for (const auto& [pair, rows] : losses[p]) {
      if (rows[0].empty() || rows[0].size() != rows[1].size()) continue;
      policies[p].push_back({confidences(rows[0]), confidences(rows[1])});
    }
  }
  return policies;
}

}  // namespace sfumato::apps
