#include "sfumato/audit/shadow_scores.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/math/special.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::MatrixXd;

void require_shadows(const ShadowScores& shadows, const Where& where) {
  const MatrixXd& logits = shadows.logits;
  if (logits.size() == 0) {
    throw InvalidArgument("there are no scores", "Pass models x records", where);
  }
  if (logits.rows() != shadows.member.rows() || logits.cols() != shadows.member.cols()) {
    throw InvalidArgument(
        fmt::format("scores are {} x {} and the membership is {} x {}", logits.rows(),
                    logits.cols(), shadows.member.rows(), shadows.member.cols()),
        "Both have a row per model and a column per record", where);
  }
  for (Index record = 0; record < logits.cols(); ++record) {
    for (Index model = 0; model < logits.rows(); ++model) {
      if (std::isfinite(logits(model, record))) continue;
      throw InvalidArgument(fmt::format("the score of record {} on model {} is {}", record + 1,
                                        model + 1, logits(model, record)),
                            "Clip confidences away from 0 and 1 before taking logits", where);
    }
  }
}

ScoreSample by_membership(const MatrixXd& scores, const MembershipMask& member) {
  ScoreSample sample;
  for (Index record = 0; record < scores.cols(); ++record) {
    for (Index model = 0; model < scores.rows(); ++model) {
      (member(model, record) != 0 ? sample.with : sample.without).push_back(scores(model, record));
    }
  }
  return sample;
}

ScoreSample one_record_per_model(const MatrixXd& scores, const MembershipMask& member,
                                 std::uint64_t seed) {
  const Stream stream(StreamKey(seed, Purpose::bootstrap, {3}));
  ScoreSample sample;
  for (Index model = 0; model < scores.rows(); ++model) {
    const auto record = static_cast<Index>(stream.below(0, static_cast<std::uint64_t>(model),
                                                        static_cast<std::uint64_t>(scores.cols())));
    (member(model, record) != 0 ? sample.with : sample.without).push_back(scores(model, record));
  }
  return sample;
}

MatrixXd loss_scores(const MatrixXd& logits) {
  return logits.unaryExpr([](double logit) { return -log_add_exp(0.0, -logit); });
}

}  // namespace sfumato
