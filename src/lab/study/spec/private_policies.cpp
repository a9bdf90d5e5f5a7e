#include "lab/study/spec/private_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

bool is_private(const NoiseSpec& noise) { return noise.policy == NoiseKind::clipped; }

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

}  // namespace

void settle_private(Study& study, const TomlTable& root) {
  Training& t = study.train;
  if (study.noise.empty() && t.clip > 0.0) {
    NoiseSpec noise;
    noise.name = name(NoiseKind::clipped);
    noise.policy = NoiseKind::clipped;
    noise.where = root.table("train").where("clip");
    study.noise.push_back(std::move(noise));
  }
  if (root.has("train") && study.model.kind == ModelKind::network) {
    settle_steps(study, root.table("train"));
  }
  const bool any = std::any_of(study.noise.begin(), study.noise.end(), is_private);
  if (!any && (t.clip > 0.0 || t.noise_multiplier > 0.0)) {
    const char* key = t.clip > 0.0 ? "clip" : "noise_multiplier";
    throw InvalidArgument(fmt::format("`{}` means nothing here: no noise policy is private", key),
                          "Use policy = \"private\", which clips gradients, or remove it",
                          root.table("train").where(key));
  }
  for (NoiseSpec& noise : study.noise) {
    if (!is_private(noise)) continue;
    if (noise.clip == 0.0) noise.clip = t.clip;
    if (noise.noise_multiplier == 0.0) noise.noise_multiplier = t.noise_multiplier;
    if (noise.clip == 0.0 && noise.layer_clips.empty()) {
      throw InvalidArgument(fmt::format("the private policy \"{}\" has no clip", noise.name),
                            "Add `clip`, the largest norm that a record's gradient may have: "
                            "without one nothing bounds what it reveals",
                            noise.where);
    }
  }
  // They are in the policies now, and what a study says twice it could contradict.
  t.clip = t.noise_multiplier = 0.0;
  t.epochs = 0;
}

void require_private_keys(const NoiseSpec& noise, const TomlTable& table) {
  for (const char* key :
       {"metric", "clip", "max_grad_norm", "l2_norm_clip", "layer_clips", "noise_multiplier",
        "metric_mu", "metric_floor", "input_bound", "metric_layers"}) {
    if (is_private(noise) || !table.has(key)) continue;
    throw InvalidArgument(fmt::format("`{}` means nothing for the policy {}: it does not clip", key,
                                      name(noise.policy)),
                          "Use policy = \"private\", or remove it", table.where(key));
  }
  if (!is_private(noise)) return;
  const bool shaped =
      noise.metric == PrivateMetric::whitened || noise.metric == PrivateMetric::low_rank;
  if (shaped != table.has("covariance")) {
    throw InvalidArgument(
        shaped ? fmt::format("the metric {} needs `covariance`", name(noise.metric))
               : fmt::format("`covariance` means nothing for the metric {}", name(noise.metric)),
        shaped ? "Name a file written by `sfumato design` without private data"
               : "Use metric = \"whitened\" or \"low_rank\", or remove it",
        shaped ? noise.where : table.where("covariance"));
  }
  for (const char* key : {"metric_mu", "metric_floor", "input_bound", "metric_layers"}) {
    if (!table.has(key) || noise.metric == PrivateMetric::input) continue;
    throw InvalidArgument(
        fmt::format("`{}` means nothing for the metric {}", key, name(noise.metric)),
        "Use metric = \"input\", or remove it", table.where(key));
  }
  if (table.has("layer_clips") && noise.metric != PrivateMetric::per_layer) {
    throw InvalidArgument(
        fmt::format("`layer_clips` means nothing for the metric {}", name(noise.metric)),
        "Use metric = \"per_layer\", or remove it", table.where("layer_clips"));
  }
}

}  // namespace sfumato::lab
