#include "sfumato/account/accountant/accountant.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "keywords.hpp"
#include "relation.hpp"
#include "sfumato/account/account_keys.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/data/keys/key.hpp"
#include "watched.hpp"

namespace sfumato::python {
namespace {

Claimed<double> nats(const Claimed<Epsilon>& epsilon) {
  return map(epsilon, [](Epsilon value) { return value.nats(); });
}

/// Releases that grow step by step: equal steps that follow each other are one release. What is asked about them is
/// asked of an Accountant that no longer changes, so that a thread may go on stepping meanwhile.
class Steps {
 public:
  Steps(const std::string& adjacency, std::uint64_t group_size)
      : whole_(std::make_shared<const Accountant>(relation_of(adjacency), group_size)) {}
  explicit Steps(Accountant accountant)
      : whole_(std::make_shared<const Accountant>(std::move(accountant))) {}

  void compose(const PrivateRelease& release) {
    if (!more_.empty()) {
      const std::uint64_t steps = more_.back().steps;
      more_.back().steps = release.steps;
      const bool same = more_.back() == release;
      more_.back().steps = steps + (same ? release.steps : 0);
      if (same) return;
    }
    const PrivateReleases& known = whole_->releases();
    require_accountable(release, known.relation, known.group_size);
    more_.push_back(release);
  }

  void require(const std::string& condition) {
    auto next = std::make_shared<Accountant>(*whole());
    next->require(condition);
    whole_ = std::move(next);
  }

  std::shared_ptr<const Accountant> whole() {
    if (!more_.empty()) {
      auto next = std::make_shared<Accountant>(*whole_);
      // The last known release may go on.
      const std::vector<PrivateRelease>& list = whole_->releases().list;
      if (!list.empty()) {
        PrivateRelease last = list.back();
        last.steps = more_.front().steps;
        if (last == more_.front()) {
          last.steps += list.back().steps;
          PrivateReleases known = whole_->releases();  // with what they rest on
          known.list.pop_back();
          next = std::make_shared<Accountant>(known);
          more_.front() = last;
        }
      }
      for (const PrivateRelease& release : more_) next->compose(release);
      whole_ = std::move(next);
      more_.clear();
    }
    return whole_;
  }

