#include "sfumato/lab/study/proven_bounds.hpp"

#include <gtest/gtest.h>

#include "lab/study/trial_runner.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

class Proven : public ::testing::Test {
 protected:
  Proven() { put(path_, "a,b,y\n1,0,1\n0,2,0\n1,1,1\n-1,0.5,0\n2,-1,1\n0.3,0.4,0\n"); }
  [[nodiscard]] Study study(const std::string& kind, const std::string& audit = "") const {
    return parse_study("[data]\nset = \"" + path_ + "\"\n[model]\nkind = \"" + kind +
                           "\"\nridge = 0.1\n[train]\niterations = 30\nlearning_rate = 0.3\n"
                           "[[noise]]\npolicy = \"isotropic\"\nvariance = [0.04, 0.16]\n[[noise]]\n"
                           "policy = \"none\"\n[audit]\nreplicas = 3\n" +
                           audit,
                       "s.toml");
  }
  [[nodiscard]] static std::vector<ProvenBounds> bounds(const Study& study) {
    return proven_bounds(study, TrialRunner(study).identity());
  }
  TempDir dir_;
  std::string path_ = dir_ / "t.csv";
};

TEST_F(Proven, IsTheLargestOverThePairs) {
  const std::vector<ProvenBounds> one = bounds(study("ridge"));
  const std::vector<ProvenBounds> six = bounds(study("ridge", "pairs = 6\n"));
  const std::vector<ProvenBounds> drawn =
      bounds(study("ridge", "pairs = 2\nrandom_pairs = true\n"));
  ASSERT_TRUE(one[0].exist() && six[0].exist() && drawn[0].exist());
  EXPECT_EQ(one[0].epsilon(Delta(1e-3)).claim, Claim::exact);
  EXPECT_GE(six[0].epsilon(Delta(1e-3)).value, one[0].epsilon(Delta(1e-3)).value);
  EXPECT_GE(six[0].delta(Epsilon(0.5)).value, one[0].delta(Epsilon(0.5)).value);
  // More noise, less risk; the pairs of replicas 0 to 5 are those of six pairs.
  EXPECT_LT(one[1].epsilon(Delta(1e-3)).value, one[0].epsilon(Delta(1e-3)).value);
  EXPECT_EQ(drawn[0].epsilon(Delta(1e-3)).value, six[0].epsilon(Delta(1e-3)).value);
  EXPECT_FALSE(one[0].mu());  // curvatures differ
}

TEST_F(Proven, WithoutNoiseTheDistributionsAreApart) {
  const std::vector<ProvenBounds> ridge = bounds(study("ridge"));
  ASSERT_TRUE(ridge[2].exist());
  EXPECT_EQ(ridge[2].delta(Epsilon(5.0)).value.probability(), 1.0);
  EXPECT_FALSE(bounds(study("logistic"))[2].exist());
  EXPECT_TRUE(bounds(study("logistic"))[0].mu());
}

TEST_F(Proven, NeedsTheDataThatTheModelsSaw) {
  const Study s = study("ridge");
  const LedgerIdentity identity = TrialRunner(s).identity();
  put(path_, get(path_) + "5,5,1\n");
  EXPECT_NE(proven_bounds(s, identity)[0].reason().find("changed"), std::string::npos);
  std::filesystem::remove(path_);
  EXPECT_NE(proven_bounds(s, identity)[0].reason().find("cannot be read"), std::string::npos);
}

TEST_F(Proven, NetworksHaveNone) {
  const Study s = parse_study(
      "[data]\nset = \"fashion-mnist\"\n[model]\npreset = \"mlp-10\"\n[[noise]]\npolicy = "
      "\"anisotropic\"\nvariance = 1\n",
      "s.toml");
  const std::vector<ProvenBounds> none = proven_bounds(s, {});
  EXPECT_FALSE(none[0].exist());
  EXPECT_NE(none[0].reason().find("private data"), std::string::npos);
}

}  // namespace
}  // namespace sfumato::lab
