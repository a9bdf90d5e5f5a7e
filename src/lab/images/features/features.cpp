#include "lab/images/features/features.hpp"

#include <fmt/format.h>

#include <utility>

#include "lab/images/features/feature_cache.hpp"
#include "lab/images/features/random_features.hpp"
#include "lab/images/features/scattering_features.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/row_matrix.hpp"

namespace sfumato::lab {
namespace {

LabelledSet replaced(const LabelledSet& set, const ImageShape& shape, std::vector<float> values) {
  LabelledSet result;
  result.name = set.name;
  result.shape = shape;
  result.classes = set.classes;
  result.labels = set.labels;
  result.files = set.files;
  result.checksum = set.checksum;
  result.codings = set.codings;
  result.label = set.label;
  result.values = std::move(values);
  return result;
}

LabelledSet from_file(const LabelledSet& set, const std::string& file) {
  const RowMatrix table = read_row_matrix(file);
  if (table.rows() != static_cast<Eigen::Index>(set.count())) {
    throw InvalidArgument(fmt::format("{} rows of features for the {} records of {}", table.rows(),
                                      set.count(), set.name),
                          "Give one row for each record, in their order", Where::in(file));
  }
  const auto view = table.view();
  std::vector<float> values(static_cast<std::size_t>(view.size()));
  for (Eigen::Index i = 0; i < view.size(); ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<float>(view.data()[i]);
  }
  const std::string digest =
      sha256({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  LabelledSet result = replaced(set, {static_cast<int>(table.cols()), 1, 1}, std::move(values));
  result.files.push_back(file);
  const std::string digests[] = {set.checksum, digest};
  result.checksum = joint_digest(digests);
  require_consistent(result);
  return result;
}

}  // namespace

LabelledSet with_features(const LabelledSet& set, const FeatureOptions& options,
                          const std::string& cache) {
  switch (options.kind) {
    case FeatureKind::none: return set;
    case FeatureKind::file: return from_file(set, options.file);
    case FeatureKind::random:
      return replaced(set, {static_cast<int>(options.count), 1, 1},
                      random_features(set, options.count, options.bandwidth));
    case FeatureKind::scattering: break;
  }
  const ImageShape shape = scattering_shape(set.shape, options.pooling);
  const std::string name = fmt::format("scattering 1, divisor {}, pooling {}, records {}",
                                       set.standardisation.divisor, options.pooling, set.checksum);
  return replaced(set, shape, cached_features(cache, name, set.count() * shape.size(), [&] {
                    return scattering_features(set, options.pooling);
                  }));
}

}  // namespace sfumato::lab
