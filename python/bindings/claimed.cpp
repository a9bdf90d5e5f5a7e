#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/report/claimed_text.hpp"

namespace sfumato::python {
namespace {

using Number = Claimed<double>;
using State =
    std::tuple<double, std::string, std::string, std::vector<std::string>, std::optional<double>>;

constexpr Claim kClaims[] = {Claim::exact, Claim::upper_bound, Claim::lower_bound, Claim::estimate};

Claim claim_from(const std::string& text) {
  for (const Claim claim : kClaims) {
    if (name(claim) == text) return claim;
  }
  throw InvalidArgument(fmt::format("claim = \"{}\" is unknown", text),
                        "Use exact, upper_bound, lower_bound or estimate", Where::here("Claimed"));
}

std::string text_of(const Number& number) { return claimed_text(number); }

std::string repr(const Number& number) {
  std::string more;
  if (number.confidence) more += fmt::format(", confidence={}", *number.confidence);
  return fmt::format("Claimed({}, claim='{}', method='{}'{})", text_of(number), name(number.claim),
                     number.method, more);
}

std::string escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '&': html += "&amp;"; break;
      case '"': html += "&quot;"; break;
      default: html += c;
    }
  }
  return html;
}

std::string html(const Number& number) {
  std::string title = number.method;
  for (const std::string& assumption : number.assumptions) title += "; " + assumption;
  return fmt::format("<span title=\"{}\"><b>{}</b> <small>{}</small></span>", escaped(title),
                     escaped(text_of(number)), escaped(number.method));
}

double to_float(const Number& number) {
  if (number.claim == Claim::exact) return number.value;
  const char* what = number.claim == Claim::upper_bound   ? "only an upper bound"
                     : number.claim == Claim::lower_bound ? "only a lower bound"
                                                          : "an estimate";
  throw nb::type_error(
      fmt::format("{} is {}, not an exact number: use .value, and say so", text_of(number), what)
          .c_str());
}

/// Bounds do not compare unnoticed, either.
template <class Compare>
bool compared(const Number& a, nb::handle b, const Compare& compare) {
  const double other =
      nb::isinstance<Number>(b) ? to_float(nb::cast<const Number&>(b)) : nb::cast<double>(b);
  return compare(to_float(a), other);
}

nb::dict to_dict(const Number& number) {
  nb::dict dict;
  dict["value"] = number.value;
  dict["claim"] = name(number.claim).data();
  dict["symbol"] = symbol(number.claim).data();
  dict["method"] = number.method;
  dict["assumptions"] = number.assumptions;
  dict["confidence"] = number.confidence;
  return dict;
}

bool equal(const Number& a, const Number& b) {
  return a.value == b.value && a.claim == b.claim && a.method == b.method &&
         a.assumptions == b.assumptions && a.confidence == b.confidence;
}

}  // namespace

void bind_claimed(nb::module_& module) {
  nb::class_<Number>(
      module, "Claimed",
      "A number with what is claimed of it: exact, an upper or lower bound, or an "
      "estimate.\n\n`float(x)` works for exact numbers alone; `x.value` always does.")
      .def(
          "__init__",
          [](Number* self, double value, const std::string& claim, std::string method,
             std::vector<std::string> assumptions, std::optional<double> confidence) {
            new (self) Number{value, claim_from(claim), std::move(method), std::move(assumptions),
                              confidence};
          },
          nb::arg("value"), nb::arg("claim") = "exact", nb::arg("method") = "",
          nb::arg("assumptions") = std::vector<std::string>{},
          nb::arg("confidence").none() = nb::none())
      .def_ro("value", &Number::value, "the number, in the unit of its name (epsilon: nats)")
      .def_prop_ro(
          "claim", [](const Number& number) { return std::string(name(number.claim)); },
          "'exact', 'upper_bound', 'lower_bound' or 'estimate'")
      .def_prop_ro(
          "symbol", [](const Number& number) { return std::string(symbol(number.claim)); },
          "'=', '<=', '>=' or '~'")
      .def_ro("method", &Number::method, "how it was computed, one phrase")
      .def_ro("assumptions", &Number::assumptions, "what must hold for the claim to hold")
      .def_ro("confidence", &Number::confidence, "of a statistical bound, else None")
      .def("to_dict", &to_dict)
      .def("__float__", &to_float)
      .def(
          "__eq__",
          [](const Number& a, nb::handle b) {
            return nb::isinstance<Number>(b) && equal(a, nb::cast<const Number&>(b));
          },
          nb::arg("other").none())
      .def("__lt__", [](const Number& a, nb::handle b) { return compared(a, b, std::less<>()); })
      .def("__le__",
           [](const Number& a, nb::handle b) { return compared(a, b, std::less_equal<>()); })
      .def("__gt__", [](const Number& a, nb::handle b) { return compared(a, b, std::greater<>()); })
      .def("__ge__",
           [](const Number& a, nb::handle b) { return compared(a, b, std::greater_equal<>()); })
      .def(
          "__round__",
          [](const Number& number, nb::handle digits) {
            return nb::float_(to_float(number)).attr("__round__")(digits);
          },
          nb::arg("digits").none() = nb::none())
      .def("__hash__", [](const Number& a) { return nb::hash(nb::make_tuple(a.value, a.method)); })
      .def("__str__", &text_of)
      .def("__format__",
           [](const Number& number, const nb::str& how) -> nb::object {
             if (nb::len(how) == 0) return nb::cast(text_of(number));
             return nb::float_(to_float(number)).attr("__format__")(how);
           })
      .def("__repr__", &repr)
      .def("_repr_html_", &html)
      .def("__getstate__",
           [](const Number& number) {
             return State{number.value, std::string(name(number.claim)), number.method,
                          number.assumptions, number.confidence};
           })
      .def("__setstate__", [](Number& number, const State& state) {
        const auto& [value, claim, method, assumptions, confidence] = state;
        new (&number) Number{value, claim_from(claim), method, assumptions, confidence};
      });
}

}  // namespace sfumato::python
