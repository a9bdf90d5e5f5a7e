#include <gtest/gtest.h>

#include <algorithm>

#include "lab/study/spec/study.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

const std::string kSmall = R"([data]
set = "fashion-mnist"
records = 100
[model]
preset = "mlp-10"
[train]
iterations = 7
batch_size = 10
[[noise]]
policy = "isotropic"
variance = 0.5
)";

Study small(const std::vector<std::string>& settings = {}) {
  return parse_study(kSmall, "s.toml", settings);
}

NoiseInterpretation interpretation_of(const std::vector<std::string>& settings) {
  return scaled_noise(small(settings).noise.front().rule)->interpretation;
}

std::string refusal(const std::string& text, const std::vector<std::string>& settings = {}) {
  return message_of<InvalidArgument>([&] { (void)parse_study(text, "s.toml", settings); });
}

/// kSmall with the first occurrence of `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  text.replace(text.find(from), from.size(), to);
  return text;
}

void expect_refusal(const std::string& text, const std::vector<std::string>& needles,
                    const std::vector<std::string>& settings = {}) {
  const std::string message = refusal(text, settings);
  for (const std::string& needle : needles) {
    EXPECT_NE(message.find(needle), std::string::npos) << needle << " is not in: " << message;
  }
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(ReadStudy, ValuesAndDefaults) {
  const Study study = small();
  EXPECT_EQ(study.data.set, "fashion-mnist");
  EXPECT_EQ(study.data.records, 100U);
  EXPECT_EQ(study.data.standardise, StandardiseBy::public_constants);
  EXPECT_EQ(study.adjacency.kind, Adjacency::remove);
  EXPECT_FALSE(study.adjacency.record);
  EXPECT_EQ(study.train.iterations, 7U);
  EXPECT_EQ(study.train.learning_rate, 0.1);
  ASSERT_EQ(study.noise.size(), 1U);
  EXPECT_EQ(study.noise[0].name, "isotropic");
  EXPECT_EQ(scaled_noise(study.noise[0].rule)->variance, 0.5);
}

TEST(ReadStudy, SettingsOverrideByPathNumberAndName) {
  const Study study = small({"train.iterations=1e3", "train.lr=0.25", "noise.0.variance=0.125",
                             "adjacency.record=4", "adjacency.kind=replace", "model.preset=lenet",
                             "data.set=\"cifar10\"", "train.path_kl=true"});
  EXPECT_EQ(study.train.iterations, 1000U);
  EXPECT_EQ(study.train.learning_rate, 0.25);
  EXPECT_EQ(scaled_noise(study.noise[0].rule)->variance, 0.125);
  EXPECT_EQ(study.adjacency.record, 3U);
  EXPECT_EQ(study.adjacency.kind, Adjacency::replace);
  EXPECT_EQ(study.model.preset, "lenet");
  EXPECT_EQ(study.data.set, "cifar10");
  EXPECT_TRUE(study.train.path_kl);
  EXPECT_EQ(scaled_noise(small({"noise.isotropic.sigma2=2"}).noise[0].rule)->variance,
            2.0);  // for `variance`
}

TEST(ReadStudy, AListOfVariancesIsAPolicyForEach) {
  const Study study = parse_study(changed("0.5", "[0.5, 1e-3, 2]"), "s.toml");
  ASSERT_EQ(study.noise.size(), 3U);
  EXPECT_EQ(study.noise[0].name, "isotropic-0.5");
  EXPECT_EQ(study.noise[1].name, "isotropic-0.001");
  EXPECT_EQ(study.noise[2].name, "isotropic-2");
  EXPECT_EQ(scaled_noise(study.noise[1].rule)->variance, 0.001);
  EXPECT_TRUE(std::holds_alternative<IsotropicNoise>(study.noise[2].rule));
  // The canonical text has them one by one, and reads the same.
  const std::string text = canonical_text(study);
  EXPECT_EQ(canonical_text(parse_study(text, "again")), text);
  // By setting, under both names of the key.
  EXPECT_EQ(canonical_text(small({"noise.isotropic.variance=[0.5, 0.001, 2]"})), text);
  EXPECT_EQ(canonical_text(small({"noise.0.sigma2=[0.5, 0.001, 2]"})), text);
  // One value, in a list or not, keeps the plain name.
  EXPECT_EQ(small({"noise.0.variance=[3]"}).noise[0].name, "isotropic");

  expect_refusal(changed("0.5", "[0.5, 0.5]"), {"named `isotropic-0.5`"});
  expect_refusal(changed("0.5", "[0.5, 0]"), {"s.toml:11:12", "variance", "none"});
  expect_refusal(changed("0.5", "[0.5, -1]"), {"s.toml:11:12", "-1"});
  expect_refusal(changed("0.5", "[]"), {"s.toml:11:12", "variance"});
}

TEST(ReadStudy, Controls) {
  const std::string two = kSmall + "[[noise]]\npolicy = \"none\"\ncontrol = true\n";
  const Study study = parse_study(two, "s.toml");
  ASSERT_EQ(study.noise.size(), 2U);
  EXPECT_FALSE(study.noise[0].control);
  EXPECT_TRUE(study.noise[1].control);
  const std::string text = canonical_text(study);
  EXPECT_EQ(canonical_text(parse_study(text, "again")), text);
  EXPECT_TRUE(parse_study(text, "again").noise[1].control);
  // Ledgers of studies without the key keep their text, hence their digest.
  EXPECT_EQ(canonical_text(small()).find("control"), std::string::npos);
  EXPECT_EQ(canonical_text(small({"noise.0.control=false"})), canonical_text(small()));
  for (const NoiseSpec& noise : small({"noise.0.variance=[1, 2]"}).noise) {
    EXPECT_FALSE(noise.control);
  }
  expect_refusal(changed("variance = 0.5", "variance = 0.5\ncontrol = true"),
                 {"s.toml", "every noise policy is a control"});
  expect_refusal(changed("variance = 0.5", "variance = 0.5\ncontrol = 1"), {"s.toml", "control"});
}

TEST(ReadStudy, ClaimsToCheck) {
  EXPECT_TRUE(small().audit.claims.empty());
  const Study study =
      parse_study(kSmall + "[audit]\nclaims = [\"eps=1.0,delta=1e-5\", \"delta=0,eps=2\"]\n", "s");
  ASSERT_EQ(study.audit.claims.size(), 2U);
  EXPECT_EQ(study.audit.claims[0], (ClaimedGuarantee{Epsilon(1.0), Delta(1e-5)}));
  EXPECT_EQ(study.audit.claims[1], (ClaimedGuarantee{Epsilon(2.0), Delta(0.0)}));
  const std::string text = canonical_text(study);
  EXPECT_EQ(parse_study(text, "again").audit.claims, study.audit.claims);
  EXPECT_EQ(small({"audit.claims=\"eps=1,delta=0\""}).audit.claims.size(), 1U);
  EXPECT_EQ(small({"audit.claims=\"eps=3\""}).audit.claims.at(0),
            (ClaimedGuarantee{Epsilon(3.0), Delta(1e-5)}));
  expect_refusal(kSmall + "[audit]\nclaims = [\"delta=1\"]\n", {"s.toml:13:10", "delta=1"});
  expect_refusal(kSmall + "[audit]\nclaims = [[\"eps=1,delta=0\", \"x\"]]\n", {"claims"});
  expect_refusal(kSmall + "[audit]\nclaims = 3\n", {"claims"});
}

TEST(ReadStudy, LayersHaveNamesAndSizes) {
  const Study study = parse_study(R"([data]
set = "fashion-mnist"
[model]
layers = [{type = "conv2d", out_channels = 4, kernel_size = 3, padding = 1}, {type = "relu"},
          {type = "max_pool", size = 2}, {type = "flatten"}, {type = "linear", outputs = 10, name = "head"}]
[[noise]]
policy = "none"
)",
                                  "s.toml");
  ASSERT_EQ(study.model.layers.size(), 5U);
  EXPECT_EQ(study.model.layers[0].channels, 4);
  EXPECT_EQ(study.model.layers[0].kernel, 3);
  EXPECT_EQ(study.model.layers[0].padding, 1);
  EXPECT_EQ(study.model.layers[2].size, 2);
  EXPECT_EQ(study.model.layers[4].name, "head");
}

