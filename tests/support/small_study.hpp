#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/lab/ledger/trial.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {

/// A study of a small network on a table of thirty records, in a directory of its own.
class SmallStudy {
 public:
  /// Of the network: what studies on this table have in common.
  inline static const std::string kLayers = R"([[model.layers]]
type = "linear"
outputs = 5
[[model.layers]]
type = "tanh"
[[model.layers]]
type = "linear"
outputs = 3
)";

  SmallStudy() {
    std::string text = "a,b,c,d,class\n";
    for (int i = 0; i < 30; ++i) {
      text += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i) + "," +
              std::to_string(-i % 3) + "," + std::to_string(i % 3) + "\n";
    }
    put(dir / "t.csv", text);
    put(dir / "s.toml", std::string(R"([data]
set = "t.csv"
records = 20
test = "t.csv"
)") + kLayers + R"([train]
iterations = 40
batch_size = 5
learning_rate = 0.01
path_kl = true
[[noise]]
policy = "isotropic"
variance = 1e-4
[[noise]]
policy = "anisotropic"
variance = 1e-3
[audit]
pairs = 2
replicas = 3
)");
  }

  [[nodiscard]] Study study(const std::vector<std::string>& settings = {}) const {
    return read_study(dir / "s.toml", settings);
  }

  TempDir dir;
};

/// Tests of a small study with noise and without.
class SmallStudyTest : public ::testing::Test {
 protected:
  Study study(std::vector<std::string> settings = {}) {
    settings.insert(settings.begin(),
                    {"train.gradient_differences=true", "train.log_every=10",
                     "noise=[{policy='isotropic', variance=1e-4}, {policy='none'}]"});
    return small.study(settings);
  }
  template <class Action>
  void refused(Action&& action, const std::vector<std::string>& needles) {
    const std::string message = message_of<InvalidArgument>(action);
    for (const std::string& needle : needles) {
      EXPECT_NE(message.find(needle), std::string::npos) << needle << " is not in: " << message;
    }
  }

  SmallStudy small;
  TempDir& dir = small.dir;
};

/// Two results but for the time they took.
inline bool same_trial(const TrialResult& a, const TrialResult& b) {
  return a.key == b.key && a.status == b.status && a.message == b.message && a.seed == b.seed &&
         a.worlds == b.worlds;
}

}  // namespace sfumato::lab
