#include "sfumato/audit/lira.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Count, sum and sum of squares of a record's logits, less the record's mean over all models: sums
/// of squares keep their digits when a value is taken out again.
struct Moments {
  double count = 0.0, sum = 0.0, squares = 0.0;

  void add(double x, double sign) {
    count += sign;
    sum += sign * x;
    squares += sign * x * x;
  }
  [[nodiscard]] double mean() const { return sum / count; }
  /// Sum of squared distances from the mean.
  [[nodiscard]] double scatter() const {
    return count > 0.0 ? std::max(0.0, squares - sum * sum / count) : 0.0;
  }
};

struct Record {
  double centre = 0.0;
  Moments worlds[2];  ///< without, with
};

std::vector<Record> records_of(const ShadowScores& shadows) {
  std::vector<Record> records(static_cast<std::size_t>(shadows.logits.cols()));
  for (Index r = 0; r < shadows.logits.cols(); ++r) {
    Record& record = records[static_cast<std::size_t>(r)];
    record.centre = shadows.logits.col(r).mean();
    for (Index m = 0; m < shadows.logits.rows(); ++m) {
      record.worlds[shadows.member(m, r) != 0].add(shadows.logits(m, r) - record.centre, 1.0);
    }
  }
  return records;
}

/// Scores of one target; `left_out` is its own row among the shadow models, or nothing.
void score_target(const std::vector<Record>& records, const ShadowScores& shadows,
                  const Index* left_out, const Eigen::RowVectorXd& target,
                  const LiraOptions& options, Eigen::Ref<MatrixXd> scores) {
  const bool online = options.kind == LiraOptions::Kind::online;
  const bool global = options.variance == LiraOptions::Variance::global;
  const auto shadows_of = [&](Index r) {
    Record record = records[static_cast<std::size_t>(r)];
    if (left_out != nullptr) {
      record.worlds[shadows.member(*left_out, r) != 0].add(
          shadows.logits(*left_out, r) - record.centre, -1.0);
    }
    return record;
  };
  double scatter[2] = {}, freedom[2] = {};
  for (Index r = 0; r < target.size(); ++r) {
    const Record record = shadows_of(r);
    for (int world = online ? 1 : 0; world >= 0; --world) {
      const Moments& moments = record.worlds[world];
      const double needed = global ? 1.0 : 2.0;
      if (moments.count < needed) {
        throw InvalidArgument(
            fmt::format("record {} has {} shadow models {} it besides the target, and needs {}",
                        r + 1, moments.count, world == 1 ? "with" : "without", needed),
            online ? "Add shadow models, use one variance for all records, or the offline attack"
                   : "Add shadow models or use one variance for all records");
      }
      scatter[world] += moments.scatter();
      freedom[world] += moments.count - 1.0;
    }
  }
  // 1e-30, as in the attack's published code: equal logits must not divide by zero.
  const auto variance_of = [&](const Moments& moments, int world) {
    if (!global) return moments.scatter() / (moments.count - 1.0) + 1e-30;
    return (freedom[world] > 0.0 ? scatter[world] / freedom[world] : 1.0) + 1e-30;
  };
  for (Index r = 0; r < target.size(); ++r) {
    const Record record = shadows_of(r);
    const double x = target(r) - record.centre;
    const double out_variance = variance_of(record.worlds[0], 0);
    const double out_gap = x - record.worlds[0].mean();
    if (!online) {
      scores(0, r) = log_normal_cdf(out_gap / std::sqrt(out_variance));
      continue;
    }
    const double in_variance = variance_of(record.worlds[1], 1);
    const double in_gap = x - record.worlds[1].mean();
    scores(0, r) = 0.5 * (out_gap * out_gap / out_variance - in_gap * in_gap / in_variance +
                          std::log(out_variance / in_variance));
  }
}

}  // namespace

MatrixXd lira_scores(const ShadowScores& shadows, const LiraOptions& options) {
  require_shadows(shadows);
  const std::vector<Record> records = records_of(shadows);
  MatrixXd scores(shadows.logits.rows(), shadows.logits.cols());
  for (Index model = 0; model < scores.rows(); ++model) {
    score_target(records, shadows, &model, shadows.logits.row(model), options,
                 scores.middleRows(model, 1));
  }
  return scores;
}

MatrixXd lira_scores(const ShadowScores& shadows, const MatrixXd& targets,
                     const LiraOptions& options) {
  require_shadows(shadows);
  require_size("targets", targets.cols(), shadows.logits.cols());
  const std::vector<Record> records = records_of(shadows);
  MatrixXd scores(targets.rows(), targets.cols());
  for (Index model = 0; model < scores.rows(); ++model) {
    score_target(records, shadows, nullptr, targets.row(model), options,
                 scores.middleRows(model, 1));
  }
  return scores;
}

}  // namespace sfumato
