#include "sfumato/answers/audit/sandwich.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/report/confidence.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

constexpr double kRounding = 1e-9;  // of an exact view, which is rounded either way

double number_of(const Claimed<Epsilon>& claimed) { return claimed.value.nats(); }
double number_of(const Claimed<Delta>& claimed) { return claimed.value.probability(); }
double number_of(const Claimed<double>& claimed) { return claimed.value; }

class Rows {
 public:
  Rows(Document& document, Table& table) : document_(document), table_(table) {}

  /// One quantity. `cap` is what a perfect attack would have shown.
  template <class T>
  void add(const Sandwich& of, const std::string& quantity, const std::optional<Claimed<T>>& proven,
           const std::string& no_proof, const std::optional<Claimed<T>>& odometer,
           const std::string& no_odometer, const Claimed<T>& found, Cell cap) {
    table_.add_row({of.policy, quantity, proven ? Cell(*proven) : Cell(Empty{no_proof}),
                    odometer ? Cell(*odometer) : Cell(Empty{no_odometer}), found, std::move(cap)});
    const double shown = number_of(found);
    const auto above = [&](const Claimed<T>& upper) {
      return shown > number_of(upper) * (1.0 + kRounding) + kRounding;
    };
    if (proven && above(*proven)) {
      violated_ = true;
      document_.state(
          StatementKind::verdict,
          fmt::format(
              "VIOLATION in {}: the models show {} >= {} with confidence {} %, and {} {} is "
              "proven. One of the two is wrong: a bug, data or training other "
              "than the study says, a false proof, or a chance of {:.2g}.",
              of.policy, quantity, format_number(shown, Rounding::down),
              format_confidence_percent(of.audit.confidence()), symbol(proven->claim),
              format_number(number_of(*proven), Rounding::up), 1.0 - of.audit.confidence()));
    }
    if (odometer && above(*odometer)) {
      document_.state(
          StatementKind::warning,
          fmt::format("{}: the models show {} >= {}, above the odometer's {}. The odometer is an "
                      "estimate, but of an upper bound: look at its runs.",
                      of.policy, quantity, format_number(shown, Rounding::down),
                      format_number(number_of(*odometer))));
    }
  }
  [[nodiscard]] bool violated() const { return violated_; }

 private:
  Document& document_;
  Table& table_;
  bool violated_ = false;
};

template <class T, class View>
std::optional<Claimed<T>> view_of(bool exists, View&& view) {
  if (!exists) return std::nullopt;
  return view();
}

}  // namespace

bool add_sandwich(Document& document, const std::vector<Sandwich>& policies,
                  const AuditCommand& command) {
  Table table("sandwich", "What the final models reveal: proven, estimated, shown",
              {{"policy", "policy"},
               {"quantity", "quantity"},
               {"proven", "proven"},
               {"odometer", "odometer"},
               {"audited", "these models show"},
               {"cap", "perfect attack"}},
              2);
  Rows rows(document, table);
  for (const Sandwich& of : policies) {
    const bool proven = of.proven.exist(), estimated = of.odometer.has_value();
    for (const double delta : command.deltas) {
      const Claimed<double> cap{of.audit.epsilon_cap(Delta(delta)), Claim::exact,
                                "what an attack without errors would show with these models"};
      rows.add<Epsilon>(
          of, fmt::format("eps at delta = {:g}", delta),
          view_of<Epsilon>(proven, [&] { return of.proven.epsilon(Delta(delta)); }),
          of.proven.reason(),
          view_of<Epsilon>(estimated, [&] { return of.odometer->epsilon(Delta(delta)); }),
          of.no_odometer, of.audit.epsilon(Delta(delta)), cap);
    }
    for (const double eps : command.epsilons) {
      rows.add<Delta>(of, fmt::format("delta at eps = {:g}", eps),
                      view_of<Delta>(proven, [&] { return of.proven.delta(Epsilon(eps)); }),
                      of.proven.reason(),
                      view_of<Delta>(estimated, [&] { return of.odometer->delta(Epsilon(eps)); }),
                      of.no_odometer, of.audit.delta(Epsilon(eps)), Empty{});
    }
    const std::optional<Claimed<double>> mu =
        proven ? of.proven.mu() : std::optional<Claimed<double>>();
    rows.add<double>(
        of, "mu", mu,
        proven ? "the laws of D and D' are no Gaussian pair of one covariance" : of.proven.reason(),
        std::nullopt, "a KL gives no mu", of.audit.mu(), Empty{});
  }
  const bool violated = rows.violated();
  document.add(std::move(table));
  return violated;
}

}  // namespace sfumato
