#include "lab/study/ledger_study.hpp"

#include <gtest/gtest.h>

#include "lab/study/trial_runner.hpp"
#include "support/small_study.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

TEST(LedgerStudy, IsTheStudyThatTheLedgerWasMadeFor) {
  const SmallStudy small;
  const TrialRunner runner(small.study());
  const std::string path = small.dir / "a.ledger";
  { const Ledger made = Ledger::open(path, runner.identity(), study_differences); }
  EXPECT_EQ(canonical_text(study_of(Ledger::read(path))), canonical_text(runner.study()));
}

TEST(LedgerStudy, TrialsOfAnotherStudyAreRefused) {
  for (const TrialKey key : {TrialKey{2, 0, 0}, TrialKey{0, 2, 0}, TrialKey{0, 0, 3}}) {
    const SmallStudy small;  // two policies, two pairs, three replicas
    const TrialRunner runner(small.study());
    const std::string path = small.dir / "a.ledger";
    TrialResult forged;
    forged.key = key;
    forged.status = TrialStatus::failed;
    Ledger::open(path, runner.identity(), study_differences).commit({forged});
    const std::string message =
        message_of<InvalidArgument>([&] { (void)study_of(Ledger::read(path)); });
    EXPECT_NE(message.find("ends at policy 2, pair 2, replica 3"), std::string::npos) << message;
    EXPECT_EQ(message.find(path), 0U);
  }
}

}  // namespace
}  // namespace sfumato::lab
