#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sfumato {

/// Something that may not be known, and why.
template <class T>
struct Known {
  std::optional<T> value = {};
  std::string reason = {};  ///< why there is no value
};

/// What a reported number is, compared with the true one.
enum class Claim { exact, upper_bound, lower_bound, estimate };

/// "=", "<=", ">=" or "~": how tables show a claim.
[[nodiscard]] std::string_view symbol(Claim claim);

/// "exact", "upper_bound", "lower_bound" or "estimate": how JSON shows it.
[[nodiscard]] std::string_view name(Claim claim);

/// A value that never travels without its direction, its method and what it assumes.
template <class T>
struct Claimed {
  T value;
  Claim claim = Claim::exact;
  std::string method = {};                    ///< one phrase, e.g. "Gaussian KL, closed form"
  std::vector<std::string> assumptions = {};  ///< what must hold for the claim to hold
  std::optional<double> confidence = {};      ///< of a statistical bound, e.g. 0.95
};

/// The same claim about a value derived from the old one (a unit change, an unwrapping).
template <class T, class F>
[[nodiscard]] auto map(const Claimed<T>& claimed, F&& change) {
  using U = decltype(std::forward<F>(change)(claimed.value));
  return Claimed<U>{std::forward<F>(change)(claimed.value), claimed.claim, claimed.method,
                    claimed.assumptions, claimed.confidence};
}

}  // namespace sfumato
