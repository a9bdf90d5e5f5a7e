#include "sfumato/report/headline.hpp"

#include <gtest/gtest.h>

#include "sfumato/report/glossary.hpp"

namespace sfumato {
namespace {

Document with(Table table) {
  Document document("any", "T");
  document.add(std::move(table));
  return document;
}

TEST(Headlines, ExactAdvantageBeforeBoundsAndNeverAnEstimate) {
  Table table("risk", "T", {{"time", "t"}, {"advantage", "advantage"}});
  table.add_row({1.0, Claimed<double>{0.9, Claim::estimate}});
  EXPECT_TRUE(headlines_of(with(table)).empty());
  table.add_row({1.0, Claimed<double>{0.5, Claim::upper_bound}});
  ASSERT_EQ(headlines_of(with(table)).size(), 1u);
  EXPECT_NE(headlines_of(with(table))[0].meaning.find("used at most 75 %"), std::string::npos);
  table.add_row({2.0, Claimed<double>{0.4, Claim::exact}});
  const std::vector<Headline> list = headlines_of(with(table));
  EXPECT_EQ(list[0].value.value, 0.4);
  EXPECT_EQ(list[0].label, "largest advantage (t = 2)");
  EXPECT_NE(list[0].meaning.find("used 70 %"), std::string::npos);
}

TEST(Headlines, OfSeveralNoisesNoneIsTheAnswer) {
  for (const char* key : {"sweep", "settings"}) {
    Table table(key, "T", {{"noise", "noise"}, {"advantage", "worst"}});
    table.add_row({"0.1", Claimed<double>{0.5, Claim::exact}});
    EXPECT_TRUE(headlines_of(with(table)).empty()) << key;
  }
}

TEST(Headlines, PercentagesAreRoundedTowardsTheClaim) {
  Table table("risk", "T", {{"what", "what"}, {"advantage", "advantage"}});
  table.add_row({"a", Claimed<double>{0.50001, Claim::upper_bound}});
  EXPECT_NE(headlines_of(with(table))[0].meaning.find("75.1 %"), std::string::npos);
}

TEST(Headlines, LargestAuditedEpsilonWithoutConditions) {
  Table table("sandwich", "T",
              {{"policy", "policy"}, {"quantity", "quantity"}, {"audited", "shown"}}, 2);
  table.add_row(
      {"a", "eps at delta = 1e-05", Claimed<double>{0.5, Claim::lower_bound, "m", {}, 0.95}});
  table.add_row(
      {"b", "eps at delta = 1e-05", Claimed<double>{1.5, Claim::lower_bound, "m", {}, 0.95}});
  table.add_row(
      {"b", "eps at delta = 1e-05, if Gaussian-DP", Claimed<double>{9, Claim::lower_bound}});
  table.add_row({"b", "mu", Claimed<double>{8, Claim::lower_bound}});
  const std::vector<Headline> list = headlines_of(with(table));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].value.value, 1.5);
  EXPECT_EQ(list[0].label, "b, eps at delta = 1e-05");
  EXPECT_NE(list[0].meaning.find("confidence 95 %"), std::string::npos);
  EXPECT_NE(list[0].meaning.find("factor of 4.48 or more"), std::string::npos);
}

TEST(Headlines, NothingShownIsNotNothingThere) {
  Table table("bounds", "T", {{"quantity", "quantity"}, {"value", "value"}});
  table.add_row({"eps at delta = 1e-05", Claimed<double>{0.0, Claim::lower_bound}});
  EXPECT_NE(headlines_of(with(table))[0].meaning.find("does not mean"), std::string::npos);
}

TEST(Purpose, KnownCommandsOnly) {
  EXPECT_FALSE(purpose_of("audit").empty());
  EXPECT_TRUE(purpose_of("dance").empty());
}

std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> terms;
  for (const Term& term : glossary_for(text)) terms.emplace_back(term.term);
  return terms;
}

TEST(Glossary, ExplainsWhatOccurs) {
  EXPECT_TRUE(terms_of("nothing to explain").empty());
  EXPECT_EQ(terms_of("the AUC is high"), std::vector<std::string>{"AUC"});
  EXPECT_TRUE(terms_of("sauces, multi").empty());  // words, not parts of them
  EXPECT_EQ(terms_of("Rate of TPR, and eps"),
            (std::vector<std::string>{"epsilon (ε)", "TPR at FPR"}));
}

}  // namespace
}  // namespace sfumato