 private:
  std::shared_ptr<const Accountant> whole_;
  std::vector<PrivateRelease> more_;  ///< since
};

/// Asks the accountant without the GIL; Ctrl-C ends it.
template <class Ask>
auto asked(Steps& steps, Ask&& ask) {
  const std::shared_ptr<const Accountant> accountant = steps.whole();
  std::optional<decltype(ask(*accountant))> answer;
  watched(nb::none(), [&](Observer& observer) {
    try {
      answer.emplace(ask(accountant->watched_by(observer)));
    } catch (const Stopped&) {  // what Python raised is raised again
    }
  });
  return std::move(answer).value();
}

/// A number of Python, or a refusal in one line that names it.
double real(nb::handle given, const char* name) {
  const double value = nb::isinstance<nb::str>(given) ? -1.0 : PyFloat_AsDouble(given.ptr());
  if (nb::isinstance<nb::str>(given) || (value == -1.0 && PyErr_Occurred() != nullptr)) {
    PyErr_Clear();
    throw nb::type_error(
        fmt::format("{}: {} is no number", name, nb::cast<std::string>(nb::repr(given))).c_str());
  }
  return value;
}

/// A count, also as a float without a fraction: numbers of steps are quotients.
std::uint64_t count_of(nb::handle given, const char* name) {
  const double value = real(given, name);
  if (!(value >= 0.0 && value < 0x1p53 && value == std::floor(value))) {
    throw nb::value_error(fmt::format("{}: {} is not a whole number from 0 to 2^53", name,
                                      nb::cast<std::string>(nb::repr(given)))
                              .c_str());
  }
  return static_cast<std::uint64_t>(value);
}

void step(Steps& steps, nb::handle noise, nb::handle rate, nb::handle many,
          const std::string& sampler) {
  const double noise_multiplier = real(noise, "noise_multiplier"),
               sample_rate = real(rate, "sample_rate");
  const std::uint64_t count = count_of(many, "steps");
  const Sampler how = sample_rate == 1.0 && sampler == "poisson"
                          ? Sampler::full
                          : by_name("sampler", sampler, {Sampler::poisson, Sampler::full});
  steps.compose({GaussianNoise{noise_multiplier}, how, sample_rate, count});
}

void compose(Steps& steps, const std::vector<Keyword>& keywords) {
  const TomlTable table = table_of("compose", "", keywords);
  located_keys(table, infos_of(release_keys()),
               [&] { steps.compose(release_of(read_release(table))); });
}

/// A number with what it speaks of and rests on.
template <class T>
Claimed<T> resting(Claimed<T> number, const Accountant& all) {
  number.assumptions = assumptions_of(all.releases());
  return number;
}
Enclosure resting(Enclosure found, const Accountant& all) {
  return {resting(std::move(found.lower), all), resting(std::move(found.upper), all)};
}

std::vector<std::string> history(Steps& steps) {
  std::vector<std::string> lines;
  for (const PrivateRelease& release : steps.whole()->releases().list) {
    lines.push_back(describe(release));
  }
  return lines;
}

}  // namespace

void bind_accountant(nb::module_& module) {
  nb::class_<Enclosure>(module, "Enclosure", "Between which numbers the truth is.")
      .def_ro("lower", &Enclosure::lower, "what some mechanism of that description reveals")
      .def_ro("upper", &Enclosure::upper, "the privacy claim: an upper bound")
      .def("__repr__", [](const Enclosure& enclosure) {
        return nb::str("Enclosure({!r}, {!r})").format(enclosure.lower, enclosure.upper);
      });

  nb::class_<Steps>(module, "Accountant")
      .def(nb::init<const std::string&, std::uint64_t>(), nb::arg("adjacency") = "add_remove",
           nb::arg("group_size") = 1)
      .def("step", &step, nb::arg("noise_multiplier"), nb::arg("sample_rate") = 1.0,
           nb::arg("steps") = 1, nb::arg("sampler") = "poisson",
           nb::sig("def step(self, noise_multiplier: float, sample_rate: float = 1.0, steps: int = "
                   "1, sampler: str = 'poisson') -> None"))
      .def("compose", &compose, nb::arg("keywords"))
      .def(
          "epsilon",
          [](Steps& steps, nb::handle delta) {
            const Delta at(real(delta, "delta"));
            return asked(steps,
                         [&](const Accountant& all) { return resting(all.epsilon(at), all); });
          },
          nb::arg("delta"))
      .def(
          "delta",
          [](Steps& steps, nb::handle epsilon) {
            const Epsilon at(real(epsilon, "epsilon"));
            return asked(steps, [&](const Accountant& all) { return resting(all.delta(at), all); });
          },
          nb::arg("epsilon"))
      .def(
          "renyi_epsilon",
          [](Steps& steps, nb::handle delta) {
            const Delta at(real(delta, "delta"));
            return asked(steps, [&](const Accountant& all) {
              return resting(nats(all.renyi_epsilon(at)), all);
            });
          },
          nb::arg("delta"))
      .def("advantage",
           [](Steps& steps) {
             return asked(
                 steps, [](const Accountant& all) { return resting(all.advantage().upper, all); });
           })
      .def(
          "tpr",
          [](Steps& steps, nb::handle fpr) {
            const double at = real(fpr, "fpr");
            return asked(steps,
                         [&](const Accountant& all) { return resting(all.tpr_bound(at), all); });
          },
          nb::arg("fpr"))
      .def(
          "attack_accuracy",
          [](Steps& steps, nb::handle prior) {
            const double at = real(prior, "prior");
            return asked(steps, [&](const Accountant& all) {
              return resting(all.attack_accuracy(at).upper, all);
            });
          },
          nb::arg("prior"))
      .def(
          "trade_off",
          [](Steps& steps, const std::vector<double>& fprs) {
            const auto curve =
                asked(steps, [&](const Accountant& all) { return all.trade_off(fprs); });
            std::vector<double> tprs;
            for (const AttackRate& rate : curve) tprs.push_back(rate.tpr.value);
            return tprs;
          },
          nb::arg("fprs"))
      .def(
          "statement",
          [](Steps& steps, nb::handle delta) {
            const Delta at(real(delta, "delta"));
            return asked(
                steps, [&](const Accountant& all) { return privacy_statement(all.guarantee(at)); });
          },
          nb::arg("delta"))
      .def("require", &Steps::require, nb::arg("condition"))
      .def("conditions", [](Steps& steps) { return conditions_of(steps.whole()->releases()); })
      .def("history", &history)
      .def("adjacency",
           [](Steps& steps) { return std::string(name(steps.whole()->releases().relation)); })
      .def("group_size", [](Steps& steps) { return steps.whole()->releases().group_size; })
      .def(
          "includes",
          [](Steps& steps, Steps& other) {
            return includes(steps.whole()->releases(), other.whole()->releases());
          },
          nb::arg("other"))
      .def("save", [](Steps& steps) { return save({*steps.whole()}); })
      .def_static(
          "load",
          [](const std::string& text) {
            return Steps(load_account(text, "state_dict").accountant);
          },
          nb::arg("text"));
}

}  // namespace sfumato::python
