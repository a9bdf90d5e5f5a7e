// Tables with missing values that differ in one record stay neighbours: what becomes of a record depends on itself, and no sum moves further than the clip
// (Spec §22.1).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sfumato/account/accountant/release_grid.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/descent.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

MissingNumber any_rule() {
  return *rc::gen::element<MissingNumber>(DropRecord{}, MiddleOfRange{}, MissingIndicator{},
                                          FillNumber{-1.0}, FillNumber{0.5});
}

PublicTable any_table(FitModel model) {
  PublicTable table;
  const int numbers = *rc::gen::inRange(1, 4);
  for (int j = 0; j < numbers; ++j) {
    table.features.emplace_back(
        NumericColumn{"x" + std::to_string(j), -1.0, *rc::gen::element(1.0, 7.0), any_rule()});
  }
  table.features.emplace_back(
      CategoryColumn{"c",
                     {"a", "b", "d"},
                     *rc::gen::element<MissingLevel>(DropRecord{}, MissingIndicator{},
                                                     FillLevel{"a"}, FillLevel{"d"})});
  table.target = "y";
  table.target_low = -2.0, table.target_high = 2.0;
  if (model != FitModel::ridge) table.classes = {"0", "1"};
  table.intercept = *rc::gen::arbitrary<bool>();
  table.rows = 12;
  if (*rc::gen::arbitrary<bool>()) table.row_norm = *rc::gen::element(0.3, 1.0, 50.0);
  return table;
}

std::string any_record(const PublicTable& table) {
  std::string line;
  for (std::size_t j = 0; j + 1 < table.features.size(); ++j) {
    line += *rc::gen::element<std::string>("", "1e400", "-1", "0.1", "-0.2", "2", "0.3", "7",
                                           "1e300", "-9");
    line += ",";
  }
  line += *rc::gen::element<std::string>("", "a", "b", "d", "elsewhere");
  return line + "," + *rc::gen::element<std::string>("", "0", "1", "1e9", "-0.5") + "\n";
}

BoundedRows rows_of(const PublicTable& table, const std::vector<std::string>& records,
                    FitModel model) {
  std::string text;
  for (const FeatureColumn& column : table.features) text += name(column) + ",";
  text += "y\n";
  for (const std::string& record : records) text += record;
  return bounded_rows(read_rows(CsvRecords(text, "t.csv", ','), table, model), table, model);
}

RC_GTEST_PROP(MissingValues, OfOneRecordMoveNothingOfTheOthersAndNoSumFurtherThanTheClip, ()) {
  const FitModel model = *rc::gen::element(FitModel::ridge, FitModel::logistic);
  const PublicTable table = any_table(model);
  const auto n = *rc::gen::inRange<std::size_t>(1, 12);
  std::vector<std::string> records;
  for (std::size_t i = 0; i < n; ++i) records.push_back(any_record(table));
  const auto which = *rc::gen::inRange<std::size_t>(0, n);
  std::vector<std::string> fewer = records, replaced = records;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(which));
  replaced[which] = any_record(table);
  const BoundedRows all = rows_of(table, records, model), other = rows_of(table, replaced, model),
                    without = rows_of(table, fewer, model);
  RC_CLASSIFY(all.features.isZero(0.0), "every record is dropped");
  const double bound = table.bound();
  for (Index i = 0, k = 0; i < static_cast<Index>(n); ++i) {
    RC_ASSERT(all.features.row(i).allFinite());
    RC_ASSERT(all.features.row(i).norm() <= bound * (1.0 + 1e-15));
    RC_ASSERT(std::abs(all.target(i)) <= (model == FitModel::ridge ? 2.0 : 1.0));
    if (i == static_cast<Index>(which)) continue;
    RC_ASSERT(all.features.row(i) == other.features.row(i));
    RC_ASSERT(all.features.row(i) == without.features.row(k));
    RC_ASSERT(all.target(i) == without.target(k));
    ++k;
  }
  // Sums as they are released: integers of gradients, each no longer than the clip.
  Observer nobody;
  const double clip = *rc::gen::element(0.1, 1.0);
  const SumGrid grid = sum_grid(clip, 3.0, static_cast<double>(table.rows), 100.0);
  const Eigen::MatrixXd at =
      *rc::gen::element(0.0, 0.3, 1e6) * Eigen::MatrixXd::Ones(table.dim(), 1);
  const auto sum = [&](const BoundedRows& rows) -> Eigen::MatrixXd {
    return clipped_gradient_sum({rows.features, rows.target, model}, at, clip, &grid.grid, nobody);
  };
  RC_ASSERT((sum(all) - sum(without)).squaredNorm() <= grid.grid.square);
  RC_ASSERT((sum(all) - sum(other)).squaredNorm() <= 4.0 * grid.grid.square);
  const auto moments = [](const BoundedRows& rows) -> Eigen::MatrixXd {
    return rows.features.transpose() * rows.features;
  };
  RC_ASSERT((moments(all) - moments(without)).norm() <= bound * bound * (1.0 + 1e-12));
}

}  // namespace
}  // namespace sfumato
