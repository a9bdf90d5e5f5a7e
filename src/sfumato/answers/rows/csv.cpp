#include "sfumato/answers/rows/csv.hpp"

#include <cmath>

#include "sfumato/answers/rows/columns.hpp"
#include "sfumato/data/csv_writer.hpp"

namespace sfumato {

void write_csv(const std::string& path, const RowsAnswer& answer) {
  const std::vector<RiskColumn> list = all_columns(answer);
  const std::vector<TraitColumn> traits = trait_columns(answer);
  const bool named = !answer.ids.empty();
  std::vector<std::string> columns{"row"};
  if (named) columns.emplace_back("id");
  columns.insert(columns.end(), {"line", "status"});
  for (const TraitColumn& trait : traits) columns.push_back(trait.key);
  for (const RiskColumn& column : list) columns.push_back(column.key);
  columns.emplace_back("claim");
  CsvWriter out(path, columns);
  for (const RowRisk& risk : answer.risks) {
    const auto at = static_cast<std::size_t>(risk.row);
    out.integer(risk.row + 1);
    if (named) out.text(answer.ids[at]);
    out.integer(static_cast<std::int64_t>(answer.lines[at])).text(name(risk.status));
    const bool known = risk.status == RowStatus::ok;
    for (const TraitColumn& trait : traits) known ? out.number(trait.of(risk)) : out.text("");
    Claim claim = Claim::exact;
    for (const RiskColumn& column : list) {
      if (!known) {
        out.text("");
        continue;
      }
      const RiskNumber number = column.of(risk);
      if (!std::isnan(number.value) && number.claim != Claim::exact) claim = number.claim;
      std::isnan(number.value) ? out.text("") : out.number(number.value);
    }
    out.text(known ? name(claim) : "").end_row();
  }
  out.commit();
}

}  // namespace sfumato
