#include "sfumato/answers/design/question.hpp"

#include <cmath>

#include "sfumato/answers/design/keys.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

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
      file_key<Q>("second_moments", "instead: E[s s^T], or its diagonal (CSV, NPY, NPZ)",
                  &Q::second_moments),
      file_key<Q>("sensitivities", "instead: the largest |s_i| of each coordinate",
                  &Q::sensitivities),
      file_key<Q>("problem",
                  "instead: a problem file as of `sfumato bound`; the design is iterated",
                  &Q::problem),
      required(choice_key<Q>(
          "differences_are", "the data they come from", &Q::differences_are,
          by_name({DifferencesOrigin::public_data, DifferencesOrigin::private_data}))),
      choice_key<Q>("form", "form of the covariance", &Q::form,
                    Choices<DesignForm>{{"isotropic", DesignForm::isotropic},
                                        {"grouped", DesignForm::grouped},
                                        {"diagonal", DesignForm::diagonal},
                                        {"full", DesignForm::full},
                                        {"low-rank", DesignForm::low_rank}}),
      file_key<Q>("groups", "of the grouped form: the group number of each coordinate", &Q::groups),
      choice_key<Q>("objective",
                    "what is made least: the cost of the worst difference, or the mean",
                    &Q::objective,
                    Choices<DesignObjective>{{"auto", DesignObjective::automatic},
                                             {"minimax", DesignObjective::minimax},
                                             {"average", DesignObjective::average}}),
      number_key<Q>("trace", "number > 0", "budget: trace of Sigma", &Q::trace, any_number),
      number_key<Q>("excess_loss", "number > 0", "budget: stationary excess loss", &Q::excess_loss,
                    any_number),
      number_key<Q>("distance", "number > 0", "budget: stationary squared distance, with a hessian",
                    &Q::distance, any_number),
      file_key<Q>("hessian", "Hessian of the loss (diagonal or matrix)", &Q::hessian),
      number_key<Q>("budget", "number > 0", "budget: tr(W Sigma), with weights", &Q::budget,
                    any_number),
      file_key<Q>("weights", "W (diagonal or matrix)", &Q::weights),
      with(number_key<Q>("cost", "number > 0",
                         "instead of a budget: least error for this privacy cost", &Q::cost,
                         any_number),
           {"risk"}),
      numbers_key<Q>("frontier", "low, high", "instead of a budget: both, for errors LOW,HIGH",
                     &Q::frontier, any_number),
      choice_key<Q>("measure", "of the error, with cost, frontier or problem", &Q::measure,
                    Choices<DesignMeasure>{{"auto", DesignMeasure::automatic},
                                           {"trace", DesignMeasure::trace},
                                           {"excess-loss", DesignMeasure::excess_loss},
                                           {"distance", DesignMeasure::distance},
                                           {"budget", DesignMeasure::budget}}),
      number_key<Q>("floor", "number >= 0", "least variance of each coordinate", &Q::floor,
                    any_number),
      with(number_key<Q>("regularise", "number >= 0", "rho: also hide a little of every direction",
                         &Q::regularise, any_number),
           {"regularize"}),
      number_key<Q>("tolerance", "number > 0",
                    "certified gap to stop at (1e-8); with problem, improvement (1e-6)",
                    &Q::tolerance, any_number),
      number_key<Q>("time", "number > 0", "with problem: when to judge; without it the file's last",
                    &Q::time, any_number),
      integer_key<Q, int>("rounds", "with problem: at most so many; without it 20", &Q::rounds, 0,
                          10000),
      integer_key<Q, int>("top", "coordinates or groups to list", &Q::top, 0, 1000000),
      integer_key<Q, unsigned>("threads", "0: all cores; results do not depend on it", &Q::threads,
                               0, 1024)};
  return all;
}

}  // namespace sfumato
