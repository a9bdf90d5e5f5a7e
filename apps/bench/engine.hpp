#pragma once

#include <string>
#include <vector>

#include "bench/speed.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::apps {

using namespace lab;

/// How fast the training engine is on this machine, against its peak.
struct BenchEngineQuestion {
  std::vector<std::string> settings =
      {};                  ///< S1, S2, S3, T1_500, T1_1000; empty: all whose data are found
  std::string study = {};  ///< a study file instead: the group that it trains
  std::vector<std::string> changes = {};  ///< key=value, over what that file says
  unsigned threads = 1;                   ///< groups trained at once
  double seconds = 3.0;                   ///< for each setting
};

/// All but `changes`: key=value over the keys of the study.
[[nodiscard]] const Keys<BenchEngineQuestion>& bench_engine_keys();

struct BenchedSetting {
  std::string name;
  std::string words;  ///< what it is
  EngineSpeed speed;
};

struct BenchEngineAnswer {
  BenchEngineQuestion question;
  std::vector<BenchedSetting> settings = {};
  std::vector<std::string> left_out = {};  ///< with the reason
  double peak = 0.0;                       ///< of one core, operations per second
  double normals_per_second = 0.0;
  std::string instruction_set = {};
  bool stopped = false;
};

/// Throws   InvalidArgument at the key of a value that cannot be; for a setting that is unknown or was asked for
///          by name and has no data; as read_study().
[[nodiscard]] BenchEngineAnswer answer(const BenchEngineQuestion& question, Observer& observer);

[[nodiscard]] Document document_of(const BenchEngineAnswer& answer, Detail detail);

/// An array with an object for each setting: what the scripts of bench/macro read.
[[nodiscard]] std::string engine_json(const BenchEngineAnswer& answer);

}  // namespace sfumato::apps