TEST(ReadStudy, UnknownNamesAreSuggested) {
  expect_refusal(changed("iterations", "iteration"), {"s.toml:7:1", "iteration", "iterations"});
  expect_refusal(changed("[train]", "[trian]"), {"trian", "Did you mean `train`"});
  expect_refusal(changed("\"isotropic\"", "\"isotropc\""),
                 {"s.toml:10:10", "Did you mean `isotropic`"});
  expect_refusal(changed("mlp-10", "mlp-11"), {"s.toml:5:10", "mlp-11", "mlp-10"});
  expect_refusal(changed("fashion-mnist", "fashion-mnits"), {"s.toml:2:7", "fashion-mnist"});
  expect_refusal(changed("preset = \"mlp-10\"", "layers = [{type = \"lineer\", outputs = 3}]"),
                 {"lineer", "linear"});
  expect_refusal(changed("preset = \"mlp-10\"", "layers = [{type = \"linear\", output = 3}]"),
                 {"output", "outputs"});
  expect_refusal(kSmall, {"--set train.sede=1", "sede", "seed"}, {"train.sede=1"});
  expect_refusal(kSmall, {"--set noise.isotropix.variance=1", "isotropic"},
                 {"noise.isotropix.variance=1"});
}

TEST(ReadStudy, ValuesOutOfRange) {
  expect_refusal(changed("0.5", "-0.5"), {"s.toml:11:12", "variance", "-0.5", ">= 0"});
  expect_refusal(changed("0.5", "0"), {"variance", "none"});
  expect_refusal(changed("0.5", "\"a lot\""), {"s.toml:11:12", "string", "number"});
  expect_refusal(changed("iterations = 7", "iterations = 0"), {"s.toml:7:14", "iterations", "0"});
  expect_refusal(changed("iterations = 7", "iterations = 7.5"), {"iterations", "7.5"});
  expect_refusal(changed("batch_size = 10", "batch_size = 101"), {"s.toml:8:14", "101", "100"});
  expect_refusal(changed("iterations = 7", "learning_rate = -1"), {"learning_rate", "positive"});
  expect_refusal(changed("iterations = 7", "seed = -1"), {"seed", "-1"});
  expect_refusal(kSmall, {"--set train.iterations=0"}, {"train.iterations=0"});
  expect_refusal(kSmall, {"--set adjacency.record=first", "random"}, {"adjacency.record=first"});
  expect_refusal(kSmall, {"--set adjacency.record=0", "from 1"}, {"adjacency.record=0"});
}

