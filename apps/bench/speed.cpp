#include "bench/speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <ctime>

#include "lab/nn/kernel/peak.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::apps {
namespace {

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr int kRounds = 9;

}  // namespace

double multiply_add_peak() {
  double best = 0.0;
  for (int round = 0; round < 40; ++round) {
    const double start = processor_seconds();
    const double operations = kernel::multiply_add_rounds(100'000);
    best = std::max(best, operations / (processor_seconds() - start));
  }
  return best;
}

double normals_per_second() {
  const Stream stream(StreamKey(1, Purpose::simulation));
  std::vector<float> values(16'384);
  double best = 0.0;
  for (std::uint64_t round = 0; round < 200; ++round) {
    const double start = processor_seconds();
    for (std::uint64_t step = 0; step < 8; ++step) {
      stream.fill_normal(8 * round + step, 0, std::span<float>(values));
    }
    best = std::max(best, 8.0 * static_cast<double>(values.size()) / (processor_seconds() - start));
  }
  return best;
}

EngineSpeed measure_speed(const std::function<TrialGroup(std::uint64_t seed)>& make_group,
                          double operations, unsigned threads, double seconds, Observer& observer) {
  std::vector<TrialGroup> groups;
  for (unsigned i = 0; i < threads; ++i) groups.push_back(make_group(i + 1));
  EngineSpeed speed;
  speed.models = groups.front().models().size();
  speed.threads = threads;
  speed.operations = operations;

  Observer quiet;
  std::uint64_t steps = 8;  // of a round; the first round warms up and says how many fit
  double peak = 0.0;
  double best = INFINITY, best_wall = INFINITY;
  for (int round = 0; round <= kRounds && !observer.stop_requested(); ++round) {
    observer.progress("measuring", static_cast<std::uint64_t>(round), kRounds);
    peak = std::max(peak, multiply_add_peak());
    std::vector<double> used(threads), wall(threads);
    std::barrier ready(static_cast<std::ptrdiff_t>(threads));
    {
      const auto workers = start_threads(threads, [&](std::uint64_t i) {
        ready.arrive_and_wait();
        const double start = processor_seconds(), begin = clock_seconds();
        groups[i].train_until(groups[i].step() + steps, quiet);
        used[i] = processor_seconds() - start;
        wall[i] = clock_seconds() - begin;
      });
      for (std::size_t i = workers.size(); i < threads; ++i) ready.arrive_and_drop();
      if (workers.size() < threads) {
        throw InvalidArgument(
            fmt::format("the system allows {} of {} threads", workers.size(), threads),
            "Measure fewer, or raise the limit of processes (ulimit -u)", Where::in("bench"));
      }
    }
    const double per_step = static_cast<double>(steps) * static_cast<double>(speed.models);
    const double slowest = *std::max_element(used.begin(), used.end()) / per_step;
    if (round == 0) {
      const double wanted = seconds / kRounds / (slowest * static_cast<double>(speed.models));
      steps = std::max<std::uint64_t>(8, static_cast<std::uint64_t>(wanted));
      continue;
    }
    best = std::min(best, slowest);
    best_wall =
        std::min(best_wall, *std::max_element(wall.begin(), wall.end()) / per_step / threads);
  }
  speed.seconds_per_model_step = best;
  speed.wall_seconds_per_model_step = best_wall;
  speed.roofline_fraction = operations / (best * peak);
  return speed;
}

}  // namespace sfumato::apps
