#include "reproduce/readings/columns.hpp"

#include <fmt/format.h>

namespace sfumato::apps {
namespace {

constexpr const char* kDiverged = "every model diverged";

}  // namespace

Cell centre_cell(const JudgedReading& judged, std::size_t number) {
  if (!judged.fit) return Empty{kDiverged};
  return Claimed<double>{judged.fit->numbers.at(number).centre, Claim::estimate,
                         "median of the number over simulated runs of the paper's size"};
}

Cell interval_cell(const JudgedReading& judged, std::size_t number) {
  if (!judged.fit) return Empty{};
  const NumberFit& fit = judged.fit->numbers.at(number);
  return fmt::format("{:.3g} .. {:.3g}", fit.lower, fit.upper);
}

Table compared_table(const std::string& key, const std::string& title,
                     const std::vector<ComparedNumber>& numbers) {
  Table table(key, title,
              {{"policy", "noise"},
               {"number", "number"},
               {"paper", "paper"},
               {"literal", "literal"},
               {"interval", "95 %"},
               {"closest", "closest reading"},
               {"closest_interval", "95 %"}},
              2);
  for (const ComparedNumber& row : numbers) {
    table.add_row({row.policy, row.number, row.printed,
                   row.literal ? Cell(row.literal->value) : Cell(Empty{kDiverged}),
                   row.literal ? Cell(row.literal->interval) : Cell(Empty{}), row.closest,
                   row.closest_interval});
  }
  return table;
}

std::string closest_text(const ReadingSearch& search) {
  const JudgedReading& closest = search.closest();
  const std::string what = fmt::format(
      "Closest of the {} readings tried: {}. It was chosen on other records and seeds than those "
      "of "
      "its column",
      search.tried.size(), text(closest.reading, search.table));
  if (!closest.fit) return what + ", where every model diverged.";
  return fmt::format(
      "{}, where its distance to the printed numbers is {:.2f} ({:.2f} .. {:.2f}); by chance alone "
      "a run of that very reading would be {:.2f} away from its own centre.",
      what, closest.fit->distance, closest.fit->lower, closest.fit->upper, closest.fit->chance);
}

}  // namespace sfumato::apps
