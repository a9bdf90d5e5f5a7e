#include "sfumato/audit/shadow_attacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/random/stream.hpp"

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

template <class Attack>
void add_attack(std::vector<NamedAttack>& attacks, const char* name, const ShadowScores& shadows,
                Attack&& attack) {
  try {
    attacks.push_back({name, by_membership(attack(), shadows.member)});
  } catch (const InvalidArgument& error) {  // too few shadow models for this one
    attacks.push_back({name, {}, error.what()});
  }
}

}  // namespace

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

MatrixXd rmia_scores(const ShadowScores& shadows, const RmiaOptions& options) {
  require_shadows(shadows);
  require_positive("gamma", options.gamma);
  require_probability("offline_a", options.offline_a);
  const MatrixXd confidence =
      shadows.logits.unaryExpr([](double logit) { return 1.0 / (1.0 + std::exp(-logit)); });
  const Index models = confidence.rows(), records = confidence.cols();
  Eigen::Matrix<double, 2, Eigen::Dynamic> sums = MatrixXd::Zero(2, records);
  Eigen::Matrix<double, 2, Eigen::Dynamic> counts = MatrixXd::Zero(2, records);
  for (Index r = 0; r < records; ++r) {
    for (Index m = 0; m < models; ++m) {
      sums(shadows.member(m, r) != 0, r) += confidence(m, r);
      counts(shadows.member(m, r) != 0, r) += 1.0;
    }
  }
  MatrixXd scores(models, records);
  std::vector<double> ratios(static_cast<std::size_t>(records)), population;
  for (Index m = 0; m < models; ++m) {
    population.clear();
    for (Index r = 0; r < records; ++r) {
      double mean[2] = {};
      for (const int world : {0, 1}) {
        const bool own = (shadows.member(m, r) != 0) == (world == 1);
        const double count = counts(world, r) - (own ? 1.0 : 0.0);
        if (count < 1.0 && (world == 0 || options.online)) {
          throw InvalidArgument(
              fmt::format("record {} has no reference model {} it besides the target", r + 1,
                          world == 1 ? "with" : "without"),
              "Add reference models, or use the offline attack");
        }
        mean[world] = (sums(world, r) - (own ? confidence(m, r) : 0.0)) / count;
      }
      const double a = options.offline_a;
      const double reference =
          options.online ? 0.5 * (mean[0] + mean[1]) : 0.5 * ((1.0 + a) * mean[0] + (1.0 - a));
      // 1e-300: a confidence that underflowed to nothing everywhere.
      const double ratio = confidence(m, r) / std::max(reference, 1e-300);
      ratios[static_cast<std::size_t>(r)] = ratio;
      if (shadows.member(m, r) == 0) population.push_back(ratio);
    }
    if (population.size() < 2) {
      throw InvalidArgument(
          fmt::format("model {} was trained on all records but {}", m + 1, population.size()),
          "The attack needs two records that it was not trained on");
    }
    std::sort(population.begin(), population.end());
    for (Index r = 0; r < records; ++r) {
      const double ratio = ratios[static_cast<std::size_t>(r)];
      auto beaten = std::upper_bound(population.begin(), population.end(), ratio / options.gamma) -
                    population.begin();
      auto others = std::ssize(population);
      if (shadows.member(m, r) == 0) {  // a record is not compared with itself
        --others;
        beaten -= options.gamma <= 1.0;
      }
      scores(m, r) = static_cast<double>(beaten) / static_cast<double>(others);
    }
  }
  return scores;
}

ScoreSample shadow_sample(const ShadowScores& shadows, std::uint64_t seed) {
  const Stream stream(StreamKey(seed, Purpose::bootstrap, {4}));
  std::vector<Index> order(static_cast<std::size_t>(shadows.logits.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + stream.below(0, i, order.size() - i)]);
  }
  const Index fitted = shadows.logits.rows() / 2, rest = shadows.logits.rows() - fitted;
  ShadowScores fit{Eigen::MatrixXd(fitted, shadows.logits.cols()),
                   MembershipMask(fitted, shadows.logits.cols())};
  Eigen::MatrixXd targets(rest, shadows.logits.cols());
  MembershipMask member(rest, shadows.logits.cols());
  for (Index i = 0; i < shadows.logits.rows(); ++i) {
    const Index row = order[static_cast<std::size_t>(i)];
    if (i < fitted) {
      fit.logits.row(i) = shadows.logits.row(row);
      fit.member.row(i) = shadows.member.row(row);
    } else {
      targets.row(i - fitted) = shadows.logits.row(row);
      member.row(i - fitted) = shadows.member.row(row);
    }
  }
  return one_record_per_model(lira_scores(fit, targets, LiraOptions{}), member, seed);
}

std::vector<NamedAttack> shadow_attacks(const ShadowScores& shadows) {
  using Kind = LiraOptions::Kind;
  using Variance = LiraOptions::Variance;
  std::vector<NamedAttack> attacks;
  add_attack(attacks, "LOSS", shadows, [&] { return loss_scores(shadows.logits); });
  add_attack(attacks, "LiRA online", shadows, [&] {
    return lira_scores(shadows, {Kind::online, Variance::global});
  });
  add_attack(attacks, "LiRA offline", shadows, [&] {
    return lira_scores(shadows, {Kind::offline, Variance::global});
  });
  add_attack(attacks, "RMIA", shadows, [&] { return rmia_scores(shadows); });
  return attacks;
}

}  // namespace sfumato
