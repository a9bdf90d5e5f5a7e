#include "sfumato/report/glossary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace sfumato {
namespace {

std::vector<std::string> terms_of(const Document& document) {
  std::vector<std::string> terms;
  for (const Term& term : glossary_for({document})) terms.emplace_back(term.term);
  return terms;
}

TEST(Glossary, ExplainsWhatHasAKeyAndNotWhatWordsSay) {
  Document document("any", "An AUC, a ledger and eps");
  document.state(StatementKind::info, "the KL, the trade-off and the leverage of a canary");
  EXPECT_TRUE(terms_of(document).empty());
  Table table("membership", "T", {{"row", "row"}, {"leverage", "anything"}});
  document.add(std::move(table));
  EXPECT_EQ(terms_of(document),
            (std::vector<std::string>{"AUC", "Leverage", "Score", "TPR at FPR"}));
}

TEST(Glossary, ExplainsNumbersAndWhatTheyAreOf) {
  Document document("any", "T");
  document.add(
      Result{"kl_forward", {{"by", "fokker_planck"}}, Claimed<double>{0.5, Claim::estimate}});
  EXPECT_EQ(terms_of(document),
            (std::vector<std::string>{"Fokker-Planck", "KL, relative entropy"}));
  document.add_provenance("ledger", "a.db");
  document.add_verdict({});
  const std::vector<std::string> more = terms_of(document);
  EXPECT_NE(std::find(more.begin(), more.end(), "Ledger"), more.end());
  EXPECT_NE(std::find(more.begin(), more.end(), "Claim"), more.end());
}

TEST(Glossary, IsInAlphabeticalOrder) {
  Document document("audit", "T");
  Figure figure("roc", "R", Mark::line, {"x"}, {"y"});
  document.add(figure);
  document.add_result("epsilon_lower", Claimed<double>{0.5, Claim::lower_bound});
  std::vector<std::string> terms = terms_of(document);
  ASSERT_GT(terms.size(), 5u);
  for (std::string& term : terms) {
    for (char& c : term) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  EXPECT_TRUE(std::is_sorted(terms.begin(), terms.end()));
}

}  // namespace
}  // namespace sfumato
