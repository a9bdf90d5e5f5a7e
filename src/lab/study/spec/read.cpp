#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "lab/images/data_sets.hpp"
#include "lab/study/spec/key.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/data/toml.hpp"

namespace sfumato::lab {
namespace {

/// N, as far as it is known without opening the data.
std::size_t records_of(const DataSpec& data) {
  if (data.records != 0) return data.records;
  constexpr std::array<std::pair<const char*, std::size_t>, 2> kKnown = {
      {{"fashion-mnist", 60'000}, {"cifar10", 50'000}}};
  for (const auto& [name, records] : kKnown) {
    if (data.set == name) return records;
  }
  return 0;
}

void settle_steps(Study& study, const TomlTable& train) {
  Training& t = study.train;
  const std::size_t records = records_of(study.data);
  const bool full = t.batches == BatchScheme::full;
  if (t.epochs == 0 && !full) return;
  if (records == 0) {
    const bool by_epochs = t.epochs != 0;
    const char* sampler = train.has("sampler") ? "sampler" : "batches";
    throw InvalidArgument(
        by_epochs ? "`epochs` needs the number of records, which a table does not tell beforehand"
                  : fmt::format("`{}` = \"full\" needs the number of records, which a table does "
                                "not tell beforehand",
                                sampler),
        by_epochs ? "Set data.records, which is public, or give `iterations` instead"
                  : "Set data.records, which is public",
        train.where(by_epochs ? "epochs" : sampler));
  }
  if (full) {
    if (train.has("batch_size") && t.batch_size != records) {
      throw InvalidArgument(
          fmt::format("`batch_size` = {} with full batches of {} records", t.batch_size, records),
          "Leave `batch_size` out", train.where("batch_size"));
    }
    t.batch_size = records;
  }
  if (t.epochs == 0) return;
  for (const char* key : {"iterations", "steps"}) {
    if (!train.has(key)) continue;
    throw InvalidArgument(fmt::format("both `epochs` and `{}` are given", key), "Give one of them",
                          train.where(key));
  }
  t.iterations = t.epochs * steps_per_epoch(t.batches, records, t.batch_size);
}

/// What [train] says of private training, put where it belongs: epochs become iterations, clip and noise_multiplier go to the private
/// policies that have none of their own; full batches get their size; a study with a clip and no [[noise]] gets a private policy.
///
/// Throws   InvalidArgument for what contradicts itself (epochs and iterations; a clip that no policy uses; an unknown number of records).
void settle_private(Study& study, const TomlTable& root) {
  Training& t = study.train;
  if (study.noise.empty() && t.clip > 0.0) {
    NoiseSpec noise;
    noise.name = PrivateNoise::kName;
    noise.rule = PrivateNoise{};
    noise.where = root.table("train").where("clip");
    study.noise.push_back(std::move(noise));
  }
  if (root.has("train") && study.model.kind == ModelKind::network) {
    settle_steps(study, root.table("train"));
  }
  const bool any = std::any_of(study.noise.begin(), study.noise.end(),
                               [](const NoiseSpec& noise) { return noise.is_private(); });
  if (!any && (t.clip > 0.0 || t.noise_multiplier > 0.0)) {
    const char* key = t.clip > 0.0 ? "clip" : "noise_multiplier";
    throw InvalidArgument(fmt::format("`{}` means nothing here: no noise policy is private", key),
                          "Use policy = \"private\", which clips gradients, or remove it",
                          root.table("train").where(key));
  }
  for (NoiseSpec& spec : study.noise) {
    if (!spec.is_private()) continue;
    PrivateNoise& noise = spec.private_noise();
    if (noise.clip == 0.0) noise.clip = t.clip;
    if (noise.noise_multiplier == 0.0) noise.noise_multiplier = t.noise_multiplier;
    const auto* layers = std::get_if<PerLayerMetric>(&noise.metric);
    if (noise.clip == 0.0 && (layers == nullptr || layers->clips.empty())) {
      throw InvalidArgument(fmt::format("the private policy \"{}\" has no clip", spec.name),
                            "Add `clip`, the largest norm that a record's gradient may have: "
                            "without one nothing bounds what it reveals",
                            spec.where);
    }
  }
  // They are in the policies now, and what a study says twice it could contradict.
  t.clip = t.noise_multiplier = 0.0;
  t.epochs = 0;
}

const std::vector<std::string> kTables = {"title", "data",  "adjacency", "model",
                                          "train", "noise", "audit"};

/// The spellings of one key of a table, if the table has such a key.
std::vector<std::string> spellings(const std::string& table, const std::string& key) {
  for (const KeyInfo& info : study_keys()) {
    if (info.table != table) continue;
    std::vector<std::string> names = info.aliases;
    names.push_back(info.key);
    if (std::find(names.begin(), names.end(), key) != names.end()) return names;
  }
  return {};
}

TomlOverride override_of(const std::string& setting) {
  TomlOverride result = setting_of(setting);
  result.names = {"name", "policy"};
  std::string table;  // without the numbers and names of entries: noise, model.layers
  const bool in_list =
      result.path.front() == "noise" || (result.path.size() > 2 && result.path[1] == "layers");
  for (std::size_t i = 0; i + (in_list ? 2 : 1) < result.path.size(); ++i) {
    table += (i == 0 ? "" : ".") + result.path[i];
  }
  result.replaces = spellings(table, result.path.back());
  return result;
}

/// Keys of features of another kind than the study's.
void require_features(const DataSpec& data, const TomlTable& table) {
  const std::pair<const char*, FeatureKind> keys[] = {{"pooling", FeatureKind::scattering},
                                                      {"feature_count", FeatureKind::random},
                                                      {"bandwidth", FeatureKind::random},
                                                      {"test_features", FeatureKind::file}};
  for (const auto& [key, kind] : keys) {
    if (!table.has(key) || data.features.kind == kind) continue;
    throw InvalidArgument(fmt::format("`{}` means nothing for these features", key),
                          "Remove it, or set `features` to the kind that has it", table.where(key));
  }
}

void require_data(const DataSpec& data, const TomlTable& table) {
  require_features(data, table);
  if (!data.is_table()) {
    (void)known_data_set(data.set, table.where("set"));
    for (const char* key : {"label", "classes", "test"}) {
      if (!table.has(key)) continue;
      throw InvalidArgument(fmt::format("`{}` is for tables, `set` is {}", key, data.set),
                            "Remove it", table.where(key));
    }
  } else if (table.has("standardise") && (data.standardise == StandardiseBy::public_constants ||
                                          table.string("standardise") == "unit")) {
    throw InvalidArgument(data.standardise == StandardiseBy::none
                              ? "a table has no pixels"
                              : "a table has no published constants",
                          "Use standardise = \"constants\" with means and deviations, or \"none\"",
                          table.where("standardise"));
  }
  if (data.standardise == StandardiseBy::constants) return;
  for (const char* key : {"divisor", "means", "deviations"}) {
    if (!table.has(key)) continue;
    throw InvalidArgument(fmt::format("`{}` is given, but the constants are not used", key),
                          "Add standardise = \"constants\"", table.where(key));
  }
}

/// What D' leaves out is as in D.
void complete_quadratic(ModelSpec& model, const TomlTable& table) {
  for (const char* key : {"curvature", "minimiser"}) {
    if (table.has(key)) continue;
    throw InvalidArgument(fmt::format("a quadratic model needs `{}`", key),
                          "Add it: the loss on D is 1/2 (x - m)^T A (x - m)", model.where);
  }
  QuadraticSpec& other = model.quadratic_other;
  if (other.curvature.size() == 0) other.curvature = model.quadratic.curvature;
  if (other.minimiser.size() == 0) other.minimiser = model.quadratic.minimiser;
  const Eigen::Index size = model.quadratic.minimiser.size();
  const auto check = [&](const char* key, const QuadraticSpec& loss) {
    if (loss.curvature.rows() == size && loss.curvature.cols() == size &&
        loss.minimiser.size() == size) {
      return;
    }
    throw InvalidArgument(
        fmt::format("a curvature of {} x {} and a minimiser of {} numbers, in a problem of {}",
                    loss.curvature.rows(), loss.curvature.cols(), loss.minimiser.size(), size),
        "Give all of them one size", table.where(key));
  };
  check("curvature", model.quadratic);
  check("other_curvature", other);
}

ModelSpec read_model(const TomlTable& table) {
  ModelSpec model;
  if (table.has("kind")) {
    const Keys<ModelSpec>& keys = model_keys();
    const auto kind = std::find_if(keys.begin(), keys.end(),
                                   [](const Key<ModelSpec>& key) { return key.name == "kind"; });
    kind->read(model, table, "kind");
  }
  if (model.kind != ModelKind::network) {
    model.where = table.where("kind");
    read_keys_for(model.kind, model, table, model_keys());
    if (model.kind == ModelKind::quadratic) complete_quadratic(model, table);
    return model;
  }
  model.where = table.where(table.has("preset") ? "preset" : "layers");
  read_keys_for(model.kind, model, table, model_keys(), {"layers"});
  if (table.has("preset") == table.has("layers")) {
    throw InvalidArgument(table.has("preset") ? "both `preset` and `layers` are given"
                                              : "neither `preset` nor `layers` is given",
                          "Give one of them", table.where("preset"));
  }
  if (table.has("preset")) {
    const std::vector<std::string> presets = preset_names();
    if (std::find(presets.begin(), presets.end(), model.preset) == presets.end()) {
      throw InvalidArgument(fmt::format("no preset is called {}", shown(model.preset)),
                            suggestion(model.preset, presets, "presets"), table.where("preset"));
    }
    const std::vector<std::string> known = {"relu", "tanh", "sigmoid"};
    if (std::find(known.begin(), known.end(), model.activation) == known.end()) {
      throw InvalidArgument(fmt::format("the activation {} is unknown", shown(model.activation)),
                            suggestion(model.activation, known, "activations"),
                            table.where("activation"));
    }
    return model;
  }
  if (table.has("activation")) {
    throw InvalidArgument("`activation` is for presets", "Add layers of type relu, tanh or sigmoid",
                          table.where("activation"));
  }
  const std::vector<std::string> types = layer_types();
  for (const TomlTable& entry : table.tables("layers")) {
    LayerSpec layer;
    layer.where = entry.where("");
    const std::string type = entry.string("type");
    if (std::find(types.begin(), types.end(), type) == types.end()) {
      if (type.find("batch") != std::string::npos && type.find("norm") != std::string::npos) {
        throw InvalidArgument(
            fmt::format("the layer type {} mixes the records of a batch: no gradient would be that "
                        "of one record",
                        shown(type)),
            "Leave it out; inputs are standardised by public constants", entry.where("type"));
      }
      throw InvalidArgument(fmt::format("the layer type {} is unknown", shown(type)),
                            suggestion(type, types, "types"), entry.where("type"));
    }
    read_keys(layer, entry, layer_keys(type));
    model.layers.push_back(std::move(layer));
  }
  return model;
}

/// [data] and [adjacency].
void read_records(Study& study, const TomlTable& root) {
  const ModelKind kind = study.model.kind;
  const TomlTable data = root.table("data");
  study.data.where = data.where("");
  read_keys_for(kind, study.data, data, data_keys());
  if (kind != ModelKind::network && !study.data.is_table()) {
    throw InvalidArgument(fmt::format("models of kind {} are trained on a table, not on {}",
                                      name(kind), study.data.set),
                          "Name a CSV or NPY file", data.where("set"));
  }
  if (study.data.is_table() && !data.has("standardise")) {
    study.data.standardise = StandardiseBy::none;
  }
  require_data(study.data, data);
  if (!root.has("adjacency")) return;
  const TomlTable adjacency = root.table("adjacency");
  study.adjacency.where = adjacency.where("");
  read_keys_for(kind, study.adjacency, adjacency, adjacency_keys());
}

/// Only noise that does not depend on the data gives the chain of a convex model a distribution that is known.
void require_fixed_noise(const Study& study, const NoiseSpec& noise) {
  const bool fixed = std::holds_alternative<NoNoise>(noise.rule) ||
                     std::holds_alternative<IsotropicNoise>(noise.rule) ||
                     std::holds_alternative<FixedNoise>(noise.rule);
  if (study.model.kind == ModelKind::network || fixed) return;
  throw InvalidArgument(fmt::format("the policy {} is for networks, the model is {}",
                                    name(noise.rule), name(study.model.kind)),
                        "Use isotropic, fixed or none", noise.where);
}

/// Studies whose worlds are made by coins: what they set, and what does not go with them.
void settle_coins(Study& study, const TomlTable& table) {
  AuditSpec& audit = study.audit;
  const char* key = audit.canaries != 0 ? "canaries" : "shadow_models";
  const auto refuse = [&](bool wrong, const std::string& what) {
    if (!wrong) return;
    throw InvalidArgument(fmt::format("`{}` does not go with {}", key, what), "Keep one of them",
                          table.where(key));
  };
  refuse(audit.canaries != 0 && audit.shadow_models != 0, "`shadow_models`");
  refuse(audit.pairs != 1 || audit.random_pairs, "several pairs");
  refuse(study.adjacency.record.has_value(), "adjacency.record, which names one");
  refuse(study.train.path_kl || study.train.gradient_differences,
         "train.path_kl and train.gradient_differences, which compare D and D'");
  if (audit.canaries != 0) {
    if (!table.has("replicas")) audit.replicas = 1;
    return;
  }
  refuse(study.adjacency.kind != Adjacency::remove || study.adjacency.canary,
         "replaced or mislabelled records");
  refuse(table.has("replicas") && audit.replicas != audit.shadow_models,
         "another number of `replicas`");
  audit.replicas = audit.shadow_models;
}

/// What D and D' share, of a study that says so.
void settle_share(Study& study, const TomlTable& table) {
  AuditSpec& audit = study.audit;
  if (audit.share.all()) return;
  const auto refuse = [&](bool wrong, const char* what, const char* remedy) {
    if (wrong) throw InvalidArgument(what, remedy, table.where("share"));
  };
  refuse(!audit.coupled && !audit.share.none(), "`coupled` is false, and `share` is not \"none\"",
         "Keep one of them");
  refuse(audit.worlds() == 1, "`share` speaks of D and D', and coin flips choose the records",
         "Leave it out");
  const bool clipped = std::any_of(study.noise.begin(), study.noise.end(),
                                   [](const NoiseSpec& noise) { return noise.is_private(); });
  refuse(clipped && !audit.share.batches,
         "private policies have their guarantee for batches over the slots of D",
         "Share the batches, or use coupled = false");
  if (audit.share.none()) audit.coupled = false;
}

/// Refuses keys that the policy would ignore: who set them believes that they do something.
void require_used(const TomlTable& table, const NoiseSpec& noise, const char* key, bool used) {
  if (used || !table.has(key)) return;
  throw InvalidArgument(fmt::format("`{}` means nothing for the policy {}", key, name(noise.rule)),
                        "Remove it or choose another policy", table.where(key));
}

/// Names become names of files.
void require_file_name(const NoiseSpec& noise, const TomlTable& table) {
  const bool plain = noise.name.size() <= 64 && noise.name.front() != '.' &&
                     std::all_of(noise.name.begin(), noise.name.end(), [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
                     });
  if (plain) return;
  throw InvalidArgument(fmt::format("the name {} cannot be the name of a file", shown(noise.name)),
                        "Use letters, digits, `-`, `_` and `.`", table.where("name"));
}

/// The policies of one entry: as many as it has variances.
std::vector<NoiseSpec> read_noise(const TomlTable& table) {
  NoiseSpec noise;
  noise.where = table.where("");
  read_keys(noise, table, noise_keys());
  ScaledNoise* scale = scaled_noise(noise.rule);
  const bool floored = std::holds_alternative<FlooredNoise>(noise.rule);
  const bool fixed = std::holds_alternative<FixedNoise>(noise.rule);
  const char* variance = table.has("sigma2") ? "sigma2" : "variance";
  const bool scaled = scale != nullptr;
  require_private_keys(noise, table);
  require_used(table, noise, variance, scaled);
  require_used(table, noise, "floor", floored);
  require_used(table, noise, "covariance", fixed || noise.is_private());
  require_used(table, noise, "bias_in_layer", std::holds_alternative<PerLayerNoise>(noise.rule));
  require_used(table, noise, "reading", scaled);
  const auto need = [&](const char* key, bool needed) {
    if (!needed || table.has(key)) return;
    throw InvalidArgument(fmt::format("the policy {} needs `{}`", name(noise.rule), key), "Add it",
                          noise.where);
  };
  need("floor", floored);
  need("covariance", fixed);
  if (!table.has(variance)) {
    need("variance", scaled && !fixed);
    if (fixed) scale->variance = 1.0;
  }
  if (noise.name.empty()) noise.name = name(noise.rule);
  const std::vector<double> variances =
      table.has(variance) ? table.numbers(variance) : std::vector{scaled ? scale->variance : 0.0};
  std::vector<NoiseSpec> policies;
  for (const double value : variances) {
    if (value == 0.0 && scaled) {
      throw InvalidArgument(fmt::format("`{}` = 0 is no noise", variance),
                            "Use the policy `none` for training without noise",
                            table.where(variance));
    }
    NoiseSpec policy = noise;
    if (ScaledNoise* own = scaled_noise(policy.rule)) own->variance = value;
    if (variances.size() > 1) policy.name += fmt::format("-{}", value);
    require_file_name(policy, table);
    policies.push_back(std::move(policy));
  }
  return policies;
}

/// More trials than any machine trains: a slip, refused before anybody counts to them.
void require_trials(const Study& study) {
  constexpr std::uint64_t kMostTrials = 100'000'000;
  const AuditSpec& audit = study.audit;
  std::uint64_t trials = 1;
  bool too_many = false;
  for (const std::uint64_t factor :
       {std::uint64_t{audit.pairs}, std::uint64_t{audit.replicas},
        std::uint64_t{study.noise.size()}, std::uint64_t{audit.worlds()}}) {
    too_many = too_many || factor > kMostTrials / trials;
    if (!too_many) trials *= factor;
  }
  if (!too_many) return;
  throw InvalidArgument(
      fmt::format(
          "{} pairs, {} replicas, {} noise policies and {} data sets make more than {} models",
          audit.pairs, audit.replicas, study.noise.size(), audit.worlds(), kMostTrials),
      "Use fewer pairs or replicas: `sfumato study plan` says how many an audit needs",
      audit.where);
}

Study study_of(const TomlTable& root, const std::string& source) {
  root.reject_unknown(kTables);
  Study study;
  study.source = source;
  if (root.has("title")) study.title = root.string("title");

  study.model = read_model(root.table("model"));
  const ModelKind kind = study.model.kind;
  if (kind == ModelKind::quadratic) {
    for (const char* table : {"data", "adjacency"}) {
      if (!root.has(table)) continue;
      throw InvalidArgument(fmt::format("a quadratic model has no [{}]: it is given by its losses "
                                        "on D and D'",
                                        table),
                            "Remove the table, or use kind = \"ridge\"", root.where(table));
    }
  } else {
    read_records(study, root);
  }

  if (root.has("train")) {
    const TomlTable train = root.table("train");
    read_keys_for(kind, study.train, train, training_keys());
    const Training& t = study.train;
    if (kind == ModelKind::network && study.data.records != 0 &&
        t.batches != BatchScheme::with_replacement && t.batches != BatchScheme::full &&
        t.batch_size > study.data.records) {
      throw InvalidArgument(fmt::format("`batch_size` = {} is larger than the {} records of D",
                                        t.batch_size, study.data.records),
                            "Use smaller batches or more records", train.where("batch_size"));
    }
  }
  std::set<std::string> names;
  if (root.has("noise")) {
    for (const TomlTable& entry : root.tables("noise")) {
      for (NoiseSpec& noise : read_noise(entry)) {
        require_fixed_noise(study, noise);
        if (!names.insert(noise.name).second) {
          throw InvalidArgument(fmt::format("two noise policies are named `{}`", noise.name),
                                "Give each a `name` or variance of its own", entry.where("name"));
        }
        study.noise.push_back(std::move(noise));
      }
    }
  }
  settle_private(study, root);
  if (study.noise.empty()) {
    throw InvalidArgument("no noise policy is given",
                          "Add [[noise]]; policy = \"none\" trains without noise",
                          Where::in(source));
  }
  if (std::all_of(study.noise.begin(), study.noise.end(),
                  [](const NoiseSpec& noise) { return noise.control; })) {
    throw InvalidArgument("every noise policy is a control, so that there is nothing to audit",
                          "Leave `control` out of the policies that something is claimed of",
                          study.noise.front().where);
  }
  if (root.has("audit")) {
    const TomlTable audit = root.table("audit");
    study.audit.where = audit.where("");
    read_keys_for(kind, study.audit, audit, audit_spec_keys());
    if (study.audit.worlds() == 1) settle_coins(study, audit);
    settle_share(study, audit);
    if (!study.audit.together() && (study.train.path_kl || study.train.gradient_differences)) {
      const char* key = study.audit.share.all() ? "coupled" : "share";
      throw InvalidArgument(
          fmt::format("the path KL follows D and D' of one seed, `{}` says otherwise", key),
          "Leave train.path_kl and train.gradient_differences out", audit.where(key));
    }
    if (study.audit.random_pairs && study.adjacency.record) {
      throw InvalidArgument("`random_pairs` draws the differing record, adjacency.record names one",
                            "Keep one of them", audit.where("random_pairs"));
    }
  }
  require_trials(study);
  return study;
}

std::vector<TomlOverride> overrides_of(const std::vector<std::string>& settings) {
  std::vector<TomlOverride> overrides;
  overrides.reserve(settings.size());
  for (const std::string& setting : settings) overrides.push_back(override_of(setting));
  return overrides;
}

}  // namespace

std::string_view name(ModelKind kind) {
  switch (kind) {
    case ModelKind::network: return "network";
    case ModelKind::quadratic: return "quadratic";
    case ModelKind::ridge: return "ridge";
    case ModelKind::logistic: return "logistic";
  }
  throw InternalError("a kind of model without a name");
}

std::vector<std::string> input_files(const Study& study) {
  const DataSpec& data = study.data;
  std::vector<std::string> files = {study.source, data.test, data.test_features,
                                    data.features.file};
  if (data.is_table()) files.push_back(data.set);
  for (const NoiseSpec& noise : study.noise) files.push_back(noise.covariance);
  return files;
}

bool DataSpec::is_table() const { return set.ends_with(".csv") || set.ends_with(".npy"); }

Study read_study(const std::string& path, const std::vector<std::string>& settings) {
  return study_of(TomlTable::read(path, overrides_of(settings)), path);
}

Study parse_study(std::string_view text, const std::string& source,
                  const std::vector<std::string>& settings) {
  return study_of(TomlTable::parse(text, source, overrides_of(settings)), source);
}

}  // namespace sfumato::lab
