#include "sfumato/report/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "sfumato/report/confidence.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {
namespace {

const Claimed<double>* claimed(const Cell& cell) {
  return std::get_if<Claimed<double>>(&cell.content());
}

std::string words_of(const Cell& cell) {
  struct Visitor {
    std::string operator()(const Empty&) const { return {}; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double input) const { return format_input(input); }
    std::string operator()(const Claimed<double>& value) const { return format_claimed(value); }
  };
  return std::visit(Visitor{}, cell.content());
}

/// What a row is about: "row 383", "t 100", or the text itself.
std::string subject_of(const Table& table, const std::vector<Cell>& row) {
  std::string subject;
  for (std::size_t i = 0; i < std::min(table.key_columns(), row.size()); ++i) {
    const std::string words = words_of(row[i]);
    if (words.empty() || claimed(row[i]) != nullptr) continue;  // a result names no row
    if (!subject.empty()) subject += ", ";
    const bool is_text = std::holds_alternative<std::string>(row[i].content());
    const std::string& title = table.columns()[i].title;
    if (!is_text) subject += fmt::format("{}{}", title, title.size() == 1 ? " = " : " ");
    subject += words;  // t = 100, row 383
  }
  return subject;
}

struct Found {
  const Table* table;
  const std::vector<Cell>* row;
  Claimed<double> value;
};

/// The largest claim of the kinds that `accepts` takes, over all columns with the key.
template <class Accepts>
std::optional<Found> largest(const Document& document, std::string_view key, Accepts accepts) {
  std::optional<Found> best;
  for (const Block& block : document.blocks()) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    for (std::size_t i = 0; i < table->columns().size(); ++i) {
      if (table->columns()[i].key != key) continue;
      for (const auto& row : table->rows()) {
        const Claimed<double>* value = claimed(row[i]);
        if (value == nullptr || !accepts(row, *value)) continue;
        if (!best || value->value > best->value.value) best = Found{table, &row, *value};
      }
    }
  }
  return best;
}

std::string percent_right(const Claimed<double>& advantage) {
  const double percent = std::clamp(50.0 * (1.0 + advantage.value), 0.0, 100.0);
  return format_number(percent, rounding_of(advantage.claim), 3);
}

/// Of several noises none is the answer: a single number would be that of the worst of them.
bool compares_noises(const Document& document) {
  return std::any_of(document.blocks().begin(), document.blocks().end(), [](const Block& block) {
    const auto* table = std::get_if<Table>(&block);
    return table != nullptr && (table->key() == "sweep" || table->key() == "settings");
  });
}

std::optional<Headline> advantage_headline(const Document& document) {
  if (compares_noises(document)) return std::nullopt;
  const auto of_claim = [&](Claim claim) {
    return largest(document, "advantage", [&](const std::vector<Cell>&, const Claimed<double>& v) {
      return v.claim == claim;
    });
  };
  std::optional<Found> found = of_claim(Claim::exact);
  if (!found) found = of_claim(Claim::upper_bound);
  if (!found) return std::nullopt;
  const std::string subject = subject_of(*found->table, *found->row);
  const bool bounded = found->value.claim == Claim::upper_bound;
  return Headline{
      subject.empty() ? "largest advantage" : fmt::format("largest advantage ({})", subject),
      found->value, NumberStyle::probability,
      fmt::format("The best attacker guesses correctly whether the record was used {}{} % of the "
                  "time. A coin toss is right 50 % of the time.",
                  bounded ? "at most " : "", percent_right(found->value))};
}

/// Whether a row is about an epsilon that holds without further conditions.
bool is_about_epsilon(const std::vector<Cell>& row) {
  return std::any_of(row.begin(), row.end(), [](const Cell& cell) {
    const auto* what = std::get_if<std::string>(&cell.content());
    return what != nullptr && what->starts_with("eps at delta") &&
           what->find(", if") == std::string::npos;
  });
}

