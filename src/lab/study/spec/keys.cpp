// The one place that knows the keys of a study: their names, types, defaults (those of the structs) and
// help. The reader, the canonical text, `sfumato train --keys` and the documentation follow from it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <utility>

#include "lab/study/spec/key.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato::lab {
namespace {

/// Days of the smallest network, years of others: more are a slip.
constexpr std::int64_t kMostSteps = 1'000'000'000;

using namespace keys;

template <class T>
Key<T> only(const std::vector<ModelKind>& kinds, Key<T> key) {
  for (const ModelKind kind : kinds) key.kinds.emplace_back(name(kind));
  return key;
}
const std::vector<ModelKind> kNetworks = {ModelKind::network};
const std::vector<ModelKind> kRegressions = {ModelKind::ridge, ModelKind::logistic};
const std::vector<ModelKind> kClassifiers = {ModelKind::network, ModelKind::logistic};
const std::vector<ModelKind> kOnRecords = {ModelKind::network, ModelKind::ridge,
                                           ModelKind::logistic};

std::string list_text(const Eigen::VectorXd& values) {
  return fmt::format("[{}]", fmt::join(values.begin(), values.end(), ", "));
}

/// One matrix of a quadratic loss: a list (diagonal), a list of lists, or the path of a file.
Key<ModelSpec> curvature_key(const char* name, const char* help, QuadraticSpec ModelSpec::*loss) {
  return only({ModelKind::quadratic},
              Key<ModelSpec>{name, "list of numbers, or of rows", help,
                             [loss](ModelSpec& to, const TomlTable& table, const std::string& key) {
                               const ArrayValue given = table.array(key);
                               (to.*loss).curvature =
                                   given.rank == 2
                                       ? given.values
                                       : Eigen::MatrixXd(given.values.col(0).asDiagonal());
                             },
                             [loss](const ModelSpec& from) {
                               std::string text;
                               for (const auto& row : (from.*loss).curvature.rowwise()) {
                                 text += (text.empty() ? "" : ", ") + list_text(row.transpose());
                               }
                               return text.empty() ? text : "[" + text + "]";
                             }});
}

Key<ModelSpec> minimiser_key(const char* name, const char* help, QuadraticSpec ModelSpec::*loss) {
  return only({ModelKind::quadratic},
              Key<ModelSpec>{name, "list of numbers", help,
                             [loss](ModelSpec& to, const TomlTable& table, const std::string& key) {
                               const ArrayValue given = table.array(key);
                               if (given.rank > 1 && given.values.cols() > 1) {
                                 refuse(table, key, "a matrix", "a list of numbers");
                               }
                               (to.*loss).minimiser = given.values.col(0);
                             },
                             [loss](const ModelSpec& from) {
                               const Eigen::VectorXd& point = (from.*loss).minimiser;
                               return point.size() == 0 ? std::string() : list_text(point);
                             }});
}

/// Numbers of the constants with which a study standardises, one per channel.
Key<DataSpec> constants_key(const char* name, const char* help,
                            std::vector<double> Standardisation::*member) {
  return {name, "list of numbers", help,
          [member](DataSpec& to, const TomlTable& table, const std::string& key) {
            to.constants.*member = table.numbers(key);
          },
          [member](const DataSpec& from) {
            const std::vector<double>& values = from.constants.*member;
            if (values.empty()) return std::string();
            return fmt::format("[{}]", fmt::join(values, ", "));
          }};
}

Key<DataSpec> divisor_key() {
  return {"divisor", "number > 0",
          "with standardise = \"constants\": values are divided by it first",
          [](DataSpec& to, const TomlTable& table, const std::string& key) {
            to.constants.divisor = table.number(key);
          },
          [](const DataSpec& from) {
            const bool used = from.standardise == StandardiseBy::constants;
            return used ? toml_text(from.constants.divisor) : std::string();
          }};
}

Key<DataSpec> set_key() {
  Key<DataSpec> key = text_key("set", "fashion-mnist | cifar10 | path of a CSV or NPY table",
                               "the records that D is drawn from", &DataSpec::set);
  key.read = [](DataSpec& to, const TomlTable& table, const std::string& given) {
    to.set = table.string(given);
    if (to.is_table()) to.set = absolute_path(table.path(given));
  };
  return with(required(key), {"table"});
}

/// A member of DataSpec::features, written only for the kind that has it.
Key<DataSpec> feature_key(FeatureKind kind, Key<FeatureOptions> key) {
  return only(kNetworks,
              Key<DataSpec>{
                  key.name, key.type, key.help,
                  [read = key.read](DataSpec& to, const TomlTable& table,
                                    const std::string& given) { read(to.features, table, given); },
                  [kind, write = key.write](const DataSpec& from) {
                    return from.features.kind == kind ? write(from.features) : std::string();
                  }});
}

Key<DataSpec> features_key() {
  return only(
      kNetworks,
      Key<DataSpec>{"features", "scattering | random | path of a CSV or NPY table",
                    "models see fixed public features of the records (default: the records)",
                    [](DataSpec& to, const TomlTable& table, const std::string& key) {
                      const std::string text = table.string(key);
                      to.features.kind = text == "scattering" ? FeatureKind::scattering
                                         : text == "random"   ? FeatureKind::random
                                                              : FeatureKind::file;
                      if (to.features.kind == FeatureKind::file) {
                        const std::string suffix = suffix_of(text);
                        if (suffix != ".csv" && suffix != ".npy") {
                          refuse(table, key, toml_text(text),
                                 "scattering, random, or the path of a CSV or NPY file");
                        }
                        to.features.file = absolute_path(table.path(key));
                      }
                    },
                    [](const DataSpec& from) -> std::string {
                      switch (from.features.kind) {
                        case FeatureKind::none: return "";
                        case FeatureKind::scattering: return toml_text("scattering");
                        case FeatureKind::random: return toml_text("random");
                        case FeatureKind::file: return toml_text(from.features.file);
                      }
                      throw InternalError("unknown features");
                    }});
}

Key<AdjacencySpec> record_key() {
  return {"record", "integer >= 1 | \"random\"",
          "the differing record: its number in the data set, from 1, or a random one of D",
          [](AdjacencySpec& to, const TomlTable& table, const std::string& key) {
            to.record.reset();
            if (table.is_string(key)) {
              const std::string text = table.string(key);
              if (text == "random") return;
              refuse(table, key, toml_text(text), "an integer or \"random\"");
            }
            const std::int64_t value = table.integer(key);
            if (value < 1 || !std::in_range<std::uint32_t>(value)) {
              refuse(table, key, fmt::format("{}", value), "the number of a record, from 1");
            }
            to.record = static_cast<std::uint32_t>(value - 1);
          },
          [](const AdjacencySpec& from) {
            return from.record ? fmt::format("{}", *from.record + 1ULL) : "\"random\"";
          }};
}

Key<ScaledNoise> variance_key() {
  return {"variance",
          "number > 0, or a list of them",
          "sigma^2 (for fixed: factor of the covariance, default 1); a list makes one policy of "
          "each",
          [](ScaledNoise& to, const TomlTable& table, const std::string& key) {
            const std::vector<double> values = table.numbers(key);
            for (const double value : values) {
              if (!(std::isfinite(value) && value >= 0.0)) {
                refuse(table, key, fmt::format("{}", value), "a finite number >= 0");
              }
            }
            to.variance = values.front();
          },
          [](const ScaledNoise& from) {
            return from.variance > 0.0 ? toml_text(from.variance) : std::string();
          },
          {"sigma2"}};
}

/// Layers by type, with the keys that the type has beside `type` and `name`.
struct LayerType {
  std::string name;
  Keys<LayerSpec> keys;
};

const std::vector<LayerType>& known_layers() {
  const auto pool = [] {
    return Keys<LayerSpec>{required(with(
        integer_key("size", "pools: height, width and stride of the window", &LayerSpec::size, 1),
        {"kernel_size"}))};
  };
  static const std::vector<LayerType> layers = {
      {"linear",
       {required(with(integer_key("outputs", "linear: number of outputs", &LayerSpec::outputs, 1),
                      {"out_features"}))}},
      {"conv2d",
       {required(with(integer_key("channels", "conv2d: output channels", &LayerSpec::channels, 1),
                      {"out_channels"})),
        required(with(
            integer_key("kernel", "conv2d: height and width of the kernel", &LayerSpec::kernel, 1),
            {"kernel_size"})),
        integer_key("stride", "conv2d", &LayerSpec::stride, 1),
        integer_key("padding", "conv2d: zero padding on each side", &LayerSpec::padding, 0)}},
      {"max_pool", pool()},
      {"avg_pool", pool()},
      {"relu", {}},
      {"tanh", {}},
      {"sigmoid", {}},
      {"flatten", {}}};
  return layers;
}

NoiseRule* rule_of(NoiseSpec& noise) { return &noise.rule; }
ScaledNoise* scale_of(NoiseSpec& noise) { return scaled_noise(noise.rule); }
template <class Rule>
Rule* only_rule(NoiseSpec& noise) {
  return std::get_if<Rule>(&noise.rule);
}

/// Not written while everything is shared, so that texts of studies stay as they were.
Key<AuditSpec> share_key() {
  struct Named {
    const char* name;
    bool SharedBetweenWorlds::*member;
  };
  static constexpr Named kNames[] = {{"init", &SharedBetweenWorlds::init},
                                     {"batches", &SharedBetweenWorlds::batches},
                                     {"noise", &SharedBetweenWorlds::noise}};
  return {
      "share",
      "list of init, batches, noise; or none",
      "what D and D' of a replica have in common; without batches, D' draws its own over its own "
      "N - 1 records",
      [](AuditSpec& to, const TomlTable& table, const std::string& key) {
        to.share = {false, false, false};
        const std::vector<std::string> words = checked_texts(table, key);
        if (words == std::vector<std::string>{"none"}) return;
        for (const std::string& word : words) {
          const auto* named = std::find_if(std::begin(kNames), std::end(kNames),
                                           [&](const Named& n) { return n.name == word; });
          if (named == std::end(kNames) || to.share.*(named->member)) {
            refuse(table, key, shown(word),
                   "\"none\", or each of \"init\", \"batches\", \"noise\" at most once");
          }
          to.share.*(named->member) = true;
        }
      },
      [](const AuditSpec& from) {
        if (from.share.all()) return std::string();
        if (from.share.none()) return toml_text("none");
        std::vector<std::string> words;
        for (const Named& named : kNames) {
          if (from.share.*(named.member)) words.push_back(toml_text(named.name));
        }
        return fmt::format("[{}]", fmt::join(words, ", "));
      },
      {},
      false,
      {},
      KeyShape::texts};
}

/// "shuffle" is how others call it.
Choices<BatchScheme> batch_schemes() {
  Choices<BatchScheme> schemes =
      by_name({BatchScheme::shuffled, BatchScheme::with_replacement, BatchScheme::poisson,
               BatchScheme::fixed_size, BatchScheme::full, BatchScheme::shuffled_all});
  schemes.emplace_back("shuffle", BatchScheme::shuffled);
  return schemes;
}

/// Noise on the gradient is noise that the step multiplies by the learning rate.
Choices<NoiseInterpretation> noise_interpretations() {
  using enum NoiseInterpretation;
  Choices<NoiseInterpretation> all =
      by_name({variance, deviation, times_learning_rate, times_root_learning_rate});
  all.emplace_back("on_gradient", times_learning_rate);
  return all;
}

/// Not written where it is off, so that texts of studies stay as they were.
Key<NoiseSpec> control_key() {
  Key<NoiseSpec> key = flag_key(
      "control",
      "nothing is claimed of this policy: it shows whether the attack works, and decides no "
      "verdict",
      &NoiseSpec::control);
  key.write = [write = key.write](const NoiseSpec& from) {
    return from.control ? write(from) : std::string();
  };
  return key;
}

template <class T>
Keys<T> joined(Keys<T> keys, const Keys<T>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

template <class T>
void append(std::vector<KeyInfo>& infos, const char* table, const Keys<T>& keys,
            const T& defaults = {}) {
  for (KeyInfo& info : infos_of(keys, table, defaults)) infos.push_back(std::move(info));
}

}  // namespace

const Keys<DataSpec>& data_keys() {
  static const Keys<DataSpec> keys = {
      set_key(),
      optional_integer_key("records",
                           "N, the number of records of D, drawn at random (default: "
                           "all)",
                           &DataSpec::records),
      integer_key("seed", "seed for drawing the records", &DataSpec::seed, 0),
      choice_key("standardise",
                 "how values are scaled; the constants must be public; unit: pixels to [0, 1], as "
                 "none does too",
                 &DataSpec::standardise,
                 Choices<StandardiseBy>{{"public", StandardiseBy::public_constants},
                                        {"none", StandardiseBy::none},
                                        {"unit", StandardiseBy::none},
                                        {"constants", StandardiseBy::constants}}),
      divisor_key(),
      constants_key("means", "with standardise = \"constants\": one per channel or feature",
                    &Standardisation::means),
      constants_key("deviations", "with standardise = \"constants\": one per channel or feature",
                    &Standardisation::deviations),
      with(text_key("label", "text",
                    "for a table: column of the classes, or of the targets of ridge (default: the "
                    "last)",
                    &DataSpec::label),
           {"target"}),
      only(kNetworks, optional_integer_key("classes",
                                           "for a table: number of classes (default: "
                                           "largest label + 1)",
                                           &DataSpec::classes)),
      only(kNetworks, path_key("test", "for a table: another table to test on", &DataSpec::test)),
      only(kNetworks, optional_integer_key("test_records",
                                           "number of records to test on, from the first "
                                           "(default: all)",
                                           &DataSpec::test_records)),
      only(kNetworks,
           optional_integer_key("validation",
                                "hold out so many records, the last, and test on them instead",
                                &DataSpec::validation)),
      features_key(),
      feature_key(FeatureKind::scattering,
                  integer_key("pooling",
                              "scattering: means of so many x so many pixels of a map (default: 1)",
                              &FeatureOptions::pooling, 1)),
      feature_key(FeatureKind::random,
                  integer_key("feature_count", "random: number of features (default: 1000)",
                              &FeatureOptions::count, 1, 1 << 20)),
      feature_key(
          FeatureKind::random,
          positive_key(
              "bandwidth",
              "random: width of the kernel, in root mean squares of the inputs (default: 1)",
              &FeatureOptions::bandwidth)),
      only(kNetworks, path_key("test_features", "features from a file: those of the test set",
                               &DataSpec::test_features))};
  return keys;
}

const Keys<AdjacencySpec>& adjacency_keys() {
  static const Keys<AdjacencySpec> keys = {
      choice_key("kind", "remove: the slot of the record is empty in D'; replace: it holds another",
                 &AdjacencySpec::kind, by_name({Adjacency::remove, Adjacency::replace})),
      record_key(),
      only(kClassifiers, flag_key("canary", "give the differing record a wrong label in D",
                                  &AdjacencySpec::canary))};
  return keys;
}

const Keys<ModelSpec>& model_keys() {
  static const Keys<ModelSpec> keys = [] {
    Key<ModelSpec> activation =
        text_key("activation", "relu | tanh | sigmoid", "activation between the layers of a preset",
                 &ModelSpec::activation);
    activation.write = [](const ModelSpec& from) {
      return from.layers.empty() ? toml_text(from.activation) : std::string();
    };
    const std::string names = fmt::format("{}", fmt::join(preset_names(), " | "));
    Key<ModelSpec> ridge =
        positive_key("ridge", "ridge, logistic: adds ridge/2 |w|^2 to the loss", &ModelSpec::ridge);
    ridge.type = "number >= 0";
    ridge.read = [](ModelSpec& to, const TomlTable& table, const std::string& key) {
      to.ridge = table.number(key);
      if (!(std::isfinite(to.ridge) && to.ridge >= 0.0)) {
        refuse(table, key, fmt::format("{}", to.ridge), "a finite number >= 0");
      }
    };
    ridge.write = [](const ModelSpec& from) { return toml_text(from.ridge); };
    return Keys<ModelSpec>{
        choice_key("kind", "what is trained", &ModelSpec::kind,
                   by_name({ModelKind::network, ModelKind::quadratic, ModelKind::ridge,
                            ModelKind::logistic})),
        only(kNetworks,
             text_key("preset", names.c_str(),
                      "network of the paper; otherwise give [[model.layers]]", &ModelSpec::preset)),
        only(kNetworks, activation),
        only(kRegressions, ridge),
        only(kRegressions,
             flag_key("intercept", "ridge, logistic: add a column of ones", &ModelSpec::intercept)),
        curvature_key("curvature", "quadratic: Hessian of the loss on D", &ModelSpec::quadratic),
        minimiser_key("minimiser", "quadratic: minimiser of the loss on D", &ModelSpec::quadratic),
        curvature_key("other_curvature", "quadratic: Hessian on D' (default: curvature)",
                      &ModelSpec::quadratic_other),
        minimiser_key("other_minimiser",
                      "quadratic: minimiser of the loss on D' (default: "
                      "minimiser)",
                      &ModelSpec::quadratic_other)};
  }();
  return keys;
}

std::vector<std::string> layer_types() {
  std::vector<std::string> types;
  for (const LayerType& layer : known_layers()) types.push_back(layer.name);
  return types;
}

Keys<LayerSpec> layer_keys(const std::string& type) {
  const std::string types = fmt::format("{}", fmt::join(layer_types(), " | "));
  Keys<LayerSpec> keys = {
      required(text_key("type", types.c_str(), "what the layer does", &LayerSpec::type)),
      text_key("name", "text", "name of the layer and its parameters (default: fc1, conv1, ...)",
               &LayerSpec::name)};
  for (const LayerType& layer : known_layers()) {
    if (layer.name != type && !(type.empty() && layer.name != "avg_pool")) continue;
    keys.insert(keys.end(), layer.keys.begin(), layer.keys.end());
  }
  return keys;
}

const Keys<Training>& training_keys() {
  static const Keys<Training> keys = joined<Training>(
      {with(integer_key("iterations", "training steps", &Training::iterations, 1, kMostSteps),
            {"steps"}),
       only(kNetworks, integer_key("batch_size", "records per step (on average for poisson)",
                                   &Training::batch_size, 1)),
       only(kNetworks, with(choice_key("batches", "how the records of a step are chosen",
                                       &Training::batches, batch_schemes()),
                            {"sampler"})),
       only(kOnRecords,
            choice_key("loss",
                       "mean: gradients are divided by batch_size (N for full batches); "
                       "sum: added",
                       &Training::loss,
                       Choices<LossScale>{{"mean", LossScale::mean}, {"sum", LossScale::sum}})),
       with(positive_key("learning_rate", "learning rate", &Training::learning_rate), {"lr"}),
       integer_key("seed", "seed of initial weights, batches and noise, the same for D and D'",
                   &Training::seed, 0),
       with(flag_key("path_kl", "add up the exact KL of every step between D and D'",
                     &Training::path_kl),
            {"odometer"}),
       only(kNetworks,
            flag_key("gradient_differences", "second moments of g - g', for `sfumato design`",
                     &Training::gradient_differences)),
       only(kNetworks, integer_key("log_every", "log the loss every so many steps; 0: never",
                                   &Training::log_every, 0))},
      private_training_keys());
  return keys;
}

const Keys<NoiseSpec>& noise_keys() {
  static const Keys<NoiseSpec> keys = joined<NoiseSpec>(
      {text_key("name", "text", "name in tables and files (default: the policy)", &NoiseSpec::name),
       required(alternative_key("policy", "how the noise of a step is shaped", rule_of)),
       part_key(variance_key(), scale_of),
       part_key(positive_key("floor", "floored: smallest |gradient| that scales the noise",
                             &FlooredNoise::floor),
                only_rule<FlooredNoise>),
       part_key(choice_key<ScaledNoise>(
                    "reading",
                    "what variance stands for; on_gradient, noise that is added to the "
                    "gradient, is times_learning_rate",
                    &ScaledNoise::interpretation, noise_interpretations()),
                scale_of),
       part_key(flag_key("bias_in_layer",
                         "isotropic_per_layer: take the largest |g| over weights and biases "
                         "together",
                         &PerLayerNoise::bias_in_layer),
                only_rule<PerLayerNoise>),
       path_key("covariance",
                "fixed, and private with metric whitened or low_rank: a file written by `sfumato "
                "design`",
                &NoiseSpec::covariance),
       control_key()},
      private_noise_keys());
  return keys;
}

const Keys<AuditSpec>& audit_spec_keys() {
  static const Keys<AuditSpec> keys = [] {
    const auto probability = [](const char* name, const char* help, double AuditSpec::*member) {
      return Key<AuditSpec>{
          name, "number in (0, 1)", help,
          [member](AuditSpec& to, const TomlTable& table, const std::string& key) {
            const double value = table.number(key);
            if (!(value > 0.0 && value < 1.0)) {
              refuse(table, key, fmt::format("{}", value), "a number between 0 and 1");
            }
            to.*member = value;
          },
          [member](const AuditSpec& from) { return toml_text(from.*member); }};
    };
    const Key<AuditSpec> epsilons = {
        "epsilons", "list of numbers >= 0", "epsilons at which to bound delta",
        [](AuditSpec& to, const TomlTable& table, const std::string& key) {
          to.epsilons = table.numbers(key);
          for (const double epsilon : to.epsilons) {
            if (!(epsilon >= 0.0 && std::isfinite(epsilon))) {
              refuse(table, key, fmt::format("{}", epsilon), "a list of finite numbers >= 0");
            }
          }
        },
        [](const AuditSpec& from) { return fmt::format("[{}]", fmt::join(from.epsilons, ", ")); }};
    const Key<AuditSpec> claims = {
        "claims", "list of texts like \"eps=1,delta=1e-5\"", "claims for `sfumato audit` to check",
        [](AuditSpec& to, const TomlTable& table, const std::string& key) {
          const StringArray texts = table.strings(key);
          to.claims.clear();
          for (const std::vector<std::string>& row : texts.rows) {
            const auto claim = row.size() == 1 ? parse_guarantee(row.front()) : std::nullopt;
            if (!claim) refuse(table, key, shown(row.front()), "like \"eps=1.0,delta=1e-5\"");
            to.claims.push_back(*claim);
          }
        },
        [](const AuditSpec& from) {
          std::string text;
          for (const ClaimedGuarantee& claim : from.claims) {
            text += text.empty() ? "" : ", ";
            text += toml_text(guarantee_text(claim));
          }
          return text.empty() ? text : "[" + text + "]";
        }};
    return Keys<AuditSpec>{
        only(kOnRecords, integer_key("pairs",
                                     "T1: number of adjacent pairs, each with its own differing "
                                     "record",
                                     &AuditSpec::pairs, 1)),
        integer_key("replicas", "T2: number of models per pair, data set and policy",
                    &AuditSpec::replicas, 1),
        flag_key("coupled",
                 "D and D' of a replica share initial weights, batches and Gaussian "
                 "draws",
                 &AuditSpec::coupled),
        only(kNetworks, share_key()),
        only(kOnRecords, flag_key("random_pairs", "each replica draws its own differing record",
                                  &AuditSpec::random_pairs)),
        only(kNetworks, optional_integer_key("canaries",
                                             "for the one-run audit: records of D included by "
                                             "fair coin flips (default: none)",
                                             &AuditSpec::canaries)),
        only(kNetworks, optional_integer_key("shadow_models",
                                             "for LiRA: replicas in which every record is "
                                             "included by a fair coin flip (default: none)",
                                             &AuditSpec::shadow_models)),
        only(kClassifiers,
             flag_key("record_losses", "keep the loss of every record of D under every model",
                      &AuditSpec::record_losses)),
        only(kNetworks,
             flag_key("flatness",
                      "measure curvature, mixed derivative and minibatch noise of every model",
                      &AuditSpec::flatness)),
        epsilons,
        probability("delta", "delta at which to bound epsilon", &AuditSpec::delta),
        probability("confidence", "joint confidence of all bounds", &AuditSpec::confidence),
        claims};
  }();
  return keys;
}

std::vector<KeyInfo> study_keys() {
  std::vector<KeyInfo> infos = {{"", "title", {}, "text", "", false, "of the output"}};
  append(infos, "data", data_keys());
  append(infos, "adjacency", adjacency_keys());
  append(infos, "model", model_keys());
  append(infos, "model.layers", layer_keys(""));
  append(infos, "train", training_keys());
  NoiseSpec noise;
  noise.rule = PerLayerNoise{};  // the one that has most keys
  append(infos, "noise", noise_keys(), noise);
  append(infos, "audit", audit_spec_keys());
  return infos;
}

}  // namespace sfumato::lab