TEST(ReadStudy, NamesOfOtherQuestionsAreUnderstood) {
  const Study study = parse_study(
      "[data]\ntable = \"t.csv\"\ntarget = \"y\"\n[model]\nkind = \"ridge\"\n"
      "[train]\nsteps = 9\n[[noise]]\npolicy = \"isotropic\"\nvariance = 1\n",
      "/s.toml");
  EXPECT_EQ(study.data.set, "/t.csv");
  EXPECT_EQ(study.data.label, "y");
  EXPECT_EQ(study.train.iterations, 9U);
  EXPECT_NE(canonical_text(study).find("set = \"/t.csv\""), std::string::npos);
}

TEST(ReadStudy, Contradictions) {
  expect_refusal(kSmall + "[[noise]]\npolicy = \"isotropic\"\nvariance = 1\n",
                 {"two noise policies are named `isotropic`"});
  expect_refusal(kSmall + "floor = 1\n", {"floor", "isotropic"});
  expect_refusal(changed("variance = 0.5", ""), {"isotropic", "variance"});
  expect_refusal(changed("\"isotropic\"", "\"fixed\""), {"fixed", "covariance"});
  expect_refusal(changed("\"isotropic\"", "\"none\""), {"variance", "none"});
  expect_refusal(changed("\"isotropic\"", "\"isotropic\"\nname = \"../x\""), {"../x", "file"});
  expect_refusal(changed("preset = \"mlp-10\"", ""), {"neither `preset` nor `layers`"});
  expect_refusal(changed("records = 100", "means = [1]"), {"means", "constants"});
  expect_refusal(changed("records = 100", "label = \"x\""), {"label", "tables"});
  expect_refusal(changed("fashion-mnist", "t.csv") + "", {"no exception"});
  expect_refusal(changed("fashion-mnist\"", "t.csv\"\nstandardise = \"public\""), {"published"});
  expect_refusal(changed("iterations = 7", "lr = 1\nlearning_rate = 1"), {"the same key"});
  expect_refusal("[data]\nset = \"fashion-mnist\"\n[model]\npreset = \"mlp-10\"\n",
                 {"no noise policy"});
}