/// Whether a row is about a control, which the document's verdicts name.
bool is_about_control(const Document& document, const std::vector<Cell>& row) {
  const auto* what = std::get_if<std::string>(&row.front().content());
  return what != nullptr && std::any_of(document.verdicts().begin(), document.verdicts().end(),
                                        [&](const CheckedClaim& of) {
                                          return of.control && *what == control_label(of.policy);
                                        });
}

/// The largest epsilon that an audit shows: of one sample, or of several policies.
std::optional<Headline> audit_headline(const Document& document) {
  const auto shown = [&](const std::vector<Cell>& row, const Claimed<double>& value) {
    return value.claim == Claim::lower_bound && is_about_epsilon(row) &&
           !is_about_control(document, row);
  };
  std::optional<Found> found = largest(document, "value", shown);
  if (!found) found = largest(document, "audited", shown);
  if (!found) return std::nullopt;
  std::string label;
  for (const Cell& cell : *found->row) {
    const auto* what = std::get_if<std::string>(&cell.content());
    if (what != nullptr) label += (label.empty() ? "" : ", ") + *what;
  }
  const double odds = std::exp(found->value.value);
  std::string meaning =
      found->value.value > 0.0
          ? fmt::format(
                "No smaller epsilon can hold for this training{}: the result can change the odds "
                "that the record was used by a factor of {} or more.",
                found->value.confidence
                    ? fmt::format(" (confidence {} %)",
                                  format_confidence_percent(*found->value.confidence))
                    : "",
                format_number(odds, Rounding::down, 3))
          : "The attack showed nothing. That does not mean that there is nothing to find.";
  return Headline{std::move(label), found->value, NumberStyle::general, std::move(meaning)};
}

std::optional<Headline> gain_headline(const Document& document) {
  const std::optional<Found> found =
      largest(document, "value", [](const std::vector<Cell>& row, const Claimed<double>&) {
        const auto* what = std::get_if<std::string>(&row.front().content());
        return what != nullptr && *what == "gain over isotropic";
      });
  if (!found) return std::nullopt;
  return Headline{"gain over isotropic noise", found->value, NumberStyle::general,
                  "At the same loss of accuracy, isotropic noise reveals this many times as much "
                  "about the worst of the given differences."};
}

struct Purpose {
  std::string_view command;
  std::string_view text;
};

constexpr Purpose kPurposes[] = {
    {"audit",
     "An audit measures what trained models reveal about one training record. It compares models "
     "trained with and without the record, and reports lower bounds on the privacy loss at a "
     "stated confidence."},
    {"quadratic",
     "For a quadratic loss the distribution of the trained parameters is known exactly. This "
     "report says how well the best possible attacker can tell two training sets apart, and what "
     "the noise costs in accuracy."},
    {"rows",
     "Each row of a table contributes to the fitted model. This report ranks the rows by how much "
     "the "
     "released weights reveal about them."},
    {"bound",
     "Training on two data sets is described by two stochastic differential equations. This "
     "report compares every proven bound on the difference of their outcomes with estimates and, "
     "where known, the exact value."},
    {"design",
     "Noise hides a record and costs accuracy. This report shows the noise that hides the given "
     "differences best within a budget, and how far from optimal it can be."},
    {"train",
     "Models were trained with noise, with and without one record. This report describes these "
     "runs and proves nothing about others."},
    {"reproduce",
     "Every table and figure of the paper was recomputed. This report compares the numbers with "
     "the paper's and says which of its statements hold."},
};

}  // namespace

std::vector<Headline> headlines_of(const Document& document) {
  std::vector<Headline> list;
  for (std::optional<Headline> headline :
       {audit_headline(document), advantage_headline(document), gain_headline(document)}) {
    if (headline) list.push_back(std::move(*headline));
  }
  return list;
}

std::string_view purpose_of(std::string_view command) {
  for (const Purpose& purpose : kPurposes) {
    if (purpose.command == command) return purpose.text;
  }
  return {};
}

}  // namespace sfumato
