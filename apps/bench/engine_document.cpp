#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/engine.hpp"

namespace sfumato::apps {

Document document_of(const BenchEngineAnswer& answer, Detail) {
  Document document = new_document("bench engine", "Speed of the training engine on this machine");
  for (const std::string& text : answer.left_out) document.state(StatementKind::warning, text);
  Table table("engine", "One training step of one model, with noise, for D and D'",
              {{"setting", "setting"},
               {"what", "what"},
               {"models", "models"},
               {"us", "us per core"},
               {"roofline", "of roofline"},
               {"wall", "us, all threads"}});
  for (const BenchedSetting& setting : answer.settings) {
    const EngineSpeed& speed = setting.speed;
    table.add_row({setting.name, setting.words, speed.models, speed.seconds_per_model_step * 1e6,
                   speed.roofline_fraction, speed.wall_seconds_per_model_step * 1e6});
    document.add_result("us_per_model_iteration", speed.seconds_per_model_step * 1e6,
                        {{"setting", setting.name}});
    document.add_result("roofline_fraction", speed.roofline_fraction, {{"setting", setting.name}});
  }
  document.add(std::move(table));
  document.state(StatementKind::info,
                 fmt::format("Peak of one core: {:.0f} GFLOP/s ({}); Gaussian draws: {:.0f} "
                             "million per second; threads: {}. Operations are counted as if the "
                             "data were dense.",
                             answer.peak * 1e-9, answer.instruction_set,
                             answer.normals_per_second * 1e-6, answer.question.threads));
  return document;
}

std::string engine_json(const BenchEngineAnswer& answer) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BenchedSetting& setting : answer.settings) {
    const EngineSpeed& speed = setting.speed;
    rows.push_back({{"setting", setting.name},
                    {"us_per_model_iteration", speed.seconds_per_model_step * 1e6},
                    {"roofline_fraction", speed.roofline_fraction},
                    {"threads", speed.threads},
                    {"wall_us_per_model_iteration", speed.wall_seconds_per_model_step * 1e6},
                    {"models", speed.models},
                    {"operations", speed.operations},
                    {"peak_gflops", answer.peak * 1e-9},
                    {"normals_per_second", answer.normals_per_second},
                    {"instruction_set", answer.instruction_set}});
  }
  return rows.dump(2) + "\n";
}

}  // namespace sfumato::apps