TEST(ReadStudy, WhatWorldsShare) {
  EXPECT_TRUE(small().audit.together());
  EXPECT_EQ(canonical_text(small()).find("share"), std::string::npos);
  const Study own = small({"audit.share=[\"init\", \"noise\"]"});
  EXPECT_TRUE(own.audit.coupled);
  EXPECT_FALSE(own.audit.together());
  EXPECT_TRUE(own.audit.share.init && own.audit.share.noise && !own.audit.share.batches);
  const std::string text = canonical_text(own);
  EXPECT_NE(text.find("share = [\"init\", \"noise\"]"), std::string::npos) << text;
  EXPECT_EQ(canonical_text(parse_study(text, "c.toml")), text);
  const Study none = small({"audit.share=none"});
  EXPECT_FALSE(none.audit.coupled);
  EXPECT_EQ(canonical_text(parse_study(canonical_text(none), "c.toml")), canonical_text(none));
  EXPECT_NE(canonical_text(none), canonical_text(small({"audit.coupled=false"})));
  expect_refusal(kSmall, {"share", "seeds"}, {"audit.share=[\"seeds\"]"});
  expect_refusal(kSmall, {"share", "init"}, {"audit.share=[\"init\", \"init\"]"});
  expect_refusal(kSmall, {"coupled"}, {"audit.share=[\"init\"]", "audit.coupled=false"});
  expect_refusal(kSmall, {"path KL", "share"}, {"audit.share=[\"init\"]", "train.path_kl=true"});
  expect_refusal(kSmall, {"coin flips"}, {"audit.share=[\"init\"]", "audit.canaries=10"});
  expect_refusal(changed("\"isotropic\"\nvariance = 0.5", "\"private\"\nclip = 1"), {"slots"},
                 {"audit.share=[\"init\"]"});
}

TEST(ReadStudy, ReadingsOfThePaper) {
  EXPECT_EQ(small({"data.standardise=unit"}).data.standardise, StandardiseBy::none);
  expect_refusal(changed("fashion-mnist\"", "t.csv\"\nstandardise = \"unit\""), {"no pixels"});
  const auto iterations = [](const std::string& batches) {
    return parse_study(changed("iterations = 7\nbatch_size = 10",
                               "epochs = 3\nbatch_size = 30\n"
                               "batches = \"" +
                                   batches + "\""),
                       "s.toml")
        .train.iterations;
  };
  EXPECT_EQ(iterations("shuffled"), 9U);       // 10 of 100 are left out
  EXPECT_EQ(iterations("shuffled_all"), 12U);  // or are a batch
  EXPECT_EQ(interpretation_of({"noise.0.reading=on_gradient"}),
            NoiseInterpretation::times_learning_rate);
  EXPECT_EQ(interpretation_of({"noise.0.reading=times_root_learning_rate"}),
            NoiseInterpretation::times_root_learning_rate);
  EXPECT_EQ(small({"model.activation=sigmoid"}).model.activation, "sigmoid");
  expect_refusal(kSmall, {"sigmod", "sigmoid"}, {"model.activation=sigmod"});
}

