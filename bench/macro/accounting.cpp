// The accountants, one question per line of the input, one answer per line of the output, with the seconds each took:
//
//   delta    DIRECTION q sigma k eps      log_lo log_hi method seconds
//   epsilon  DIRECTION q sigma k delta    lo hi - seconds            DIRECTION may be `both`: remove and add, the larger
//   pld      DIRECTION q sigma k eps n    log_lo log_hi pld seconds  on a lattice of 2^n points
//   noise    both q - k eps delta         sigma sigma - seconds      the least noise multiplier
//
// Seconds are of the processor: the machine may have other work.
// bench/macro/accounting.py times it beside others, tools/oracles/accounting_oracle.py holds it against references.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/lattice/pld.hpp"

namespace {

using namespace sfumato;

TotalLoss loss_of(StepDirection direction, double q, double sigma, double k) {
  if (q < 1.0) return {{SampledGaussian{q, 1.0 / sigma, k, direction}}};
  TotalLoss loss;
  const double m = (direction == StepDirection::replace ? 2.0 : 1.0) / sigma;
  loss.mu_squared = k * m * m;
  return loss;
}

StepDirection direction_of(const std::string& word) {
  return word == "add" ? StepDirection::add
                       : (word == "replace" ? StepDirection::replace : StepDirection::remove);
}

double processor_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

const char* name_of(DeltaMethod method) {
  return method == DeltaMethod::closed_form
             ? "edge"
             : (method == DeltaMethod::contour ? "contour" : "split");
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string verb, direction;
    double q = 0.0, k = 0.0, at = 0.0, last = 0.0;
    std::string sigma_word;
    if (!(words >> verb >> direction >> q >> sigma_word >> k >> at)) {
      std::printf("error: not a question: %s\n", line.c_str());
      continue;
    }
    words >> last;
    const double started = processor_seconds();
    const auto seconds = [&] { return processor_seconds() - started; };
    try {
      if (verb == "noise") {
        const PrivateRelease run{GaussianNoise{1.0}, Sampler::poisson, q,
                                 static_cast<std::uint64_t>(k)};
        const double found = least_noise(PrivateReleases{NeighbouringRelation::add_remove}, {run},
                                         PrivacyBudget{Epsilon(at), Delta(last)});
        std::printf("%.17g %.17g - %.3g\n", found, found, seconds());
        std::fflush(stdout);
        continue;
      }
      const double sigma = std::stod(sigma_word);
      const TotalLoss loss = loss_of(direction_of(direction), q, sigma, k);
      if (verb == "delta") {
        const DeltaEnclosure found = delta_of(loss, at);
        std::printf("%.17g %.17g %s %.3g\n", found.log.log_lo, found.log.log_hi,
                    name_of(found.method), seconds());
      } else if (verb == "epsilon") {
        const EpsilonEnclosure found = direction == "both"
                                           ? largest_epsilon({loss, exchanged(loss)}, at)
                                           : epsilon_of(loss, at);
        std::printf("%.17g %.17g - %.3g\n", found.lo, found.hi, seconds());
      } else {
        const LogEnclosure found = pld_delta(loss, at, {std::size_t{1} << static_cast<int>(last)});
        std::printf("%.17g %.17g pld %.3g\n", found.log_lo, found.log_hi, seconds());
      }
    } catch (const std::exception& error) {
      std::printf("error: %s\n", error.what());
    }
    std::fflush(stdout);
  }
}
