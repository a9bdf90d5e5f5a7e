#include "reproduce/readings/search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

/// Records and training of the selection, and of the confirmation: the tables themselves have 0.
constexpr std::uint64_t kSelectionSeed = 101, kConfirmationSeed = 202;

struct Sizes {
  SearchSize selection, confirmation;
  std::size_t finalists;
};

Sizes sizes_of(PaperTable table, RunScale scale) {
  const auto sizes = [](std::size_t pairs, std::size_t replicas, std::size_t more_pairs,
                        std::size_t more_replicas, std::size_t finalists) {
    return Sizes{{pairs, replicas, kSelectionSeed},
                 {more_pairs, more_replicas, kConfirmationSeed},
                 finalists};
  };
  const bool quick = scale == RunScale::quick;
  switch (table) {
    case PaperTable::table1: return quick ? sizes(2, 1, 2, 2, 1) : sizes(3, 2, 10, 2, 2);
    case PaperTable::table2_s1: return quick ? sizes(2, 1, 2, 2, 1) : sizes(2, 2, 10, 2, 2);
    case PaperTable::table2_s2: return quick ? sizes(1, 1, 1, 2, 1) : sizes(2, 1, 3, 1, 2);
    case PaperTable::table2_s3: return quick ? sizes(1, 1, 1, 2, 1) : sizes(1, 1, 2, 2, 2);
    case PaperTable::membership: return quick ? sizes(2, 1, 2, 2, 1) : sizes(3, 2, 6, 2, 2);
  }
  throw InternalError("an unknown table");
}

/// Five times the steps of the others, and far from the paper: two models tell.
SearchSize selection_size(PaperTable table, const TrainedReading& training, SearchSize size) {
  if (table != PaperTable::table1 || training.duration != Duration::printed) return size;
  return {2, 1, size.seed};
}

/// The models of one training in as many pairs and replicas, and N.
struct Trained {
  std::shared_ptr<const ReadingModels> models;
  std::size_t records;
};

std::optional<Trained> train(const PartContext& context, PaperTable table,
                             const TrainedReading& training,
                             const std::vector<NoiseReading>& noises, const SearchSize& size,
                             const char* round) {
  ReadingModels models;
  std::size_t records = 0;
  for (ReadingStudy& study : studies_of(table, training, noises, context.scale)) {
    StudyRequest request{study.study, study.ledger + "." + round, std::move(study.settings)};
    if (noises.size() == 1) request.ledger += fmt::format(".{}", name(noises.front()));
    request.settings.insert(
        request.settings.end(),
        {fmt::format("audit.pairs={}", size.pairs), fmt::format("audit.replicas={}", size.replicas),
         fmt::format("data.seed={}", size.seed), fmt::format("train.seed={}", size.seed)});
    const auto trained = train_study(context, request);
    if (!trained) return std::nullopt;
    models.push_back(numbers_of(*trained));
    records = trained->study.data.records;
  }
  return Trained{std::make_shared<const ReadingModels>(std::move(models)), records};
}

JudgedReading judged(PaperTable table, const Reading& reading, const Trained& trained,
                     std::uint64_t seed, bool with_interval) {
  JudgedReading result{reading, trained.models, std::nullopt};
  const auto samples = samples_of(table, reading, *trained.models, trained.records);
  if (!samples.empty()) {
    result.fit = distance_to_paper(samples, paper_runs(table), seed, with_interval);
  }
  return result;
}

double distance(const JudgedReading& judged) {
  return judged.fit ? judged.fit->distance : HUGE_VAL;
}

/// The closest reading, and the closest of those for which something else is trained.
std::vector<Reading> finalists(const std::vector<JudgedReading>& tried, std::size_t count) {
  std::vector<Reading> chosen;
  for (const JudgedReading& candidate : tried) {
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const Reading& reading) {
      return reading.training == candidate.reading.training &&
             reading.noise == candidate.reading.noise;
    });
    if (known || !candidate.fit || chosen.size() == count) continue;
    chosen.push_back(candidate.reading);
  }
  return chosen;
}

}  // namespace

const JudgedReading* ReadingSearch::literal() const {
  const auto found = std::find_if(tried.begin(), tried.end(), [](const JudgedReading& judged) {
    return judged.reading == Reading{};
  });
  return found == tried.end() ? nullptr : &*found;
}

std::optional<ReadingSearch> search_readings(const PartContext& context, PaperTable table) {
  const Sizes sizes = sizes_of(table, context.scale);
  ReadingSearch search{table, sizes.selection, sizes.confirmation, {}, {}, false};
  search.reduced = context.scale == RunScale::quick;
  for (const TrainedReading& training : declared_trainings(table, context.scale)) {
    const auto trained = train(context, table, training, noise_readings(),
                               selection_size(table, training, sizes.selection), "select");
    if (!trained) return std::nullopt;
    for (const Reading& reading : readings_of(table, training)) {
      search.tried.push_back(judged(table, reading, *trained, sizes.selection.seed, false));
    }
  }
  std::stable_sort(
      search.tried.begin(), search.tried.end(),
      [](const JudgedReading& a, const JudgedReading& b) { return distance(a) < distance(b); });
  for (const Reading& reading : finalists(search.tried, sizes.finalists)) {
    const auto trained =
        train(context, table, reading.training, {reading.noise}, sizes.confirmation, "confirm");
    if (!trained) return std::nullopt;
    search.confirmed.push_back(judged(table, reading, *trained, sizes.confirmation.seed, true));
  }
  if (search.confirmed.empty()) {
    throw NumericalFailure(fmt::format("every reading of {} diverged", name(table)),
                           "Lower the learning rate");
  }
  return search;
}

}  // namespace sfumato::apps
