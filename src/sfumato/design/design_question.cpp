#include "sfumato/design/design_question.hpp"

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/design/design_keys.hpp"

namespace sfumato {
namespace {

const char* any_number(double) { return nullptr; }  // checked with the rest of the question

}  // namespace

std::string_view name(DifferencesOrigin origin) {
  return origin == DifferencesOrigin::public_data ? "public" : "private";
}

const Keys<DesignQuestion>& design_keys() {
  using Q = DesignQuestion;
  using namespace keys;
  static const Keys<Q> all = {
      file_key<Q>("differences", "gradient differences, one per row (CSV without header, NPY)",
                  &Q::differences),
      file_key<Q>("second_moments",
                  "instead of differences: E[s s^T], or its diagonal (CSV, NPY, NPZ)",
                  &Q::second_moments),
      file_key<Q>("sensitivities", "instead of differences: the largest |s_i| of each coordinate",
                  &Q::sensitivities),
      file_key<Q>(
          "problem",
          "instead of differences: a problem file of `sfumato bound`; the design is iterated",
          &Q::problem),
      required(choice_key<Q>(
          "differences_are", "whether the differences were computed from public or private data",
          &Q::differences_are,
          by_name({DifferencesOrigin::public_data, DifferencesOrigin::private_data}))),
      choice_key<Q>("form", "form of the covariance", &Q::form,
                    Choices<DesignForm>{{"isotropic", DesignForm::isotropic},
                                        {"grouped", DesignForm::grouped},
                                        {"diagonal", DesignForm::diagonal},
                                        {"full", DesignForm::full},
                                        {"low-rank", DesignForm::low_rank}}),
      file_key<Q>("groups", "with the form grouped: the group number of each coordinate",
                  &Q::groups),
      choice_key<Q>("objective", "what to minimise, the largest cost of a difference or the mean",
                    &Q::objective,
                    Choices<DesignObjective>{{"auto", DesignObjective::automatic},
                                             {"minimax", DesignObjective::minimax},
                                             {"average", DesignObjective::average}}),
      number_key<Q>("trace", "number > 0", "budget: trace of Sigma", &Q::trace, any_number),
      number_key<Q>("excess_loss", "number > 0", "budget: stationary excess loss", &Q::excess_loss,
                    any_number),
      number_key<Q>("distance", "number > 0",
                    "budget: stationary squared distance (needs a hessian)", &Q::distance,
                    any_number),
      file_key<Q>("hessian", "Hessian of the loss (diagonal or matrix)", &Q::hessian),
      number_key<Q>("budget", "number > 0", "budget: tr(W Sigma) (needs weights)", &Q::budget,
                    any_number),
      file_key<Q>("weights", "W (diagonal or matrix)", &Q::weights),
      with(number_key<Q>("cost", "number > 0",
                         "instead of a budget: minimise the error at this privacy cost", &Q::cost,
                         any_number),
           {"risk"}),
      numbers_key<Q>("frontier", "low, high",
                     "instead of a budget: trade-off for errors from LOW to HIGH", &Q::frontier,
                     any_number),
      choice_key<Q>("measure", "measure of the error, with cost, frontier or problem", &Q::measure,
                    Choices<DesignMeasure>{{"auto", DesignMeasure::automatic},
                                           {"trace", DesignMeasure::trace},
                                           {"excess-loss", DesignMeasure::excess_loss},
                                           {"distance", DesignMeasure::distance},
                                           {"budget", DesignMeasure::budget}}),
      number_key<Q>("floor", "number >= 0", "minimum variance of each coordinate", &Q::floor,
                    any_number),
      with(number_key<Q>("regularise", "number >= 0", "rho: also hide every direction a little",
                         &Q::regularise, any_number),
           {"regularize"}),
      number_key<Q>(
          "tolerance", "number > 0",
          "stop at this certified gap (default: 1e-8); with problem, improvement (default: 1e-6)",
          &Q::tolerance, any_number),
      number_key<Q>("time", "number > 0",
                    "with problem: time at which to compare (default: the file's last)", &Q::time,
                    any_number),
      integer_key<Q, int>("rounds", "with problem: maximum number of rounds (default: 20)",
                          &Q::rounds, 0, 10000),
      integer_key<Q, int>("top", "number of coordinates or groups to list", &Q::top, 0, 1000000),
      integer_key<Q, unsigned>("threads",
                               "number of threads; 0: all cores (does not change results)",
                               &Q::threads, 0, 1024)};
  return all;
}

}  // namespace sfumato
