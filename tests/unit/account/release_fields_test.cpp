// Fields as people write them, as releases with a proof.
#include "sfumato/account/accountant/release_fields.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

ReleaseFields poisson_run() {
  ReleaseFields fields;
  fields.noise_multiplier = {1.1};
  fields.sampler = Sampler::poisson;
  fields.sample_rate = 0.01;
  fields.steps = 1000;
  return fields;
}

TEST(ReleaseFields, AreTheReleaseTheyDescribe) {
  const PrivateRelease release = release_of(poisson_run());
  EXPECT_EQ(release, (PrivateRelease{GaussianNoise{1.1}, Sampler::poisson, 0.01, 1000}));
}

// The mean over the batch that was drawn shows how many were drawn: that depends on the record, and no noise is on it.
TEST(ReleaseFields, DivisionByTheBatchThatWasDrawnHasNoGuarantee) {
  ReleaseFields fields = poisson_run();
  fields.normaliser = Normaliser::declared;
  EXPECT_NO_THROW((void)release_of(fields));
  fields.normaliser = Normaliser::batch;
  try {
    (void)release_of(fields);
    FAIL() << "accepted";
  } catch (const InvalidArgument& refused) {
    const std::string message = refused.what();
    EXPECT_NE(message.find("normaliser"), std::string::npos) << message;
    EXPECT_NE(message.find("expected batch size"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sfumato
