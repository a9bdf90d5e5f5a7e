#include "lab/train/train_answer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "lab/train/train_document.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/text.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

namespace fs = std::filesystem;

/// Asks to stop after some looks.
class StoppingLater final : public Observer {
 public:
  explicit StoppingLater(int looks) : looks_(looks) {}
  [[nodiscard]] bool stop_requested() const override { return --looks_ < 0; }

 private:
  mutable int looks_;
};

class TrainAnswers : public testing::Test {
 protected:
  [[nodiscard]] TrainQuestion question(const std::string& out = "") const {
    TrainQuestion question{small.dir / "s.toml"};
    if (!out.empty()) question.out = small.dir / out;
    return question;
  }

  SmallStudy small;
  Observer observer;
};

TEST_F(TrainAnswers, ModelsAndDocuments) {
  const TrainAnswer trained = answer(question(), observer);
  EXPECT_TRUE(trained.finished());
  EXPECT_FALSE(trained.stopped());
  ASSERT_EQ(trained.run.training.size(), 4U);  // two policies, D and D'
  EXPECT_GT(trained.run.training[0]->mean_loss, 0.0);
  const Document full = document_of(trained, Detail::full),
                 brief = document_of(trained, Detail::brief);
  EXPECT_EQ(full.results().size(), brief.results().size());
  ASSERT_TRUE(
      full.abstract());  // the answer of a page: every policy, and that nothing is to be released
  for (const NoisePolicy& policy : trained.input.policies) {
    EXPECT_NE(full.abstract()->answer.plain().find(policy.name + ": "), std::string::npos)
        << full.abstract()->answer.plain();
  }
  EXPECT_TRUE(full.abstract()->released.plain().starts_with("Nothing"))
      << full.abstract()->released.plain();
  const std::string text = render_text(brief, {80, false});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 25);
  EXPECT_NE(text.find("path KL"), std::string::npos);
  EXPECT_NE(text.find("No epsilon is printed"), std::string::npos);
}

TEST_F(TrainAnswers, FilesAreNotReplaced) {
  const TrainQuestion first = question("out");
  const TrainAnswer trained = answer(first, observer);
  for (const char* name :
       {"study.toml", "log.json", "document.json", "isotropic.d.npz", "anisotropic.d_prime.npz"}) {
    EXPECT_TRUE(fs::exists(fs::path(first.out) / name)) << name;
  }
  EXPECT_EQ(read_file(fs::path(first.out) / "document.json"),
            render_json(document_of(trained, Detail::full)));
  EXPECT_THROW((void)answer(first, observer), StorageError);
  TrainQuestion again = first;
  again.force = true;
  EXPECT_TRUE(answer(again, observer).finished());
}

TEST_F(TrainAnswers, StoppedAndResumed) {
  TrainQuestion stopped = question("cut");
  stopped.settings = {"train.iterations=3000"};
  StoppingLater stopping(5);
  const TrainAnswer part = answer(stopped, stopping);
  EXPECT_TRUE(part.stopped());
  EXPECT_FALSE(part.finished());
  EXPECT_TRUE(fs::exists(checkpoint_path(stopped)));
  EXPECT_NE(render_text(document_of(part, Detail::brief), {80, false}).find("--resume"),
            std::string::npos);
  EXPECT_THROW((void)answer(stopped, observer), InvalidArgument);  // resume it, or remove it
  TrainQuestion resumed = stopped;
  resumed.resume = true;
  const TrainAnswer rest = answer(resumed, observer);
  EXPECT_TRUE(rest.finished());
  EXPECT_EQ(rest.run.resumed_at, part.run.group.step());
  EXPECT_FALSE(fs::exists(checkpoint_path(stopped)));

  TrainQuestion whole = question("whole");
  whole.settings = stopped.settings;
  const TrainAnswer once = answer(whole, observer);
  for (std::size_t m = 0; m < 4; ++m) {
    EXPECT_EQ(once.run.group.parameters(m), rest.run.group.parameters(m));
  }
}

TEST_F(TrainAnswers, Measures) {
  TrainQuestion asked = question();
  asked.settings = {"adjacency.kind=replace"};
  asked.measures = {TrainMeasure::hessian, TrainMeasure::flatness, TrainMeasure::covariance,
                    TrainMeasure::noise};
  const TrainAnswer measured = answer(asked, observer);
  ASSERT_EQ(measured.measures.hessian.size(), 4U);
  ASSERT_EQ(measured.measures.flatness.size(), 4U);
  ASSERT_EQ(measured.measures.covariance.size(), 4U);
  ASSERT_EQ(measured.measures.noise.size(), 2U);  // of D, both policies
  EXPECT_TRUE(measured.measures.flatness[0]->segment);
  EXPECT_LE(measured.measures.covariance[0]->largest_eigenvalue,
            measured.measures.covariance[0]->trace);
  for (const double variance : measured.measures.noise[0].values) EXPECT_GT(variance, 0.0);
  EXPECT_FALSE(measured.measures.stopped);
}

TEST_F(TrainAnswers, PoissonBatchesHaveNoCovariance) {
  TrainQuestion asked = question();
  asked.settings = {"train.batches=poisson"};
  asked.measures = {TrainMeasure::covariance};
  const TrainAnswer measured = answer(asked, observer);
  ASSERT_EQ(measured.measures.covariance.size(), 4U);
  EXPECT_FALSE(measured.measures.covariance[0]);
  EXPECT_NE(
      render_text(document_of(measured, Detail::full), {80, false}).find("not for Poisson batches"),
      std::string::npos);
}

}  // namespace
}  // namespace sfumato::lab
