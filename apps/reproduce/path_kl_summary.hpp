#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reproduce/studies.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato::apps {

/// What the path KLs of the models of one policy say, along D and along D'.
struct PathKlSummary {
  std::string policy;
  std::string along;  ///< "D" or "D'"
  std::size_t models = 0;
  std::size_t infinite = 0;  ///< models with an infinite step
  double mean = 0.0;         ///< nats, +inf if one model's is
  double mean_infinite_steps = 0.0;
  /// Of the infinite ones: where the first infinite step was due, by layer: "fc1.weight" -> models.
  std::vector<std::pair<std::string, std::size_t>> layers;
  std::string example;  ///< the first parameters that made one model's infinite, by name
};

/// Reads the ledger of a study that kept path KLs; nothing if it did not.
[[nodiscard]] std::vector<PathKlSummary> path_kl_summaries(const TrainedStudy& trained);

[[nodiscard]] Table path_kl_table(const std::string& key,
                                  const std::vector<PathKlSummary>& summaries);
[[nodiscard]] nlohmann::ordered_json path_kl_json(const std::vector<PathKlSummary>& summaries);

}  // namespace sfumato::apps
