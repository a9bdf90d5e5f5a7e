#include "sfumato/audit/shadow_attacks.hpp"

#include <numeric>
#include <utility>

#include "sfumato/audit/lira.hpp"
#include "sfumato/audit/rmia.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

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
