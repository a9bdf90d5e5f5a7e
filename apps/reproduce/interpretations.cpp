#include "reproduce/interpretations.hpp"

#include <fmt/format.h>

namespace sfumato::apps {

std::optional<TrainedStudy> train_closest(const PartContext& context, const StudyRequest& literal) {
  StudyRequest request = literal;
  request.name += "_closest";
  request.ledger += ".closest";
  return train_study(context, request);
}

Cell value_cell(const std::optional<TrainedNumber>& number) {
  return number ? Cell(number->value) : Cell(Empty{"every model diverged"});
}

Cell interval_cell(const std::optional<TrainedNumber>& number) {
  return number ? Cell(number->interval) : Cell(Empty{});
}

Table compared_table(const std::string& key, const std::string& title,
                     const std::vector<ComparedNumber>& numbers) {
  Table table(key, title,
              {{"policy", "noise"},
               {"number", "number"},
               {"paper", "paper"},
               {"literal", "literal"},
               {"interval", "95 %"},
               {"closest", "closest interpretation"},
               {"closest_interval", "95 %"}},
              2);
  for (const ComparedNumber& row : numbers) {
    table.add_row({row.policy, row.number, row.printed, value_cell(row.literal),
                   interval_cell(row.literal), value_cell(row.closest),
                   interval_cell(row.closest)});
  }
  return table;
}

std::string closest_text(const ClosestInterpretation& closest) {
  return fmt::format(
      "Closest of the {} interpretations that were tried: {}. Its column has other records and "
      "seeds than those it was chosen on. Before, on fresh models too, its distance to the printed "
      "numbers (sum of |log10(ours / printed)|) was {:.2f}; by chance alone a run of that very "
      "interpretation would be {:.2f} away from its own median.",
      closest.tried, closest.words, closest.distance, closest.by_chance);
}

}  // namespace sfumato::apps
