#include "reproduce/readings/reading.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "lab/nn/batches.hpp"
#include "reproduce/printed_numbers.hpp"
#include "reproduce/studies.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

/// 10,000 steps of 100 of 1,000 records.
constexpr std::uint64_t kEpochs = 1000;

const char* words(PixelScale scaling) {
  switch (scaling) {
    case PixelScale::published: return "published mean and deviation";
    case PixelScale::unit: return "pixels in [0, 1]";
    case PixelScale::half: return "pixels in [-1, 1]";
  }
  throw InternalError("an unknown scaling");
}

const char* words(WorldCoupling coupling) {
  switch (coupling) {
    case WorldCoupling::slots: return "same batches";
    case WorldCoupling::own_batches: return "D' shuffled by itself";
    case WorldCoupling::own_seeds: return "other seeds in D'";
  }
  throw InternalError("an unknown coupling");
}

const char* words(Duration duration) {
  switch (duration) {
    case Duration::printed: return "printed steps";
    case Duration::epochs: return "1,000 epochs";
    case Duration::steps_2000: return "2,000 steps";
    case Duration::steps_1000: return "1,000 steps";
  }
  throw InternalError("an unknown duration");
}

const char* words(NoiseReading noise) {
  switch (noise) {
    case NoiseReading::variance: return "noise of variance s2 |g|";
    case NoiseReading::deviation: return "noise of deviation s2 |g|";
    case NoiseReading::times_learning_rate: return "noise on the gradient";
    case NoiseReading::times_root_learning_rate: return "noise times root of the rate";
  }
  throw InternalError("an unknown reading of the noise");
}

const char* words(RatioStatistic statistic) {
  switch (statistic) {
    case RatioStatistic::printed: return "ln p/p'";
    case RatioStatistic::reversed: return "ln p'/p";
    case RatioStatistic::absolute: return "|ln p/p'|";
    case RatioStatistic::decimal: return "log10 p/p'";
    case RatioStatistic::difference: return "p - p'";
  }
  throw InternalError("an unknown statistic");
}

const char* slug(PixelScale scaling) {
  constexpr std::array kNames = {"published", "unit", "half"};
  return kNames.at(static_cast<std::size_t>(scaling));
}
const char* slug(WorldCoupling coupling) {
  constexpr std::array kNames = {"slots", "own_batches", "own_seeds"};
  return kNames.at(static_cast<std::size_t>(coupling));
}

std::vector<std::string> study_names(PaperTable table) {
  switch (table) {
    case PaperTable::table1: return {kTable1[0].study, kTable1[1].study};
    case PaperTable::table2_s1: return {"table2_s1"};
    case PaperTable::table2_s2: return {"table2_s2"};
    case PaperTable::table2_s3: return {"table2_s3"};
    case PaperTable::membership: return {"membership"};
  }
  throw InternalError("an unknown table");
}

/// Steps of the quick scale in place of the printed ones, which take minutes.
std::uint64_t quick_steps(PaperTable table) {
  switch (table) {
    case PaperTable::table1: return 2000;
    case PaperTable::table2_s1: return 2000;
    case PaperTable::table2_s2: return 500;
    case PaperTable::table2_s3: return 500;
    case PaperTable::membership: return 500;
  }
  throw InternalError("an unknown table");
}

std::uint64_t steps_of(const TrainedReading& training, const Study& base, RunScale scale,
                       PaperTable table) {
  switch (training.duration) {
    case Duration::printed:
      return scale == RunScale::quick ? quick_steps(table) : base.train.iterations;
    case Duration::epochs:
      return kEpochs *
             steps_per_epoch(base.train.batches, base.data.records, base.train.batch_size);
    case Duration::steps_2000: return 2000;
    case Duration::steps_1000: return 1000;
  }
  throw InternalError("an unknown duration");
}

std::string noise_setting(const std::vector<NoiseReading>& noises, double variance) {
  std::vector<std::string> entries = {"{policy = \"none\"}"};
  for (const NoiseReading noise : noises) {
    for (const char* policy : {kIsotropicPerLayer, kAnisotropic}) {
      entries.push_back(
          fmt::format("{{name = \"{}\", policy = \"{}\", variance = {}, reading = \"{}\"}}",
                      policy_name(policy, noise), policy, variance, name(noise)));
    }
  }
  return fmt::format("noise=[{}]", fmt::join(entries, ", "));
}

}  // namespace

std::string_view name(PaperTable table) {
  constexpr std::array kNames = {"table1", "table2.s1", "table2.s2", "table2.s3", "membership"};
  return kNames.at(static_cast<std::size_t>(table));
}

std::string_view title(PaperTable table) {
  constexpr std::array kTitles = {"Table 1", "Table 2, setting 1", "Table 2, setting 2",
                                  "Table 2, setting 3", "Membership figure"};
  return kTitles.at(static_cast<std::size_t>(table));
}

std::string text(const TrainedReading& training) {
  std::string text = fmt::format("{}, {}, {}", words(training.scaling), words(training.coupling),
                                 words(training.duration));
  if (training.activation != "relu") text += ", " + training.activation;
  if (training.learning_rate != TrainedReading{}.learning_rate) {
    text += fmt::format(", learning rate {:g}", training.learning_rate);
  }
  return text;
}

