#include "sfumato/rows/csv.hpp"

#include <cmath>

#include "sfumato/data/csv_writer.hpp"
#include "sfumato/rows/rows_columns.hpp"

namespace sfumato {

void write_csv(const std::string& path, const RowsAnswer& answer, const WriteRules& rules) {
  const std::vector<RiskColumn> list = all_columns(answer);
  const std::vector<TraitColumn> traits = trait_columns(answer);
  const bool named = !answer.ids.empty();
  std::vector<std::string> columns{"row"};
  if (named) columns.emplace_back("id");
  columns.insert(columns.end(), {"line", "status"});
  for (const TraitColumn& trait : traits) columns.push_back(trait.key);
  for (const RiskColumn& column : list) columns.push_back(column.key);
  columns.insert(columns.end(), {"claim", "upper_bounds"});
  CsvWriter out(path, columns, rules);
  for (const RowRisk& risk : answer.risks) {
    const auto at = static_cast<std::size_t>(risk.row);
    out.integer(risk.row + 1);
    if (named) out.text(answer.ids[at]);
    out.integer(static_cast<std::int64_t>(answer.lines[at])).text(name(risk.status));
    const bool known = risk.status == RowStatus::ok;
    for (const TraitColumn& trait : traits) known ? out.number(trait.of(risk).value) : out.text("");
    std::size_t exact = 0;
    std::string bounds;
    for (const RiskColumn& column : list) {
      const RiskNumber number = known ? column.of(risk) : RiskNumber{};
      if (std::isnan(number.value)) {
        out.text("");
        continue;
      }
      out.number(number.value);
      if (number.claim == Claim::exact) {
        ++exact;
      } else {
        bounds += (bounds.empty() ? "" : " ") + column.key;
      }
    }
    const Claim claim = exact > 0 ? Claim::exact : Claim::upper_bound;
    out.text(known ? name(claim) : "").text(exact > 0 ? bounds : "").end_row();
  }
  out.commit();
}

}  // namespace sfumato
