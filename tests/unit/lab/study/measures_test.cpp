#include "lab/study/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/study/study_data.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

using MeasuresTest = SmallStudyTest;

TEST_F(MeasuresTest, SummariesAreOfTheModelsOwnWorld) {
  const Study s = study({"train.path_kl=false", "train.gradient_differences=false"});
  const StudySets sets = load_sets(s);
  const Network network = network_of(s.model, sets.train);
  const SlotPair pair = adjacent_pair(s, sets.train);
  const auto data = training_data(sets.train, pair);
  TrialGroup group(network, data, policies_of(s, network), s.train);
  const auto summaries = summarise_training(group, *data);
  ASSERT_EQ(summaries.size(), 4U);
  EXPECT_EQ(summaries[0]->records, 20U);
  EXPECT_EQ(summaries[1]->records, 19U);  // D' lacks one
  // Untrained, all models are equal: the sums differ by the loss of the record alone.
  const TrialGroup::Evaluation all = group.evaluate(data->store, data->labels);
  const double record = all.losses[0][pair.other.changes[0].slot];
  EXPECT_NEAR(20 * summaries[0]->mean_loss - 19 * summaries[1]->mean_loss, record, 1e-6);
}

/// Against sums over the records, written out.
TEST_F(MeasuresTest, AreOfTheModelsOwnWorld) {
  for (const std::string kind : {"remove", "replace"}) {
    const Study s = study({"adjacency.kind=" + kind});
    const StudySets sets = load_sets(s);
    const Network network = network_of(s.model, sets.train);
    const SlotPair pair = adjacent_pair(s, sets.train);
    const auto data = training_data(sets.train, pair);
    TrialGroup group(network, data, policies_of(s, network), s.train);
    const std::vector<float> parameters = group.parameters(0);
    const std::vector<double> at(parameters.begin(), parameters.end());
    const WorldRecords d(*data, 0), d_prime(*data, 1);
    ASSERT_EQ(d.records().size(), 20U);
    ASSERT_EQ(d_prime.records().size(), 20U);
    EXPECT_EQ(d_prime.records()[pair.other.changes[0].slot].values.empty(), kind == "remove");

    const auto sum = [&](const WorldRecords& world) {
      return batch_gradient(network, at, world.records(), LossScale::sum).gradient;
    };
    const std::vector<double> a = sum(d), b = sum(d_prime);
    double squared = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) squared += (a[i] - b[i]) * (a[i] - b[i]);
    const FlatnessMeasure flatness = measure_flatness(network, parameters, d, d_prime);
    EXPECT_NEAR(flatness.gradient_difference, std::sqrt(squared), 1e-9);
    EXPECT_EQ(flatness.segment.has_value(), kind == "replace");

    double trace = 0.0;
    std::vector<double> unit(a.size());
    for (std::size_t i = 0; i < unit.size(); ++i) {
      unit[i] = 1.0;
      trace += hessian_product(network, at, d_prime.records(), LossScale::mean, unit)[i];
      unit[i] = 0.0;
    }
    const HessianMeasure hessian =
        measure_hessian(network, parameters, d_prime, LossScale::mean, 1);
    // Six standard errors: a false alarm in 1e-8 of all seeds, and the seed is fixed.
    EXPECT_NEAR(hessian.trace.value.value, trace, 6 * hessian.trace.value.standard_error);
    EXPECT_GT(hessian.trace.value.standard_error, 0.0);

    const auto covariance = measure_covariance(network, parameters, d, s.train);
    ASSERT_TRUE(covariance);
    double spread = 0.0;  // of the records' gradients about their mean; Spec §10 with n = 5 of 20
    for (const LabelledRecord& record : d.records()) {
      const std::vector<double> g = record_gradient(network, at, record).gradient;
      for (std::size_t i = 0; i < g.size(); ++i) spread += std::pow(g[i] - a[i] / 20, 2) / 20;
    }
    EXPECT_NEAR(covariance->trace, spread / 5 * 15 / 19, 1e-9 * spread);
    Training poisson = s.train;
    poisson.batches = BatchScheme::poisson;
    EXPECT_FALSE(measure_covariance(network, parameters, d, poisson));
    EXPECT_THROW((void)measure_flatness(network, parameters, d, d), InvalidArgument);
  }
}

}  // namespace
}  // namespace sfumato::lab
