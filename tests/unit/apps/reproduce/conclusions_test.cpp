#include "reproduce/readings/conclusions.hpp"

#include <gtest/gtest.h>

namespace sfumato::apps {
namespace {

/// Models of setting 1 whose worst losses are those of these simulated runs, isotropic first.
JudgedReading with_losses(const NumberFit& isotropic, const NumberFit& anisotropic) {
  TrialNumbers trial;
  trial.shares = {{0.002}};
  ReadingModels models = {{{"none", {{trial}}, 0}}};
  for (const char* policy : {"isotropic_per_layer", "anisotropic"}) {
    models.front().push_back({policy_name(policy, NoiseReading::variance), {{trial}}, 0});
  }
  JudgedReading judged{{}, std::make_shared<const ReadingModels>(std::move(models)), {}};
  const NumberFit delta{{"delta", 0.0015, Aggregate::largest_mean}, 0.002, 0.001, 0.003};
  judged.fit.emplace();
  judged.fit->numbers = {delta, isotropic, delta, anisotropic};
  return judged;
}

std::optional<bool> lower_loss(const JudgedReading& judged) {
  for (const Conclusion& conclusion : conclusions_of(PaperTable::table2_s1, judged)) {
    if (conclusion.key == "lower_loss") return conclusion.holds;
  }
  ADD_FAILURE() << "no word on the loss";
  return {};
}

TEST(Conclusions, NeedRunsThatTell) {
  const PrintedNumber loss{"worst loss", 0.3, Aggregate::largest};
  const NumberFit high{loss, 2.0, 1.5, 2.5}, low{loss, 0.05, 0.02, 0.1}, about{loss, 1.9, 1.4, 2.4};
  EXPECT_EQ(lower_loss(with_losses(high, low)), std::optional(true));
  EXPECT_EQ(lower_loss(with_losses(low, high)), std::optional(false));
  EXPECT_EQ(lower_loss(with_losses(high, about)), std::nullopt);
}

TEST(Conclusions, SayWhereNoNoiseShowsTheSame) {
  const PrintedNumber loss{"worst loss", 0.3, Aggregate::largest};
  const NumberFit fit{loss, 2.0, 1.5, 2.5};
  for (const Conclusion& conclusion :
       conclusions_of(PaperTable::table2_s1, with_losses(fit, fit))) {
    if (conclusion.key != "noise_matters") continue;
    EXPECT_EQ(conclusion.holds, std::optional(false));
  }
  JudgedReading diverged = with_losses(fit, fit);
  diverged.fit.reset();
  EXPECT_TRUE(conclusions_of(PaperTable::table2_s1, diverged).empty());
}

}  // namespace
}  // namespace sfumato::apps