std::string text(const Reading& reading, PaperTable table) {
  std::string text = apps::text(reading.training);
  if (table == PaperTable::table1) return text + ", " + words(reading.statistic);
  text += fmt::format(", {}, ", words(reading.noise));
  return text + (reading.worst == WorstLoss::mean ? "worst mean loss" : "worst loss of a record");
}

const std::vector<NoiseReading>& noise_readings() {
  static const std::vector<NoiseReading> readings = {
      NoiseReading::variance, NoiseReading::deviation, NoiseReading::times_learning_rate,
      NoiseReading::times_root_learning_rate};
  return readings;
}

std::string policy_name(std::string_view policy, NoiseReading reading) {
  return fmt::format("{}.{}", policy, name(reading));
}

std::vector<TrainedReading> declared_trainings(PaperTable table, RunScale scale) {
  using enum PixelScale;
  using enum WorldCoupling;
  std::vector<TrainedReading> all = {{}};
  const auto add = [&](PixelScale scaling, WorldCoupling coupling,
                       Duration duration = Duration::printed, const char* activation = "relu",
                       double learning_rate = 0.1) {
    all.push_back({scaling, coupling, duration, activation, learning_rate});
  };
  const bool quick = scale == RunScale::quick;
  switch (table) {
    case PaperTable::table1:
      for (const WorldCoupling coupling : {slots, own_batches, own_seeds}) {
        add(published, coupling, Duration::epochs);
        add(unit, coupling, Duration::epochs);
        if (quick) continue;
        add(unit, coupling, Duration::steps_2000);
        add(unit, coupling, Duration::steps_1000);
      }
      if (quick) {
        all.erase(all.begin());  // the printed steps take minutes: the table itself has them, fewer
        return all;
      }
      add(half, own_batches, Duration::epochs);
      add(unit, own_batches, Duration::epochs, "sigmoid");
      return all;
    case PaperTable::table2_s1:
      add(unit, slots);
      if (quick) return all;
      add(unit, own_batches);
      add(published, own_batches);
      add(unit, slots, Duration::printed, "sigmoid");
      return all;
    case PaperTable::table2_s2:
      add(unit, slots);
      if (!quick) add(unit, own_batches);
      return all;
    case PaperTable::membership:
      add(unit, slots);
      if (!quick) add(unit, own_batches);
      return all;
    case PaperTable::table2_s3:
      add(half, slots, Duration::printed, "relu", 0.01);
      if (quick) return all;
      add(half, slots, Duration::printed, "relu", 0.02);
      add(unit, slots, Duration::printed, "relu", 0.01);
      add(half, own_batches, Duration::printed, "relu", 0.01);
      add(unit, slots);
      return all;
  }
  throw InternalError("an unknown table");
}

std::vector<Reading> readings_of(PaperTable table, const TrainedReading& training) {
  std::vector<Reading> readings;
  if (table == PaperTable::table1) {
    for (const RatioStatistic statistic :
         {RatioStatistic::printed, RatioStatistic::reversed, RatioStatistic::absolute,
          RatioStatistic::decimal, RatioStatistic::difference}) {
      readings.push_back({training, NoiseReading::variance, statistic, WorstLoss::mean});
    }
    return readings;
  }
  for (const NoiseReading noise : noise_readings()) {
    for (const WorstLoss worst : {WorstLoss::mean, WorstLoss::record}) {
      readings.push_back({training, noise, RatioStatistic::printed, worst});
    }
  }
  return readings;
}

std::vector<ReadingStudy> studies_of(PaperTable table, const TrainedReading& training,
                                     const std::vector<NoiseReading>& noises, RunScale scale) {
  std::vector<ReadingStudy> studies;
  for (const std::string& study : study_names(table)) {
    const Study base = parse_study(embedded_study(study), study);
    const std::uint64_t steps = steps_of(training, base, scale, table);
    ReadingStudy made{
        study,
        fmt::format("readings.{}.{}.{}.{}.{}.{:g}", study, slug(training.scaling),
                    slug(training.coupling), steps, training.activation, training.learning_rate),
        {}};
    made.settings = {"train.path_kl=false",
                     "train.log_every=0",
                     "audit.flatness=false",
                     "data.test_records=1",
                     fmt::format("model.activation={}", training.activation),
                     fmt::format("train.learning_rate={}", training.learning_rate),
                     fmt::format("train.iterations={}", steps)};
    const auto set = [&](std::string setting) { made.settings.push_back(std::move(setting)); };
    switch (training.scaling) {
      case PixelScale::published: break;
      case PixelScale::unit: set("data.standardise=unit"); break;
      case PixelScale::half: {
        const std::string halves = base.data.set == "cifar10" ? "[0.5, 0.5, 0.5]" : "[0.5]";
        set("data.standardise=constants");
        set("data.divisor=255");
        set("data.means=" + halves);
        set("data.deviations=" + halves);
        break;
      }
    }
    if (training.coupling != WorldCoupling::slots) {
      set("train.batches=shuffled_all");
      set(training.coupling == WorldCoupling::own_batches ? "audit.share=[\"init\", \"noise\"]"
                                                          : "audit.share=none");
    }
    if (table != PaperTable::table1) set(noise_setting(noises, base.noise.front().variance));
    studies.push_back(std::move(made));
  }
  return studies;
}

}  // namespace sfumato::apps
