// Questions in C++ as bench/macro/python.py asks them in Python, in a process that has nothing else to do:
//
//   macro_ask QUESTION FILE.toml REPETITIONS           seconds, by the clock and of the processor, of each answer on a line
//   macro_ask epsilon NOISE RATE STEPS DELTA COUNT     seconds by the clock and of the processor of one epsilon, mean of so many
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>

#include "../../python/bindings/questions.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/toml.hpp"

namespace {

using namespace sfumato;

struct Seconds {
  double clock, processor;
};

template <class Work>
Seconds seconds_of(const Work& work) {
  const auto processor = [] {
    std::timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const auto begun = std::chrono::steady_clock::now();
  const double used = processor();
  work();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
  return {passed.count(), processor() - used};
}

void ask(const std::string& question, const std::string& file, int repetitions) {
  Observer nobody;
  for (int i = 0; i < repetitions; ++i) {
    const Seconds took = seconds_of([&] {
      const TomlTable table = TomlTable::read(file, {});
      const python::Found found =
          python::keyed_question(question).answer({table, file, false, nullptr}, nobody);
      if (found.stopped) std::abort();
    });
    std::printf("%.9f %.9f\n", took.clock, took.processor);
  }
}

void epsilon(double noise, double rate, std::uint64_t steps, double delta, int count) {
  double kept = 0.0;
  const Seconds took = seconds_of([&] {
    for (int i = 0; i < count; ++i) {
      Accountant accountant(NeighbouringRelation::add_remove);
      accountant.compose(
          {GaussianNoise{noise}, rate == 1.0 ? Sampler::full : Sampler::poisson, rate, steps});
      kept += accountant.epsilon(Delta(delta)).upper.value;
    }
  });
  std::printf("%.12f %.12f %.17g\n", took.clock / count, took.processor / count, kept / count);
}

}  // namespace

int main(int count, char** words) {
  try {
    if (count == 4) {
      ask(words[1], words[2], std::atoi(words[3]));
    } else if (count == 7 && std::string(words[1]) == "epsilon") {
      epsilon(std::atof(words[2]), std::atof(words[3]), std::strtoull(words[4], nullptr, 10),
              std::atof(words[5]), std::atoi(words[6]));
    } else {
      std::fprintf(stderr, "macro_ask: see bench/macro/python.py\n");
      return 64;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "macro_ask: %s\n", error.what());
    return 1;
  }
}