TEST(ReadStudy, FilesThatAreNoStudies) {
  expect_refusal("this is no TOML", {"s.toml:1", "not TOML"});
  expect_refusal("[model]\npreset = \"mlp-10\"\n", {"data", "missing"});
  const TempDir dir;
  const std::string message =
      message_of<InvalidArgument>([&] { (void)read_study(dir / "none.toml"); });
  EXPECT_NE(message.find("none.toml"), std::string::npos) << message;
}

TEST(ReadStudy, SettingsThatAreNone) {
  expect_refusal(kSmall, {"--set train", "KEY=VALUE"}, {"train"});
  expect_refusal(kSmall, {"KEY=VALUE"}, {"train..seed=1"});
  expect_refusal(kSmall, {"--set train.seed=[1", "not a value"}, {"train.seed=[1"});
  expect_refusal(kSmall, {"noise", "Name an entry"}, {"noise.variance=1"});
  expect_refusal(kSmall, {"`train.seed` is"}, {"train.seed=1", "train.seed.x=1"});
}

TEST(CanonicalText, ReadsBackAsItself) {
  std::string text = kSmall + R"([[noise]]
name = "steps \u00e9"
policy = "floored"
sigma2 = 0.1
floor = 1e-3
[[noise]]
policy = "none"
[[noise]]
policy = "isotropic_per_layer"
variance = 0.30000000000000004
reading = "deviation"
bias_in_layer = false
)";
  text.replace(text.find(" \\u00e9"), 7, "");
  const std::string canonical = canonical_text(parse_study(text, "s.toml"));
  EXPECT_EQ(canonical_text(parse_study(canonical, "c.toml")), canonical);
  EXPECT_NE(canonical.find("variance = 0.30000000000000004"), std::string::npos) << canonical;
  const Study layers = parse_study(R"(title = "a \"quoted\" title"
[data]
set = "table.csv"
standardise = "constants"
divisor = 2
means = [1, 2.5]
deviations = [1, 3]
label = "class"
[adjacency]
kind = "replace"
record = 4
canary = true
[[model.layers]]
type = "linear"
outputs = 2
[[noise]]
policy = "fixed"
covariance = "noise.npz"
)",
                                   "s.toml");
  const std::string other = canonical_text(layers);
  EXPECT_EQ(canonical_text(parse_study(other, "c.toml")), other);
}

TEST(StudyDifferences, NameEveryKey) {
  const std::string one = canonical_text(small());
  EXPECT_TRUE(study_differences(one, one).empty());
  const std::string two = canonical_text(small({"train.seed=5", "noise.0.variance=1"}));
  const std::vector<std::string> differences = study_differences(one, two);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0], "train.seed is 0 there and 5 here");
  EXPECT_EQ(differences[1], "noise.0.variance is 0.5 there and 1 here");
}

TEST(StudyDifferences, KnowTheWordsOfEarlierVersions) {
  const std::string today = canonical_text(small({"train.odometer=true"}));
  const std::size_t at = today.find("path_kl = true");
  ASSERT_NE(at, std::string::npos);
  std::string before = today;
  before.replace(at, std::string("path_kl").size(), "odometer");
  EXPECT_TRUE(study_differences(before, today).empty());
  EXPECT_EQ(canonical_text(parse_study(before, "ledger")), today);
  EXPECT_EQ(study_differences(before, canonical_text(small())).front(),
            "train.path_kl is true there and false here");
}

