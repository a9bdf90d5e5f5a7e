#include "sfumato/audit/guarantee.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(Guarantee, EitherOrderAndBothNames) {
  const ClaimedGuarantee expected{Epsilon(1.0), Delta(1e-5)};
  for (const char* text : {"eps=1.0,delta=1e-5", "delta=0.00001,eps=1", "epsilon=1,delta=1e-05"}) {
    EXPECT_EQ(parse_guarantee(text), expected) << text;
  }
  EXPECT_EQ(parse_guarantee("eps=0,delta=0"), (ClaimedGuarantee{Epsilon(0.0), Delta(0.0)}));
}

TEST(Guarantee, DeltaMayBeLeftOut) {
  EXPECT_EQ(parse_guarantee("eps=3"), (ClaimedGuarantee{Epsilon(3.0), Delta(1e-5)}));
}

TEST(Guarantee, TextKeepsEveryDigit) {
  for (const double epsilon : {0.1, 1.0 / 3.0, 12345.678}) {
    const ClaimedGuarantee claim{Epsilon(epsilon), Delta(1.0 / 7.0)};
    EXPECT_EQ(parse_guarantee(guarantee_text(claim)), claim);
  }
}

TEST(Guarantee, AnythingElseIsNothing) {
  for (const char* text :
       {"", "delta=1e-5", "eps=1,delta=1", "eps=-1,delta=0", "eps=inf,delta=0", "eps=nan,delta=0",
        "eps=1,delta=nan", "eps=1,eps=2", "eps=1,delta=0,", "eps=1 ,delta=0", "eps=1,delta=0,mu=1",
        "eps=1x,delta=0", "eps=,delta=0", "eps=1;delta=0"}) {
    EXPECT_FALSE(parse_guarantee(text)) << text;
  }
}

}  // namespace
}  // namespace sfumato
