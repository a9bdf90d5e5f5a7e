// The ways to one delta beside each other: relative width and processor time of each, over how often steps sample a record and
// how many steps there are. The thresholds of account/contour/delta_curve.cpp are read off this table:
//
//   kRare, kFewSampled, kVeryRare, kFewSteps   where the order of the columns changes
//   kGood, kGoodIfHyperbolic, kGoodIfRare         the width that the best column reaches in the rows of a regime
//   kFirstWork, kMoreWork, kLittleWork      --work FACTOR: widths with less and more of it
//
//   build/bench/macro_accounting_choices [--work FACTOR]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/contour/exchanged_pair.hpp"
#include "sfumato/account/contour/hyperbolic_contour.hpp"
#include "sfumato/account/contour/plain_transform.hpp"
#include "sfumato/account/contour/split_contour.hpp"

namespace {

using namespace sfumato;

double processor_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// One cell: the width of log delta and milliseconds; "-" where the way says nothing.
template <class Make>
void print_way(double eps, Make&& make) {
  const double begin = processor_seconds();
  const auto contour = make();
  const double milliseconds = 1e3 * (processor_seconds() - begin);
  if (!contour) {
    std::printf(" %9s %7.1f", "-", milliseconds);
    return;
  }
  const LogEnclosure log = contour->enclosure(eps);
  std::printf(" %9.1e %7.1f", log.log_hi - log.log_lo, milliseconds);
}

/// delta about 1e-6, by all ways, with so much of the usual work.
void print_row(double q, double sigma, double steps, double factor) {
  TotalLoss loss;
  loss.steps.push_back(SampledGaussian{q, 1.0 / sigma, steps});
  const double eps = epsilon_of(loss, 1e-6).hi;
  const auto work = [&] { return Work{factor * Work{}.points, factor * Work{}.terms}; };
  std::printf("%8.1e %6.2f %7.0f %8.2f %8.3f", q, sigma, steps, q * steps, eps);
  Work own = work();
  PlainTransform transform(loss, &own);
  const Saddle at = saddle(transform, eps, Strip::right, 1.0);
  print_way(eps, [&] { return Contour::through(transform, at, Strip::right, eps, &own); });
  print_way(eps, [&] { return HyperbolicContour::at(loss, at, eps); });
  Work of_exchanged = work();
  PlainTransform pair(exchanged(loss), &of_exchanged);
  print_way(eps, [&] { return ExchangedContour::at(pair, eps, &of_exchanged); });
  Work of_split = work();
  print_way(eps, [&] { return SplitContour::at(loss, eps, &of_split); });
  std::printf("\n");
}

}  // namespace

int main(int count, char** words) {
  const double factor =
      count == 3 && std::strcmp(words[1], "--work") == 0 ? std::atof(words[2]) : 1.0;
  std::printf("%8s %6s %7s %8s %8s %17s %17s %17s %17s\n", "q", "sigma", "steps", "sampled", "eps",
              "right, ms", "hyperbola, ms", "exchanged, ms", "split, ms");
  for (const double sigma : {0.6, 1.0, 2.0}) {
    for (const double q : {1e-3, 1e-2, 0.1}) {
      for (const double steps : {2.0, 10.0, 100.0, 1000.0, 10000.0}) {
        print_row(q, sigma, steps, factor);
      }
    }
  }
}