TEST(StudyKeys, AreAllExplained) {
  const std::vector<KeyInfo> keys = study_keys();
  EXPECT_GT(keys.size(), 30U);
  for (const KeyInfo& key : keys) {
    EXPECT_FALSE(key.help.empty()) << key.key;
    EXPECT_FALSE(key.type.empty()) << key.key;
  }
  const auto rate = std::find_if(keys.begin(), keys.end(),
                                 [](const KeyInfo& key) { return key.key == "learning_rate"; });
  ASSERT_NE(rate, keys.end());
  EXPECT_EQ(rate->fallback, "0.1");
}

const std::string kRidge = R"([data]
set = "t.csv"
[model]
kind = "ridge"
[train]
iterations = 7
[[noise]]
policy = "isotropic"
variance = 0.5
)";

TEST(ReadStudy, ConvexModelsHaveTheirOwnKeys) {
  const Study ridge = parse_study(kRidge, "s.toml", {"model.ridge=0.5", "model.intercept=false"});
  EXPECT_EQ(ridge.model.kind, ModelKind::ridge);
  EXPECT_EQ(ridge.model.ridge, 0.5);
  EXPECT_FALSE(ridge.model.intercept);
  const std::string text = canonical_text(ridge);
  EXPECT_EQ(text.find("batch_size"), std::string::npos);
  EXPECT_EQ(canonical_text(parse_study(text, "s.toml")), text);

  const Study quadratic = parse_study(
      "[model]\nkind = \"quadratic\"\ncurvature = [1, 2]\nminimiser = [0.5, 3]\n"
      "other_curvature = [[1, 0.5], [0.5, 2]]\n[[noise]]\npolicy = \"none\"\n",
      "s.toml");
  EXPECT_EQ(quadratic.model.quadratic.curvature(1, 1), 2.0);
  EXPECT_EQ(quadratic.model.quadratic.curvature(0, 1), 0.0);
  EXPECT_EQ(quadratic.model.quadratic_other.curvature(0, 1), 0.5);
  EXPECT_EQ(quadratic.model.quadratic_other.minimiser(1), 3.0);
  const std::string other = canonical_text(quadratic);
  EXPECT_EQ(other.find("[data]"), std::string::npos);
  EXPECT_EQ(canonical_text(parse_study(other, "s.toml")), other);
}

TEST(ReadStudy, ConvexModelsRefuseWhatIsForNetworks) {
  expect_refusal(kRidge, {"batch_size", "ridge"}, {"train.batch_size=10"});
  expect_refusal(kRidge, {"preset", "ridge"}, {"model.preset=mlp-10"});
  expect_refusal(kRidge, {"canary", "ridge"}, {"adjacency.canary=true"});
  expect_refusal(kRidge, {"fashion-mnist", "table"}, {"data.set=fashion-mnist"});
  expect_refusal(kRidge, {"anisotropic", "ridge"}, {"noise.0.policy=anisotropic"});
  expect_refusal(kRidge, {"[data]", "quadratic"},
                 {"model.kind=quadratic", "model.curvature=[1]", "model.minimiser=[1]"});
  expect_refusal(kRidge, {"minimiser"}, {"model.kind=quadratic", "model.curvature=[1]"});
  expect_refusal(kSmall, {"ridge", "network"}, {"model.ridge=1"});
}

TEST(ReadStudy, RefusesMoreTrialsThanAnyMachineTrains) {
  const std::string audit = kSmall + "[audit]\n";
  expect_refusal(audit + "replicas = 9223372036854775807\n",
                 {"s.toml", "9223372036854775807 replicas", "100000000"});
  expect_refusal(audit + "pairs = 2147483648\nreplicas = 2147483648\n", {"more than 100000000"});
  expect_refusal(audit + "shadow_models = 100000001\n", {"100000001 replicas"});
  expect_refusal(audit + "replicas = 50000001\n", {"2 data sets"});
  EXPECT_EQ(parse_study(audit + "replicas = 50000000\n", "s.toml").audit.replicas, 50'000'000U);
  expect_refusal(changed("iterations = 7", "iterations = 9000000000000000000"),
                 {"an integer from 1 to 1000000000."});
}

}  // namespace
}  // namespace sfumato::lab
