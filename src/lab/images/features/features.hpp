#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// Random Fourier features of every record, record by record: see with_features().
[[nodiscard]] std::vector<float> random_features(const LabelledSet& set, std::size_t count,
                                                 double bandwidth);

/// What a model sees of a record: the record itself, or features that are a fixed, public function of it.
enum class FeatureKind {
  none,
  scattering,  ///< Scattering of each channel
  random,      ///< random Fourier features of the standardised record [RahimiRecht2007]
  file         ///< rows of a table, made by whoever made it
};

struct FeatureOptions {
  FeatureKind kind = FeatureKind::none;
  std::size_t pooling = 1;   ///< scattering: means of so many x so many pixels of each map
  std::size_t count = 1000;  ///< random: how many
  double bandwidth = 1.0;    ///< random: width of the kernel, in root mean squares of the inputs
  std::string file = {};     ///< of kind file: CSV or NPY, a row for each record of the set

  friend bool operator==(const FeatureOptions&, const FeatureOptions&) = default;
};

/// The set with features for values. None of them depends on any other record, so that neighbouring sets have neighbouring features.
///
///   scattering   maps of value / divisor, pooled; then each of 27 groups of neighbouring maps is shifted and scaled to mean 0 and variance 1
///                within the record, so that all records are as long as the root of the number of features
///   random       sqrt(2) cos(w.x + b), x standardised, w normal of variance 1 / (bandwidth^2 d), b uniform: the same in every run
///
/// Scattering features of sets that are known by name are kept in `cache` and read from there, their digest checked; empty: they are not.
///
/// Throws   InvalidArgument for scattering of what is no image of 8 x 8 or more, or pooled beyond one pixel; for a file with another number of rows
///          than the set has records; as read_row_matrix().
[[nodiscard]] LabelledSet with_features(const LabelledSet& set, const FeatureOptions& options,
                                        const std::string& cache = {});

}  // namespace sfumato::lab
